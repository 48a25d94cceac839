package repo

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestWall plants faults in a small copy of the repository's layout and checks
// that the linter's configuration finds each of them, and nothing in the files
// that are allowed what they do. A wall whose patterns match no file any more
// is as silent as a wall that holds; this test tells the two apart.
func TestWall(t *testing.T) {
	// The packages called leaf import nothing, so that no fault closes a cycle.
	imports := func(path string) string {
		return "import x \"" + path + "\"\n\nvar _ = x.Value"
	}
	tests := []struct {
		file   string // below the root of the repository
		body   string // after the package clause
		linter string // that must report the file; none when empty
		text   string // part of the report
		why    string
	}{
		{"cupel/toml.go", imports("github.com/BurntSushi/toml"), "depguard", "BurntSushi", "the core has no dependencies"},
		{"cupel/toml_test.go", imports("github.com/stretchr/testify/assert"), "depguard", "testify", "the core's tests have none either"},
		{"cupel/companion.go", imports("github.com/wollax/cupel-go/cupeltest/leaf"), "depguard", "cupeltest", "the prefix cupel must not let cupeltest through"},
		{"cupel/strategy.go", imports("github.com/wollax/cupel-go/cupel/scorer/leaf"), "depguard", "core-root", "the engine does not know the strategies"},
		{"cupel/analysed.go", imports("github.com/wollax/cupel-go/cupel/analysis/leaf"), "depguard", "core-root", "the engine does not know what is built on it"},
		{"cupel/strategy_test.go", imports("github.com/wollax/cupel-go/cupel/scorer/leaf"), "", "", "the engine's tests run real strategies"},
		{"cupel/internal/inner/types.go", imports("github.com/wollax/cupel-go/cupel"), "depguard", "cupel-go/cupel", "the core's algorithms know no Cupel types"},
		{"cupel/scorer/sideways.go", imports("github.com/wollax/cupel-go/cupel/slicer/leaf"), "depguard", "slicer", "strategies do not know one another"},
		{"cupel/slicer/down.go", imports("github.com/wollax/cupel-go/cupel/internal/leaf"), "", "", "strategies use the core's algorithms"},
		{"cupel/placer/up.go", imports("github.com/wollax/cupel-go/cupel/policy/leaf"), "depguard", "policy", "policies are built from strategies"},
		{"cupel/policy/all.go", imports("github.com/wollax/cupel-go/cupel/scorer/leaf"), "", "", "policies build strategies"},
		{"cupel/clock.go", "import \"time\"\n\nvar _ = time.Now()", "forbidigo", "clock", "no clock in library code"},
		{"cupel/print.go", "import f \"fmt\"\n\nfunc printed() { f.Println() }\n\nvar _ = printed", "forbidigo", "does not print", "renamed imports are seen"},
		{"cupel/panic.go", "func panics() { panic(1) }\n\nvar _ = panics", "forbidigo", "panic", "no panic in library code"},
		{"cupel/scorer/must.go", "func must() { panic(1) }\n\nvar _ = must", "", "", "Must… helpers live in must.go"},
		{"cupel/print_test.go", "import \"fmt\"\n\nfunc tested() { fmt.Println() }\n\nvar _ = tested", "", "", "tests may print"},
		{"cupel/undocumented.go", "func Undocumented() {}", "revive", "comment", "exported symbols are documented"},
		{"cupel/mark.go", "// TO" + "DO: write this.\n\nvar _ = 1", "godox", "TO" + "DO", "no marks of unfinished work"},
		{"cupel/nolint.go", "func silenced() { panic(1) } //nolint:forbidigo\n\nvar _ = silenced", "nolintlint", "explanation", "a nolint comment states its reason"},
		{"conformance/toml.go", imports("github.com/wollax/cupel-go/cupeltoml"), "", "", "vectors are TOML"},
		{"conformance/library.go", imports("github.com/BurntSushi/toml"), "", "", "vectors are decoded into structs"},
		{"conformance/testify.go", imports("github.com/stretchr/testify/assert"), "depguard", "testify", "the runner is not linked with a test library"},
		{"conformance/testify_test.go", imports("github.com/stretchr/testify/assert"), "", "", "its tests may use it"},
		{"conformance/otel_test.go", imports("go.opentelemetry.io/otel/trace"), "depguard", "opentelemetry", "vectors know no tracing"},
		{"cupelotel/api.go", imports("go.opentelemetry.io/otel/trace"), "", "", "the companion speaks the API"},
		{"cupelotel/sdk.go", imports("go.opentelemetry.io/otel/sdk/trace"), "depguard", "sdk", "which SDK is the application's choice"},
		{"cupelotel/sub/sdk_test.go", imports("go.opentelemetry.io/otel/sdk/trace"), "", "", "the companion's tests look at real spans"},
		{"cupeltest/testify.go", imports("github.com/stretchr/testify/assert"), "depguard", "testify", "its users choose their assertions"},
		{"cupeltest/testify_test.go", imports("github.com/stretchr/testify/assert"), "", "", "its own tests may use it"},
		{"cupelotel/toml_test.go", imports("github.com/BurntSushi/toml"), "depguard", "BurntSushi", "nothing but the SDK and testify in its tests"},
		{"cupeltest/deep/otel_test.go", imports("go.opentelemetry.io/otel/trace"), "depguard", "opentelemetry", "the wall holds below the root too"},
		{"cupeltest/otel.go", imports("github.com/wollax/cupel-go/cupelotel/leaf"), "depguard", "cupelotel", "companions do not know one another"},
		{"cupeltoml/toml.go", imports("github.com/BurntSushi/toml"), "", "", "the companion owns the TOML library"},
		{"cupeltoml/sideways.go", imports("github.com/wollax/cupel-go/cupelotel/leaf"), "depguard", "cupelotel", "companions do not know one another"},
		{"cupeltiktoken/words.go", imports("github.com/tiktoken-go/tokenizer"), "", "", "the companion owns the vocabularies"},
		{"cupeltiktoken/sideways.go", imports("github.com/wollax/cupel-go/cupelotel/leaf"), "depguard", "cupelotel", "companions do not know one another"},
		{"cupeltiktoken/testify_test.go", imports("github.com/stretchr/testify/assert"), "depguard", "testify", "nothing but the tokenizer in its tests"},
		{"cupel/tokenizer.go", imports("github.com/tiktoken-go/tokenizer"), "depguard", "tiktoken", "the core knows no vocabulary"},
		{"cupeltoml/testify_test.go", imports("github.com/stretchr/testify/assert"), "depguard", "testify", "nothing but TOML in its tests"},
		{"cupelrelevance/stem.go", imports("github.com/kljensen/snowball/english"), "", "", "the companion owns the stemmer"},
		{"cupelrelevance/sideways.go", imports("github.com/wollax/cupel-go/cupelotel/leaf"), "depguard", "cupelotel", "companions do not know one another"},
		{"cupelrelevance/testify_test.go", imports("github.com/stretchr/testify/assert"), "depguard", "testify", "nothing but the stemmer in its tests"},
		{"cupelchat/reduce.go", imports("github.com/wollax/cupel-go/cupelreduce"), "", "", "conversations have outlines"},
		{"cupelchat/sideways.go", imports("github.com/wollax/cupel-go/cupelrelevance/leaf"), "depguard", "cupelrelevance", "companions do not know one another"},
		{"cupelinspect/sideways.go", imports("github.com/wollax/cupel-go/cupelotel/leaf"), "depguard", "cupelotel", "companions do not know one another"},
		{"cupelinspect/testify_test.go", imports("github.com/stretchr/testify/assert"), "depguard", "testify", "nothing but the core in its tests"},
		{"cmd/cupel/inner/companion.go", imports("github.com/wollax/cupel-go/cupeltest/leaf"), "", "", "the command may import companions"},
		{"cmd/cupel/inner/toml.go", imports("github.com/BurntSushi/toml"), "", "", "the command reads TOML"},
		{"cmd/cupel/inner/otel.go", imports("go.opentelemetry.io/otel/trace"), "depguard", "opentelemetry", "the command sends nothing anywhere"},
		{"examples/print/main.go", "import \"fmt\"\n\nfunc main() { fmt.Println() }", "", "", "examples print"},
	}

	// The folder of a clone may be named like one of its modules.
	root := filepath.Join(t.TempDir(), "cupel")
	write := func(name, content string) { writeFile(t, filepath.Join(root, filepath.FromSlash(name)), content) }
	config, err := os.ReadFile(filepath.Join(Root(t), ".golangci.yml"))
	if err != nil {
		t.Fatal(err)
	}
	write(".golangci.yml", string(config))

	// Stand-ins: a module for each folder, and a package for each import.
	modules := map[string]string{
		"cupel":          "github.com/wollax/cupel-go/cupel",
		"conformance":    "github.com/wollax/cupel-go/conformance",
		"cupelotel":      "github.com/wollax/cupel-go/cupelotel",
		"cupeltest":      "github.com/wollax/cupel-go/cupeltest",
		"cupeltoml":      "github.com/wollax/cupel-go/cupeltoml",
		"cupeltiktoken":  "github.com/wollax/cupel-go/cupeltiktoken",
		"cupelrelevance": "github.com/wollax/cupel-go/cupelrelevance",
		"cupelinspect":   "github.com/wollax/cupel-go/cupelinspect",
		"cupelchat":      "github.com/wollax/cupel-go/cupelchat",
		"cupelreduce":    "github.com/wollax/cupel-go/cupelreduce",
		"cmd/cupel":      "github.com/wollax/cupel-go/cmd/cupel",
		"examples":       "github.com/wollax/cupel-go/examples",
		"other/snowball": "github.com/kljensen/snowball",
		"other/tiktoken": "github.com/tiktoken-go/tokenizer",
		"other/toml":     "github.com/BurntSushi/toml",
		"other/testify":  "github.com/stretchr/testify",
		"other/otel":     "go.opentelemetry.io/otel",
	}
	work := "go 1.26.0\n"
	for dir, path := range modules {
		write(dir+"/go.mod", "module "+path+"\n\ngo 1.26.0\n")
		work += "\nuse ./" + dir
	}
	write("go.work", work+"\n")
	for _, dir := range []string{
		"cupel", "cupel/internal/inner", "cupel/scorer", "cupel/slicer", "cupel/placer", "cupel/policy",
		"cupel/internal/leaf", "cupel/scorer/leaf", "cupel/slicer/leaf", "cupel/policy/leaf", "cupel/analysis/leaf",
		"conformance", "cupelotel", "cupelotel/leaf", "cupelotel/sub", "cupeltest", "cupeltest/deep", "cupeltest/leaf", "cupeltiktoken", "cupeltoml", "cupelrelevance", "cupelrelevance/leaf", "cupelinspect", "cupelchat", "cupelreduce", "cmd/cupel/inner",
		"other/snowball/english", "other/tiktoken", "other/toml", "other/testify/assert", "other/otel/trace", "other/otel/sdk/trace",
	} {
		name := packageName(dir + "/doc.go")
		write(dir+"/doc.go", "// Package "+name+" is a stand-in.\npackage "+name+"\n\n// Value is there to be used.\nconst Value = 1\n")
	}
	for _, tt := range tests {
		comment := ""
		if packageName(tt.file) == "main" {
			comment = "// Command print is a stand-in.\n"
		}
		write(tt.file, comment+"package "+packageName(tt.file)+"\n\n"+tt.body+"\n")
	}

	reports := make(map[string][]issue)
	for _, dir := range []string{"cupel", "conformance", "cupelotel", "cupeltest", "cupeltiktoken", "cupeltoml", "cupelrelevance", "cupelinspect", "cupelchat", "cmd/cupel", "examples"} {
		for _, found := range lint(t, root, dir) {
			name := filepath.ToSlash(found.Pos.Filename)
			reports[name] = append(reports[name], found)
		}
	}
	for _, tt := range tests {
		t.Run(tt.file, func(t *testing.T) {
			found := false
			for _, r := range reports[tt.file] {
				if r.FromLinter == tt.linter && strings.Contains(r.Text, tt.text) {
					found = true
				} else if tt.linter == "" {
					t.Errorf("%s reports %q, but %s", r.FromLinter, r.Text, tt.why)
				}
			}
			if tt.linter != "" && !found {
				t.Errorf("%s reports nothing about %q, but %s; all reports: %+v", tt.linter, tt.text, tt.why, reports[tt.file])
			}
			delete(reports, tt.file)
		})
	}
	for name, found := range reports {
		t.Errorf("unexpected reports about %s: %+v", name, found)
	}
}

// An issue is a finding of golangci-lint, as its JSON output has it.
type issue struct {
	FromLinter, Text string
	Pos              struct{ Filename string }
}

// lint runs the pinned linter as scripts/lint.sh does, in a module of root.
func lint(t *testing.T, root, dir string) []issue {
	t.Helper()
	tools := filepath.Join(Root(t), "tools")
	linter := strings.TrimSpace(Run(t, tools, []string{"GOWORK=off"}, "go", "tool", "-n", "golangci-lint"))
	goroot := strings.TrimSpace(Run(t, tools, nil, "go", "env", "GOROOT"))

	cmd := exec.CommandContext(t.Context(), linter, "run", "--config", filepath.Join(root, ".golangci.yml"),
		"--output.json.path", "stdout", "--show-stats=false", "./...")
	cmd.Dir = filepath.Join(root, dir)
	cmd.Env = append(os.Environ(), "GOWORK="+filepath.Join(root, "go.work"), "GOROOT="+goroot)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	// Status 1 says that there are findings, which is what the test is after.
	if exit := (*exec.ExitError)(nil); err != nil && (!errors.As(err, &exit) || exit.ExitCode() != 1) {
		t.Fatalf("golangci-lint: %v\n%s%s", err, out, stderr.String())
	}
	var report struct{ Issues []issue }
	if err := json.Unmarshal(out, &report); err != nil {
		t.Fatalf("golangci-lint: %v\n%s%s", err, out, stderr.String())
	}
	return report.Issues
}

// packageName is the name of the stand-in package in which a file lies.
func packageName(file string) string {
	dir := filepath.Base(filepath.Dir(filepath.FromSlash(file)))
	if filepath.Base(file) == "main.go" {
		return "main"
	}
	return dir
}
