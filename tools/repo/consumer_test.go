package repo

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"

	"github.com/wollax/cupel-go/tools/modproxy"
)

// firstVersion is the version of a module that no other module of the workspace
// requires; the others have the version at which they are required.
const firstVersion = "v0.1.0"

// TestConsumer uses every module that is for others as a stranger would: from a
// module of its own, outside the tree, that gets it from a module proxy. There
// the replace directives and go.work do not count, so the test finds what they
// hide: a package that is not in the module's archive, a requirement that
// cannot be met.
//
// The consumers' sources are under testdata/consumer, in a folder for each
// module. A program there prints what the file want.txt beside it says.
func TestConsumer(t *testing.T) {
	root := Root(t)
	modules := Modules(t, root)
	versions := requiredVersions(t, modules)

	work := t.TempDir()
	if outside, err := filepath.Rel(root, work); err == nil && filepath.IsLocal(outside) {
		t.Fatalf("the temporary folder %s is inside the repository", work)
	}
	proxy := filepath.Join(work, "proxy")
	for _, m := range modules {
		version := module.Version{Path: m.Path, Version: versions[m.Path]}
		if err := modproxy.Add(proxy, version, m.Dir); err != nil {
			t.Fatal(err)
		}
	}
	env := consumerEnv(t, root, work, proxy)
	sums := thirdPartySums(t, modules)

	used := 0
	for _, m := range modules {
		name := m.Name(root)
		source := filepath.Join(root, "tools", "repo", "testdata", "consumer", filepath.FromSlash(name))
		if !isForOthers(t, root, m) {
			continue
		}
		used++
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(work, "consumers", filepath.FromSlash(name))
			if err := os.CopyFS(dir, os.DirFS(source)); err != nil {
				t.Fatalf("a module for others has a consumer in tools/repo/testdata/consumer/%s: %v", name, err)
			}
			writeFile(t, filepath.Join(dir, "go.mod"), "module example.com/consumer\n\ngo "+m.GoVersion+"\n")
			writeFile(t, filepath.Join(dir, "go.sum"), sums)

			version := m.Path + "@" + versions[m.Path]
			Run(t, dir, env, "go", "get", version)
			Run(t, dir, env, "go", "mod", "tidy")

			got := strings.TrimSpace(Run(t, dir, env, "go", "list", "-m", "-f", "{{.Version}} {{.Replace}} {{.Dir}}", m.Path))
			fields := strings.SplitN(got, " ", 3)
			if len(fields) != 3 || fields[0] != versions[m.Path] || fields[1] != "<nil>" || !strings.HasPrefix(fields[2], work) {
				t.Fatalf("the consumer's %s is %q; want %s from the proxy", m.Path, got, versions[m.Path])
			}
			if name == "cupel" {
				all := Run(t, dir, env, "go", "list", "-m", "all")
				if want := "example.com/consumer\n" + strings.Replace(version, "@", " ", 1) + "\n"; all != want {
					t.Errorf("a consumer of the core gets these modules:\n%s\nwant the core alone:\n%s", all, want)
				}
			}

			// The module's own packages, all of them, from its archive.
			Run(t, dir, env, "go", "build", m.Path+"/...")
			Run(t, dir, env, "go", "vet", m.Path+"/...")

			Run(t, dir, env, "go", "build", "./...")
			Run(t, dir, env, "go", "vet", "./...")
			t.Log(Run(t, dir, env, "go", "test", "-count=1", "./..."))
			want, err := os.ReadFile(filepath.Join(dir, "want.txt"))
			if err != nil {
				t.Fatal(err)
			}
			if got := Run(t, dir, env, "go", "run", "."); got != string(want) {
				t.Errorf("the consumer printed:\n%s\nwant:\n%s", got, want)
			}
		})
	}
	if used == 0 {
		t.Error("no module of the workspace is for others")
	}
}

// isForOthers reports whether a module has packages that another module may
// import or install. Examples and internal modules are for this repository, and
// a module that holds only tests has nothing to import.
func isForOthers(t *testing.T, root string, m Module) bool {
	t.Helper()
	name := m.Name(root)
	if strings.HasPrefix(name, "examples/") || strings.HasPrefix(name, "internal/") {
		return false
	}
	env := []string{"GOWORK=" + filepath.Join(root, "go.work")}
	packages := Run(t, m.Dir, env, "go", "list", "-f", "{{if .GoFiles}}{{.ImportPath}}{{end}}", "./...")
	return strings.TrimSpace(packages) != ""
}

// requiredVersions returns the version of every module of the workspace.
// TestModules checks that they are required at one version each.
func requiredVersions(t *testing.T, modules []Module) map[string]string {
	t.Helper()
	versions := make(map[string]string)
	for _, m := range modules {
		versions[m.Path] = firstVersion
	}
	for _, m := range modules {
		for _, r := range readModFile(t, m.GoMod).Require {
			if _, ours := versions[r.Mod.Path]; ours {
				versions[r.Mod.Path] = r.Mod.Version
			}
		}
	}
	return versions
}

// consumerEnv is the environment of a consumer: no workspace, a module cache of
// its own (the modules' contents change from run to run while their versions do
// not), and this test's proxy before the caller's. The caller's module cache is
// read as a proxy too, so that a machine that has the third-party modules needs
// no network.
func consumerEnv(t *testing.T, root, work, proxy string) []string {
	t.Helper()
	get := func(name string) string {
		return strings.TrimSpace(Run(t, root, nil, "go", "env", name))
	}
	proxies := []string{
		"file://" + filepath.ToSlash(proxy),
		"file://" + filepath.ToSlash(filepath.Join(get("GOMODCACHE"), "cache", "download")),
	}
	if callers := get("GOPROXY"); callers != "" {
		proxies = append(proxies, callers)
	}
	// The checksum database has never heard of these versions.
	noSumDB := "github.com/wollax/cupel-go"
	if callers := get("GONOSUMDB"); callers != "" {
		noSumDB += "," + callers
	}
	return []string{
		"GOWORK=off",
		// So that the test can remove its module cache.
		"GOFLAGS=-modcacherw",
		"GOMODCACHE=" + filepath.Join(work, "modcache"),
		"GOPROXY=" + strings.Join(proxies, ","),
		"GONOSUMDB=" + noSumDB,
		// A GOPRIVATE of the caller must not lead around the proxy.
		"GONOPROXY=none",
	}
}

// thirdPartySums returns the checksums of the modules from elsewhere that the
// workspace has checked already, so that a consumer need not ask for them.
func thirdPartySums(t *testing.T, modules []Module) string {
	t.Helper()
	var sums strings.Builder
	for _, m := range modules {
		data, err := os.ReadFile(filepath.Join(m.Dir, "go.sum"))
		if os.IsNotExist(err) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		sums.Write(data)
	}
	return sums.String()
}

func readModFile(t *testing.T, name string) *modfile.File {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	file, err := modfile.Parse(name, data, nil)
	if err != nil {
		t.Fatal(err)
	}
	return file
}

func writeFile(t *testing.T, name, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}
