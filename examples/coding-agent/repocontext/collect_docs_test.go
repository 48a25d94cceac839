package repocontext

import (
	"slices"
	"strings"
	"testing"
)

func TestMarkdownIsCutAtHeadings(t *testing.T) {
	tests := []struct {
		name, why string
		text      string
		want      []string // origin|content
	}{
		{
			name: "nested", why: "a section ends at the next heading of any level and knows what it is under",
			text: "# A\n\none\n\n## B\n\ntwo\n\n### C\n\nthree\n\n## D\n\nfour\n",
			want: []string{"x.md:1 A|# A\n\none", "x.md:5 A > B|## B\n\ntwo", "x.md:9 A > B > C|### C\n\nthree", "x.md:13 A > D|## D\n\nfour"},
		},
		{
			name: "before the first", why: "text above the first heading is a section without a name",
			text: "hello\n\n# A\n\none\n",
			want: []string{"x.md:1|hello", "x.md:3 A|# A\n\none"},
		},
		{
			name: "empty sections", why: "a heading with nothing under it lives on in the names below it",
			text: "# A\n\n## B\n\n### C\n\ntext\n\n## D\n",
			want: []string{"x.md:5 A > B > C|### C\n\ntext"},
		},
		{
			name: "nothing but a heading", why: "it is the only section, but it says nothing",
			text: "# A\n",
			want: nil,
		},
		{
			name: "no heading", why: "the file is one section",
			text: "\njust text\n",
			want: []string{"x.md:1|just text"},
		},
		{
			name: "code blocks", why: "a comment in a shell script is no heading; a longer or other fence does not end a block",
			text: "# A\n\n```sh\n# not B\n~~~\n# nor C\n````\n\n# D\n\ntext\n\n    # indented\n",
			want: []string{"x.md:1 A|# A\n\n```sh\n# not B\n~~~\n# nor C\n````", "x.md:9 D|# D\n\ntext\n\n    # indented"},
		},
		{
			name: "fence that never ends", why: "the rest of the file is code",
			text: "# A\n\n```\n# B\n",
			want: []string{"x.md:1 A|# A\n\n```\n# B"},
		},
		{
			name: "underlined", why: "the older form of headings, with a rule and a list that are none",
			text: "A\n===\n\none\n\nB\n---\n\ntwo\n\n---\n\n- item\n---\nthree\n",
			want: []string{"x.md:1 A|A\n===\n\none", "x.md:6 A > B|B\n---\n\ntwo\n\n---\n\n- item\n---\nthree"},
		},
		{
			name: "front matter", why: "settings of a site generator are no heading",
			text: "---\ntitle: T\n---\n\n# A\n\none\n",
			want: []string{"x.md:1|---\ntitle: T\n---", "x.md:5 A|# A\n\none"},
		},
		{
			name: "closing signs", why: "number signs after the title are decoration, in a word they are not",
			text: "## A ##\n\none\n\n## C#\n\ntwo\n",
			want: []string{"x.md:1 A|## A ##\n\none", "x.md:5 C#|## C#\n\ntwo"},
		},
		{
			name: "no headings after all", why: "a tag, seven signs and a table are text",
			text: "#tag\n\n####### seven\n\n| a | b |\n|---|---|\n",
			want: []string{"x.md:1|#tag\n\n####### seven\n\n| a | b |\n|---|---|"},
		},
		{
			name: "windows", why: "line ends of the other kind are line ends",
			text: "# A\r\n\r\none\r\n\r\n# B\r\n\r\ntwo\r\n",
			want: []string{"x.md:1 A|# A\n\none", "x.md:5 B|# B\n\ntwo"},
		},
		{
			name: "control characters in a title", why: "an origin is one line of text",
			text: "# A\x1b[31m\n\none\n",
			want: []string{"x.md:1 A\uFFFD[31m|# A\x1b[31m\n\none"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, d := range (sourceFile{path: "x.md", content: []byte(tt.text)}).sections() {
				got = append(got, d.origin+"|"+d.content)
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("%q\nwant %q\nbecause %s", got, tt.want, tt.why)
			}
		})
	}
}

func TestSectionsAreTaggedByTopicAndByNames(t *testing.T) {
	without(t)
	root := writeTree(t, map[string]string{
		"doc/guide.md": "# Guide\n\n## How the Budget works\n\nA ContextBudget, see `budget`. Budget and Slicer in prose are words.\n",
		"p.go":         "package p\n\ntype ContextBudget int\n\ntype Slicer int\n\nfunc budget() {}\n\nfunc Budget() {}\n",
	})
	items := collect(t, root, Options{}).Items
	it := find(t, items, "doc/guide.md:3 Guide > How the Budget works")
	// The folder; the topics, nearest heading first; the names in code, and those
	// with a capital inside.
	if got, want := it.Tags(), []string{"doc", "budget", "works", "guide", "ContextBudget"}; !slices.Equal(got, want) {
		t.Errorf("tags %q, want %q", got, want)
	}
}

func TestVeryLongTitleCostsLittle(t *testing.T) {
	text := "# " + strings.Repeat("word\x00é ", 100_000) + "\n\ntext\n"
	drafts := sourceFile{path: "x.md", content: []byte(text)}.sections()
	if len(drafts) != 1 || len(drafts[0].origin) > 400 {
		t.Fatalf("%d sections, the first from %.500q", len(drafts), drafts[0].origin)
	}
}
