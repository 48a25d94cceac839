//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package cli

import (
	"errors"
	"fmt"
	"os"
)

// lock makes a file next to the one of a name until unlock is called, or fails with
// errLocked if there is one.
func lock(path string) (unlock func() error, err error) {
	name := path + ".lock"
	file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, os.ErrExist) {
		return nil, fmt.Errorf("%w; if none is, remove %s", errLocked, name)
	}
	if err != nil {
		return nil, err
	}
	return func() error { return errors.Join(file.Close(), os.Remove(name)) }, nil
}
