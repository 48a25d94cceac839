// Package wholefile writes files that are there whole or not at all.
package wholefile

import (
	"errors"
	"os"
	"path/filepath"
)

// Write writes a file that only the user can read, in place of one of this name. Until
// it is whole, it has a name of the pattern [os.CreateTemp], and a crash leaves that.
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
