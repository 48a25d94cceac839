//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package cli

import (
	"errors"
	"os"
	"syscall"
)

// lock locks the file of a name until unlock is called, or fails with errLocked. It
// makes the file if there is none, and unlock removes it if it is still empty.
func lock(path string) (unlock func() error, err error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|syscall.O_NONBLOCK, 0o600)
	if err != nil {
		return nil, err
	}
	// The file may be another one by now: saving replaces it.
	still := func() (info os.FileInfo, same bool) {
		info, err := file.Stat()
		now, gone := os.Lstat(path)
		return info, err == nil && gone == nil && os.SameFile(info, now)
	}
	err = syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if _, same := still(); errors.Is(err, syscall.EWOULDBLOCK) || err == nil && !same {
		err = errLocked
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return func() error {
		var err error
		if info, same := still(); same && info.Mode().IsRegular() && info.Size() == 0 {
			err = os.Remove(path)
		}
		return errors.Join(err, file.Close())
	}, nil
}
