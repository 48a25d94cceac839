package cupelrecord

import (
	"encoding/gob"
	"fmt"
	"io"
	"time"

	"github.com/klauspost/compress/s2"
)

// writer writes the records. A segment is a stream of records in gob,
// compressed with s2 in frames with a checksum each.
type writer struct {
	*Recorder
	gob     *gob.Encoder     // of the segment
	segment io.WriteCloser   // nil if none is open
	size    int              // bytes in the segment
	held    uint64           // runs in the segment
	age     <-chan time.Time // of the segment
	retry   time.Time        // when to try again after a failure
	record  record           // the last one, whose memory is reused
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
		case <-w.age:
			w.closeSegment()
		}
	}
}

// writeRun writes the record of a run, and counts the outcome.
func (w *writer) writeRun(n *run) {
	count := &w.stats.Failed
	if err := w.follow(n); err != nil {
		w.failed(err)
	} else if w.write(&w.record) {
		count = &w.stats.Written
		w.held++
	}
	w.mu.Lock()
	w.bytes -= n.bytes
	w.stats.Pending--
	*count++
	w.mu.Unlock()
	if w.size >= w.config.SegmentBytes {
		w.closeSegment()
	}
}

// follow makes the record of a run for Follow and the sink.
func (w *writer) follow(n *run) (err error) {
	defer func() {
		if v := recover(); v != nil { // without the value, which may quote an item
			err = fmt.Errorf("a function of the config panicked with a %T", v)
		}
	}()
	err = w.makeRecord(n)
	if err != nil || w.config.Follow == nil {
		return err
	}
	made, err := w.record.run()
	if err == nil {
		w.config.Follow(made)
	}
	return err
}

// end ends the last segment with a record of the number of runs.
func (w *writer) end() {
	w.mu.Lock()
	next := w.next
	w.mu.Unlock()
	if next > 0 {
		w.write(&record{Header: Header{Process: w.process, Number: next}, End: true})
	}
	w.closeSegment()
}

// write writes a record, and reports whether it could. An error ends the segment, since a
// part of the record may be there.
func (w *writer) write(r *record) bool {
	if w.config.Sink == nil {
		return true
	}
	now := time.Now() //nolint:forbidigo // no selection depends on it
	if now.Before(w.retry) {
		return false
	}
	err := w.open(now, r.Number)
	if err == nil {
		err = w.gob.Encode(r)
	}
	if err != nil {
		w.failed(err)
		w.closeSegment()
		w.retry = now.Add(time.Second) // a full disk would get a segment for each run
	}
	return err == nil
}

// open opens a segment if none is, with the number of its first record. Names sort by
// time.
func (w *writer) open(now time.Time, number uint64) error {
	if w.segment != nil {
		return nil
	}
	segment, err := w.config.Sink(fmt.Sprintf("%s-%s-%06d%s", now.UTC().Format("20060102T150405.000Z"), w.process, number, Extension))
	if err != nil {
		return err
	}
	w.segment, w.size, w.held = segment, 0, 0
	w.gob = gob.NewEncoder(s2.NewWriter(w, s2.WriterConcurrency(1), s2.WriterFlushOnWrite()))
	w.age = time.After(w.config.SegmentAge)
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
