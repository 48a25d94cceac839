package cupelsession_test

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/wollax/cupel-go/cupelsession"
)

// The folder of a store survives what a crash leaves in it, and has no more than it may.
func TestFolderStore(t *testing.T) {
	ctx, dir := t.Context(), filepath.Join(t.TempDir(), "store [1")
	other := filepath.Join(dir, "notes", "mine.txt")
	require.NoError(t, os.MkdirAll(filepath.Dir(other), 0o700))
	require.NoError(t, os.WriteFile(other, []byte(strings.Repeat("x", 2000)), 0o600))
	require.NoError(t, os.Chtimes(other, time.Time{}, time.Now().Add(-24*time.Hour)))
	open := func() *cupelsession.FolderStore {
		t.Helper()
		store, err := cupelsession.NewFolderStore(dir, 1000, 2*time.Hour)
		require.NoError(t, err)
		return store
	}
	store := open()
	files := func() (names []string) {
		t.Helper()
		folder, err := os.ReadDir(dir)
		require.NoError(t, err)
		for _, session := range folder {
			if session.Name() == "notes" {
				continue
			}
			texts, err := os.ReadDir(filepath.Join(dir, session.Name()))
			require.NoError(t, err)
			assert.NotEmpty(t, texts, "a folder without texts")
			for _, text := range texts {
				names = append(names, filepath.Join(dir, session.Name(), text.Name()))
			}
		}
		return names
	}
	written := time.Now().Add(-90 * time.Minute)
	named := func(session, text string) string {
		return filepath.Join(dir, fmt.Sprintf("%x", sha256.Sum256([]byte(session))), fmt.Sprintf("%x", sha256.Sum256([]byte(text))))
	}
	put := func(session, text string) {
		t.Helper()
		require.NoError(t, store.Put(ctx, session, text, text))
		written = written.Add(time.Second) // times order files, and systems count them in steps
		require.NoError(t, os.Chtimes(named(session, text), time.Time{}, written))
	}
	has := func(session, text string) bool {
		t.Helper()
		got, err := store.Get(ctx, session, text)
		if err != nil {
			require.ErrorIs(t, err, os.ErrNotExist)
			return false
		}
		return got == text
	}
	large := strings.Repeat("3", 400)
	put("../../a", "one")
	put("../../a", "one")
	put("b", "two")
	assert.Len(t, files(), 2, "all in the folder")
	for _, name := range files() {
		info, err := os.Stat(name)
		require.NoError(t, err)
		outer, err := os.Stat(filepath.Dir(name))
		require.NoError(t, err)
		assert.Equal(t, "-rw------- drwx------", fmt.Sprint(info.Mode(), " ", outer.Mode()))
		assert.Regexp(t, `/[0-9a-f]{64}/[0-9a-f]{64}$`, filepath.ToSlash(name))
	}
	assert.True(t, has("../../a", "one") && !has("b", "one"), "texts are those of a session")
	require.ErrorContains(t, store.Put(ctx, "b", "x", strings.Repeat("x", 1001)), "does not fit into the store")
	put("b", large)
	put("c", large)
	put("d", strings.Repeat("4", 197))
	assert.True(t, !has("../../a", "one") && has("b", "two") && has("b", large) && has("c", large), "the oldest made room")
	store = open()
	assert.Len(t, files(), 4, "the store is full, and has what it may")
	require.NoError(t, store.Delete(ctx, "c"))
	assert.True(t, !has("c", large) && has("b", large))
	require.NoError(t, os.MkdirAll(named("f", "f"), 0o700))
	require.Error(t, store.Put(ctx, "f", "f", "f"), "a folder is in its place")
	assert.False(t, has("f", "f"))
	assert.Len(t, files(), 4, "nothing is left of it")
	require.NoError(t, os.Chtimes(named("f", "f"), time.Time{}, time.Time{}.AddDate(1999, 0, 0)))

	// A writer was killed: what it left goes when it can be no other's.
	left := filepath.Join(filepath.Dir(files()[0]), "7.tmp")
	require.NoError(t, os.WriteFile(left, []byte("hal"), 0o600))
	for _, old := range []time.Duration{59 * time.Minute, 61 * time.Minute} {
		require.NoError(t, os.Chtimes(left, time.Time{}, time.Now().Add(-old)))
		store = open()
		_, err := os.Stat(left)
		assert.Equal(t, old > time.Hour, err != nil, old)
	}
	assert.DirExists(t, named("f", "f"), "it is not the store's")
	require.NoError(t, os.RemoveAll(named("f", "f")))
	require.NoError(t, store.Delete(ctx, "f"))
	age := func() {
		for _, name := range files() {
			require.NoError(t, os.Chtimes(name, time.Time{}, time.Now().Add(-121*time.Minute)))
		}
	}
	age()
	assert.False(t, has("b", large), "it is too old")
	put("e", "e")
	assert.Len(t, files(), 4, "it is still there, until two hours after the last sweep")
	open()
	assert.Len(t, files(), 1)
	assert.FileExists(t, other, "it is not the store's")

	// A store that goes on removes what is too old, though it has room.
	brief, err := cupelsession.NewFolderStore(dir, 1, 1)
	require.NoError(t, err)
	for _, text := range []string{"a", "b", ""} {
		require.NoError(t, brief.Put(ctx, "brief", text, text))
		assert.Len(t, files(), 1)
		age()
	}
	require.NoError(t, os.RemoveAll(dir))
	require.NoError(t, os.WriteFile(dir, nil, 0o600))
	require.Error(t, store.Put(ctx, "e", "e", "e"), "there is no folder")
	_, err = cupelsession.NewFolderStore(dir, 1, 1)
	require.Error(t, err, "here too")
	for size, age := range []time.Duration{1, 0} {
		_, err = cupelsession.NewFolderStore(dir, int64(size), age)
		require.ErrorContains(t, err, "needs a size and an age")
	}
}

// A store leaves the files of others alone, in a folder of any name, and counts its own.
func TestFolderOfOthers(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store[1]")
	own := filepath.Join(dir, strings.Repeat("ab", 32))
	theirs := []string{filepath.Join(dir, "photos", "1.jpg"), filepath.Join(dir, "photos", "1.tmp"), filepath.Join(own, "notes"), filepath.Join(own, "abcd")}
	for _, name := range theirs {
		require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o700))
		require.NoError(t, os.WriteFile(name, []byte("mine"), 0o600))
		require.NoError(t, os.Chtimes(name, time.Time{}, time.Now().Add(-1000*time.Hour)))
	}
	for range 2 {
		store, err := cupelsession.NewFolderStore(dir, 10, time.Hour)
		require.NoError(t, err)
		for _, text := range []string{"1234567", "abcdefg"} {
			require.NoError(t, store.Put(t.Context(), "a", text, text))
		}
		_, err = store.Get(t.Context(), "a", "1234567")
		require.ErrorIs(t, err, os.ErrNotExist, "it made room")
	}
	for _, name := range theirs {
		assert.FileExists(t, name)
	}
}

// A link in the place of a session's folder leads nowhere: no text is written or read there.
func TestFolderFollowsNoLinks(t *testing.T) {
	dir, elsewhere := t.TempDir(), t.TempDir()
	require.NoError(t, os.Symlink(elsewhere, filepath.Join(dir, fmt.Sprintf("%x", sha256.Sum256([]byte("a"))))))
	require.NoError(t, os.WriteFile(filepath.Join(elsewhere, fmt.Sprintf("%x", sha256.Sum256([]byte("k")))), []byte("theirs"), 0o600))
	store, err := cupelsession.NewFolderStore(dir, 1<<20, time.Hour)
	require.NoError(t, err)
	require.Error(t, store.Put(t.Context(), "a", "new", "text"))
	text, err := store.Get(t.Context(), "a", "k")
	require.Error(t, err)
	require.Empty(t, text)
	require.NoError(t, store.Delete(t.Context(), "a"))
	files, err := os.ReadDir(elsewhere)
	require.NoError(t, err)
	require.Len(t, files, 1, "they are not the store's")
}
