package cupelrecord

import (
	"encoding/gob"
	"fmt"
	"io"
	"time"

	"github.com/klauspost/compress/s2"
)

// retryAfter is the pause after an error, since a full disk would get a segment for
// each run.
const retryAfter = time.Second

// writer writes the records. A segment is a stream of records in gob,
// compressed with s2 in frames with a checksum each.
type writer struct {
	*Recorder
	s2      *s2.Writer
	gob     *gob.Encoder   // of the segment
	segment io.WriteCloser // nil if none is open
	opened  int            // segments so far
	size    int            // bytes in the segment
	held    uint64         // runs in the segment
	age     *time.Timer    // of the segment
	retry   time.Time      // when to try again after a failure
	record  record         // the last one, whose memory is reused
}

func (w *writer) loop() {
	defer close(w.done)
	for {
		select {
		case n, ok := <-w.queue:
			if !ok {
				w.end()
				return
			}
			w.writeRun(n)
		case <-w.age.C:
			w.closeSegment()
		}
	}
}

// writeRun writes the record of a run.
func (w *writer) writeRun(n *run) {
	count := &w.stats.Failed
	if err := w.makeRecord(n); err != nil {
		w.failed(err)
	} else if w.write(&w.record) {
		count = &w.stats.Written
		w.held++
	}
	w.settle(n, count)
	if w.size >= w.config.SegmentBytes {
		w.closeSegment()
	}
}

// end ends the last segment with a record of the number of runs.
func (w *writer) end() {
	w.mu.Lock()
	next := w.next
	w.mu.Unlock()
	if w.opened > 0 {
		w.write(&record{Header: Header{Process: w.process, Number: next}, End: true})
	}
	w.closeSegment()
}

// write writes a record, and reports whether it could. An error ends the segment, since a
// part of the record may be there.
func (w *writer) write(r *record) bool {
	now := time.Now() //nolint:forbidigo // no selection depends on it
	if now.Before(w.retry) {
		return false
	}
	err := w.open(now)
	if err == nil {
		err = w.gob.Encode(r)
	}
	if err != nil {
		w.failed(err)
		w.closeSegment()
		w.retry = now.Add(retryAfter)
	}
	return err == nil
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
	w.segment, w.size, w.held = segment, 0, 0
	w.s2.Reset(w)
	w.gob = gob.NewEncoder(w.s2)
	w.opened++
	w.age.Reset(w.config.SegmentAge)
	return nil
}

// Write writes compressed data.
func (w *writer) Write(frame []byte) (int, error) {
	n, err := w.segment.Write(frame)
	w.size += n
	return n, err
}

// closeSegment closes the open segment. If it cannot be closed, its runs may not be
// there.
func (w *writer) closeSegment() {
	if w.segment == nil {
		return
	}
	w.age.Stop()
	err := w.segment.Close()
	w.segment = nil
	if err == nil {
		return
	}
	w.mu.Lock()
	w.stats.Written -= w.held
	w.stats.Failed += w.held
	w.mu.Unlock()
	w.failed(fmt.Errorf("%d runs of a segment may be lost: %w", w.held, err))
}
