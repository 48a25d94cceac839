// Package corpus has the common parts of measures of recorded conversations:
// reading lines, and counting.
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

// Uncompressed returns a reader that uncompresses gzip, or reads other text as
// it is.
func Uncompressed(r io.Reader) io.Reader {
	buffered := bufio.NewReader(r)
	if begins, _ := buffered.Peek(len(gzipMagic)); string(begins) != gzipMagic { // reading it reports an error
		return buffered
	}
	unzipped, err := gzip.NewReader(buffered)
	if err != nil {
		return failing{fmt.Errorf("the gzip data cannot be read: %w", err)}
	}
	return unzipped
}

// gzipMagic begins each gzip file.
const gzipMagic = "\x1f\x8b"

// failing is a reader that has only an error.
type failing struct{ error }

// Read returns the error.
func (f failing) Read([]byte) (int, error) { return 0, f.error }

// Source remembers the error of a reader, which tells it from that of damaged data.
type Source struct {
	io.Reader
	Err error // other than the end
}

// Read implements [io.Reader].
func (s *Source) Read(p []byte) (int, error) {
	n, err := s.Reader.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		s.Err = err
	}
	return n, err
}

// Trim returns a line without the white space around it and without a byte order mark,
// which begins each file of those that were joined.
func Trim(line []byte) []byte {
	return bytes.TrimSpace(bytes.TrimPrefix(line, []byte("\ufeff")))
}

// Lines yields the lines of r that are not blank, trimmed, and their numbers, from 1.
// It holds one line at a time, of any length. An error of r ends the sequence; its
// number is the number of the line that it cuts. Of a segment of package cupelrecord, it
// yields each run as a conversation in JSON.
func Lines(r io.Reader) iter.Seq2[Line, error] {
	return func(yield func(Line, error) bool) {
		in := bufio.NewReaderSize(r, 1<<16)
		if begins, _ := in.Peek(len(segmentMagic)); string(begins) == segmentMagic { // reading it reports an error
			runs(in, yield)
			return
		}
		for n := 1; ; n++ {
			text, err := in.ReadBytes('\n')
			last := errors.Is(err, io.EOF)
			if err != nil && !last {
				yield(Line{Number: n}, err)
				return
			}
			if text = Trim(text); len(text) > 0 && !yield(Line{Text: text, Number: n}, nil) || last {
				return
			}
		}
	}
}

// Line is a line of a file.
type Line struct {
	Text         []byte
	Number       int    // 0 for a recorded run
	Conversation string // the id of that of a recorded run; "" for others
	Rank         string // of such a run: the longest one of a conversation has the highest
}
