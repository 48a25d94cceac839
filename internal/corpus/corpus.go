// Package corpus has what measures of recorded conversations do alike: read lines,
// and count what is done.
package corpus

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"iter"
	"sync"
)

// Lines yields the lines of r that are not blank, without the white space around
// them and without a byte order mark, and their numbers, from 1. It holds one line at a time, of any length. An
// error of r is the last; its number is that of the line that it cuts.
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
			if n == 1 {
				text = bytes.TrimPrefix(text, []byte("\ufeff"))
			}
			if text = bytes.TrimSpace(text); len(text) > 0 && !yield(Line{text, n}, nil) || last {
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

// Progress counts what is done, from several goroutines.
type Progress struct {
	Report func(done int) // never called concurrently; nil disables it

	mu   sync.Mutex
	done int
}

// Add counts n more.
func (p *Progress) Add(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done += n
	if p.Report != nil {
		p.Report(p.done)
	}
}
