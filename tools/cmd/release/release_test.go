package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const small = "github.com/example/small"

// repository makes a small repository that is ready to be released as v0.1.0:
// modules that require each other, a command, an example and a model that only
// tests use.
func repository(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range map[string]string{
		".gitattributes":          "* text=auto eol=lf\n",
		"LICENSE":                 "Free.\n",
		"CHANGELOG.md":            "# Changelog\n\n## [Unreleased]\n\n## [0.1.0] - 2026-01-02\n\n### core\n\n- `F` returns 1.\n- And more.\n",
		"go.mod":                  "module " + small + "\n\ngo 1.24.0\n\nrequire " + small + "/core v0.1.0\n",
		"pages/pages.go":          "package pages\n\nimport \"" + small + "/core\"\n\nfunc Page() int { return core.F() }\n",
		"core/go.mod":             "module " + small + "/core\n\ngo 1.24.0\n",
		"core/core.go":            "package core\n\nfunc F() int { return 1 }\n",
		"core/internal/deep/a.go": "package deep\n\nfunc Changing() {}\n",
		"cmd/tool/go.mod":         "module " + small + "/cmd/tool\n\ngo 1.24.0\n\nrequire " + small + " v0.1.0\n\nrequire " + small + "/core v0.1.0 // indirect\n",
		"cmd/tool/main.go":        "package main\n\nimport \"" + small + "/pages\"\n\nfunc main() { println(pages.Page()) }\n",
		"internal/model/go.mod":   "module " + small + "/internal/model\n\ngo 1.24.0\n\nrequire " + small + "/core v0.1.0\n",
		"internal/model/model.go": "package model\n\nimport _ \"" + small + "/core\"\n",
		"examples/one/go.mod":     "module " + small + "/examples/one\n\ngo 1.24.0\n",
		"examples/one/main.go":    "package main\n\nfunc main() {}\n",
		"checks/go.mod":           "module " + small + "/checks\n\ngo 1.24.0\n",
		"checks/checks_test.go":   "package checks\n",
		"go.work": "go 1.24.0\n\nuse (\n\t./cmd/tool\n\t.\n\t./checks\n\t./core\n\t./examples/one\n\t./internal/model\n)\n\n" +
			"replace (\n\t" + small + " v0.1.0 => .\n\t" + small + "/core v0.1.0 => ./core\n)\n",
	} {
		write(t, root, name, text)
	}
	runGit(t, root, "init", "--quiet", "--initial-branch", "main")
	runGit(t, root, "config", "user.name", "Test")
	runGit(t, root, "config", "user.email", "test@example.com")
	prepareCommit(t, root)
	return root
}

// prepareCommit commits the work tree as prepared for v0.1.0.
func prepareCommit(t *testing.T, root string) {
	t.Helper()
	prepareVersion(t, root, "v0.1.0")
}

func prepareVersion(t *testing.T, root, version string) {
	t.Helper()
	commit(t, root)
	if err := newRelease(t, root, version).prepare(t.Context(), t.Output()); err != nil {
		t.Fatal(err)
	}
	commit(t, root)
}

func commit(t *testing.T, root string) {
	t.Helper()
	runGit(t, root, "add", "--all")
	runGit(t, root, "commit", "--quiet", "--allow-empty", "--message", "a step")
}

// tag returns a step that makes tags.
func tag(names ...string) func(*testing.T, string) {
	return func(t *testing.T, root string) {
		t.Helper()
		for _, name := range names {
			runGit(t, root, "tag", name)
		}
	}
}

func newRelease(t *testing.T, root, version string) *release {
	t.Helper()
	r, err := load(t.Context(), root, version)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// check runs the command as make release does.
func check(t *testing.T, root, version string, tag bool) (string, error) {
	t.Helper()
	var out strings.Builder
	err := newRelease(t, root, version).release(t.Context(), &out, tag)
	return out.String(), err
}

func write(t *testing.T, root, name, text string) {
	t.Helper()
	name = filepath.Join(root, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// replace changes one text in a file, which has it.
func replace(t *testing.T, root, name, from, to string) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(root, name))
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Replace(string(data), from, to, 1)
	if text == string(data) {
		t.Fatalf("%s has no %q", name, from)
	}
	write(t, root, name, text)
}

func runGit(t *testing.T, dir string, args ...string) string {
	t.Helper()
	out, err := git(t.Context(), dir, nil, args...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

var failure = regexp.MustCompile(`(?m)^FAILED (.*)$`)

// edit replaces a text in a file, or writes the file if from is empty.
type edit struct{ file, from, to string }

// TestChecks breaks each rule, and sees that this check fails and no other.
func TestChecks(t *testing.T) {
	const news = "CHANGELOG.md"
	for _, tt := range []struct {
		name        string
		edits       []edit
		then        func(t *testing.T, root string) // nil: leave the work tree as it is
		check, text string
		why         string
	}{
		{"ready", nil, nil, "", "", "nothing is wrong"},
		{"changed", []edit{{"LICENSE", "", "None.\n"}}, nil, "work tree", "LICENSE", "the tags would lack the change"},
		{"untracked", []edit{{"core/more.go", "", "package core\n"}}, nil, "work tree", "core/more.go", "tests have seen a file that the archives lack"},
		{"no section", []edit{{news, "[0.1.0]", "[0.0.9]"}}, prepareCommit, "changelog", "## [0.1.0] - YYYY-MM-DD", "users look for the version"},
		{"no date", []edit{{news, "2026-01-02", "soon"}}, prepareCommit, "changelog", "has no date", "a release has a day"},
		{"no entries", []edit{{news, "- `F` returns 1.\n- And more.\n", "## [0.0.9] - 2025-01-01\n\n- Old.\n"}}, prepareCommit,
			"changelog", "no entries", "those of another version do not count"},
		{"requirement", []edit{{"internal/model/go.mod", "/core v0.1.0", "/core v0.0.9"}}, commit,
			"versions", small + "/internal/model requires " + small + "/core@v0.0.9", "modules are released together"},
		{"replace in go.mod", []edit{{"examples/one/go.mod", "", "module " + small + "/examples/one\n\ngo 1.24.0\n\nreplace example.com/x => ../x\n"}}, commit,
			"versions", "go install refuses", "a stranger could not install the command"},
		{"go.work", []edit{
			{"go.work", "\t" + small + " v0.1.0 => .\n", ""},
			{"go.work", "\n\nreplace", "\n\nreplace " + small + " v0.1.0 => ./pages\n\nreplace"},
			{"pages/go.mod", "", "module " + small + "\n\ngo 1.24.0\n"},
		}, commit, "versions", "go.work replaces " + small + "@v0.1.0 by ./pages", "development would use other code than the release"},
		{"checksum", []edit{{"core/core.go", "", "package core\n\nfunc F() int { return 2 }\n"}}, commit,
			"checksums", "go.sum of " + small + "/internal/model", "the archive has changed since the sums were written"},
		{"checksum is missing", []edit{{"cmd/tool/go.sum", "", ""}}, commit, "checksums", "go.sum of " + small + "/cmd/tool", "a build outside the workspace needs it"},
		{"there already", nil, tag("core/v0.1.0"), "tags", "core/v0.1.0 already exists", "a version never changes"},
		{"later", nil, tag("v0.2.0", "vainly"), "tags", "v0.2.0 is a later version", "versions ascend, and vainly is not a version"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			root := repository(t)
			for _, e := range tt.edits {
				if e.from == "" {
					write(t, root, e.file, e.to)
				} else {
					replace(t, root, e.file, e.from, e.to)
				}
			}
			if tt.then != nil {
				tt.then(t, root)
			}
			before := runGit(t, root, "tag")
			out, err := check(t, root, "v0.1.0", true)
			var failed []string
			for _, match := range failure.FindAllStringSubmatch(out, -1) {
				failed = append(failed, match[1])
			}
			if tt.check == "" {
				if err != nil {
					t.Fatalf("%v, but %s:\n%s", err, tt.why, out)
				}
				return
			}
			if err == nil || !slices.Contains(failed, tt.check) || !strings.Contains(out, tt.text) {
				t.Errorf("error %v; want a failed check of the %s with %q, since %s; got\n%s", err, tt.check, tt.text, tt.why, out)
			}
			// A go.mod that changes has another checksum.
			if slices.ContainsFunc(failed, func(name string) bool { return name != tt.check && (tt.check != "versions" || name != "checksums") }) {
				t.Errorf("more than the %s failed:\n%s", tt.check, out)
			}
			if after := runGit(t, root, "tag"); after != before {
				t.Errorf("there are tags now:\n%s", after)
			}
		})
	}
}

// TestVersionForm refuses what is no full version.
func TestVersionForm(t *testing.T) {
	for _, version := range []string{"", "0.1.0", "v0.1", "v1.0.0+build", "v01.0.0"} {
		if _, err := load(t.Context(), t.TempDir(), version); err == nil || !strings.Contains(err.Error(), "is not a version") {
			t.Errorf("%q: %v", version, err)
		}
	}
}

// TestCircle refuses modules whose checksums depend on each other.
func TestCycle(t *testing.T) {
	root := repository(t)
	replace(t, root, "core/go.mod", "go 1.24.0\n", "go 1.24.0\n\nrequire "+small+" v0.1.0\n")
	if _, err := load(t.Context(), root, "v0.1.0"); err == nil || !strings.Contains(err.Error(), "cycle") {
		t.Error(err)
	}
}

// TestStranger makes a release and has the go command get it from git alone, with
// the checksums that the release wrote.
func TestStranger(t *testing.T) {
	root := repository(t)
	out, err := check(t, root, "v0.1.0", false)
	if tags := runGit(t, root, "tag"); err != nil || tags != "" {
		t.Fatalf("a dry run: error %v, tags %q\n%s", err, tags, out)
	}
	if out, err = check(t, root, "v0.1.0", true); err != nil {
		t.Fatal(err, out)
	}
	tags := runGit(t, root, "tag")
	if want := "cmd/tool/v0.1.0\ncore/v0.1.0\nv0.1.0\n"; tags != want {
		t.Errorf("tags\n%swant\n%s", tags, want)
	}
	for tag := range strings.Lines(tags) {
		if !strings.Contains(out, "  "+tag) {
			t.Errorf("the tag %s is not reported", tag)
		}
	}

	work := t.TempDir()
	env := []string{
		"GOWORK=off", "GOFLAGS=-modcacherw", "GOENV=off", "GOPRIVATE=",
		"GOMODCACHE=" + filepath.Join(work, "cache"), "GOBIN=" + filepath.Join(work, "bin"),
		"GOPROXY=direct", "GONOSUMDB=github.com/example",
		"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=url.file://" + filepath.ToSlash(root) + ".insteadOf", "GIT_CONFIG_VALUE_0=https://" + small,
	}
	if _, err := command(t.Context(), work, env, "go", "install", small+"/cmd/tool@v0.1.0"); err != nil {
		t.Error("go install: ", err)
	}
	for _, folder := range []string{".", "cmd/tool", "internal/model"} {
		dir := filepath.Join(root, filepath.FromSlash(folder))
		if _, err := command(t.Context(), dir, env, "go", "build", "-mod=readonly", "-o", os.DevNull, "./..."); err != nil {
			t.Errorf("%s outside the workspace: %v", folder, err)
		}
		if _, err := command(t.Context(), dir, env, "go", "mod", "tidy"); err != nil {
			t.Errorf("the module files of %s: %v", folder, err)
		}
	}
	if diff := runGit(t, root, "diff"); diff != "" {
		t.Errorf("go mod tidy changes the module files:\n%s", diff)
	}
}

// TestAPI makes a second release after the API has changed.
func TestAPI(t *testing.T) {
	for _, tt := range []struct{ name, core, version, text, why string }{
		{"same", "func F() int { return 2 }", "v0.1.1", "", "a body is no API"},
		{"added", "func F() int { return 1 }\n\nfunc G() {}", "v0.1.1", "G: added", "additions need a minor version"},
		{"added in a minor version", "func F() int { return 1 }\n\nfunc G() {}", "v0.2.0", "", "that is what it is for"},
		{"candidate", "func G() int { return 1 }", "v0.2.0-rc.1", "", "before v1 a minor version may break, and so may its candidate"},
		{"removed", "func G() int { return 1 }", "v0.1.1", "F: removed", "callers break"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			root := repository(t)
			if out, err := check(t, root, "v0.1.0", true); err != nil {
				t.Fatal(err, out)
			}
			write(t, root, "core/core.go", "package core\n\n"+tt.core+"\n")
			write(t, root, "core/internal/deep/a.go", "package deep\n")
			if !strings.Contains(tt.core, "F()") {
				replace(t, root, "pages/pages.go", "core.F()", "core.G()")
			}
			replace(t, root, "CHANGELOG.md", "## [0.1.0]", "## ["+tt.version[1:]+"] - 2026-02-03\n\n- News.\n\n## [0.1.0]")
			prepareVersion(t, root, tt.version)
			runGit(t, root, "tag", "core/v0.1.1-rc.1") // a candidate promises nothing
			out, err := check(t, root, tt.version, true)
			if (err == nil) != (tt.text == "") || !strings.Contains(out, tt.text) {
				t.Errorf("error %v, want %q, since %s:\n%s", err, tt.text, tt.why, out)
			}
			if strings.Contains(out, "Changing") {
				t.Errorf("what is internal is compared:\n%s", out)
			}
			if err != nil && !strings.Contains(out, "FAILED API") {
				t.Errorf("another check failed:\n%s", out)
			}
		})
	}
}

func TestAllowed(t *testing.T) {
	for _, tt := range []struct {
		last, version string
		compatible    bool
		ok            bool
		why           string
	}{
		{"v0.1.0", "v0.2.0", false, true, "before v1 a minor version may break"},
		{"v0.1.0", "v0.1.1", true, false, "a patch adds nothing"},
		{"v1.0.0", "v1.1.0", true, true, "a minor version adds"},
		{"v1.0.0", "v1.1.0", false, false, "from v1 only a major version breaks"},
		{"v1.1.0", "v1.1.1", false, false, "nor may a patch"},
		{"v1.1.0", "v2.0.0", false, true, "that is a major version"},
		{"v0.9.0", "v1.0.0", false, true, "so is the first one"},
	} {
		if err := allowed(tt.last, tt.version, tt.compatible); (err == nil) != tt.ok {
			t.Errorf("%s to %s, compatible %t: %v, but %s", tt.last, tt.version, tt.compatible, err, tt.why)
		}
	}
}
