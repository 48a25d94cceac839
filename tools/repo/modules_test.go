package repo

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/mod/modfile"
)

// coreName is the folder of the module that has no requirements.
const coreName = "cupel"

// TestModules checks that the module files of the repository agree with one
// another; `go mod tidy -diff` looks at one at a time.
func TestModules(t *testing.T) {
	root := Root(t)
	modules := Modules(t, root)
	goVersion := ""
	for _, m := range modules {
		if m.Name(root) == coreName {
			goVersion = m.GoVersion
		}
	}
	if goVersion == "" {
		t.Fatalf("go.work does not list ./%s", coreName)
	}

	t.Run("every module is in the workspace", func(t *testing.T) {
		listed := []string{filepath.Join(root, "tools", "go.mod")} // outside on purpose
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
		if err != nil {
			t.Fatal(err)
		}
	})

	t.Run("one Go version", func(t *testing.T) {
		data, err := os.ReadFile(filepath.Join(root, "go.work"))
		if err != nil {
			t.Fatal(err)
		}
		work, err := modfile.ParseWork("go.work", data, nil)
		if err != nil {
			t.Fatal(err)
		}
		if work.Go == nil || work.Go.Version != goVersion {
			t.Errorf("go.work does not say go %s, as the core does", goVersion)
		}
		for _, m := range modules {
			if m.GoVersion != goVersion {
				t.Errorf("%s says go %s, the core go %s", m.GoMod, m.GoVersion, goVersion)
			}
		}
		if tools := readModFile(t, filepath.Join(root, "tools", "go.mod")); tools.Go == nil || tools.Go.Version != goVersion {
			t.Errorf("tools/go.mod does not say go %s, as the core does", goVersion)
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
		versions := requiredVersions(t, modules)
		folders := make(map[string]string)
		for _, m := range modules {
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
					t.Errorf("%s requires %s, another module %s", m.GoMod, r.Mod, versions[r.Mod.Path])
				}
				// Without it the module would not build outside the workspace.
				i := slices.IndexFunc(file.Replace, func(x *modfile.Replace) bool { return x.Old.Path == r.Mod.Path })
				if i < 0 || filepath.Join(m.Dir, filepath.FromSlash(file.Replace[i].New.Path)) != folder {
					t.Errorf("%s requires %s but does not replace it by the folder %s", m.GoMod, r.Mod.Path, folder)
				}
			}
			for _, x := range file.Replace {
				if x.Old.Version != "" || !strings.HasPrefix(x.New.Path, "../") || folders[x.Old.Path] == "" {
					t.Errorf("%s:%d: only modules of this repository are replaced, at every version, by a relative path", m.GoMod, x.Syntax.Start.Line)
				}
			}
		}
	})
}
