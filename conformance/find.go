package conformance

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// found is a vector's file, or a directory that cannot be read.
type found struct {
	path string
	err  error
}

// errDirectory reports that a path that looks like a vector is a directory.
var errDirectory = errors.New("is a directory")

// find returns the *.toml files of fsys in the order of their paths. Links to
// directories are not followed.
func find(fsys fs.FS) ([]found, error) {
	var files []found
	err := fs.WalkDir(fsys, ".", func(file string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil && file == ".":
			return err
		case err != nil || !entry.IsDir() && path.Ext(file) == ".toml":
			files = append(files, found{file, err})
		}
		return nil
	})
	slices.SortFunc(files, func(a, b found) int { return strings.Compare(a.path, b.path) })
	return files, err
}

// read reads the file. It does not wait for a pipe or other irregular file.
func (f found) read(fsys fs.FS) ([]byte, error) {
	if f.err != nil {
		return nil, f.err
	}
	info, err := fs.Stat(fsys, f.path)
	switch {
	case err != nil:
		return nil, err
	case info.IsDir():
		return nil, errDirectory
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%w: not a regular file", errVector)
	case info.Size() > maxVectorBytes:
		return nil, tooLarge(info.Size())
	}
	return fs.ReadFile(fsys, f.path)
}

func tooLarge(size int64) error {
	return fmt.Errorf("%w: the file has %d bytes, the limit is %d", errVector, size, maxVectorBytes)
}
