// Package cupelrecord is a flight recorder of the runs of a pipeline: it keeps what a
// service selected, so that another policy can be tried on it later.
//
//	recorder, err := cupelrecord.New(cupelrecord.Config{Sink: cupelrecord.Folder("recordings")})
//	defer recorder.Close(ctx)
//	window, err := p.Run(ctx, items, budget, pipeline.WithTrace(recorder))
//
// A [Recorder] is a collector. Each run costs the request one copy of the recorded
// data. One goroutine compresses the copies and writes them to segments; the bytes that
// wait for it are bounded. [Stats] counts the runs that found no room or that a sink
// refused, and a [Reader] counts those that are missing.
//
// By default a record has the kind, tokens and score of each candidate, and the
// decision about it. The [observe.Redaction] of the [Config] adds more.
// Runs that failed and streaming runs are not recorded.
package cupelrecord

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	mathrand "math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/wollax/cupel-go/cupel/observe"
)

// Sink opens a segment with a unique name. One goroutine writes a segment, frame by
// frame, and closes it when it is large or old enough. Runs in a segment that fails
// to close count as failed.
type Sink func(name string) (io.WriteCloser, error)

// Extension is the suffix of the names of segments.
const Extension = ".cupelrec"

// Folder returns a sink of files in a folder that only the owner may read. It creates
// the folder if there is none, and never opens an existing file.
func Folder(path string) Sink {
	return func(name string) (io.WriteCloser, error) {
		_ = os.MkdirAll(path, 0o700) // opening the file reports an error
		return os.OpenFile(filepath.Join(path, name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	}
}

// Config configures a [Recorder].
type Config struct {
	// Sink opens the segments. It may be nil if Follow is set.
	Sink Sink
	// Follow, if set, gets each run as a [Reader] would read it, off the request's path and
	// before Close returns; see [Shadow]. While it is slower than the service, runs are
	// dropped and counted.
	Follow func(*Run)
	// Redaction adds to the kinds, tokens and scores of records. A policy can be tried
	// on records that have [observe.PartFields] and the other parts that it reads.
	Redaction observe.Redaction
	// Share is the share of the runs to record. 0 means all.
	Share float64
	// Key, if set, returns a key for a run, such as its trace or tenant. Either all runs
	// of a key are recorded, or none.
	Key func(ctx context.Context) string
	// Trace, if set, returns the id of the run's trace for its record, or that of its
	// conversation, by which replay.Latest finds the last run.
	Trace func(ctx context.Context) string
	// QueueBytes bounds the data that waits to be written; 64 MiB by default, and at most
	// 1 GiB.
	QueueBytes int
	// SegmentBytes and SegmentAge are the size and the age at which a segment
	// ends; 64 MiB and an hour by default.
	SegmentBytes int
	SegmentAge   time.Duration
	// OnError, if set, gets the errors of the sink and of records, from the
	// goroutine that writes.
	OnError func(error)
}

// Recorder records the runs to which it is passed. Create it with [New]. One recorder
// serves any number of concurrent runs. Its methods RecordStageEvent and RecordItemEvent
// do nothing: the observer that StartRun returns records.
type Recorder struct {
	observe.NullTraceCollector

	config  Config
	process string
	queue   chan *run     // has room for all that QueueBytes allow
	done    chan struct{} // closed when the writer has ended

	mu     sync.Mutex
	bytes  int    // of the runs that are pending
	next   uint64 // the number of the next run
	closed bool
	stats  Stats
}

// Stats counts runs. Their sum is the number of runs that were to be recorded.
type Stats struct {
	Written uint64 // runs that the sink took, or Follow if there is no sink
	Dropped uint64 // runs for which the queue had no room, or that ended after Close
	Failed  uint64 // runs that the sink refused, or that no record could hold
	Pending uint64 // runs that wait, or are being written
}

// New starts a recorder. Call [Recorder.Close] at the end.
func New(config Config) (*Recorder, error) {
	if config.Sink == nil && config.Follow == nil {
		return nil, errors.New("cupelrecord: Config.Sink or Config.Follow is required; Folder writes files")
	}
	if !(config.Share >= 0 && config.Share <= 1) {
		return nil, errors.New("cupelrecord: Config.Share must be from 0 to 1")
	}
	config.QueueBytes, config.SegmentBytes = min(cmp.Or(config.QueueBytes, usual), 1<<30), cmp.Or(config.SegmentBytes, usual)
	config.SegmentAge, config.Share = cmp.Or(config.SegmentAge, time.Hour), cmp.Or(config.Share, 1)
	r := &Recorder{config: config, process: rand.Text(), queue: make(chan *run, max(0, config.QueueBytes)/aRun), done: make(chan struct{})}
	go (&writer{Recorder: r}).loop()
	return r, nil
}

// Stats returns the counts so far.
func (r *Recorder) Stats() Stats {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.stats
}

// Close writes the waiting runs and ends the last segment. Runs that end later are
// dropped. If ctx ends first, Close returns its error, and pending runs stay counted as
// such.
func (r *Recorder) Close(ctx context.Context) error {
	if !r.IsEnabled() {
		return nil
	}
	r.mu.Lock()
	if !r.closed {
		r.closed = true
		close(r.queue)
	}
	r.mu.Unlock()
	select {
	case <-r.done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// IsEnabled returns true, except for a recorder without [New].
func (r *Recorder) IsEnabled() bool { return r != nil && r.queue != nil }

// StartRun implements [observe.RunObserver].
func (r *Recorder) StartRun(ctx context.Context, info observe.RunInfo) (context.Context, observe.RunTrace) {
	switch {
	case info.Preparing: // the runs that use it are recorded, with the time of its scores
		return context.WithValue(ctx, r, info.Start), observe.NoTrace{}
	case info.Streaming || !r.samples(ctx):
		return ctx, nil
	}
	if info.Preparation != nil {
		if scored, ok := info.Preparation.Value(r).(time.Time); ok {
			info.Start = scored
		}
	}
	info.Items = slices.Clone(info.Items)
	n := &run{recorder: r, RunInfo: info, bytes: aRun}
	if r.config.Trace != nil {
		n.trace = r.config.Trace(ctx)
	}
	for _, item := range n.Items {
		n.bytes += anItem + len(item.Content())
	}
	return ctx, n
}

// usual is the default of all sizes, in bytes.
const usual = 64 << 20

// The approximate memory of a run and of an item of it.
const aRun, anItem = 512, 256

// samples reports whether to record a run.
func (r *Recorder) samples(ctx context.Context) bool {
	at := mathrand.Float64()
	if r.config.Key != nil {
		seed := sha256.Sum256([]byte(r.config.Key(ctx)))
		at = mathrand.New(mathrand.NewChaCha8(seed)).Float64()
	}
	return at < r.config.Share
}

// run is a run that is recorded.
type run struct {
	observe.NoTrace
	observe.RunInfo
	recorder  *Recorder
	number    uint64
	trace     string
	decisions []observe.Decision
	bytes     int // approximate memory that it keeps
}

// Detail asks for decisions alone.
func (n *run) Detail() observe.TraceDetail { return observe.TraceDetail{Decisions: true} }

// EndRun queues a run that succeeded, unless there is no room. A dropped run has a number
// too, so that readers see the gap.
func (n *run) EndRun(_ context.Context, e observe.RunEnd) {
	if e.Err != nil {
		return
	}
	r := n.recorder
	r.mu.Lock()
	defer r.mu.Unlock()
	n.number, n.decisions = r.next, e.Decisions
	r.next++
	if r.closed || r.bytes+n.bytes > r.config.QueueBytes {
		r.stats.Dropped++
		return
	}
	r.bytes += n.bytes
	r.stats.Pending++
	r.queue <- n
}

// failed passes an error to the callback.
func (r *Recorder) failed(err error) {
	if r.config.OnError != nil {
		r.config.OnError(fmt.Errorf("cupelrecord: %w", err))
	}
}
