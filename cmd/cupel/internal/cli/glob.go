package cli

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/wollax/cupel-go/cmd/cupel/internal/terminal"
	"github.com/wollax/cupel-go/cupel"
)

// wildcards are the wildcards of patterns as they appear in a quoted regular
// expression.
var wildcards = strings.NewReplacer(`\*`, `.*`, `\?`, `.`)

// globs returns the function that matches a pattern with the first line or the whole of
// a content: * is any text, and ? any character.
func globs(pattern string) func(content string) bool {
	compiled := regexp.MustCompile(`(?s)^` + wildcards.Replace(regexp.QuoteMeta(pattern)) + `$`)
	return func(content string) bool {
		return compiled.MatchString(terminal.FirstLine(content)) || compiled.MatchString(content)
	}
}

// find returns the position of the candidate that --why-not names: the number of a
// message or an item, from 1, or a pattern for its content or its first line, or a part of
// it. Of copies of one content the first is returned.
func (s *selection) find(text string) (int, error) {
	isText := func(item *cupel.ContextItem) bool { return item.Content() == text }
	if n, err := strconv.Atoi(text); err == nil && !slices.ContainsFunc(s.Items, isText) {
		return s.numbered(n)
	}
	found := s.matching(text)
	if len(found) == 0 {
		found = s.matching("*" + text + "*")
	}
	switch len(found) {
	case 0:
		return 0, usagef("--why-not: none of %d candidates matches; cupel explain --rows 0 lists them all", len(s.Items))
	case 1:
		return found[0], nil
	}
	return 0, usagef("--why-not: %s match; give the number of one", listed(namesOf(s.Items, found)))
}

// matching returns the positions of the candidates that match a pattern.
func (s *selection) matching(pattern string) (found []int) {
	matches := globs(pattern)
	seen := make(map[string]bool)
	for i, item := range s.Items {
		if matches(item.Content()) && !seen[item.Content()] {
			seen[item.Content()] = true
			found = append(found, i)
		}
	}
	return found
}

// numbered returns the position of the message, or else the item, with a number.
func (s *selection) numbered(n int) (int, error) {
	last := 0
	for i := range s.Items {
		number := s.numberOf(i)
		if number == n && n > 0 {
			return i, nil
		}
		last = max(last, number)
	}
	return 0, usagef("--why-not: the candidates have the numbers 1 to %d, got %d", last, n)
}
