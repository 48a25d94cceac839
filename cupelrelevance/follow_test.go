package cupelrelevance

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wollax/cupel-go/cupel"
)

// edited is a list that changes at random.
type edited struct {
	t     testing.TB
	r     *rand.Rand
	items []*cupel.ContextItem
	gone  []*cupel.ContextItem // that were in it
}

// edit changes the list in one of the ways in which lists change, and says how.
func (e *edited) edit() string {
	at := func() int { return e.r.IntN(len(e.items)) }
	with := func(opts ...cupel.ItemOption) {
		i := at()
		changed, err := e.items[i].With(opts...)
		if err != nil {
			e.t.Fatal(err)
		}
		e.gone = append(e.gone, e.items[i])
		e.items[i] = changed
	}
	e.items = slices.Clone(e.items)
	if len(e.items) == 0 {
		e.items = randomItems(e.t, e.r, 1+e.r.IntN(12))
		return "begin"
	}
	switch e.r.IntN(16) {
	case 0:
		i := at()
		e.gone = append(e.gone, e.items[i])
		e.items = slices.Delete(e.items, i, i+1)
		return "remove"
	case 1:
		i := at()
		e.gone = append(e.gone, e.items[i])
		e.items[i] = randomItems(e.t, e.r, 1)[0]
		return "replace"
	case 2:
		i, k := at(), at()
		e.items[i], e.items[k] = e.items[k], e.items[i]
		return "swap"
	case 3:
		e.r.Shuffle(len(e.items), func(i, k int) { e.items[i], e.items[k] = e.items[k], e.items[i] })
		return "shuffle"
	case 4:
		with(cupel.WithMetadata(map[string]any{"session": fmt.Sprint(e.r.IntN(4)), "speaker": "roof"}))
		return "regroup"
	case 5:
		with(cupel.WithMetadata(nil))
		return "drop metadata"
	case 6:
		with(cupel.WithTimestamp(time.Date(2025, 1, 1, 0, e.r.IntN(300), 0, 0, time.UTC)))
		return "another time"
	case 7:
		with(cupel.WithTags("meeting", "42"))
		return "retag"
	case 8:
		if len(e.gone) > 0 {
			e.items = slices.Insert(e.items, at(), e.gone[e.r.IntN(len(e.gone))])
		}
		return "bring back"
	case 9:
		e.items = append(e.items, e.items[at()])
		return "repeat"
	case 10:
		from := at()
		e.gone = append(e.gone, e.items[:from]...)
		e.items = e.items[from:]
		return "cut the beginning"
	case 11:
		i := at()
		e.items = slices.Insert(e.items, i, randomItems(e.t, e.r, 1+e.r.IntN(3))...)
		return "insert"
	case 12:
		// The same term as a word and as an identifier.
		e.items = append(e.items, item(e.t, []string{"getheaders", "getHeaders"}[e.r.IntN(2)]))
		return "append a word or identifier"
	default:
		e.items = append(e.items, randomItems(e.t, e.r, 1+e.r.IntN(4))...)
		return "append"
	}
}

// TestFollowedIsFresh edits lists at random: the index that follows them gives
// the same bits as a fresh one. Two lists take turns in it.
func TestFollowedIsFresh(t *testing.T) {
	n := 2_000
	switch {
	case testing.Short():
		n = 60
	case os.Getenv("CUPEL_LONG") != "":
		n = 10_000
	}
	const query = "getheaders meeting roof snake_case 会議室 http résumé die"
	kept, moved := 0, 0
	for seed := range uint64(n) {
		r := rand.New(rand.NewPCG(seed, 21))
		lists := [2]*edited{{t: t, r: r}, {t: t, r: r}}
		index := Must(NewIndex())
		scorers := scorersOf(index, query)
		at := r.IntN(len(scorers))
		var steps []string
		for range 10 {
			e := lists[r.IntN(8)/7]
			steps = append(steps, e.edit())
			if r.IntN(4) == 0 {
				steps = append(steps, e.edit())
			}
			var before *corpus
			if len(index.lists) > 0 {
				before = index.lists[0].corpus
			}
			got := scoresOf(t, scorers[at], e.items)
			fresh := scorersFor(query)[at]
			want := scoresOf(t, fresh, e.items)
			for i := range want {
				if math.Float64bits(got[i]) != math.Float64bits(want[i]) {
					t.Fatalf("seed %d, %T, after %q: item %d scores %v, want %v", seed, fresh, steps, i, got[i], want[i])
				}
			}
			if index.lists[0].corpus == before {
				kept++
			} else {
				moved++
			}
		}
	}
	if kept < moved || moved == 0 {
		t.Errorf("%d times the index went on, %d times it began again; the edits must make it do both", kept, moved)
	}
}

// TestFollowReadsNewItems counts the items whose text is read.
func TestFollowReadsNewItems(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 22))
	items := manyItems(t, 2000, 5)
	index := Must(NewIndex())
	relevance := Must(New(index, benchQuery()))
	scoresOf(t, relevance, items[:1000])
	read := len(index.lists[0].corpus.numbers)
	for step, change := range []struct {
		items []*cupel.ContextItem
		read  int
		why   string
	}{
		{items[:1002], 2, "two were appended"},
		{items[2:1002], 0, "two were removed"},
		{append([]*cupel.ContextItem{items[1500]}, items[2:1002]...), 1, "one was put first"},
		{slices.Concat(items[500:1002], items[2:500]), 0, "two halves were swapped"},
		{shuffled(r, items[2:1002]), 0, "all have other places"},
		{items[:1004], 2, "those that were removed came back"},
		{items[:1], 0, "all but one were removed"},
	} {
		scoresOf(t, relevance, change.items)
		now := len(index.lists[0].corpus.numbers)
		if now-read != change.read {
			t.Errorf("step %d: %d items were read, want %d: %s", step, now-read, change.read, change.why)
		}
		read = now
	}
	scoresOf(t, relevance, items[900:2000])
	if c := index.lists[0].corpus; len(c.numbers) != 1100 {
		t.Errorf("a list of 1,100 items, most of them new, shares an index of %d", len(c.numbers))
	}
}

// TestSegments appends to a list, an item at a time: segments stay few, and each is
// joined a few times.
func TestSegments(t *testing.T) {
	items := manyItems(t, 400, 8)
	index := Must(NewIndex())
	most := 0
	for n := 100; n <= len(items); n++ {
		l, err := index.of(t.Context(), items[:n])
		require.NoError(t, err)
		segments := l.corpus.segments
		most = max(most, len(segments))
		rest := 0
		for i, s := range segments[1:] {
			rest += s.size()
			assert.True(t, i == 0 || 2*s.size() <= segments[i].size(), "with %d items, segment %d is more than half of the one before it", n, i+1)
		}
		assert.LessOrEqual(t, rest*tail, segments[0].size(), "with %d items, the first segment is too small", n)
	}
	assert.Greater(t, most, 2, "most items are not joined at once")
}

func shuffled(r *rand.Rand, items []*cupel.ContextItem) []*cupel.ContextItem {
	items = slices.Clone(items)
	r.Shuffle(len(items), func(i, k int) { items[i], items[k] = items[k], items[i] })
	return items
}

// TestFollowCosts compares following a list of 10,000 items, two of them new,
// with indexing it, by what is allocated: what indexes an item again, or copies a
// segment, allocates for it.
func TestFollowCosts(t *testing.T) {
	items := manyItems(t, 10060, 60)
	index := Must(NewIndex())
	const n = 10000
	allocated := func(index *Index, items []*cupel.ContextItem) uint64 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := index.of(t.Context(), items)
		runtime.ReadMemStats(&after)
		require.NoError(t, err)
		return after.TotalAlloc - before.TotalAlloc
	}
	build := allocated(index, items[:n])
	var grow, move []uint64
	from, to := 0, n
	for range 15 {
		to += 2
		grow = append(grow, allocated(index, items[from:to]))
		from, to = from+2, to+2
		move = append(move, allocated(index, items[from:to]))
	}
	slices.Sort(grow) // segments are joined now and then
	slices.Sort(move)
	g, m := grow[len(grow)/2], move[len(move)/2]
	t.Logf("build %d bytes, two more %d (1/%d), two more and two fewer %d (1/%d)", build, g, build/g, m, build/m)
	assert.LessOrEqual(t, g*50, build, "two more items")
	assert.LessOrEqual(t, m*50, build, "two more items and two fewer")
}

// TestFollowMemory moves a list on until all of its items are others: the index
// takes about as much as a fresh one.
func TestFollowMemory(t *testing.T) {
	n, size, step := 2000, 100, 4
	if testing.Short() {
		n, size, step = 500, 50, 20
	}
	items := manyItems(t, 3*n, size)
	used := func(index *Index, lists func(func([]*cupel.ContextItem) bool)) int {
		before := heap()
		for list := range lists {
			if _, err := index.of(t.Context(), list); err != nil {
				t.Fatal(err)
			}
		}
		return heap() - before
	}
	index, other := Must(NewIndex()), Must(NewIndex())
	moved := used(index, func(yield func([]*cupel.ContextItem) bool) {
		for from := 0; from < 2*n && yield(items[from:from+n]); from += step {
		}
	})
	fresh := used(other, func(yield func([]*cupel.ContextItem) bool) { yield(items[2*n:]) })
	runtime.KeepAlive(index)
	runtime.KeepAlive(other)
	runtime.KeepAlive(items)
	t.Logf("%d bytes after all items were replaced, %d fresh: %.2f", moved, fresh, float64(moved)/float64(fresh))
	if float64(moved) > 1.4*float64(fresh) {
		t.Errorf("the index takes %d bytes after all items were replaced, want at most 1.4 times the %d of a fresh one", moved, fresh)
	}
}

// TestFollowConcurrently follows a list on some goroutines while others score
// earlier versions of it.
func TestFollowConcurrently(t *testing.T) {
	items := randomItems(t, rand.New(rand.NewPCG(8, 23)), 300)
	const query, length, versions = "meeting roof using", 60, 100
	want := make([][]float64, versions)
	for v := range want {
		want[v] = scoresOf(t, Must(New(Must(NewIndex()), query)), items[2*v:2*v+length])
	}
	index := Must(NewIndex())
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	var group sync.WaitGroup
	for g := range 4 {
		group.Go(func() {
			scores := make([]float64, length)
			for v := range versions {
				if g == 3 {
					v = max(0, v-2) // an earlier version
				}
				if (v+g)%7 == 0 {
					if err := Must(New(index, query)).Score(canceled, items[2*v:2*v+length], scores); err == nil {
						t.Error("a canceled call has no error")
					}
				}
				if err := Must(New(index, query)).Score(t.Context(), items[2*v:2*v+length], scores); err != nil {
					t.Error(err)
				}
				if !slices.Equal(scores, want[v]) {
					t.Errorf("version %d scores %v, want %v", v, scores, want[v])
				}
			}
		})
	}
	group.Wait()
}

// TestFollowCanceled cancels while new items are read: what was known is still
// known, and the next call reads them.
func TestFollowCanceled(t *testing.T) {
	items := manyItems(t, 300, 5)
	index := Must(NewIndex())
	first, err := index.of(t.Context(), items[:200])
	require.NoError(t, err)
	for after := range 2 {
		ctx := &endsAfter{Context: t.Context(), calls: after}
		l := &list{ready: make(chan struct{})}
		if _, err := first.corpus.follow(ctx, l, items, []*list{first}); err == nil {
			t.Fatalf("no error from a context that ends after %d calls", after)
		}
		if n := len(first.corpus.numbers); n != 200 {
			t.Fatalf("the corpus has %d items after a failure, want 200", n)
		}
	}
	got := scoresOf(t, Must(New(index, benchQuery())), items)
	if want := scoresOf(t, Must(New(Must(NewIndex()), benchQuery())), items); !slices.Equal(got, want) {
		t.Errorf("after a failure scores are %v, want %v", got, want)
	}
	if index.lists[0].corpus != first.corpus {
		t.Error("the list was indexed as a whole after a failure")
	}
}

// endsAfter is a context that ends after a number of calls of Err.
type endsAfter struct {
	context.Context
	calls int
}

func (e *endsAfter) Err() error {
	if e.calls--; e.calls < 0 {
		return context.Canceled
	}
	return nil
}
