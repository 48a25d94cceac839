package ordered_test

import (
	"context"
	"errors"
	"iter"
	"sync/atomic"
	"testing"
	"time"

	"github.com/wollax/cupel-go/internal/ordered"
)

var errWork = errors.New("work")

// below yields the numbers below n, and then an error if there is one.
func below(n int, err error) iter.Seq2[int, error] {
	return func(yield func(int, error) bool) {
		for i := range n {
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
	errInput := errors.New("input")
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	for _, row := range []struct {
		name string
		ctx  context.Context //nolint:containedctx // a row of a table
		n    int
		err  error // of the inputs
		fail int   // the input whose work fails
		stop int   // after so many results
		want int   // results
		end  error
		why  string
	}{
		{"all", t.Context(), 100, nil, -1, -1, 100, nil, "each has a result"},
		{"none", t.Context(), 0, nil, -1, -1, 0, nil, "nothing to do"},
		{"work fails", t.Context(), 100, nil, 40, -1, 40, errWork, "those before it have results"},
		{"inputs fail", t.Context(), 7, errInput, -1, -1, 7, errInput, "those before it have results"},
		{"work fails first", t.Context(), 7, errInput, 5, -1, 5, errWork, "the first error in the order of the inputs"},
		{"stopped", t.Context(), 100, nil, -1, 3, 3, nil, "the loop ends"},
		{"canceled", canceled, 100, nil, -1, -1, 0, context.Canceled, "nothing begins"},
	} {
		for workers := range 4 {
			var running, most atomic.Int64
			got := 0
			var end error
			for out, err := range ordered.Map(row.ctx, workers, below(row.n, row.err), func(_ context.Context, i int, err error) (int, error) {
				most.Store(max(most.Load(), running.Add(1)))
				defer running.Add(-1)
				if i%7 == 0 {
					time.Sleep(time.Millisecond)
				}
				if err != nil {
					return 0, err
				}
				if i == row.fail {
					return 0, errWork
				}
				return i * i, nil
			}) {
				if err != nil {
					end = err
					break
				}
				if out != got*got {
					t.Fatalf("%s: result %d is %d: %s", row.name, got, out, row.why)
				}
				if got++; got == row.stop {
					break
				}
			}
			if got != row.want || !errors.Is(end, row.end) || running.Load() != 0 || workers > 0 && most.Load() > int64(workers) {
				t.Errorf("%s: %d results, error %v, %d of %d still running with %d workers: %s", row.name, got, end, running.Load(), most.Load(), workers, row.why)
			}
		}
	}
}
