package repo

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"
)

// TestLinks holds that the links of every Markdown file to files of the
// repository, and to headings in them, lead somewhere.
func TestLinks(t *testing.T) {
	root := Root(t)
	looked := 0
	for name := range strings.FieldsSeq(Run(t, root, nil, "git", "ls-files", "*.md")) {
		text, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		links := linksOf(string(text))
		looked += len(links)
		for _, link := range links {
			if err := follow(filepath.Join(root, name), link); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	if looked == 0 {
		t.Error("no link was looked at")
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

// TestLinksFindsDeadOnes follows links that lead somewhere and links that do
// not.
func TestLinksFindsDeadOnes(t *testing.T) {
	from := filepath.Join(t.TempDir(), "a.md")
	text := "# Add a `scorer`, or two\n\n```\n# not a heading\n[not a link](code.md)\n```\n" +
		"[x](https://example.com/a.md) [y](#add-a-scorer-or-two) [z](b.md)\n"
	if err := os.WriteFile(from, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(linksOf(text), " "); got != "#add-a-scorer-or-two b.md" {
		t.Errorf("the links are %s, want those outside of code that are not URLs", got)
	}
	tests := []struct {
		target string
		dead   bool
		why    string
	}{
		{"a.md", false, "the file itself"},
		{"#add-a-scorer-or-two", false, "a heading with code and a comma"},
		{"a.md#add-a-scorer-or-two", false, "both"},
		{".", false, "a folder"},
		{"b.md", true, "no such file"},
		{"#not-a-heading", true, "a comment in code"},
		{".#x", true, "a folder has no headings"},
	}
	for _, tt := range tests {
		if err := follow(from, tt.target); (err != nil) != tt.dead {
			t.Errorf("follow(%q) = %v, want an error: %v (%s)", tt.target, err, tt.dead, tt.why)
		}
	}
}
