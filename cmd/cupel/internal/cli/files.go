package cli

import (
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/wollax/cupel-go/internal/corpus"
	"github.com/wollax/cupel-go/internal/english"
)

// filesBy takes the arguments of a command as the values of a flag for files, before
// cobra asks whether the flag is set. A flag for one file takes one argument.
func filesBy(name string) cobra.PositionalArgs {
	return func(command *cobra.Command, args []string) error {
		flag := command.Flags().Lookup(name)
		for _, file := range args {
			if flag.Changed && flag.Value.Type() == "string" {
				return usagef("%s takes one file: %s is one too many", command.CommandPath(), file)
			}
			must(command.Flags().Set(name, file))
		}
		return nil
	}
}

// open opens a file, or standard input for "-", which can be opened once. It
// uncompresses gzip. Reading more than --max-input fails.
func open(env *Environment, name string) (io.Reader, func(), error) {
	in, done := env.Stdin, func() {}
	switch {
	case name != "-":
		if info, err := os.Lstat(name); err == nil && info.Mode()&os.ModeNamedPipe != 0 {
			note(env, fmt.Sprintf("%s is a pipe: waiting for a program that writes to it", name))
		}
		file, err := os.Open(name)
		if err != nil {
			return nil, nil, codedError{err, exitUsage}
		}
		// The file was only read: an error from Close does not matter.
		in, done = file, func() { _ = file.Close() }
	case env.stdinTaken:
		return nil, nil, usagef("standard input can be read once: give a file for the other input")
	default:
		env.stdinTaken = true
	}
	most := env.mostInput(math.MaxInt)
	return &bounded{corpus.Uncompressed(in), most, usagef("more than %s bytes; --max-input reads more", english.Grouped(most))}, done, nil
}

// bounded is a reader that fails beyond a number of bytes.
type bounded struct {
	io.Reader
	left int
	err  error
}

// Read implements [io.Reader].
func (b *bounded) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p[:min(len(p), b.left+1)])
	if n > b.left {
		return b.left, b.err
	}
	b.left -= n
	return n, err
}

// filesIn returns the files. It replaces folders with the files in them that have the
// suffix, in the order of their names.
func filesIn(ending string, names ...string) (files []string) {
	for _, name := range names {
		entries, err := os.ReadDir(name)
		if err != nil {
			files = append(files, name) // opening it reports an error
			continue
		}
		for _, entry := range entries {
			if entry.Type().IsRegular() && strings.HasSuffix(entry.Name(), ending) {
				files = append(files, filepath.Join(name, entry.Name()))
			}
		}
	}
	return files
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

// shown returns the name of a file for errors.
func shown(name string) string {
	if name == "-" {
		return "standard input"
	}
	return name
}

// isPolicyFile reports whether a name is the name of a file, not of a preset.
func isPolicyFile(name string) bool {
	name = strings.ToLower(name)
	return strings.HasSuffix(name, ".json") || strings.HasSuffix(name, ".toml")
}
