// Package corpus has what measures of recorded conversations do alike: read lines,
// and count what is done.
package corpus

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"iter"
)

// Uncompressed returns a reader of what gzip compressed, or of the text as it is.
func Uncompressed(r io.Reader) io.Reader {
	buffered := bufio.NewReader(r)
	if begins, _ := buffered.Peek(len(gzipMagic)); string(begins) != gzipMagic { // reading it reports an error
		return buffered
	}
	unzipped, err := gzip.NewReader(buffered)
	if err != nil {
		return failing{fmt.Errorf("what gzip compressed cannot be read: %w", err)}
	}
	return unzipped
}

// gzipMagic is how each file of gzip begins.
const gzipMagic = "\x1f\x8b"

// failing is a reader that has only an error.
type failing struct{ error }

// Read returns the error.
func (f failing) Read([]byte) (int, error) { return 0, f.error }

// Trim returns a line without the white space around it and without a byte order mark,
// which begins each file of those that were joined.
func Trim(line []byte) []byte {
	return bytes.TrimSpace(bytes.TrimPrefix(line, []byte("\ufeff")))
}

// Lines yields the lines of r that are not blank, trimmed, and their numbers, from 1.
// It holds one line at a time, of any length. An error of r is the last; its number is
// that of the line that it cuts.
func Lines(r io.Reader) iter.Seq2[Line, error] {
	return func(yield func(Line, error) bool) {
		in := bufio.NewReaderSize(r, 1<<16)
		for n := 1; ; n++ {
			text, err := in.ReadBytes('\n')
			last := errors.Is(err, io.EOF)
			if err != nil && !last {
				yield(Line{Number: n}, err)
				return
			}
			if text = Trim(text); len(text) > 0 && !yield(Line{text, n}, nil) || last {
				return
			}
		}
	}
}

// Line is a line of a file.
type Line struct {
	Text   []byte
	Number int
}
