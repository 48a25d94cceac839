package repo

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/mod/module"

	"github.com/wollax/cupel-go/tools/modproxy"
)

// TestTidy checks that the module files are those that go mod tidy writes
// outside the workspace, where the modules of this repository come from a
// module proxy as their next release. Checksums of these are left out: the
// release writes them. With CUPEL_TIDY=write it writes the files instead.
func TestTidy(t *testing.T) {
	root := Root(t)
	modules := Released(t, root)
	tree, env := standalone(t, root, modules)
	for _, m := range modules {
		t.Run(m.Name(root), func(t *testing.T) {
			dir := filepath.Join(tree, filepath.FromSlash(m.Name(root)))
			Run(t, dir, env, "go", "mod", "tidy")
			for _, name := range []string{"go.mod", "go.sum"} {
				got, want := withoutOwnSums(t, filepath.Join(dir, name)), withoutOwnSums(t, filepath.Join(m.Dir, name))
				if got == want {
					continue
				}
				if os.Getenv("CUPEL_TIDY") != "write" {
					t.Errorf("%s of %s is not tidy: run make tidy; it writes:\n%s", name, m.Path, got)
				} else if err := os.WriteFile(filepath.Join(m.Dir, name), []byte(got), 0o644); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// TestStandalone builds and vets every module outside the workspace. Where a
// module then uses other versions of third-party modules than in the workspace,
// which takes the highest that any of its modules requires, its tests run too.
func TestStandalone(t *testing.T) {
	root := Root(t)
	modules := Released(t, root)
	tree, env := standalone(t, root, modules)
	env = append(env, "CUPEL_E2E_CHROMIUM=none")
	for _, m := range modules {
		t.Run(m.Name(root), func(t *testing.T) {
			dir := filepath.Join(tree, filepath.FromSlash(m.Name(root)))
			Run(t, dir, env, "go", "build", "-mod=mod", "-o", os.DevNull, "./...")
			Run(t, dir, env, "go", "vet", "-mod=mod", "./...")
			alone, together := thirdParty(t, dir, append(env, "GOFLAGS=-mod=mod -trimpath")), thirdParty(t, m.Dir, []string{"GOWORK=" + m.Work})
			if slices.Equal(alone, together) {
				t.Log("uses the same versions as in the workspace, where its tests run")
				return
			}
			t.Logf("uses %q, and %q in the workspace", alone, together)
			Run(t, dir, env, "go", "test", "-mod=mod", "-short", "./...")
		})
	}
}

// thirdParty returns the modules from elsewhere whose packages a module and its
// tests use, with their versions.
func thirdParty(t *testing.T, dir string, env []string) []string {
	t.Helper()
	out := Run(t, dir, env, "go", "list", "-deps", "-test", "-f", "{{with .Module}}{{.Path}} {{.Version}}{{end}}", "./...")
	used := slices.DeleteFunc(strings.Split(out, "\n"), func(line string) bool {
		return line == "" || strings.HasPrefix(line, ownPrefix)
	})
	slices.Sort(used)
	return slices.Compact(used)
}

// standalone copies the files that git knows into a folder of its own and
// returns it, with the environment in which its modules come from a proxy.
func standalone(t *testing.T, root string, modules []Module) (tree string, env []string) {
	t.Helper()
	work := t.TempDir()
	proxy := fillProxy(t, root, filepath.Join(work, "proxy"), modules)
	tree = filepath.Join(keptFolder(t, root), "tree")
	require.NoError(t, os.RemoveAll(tree))
	for name := range strings.Lines(Run(t, root, nil, "git", "ls-files", "--cached", "--others", "--exclude-standard")) {
		name = filepath.FromSlash(strings.TrimSuffix(name, "\n"))
		data, err := os.ReadFile(filepath.Join(root, name))
		if os.IsNotExist(err) {
			continue // deleted, and not committed yet
		}
		if filepath.Base(name) == "go.sum" {
			// They are those of the last release, which the tree has left.
			data = []byte(withoutOwnSums(t, filepath.Join(root, name)))
		}
		require.NoError(t, err)
		info, err := os.Stat(filepath.Join(root, name))
		require.NoError(t, err)
		to := filepath.Join(tree, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(to), 0o755))
		require.NoError(t, os.WriteFile(to, data, info.Mode().Perm()))
	}
	return tree, consumerEnv(t, root, proxy)
}

// fillProxy packs every module of the workspace, at the version of the next
// release, into a proxy in the folder dir, which it returns.
func fillProxy(t *testing.T, root, dir string, modules []Module) string {
	t.Helper()
	versions := releaseVersions(t, root, modules)
	for _, m := range modules {
		require.NoError(t, modproxy.Add(dir, module.Version{Path: m.Path, Version: versions[m.Path]}, m.Dir))
	}
	return dir
}

// withoutOwnSums returns the text of a module file, less the checksums of this
// repository's modules. That of a file that is missing is empty.
func withoutOwnSums(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	lines := slices.DeleteFunc(slices.Collect(strings.Lines(string(data))), func(line string) bool {
		return filepath.Base(name) == "go.sum" && strings.HasPrefix(line, ownPrefix)
	})
	return strings.Join(lines, "")
}
