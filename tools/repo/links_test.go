package repo

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"
)

// TestLinks holds that the links of every Markdown file to files of the
// repository, and to headings in them, lead somewhere.
func TestLinks(t *testing.T) {
	root := Root(t)
	looked := 0
	for name := range strings.FieldsSeq(Run(t, root, nil, "git", "ls-files", "*.md")) {
		text, err := os.ReadFile(filepath.Join(root, name))
		require.NoError(t, err)
		links := linksOf(string(text))
		looked += len(links)
		for _, link := range links {
			if err := follow(filepath.Join(root, name), link); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	if looked < 100 {
		t.Errorf("only %d links were looked at", looked)
	}
}

var (
	link    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	fenced  = regexp.MustCompile("(?ms)^```.*?\n```")
	heading = regexp.MustCompile(`(?m)^#+ +(.*)$`)
)

// linksOf returns the targets of the links in a text that are not URLs.
func linksOf(text string) (targets []string) {
	for _, m := range link.FindAllStringSubmatch(fenced.ReplaceAllString(text, ""), -1) {
		if !strings.Contains(m[1], ":") {
			targets = append(targets, m[1])
		}
	}
	return targets
}

// follow returns an error when a link in the file from leads nowhere.
func follow(from, target string) error {
	path, fragment, _ := strings.Cut(target, "#")
	to := from
	if path != "" {
		to = filepath.Join(filepath.Dir(from), filepath.FromSlash(path))
	}
	if _, err := os.Stat(to); err != nil {
		return fmt.Errorf("the link %s leads to no file", target)
	}
	if fragment == "" {
		return nil
	}
	text, err := os.ReadFile(to)
	if err != nil {
		return fmt.Errorf("the link %s needs a file with headings: %w", target, err)
	}
	for _, m := range heading.FindAllStringSubmatch(fenced.ReplaceAllString(string(text), ""), -1) {
		if anchor(m[1]) == fragment {
			return nil
		}
	}
	return fmt.Errorf("the link %s leads to no heading", target)
}

// anchor returns the fragment by which GitHub finds a heading.
func anchor(heading string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
			return unicode.ToLower(r)
		}
		return -1
	}, strings.TrimSpace(heading))
}
