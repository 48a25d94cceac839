package cupelrecord

import (
	"bytes"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/klauspost/compress/s2"
)

const retryAfter = time.Second

// writer writes what is recorded. A segment is a stream of s2, whose frames are
// compressed and have a checksum each, of records in gob.
type writer struct {
	*Recorder
	s2      *s2.Writer
	segment io.WriteCloser // nil where none is open
	opened  int            // segments so far
	gob     *gob.Encoder   // of the segment, into the frame; nil before its first record
	size    int            // bytes in the segment, before they were compressed
	held    uint64         // runs in the segment
	age     *time.Timer    // of the segment
	retry   time.Time      // when to try again after a failure
	frame   bytes.Buffer   // what is written next
	record  record         // the last one, whose memory is reused
}

func (w *writer) loop() {
	defer close(w.done)
	for {
		select {
		case <-w.ready:
		case <-w.age.C:
			w.closeSegment()
			continue
		}
		runs, next, last := w.take()
		for _, n := range runs {
			w.write(n)
		}
		if last {
			w.end(next)
			return
		}
	}
}

// write writes the record of a run, in a frame of its own.
func (w *writer) write(n *run) {
	count := &w.stats.Written
	if err := w.encodeRun(n); err != nil {
		w.failed(fmt.Errorf("cupelrecord: a run is not recorded: %w", err))
		count = &w.stats.Failed
	} else if err := w.writeFrame(); err != nil {
		count = &w.stats.Failed
	} else {
		w.held++
	}
	w.settle(n, count)
	if w.size >= w.config.SegmentBytes {
		w.closeSegment()
	}
}

// end ends the last segment with a record that says how many runs there were.
func (w *writer) end(next uint64) {
	if w.opened > 0 {
		_ = w.encode(&record{Header: Header{Process: w.process, Number: next}, End: true}) // it cannot fail
		_ = w.writeFrame()                                                                 // the callback has got the error
	}
	w.closeSegment()
}

// encode appends a record to the frame.
func (w *writer) encode(r *record) error {
	if w.gob == nil {
		w.gob = gob.NewEncoder(&w.frame)
	}
	return w.gob.Encode(r)
}

// errWaiting is for frames soon after an error, which are not tried: a full disk would
// get a segment for each.
var errWaiting = errors.New("cupelrecord: the sink has just failed")

// writeFrame writes the frame to the segment. An error ends the segment, since a part of
// the frame may be there.
func (w *writer) writeFrame() error {
	defer w.frame.Reset()
	now, err := time.Now(), errWaiting //nolint:forbidigo // no selection depends on it
	if !now.Before(w.retry) {
		err = w.open(now)
	}
	if err == nil {
		_, err = w.s2.Write(w.frame.Bytes())
	}
	if err == nil {
		w.size += w.frame.Len()
		return nil
	}
	w.gob = nil // what it said of types is lost
	w.closeSegment()
	if err != errWaiting { //nolint:errorlint // it is never wrapped
		w.failed(fmt.Errorf("cupelrecord: a run is not recorded: %w", err))
		w.retry = now.Add(retryAfter)
	}
	return err
}

// open opens a segment if none is. Names sort by time.
func (w *writer) open(now time.Time) error {
	if w.segment != nil {
		return nil
	}
	segment, err := w.config.Sink(fmt.Sprintf("%s-%s-%06d%s", now.UTC().Format("20060102T150405.000Z"), w.process, w.opened, Extension))
	if err != nil {
		return err
	}
	w.s2.Reset(segment)
	w.segment, w.size, w.held = segment, 0, 0
	w.opened++
	w.age.Reset(w.config.SegmentAge)
	return nil
}

// closeSegment closes the open segment. If it cannot be closed, its runs may not be
// there.
func (w *writer) closeSegment() {
	if w.segment == nil {
		return
	}
	w.age.Stop()
	err := w.segment.Close()
	w.segment, w.gob = nil, nil
	if err == nil {
		return
	}
	w.mu.Lock()
	w.stats.Written -= w.held
	w.stats.Failed += w.held
	w.mu.Unlock()
	w.failed(fmt.Errorf("cupelrecord: %d runs of a segment may be lost: %w", w.held, err))
}
