package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/scorer"
	"github.com/wollax/cupel-go/cupelrelevance"
)

// shop is a small repository.
func shop(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"README.md":        "# Shop\n\nSells tea.\n\n```\n# no heading\n```\n\n## Prices\n\nPrices are cents.\n",
		"shop.go":          "package shop\n\nimport \"fmt\"\n\n// Price is in cents.\ntype Price int\n\n// String prints euros.\nfunc (p *Price) String() string { return fmt.Sprint(*p) }\n\nvar _ fmt.Stringer = (*Price)(nil)\n",
		"shop_test.go":     "package shop\n\nconst tea = 250\n",
		"broken.go":        "package shop\n\n// Sell is not finished.\nfunc (s *Shop) Sell( {\n\n\tconst (\n",
		"wrap.go":          "package shop\n\n// Wrap is long.\nfunc Wrap() {\n" + strings.Repeat("\twork()\n", 110) + "}\n",
		"vendor/v/v.go":    "package v\n\nconst Vendored = 1\n",
		".hidden/notes.md": "# Hidden\n",
		"logo.svg":         "<svg/>",
	} {
		name = filepath.Join(dir, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o755))
		require.NoError(t, os.WriteFile(name, []byte(text), 0o600))
	}
	return dir
}

func TestCollect(t *testing.T) {
	items, skipped, err := collect(shop(t))
	require.NoError(t, err)
	var got []string
	for _, item := range items {
		got = append(got, string(item.Kind())+" "+from(item))
	}
	want := []string{
		"Document README.md:1 Shop", "Document README.md:9 Prices",
		"Code broken.go:3 Shop.Sell", "Code shop.go:5 Price", "Test shop_test.go:3 tea",
		"Code wrap.go:3 Wrap", "Rest wrap.go:30 Wrap", "Rest wrap.go:59 Wrap", "Rest wrap.go:88 Wrap",
	}
	require.Equal(t, want, got)
	require.Equal(t, map[string]int{".svg": 1}, skipped)
	require.Equal(t, "shop.go:5 Price\n// Price is in cents.\ntype Price int\n\nshop.go:8 Price.String\n// String prints euros.\nfunc (p *Price) String() string { return fmt.Sprint(*p) }\n\nvar _ fmt.Stringer = (*Price)(nil)", items[3].Content())
}

func TestRun(t *testing.T) {
	page := filepath.Join(t.TempDir(), "page.html")
	var out strings.Builder
	err := run(t.Context(), []string{"-dir", shop(t), "-budget", "200", "-page", page, "How", "is", "a", "Price", "printed?"}, &out)
	require.NoError(t, err)
	for _, want := range []string{
		"Question: How is a Price printed?\n", "\nCandidates: 10, ", "Window: ", " of 150 tokens\n",
		"  Code          shop.go:5 Price\n", "Skipped files: .svg:1\n", "Dropped: ",
	} {
		assert.Contains(t, out.String(), want)
	}
	html, err := os.ReadFile(page)
	require.NoError(t, err)
	require.Contains(t, string(html), "shop.go:5 Price")
	for _, tt := range []struct {
		args []string
		want string
		why  string
	}{
		{nil, "ask a question", "without a question nothing is relevant"},
		{[]string{"-budget", "3", "-dir", shop(t), "Why?"}, "Pinned items require", "the question is in every window"},
		{[]string{"-dir", filepath.Join(t.TempDir(), "none"), "Why?"}, "none", "there is no such folder"},
	} {
		err := run(t.Context(), tt.args, &out)
		assert.ErrorContains(t, err, tt.want, "%q: %s", tt.args, tt.why)
	}
}

// TestReferences: a declaration gets a part of the way to the best of the texts in its folder
// that name it, and one that is better than these stays.
func TestReferences(t *testing.T) {
	var items []*cupel.ContextItem
	var want []float64
	for _, row := range []struct {
		path, symbols, text string
		score, want         float64
	}{
		{"a/cook.go", "Chef.Cook", "Cook heats oven_1, oven_1.", 1, 1},
		{"a/serve.go", "Serve", "Serve opens oven_1", 0.75, 0.75},
		{"a/oven.go", "Oven.door oven_1", "door oven_1 cold_1", 0.5, 0.65},
		{"a/cold.go", "cold_1", "cold_1", 0.25, 0.325},
		{"b/oven.go", "oven_1", "oven_1", 0.5, 0.5},
		{"a/oven.md", "", "Cook", 0.5, 0.5},
	} {
		item, err := cupel.NewContextItem(row.text, 1, cupel.WithFutureRelevanceHint(row.score),
			cupel.WithMetadata(map[string]any{"path": row.path, "symbol": row.symbols}))
		require.NoError(t, err)
		items, want = append(items, item), append(want, row.want)
	}
	scores := make([]float64, len(items))
	require.NoError(t, references{scorer.Reflexive{}, namesOf(items)}.Score(t.Context(), items, scores))
	require.InDeltaSlice(t, want, scores, 1e-9)
}

// repository returns the root of this repository. A module alone is not all of it.
func repository(t *testing.T) string {
	t.Helper()
	root := filepath.Join("..", "..")
	if _, err := os.Stat(filepath.Join(root, "cupel", "budget.go")); err != nil {
		t.Skip("the rest of the repository is not there: ", err)
	}
	return root
}

// asked is a question about a repository, with the declarations that hold the answer.
type asked struct {
	question string
	answers  []string // file and symbol
}

// questionsAbout returns the questions by repository: this one, or a module.
func questionsAbout(t *testing.T) map[string][]asked {
	t.Helper()
	text, err := os.ReadFile("testdata/questions.tsv")
	require.NoError(t, err)
	all := make(map[string][]asked)
	for line := range strings.Lines(string(text)) {
		columns := strings.Split(strings.TrimSpace(line), "\t")
		all[columns[0]] = append(all[columns[0]], asked{columns[1], strings.Split(columns[2], "; ")})
	}
	return all
}

// find returns how many of the answers that a folder has are in windows of the 4,000
// tokens that are the default, and how many it has.
func find(t *testing.T, dir string, questions []asked) (found, there int) {
	t.Helper()
	candidates, _, err := collect(dir)
	require.NoError(t, err)
	is := func(answer string) func(*cupel.ContextItem) bool {
		return func(item *cupel.ContextItem) bool {
			path, _ := item.MetadataText("path")
			symbols, _ := item.MetadataText("symbol")
			file, name, _ := strings.Cut(answer, " ")
			return item.Kind() != kindRest && path == file && slices.Contains(strings.Fields(symbols), name)
		}
	}
	budget, err := cupel.NewContextBudget(4000, 3000)
	require.NoError(t, err)
	index, known := cupelrelevance.Must(cupelrelevance.NewIndex()), namesOf(candidates)
	for _, q := range questions {
		pipeline, err := newPipeline(index, known, q.question)
		require.NoError(t, err)
		window, err := pipeline.Run(t.Context(), candidates, budget)
		require.NoError(t, err)
		for _, answer := range q.answers {
			switch {
			case !slices.ContainsFunc(candidates, is(answer)):
				t.Logf("%s is gone", answer)
				continue
			case slices.ContainsFunc(window, is(answer)):
				found++
			default:
				t.Logf("%s: %s is not in the window", q.question, answer)
			}
			there++
		}
	}
	t.Logf("%d of %d answers are in windows of 4,000 tokens", found, there)
	return found, there
}

// TestAnswers asks about this repository and counts how many of the declarations that
// hold the answers are in the window.
func TestAnswers(t *testing.T) {
	found, there := find(t, repository(t), questionsAbout(t)["."])
	require.GreaterOrEqual(t, there, 24)
	require.GreaterOrEqual(t, 7*found, 6*there, "six of seven answers are in the windows")
}

// TestOtherRepositories asks about other modules. The questions were written before the
// example first answered them. It finds nine of ten answers in the six modules that it was
// improved on, and four of five in the others. make test asks the last six of these, whose
// versions stand beside their questions.
func TestOtherRepositories(t *testing.T) {
	first := []string{
		"github.com/BurntSushi/toml", "github.com/chromedp/chromedp", "github.com/golang-jwt/jwt/v5",
		"github.com/google/go-cmp", "github.com/modelcontextprotocol/go-sdk", "github.com/spf13/cobra",
	}
	questions := questionsAbout(t)
	command := exec.CommandContext(t.Context(), "go", "mod", "download", "-json")
	for module := range questions {
		if module != "." && (!testing.Short() || strings.Contains(module, "@")) {
			command.Args = append(command.Args, module)
		}
	}
	out, err := command.Output()
	if err != nil {
		t.Skipf("NOT TESTED: connect to a module proxy, or run %s once: %v\n%s", command, err, out)
	}
	var found, there [2]int // of the modules that were asked first, and of those since
	for modules := json.NewDecoder(bytes.NewReader(out)); modules.More(); {
		var module struct{ Path, Version, Dir string }
		require.NoError(t, modules.Decode(&module))
		t.Log(module.Path)
		more, of := find(t, module.Dir, append(questions[module.Path], questions[module.Path+"@"+module.Version]...))
		set := 0
		if !slices.Contains(first, module.Path) {
			set = 1
		}
		found[set], there[set] = found[set]+more, there[set]+of
	}
	t.Logf("%d of %d", found, there)
	least := 117
	if !testing.Short() {
		require.GreaterOrEqual(t, there[0], 70)
		require.GreaterOrEqual(t, 10*found[0], 9*there[0], "9 of 10 answers are in the windows")
		least = 234
	}
	require.GreaterOrEqual(t, there[1], least)
	require.GreaterOrEqual(t, 5*found[1], 4*there[1], "4 of 5 answers about the modules since are in the windows")
}
