package repo

import (
	"go/version"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
)

// coreName is the folder of the module that has no requirements.
const coreName = "cupel"

// TestModules checks that the module files of the repository agree with one
// another; `go mod tidy -diff` looks at one at a time.
func TestModules(t *testing.T) {
	root := Root(t)
	modules := Modules(t, filepath.Join(root, "go.work"))
	t.Run("every module is in the workspace", func(t *testing.T) {
		listed := outside(root)
		for _, m := range modules {
			listed = append(listed, m.GoMod)
		}
		err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case entry.IsDir() && (entry.Name() == "testdata" || entry.Name() == ".git"):
				return filepath.SkipDir
			case entry.Name() == "go.mod" && !slices.Contains(listed, path):
				t.Errorf("%s is not in go.work: run go work use %s", path, filepath.Dir(path))
			}
			return nil
		})
		require.NoError(t, err)
	})

	t.Run("Go versions", func(t *testing.T) {
		work := readWorkFile(t, filepath.Join(root, "go.work"))
		if work.Go == nil {
			t.Fatal("go.work does not say a Go version")
		}
		for _, m := range modules {
			switch {
			case m.Name(root) == coreName:
				// The core is tested with the release that it names, by make oldest.
				if version.Compare("go"+m.GoVersion, "go"+work.Go.Version) > 0 {
					t.Errorf("%s says go %s, newer than the go %s of go.work", m.GoMod, m.GoVersion, work.Go.Version)
				}
			case m.GoVersion != work.Go.Version:
				t.Errorf("%s says go %s, go.work go %s", m.GoMod, m.GoVersion, work.Go.Version)
			}
		}
		for _, name := range outside(root) {
			if m := readModFile(t, name); m.Go == nil || m.Go.Version != work.Go.Version {
				t.Errorf("%s does not say go %s, as go.work does", name, work.Go.Version)
			}
		}
	})

	t.Run("the core stands alone", func(t *testing.T) {
		core := readModFile(t, filepath.Join(root, coreName, "go.mod"))
		for _, statement := range core.Syntax.Stmt {
			line, ok := statement.(*modfile.Line)
			if !ok || (line.Token[0] != "module" && line.Token[0] != "go") {
				start, _ := statement.Span()
				t.Errorf("cupel/go.mod:%d: only the module path and the Go version may stand there", start.Line)
			}
		}
		if _, err := os.Stat(filepath.Join(root, coreName, "go.sum")); err == nil {
			t.Error("cupel/go.sum exists, but the core has no dependencies")
		}
	})

	t.Run("modules of this repository", func(t *testing.T) {
		beam := Modules(t, filepath.Join(root, filepath.FromSlash(BeamWork)))
		all := slices.Concat(modules, beam)
		agree(t, root, modules, all)
		agree(t, root, beam, all)
	})
}

// agree checks that the modules of a workspace require the versions of versions.yaml
// of the others, and that the workspace says where these are.
func agree(t *testing.T, root string, modules, all []Module) {
	t.Helper()
	versions := releaseVersions(t, root, all)
	folders := make(map[string]string)
	required := make(map[module.Version]string) // and the folder that it is in
	for _, m := range all {
		folders[m.Path] = m.Dir
	}
	for _, m := range modules {
		file := readModFile(t, m.GoMod)
		for _, r := range file.Require {
			folder, ours := folders[r.Mod.Path]
			if !ours {
				continue
			}
			if r.Mod.Version != versions[r.Mod.Path] {
				t.Errorf("%s requires %s; its version in versions.yaml is %s", m.GoMod, r.Mod, versions[r.Mod.Path])
			}
			required[r.Mod] = folder
		}
		if len(file.Replace) > 0 {
			t.Errorf("%s replaces modules, so that go install refuses its commands; go.work does that for development", m.GoMod)
		}
	}
	// Until a version is released, only go.work can tell where it is.
	name := modules[0].Work
	for _, r := range readWorkFile(t, name).Replace {
		folder, ok := required[r.Old]
		if !ok || filepath.Join(filepath.Dir(name), filepath.FromSlash(r.New.Path)) != folder {
			t.Errorf("%s:%d: %s is not required by any module, or not in %s", name, r.Syntax.Start.Line, r.Old, r.New.Path)
		}
		delete(required, r.Old)
	}
	for missing, folder := range required {
		t.Errorf("%s does not replace %s by %s", name, missing, folder)
	}
}

// outside returns the module files that are not in the workspace on purpose: what
// they require must not reach the requirements of the others.
func outside(root string) []string {
	var files []string
	for _, folder := range []string{"tools", "cupelchat/sdks", "cupelbeam", "cupelsummary"} {
		files = append(files, filepath.Join(root, filepath.FromSlash(folder), "go.mod"))
	}
	return files
}

func readWorkFile(t *testing.T, name string) *modfile.WorkFile {
	t.Helper()
	data, err := os.ReadFile(name)
	require.NoError(t, err)
	work, err := modfile.ParseWork(name, data, nil)
	require.NoError(t, err)
	return work
}
