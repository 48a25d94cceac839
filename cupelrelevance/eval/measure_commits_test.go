package eval_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/wollax/cupel-go/cupelrelevance/eval"
)

// TestMeasureCommits measures the history of a repository of Go code:
// CUPEL_COMMITS is its root. A question is what a commit says, and the evidence
// is the declarations that it changed, as far as they are still there.
func TestMeasureCommits(t *testing.T) {
	root := os.Getenv("CUPEL_COMMITS")
	if root == "" {
		t.Skip("CUPEL_COMMITS names no repository")
	}
	c := commits(t, root)
	t.Logf("%d declarations, %d commits", len(c.Items), len(c.Questions))
	measure(t, "commits", []eval.Conversation{c})
}

// mostChanged is how many declarations a commit may change: one that changes
// more says little about each.
const mostChanged = 12

// commits makes a conversation of a repository.
func commits(t *testing.T, root string) eval.Conversation {
	t.Helper()
	git := func(args ...string) string {
		t.Helper()
		command := exec.CommandContext(t.Context(), "git", append([]string{"-C", root, "-c", "core.quotePath=false"}, args...)...)
		out, err := command.Output()
		if err != nil {
			t.Fatalf("git %v: %v", args, err)
		}
		return string(out)
	}
	c := eval.Conversation{ID: "commits"}
	at := make(map[string]int) // by path and name
	for path := range strings.SplitSeq(git("ls-tree", "-r", "-z", "--name-only", "HEAD"), "\x00") {
		if !strings.HasSuffix(path, ".go") || strings.Contains(path, "testdata/") {
			continue
		}
		for _, d := range declarations(git("show", "HEAD:"+path)) {
			at[path+" "+d.name] = len(c.Items)
			c.Items = append(c.Items, eval.Turn{Speaker: d.name, Content: d.text, Session: eval.Text(path)})
		}
	}
	// Each commit: a byte that no text has, its hash, what it says, that byte again, the changes.
	for commit := range strings.SplitSeq(git("log", "--no-merges", "--no-renames", "--no-color", "--no-ext-diff", "-p", "-U0", "--format=%x02%H%n%B%x03", "--", "*.go"), "\x02") {
		says, changes, ok := strings.Cut(commit, "\x03")
		hash, says, _ := strings.Cut(says, "\n")
		if !ok || strings.TrimSpace(says) == "" {
			continue
		}
		var changed []int
		for path, lines := range changedLines(changes) {
			for _, d := range declarations(git("show", hash+":"+path)) {
				position, still := at[path+" "+d.name]
				if still && slices.ContainsFunc(lines, d.has) {
					changed = append(changed, position)
				}
			}
		}
		slices.Sort(changed)
		changed = slices.Compact(changed)
		if len(changed) > 0 && len(changed) <= mostChanged {
			c.Questions = append(c.Questions, eval.Question{Query: strings.TrimSpace(says), Evidence: changed})
		}
	}
	return c
}

// declaration is a top-level declaration of a Go file.
type declaration struct {
	name, text string
	from, to   int // lines
}

// has reports whether a range of lines touches the declaration.
func (d declaration) has(lines [2]int) bool { return lines[0] <= d.to && lines[1] >= d.from }

// declarations cuts a file into those that have a name. A file that does not
// parse has none.
func declarations(text string) []declaration {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, "", text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil
	}
	var all []declaration
	for _, decl := range file.Decls {
		name, doc := "", (*ast.CommentGroup)(nil)
		switch decl := decl.(type) {
		case *ast.FuncDecl:
			name, doc = decl.Name.Name, decl.Doc
			if decl.Recv != nil && len(decl.Recv.List) > 0 {
				from, to := decl.Recv.List[0].Type.Pos(), decl.Recv.List[0].Type.End()
				name = strings.TrimPrefix(text[files.Position(from).Offset:files.Position(to).Offset], "*") + "." + name
			}
		case *ast.GenDecl:
			doc = decl.Doc
			switch spec := decl.Specs; {
			case len(spec) == 0:
			case decl.Tok == token.TYPE:
				name = spec[0].(*ast.TypeSpec).Name.Name
			case decl.Tok == token.CONST || decl.Tok == token.VAR:
				name = spec[0].(*ast.ValueSpec).Names[0].Name
			}
		}
		if name == "" || name == "_" {
			continue
		}
		from := decl.Pos()
		if doc != nil {
			from = doc.Pos()
		}
		start, end := files.Position(from), files.Position(decl.End())
		all = append(all, declaration{name, text[start.Offset:end.Offset], start.Line, end.Line})
	}
	return all
}

// changedLines returns the lines that a diff without context leaves, by file:
// first and last, and for lines that are gone alone the one before and the one
// behind them.
func changedLines(diff string) map[string][][2]int {
	changed := make(map[string][][2]int)
	path := ""
	for line := range strings.Lines(diff) {
		line = strings.TrimSuffix(line, "\n")
		if name, ok := strings.CutPrefix(line, "+++ "); ok {
			path, _ = strings.CutPrefix(strings.TrimSuffix(name, "\t"), "b/")
			continue
		}
		if !strings.HasPrefix(line, "@@ ") || path == "/dev/null" {
			continue
		}
		_, after, _ := strings.Cut(line, " +")
		after, _, _ = strings.Cut(after, " ")
		first, count, several := strings.Cut(after, ",")
		from, _ := strconv.Atoi(first)
		n := 1
		if several {
			n, _ = strconv.Atoi(count)
		}
		lines := [2]int{from, from + n - 1}
		if n == 0 {
			lines = [2]int{from, from + 1}
		}
		changed[path] = append(changed[path], lines)
	}
	return changed
}

// TestChangedDeclarations looks at what measuring commits stands on.
func TestChangedDeclarations(t *testing.T) {
	const text = "package p\n\n// A is one.\nfunc (s *T[int]) A() {\n}\n\nvar b, c = 1, 2\n\ntype (\n\tD int\n\tE int\n)\n\nimport \"x\"\n\nvar _ = 1\n"
	got := fmt.Sprint(declarations(strings.Replace(text, "import \"x\"\n\n", "", 1)))
	want := "[{T[int].A // A is one.\nfunc (s *T[int]) A() {\n} 3 5} {b var b, c = 1, 2 7 7} {D type (\n\tD int\n\tE int\n) 9 12}]"
	if got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if all := declarations("package"); all != nil {
		t.Errorf("a file that does not parse has %v", all)
	}
	const diff = "diff --git a/x.go b/x.go\n--- a/x.go\n+++ b/x.go\n@@ -1,2 +3 @@ func\n-a\n@@ -9 +7,3 @@\n+x\n@@ -20,2 +17,0 @@\n-a\ndiff --git a/y.go b/y.go\n--- a/y.go\n+++ /dev/null\n@@ -1,9 +0,0 @@\n"
	if got, want := fmt.Sprint(changedLines(diff)), "map[x.go:[[3 3] [7 9] [17 18]]]"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	d := declaration{from: 3, to: 5}
	for lines, want := range map[[2]int]bool{{1, 2}: false, {1, 3}: true, {4, 4}: true, {5, 9}: true, {6, 6}: false} {
		if d.has(lines) != want {
			t.Errorf("lines %v: got %t", lines, !want)
		}
	}
}
