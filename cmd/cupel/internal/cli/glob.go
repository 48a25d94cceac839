package cli

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/wollax/cupel-go/cmd/cupel/internal/terminal"
	"github.com/wollax/cupel-go/cupel"
)

// globSyntax turns a pattern, quoted for a regular expression, into one: * and ? match
// any character, and a backslash quotes the next character.
var globSyntax = strings.NewReplacer(
	`\\\*`, `\*`, `\\\?`, `\?`, `\\\[`, `\[`, `\\\]`, `\]`, `\\\\`, `\\`,
	`\*`, `.*`, `\?`, `.`, `\[\^`, `[^`, `\[`, `[`, `\]`, `]`,
)

// globs compiles a pattern for the first line or the whole of a content.
func globs(pattern string) (func(content string) bool, error) {
	compiled, err := regexp.Compile(`(?s)^` + globSyntax.Replace(regexp.QuoteMeta(pattern)) + `$`)
	if err != nil {
		return nil, fmt.Errorf(`pattern %q: write \*, \?, \[ and \\ for these characters`, pattern)
	}
	return func(content string) bool {
		return compiled.MatchString(terminal.FirstLine(content)) || compiled.MatchString(content)
	}, nil
}

// findCandidate returns the position of the candidate that --why-not names: the number of
// a message or an item, from 1, or something of its content.
// Of copies of one content the first is returned.
func findCandidate(items []*cupel.ContextItem, text string) (int, error) {
	if text == "" {
		return 0, usagef("--why-not: give the content of a candidate, its first line, its beginning, its title, or a pattern")
	}
	isText := func(item *cupel.ContextItem) bool { return item.Content() == text }
	if n, err := strconv.Atoi(text); err == nil && !slices.ContainsFunc(items, isText) {
		return numbered(items, n)
	}
	ways := []func(content string) bool{
		func(content string) bool { return content == text },
		func(content string) bool {
			return strings.HasPrefix(strings.TrimSpace(content), strings.TrimSpace(text))
		},
	}
	if matches, err := globs(text); err == nil {
		ways = slices.Insert(ways, 1, matches)
	}
	for _, way := range ways {
		var found []int
		seen := make(map[string]bool)
		for i, item := range items {
			if (way(item.Content()) || way(headline(item))) && !seen[item.Content()] {
				seen[item.Content()] = true
				found = append(found, i)
			}
		}
		switch len(found) {
		case 0:
		case 1:
			return found[0], nil
		default:
			return 0, ambiguous(items, found)
		}
	}
	return 0, usagef("--why-not: none of %d candidates matches; cupel explain --rows 0 lists them all", len(items))
}

// numbered returns the position of the message, or else the item, with a number.
func numbered(items []*cupel.ContextItem, n int) (int, error) {
	last := 0
	for i, item := range items {
		number := messageNumber(item) // 0 for what a request has beside its messages
		if textOf(item, "role") == "" {
			number = i + 1
		}
		if number == n && n > 0 {
			return i, nil
		}
		last = max(last, number)
	}
	return 0, usagef("--why-not: the candidates have the numbers 1 to %d, got %d", last, n)
}

// ambiguous is the error for a text that several candidates match.
func ambiguous(items []*cupel.ContextItem, found []int) error {
	const most = 5
	var list []string
	for _, i := range found[:min(len(found), most)] {
		list = append(list, `"`+terminal.Excerpt(items[i].Content(), 50)+`"`)
	}
	return usagef("--why-not: %d candidates match, such as %s; give more of the content", len(found), strings.Join(list, ", "))
}
