package repo

import (
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestRecipe follows the recipes "Add a scorer" and "Add a reason" of CONTRIBUTING.md
// with the files of testdata/recipe, which the go command sees in place of the
// repository's: the tests of all scorers hold for the scorer, policies read it, their
// schema has it, vectors use it, the command's help lists it and the inspector
// describes it; and the core's tests hold for the reason.
func TestRecipe(t *testing.T) {
	root := Root(t)
	recipe := filepath.Join(root, "tools", "repo", "testdata", "recipe")
	dir := t.TempDir()

	// Two new files of Go, a vector, and one line of another file. A reason takes two more.
	replace := map[string]string{
		filepath.Join(root, "cupel", "scorer", "brevity.go"):      filepath.Join(recipe, "brevity.go.txt"),
		filepath.Join(root, "cupel", "scorer", "brevity_test.go"): filepath.Join(recipe, "brevity_test.go.txt"),
		filepath.Join(root, "cupel", "policy", "recipe_test.go"):  filepath.Join(recipe, "schema_test.go.txt"),
	}
	for _, edit := range []struct{ file, before, insert string }{
		{"scorer/descriptors.go", "\trecencyDescriptor,", "\tbrevityDescriptor,\n"},
		{"reason.go", "\t// ExcludeScoredTooLow:", "\tExcludeTooLong ExclusionCode = \"TooLong\"\n"},
		{"reason_table.go", "\t{\n\t\tExcludeFiltered,", "\t{ExcludeTooLong, []string{\"tokens\"}, " +
			"func(b []byte, d ReasonData) []byte { return fmt.Append(b, d.Tokens) }, " +
			"\"it is too long\"},\n"},
	} {
		path := filepath.Join(root, "cupel", filepath.FromSlash(edit.file))
		text, err := os.ReadFile(path)
		if err != nil || !strings.Contains(string(text), edit.before) {
			t.Fatalf("%s has no %q: %v", edit.file, edit.before, err)
		}
		replace[path] = filepath.Join(dir, filepath.Base(path))
		require.NoError(t, os.WriteFile(replace[path], []byte(strings.Replace(string(text), edit.before, edit.insert+edit.before, 1)), 0o600))
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	require.NoError(t, err)
	overlayFile := filepath.Join(dir, "overlay.json")
	require.NoError(t, os.WriteFile(overlayFile, overlay, 0o600))
	env := []string{"GOWORK=" + filepath.Join(root, "go.work")}
	contains := func(what, text string, parts ...string) {
		t.Helper()
		for _, part := range parts {
			if !strings.Contains(text, part) {
				t.Errorf("%s lacks %q:\n%.2000s", what, part, text)
			}
		}
	}

	contains("the tests of scorers",
		Run(t, filepath.Join(root, "cupel"), env, "go", "test", "-short", "-overlay", overlayFile, "-v", "./scorer"),
		"--- PASS: TestBrevityRefuses", "--- PASS: ExampleNewBrevity", "--- PASS: TestDescriptorsBuild")
	// TestReasonTable reads reason.go itself.
	contains("the tests of reasons",
		Run(t, filepath.Join(root, "cupel"), env, "go", "test", "-short", "-overlay", overlayFile, "-skip", "^TestReasonTable$", "-v", "."), "--- PASS: TestReasonsSurvive")
	contains("the kit",
		Run(t, filepath.Join(root, "cupeltest"), env, "go", "test", "-short", "-overlay", overlayFile, "-run", "^TestBuiltInScorers$", "-v", "."),
		"--- PASS: TestBuiltInScorers/brevity")
	// All of them but the one whose file make golden writes: none has a list of scorers.
	contains("the tests of policies and their schema",
		Run(t, filepath.Join(root, "cupel"), env, "go", "test", "-short", "-overlay", overlayFile, "-skip", "^TestSchemaFile$", "-v", "./policy"), "--- PASS: TestRecipe")

	bin := filepath.Join(dir, "bin") + string(filepath.Separator)
	Run(t, filepath.Join(root, "cmd", "cupel"), env, "go", "build", "-overlay", overlayFile, "-o", bin, ".")
	Run(t, filepath.Join(root, "conformance"), env, "go", "build", "-overlay", overlayFile, "-o", bin, "./cmd/cupel-conformance")

	contains("the run of vectors",
		Run(t, recipe, nil, bin+"cupel-conformance", "-strict", filepath.Join(recipe, "vectors")), "1 passed")
	wrong := exec.CommandContext(t.Context(), bin+"cupel-conformance", "-strict", filepath.Join(recipe, "default.toml"))
	if out, err := wrong.CombinedOutput(); err == nil {
		t.Errorf("a vector that expects another default passes:\n%s", out)
	}
	contains("the page", dataOf(t, Run(t, recipe, nil, bin+"cupel", "inspect", "--items", "items.json", "--policy", "policy.json", "--budget", "100", "-o", "-")),
		"Brevity{half 7, floor 0.25}")
}

// dataOf returns the data of the inspector's page, which is compressed.
func dataOf(t *testing.T, page string) string {
	t.Helper()
	_, data, _ := strings.Cut(page, ` id="data">`)
	data, _, _ = strings.Cut(data, "<")
	plain, err := gzip.NewReader(base64.NewDecoder(base64.StdEncoding, strings.NewReader(data)))
	require.NoError(t, err)
	text, err := io.ReadAll(plain)
	require.NoError(t, err)
	return string(text)
}
