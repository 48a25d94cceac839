// Package wholefile writes files that are there whole or not at all.
package wholefile

import (
	"errors"
	"os"
	"path/filepath"
)

// Write writes a file that only the user can read, and replaces any file with this
// name. Until it is whole, the file has a temporary name by the pattern of
// [os.CreateTemp], and a crash leaves that file.
func Write(name, pattern string, data []byte) error {
	file, err := os.CreateTemp(filepath.Dir(name), pattern)
	if err != nil {
		return err
	}
	_, err = file.Write(data)
	if err = errors.Join(err, file.Sync(), file.Close()); err == nil {
		err = os.Rename(file.Name(), name)
	}
	if err != nil {
		return errors.Join(err, os.Remove(file.Name()))
	}
	return nil
}
