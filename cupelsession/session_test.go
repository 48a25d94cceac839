package cupelsession_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/cupel/placer"
	"github.com/wollax/cupel-go/cupel/scorer"
	"github.com/wollax/cupel-go/cupel/slicer"
	"github.com/wollax/cupel-go/cupelrelevance"
	"github.com/wollax/cupel-go/cupelsession"
)

func item(t testing.TB, content string, tokens int, opts ...cupel.ItemOption) *cupel.ContextItem {
	t.Helper()
	made, err := cupel.NewContextItem(content, tokens, opts...)
	require.NoError(t, err)
	return made
}

func with(t testing.TB, item *cupel.ContextItem, opts ...cupel.ItemOption) *cupel.ContextItem {
	t.Helper()
	made, err := item.With(opts...)
	require.NoError(t, err)
	return made
}

func budget(t testing.TB, tokens int) cupel.ContextBudget {
	t.Helper()
	b, err := cupel.NewContextBudget(tokens, tokens)
	require.NoError(t, err)
	return b
}

// newest keeps the newest items that fit.
func newest(t testing.TB) *pipeline.Pipeline {
	t.Helper()
	p, err := pipeline.New(pipeline.Config{Scorer: scorer.Recency{}, Slicer: slicer.Greedy{}, Placer: placer.Chronological{}, KeepDuplicates: true})
	require.NoError(t, err)
	return p
}

func session(t testing.TB, chooser cupelsession.Chooser, config cupelsession.Config) *cupelsession.Session {
	t.Helper()
	s, err := cupelsession.New(chooser, config)
	require.NoError(t, err)
	return s
}

func next(t testing.TB, s *cupelsession.Session, items []*cupel.ContextItem, tokens int) *cupelsession.Turn {
	t.Helper()
	turn, err := s.Next(t.Context(), items, budget(t, tokens))
	require.NoError(t, err)
	return turn
}

func commit(t testing.TB, turn *cupelsession.Turn) {
	t.Helper()
	require.NoError(t, turn.Commit(cupelsession.Usage{}))
}

// says is the window as text.
func says(turn *cupelsession.Turn) string {
	var parts []string
	for _, it := range turn.Window {
		parts = append(parts, it.Content())
	}
	return strings.Join(parts, " ")
}

// numbered are items a, b, c … of 10 tokens, the first pinned.
func numbered(t testing.TB, n int) []*cupel.ContextItem {
	t.Helper()
	var items []*cupel.ContextItem
	for i := range n {
		opts := []cupel.ItemOption{cupel.WithTimestamp(time.Unix(int64(i), 0))}
		if i == 0 {
			opts = append(opts, cupel.WithPinned())
		}
		items = append(items, item(t, string(rune('a'+i)), 10, opts...))
	}
	return items
}

// world is a random conversation.
type world struct {
	t     testing.TB
	rng   *rand.Rand
	items []*cupel.ContextItem
	gone  []*cupel.ContextItem
	made  int
	now   time.Time
	model string
	size  int
	// counts is how many percent of the tokens a provider counts, at least.
	counts int
	tail   bool // there is a question, another one at each turn
}

func (w *world) add() {
	w.made++
	var opts []cupel.ItemOption
	opts = append(opts, cupel.WithTimestamp(time.Unix(int64(w.made), 0)))
	if w.rng.IntN(10) == 0 {
		opts = append(opts, cupel.WithPinned())
	}
	content := fmt.Sprintf("message %d says reservation RES%d and file a/b%d.go", w.made, w.rng.IntN(30), w.rng.IntN(9))
	if w.rng.IntN(6) == 0 {
		content = []string{"ok", "ok#1"}[w.rng.IntN(4)/3]
	}
	switch w.rng.IntN(4) {
	case 0:
		group := fmt.Sprint("g", w.made)
		note := cupel.WithGroupVariants(cupel.Variant{Content: "note " + group, Tokens: 3, Worth: .3})
		call := item(w.t, "call "+content, 5+w.rng.IntN(10), append(opts, cupel.WithGroup(group), note)...)
		result := item(w.t, "result "+content, 5+w.rng.IntN(40), append(opts, cupel.WithGroup(group))...)
		if w.rng.IntN(3) == 0 { // own forms, as those of long results
			cut := cupel.WithVariants(cupel.Variant{Content: "cut", Tokens: 4, Worth: .5})
			call, result = with(w.t, call, cut), with(w.t, result, cut)
		}
		w.items = append(w.items, call)
		if w.rng.IntN(4) == 0 {
			w.add() // between them
		}
		w.items = append(w.items, result)
		if w.rng.IntN(3) == 0 {
			w.items = append(w.items, item(w.t, "another "+content, w.rng.IntN(9), append(opts, cupel.WithGroup(group), note)...))
		}
	case 1:
		short := cupel.Variant{Content: "short " + content, Tokens: 4, Worth: .4}
		if w.made%3 == 0 { // one that others have, too
			short.Content, short.Tokens = "cut", 0
		}
		w.items = append(w.items, item(w.t, content, 8+w.rng.IntN(30), append(opts, cupel.WithVariants(short))...))
	default:
		w.items = append(w.items, item(w.t, content, w.rng.IntN(25)-2+len(opts), opts...)) // one that is not pinned may have -1
	}
}

// change changes what a user may change.
func (w *world) change() {
	w.items = slices.Clone(w.items)
	if i := slices.IndexFunc(w.items, isRag); i >= 0 && w.made%2 == 0 {
		w.items[i] = with(w.t, w.items[i], cupel.WithSource(cupel.SourceChat)) // the last question becomes a message
	}
	w.items = slices.DeleteFunc(w.items, isRag) // or goes
	for range 1 + w.rng.IntN(3) {
		w.add()
	}
	at := w.rng.IntN(len(w.items))
	edit := func(opts ...cupel.ItemOption) {
		w.items = slices.Clone(w.items)
		w.items[at] = with(w.t, w.items[at], opts...)
	}
	remove := func(n int) {
		for i := min(at+n, len(w.items)) - 1; i >= at; i-- {
			// Of a group, only a part may go. Then what says the same in another group
			// would count as that part.
			if w.items[i].Group() == "" || w.rng.IntN(4) == 0 && !strings.Contains(w.items[i].Content(), " ok") {
				w.gone = append(w.gone, w.items[i])
				w.items = slices.Delete(slices.Clone(w.items), i, i+1)
			}
		}
	}
	switch w.rng.IntN(18) {
	case 0:
		remove(1)
	case 1:
		edit(cupel.WithContent(fmt.Sprint("edited ", w.made), 9), cupel.WithVariants())
	case 2:
		if w.items[at].Tokens() >= 0 {
			edit(cupel.WithPinned())
		}
	case 3:
		w.size = 60 + w.rng.IntN(300)
	case 4:
		w.now = w.now.Add(time.Duration(w.rng.IntN(60)-10) * time.Minute)
	case 5:
		w.model = fmt.Sprint("model", w.rng.IntN(3))
	case 6:
		if w.items[at].Pinned() {
			w.unpin(at)
		}
	case 7: // the oldest go
		at = 0
		remove(1 + w.rng.IntN(4))
	case 8: // two items change places
		if to := w.rng.IntN(len(w.items)); w.items[at].Group()+w.items[to].Group() == "" {
			w.items = slices.Clone(w.items)
			w.items[at], w.items[to] = w.items[to], w.items[at]
		}
	case 11:
		if len(w.items[at].Variants()) == 0 {
			edit(cupel.WithKind(cupel.KindToolOutput))
		}
	case 12:
		edit(cupel.WithGroup(fmt.Sprint("h", w.made)))
	case 10: // another system prompt, or one more
		prompt := item(w.t, fmt.Sprint("Be kind ", w.made), 6, cupel.WithPinned(), cupel.WithKind(cupel.KindSystemPrompt), cupel.WithTimestamp(time.Unix(0, 0)))
		gone := 0
		if w.items[0].Kind() == cupel.KindSystemPrompt {
			gone = w.rng.IntN(2)
		}
		w.items = append([]*cupel.ContextItem{prompt}, w.items[gone:]...)
	case 9: // one comes back, anywhere
		if len(w.gone) > 0 && w.items[at].Group() == "" {
			back := w.gone[w.rng.IntN(len(w.gone))]
			if back.Group() == "" || !slices.Contains(w.items, back) {
				w.items = slices.Insert(slices.Clone(w.items), at, back)
			}
		}
	}
	if w.tail {
		question := item(w.t, fmt.Sprintf("what about RES%d and b%d.go?", w.rng.IntN(30), w.rng.IntN(9)), 5, cupel.WithSource(cupel.SourceRAG))
		if w.made%2 == 0 {
			question = with(w.t, question, cupel.WithPinned())
		}
		w.items = slices.Insert(w.items, []int{len(w.items), w.rng.IntN(len(w.items) + 1)}[w.made%2], question)
	}
}

// unpin puts an item that says the same and is not pinned in the place of one.
func (w *world) unpin(at int) {
	was := w.items[at]
	opts := []cupel.ItemOption{cupel.WithVariants(was.Variants()...)}
	if was.Group() != "" {
		opts = append(opts, cupel.WithGroup(was.Group()), cupel.WithGroupVariants(was.GroupVariants()...))
	}
	if when, ok := was.Timestamp(); ok {
		opts = append(opts, cupel.WithTimestamp(when))
	}
	w.items = slices.Clone(w.items)
	w.items[at] = item(w.t, was.Content(), was.Tokens(), opts...)
}

// relevant scores by a question, with an index of its own.
func relevant(t testing.TB, question string) *pipeline.Pipeline {
	t.Helper()
	index := cupelrelevance.Must(cupelrelevance.NewIndex())
	p, err := pipeline.New(pipeline.Config{Scorer: cupelrelevance.Must(cupelrelevance.New(index, question)), Slicer: slicer.ScoreGreedy{}, Placer: placer.Chronological{}})
	require.NoError(t, err)
	return p
}

// copies returns the items with new pointers, as another process has them. An item that
// is there twice is one copy.
func copies(t testing.TB, items []*cupel.ContextItem) (list []*cupel.ContextItem) {
	t.Helper()
	copied := map[*cupel.ContextItem]*cupel.ContextItem{}
	for _, it := range items {
		if copied[it] == nil {
			copied[it] = with(t, it)
		}
		list = append(list, copied[it])
	}
	return list
}

// usage is what a provider may report: nothing, or more tokens than were estimated,
// with or without what its cache did.
func (w *world) usage(turn *cupelsession.Turn) cupelsession.Usage {
	estimated := turn.Cache.Read + turn.Cache.Written + turn.Cache.Plain
	u := cupelsession.Usage{Input: estimated*w.counts/100 + w.rng.IntN(1+estimated/4)}
	switch w.rng.IntN(4) {
	case 0:
		return cupelsession.Usage{}
	case 1:
		u.Cached, u.Read = true, w.rng.IntN(1+u.Input)
	case 2:
		u.Cached, u.Read = true, min(turn.Cache.Read, u.Input)
		u.Written = w.rng.IntN(1 + u.Input - u.Read)
	}
	return u
}
