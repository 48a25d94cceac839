package cupelrelevance

import (
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/wollax/cupel-go/cupel"
)

// TestIndexRemembers looks at which lists are the same, and how many are kept.
func TestIndexRemembers(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 3))
	index := Must(NewIndex())
	index.settings.capacity = 2
	of := func(items []*cupel.ContextItem) *list {
		l, err := index.of(t.Context(), items)
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	a, b, c := randomItems(t, r, 10), randomItems(t, r, 10), randomItems(t, r, 10)
	first := of(a)
	if of(slices.Clone(a)) != first {
		t.Error("the same items in another slice were read again")
	}
	second := of(b)
	if of(a) != first || of(b) != second {
		t.Error("two lists fit, but one was read again")
	}
	of(c)
	if of(b) != second {
		t.Error("the list that was used last but one was forgotten")
	}
	if of(a) == first {
		t.Error("three lists were kept, want two")
	}
	for name, other := range map[string][]*cupel.ContextItem{"shorter": a[:9], "another order": append(slices.Clone(a[1:]), a[0]), "none": nil} {
		if of(other) == of(a) {
			t.Errorf("a list that is %s was taken for the same", name)
		}
	}
	if len(index.lists) != 2 {
		t.Errorf("%d lists are kept, want 2", len(index.lists))
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
	items := randomItems(t, rand.New(rand.NewPCG(6, 6)), 1000)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, s := range scorersFor("meeting") {
		scores := make([]float64, len(items))
		if err := s.Score(ctx, items, scores); !errors.Is(err, context.Canceled) {
			t.Errorf("%T: got %v, want the context's error", s, err)
		}
		if err := s.Score(t.Context(), items, scores[1:]); !errors.Is(err, cupel.ErrStrategy) {
			t.Errorf("%T: got %v for room that does not suffice", s, err)
		}
		if slices.Max(scoresOf(t, s, items)) <= 0 {
			t.Errorf("%T: nothing scores afterwards", s)
		}
	}
	index := Must(NewIndex())
	if _, err := index.of(ctx, items); !errors.Is(err, context.Canceled) || len(index.lists) != 0 {
		t.Errorf("got %v and %d lists, want the context's error and none", err, len(index.lists))
	}
}

// TestIndexMemory holds the index to three times the text, and a further
// question to a few allocations that do not grow with the items.
func TestIndexMemory(t *testing.T) {
	for name, items := range map[string][]*cupel.ContextItem{"text": manyItems(t, 10000, 100)} {
		text := 0
		for _, it := range items {
			text += len(it.Content())
		}
		index := Must(NewIndex())
		before := heap()
		scores := scoresOf(t, Must(New(index, benchQuery())), items)
		if used := heap() - before; used > 3*text {
			t.Errorf("%s: the index takes %d bytes for %d of text", name, used, text)
		} else {
			t.Logf("%s: the index takes %.2f times the text", name, float64(used)/float64(text))
		}
		runtime.KeepAlive(index)
		runtime.KeepAlive(items)
		relevance := Must(New(index, benchQuery()))
		if allocs := testing.AllocsPerRun(5, func() { _ = relevance.Score(t.Context(), items, scores) }); allocs > 20 && !raceEnabled {
			t.Errorf("%s: a further question allocates %v times", name, allocs)
		}
	}
}

func heap() int {
	var m runtime.MemStats
	for range 3 { // pools live for two collections
		runtime.GC()
	}
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}
