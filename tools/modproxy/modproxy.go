// Package modproxy writes modules from a work tree into a directory that the go
// command can use as a module proxy (GOPROXY=file:///dir), so that a test can
// download them like a release.
package modproxy

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/mod/module"
	"golang.org/x/mod/zip"
)

// Add puts the module whose root is dir into the proxy at the given version. It
// packs the files of a release: all files of the module except nested modules.
// An existing version is replaced.
func Add(proxy string, version module.Version, dir string) (err error) {
	escaped, err := module.EscapePath(version.Path)
	if err != nil {
		return err
	}
	folder := filepath.Join(proxy, filepath.FromSlash(escaped), "@v")
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	base := filepath.Join(folder, version.Version)

	info, err := json.Marshal(struct {
		Version string
		Time    time.Time
	}{version.Version, time.Unix(0, 0).UTC()})
	if err != nil {
		return err
	}
	if err := os.WriteFile(base+".info", info, 0o644); err != nil {
		return err
	}
	mod, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	if err != nil {
		return err
	}
	if err := os.WriteFile(base+".mod", mod, 0o644); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(folder, "list"), []byte(version.Version+"\n"), 0o644); err != nil {
		return err
	}

	archive, err := os.Create(base + ".zip")
	if err != nil {
		return err
	}
	defer func() {
		if closeErr := archive.Close(); err == nil {
			err = closeErr
		}
	}()
	if err := zip.CreateFromDir(archive, version, dir); err != nil {
		return fmt.Errorf("pack %s: %w", version, err)
	}
	return nil
}
