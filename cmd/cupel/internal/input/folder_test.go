package input

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wollax/cupel-go/cupel"
)

// tree makes a folder of files, which no repository around it knows.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	t.Setenv("GIT_CEILING_DIRECTORIES", filepath.Dir(dir))
	for name, text := range files {
		name = filepath.Join(dir, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o755))
		require.NoError(t, os.WriteFile(name, []byte(text), 0o600))
	}
	return dir
}

func origins(items []*cupel.ContextItem) []string {
	list := make([]string, len(items))
	for i, item := range items {
		where, _, _ := strings.Cut(item.Content(), "\n")
		list[i] = string(item.Kind()) + " " + where
	}
	return list
}

func TestReadFolder(t *testing.T) {
	files := map[string]string{
		"README.md":          "\uFEFF# Shop\r\n\r\nSells tea.\r\n",
		"shop/shop.go":       "package shop\n\n// Price is in cents.\ntype Price int\n",
		"shop/testdata/a.go": "package a\n\nvar A int\n",
		"vendor/v.go":        "package v\n\nvar V int\n",
		"node_modules/m.js":  "var m\n",
		".github/x.yml":      "hidden: true\n",
		"deploy/Prod.PEM":    "key\n",
		"deploy/vendor":      "-----BEGIN RSA PRIVATE KEY-----\nkey\n",
		"deploy/bag.txt":     "Bag Attributes\n  friendlyName: a\n-----BEGIN ENCRYPTED PRIVATE KEY-----\nkey\n",
		"deploy/robot.json":  `{"type": "service_account", "private_key": "-----BEGIN PRIVATE KEY-----\nkey"}`,
		"deploy/a.tfstate.1": "{}\n",
		"deploy/prod.PPK":    "key\n",
		".env":               "SECRET=1\n",
		"main.py":            "import sys\n\nprint(1)\n",
		"notes.txt":          "One.\n",
		"logo.png":           "\x89PNG\x00\x00",
		"latin.txt":          "caf\xe9",
		"long.json":          strings.Repeat("[", maxFileBytes+1),
		"empty.go":           "",
		"build/out.txt":      "made\n",
		".gitignore":         "build\n",
	}
	want := []string{
		"Document README.md:1 Shop", "Document build/out.txt:1", "Code main.py:1", "Document notes.txt:1", "Code shop/shop.go:3 Price",
	}
	dir := tree(t, files)
	require.NoError(t, os.Symlink("notes.txt", filepath.Join(dir, "link.txt")))
	c, err := ReadFolder(t.Context(), dir, cupel.HeuristicCounter{}, MaxFolderBytes)
	require.NoError(t, err)
	require.Equal(t, want, origins(c.Items))
	require.Equal(t, []string{"skipped files: 1 that are links, 1 that are too large, 2 that are not text, 3 that are hidden, 6 that hold keys"}, c.Notes)
	item := c.Items[0]
	when, _ := item.Timestamp()
	require.Equal(t, []any{"README.md:1 Shop\n# Shop\n\nSells tea.", Folder}, []any{item.Content(), c.Format})
	require.Equal(t, map[string]any{"path": "README.md", "line": 1, "title": "Shop"}, item.Metadata())
	require.Equal(t, map[string]any{"path": "shop/shop.go", "line": 3, "symbol": "Price"}, c.Items[4].Metadata())
	notes := c.Notes
	require.NotZero(t, item.Tokens())
	require.False(t, when.IsZero())

	git := exec.CommandContext(t.Context(), "git", "init", "-q", dir)
	if err := git.Run(); err != nil {
		t.Skip("git does not run here: ", err)
	}
	c, err = ReadFolder(t.Context(), dir, cupel.HeuristicCounter{}, MaxFolderBytes)
	require.NoError(t, err)
	require.Equal(t, slices.Delete(slices.Clone(want), 1, 2), origins(c.Items), "in a repository that ignores build")
	for _, name := range []string{"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"} {
		t.Run(name, func(t *testing.T) {
			t.Setenv(name, filepath.Join(dir, "shop"))
			again, err := ReadFolder(t.Context(), dir, cupel.HeuristicCounter{}, MaxFolderBytes)
			require.NoError(t, err)
			require.Equal(t, origins(c.Items), origins(again.Items), "a hook's repository is another one")
		})
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, ".gitignore"), []byte("*\n"), 0o600))
	c, err = ReadFolder(t.Context(), dir, cupel.HeuristicCounter{}, MaxFolderBytes)
	require.NoError(t, err)
	require.Equal(t, want, origins(c.Items), "a folder that git ignores as a whole is meant")
	require.Equal(t, notes, c.Notes, "git's own files are not of the folder")

	require.NoError(t, exec.CommandContext(t.Context(), "git", "-C", dir, "add", "-f", "main.py", "notes.txt").Run())
	require.NoError(t, os.Remove(filepath.Join(dir, "main.py")))
	c, err = ReadFolder(t.Context(), dir, cupel.HeuristicCounter{}, MaxFolderBytes)
	require.NoError(t, err)
	require.Equal(t, []string{"Document notes.txt:1"}, origins(c.Items))
	require.Equal(t, []string{"skipped files: 1 that cannot be read"}, c.Notes, "git lists a file that is gone")
}

// counting is a counter that calls a function for each text.
type counting func()

func (c counting) CountTokens(string) (int, error) {
	c()
	return 1, nil
}

func TestReadText(t *testing.T) {
	dir := tree(t, map[string]string{"a.txt": "\uFEFFone\r\n", "sub/b.txt": "b", "c.txt": "text of -----BEGIN PUBLIC KEY-----"})
	require.NoError(t, os.Symlink("sub", filepath.Join(dir, "linked")))
	root, err := os.OpenRoot(dir)
	require.NoError(t, err)
	t.Cleanup(func() { _ = root.Close() })
	for _, tt := range []struct {
		name string
		most int64
		want string
		err  error
		why  string
	}{
		{"a.txt", 8, "one\n", nil, "it has as many bytes as it may have"},
		{"a.txt", 7, "", errSkippedLarge, "it has one more"},
		{"c.txt", 99, "text of -----BEGIN PUBLIC KEY-----", nil, "no private key"},
		{"none.txt", 99, "", os.ErrNotExist, "it is not there"},
		{"sub", 99999, "", errSkippedOther, "a folder"},
		{"linked/b.txt", 99, "", errSkippedLink, "a folder of its path is a link"},
		{"sub/b.txt", 99, "b", nil, "the folder itself"},
		{".hidden/b.txt", 99, "", errSkippedHidden, "a folder of its path is hidden, there or not"},
		{"sub/Secrets.yaml", 99, "", errSkippedKey, "its name says so"},
	} {
		text, modified, err := ReadText(root, tt.name, tt.most)
		require.ErrorIs(t, err, tt.err, tt.why)
		require.Equal(t, tt.want, text, tt.why)
		require.Equal(t, err == nil, !modified.IsZero(), tt.why)
	}
	require.EqualError(t, errSkippedLink, "it is skipped, as are files that are links")
}

// A pipe in the place of a file that git reads does not hang the command.
func TestReadFolderWithPipe(t *testing.T) {
	dir := tree(t, map[string]string{"a.txt": "a"})
	if exec.CommandContext(t.Context(), "git", "init", "-q", dir).Run() != nil || exec.CommandContext(t.Context(), "mkfifo", filepath.Join(dir, ".gitignore")).Run() != nil {
		t.Skip("git or mkfifo does not run here")
	}
	gitTime = 100 * time.Millisecond
	defer func() { gitTime = time.Minute }()
	_, err := ReadFolder(t.Context(), dir, cupel.HeuristicCounter{}, MaxFolderBytes)
	require.ErrorContains(t, err, "git does not list the files of the folder")
}

func TestReadFolderFails(t *testing.T) {
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	hidden, one := tree(t, map[string]string{".hidden/a.txt": "a"}), tree(t, map[string]string{"a.txt": "a"})
	tests := []struct {
		name    string
		ctx     context.Context
		dir     string
		counter cupel.TokenCounter
		want    string
		why     string
	}{
		{"missing", t.Context(), filepath.Join(hidden, "none"), cupel.HeuristicCounter{}, "none", "there is no such folder"},
		{"no text", t.Context(), hidden, cupel.HeuristicCounter{}, "the folder has no text; skipped files: 1 that are hidden; hidden, vendored", "an empty window would look like an answer"},
		{"counter", t.Context(), one, nil, "a.txt:1: ", "a token count of 0 would be wrong"},
		{"canceled", canceled, one, cupel.HeuristicCounter{}, context.Canceled.Error(), "an interrupt ends a long walk"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := ReadFolder(tt.ctx, tt.dir, tt.counter, MaxFolderBytes)
			require.ErrorContains(t, err, tt.want, tt.why)
		})
	}
	_, err := ReadFolder(t.Context(), tree(t, map[string]string{"a.txt": strings.Repeat("\n", 2<<20/3), "b.txt": strings.Repeat("\n", 2<<20/3)}), cupel.HeuristicCounter{}, 1<<20)
	require.ErrorContains(t, err, "more than 1048576 bytes")
	large, err := ReadFolder(t.Context(), tree(t, map[string]string{"a.txt": strings.Repeat("x", maxFileBytes), "b.txt": "\x00"}), cupel.HeuristicCounter{}, maxFileBytes)
	require.NoError(t, err)
	require.Len(t, large.Items, 1, "a file may have 1 MiB, and be all that the folder may have")
	require.Equal(t, []string{"skipped files: 1 that are not text"}, large.Notes)
	interrupted, interrupt := context.WithCancel(t.Context())
	_, err = ReadFolder(interrupted, tree(t, map[string]string{"a.txt": "a", "b.txt": "b"}), counting(interrupt), MaxFolderBytes)
	require.ErrorIs(t, err, context.Canceled, "an interrupt between files")
	_, err = ReadFolder(t.Context(), filepath.Join(one, "a.txt"), cupel.HeuristicCounter{}, MaxFolderBytes)
	require.Error(t, err, "a file in the place of a folder")
}
