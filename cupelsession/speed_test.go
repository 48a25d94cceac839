package cupelsession_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/cupel/placer"
	"github.com/wollax/cupel-go/cupel/slicer"
	"github.com/wollax/cupel-go/cupelrelevance"
	"github.com/wollax/cupel-go/cupelsession"
)

// writer makes items of random words.
type writer struct {
	t    testing.TB
	rng  *rand.Rand
	size int // words of an item
	made int
	text int // bytes of all items
}

func (w *writer) item() *cupel.ContextItem {
	var b strings.Builder
	for range w.size {
		fmt.Fprintf(&b, "word%d ", int(1e4*w.rng.Float64()*w.rng.Float64()*w.rng.Float64()))
	}
	w.made++
	fmt.Fprint(&b, w.made)
	w.text += b.Len()
	return item(w.t, b.String(), 20, cupel.WithTimestamp(time.Unix(int64(w.made), 0)))
}

func (w *writer) items(n int) []*cupel.ContextItem {
	items := make([]*cupel.ContextItem, n)
	for i := range items {
		items[i] = w.item()
	}
	return items
}

// about scores by a question, with an index that other questions share.
func about(t testing.TB, index *cupelrelevance.Index, question string) *pipeline.Pipeline {
	t.Helper()
	p, err := pipeline.New(pipeline.Config{Scorer: cupelrelevance.Must(cupelrelevance.New(index, question)), Slicer: slicer.ScoreGreedy{}, Placer: placer.Chronological{}})
	require.NoError(t, err)
	return p
}

// least is the shortest of several times, which is free of noise.
type least time.Duration

func (l *least) of(f func()) {
	start := time.Now()
	f()
	if took := least(time.Since(start)); *l == 0 || took < *l {
		*l = took
	}
}

func (l least) String() string { return time.Duration(l).String() }

// counting counts the runs of a chooser.
type counting struct {
	*pipeline.Pipeline
	runs  int
	given []*cupel.ContextItem
}

func (c *counting) RunReport(ctx context.Context, items []*cupel.ContextItem, budget cupel.ContextBudget, opts ...pipeline.RunOption) ([]*cupel.ContextItem, *cupel.SelectionReport, error) {
	c.runs++
	c.given = items
	return c.Pipeline.RunReport(ctx, items, budget, opts...)
}

// TestKnownPointers: what a tail is chosen among has the pointers that it had at the
// turn before, since a scorer may know items by these.
func TestKnownPointers(t *testing.T) {
	chooser := &counting{Pipeline: newest(t)}
	s := session(t, chooser, cupelsession.Config{Tail: isRag})
	items := numbered(t, 6)
	question := item(t, "question", 2, cupel.WithSource(cupel.SourceRAG))
	commit(t, next(t, s, append(items[:4:4], question), 50))
	require.Len(t, chooser.given, 1, "nothing is out that it could quote")
	commit(t, next(t, s, items[:5], 50))
	commit(t, next(t, s, items, 50))
	items = append(items, question)
	commit(t, next(t, s, items, 50))
	before := chooser.given
	next(t, s, items, 50)
	require.Equal(t, 4, chooser.runs)
	require.True(t, slices.Equal(before, chooser.given), "given %p, and %p before", chooser.given, before)
}

// TestTurnsThatAppend compares turns over 10,000 candidates with the first turn,
// which chooses: two more items, two in place of the oldest two, and a question
// in the tail, for which items that were dropped are chosen as quotations. A break
// is compared with one run of the chooser that knows the items.
func TestTurnsThatAppend(t *testing.T) {
	if testing.Short() {
		t.Skip("make test-full runs this: it measures time")
	}
	const tokens, smaller = 100_000, 50_000
	for _, test := range []struct {
		name            string
		chooser         func() *pipeline.Pipeline // that knows nothing of earlier turns
		turn, tail, brk least                     // the first turn takes that many times as long, and a break so many runs
	}{
		{"without relevance", func() *pipeline.Pipeline { return newest(t) }, 20, 3, 4},
		{"with relevance", func() *pipeline.Pipeline {
			return about(t, cupelrelevance.Must(cupelrelevance.NewIndex()), "word7 word77 word777")
		}, 50, 5, 2},
	} {
		w := &writer{t: t, rng: rand.New(rand.NewPCG(1, 7)), size: 40}
		items := w.items(10_000)
		var first, more, others, tail, brk, run least
		for range 5 {
			chooser := &counting{Pipeline: test.chooser()}
			s := session(t, chooser, cupelsession.Config{LowWater: .5, Horizon: -1, Cache: cupelsession.AnthropicCache, Tail: isRag})
			turn := func(l *least, items []*cupel.ContextItem, runs int) {
				t.Helper()
				was := chooser.runs
				l.of(func() {
					turn := next(t, s, items, tokens)
					commit(t, turn)
				})
				require.Equal(t, runs, chooser.runs-was, test.name)
			}
			turn(&first, items, 1)
			for range 20 {
				items = append(items, w.items(2)...)
				turn(&more, items, 0)
			}
			for range 20 {
				items = append(items[2:len(items):len(items)], w.items(2)...)
				turn(&others, items, 0)
			}
			for n := range 8 {
				question := item(t, fmt.Sprintf("is there word%d?", n), 5, cupel.WithSource(cupel.SourceRAG), cupel.WithPinned())
				turn(&tail, append(slices.Clip(items), question), 1)
			}
			for range 5 {
				was := chooser.runs
				brk.of(func() {
					turn := next(t, s, items, smaller)
					require.NotNil(t, turn.Break, "half of the budget needs no choice")
					require.Equal(t, cupelsession.BreakForced, turn.Break.Reason)
				})
				require.Equal(t, 1, chooser.runs-was, test.name)
				run.of(func() {
					_, _, err := chooser.RunReport(t.Context(), items, budget(t, smaller))
					require.NoError(t, err)
				})
			}
		}
		t.Logf("%s: first %v, two more 1/%d, two others 1/%d, with a question 1/%d, break 1/%d, which is %.2f runs",
			test.name, first, first/more, first/others, first/tail, first/brk, float64(brk)/float64(run))
		for _, c := range []struct {
			what  string
			took  least
			limit least
		}{
			{"two more items", more, first / test.turn},
			{"two other items", others, first / test.turn},
			{"a question in the tail", tail, first / test.tail},
			{"a break", brk, run * test.brk},
		} {
			assert.LessOrEqual(t, c.took, c.limit, "%s: %s; the first turn took %v, a run of the chooser %v", test.name, c.what, first, run)
		}
	}
}

func isRag(it *cupel.ContextItem) bool { return it.Source() == cupel.SourceRAG }

// TestManyTurns holds a list at one length for many turns: neither what a turn
// allocates nor the memory in use grows, and the session and its index take at
// most 3 times the text. A window must not keep what earlier turns knew of all items.
func TestManyTurns(t *testing.T) {
	turns, length := 10_000, 10_000
	switch {
	case testing.Short():
		turns, length = 400, 500
	case os.Getenv("CUPEL_LONG") != "":
		turns = 100_000
	}
	w := &writer{t: t, rng: rand.New(rand.NewPCG(2, 7)), size: 60}
	items := w.items(length)
	s := session(t, about(t, cupelrelevance.Must(cupelrelevance.NewIndex()), "word7 word77 word777"),
		cupelsession.Config{LowWater: .5, Horizon: -1, Cache: cupelsession.AnthropicCache})
	const parts = 10
	var heaps, allocated []int // at the end of each tenth, and by a turn that does not break
	breaks := 0
	for range parts {
		took := make([]int, 0, turns/parts)
		for range turns / parts {
			items = append(items[2:len(items):len(items)], w.items(2)...)
			before := allocations()
			turn := next(t, s, items, 8*length)
			commit(t, turn)
			took = append(took, allocations()-before)
			if turn.Break != nil {
				breaks++
			}
		}
		slices.Sort(took)
		allocated, heaps = append(allocated, took[len(took)/4]), append(heaps, heap())
	}
	text := 0
	for _, it := range items {
		text += len(it.Content())
	}
	with := heap()
	runtime.KeepAlive(s)
	used := with - heap() // without the items, which the caller has
	runtime.KeepAlive(items)
	t.Logf("%d turns with %d breaks: a turn allocates %d bytes, then %d; the heap has %d bytes, then %d; the session takes %.2f times the text",
		turns, breaks, allocated[1], allocated[parts-1], heaps[1], heaps[parts-1], float64(used)/float64(text))
	require.LessOrEqual(t, allocated[parts-1], allocated[1]+allocated[1]/4)
	require.LessOrEqual(t, heaps[parts-1], heaps[1]+heaps[1]/4)
	require.LessOrEqual(t, used, 3*text)
	require.GreaterOrEqual(t, breaks, 3)
}

// allocations returns the bytes that were allocated until now.
func allocations() int {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.TotalAlloc)
}

// heap returns the bytes that are in use.
func heap() int {
	for range 3 { // pools live for two collections
		runtime.GC()
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}
