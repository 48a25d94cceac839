//go:build unix

package cupelrecord_test

import (
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/cupel/placer"
	"github.com/wollax/cupel-go/cupel/scorer"
	"github.com/wollax/cupel-go/cupel/slicer"
	"github.com/wollax/cupel-go/cupelrecord"
)

// workload returns runs of n items; about half of them fit.
func workload(tb testing.TB, n int) func(opts ...pipeline.RunOption) {
	tb.Helper()
	items := make([]*cupel.ContextItem, n)
	kinds := []cupel.ContextKind{cupel.KindMessage, cupel.KindDocument, cupel.KindToolOutput}
	tokens := 0
	for i := range items {
		size := 50 + i*37%200
		tokens += size
		items[i] = newItem(tb, "item "+strconv.Itoa(i), size, cupel.WithKind(kinds[i%3]), cupel.WithFutureRelevanceHint(float64(i*7919%n)/float64(n)))
	}
	p, err := pipeline.New(pipeline.Config{Scorer: scorer.Reflexive{}, Slicer: slicer.Greedy{}, Placer: placer.Chronological{}})
	require.NoError(tb, err)
	budget, err := cupel.NewContextBudget(tokens, tokens/2)
	require.NoError(tb, err)
	return func(opts ...pipeline.RunOption) {
		_, err := p.Run(tb.Context(), items, budget, opts...)
		require.NoError(tb, err)
	}
}

// TestBenchGuard fails if a recorder costs more than the README promises, compared with
// the same run without one in the same process. Only make bench-guard runs it, since it
// measures time.
func TestBenchGuard(t *testing.T) {
	if os.Getenv("CUPEL_BENCH_GUARD") == "" {
		t.Skip("make bench-guard runs this: it measures time")
	}
	defer debug.SetGCPercent(debug.SetGCPercent(1600)) // as applications' heaps are larger
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))    // so that the writer does not slow the run down in another way
	recorder, err := cupelrecord.New(cupelrecord.Config{Sink: cupelrecord.Folder(t.TempDir())})
	require.NoError(t, err)
	run, recorded := workload(t, 1000), pipeline.WithTrace(recorder)
	const runs = 10
	used := func() time.Duration { // by all threads
		var u syscall.Rusage
		require.NoError(t, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
		return time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	written := func() { // waits for the writer
		for recorder.Stats().Pending > 0 {
			time.Sleep(500 * time.Microsecond)
		}
	}
	measured := func(opts ...pipeline.RunOption) (request, all time.Duration) {
		before, start := used(), time.Now()
		for range runs {
			run(opts...)
		}
		request = time.Since(start)
		written()
		return request, used() - before
	}
	bare, with := time.Duration(math.MaxInt64), time.Duration(math.MaxInt64)
	var bareAll, withAll time.Duration
	const busy = 1.1
	var inRequest, processor float64
	for round := 0; round < 2000 || round < 8000 && (inRequest > 1.15*busy || processor > 2.0*busy); round++ { // interleaved, so that a disturbance affects both
		request, all := measured()
		bare, bareAll = min(bare, request), bareAll+all
		request, all = measured(recorded)
		with, withAll = min(with, request), withAll+all
		inRequest, processor = with.Seconds()/bare.Seconds(), withAll.Seconds()/bareAll.Seconds()
	}
	require.Zero(t, recorder.Stats().Dropped)
	t.Logf("in the request %v, without %v: %.3g times; processor time %.3g times", with/runs, bare/runs, inRequest, processor)
	require.LessOrEqual(t, inRequest, 1.15*busy)
	require.LessOrEqual(t, processor, 2.0*busy)
	require.NoError(t, recorder.Close(t.Context()))
}
