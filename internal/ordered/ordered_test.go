package ordered_test

import (
	"context"
	"errors"
	"iter"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/wollax/cupel-go/internal/ordered"
)

var (
	errWork  = errors.New("work")
	errInput = errors.New("input")
)

// below yields the numbers below n, and then an error if there is one. It counts what
// is read.
func below(n int, err error, read *int) iter.Seq2[int, error] {
	return func(yield func(int, error) bool) {
		for i := range n {
			*read++
			if !yield(i, nil) {
				return
			}
		}
		if err != nil {
			yield(0, err)
		}
	}
}

func TestMap(t *testing.T) {
	processors := runtime.GOMAXPROCS(0)
	for _, row := range []struct {
		name     string
		canceled bool
		n        int
		err      error // of the inputs
		fail     int   // the input whose work fails
		stop     int   // after so many results
		want     int   // results
		end      error
		why      string
	}{
		{"none", false, 0, nil, -1, -1, 0, nil, "nothing to do"},
		{"all", false, 100, nil, -1, -1, 100, nil, "each has a result"},
		{"work fails", false, 100, nil, 40, -1, 40, errWork, "those before it have results"},
		{"inputs fail", false, 7, errInput, -1, -1, 7, errInput, "those before it have results"},
		{"work fails first", false, 7, errInput, 5, -1, 5, errWork, "the first error in the order of the inputs"},
		{"stopped", false, 100, nil, -1, 3, 3, nil, "the loop ends"},
		{"canceled", true, 100, nil, -1, -1, 0, context.Canceled, "nothing begins"},
	} {
		for workers := range 4 {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				if row.canceled {
					cancel()
				}
				var running, most atomic.Int64
				var ends []error
				read, got := 0, 0
				for out, err := range ordered.Map(ctx, workers, below(row.n, row.err, &read), func(_ context.Context, i int, err error) (int, error) {
					most.Store(max(most.Load(), running.Add(1)))
					defer running.Add(-1)
					time.Sleep(time.Duration(1+i%7) * time.Millisecond) // of the bubble
					if i == row.fail {
						return 0, errWork
					}
					return i * i, err
				}) {
					if err != nil {
						ends = append(ends, err)
						continue
					}
					assert.Equal(t, got*got, out, "%s: %s", row.name, row.why)
					if got++; got == row.stop {
						break
					}
				}
				assert.Equal(t, row.want, got, "%s: results with %d workers: %s", row.name, workers, row.why)
				if row.end == nil {
					assert.Empty(t, ends, row.name)
				} else if assert.Len(t, ends, 1, "%s: nothing comes after an error", row.name) {
					assert.ErrorIs(t, ends[0], row.end, "%s: %s", row.name, row.why)
				}
				assert.Zero(t, running.Load(), "%s: no work goes on", row.name)
				if row.canceled {
					assert.LessOrEqual(t, read, 1, "who cancels waits for no more inputs")
				}
				if row.name != "all" {
					return
				}
				if workers == 0 {
					workers = processors
				}
				assert.EqualValues(t, workers, most.Load(), "all workers work at a time")
			})
		}
	}
}

// TestHeld holds how many inputs are read before their results are taken.
func TestHeld(t *testing.T) {
	for _, row := range []struct {
		name  string
		first time.Duration // how long the first takes
		want  int
		why   string
	}{
		{"even", 0, 2, "a result is yielded when the next input was read at the latest"},
		{"slow", time.Hour, 8, "four results for each of two workers may wait for a slow one"},
	} {
		synctest.Test(t, func(t *testing.T) {
			read, got, most := 0, 0, 0
			inputs := func(yield func(int, error) bool) {
				for i := range 100 {
					read++
					most = max(most, read-got)
					synctest.Wait() // until what can be done is done
					if !yield(i, nil) {
						return
					}
				}
			}
			for out, err := range ordered.Map(t.Context(), 2, inputs, func(_ context.Context, i int, err error) (int, error) {
				if i == 0 {
					time.Sleep(row.first)
				}
				return i, err
			}) {
				assert.NoError(t, err)
				assert.Equal(t, got, out)
				got++
			}
			assert.Equal(t, row.want, most, "%s: %s", row.name, row.why)
		})
	}
}

// TestStop ends the loop while work waits for its context: it is canceled.
func TestStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		read, ended := 0, false
		for _, err := range ordered.Map(t.Context(), 2, below(2, nil, &read), func(ctx context.Context, i int, err error) (int, error) {
			if i == 0 {
				time.Sleep(time.Second) // until the other one has begun
				return i, err
			}
			<-ctx.Done()
			ended = true
			return i, err
		}) {
			assert.NoError(t, err)
			break
		}
		assert.True(t, ended)
	})
}
