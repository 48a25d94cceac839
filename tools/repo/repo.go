// Package repo tests the repository as a whole: that its module files agree, that
// links and recipes in documents lead somewhere, and that its modules can be used
// from outside. The tests run the go command on the current tree; the make
// targets call them with -count=1.
package repo

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A Module is a module of the workspace, as the go command describes it.
type Module struct {
	Path, Dir, GoMod, GoVersion string

	Work string // the workspace file that lists it, or off
}

// Name is the module's folder below the root of the repository, with slashes.
func (m Module) Name(root string) string {
	name, err := filepath.Rel(root, m.Dir)
	if err != nil {
		return m.Dir
	}
	return filepath.ToSlash(name)
}

// Root returns the root of the repository: the folder of go.work.
func Root(t *testing.T) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.work")); err == nil {
			return dir
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			t.Fatal("no go.work above the current folder")
		}
		dir = parent
	}
}

// BeamWork is the workspace of the module that depends on Apache Beam, alone.
const BeamWork = "cupelbeam/go.work"

// Released returns the modules of the workspace, and with CUPEL_BEAM=1 the one that
// depends on Apache Beam, whose dependencies take minutes to get and to compile.
func Released(t *testing.T, root string) []Module {
	t.Helper()
	modules := Modules(t, filepath.Join(root, "go.work"))
	if os.Getenv("CUPEL_BEAM") != "" {
		modules = append(modules, Modules(t, filepath.Join(root, filepath.FromSlash(BeamWork)))...)
	}
	return modules
}

// Installable returns the modules of Released, and the one outside of every workspace
// that is for others.
func Installable(t *testing.T, root string) []Module {
	t.Helper()
	return append(Released(t, root), Modules(t, filepath.Join(root, "cupelsummary", "go.mod"))...)
}

// Modules returns the modules that a workspace file lists, in the go command's order, or
// the module of a go.mod.
func Modules(t *testing.T, file string) []Module {
	t.Helper()
	work := file
	if filepath.Base(file) == "go.mod" {
		work = "off"
	}
	out := Run(t, filepath.Dir(file), []string{"GOWORK=" + work}, "go", "list", "-m", "-json")
	var modules []Module
	for decoder := json.NewDecoder(strings.NewReader(out)); ; {
		var m Module
		err := decoder.Decode(&m)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		m.Work = work
		modules = append(modules, m)
	}
	if len(modules) == 0 {
		t.Fatalf("%s lists no module", file)
	}
	return modules
}

// Run runs a command in dir with additions to the environment and returns its
// standard output. A command that fails ends the test with all it printed.
func Run(t *testing.T, dir string, env []string, name string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), env...)
	var stdout, stderr strings.Builder
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s %s: %v\n%s%s", name, strings.Join(args, " "), err, stdout.String(), stderr.String())
	}
	return stdout.String()
}
