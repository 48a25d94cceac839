package cupelrelevance

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/strategy"
)

// TestIndexRemembers looks at which lists are the same, and how many are kept.
func TestIndexRemembers(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 3))
	index := Must(NewIndex())
	of := func(items []*cupel.ContextItem) *list {
		l, err := index.of(t.Context(), items)
		require.NoError(t, err)
		return l
	}
	a, b := randomItems(t, r, 10), randomItems(t, r, 10)
	first := of(a)
	if of(slices.Clone(a)) != first {
		t.Error("the same items in another slice were read again")
	}
	second := of(b)
	if of(a) != first || of(b) != second {
		t.Error("four lists fit, but one of two was read again")
	}
	for range 3 {
		of(randomItems(t, r, 10))
	}
	if of(b) != second {
		t.Error("the list that was used last but three was forgotten")
	}
	if of(a) == first {
		t.Error("five lists were kept, want four")
	}
	for name, other := range map[string][]*cupel.ContextItem{"shorter": a[:9], "another order": append(slices.Clone(a[1:]), a[0]), "none": nil} {
		if of(other) == of(a) {
			t.Errorf("a list that is %s was taken for the same", name)
		}
	}
	if len(index.lists) != 4 {
		t.Errorf("%d lists are kept, want 4", len(index.lists))
	}
	// An overwritten list is another one: the engine reuses its memory.
	reused := slices.Clone(a)
	of(reused)
	copy(reused, b)
	want := scoresOf(t, Must(NewLexical(Must(NewIndex()), "meeting roof")), b)
	if got := scoresOf(t, Must(NewLexical(index, "meeting roof")), reused); !slices.Equal(got, want) {
		t.Errorf("an overwritten list scores %v, want %v", got, want)
	}
}

// TestIndexKeepsNoItems: items that only the index refers to are collected, and
// their list is dropped when the next one is indexed.
func TestIndexKeepsNoItems(t *testing.T) {
	index := Must(NewIndex())
	gone := make(chan struct{})
	func() {
		it := item(t, "a roof that is not needed any more")
		runtime.AddCleanup(it, func(struct{}) { close(gone) }, struct{}{})
		scoresOf(t, Must(New(index, "roof")), []*cupel.ContextItem{it})
	}()
	for range 10 {
		runtime.GC()
		select {
		case <-gone:
			keep := []*cupel.ContextItem{item(t, "another")}
			scoresOf(t, Must(New(index, "roof")), keep)
			if len(index.lists) != 1 {
				t.Errorf("%d lists are kept, want that of the living item", len(index.lists))
			}
			runtime.KeepAlive(keep)
			return
		default:
			runtime.Gosched()
		}
	}
	<-gone
}

// TestCanceled: the end of the context comes back, and leaves nothing half done.
func TestCanceled(t *testing.T) {
	const question = "the meeting on the roof" // which some of the items only repeat
	items := randomItems(t, rand.New(rand.NewPCG(6, 6)), 1000)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, s := range append(scorersFor(question), scorersFor(question)[1]) { // the last has an index of its own
		scores := make([]float64, len(items))
		if err := s.Score(ctx, items, scores); !errors.Is(err, context.Canceled) {
			t.Errorf("%T: got %v, want the context's error", s, err)
		}
		if err := s.Score(t.Context(), items, scores[1:]); !errors.Is(err, cupel.ErrStrategy) {
			t.Errorf("%T: got %v for room that does not suffice", s, err)
		}
		for range 2 { // before the index knows the items, and then
			if err := s.Score(&endsAfter{t.Context(), 1}, items, scores); !errors.Is(err, context.Canceled) {
				t.Errorf("%T: got %v from a context that ends during the call", s, err)
			}
			if slices.Max(scoresOf(t, s, items)) <= 0 {
				t.Errorf("%T: nothing scores afterwards", s)
			}
		}
	}
	terms := make([]uint32, len(items))
	_, err := newSegment(&endsAfter{t.Context(), 1}, items, 0, newHashing(), terms)
	require.ErrorIs(t, err, context.Canceled)
	assert.Equal(t, 256, slices.Index(terms, 0), "it stops soon after the context ends")
	index := Must(NewIndex())
	if _, err := index.of(ctx, items); !errors.Is(err, context.Canceled) || len(index.lists) != 0 {
		t.Errorf("got %v and %d lists, want the context's error and none", err, len(index.lists))
	}
}

// TestIndexMemory holds the index to three times the text.
func TestIndexMemory(t *testing.T) {
	items := manyItems(t, 3000, 100)
	text := 0
	for _, it := range items {
		text += len(it.Content())
	}
	index := Must(NewIndex())
	before := heap()
	scoresOf(t, Must(New(index, benchQuery())), items)
	used := heap() - before
	t.Logf("the index takes %.2f times the text", float64(used)/float64(text))
	assert.LessOrEqual(t, used, 3*text)
	runtime.KeepAlive(index)
	runtime.KeepAlive(items)
}

// TestFurtherQuestionAllocatesLittle: it needs no memory for each item.
func TestFurtherQuestionAllocatesLittle(t *testing.T) {
	if raceEnabled {
		t.Skip("pools forget on purpose")
	}
	items := manyItems(t, 4000, 20)
	scores := make([]float64, len(items))
	index := Must(NewIndex())
	for _, s := range []strategy.Scorer{Must(NewLexical(index, benchQuery())), Must(New(index, benchQuery()))} {
		least := uint64(math.MaxUint64) // a collection empties pools
		for range 10 {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			require.NoError(t, s.Score(t.Context(), items, scores))
			runtime.ReadMemStats(&after)
			least = min(least, after.TotalAlloc-before.TotalAlloc)
		}
		assert.Less(t, least, uint64(8*len(items)), "%T: bytes, less than one list of numbers", s)
	}
}

// TestWaitingForCanceled: when the caller that reads a list is canceled, one that waits
// for it reads it.
func TestWaitingForCanceled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, items := range [][]*cupel.ContextItem{nil, randomItems(t, rand.New(rand.NewPCG(6, 9)), 10)} {
			index := Must(NewIndex())
			reading, _ := index.find(items)
			waiting := make(chan *list)
			go func() {
				l, err := index.of(t.Context(), items)
				assert.NoError(t, err)
				waiting <- l
			}()
			synctest.Wait()
			require.ErrorIs(t, index.finish(reading, context.Canceled), context.Canceled)
			l := <-waiting
			assert.NotSame(t, reading, l)
			assert.Equal(t, len(items), l.words.n)
		}
	})
}

func heap() int {
	var m runtime.MemStats
	for range 3 { // pools live for two collections
		runtime.GC()
	}
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}
