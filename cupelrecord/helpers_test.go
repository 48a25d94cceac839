package cupelrecord_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/observe"
	"github.com/wollax/cupel-go/cupelrecord"
)

func newItem(tb testing.TB, content string, tokens int, opts ...cupel.ItemOption) *cupel.ContextItem {
	tb.Helper()
	item, err := cupel.NewContextItem(content, tokens, opts...)
	require.NoError(tb, err)
	return item
}

func newRecorder(tb testing.TB, config cupelrecord.Config) *cupelrecord.Recorder {
	tb.Helper()
	recorder, err := cupelrecord.New(config)
	require.NoError(tb, err)
	return recorder
}

// start is the time of runs that observed records.
var start = time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)

// observed goes through a run as a pipeline does, and returns whether it was recorded.
func observed(ctx context.Context, tb testing.TB, r *cupelrecord.Recorder, items ...*cupel.ContextItem) bool {
	tb.Helper()
	budget, err := cupel.NewContextBudget(100, 50)
	require.NoError(tb, err)
	if len(items) == 0 {
		items = []*cupel.ContextItem{newItem(tb, "a", 1)}
	}
	_, trace := r.StartRun(ctx, observe.RunInfo{Start: start, Items: items, Budget: budget})
	if trace == nil {
		return false
	}
	require.Equal(tb, observe.TraceDetail{Decisions: true}, trace.Detail())
	trace.EndRun(ctx, observe.RunEnd{Decisions: make([]observe.Decision, len(items))})
	return true
}

// store is a sink in memory that may fail.
type store struct {
	mu       sync.Mutex
	names    []string
	segments []*bytes.Buffer
	closed   int
	room     int           // bytes that may be written; negative for any number
	open     error         // what opening fails with
	close    error         // what closing fails with
	hold     chan struct{} // writes wait until it is closed; nil for no wait
	held     chan struct{} // gets a value when a write waits
}

var errFull = errors.New("no space left on the device")

func (s *store) sink(name string) (io.WriteCloser, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open != nil {
		return nil, s.open
	}
	s.names, s.segments = append(s.names, name), append(s.segments, new(bytes.Buffer))
	return &stored{s, s.segments[len(s.segments)-1]}, nil
}

// stored is a segment of a store.
type stored struct {
	*store
	to *bytes.Buffer
}

func (s *stored) Write(data []byte) (int, error) {
	if s.hold != nil {
		s.held <- struct{}{}
		<-s.hold
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.room >= 0 && len(data) > s.room {
		n, _ := s.to.Write(data[:s.room])
		s.room = 0
		return n, errFull
	}
	if s.room >= 0 {
		s.room -= len(data)
	}
	return s.to.Write(data)
}

func (s *stored) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed++
	return s.close
}

// closes returns how many segments were closed.
func (s *store) closes() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.closed
}

// all returns what is read from the segments: the runs, how many are said to be missing,
// the processes that did not close, and other errors.
func (s *store) all() (runs []*cupelrecord.Run, missing uint64, open []string, errs []error) {
	var readers []io.Reader
	for _, segment := range s.segments {
		readers = append(readers, bytes.NewReader(segment.Bytes()))
	}
	return readAll(readers...)
}

func readAll(segments ...io.Reader) (runs []*cupelrecord.Run, missing uint64, open []string, errs []error) {
	var reader cupelrecord.Reader
	for _, segment := range segments {
		for run, err := range reader.Read(segment) {
			if err != nil {
				errs = append(errs, err)
			} else {
				runs = append(runs, run)
			}
		}
	}
	return runs, reader.Missing, reader.Open(), errs
}

// numbers are those of runs.
func numbers(runs []*cupelrecord.Run) (all []uint64) {
	for _, run := range runs {
		all = append(all, run.Number)
	}
	slices.Sort(all)
	return all
}
