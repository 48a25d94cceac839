package cli

import (
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/wollax/cupel-go/internal/corpus"
)

// open opens a file, or standard input for "-", which can be opened once. What
// gzip compressed is uncompressed.
func open(env *Environment, name string) (io.Reader, func(), error) {
	if name == "-" {
		if env.stdinTaken {
			return nil, nil, usagef("standard input can be read once: give a file for the other input")
		}
		env.stdinTaken = true
		return corpus.Uncompressed(env.Stdin), func() {}, nil
	}
	file, err := os.Open(name)
	if err != nil {
		return nil, nil, codedError{err, exitUsage}
	}
	// The file was only read: an error from Close does not matter.
	return corpus.Uncompressed(file), func() { _ = file.Close() }, nil
}

// expanded returns the files that patterns name, sorted for each pattern. A file that
// has the name of a pattern is meant itself.
func expanded(patterns []string) (files []string, err error) {
	for _, pattern := range patterns {
		if _, err := os.Lstat(pattern); err == nil || !strings.ContainsAny(pattern, "*?[") {
			files = append(files, pattern)
			continue
		}
		found, err := filepath.Glob(pattern)
		if err != nil {
			return nil, usagef("%q is no pattern of file names: %w", pattern, err)
		}
		if len(found) == 0 {
			return nil, usagef("no file matches %q", pattern)
		}
		files = append(files, found...)
	}
	return files, nil
}

// readFile reads a file of at most so many bytes, or standard input.
func readFile(env *Environment, name string, most int) ([]byte, error) {
	r, done, err := open(env, name)
	if err != nil {
		return nil, err
	}
	defer done()
	data, err := io.ReadAll(io.LimitReader(r, int64(most)+1))
	switch {
	case err != nil:
		return nil, usagef("%s: %w", shown(name), err)
	case len(data) > most:
		return nil, usagef("%s has more than %d bytes", shown(name), most)
	}
	return data, nil
}

// shown returns how errors name a file.
func shown(name string) string {
	if name == "-" {
		return "standard input"
	}
	return name
}

// isPolicyFile reports whether a name is that of a file, not of a preset.
func isPolicyFile(name string) bool {
	name = strings.ToLower(name)
	return strings.HasSuffix(name, ".json") || strings.HasSuffix(name, ".toml")
}
