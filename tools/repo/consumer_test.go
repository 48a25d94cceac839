package repo

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
	"golang.org/x/mod/modfile"
)

// ownPrefix begins the path of every module of this repository.
const ownPrefix = "github.com/wollax/cupel-go"

// TestConsumer gets every module that is for others as a stranger would: into a
// module of its own, outside the tree, from a module proxy. There the replace
// directives and go.work do not count, so that building all packages finds what
// they hide: a package or an embedded file that is not in the module's archive, a
// requirement that cannot be met. TestGuides runs programs there.
func TestConsumer(t *testing.T) {
	root := Root(t)
	modules := Installable(t, root)
	versions := releaseVersions(t, root, modules)

	work := t.TempDir()
	if outside, err := filepath.Rel(root, work); err == nil && filepath.IsLocal(outside) {
		t.Fatalf("the temporary folder %s is inside the repository", work)
	}
	env := consumerEnv(t, root, fillProxy(t, root, filepath.Join(work, "proxy"), modules))
	sums := thirdPartySums(t, modules)
	got := 0
	for _, m := range modules {
		if !isForOthers(t, root, m) {
			continue
		}
		got++
		t.Run(m.Name(root), func(t *testing.T) {
			t.Parallel()
			dir, version, packages := t.TempDir(), versions[m.Path], m.Path+"/..."
			writeFile(t, filepath.Join(dir, "go.mod"), "module example.com/consumer\n\ngo "+m.GoVersion+"\n")
			writeFile(t, filepath.Join(dir, "go.sum"), sums)
			Run(t, dir, env, "go", "get", packages+"@"+version)

			got := strings.TrimSpace(Run(t, dir, env, "go", "list", "-m", "-f", "{{.Version}} {{.Replace}} {{.Dir}}", m.Path))
			fields := strings.SplitN(got, " ", 3)
			if len(fields) != 3 || fields[0] != version || fields[1] != "<nil>" || fields[2] == m.Dir {
				t.Fatalf("the consumer's %s is %q; want %s from the proxy", m.Path, got, version)
			}
			if m.Name(root) == "cupel" {
				all := Run(t, dir, env, "go", "list", "-m", "all")
				if want := "example.com/consumer\n" + m.Path + " " + version + "\n"; all != want {
					t.Errorf("a consumer of the core gets these modules:\n%s\nwant the core alone:\n%s", all, want)
				}
			}
			Run(t, dir, env, "go", "build", "-o", os.DevNull, packages)
		})
	}
	if got == 0 {
		t.Error("no module is for others")
	}
}

// TestConsumerInstall installs every command for others at its version, from a folder
// outside of any module, as the README says.
func TestConsumerInstall(t *testing.T) {
	root := Root(t)
	modules := Released(t, root)
	versions := releaseVersions(t, root, modules)
	work := t.TempDir()
	env := append(consumerEnv(t, root, fillProxy(t, root, filepath.Join(work, "proxy"), modules)), "GOBIN="+filepath.Join(work, "bin"))
	installed := 0
	for _, m := range modules {
		if !isForOthers(t, root, m) {
			continue
		}
		commands := Run(t, m.Dir, []string{"GOWORK=" + m.Work}, "go", "list", "-f", `{{if eq .Name "main"}}{{.ImportPath}}{{end}}`, "./...")
		for command := range strings.FieldsSeq(commands) {
			if strings.Contains(command, "/internal/") {
				continue
			}
			installed++
			Run(t, work, env, "go", "install", command+"@"+versions[m.Path])
			Run(t, work, env, filepath.Join(work, "bin", filepath.Base(command)), "-h")
		}
	}
	if installed == 0 {
		t.Error("no command was installed")
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
	env := []string{"GOWORK=" + m.Work}
	packages := Run(t, m.Dir, env, "go", "list", "-f", "{{if .GoFiles}}{{.ImportPath}}{{end}}", "./...")
	return strings.TrimSpace(packages) != ""
}

// releaseVersions returns the versions of the next release by the paths of modules: those of versions.yaml, and
// of a module that is not released, one that no other has.
func releaseVersions(t *testing.T, root string, modules []Module) map[string]string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(root, "versions.yaml"))
	require.NoError(t, err)
	var file struct {
		Sets map[string]struct {
			Version string
			Modules []string
		} `yaml:"module-sets"`
	}
	require.NoError(t, yaml.Unmarshal(data, &file))
	versions := make(map[string]string)
	for _, m := range modules {
		versions[m.Path] = "v0.0.0"
	}
	for _, set := range file.Sets {
		for _, path := range set.Modules {
			versions[path] = set.Version
		}
	}
	return versions
}

// consumerEnv is the environment of a consumer: no workspace, a module cache of
// its own, and this test's proxy before the caller's. The caller's module cache
// is read as a proxy too, so that a machine that has the third-party modules
// needs no network.
//
// The module cache stays from run to run, so that packages of third-party
// modules are not compiled again. Of the repository's own modules it is cleared:
// their contents change while their versions do not. With CUPEL_EMPTY_CACHES=1 both
// caches are empty, and third-party modules come from the caller's proxy alone.
func consumerEnv(t *testing.T, root, proxy string) []string {
	t.Helper()
	get := func(name string) string {
		return strings.TrimSpace(Run(t, root, nil, "go", "env", name))
	}
	modcache := filepath.Join(keptFolder(t, root), "mod")
	for _, own := range []string{"", filepath.Join("cache", "download")} {
		require.NoError(t, os.RemoveAll(filepath.Join(modcache, own, filepath.Dir(filepath.FromSlash(ownPrefix)))))
	}
	proxies := []string{
		"file://" + filepath.ToSlash(proxy),
		"file://" + filepath.ToSlash(filepath.Join(get("GOMODCACHE"), "cache", "download")),
	}
	if callers := get("GOPROXY"); callers != "" {
		proxies = append(proxies, callers)
	}
	var empty []string
	if os.Getenv("CUPEL_EMPTY_CACHES") != "" {
		work := t.TempDir()
		modcache, empty = filepath.Join(work, "mod"), []string{"GOCACHE=" + filepath.Join(work, "build")}
		proxies = slices.Delete(proxies, 1, 2)
	}
	// The checksum database does not know these versions.
	noSumDB := ownPrefix
	if callers := get("GONOSUMDB"); callers != "" {
		noSumDB += "," + callers
	}
	return append(empty,
		"GOWORK=off",
		// So that the next run can clear the module cache, and every clone finds what
		// another has compiled.
		"GOFLAGS=-modcacherw -trimpath",
		"GOMODCACHE="+modcache,
		"GOPROXY="+strings.Join(proxies, ","),
		"GONOSUMDB="+noSumDB,
		// A GOPRIVATE of the caller must not lead around the proxy. GONOPROXY=none
		// would: with it the go command looks for versions in its cache first, and
		// takes the root module for the one that a nested module is in.
		"GOENV=off", "GOPRIVATE=", "GONOPROXY=",
		// The go command keeps an index of the packages of each version, which
		// would be that of an earlier tree.
		"GODEBUG=goindex=0",
	)
}

// keptFolder returns a folder that stays from run to run: the go command finds in
// its cache what it compiled at the same place. Each clone has its own, so that
// two may be tested at the same time.
func keptFolder(t *testing.T, root string) string {
	t.Helper()
	cache, err := os.UserCacheDir()
	require.NoError(t, err)
	return filepath.Join(cache, "cupel-consumer", strings.ReplaceAll(root, string(filepath.Separator), "-"))
}

// thirdPartySums returns the checksums of the modules from elsewhere that the
// workspace has checked already, so that a consumer need not ask for them.
func thirdPartySums(t *testing.T, modules []Module) string {
	t.Helper()
	var sums strings.Builder
	for _, m := range modules {
		sums.WriteString(withoutOwnSums(t, filepath.Join(m.Dir, "go.sum")))
	}
	return sums.String()
}

func readModFile(t *testing.T, name string) *modfile.File {
	t.Helper()
	data, err := os.ReadFile(name)
	require.NoError(t, err)
	file, err := modfile.Parse(name, data, nil)
	require.NoError(t, err)
	return file
}

func writeFile(t *testing.T, name, content string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o755))
	require.NoError(t, os.WriteFile(name, []byte(content), 0o644))
}
