package cli

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/wollax/cupel-go/cmd/cupel/internal/terminal"
	"github.com/wollax/cupel-go/cupel"
)

// glob is a pattern with the syntax of path.Match, but its * and ? take any
// character.
type glob struct{ match func(text string) bool }

// parseGlob reads a pattern.
func parseGlob(pattern string) (glob, error) {
	expression := []byte(`(?s)^`)
	rest := pattern
	literal := func() (rune, error) { // one that may be escaped
		r, size := utf8.DecodeRuneInString(strings.TrimPrefix(rest, `\`))
		if size == 0 {
			return 0, fmt.Errorf(`pattern %q ends too early; write \*, \?, \[ and \\ for these characters`, pattern)
		}
		rest = strings.TrimPrefix(rest, `\`)[size:]
		return r, nil
	}
	bound := func() (rune, error) {
		if strings.HasPrefix(rest, "-") || strings.HasPrefix(rest, "]") {
			return 0, fmt.Errorf(`pattern %q: write \- and \] for these characters between brackets`, pattern)
		}
		return literal()
	}
	for rest != "" {
		switch rest[0] {
		case '*':
			expression = append(expression, `.*`...)
			rest = strings.TrimLeft(rest, "*")
		case '?':
			expression = append(expression, '.')
			rest = rest[1:]
		case '[':
			expression = append(expression, '[')
			rest = rest[1:]
			if strings.HasPrefix(rest, "^") {
				expression = append(expression, '^')
				rest = rest[1:]
			}
			for first := true; first || !strings.HasPrefix(rest, "]"); first = false {
				low, err := bound()
				if err != nil {
					return glob{}, err
				}
				high := low
				if strings.HasPrefix(rest, "-") {
					rest = rest[1:]
					if high, err = bound(); err != nil {
						return glob{}, err
					}
				}
				if high < low {
					return glob{}, fmt.Errorf("pattern %q: the range %c-%c is empty", pattern, low, high)
				}
				expression = fmt.Appendf(expression, `\x{%x}-\x{%x}`, low, high)
			}
			expression = append(expression, ']')
			rest = rest[1:]
		default:
			r, err := literal()
			if err != nil {
				return glob{}, err
			}
			expression = fmt.Appendf(expression, `\x{%x}`, r)
		}
	}
	compiled, err := regexp.Compile(string(expression) + `$`)
	return glob{compiled.MatchString}, err
}

// matches reports whether the first line or the whole of a content matches.
func (g glob) matches(content string) bool {
	return g.match(terminal.FirstLine(content)) || g.match(content)
}

// matcherOf returns a function that matches any of the patterns of --item, or
// nil if there are none.
func matcherOf(patterns []string) (func(content string) bool, error) {
	if len(patterns) == 0 {
		return nil, nil
	}
	globs := make([]glob, len(patterns))
	for i, pattern := range patterns {
		var err error
		if globs[i], err = parseGlob(pattern); err != nil {
			return nil, usagef("--item: %w", err)
		}
	}
	return func(content string) bool {
		return slices.ContainsFunc(globs, func(g glob) bool { return g.matches(content) })
	}, nil
}

// findCandidate returns the position of the candidate that --why-not names.
// Copies of one content count as one; the first is returned.
func findCandidate(items []*cupel.ContextItem, text string) (int, error) {
	if text == "" {
		return 0, usagef("--why-not: give the content of a candidate, its first line, its beginning, its title, or a pattern")
	}
	ways := []func(content string) bool{
		func(content string) bool { return content == text },
		func(content string) bool { return terminal.FirstLine(content) == strings.TrimSpace(text) },
	}
	if strings.ContainsAny(text, `*?[\`) {
		g, err := parseGlob(text)
		if err == nil {
			ways = append(ways, g.matches)
		}
	}
	ways = append(ways, func(content string) bool { return strings.HasPrefix(content, text) })
	for i := range 2 * len(ways) { // titles after contents, which have more in them
		way, titles := ways[i%len(ways)], i >= len(ways)
		var found []int
		seen := make(map[string]bool)
		for i, item := range items {
			content, line := item.Content(), item.Content()
			if titles {
				line = headline(item)
			}
			if way(line) && !seen[content] {
				seen[content] = true
				found = append(found, i)
			}
		}
		switch len(found) {
		case 0:
			continue
		case 1:
			return found[0], nil
		}
		const shownMatches = 5
		var list []string
		for _, i := range found[:min(len(found), shownMatches)] {
			list = append(list, `"`+terminal.Excerpt(items[i].Content(), 50)+`"`)
		}
		if len(found) > shownMatches {
			list = append(list, fmt.Sprintf("and %d more", len(found)-shownMatches))
		}
		return 0, usagef("--why-not: %d candidates match: %s; give more of the content", len(found), strings.Join(list, ", "))
	}
	return 0, usagef("--why-not: none of %d candidates matches; cupel explain --rows 0 lists them all", len(items))
}
