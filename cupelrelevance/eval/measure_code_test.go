package eval_test

import (
	"fmt"
	"github.com/wollax/cupel-go/cupel/strategy"
	"github.com/wollax/cupel-go/cupelrelevance"
	"github.com/wollax/cupel-go/cupelrelevance/eval"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"
)

// TestMeasureCode looks for every function with a comment in five packages of
// the standard library, and holds the preset to BM25 with the same stop words.
func TestMeasureCode(t *testing.T) {
	if testing.Short() {
		t.Skip("make test-full runs this: it asks 1,400 questions")
	}
	budgets := []int{500, 1000, 2000, 4000, 8000}
	policies := []eval.Policy{byWords(), relevancePolicy()}
	check := func(of string, result *eval.Result, tolerance float64) {
		for i, words := range result.Policies[0].Points {
			if preset := result.Policies[1].Points[i]; preset.Recall < words.Recall-tolerance {
				t.Errorf("%s: within %d tokens the preset finds %.3f, words alone %.3f", of, words.Budget, preset.Recall, words.Recall)
			}
		}
	}
	var all []eval.Conversation
	for _, pkg := range []string{"net/http", "encoding/json", "go/types", "database/sql", "strings"} {
		c, _ := functionsOf(t, pkg)
		all = append(all, c)
		result, err := run(t.Context(), []eval.Conversation{c}, policies, budgets)
		require.NoError(t, err)
		t.Logf("%s: %s", pkg, result.Text())
		// In a small package .005 is less than a question.
		check(pkg, result, max(0.005, 2.0/float64(len(c.Questions))))
	}
	result, err := run(t.Context(), all, policies, budgets)
	require.NoError(t, err)
	t.Logf("all: %s", result.Text())
	check("all", result, 0.005)
}

// byWords is BM25 without the stop words of English.
func byWords() eval.Policy {
	return eval.ByScore("words", func(index *cupelrelevance.Index, query string) (strategy.Scorer, error) {
		return cupelrelevance.NewLexical(index, strings.Join(subject(query), " "))
	})
}

func relevancePolicy() eval.Policy {
	return eval.ByScore("relevance", func(index *cupelrelevance.Index, query string) (strategy.Scorer, error) {
		return cupelrelevance.New(index, query)
	})
}

// subject returns the words of a question that are no stop words.
func subject(query string) []string {
	words := strings.FieldsFunc(query, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' })
	return slices.DeleteFunc(words, func(word string) bool { return cupelrelevance.LanguageEnglish.IsStopWord(strings.ToLower(word)) })
}

// questionForms make a question of the first sentence of a comment.
var questionForms = []string{"Which function %s?", "Where is the code that %s?", "What %s?"}

// goRoot is where Go is. The command knows it in a build with -trimpath too.
var goRoot = sync.OnceValue(func() string {
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(root))
})

// functionsOf makes a conversation of a package of the standard library, and
// tells where each function is. Its items are the functions, by file, each
// without its comment and its name. The questions are the first sentences of the
// comments without the name: what is left has to find the function by what it
// does.
func functionsOf(t *testing.T, pkg string) (eval.Conversation, map[string]int) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(goRoot(), "src", filepath.FromSlash(pkg), "*.go"))
	require.NoError(t, err)
	c := eval.Conversation{ID: pkg}
	at := make(map[string]int)
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		data, err := os.ReadFile(path)
		require.NoError(t, err)
		for _, f := range functions(string(data)) {
			if _, known := at[f.name]; !known { // other systems have functions of the same name
				at[f.name] = len(c.Items)
			}
			if says := firstSentence(f.doc, f.name); says != "" {
				query := fmt.Sprintf(questionForms[len(c.Questions)%len(questionForms)], says)
				c.Questions = append(c.Questions, eval.Question{Query: query, Evidence: []int{len(c.Items)}})
			}
			c.Items = append(c.Items, eval.Turn{Content: f.text, Session: eval.Text(filepath.Base(path))})
		}
	}
	if len(c.Items) == 0 {
		t.Skipf("the source of %s is not there; use a Go release with the source of the standard library", pkg)
	}
	return c, at
}

// function is a function without its comment and its name.
type function struct {
	name string // with the type of its receiver
	doc  string
	text string
}

// functions returns the functions of a file, or none if it does not parse.
func functions(text string) []function {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, "", text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil
	}
	var all []function
	for _, decl := range file.Decls {
		decl, ok := decl.(*ast.FuncDecl)
		if !ok {
			continue
		}
		at := func(p token.Pos) int { return files.Position(p).Offset }
		name := decl.Name.Name
		if decl.Recv != nil && len(decl.Recv.List) > 0 {
			receiver := decl.Recv.List[0].Type
			if pointer, ok := receiver.(*ast.StarExpr); ok {
				receiver = pointer.X
			}
			receiverName, _, _ := strings.Cut(text[at(receiver.Pos()):at(receiver.End())], "[")
			name = receiverName + "." + name
		}
		all = append(all, function{
			name: name,
			doc:  decl.Doc.Text(),
			text: text[at(decl.Pos()):at(decl.Name.Pos())] + text[at(decl.Name.End()):at(decl.End())],
		})
	}
	return all
}

// firstSentence returns the first sentence of a comment without the name of what
// it is about, and "" if less than two words are left.
func firstSentence(doc, name string) string {
	name = name[strings.LastIndexByte(name, '.')+1:]
	doc, _, _ = strings.Cut(doc, "\n\n")
	doc, _, _ = strings.Cut(strings.Join(strings.Fields(doc), " "), ". ")
	words := slices.DeleteFunc(strings.Fields(doc), func(word string) bool {
		word = strings.Trim(word, ".,:;()[]*\"'`")
		return word == name || strings.HasSuffix(word, "."+name)
	})
	if len(words) < 2 {
		return ""
	}
	return strings.TrimSuffix(strings.Join(words, " "), ".")
}

// TestFunctions looks at what measuring code stands on.
func TestFunctions(t *testing.T) {
	const text = "package p\n\n// Run runs t. It\n// may fail.\nfunc (t *T[int]) Run() error {\n\treturn t.Run()\n}\n\n// A is one\n//\n// B\nfunc A() {}\n\nfunc B() {}\n\n// C.\nfunc C() {}\n"
	for i, want := range []function{
		{"T.Run", "runs t", "func (t *T[int]) () error {\n\treturn t.Run()\n}"},
		{"A", "is one", "func () {}"},
		{"B", "", "func () {}"},
		{"C", "", "func () {}"},
	} {
		got := functions(text)[i]
		got.doc = firstSentence(got.doc, got.name)
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	if all := functions("package"); all != nil {
		t.Errorf("a file that does not parse has %v", all)
	}
}
