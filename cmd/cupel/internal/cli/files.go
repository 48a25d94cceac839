package cli

import (
	"bufio"
	"compress/gzip"
	"io"
	"os"
	"strings"
)

// open opens a file, or standard input for "-", which can be opened once. What
// gzip compressed is uncompressed.
func open(env *Environment, name string) (io.Reader, func(), error) {
	if name == "-" {
		if env.stdinTaken {
			return nil, nil, usagef("standard input can be read once: give a file for the other input")
		}
		env.stdinTaken = true
		r, err := uncompressed(name, env.Stdin)
		return r, func() {}, err
	}
	file, err := os.Open(name)
	if err != nil {
		return nil, nil, codedError{err, exitUsage}
	}
	// The file was only read: an error from Close does not matter.
	done := func() { _ = file.Close() }
	r, err := uncompressed(name, file)
	if err != nil {
		done()
	}
	return r, done, err
}

// gzipMagic is how each file of gzip begins.
const gzipMagic = "\x1f\x8b"

// uncompressed returns a reader of what gzip compressed, or of the text as it is.
func uncompressed(name string, r io.Reader) (io.Reader, error) {
	buffered := bufio.NewReader(r)
	if begins, _ := buffered.Peek(len(gzipMagic)); string(begins) != gzipMagic { // reading it reports an error
		return buffered, nil
	}
	unzipped, err := gzip.NewReader(buffered)
	if err != nil {
		return nil, usagef("%s: what gzip compressed cannot be read: %w", shown(name), err)
	}
	return unzipped, nil
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
