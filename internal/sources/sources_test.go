package sources

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCut(t *testing.T) {
	long := strings.Repeat("x", partBytes-2) + "\n"
	third := strings.Repeat("y", partBytes/3) + "\n"
	work := strings.Repeat("        work(1, 2, 3);\n", 40)
	open := "    def open(self):\n" + work
	box := "export default class Box<T> {\n\n  open() {\n  }\n}"
	tests := []struct {
		why, file, text string
		want            []Part
	}{
		{"imports say nothing, and lines are those of the file", "a.go", "// Package p is.\npackage p\n\nimport \"x\"\n\n\nfunc (s *T[K]) A() {}\n\n//line other.go:90\nconst b, c = 1, 2\n", []Part{
			{Line: 1, Text: "// Package p is.\npackage p\n\nimport \"x\"", Symbol: "package p"},
			{Line: 7, Text: "func (s *T[K]) A() {}", Symbol: "T.A"},
			{Line: 9, Text: "//line other.go:90\nconst b, c = 1, 2", Symbol: "b"},
		}},
		{"what stands above a declaration is about it", "a.go", "package p\n\n// A does.\nfunc A() {\n\n\twork()\n}\n\n// T is.\ntype T int\n\nvar (\n\t// C is.\n\tC = 1\n)\n", []Part{
			{Line: 3, Text: "// A does.\nfunc A() {\n\n\twork()\n}", Symbol: "A"},
			{Line: 9, Text: "// T is.\ntype T int", Symbol: "T"},
			{Line: 12, Text: "var (\n\t// C is.\n\tC = 1\n)", Symbol: "C"},
		}},
		{"lines that end as on Windows", "a.go", "package p\r\n\r\nfunc A() {\r\n}\r\n\r\nfunc B() {}\r\n", []Part{
			{Line: 3, Text: "func A() {\n}", Symbol: "A"}, {Line: 6, Text: "func B() {}", Symbol: "B"},
		}},
		{"no blank line between two declarations", "a.go", "func A() {\n}\n// B is.\nfunc B() {}\n", []Part{
			{Line: 1, Text: "func A() {\n}", Symbol: "A"}, {Line: 3, Text: "// B is.\nfunc B() {}", Symbol: "B"},
		}},
		{"functions of one line each", "a.go", "// A is.\nfunc A() { a() }\nfunc B() {}\nfunc C() {\n}\n", []Part{
			{Line: 1, Text: "// A is.\nfunc A() { a() }", Symbol: "A"}, {Line: 3, Text: "func B() {}", Symbol: "B"}, {Line: 4, Text: "func C() {\n}", Symbol: "C"},
		}},
		{"what has no name stays with what is above", "a.go", "const a = `x\n\ny`\n\nvar _ = a\n\nfunc b() {}\n", []Part{
			{Line: 1, Text: "const a = `x\n\ny`\n\nvar _ = a", Symbol: "a"}, {Line: 7, Text: "func b() {}", Symbol: "b"},
		}},
		{"a file that does not compile may be what is asked about", "a.go", "package p\nfunc {\n", []Part{{Line: 1, Text: "package p\nfunc {"}}},
		{"a long class has its methods as parts", "a.py", "import os\n\nMAX = 1\n\ndef area(x):\n    return x\n\n\nclass Box(Base):\n\n" + open + "\n    def close(self):\n        pass\n", []Part{
			{Line: 1, Text: "import os\n\nMAX = 1"},
			{Line: 5, Text: "def area(x):\n    return x", Symbol: "area"},
			{Line: 9, Text: "class Box(Base):", Symbol: "Box"},
			{Line: 11, Text: strings.TrimSuffix(open, "\n"), Symbol: "Box.open"},
			{Line: 53, Text: "    def close(self):\n        pass", Symbol: "Box.close"},
		}},
		{"a short one does not, nor what follows a bracket", "a.ts", "export function area(\n\n) {\n  let x;\n\n}\n\n" + box + strings.Repeat("\n", longType-len(box)), []Part{
			{Line: 1, Text: "export function area(\n\n) {\n  let x;\n\n}", Symbol: "area"},
			{Line: 8, Text: box, Symbol: "Box"},
		}},
		{"methods without a keyword", "A.java", "public final class Box {\n\n    public int open(int x) {\n" + work + "    }\n}\n", []Part{
			{Line: 1, Text: "public final class Box {", Symbol: "Box"},
			{Line: 3, Text: "    public int open(int x) {\n" + work + "    }\n}", Symbol: "Box.open"},
		}},
		{"a type with parameters", "a.rs", "pub fn area(x: i32) -> i32 {\n    x\n}\n\nimpl<T> Box<T> {\n}\n", []Part{
			{Line: 1, Text: "pub fn area(x: i32) -> i32 {\n    x\n}", Symbol: "area"}, {Line: 5, Text: "impl<T> Box<T> {\n}", Symbol: "Box"},
		}},
		{"number signs in code, in tags and too many are no headings", "a.md", "intro\n\n# A #\ntext\n```\n# no\n```\n#tag\n####### no\n## B\n", []Part{
			{Line: 1, Text: "intro"},
			{Line: 3, Text: "# A #\ntext\n```\n# no\n```\n#tag\n####### no", Title: "A"},
			{Line: 10, Text: "## B", Title: "B"},
		}},
		{"a heading begins its line, and a space follows its signs", "a.md", " # no\n#\tno\n###### C\n", []Part{
			{Line: 1, Text: " # no\n#\tno"},
			{Line: 3, Text: "###### C", Title: "C"},
		}},
		{"a fence ends as it began", "a.md", "```\n~~~\n# no\n```\n# A\n~~~\n# no\n", []Part{
			{Line: 1, Text: "```\n~~~\n# no\n```"},
			{Line: 5, Text: "# A\n~~~\n# no", Title: "A"},
		}},
		{"a text is cut at the last blank line that fits", "a.txt", third + "\n" + strings.Repeat(third, 2), []Part{
			{Line: 1, Text: strings.TrimSpace(third)}, {Line: 3, Text: strings.TrimSpace(strings.Repeat(third, 2))},
		}},
		{"up to the limit they are joined", "a.txt", "a\n\n" + long[3:] + "\nb\n", []Part{
			{Line: 1, Text: "a\n\n" + strings.TrimSpace(long[3:])}, {Line: 5, Text: "b"},
		}},
		{"short ones are joined, and indentation stays", "a.txt", "\n\n  a\n\nb\n\n" + long + "c\n", []Part{
			{Line: 3, Text: "  a\n\nb"},
			{Line: 7, Text: strings.TrimSpace(long)},
			{Line: 8, Text: "c"},
		}},
		{"a paragraph that is too long is cut between lines", "a.txt", "a\n" + long + "xx" + long + "\n", []Part{
			{Line: 1, Text: "a"}, {Line: 2, Text: strings.TrimSpace(long)}, {Line: 3, Text: "xx" + strings.TrimSpace(long)},
		}},
		{"white space is no part", "a.txt", "\n \n", []Part{}},
	}
	for _, tt := range tests {
		require.Equal(t, tt.want, append([]Part{}, Cut(tt.file, tt.text)...), tt.why)
	}
}

// TestLongFiles cuts files that have nothing but short paragraphs, or types in types.
func TestLongFiles(t *testing.T) {
	var nested strings.Builder
	for depth := range 1_000 {
		nested.WriteString(strings.Repeat(" ", depth) + "class A:\n\n")
	}
	for text, want := range map[string]int{
		"class A:\n\n" + strings.Repeat("x\n\n", 300_000): 1,
		nested.String(): maxDepth + 1,
		strings.Repeat("def a():\n    x\n\n", 60_000): 60_000,
	} {
		allocated := testing.AllocsPerRun(1, func() { require.Len(t, Cut("a.py", text), want) })
		require.Less(t, allocated, 5*float64(want)+100)
	}
}

// FuzzCut holds cutting to what no text may break: every part stands in the file, at its
// line, and texts lose nothing but white space.
func FuzzCut(f *testing.F) {
	for _, seed := range []string{"package p\n\nvar A = 1\n", "# A\n```\n# b\n", "a\n\n" + strings.Repeat("b\n", partBytes), "\n \n", "class A:\n\n    def b():\n" + strings.Repeat("        c\n\n", longType/5) + "  \n\n d", "func A() {}\n\n  "} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, name := range []string{"a.go", "a.py", "a.md", "a.txt"} {
			var all strings.Builder
			for _, p := range Cut(name, text) {
				lines := strings.SplitN(text, "\n", p.Line)
				first, _, _ := strings.Cut(p.Text, "\n")
				require.GreaterOrEqual(t, len(lines), p.Line, name)
				require.True(t, strings.HasPrefix(strings.TrimSpace(lines[p.Line-1]), strings.TrimSpace(first)), "%s: %q is not at line %d", name, p.Text, p.Line)
				require.Contains(t, text, p.Text, name)
				all.WriteString(p.Text)
			}
			squeeze := func(s string) string { return strings.Join(strings.Fields(s), "") }
			if !strings.HasSuffix(squeeze(text), squeeze(all.String())) || name != "a.go" && squeeze(all.String()) != squeeze(text) {
				t.Fatalf("%s: %q of %q", name, all.String(), text)
			}
		}
	})
}
