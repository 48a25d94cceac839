package repocontext

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/wollax/cupel-go/cupel"
)

// writeTree makes a folder with the given files, all of the same time. No
// repository around the folder is seen.
func writeTree(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	t.Setenv("GIT_CEILING_DIRECTORIES", filepath.Dir(root))
	for name, content := range files {
		write(t, root, name, content)
	}
	return root
}

var fileTime = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func write(t *testing.T, root, name, content string) {
	t.Helper()
	name = filepath.Join(root, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(name, fileTime, fileTime); err != nil {
		t.Fatal(err)
	}
}

// without makes PATH a folder with the given programs and no others.
func without(t *testing.T, programs ...string) {
	t.Helper()
	dir := t.TempDir()
	for _, name := range programs {
		found, err := exec.LookPath(name)
		if err != nil {
			t.Skipf("%s is not installed", name)
		}
		if err := os.Symlink(found, filepath.Join(dir, name)); err != nil {
			t.Skipf("no symbolic links here: %v", err)
		}
	}
	t.Setenv("PATH", dir)
}

func collect(t *testing.T, root string, opts Options) *Candidates {
	t.Helper()
	c, err := Collect(t.Context(), root, opts)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func origins(items []*cupel.ContextItem) []string {
	list := []string{}
	for _, it := range items {
		list = append(list, Origin(it))
	}
	return list
}

// find returns the item with the given origin.
func find(t *testing.T, items []*cupel.ContextItem, origin string) *cupel.ContextItem {
	t.Helper()
	i := slices.IndexFunc(items, func(it *cupel.ContextItem) bool { return Origin(it) == origin })
	if i < 0 {
		t.Fatalf("no item comes from %q; there are:\n%s", origin, strings.Join(origins(items), "\n"))
	}
	return items[i]
}

func wantLines(t *testing.T, what string, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s:\n%s\nwant:\n%s", what, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
