package cupelsession

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"sync"
	"time"
)

// Store keeps texts that requests leave out, by session. A key is the SHA-256 of its text
// in hexadecimal digits. The methods may be called by several goroutines.
type Store interface {
	// Put keeps a text. The text may be there already.
	Put(ctx context.Context, session, key, text string) error
	// Get returns a text. If it is gone, the error matches [fs.ErrNotExist].
	Get(ctx context.Context, session, key string) (string, error)
	// Delete removes all texts of a session.
	Delete(ctx context.Context, session string) error
}

// MemoryStore is a [Store] in memory. The zero MemoryStore is empty. It keeps all texts
// of a session until the session is deleted.
type MemoryStore struct {
	texts sync.Map // by session and key
}

// Put keeps a text. It never fails.
func (m *MemoryStore) Put(_ context.Context, session, key, text string) error {
	m.texts.Store([2]string{session, key}, text)
	return nil
}

// Get returns a text.
func (m *MemoryStore) Get(_ context.Context, session, key string) (string, error) {
	if text, ok := m.texts.Load([2]string{session, key}); ok {
		return text.(string), nil
	}
	return "", fs.ErrNotExist
}

// Delete removes all texts of a session. It never fails.
func (m *MemoryStore) Delete(_ context.Context, session string) error {
	m.texts.Range(func(at, _ any) bool {
		if at.([2]string)[0] == session {
			m.texts.Delete(at)
		}
		return true
	})
	return nil
}

// FolderStore is a [Store] in a folder, with a folder for each session and a file for each
// text. Only the user can read the files. Their names are hashes, and the store leaves
// files with other names alone. It follows no link out of its folder. A file is there whole or not at all, even after a crash.
// Processes that share a folder may together exceed its bound, each by the bytes that the
// others wrote since it last scanned the files.
type FolderStore struct {
	folder *os.Root
	most   int64
	age    time.Duration

	mu    sync.Mutex
	bytes int64 // of the files, or more
	swept time.Time
}

// NewFolderStore returns a store in a folder, and creates the folder. The store keeps at
// most the given number of bytes of text, and removes the oldest texts first. It also
// removes texts older than age: when it is created, and then with the first text after
// each age.
func NewFolderStore(folder string, most int64, age time.Duration) (*FolderStore, error) {
	if most <= 0 || age <= 0 {
		return nil, &ConfigError{"FolderStore", fmt.Sprintf("needs a size and an age above 0, got %d bytes and %v", most, age)}
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(folder)
	if err != nil {
		return nil, err
	}
	f := &FolderStore{folder: root, most: most, age: age}
	err = f.sweep(0)
	return f, err
}

// nameOf returns the name of a session's folder, or of one of its texts.
func nameOf(parts ...string) string {
	for i, part := range parts {
		parts[i] = keyOf(part)
	}
	return path.Join(parts...)
}

// Put writes a text. It fails with errors of the file system, and for a text that is
// larger than the store.
func (f *FolderStore) Put(_ context.Context, session, key, text string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	size := int64(len(text))
	if size > f.most || f.folder == nil {
		return fmt.Errorf("cupelsession: a text of %d bytes does not fit into the store of %d", size, f.most)
	}
	if f.bytes += size; f.bytes > f.most || since(f.swept) > f.age {
		if err := f.sweep(size); err != nil {
			return err
		}
	}
	if err := f.folder.MkdirAll(nameOf(session), 0o700); err != nil {
		return err
	}
	return f.writeWhole(nameOf(session, key), text)
}

// writeWhole writes a file that only the user can read, in place of one of this name.
// Until it is whole, its name is temporary, and a crash leaves that.
func (f *FolderStore) writeWhole(name, text string) error {
	partial := path.Join(path.Dir(name), rand.Text()+temporary)
	file, err := f.folder.OpenFile(partial, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = file.WriteString(text)
	if err = errors.Join(err, file.Sync(), file.Close()); err == nil {
		err = f.folder.Rename(partial, name)
	}
	if err != nil {
		return errors.Join(err, f.folder.Remove(partial))
	}
	return nil
}

// temporary is the suffix of files that are being written.
const temporary = ".tmp"

// Get reads a text.
func (f *FolderStore) Get(_ context.Context, session, key string) (string, error) {
	if f.folder == nil {
		return "", fs.ErrNotExist
	}
	name := nameOf(session, key)
	info, err := f.folder.Stat(name)
	switch {
	case err != nil:
		return "", err
	case since(info.ModTime()) > f.age, !info.Mode().IsRegular(): // a pipe would block
		return "", fs.ErrNotExist
	}
	text, err := f.folder.ReadFile(name)
	return string(text), err
}

// Delete removes all texts of a session.
func (f *FolderStore) Delete(_ context.Context, session string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.folder == nil {
		return nil
	}
	return f.folder.RemoveAll(nameOf(session))
}

func since(t time.Time) time.Duration {
	return time.Since(t) //nolint:forbidigo // files have the time of the system
}

// isOurs reports whether a store has written a file: a text, or a temporary file that a
// crash has left.
func isOurs(name string) bool {
	session, file := path.Split(name)
	return isKey(path.Clean(session)) && (isKey(file) || path.Ext(file) == temporary)
}

// isKey reports whether a name is a hash.
func isKey(name string) bool {
	sum, err := hex.DecodeString(name)
	return err == nil && len(sum) == sha256.Size
}

// sweep removes files that are too old or that a crash has left, and then the oldest texts
// until there is room for some bytes.
func (f *FolderStore) sweep(room int64) error {
	folder := f.folder.FS()
	names, _ := fs.Glob(folder, "*/*") // it fails for a wrong pattern alone
	files := map[string]fs.FileInfo{}
	f.bytes = room
	for _, name := range names {
		if !isOurs(name) { // the folder may be one of the user's by mistake
			continue
		}
		if info, err := fs.Lstat(folder, name); err == nil && info.Mode().IsRegular() { // another process may have removed it
			files[name] = info
			f.bytes += info.Size()
		}
	}
	names = slices.SortedFunc(maps.Keys(files), func(a, b string) int { return files[a].ModTime().Compare(files[b].ModTime()) })
	for _, name := range names {
		age := since(files[name].ModTime())
		if f.bytes <= f.most && age <= f.age && (age <= time.Hour || path.Ext(name) != temporary) {
			continue
		}
		if err := f.folder.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		_ = f.folder.Remove(path.Dir(name)) // it fails while the folder has other files
		f.bytes -= files[name].Size()
	}
	f.swept = time.Now() //nolint:forbidigo // as since
	return nil
}
