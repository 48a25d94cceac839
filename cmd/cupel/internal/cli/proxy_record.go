package cli

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"slices"
	"sync"

	"github.com/wollax/cupel-go/cupelsession"
)

// mostRecorded is how many bytes of requests a folder keeps. The oldest conversations go
// first.
const mostRecorded = 1 << 30

// recorder keeps the latest request of each session in a file of its own, for cupel
// replay: it has the whole conversation.
type recorder struct {
	mu    sync.Mutex
	root  *os.Root
	sizes map[string]int
	order []string // of files, the oldest first
	total int
}

// newRecorder makes the folder. Links in it are not followed out of it.
func newRecorder(name string) (*recorder, error) {
	if err := os.MkdirAll(name, 0o700); err != nil {
		return nil, usagef("--record: %w", err)
	}
	root, err := os.OpenRoot(name)
	if err != nil {
		return nil, usagef("--record: %w", err)
	}
	r := &recorder{root: root, sizes: map[string]int{}}
	if err := r.load(); err != nil {
		return nil, err
	}
	return r, nil
}

// load finds what is there already.
func (r *recorder) load() error {
	entries, err := fs.ReadDir(r.root.FS(), ".")
	if err != nil {
		return usagef("--record: %w", err)
	}
	var files []fs.FileInfo
	for _, e := range entries {
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() {
			files = append(files, info)
		}
	}
	slices.SortFunc(files, func(a, b fs.FileInfo) int {
		return cmp.Or(a.ModTime().Compare(b.ModTime()), cmp.Compare(a.Name(), b.Name()))
	})
	for _, info := range files {
		r.account(info.Name(), int(info.Size()))
	}
	return nil
}

// account counts a file as the newest one.
func (r *recorder) account(name string, size int) {
	r.order = append(slices.DeleteFunc(r.order, func(other string) bool { return other == name }), name)
	r.total += size - r.sizes[name]
	r.sizes[name] = size
}

// record replaces the file of a session, and removes old ones where all are too many. A
// file is there as a whole or not at all.
func (r *recorder) record(e cupelsession.Exchange) error {
	var line bytes.Buffer
	if err := json.Compact(&line, e.Given); err != nil {
		return err
	}
	line.WriteByte('\n')
	r.mu.Lock()
	defer r.mu.Unlock()
	name := e.Session + "." + e.Format.String() + ".jsonl"
	made := name + ".tmp"
	_ = r.root.Remove(made) // of a program that was killed
	file, err := r.root.OpenFile(made, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(line.Bytes())
	if err := errors.Join(err, file.Close()); err != nil {
		return errors.Join(err, r.root.Remove(made))
	}
	if err := r.root.Rename(made, name); err != nil {
		return err
	}
	r.account(name, line.Len())
	for r.total > mostRecorded && len(r.order) > 1 {
		oldest := r.order[0]
		if err := r.root.Remove(oldest); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		r.order, r.total = r.order[1:], r.total-r.sizes[oldest]
		delete(r.sizes, oldest)
	}
	return nil
}
