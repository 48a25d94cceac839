// Package modproxy writes modules from a work tree into a folder that the go
// command reads as a module proxy (GOPROXY=file:///folder), so that a test can
// get them as a consumer would get a release.
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

// Add puts the module whose root is dir into the proxy at the given version.
// It packs what a release would hold: every file of the module, without the
// modules nested in it. A proxy that has the version already gets it anew.
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
