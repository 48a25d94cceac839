// Package corpus has what measures of recorded conversations do alike: read lines,
// count what is done, and add up what each conversation says.
package corpus

import (
	"bufio"
	"bytes"
	"context"
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

// All returns what a reader yields, or its first error.
func All[C any](conversations iter.Seq2[C, error]) ([]C, error) {
	var all []C
	for c, err := range conversations {
		if err != nil {
			return nil, err
		}
		all = append(all, c)
	}
	return all, nil
}

// Measure measures conversations with samples, in their order, and adds up the
// samples. It ends with the first error: of samples, of a sample, which failed
// returns, of add, or ctx.Err().
func Measure[C, S any](ctx context.Context, conversations []C, samples func(context.Context, iter.Seq2[C, error]) iter.Seq2[S, error], failed, add func(*S) error) error {
	for s, err := range samples(ctx, func(yield func(C, error) bool) {
		for _, c := range conversations {
			if !yield(c, nil) {
				return
			}
		}
	}) {
		if err == nil {
			err = failed(&s)
		}
		if err == nil {
			err = add(&s)
		}
		if err != nil {
			return err
		}
	}
	return ctx.Err()
}

// Progress counts what is done, from several goroutines.
type Progress struct {
	Report func(done, total int) // never called concurrently; nil disables it
	Total  int                   // 0 if it is unknown

	mu   sync.Mutex
	done int
}

// Add counts n more.
func (p *Progress) Add(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done += n
	if p.Report != nil {
		p.Report(p.done, p.Total)
	}
}
