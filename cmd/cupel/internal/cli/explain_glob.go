package cli

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/wollax/cupel-go/cmd/cupel/internal/terminal"
	"github.com/wollax/cupel-go/cupel"
)

// glob is a pattern with the syntax of path.Match, but its * and ? take any
// character.
type glob []globPart

type globPart struct {
	kind   byte // 0 for one of the ranges, '*' or '?'
	not    bool // one that is in none of the ranges
	ranges [][2]rune
}

// parseGlob reads a pattern.
func parseGlob(pattern string) (glob, error) {
	var g glob
	rest := pattern
	next := func() (rune, bool) {
		r, size := utf8.DecodeRuneInString(rest)
		rest = rest[size:]
		return r, size > 0
	}
	literal := func() (rune, error) { // one that may be escaped
		r, ok := next()
		if ok && r == '\\' {
			r, ok = next()
		}
		if !ok {
			return 0, fmt.Errorf(`pattern %q ends too early; write \*, \?, \[ and \\ for these characters`, pattern)
		}
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
		case '*', '?':
			if star := rest[0] == '*'; !star || len(g) == 0 || g[len(g)-1].kind != '*' {
				g = append(g, globPart{kind: rest[0]})
			}
			rest = rest[1:]
		case '[':
			rest = rest[1:]
			var p globPart
			if strings.HasPrefix(rest, "^") {
				p.not, rest = true, rest[1:]
			}
			for len(p.ranges) == 0 || !strings.HasPrefix(rest, "]") {
				low, err := bound()
				if err != nil {
					return nil, err
				}
				high := low
				if strings.HasPrefix(rest, "-") {
					rest = rest[1:]
					if high, err = bound(); err != nil {
						return nil, err
					}
				}
				if high < low {
					return nil, fmt.Errorf("pattern %q: the range %c-%c is empty", pattern, low, high)
				}
				p.ranges = append(p.ranges, [2]rune{low, high})
			}
			rest = rest[1:]
			g = append(g, p)
		default:
			r, err := literal()
			if err != nil {
				return nil, err
			}
			g = append(g, globPart{ranges: [][2]rune{{r, r}}})
		}
	}
	return g, nil
}

func (p globPart) takes(r rune) bool {
	if p.kind == '?' {
		return true
	}
	in := slices.ContainsFunc(p.ranges, func(each [2]rune) bool { return each[0] <= r && r <= each[1] })
	return in != p.not
}

// match reports whether the pattern matches all of text. It takes time
// proportional to the product of both lengths at worst, because it backtracks to
// the last * only.
func (g glob) match(text string) bool {
	at, star := 0, -1 // in g
	retry := 0        // where in text the last star ends
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		switch {
		case at < len(g) && g[at].kind == '*':
			star, retry = at, i
			at++
		case at < len(g) && g[at].takes(r):
			at++
			i += size
		case star >= 0:
			_, size := utf8.DecodeRuneInString(text[retry:])
			retry += size
			at, i = star+1, retry
		default:
			return false
		}
	}
	for at < len(g) && g[at].kind == '*' {
		at++
	}
	return at == len(g)
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
