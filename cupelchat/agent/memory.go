package agent

import (
	"context"
	"maps"
	"slices"
	"sync"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/strategy"
)

// memory is kept from one choice from a conversation for the next: the parts of its
// items, and their scores.
type memory struct {
	lock    sync.Mutex
	counter cupel.TokenCounter
	parts   map[partsKey][]*part
	failed  error // the first of the counter in this choice

	// The space of the last choice.
	order []ranked
	taken []taken

	scored []*cupel.ContextItem
	scores []float64
}

// partsKey identifies an item, which a conversation may contain more than
// once.
type partsKey struct {
	item   *cupel.ContextItem
	copy   int
	own    bool // its own forms are the only ones
	inNote bool // and are in a note
}

func newMemory() *memory {
	return &memory{parts: map[partsKey][]*part{}}
}

// begin prepares the memory for a choice. It forgets the items that are no longer there
// when it has twice as many as there are, and everything after a counter failed.
func (m *memory) begin(counter cupel.TokenCounter, items []*cupel.ContextItem) {
	if m.failed != nil {
		clear(m.parts)
	}
	m.counter, m.failed = counter, nil
	m.order, m.taken = m.order[:0], m.taken[:0]
	if len(m.parts) <= 2*len(items) {
		return
	}
	there := make(map[*cupel.ContextItem]bool, len(items))
	for _, item := range items {
		there[item] = true
	}
	maps.DeleteFunc(m.parts, func(key partsKey, _ []*part) bool { return !there[key.item] })
}

// count counts the tokens of a text for package cupelreduce, and remembers the first
// error.
func (m *memory) count(text string) int {
	if m.failed != nil || text == "" {
		return 0
	}
	item, err := cupel.NewItemFrom(m.counter, text) // it checks what the counter returns
	if m.failed = err; err != nil {
		return 0
	}
	return item.Tokens()
}

// relevance returns the scores of items by a task.
func (m *memory) relevance(ctx context.Context, task strategy.Scorer, items []*cupel.ContextItem) ([]float64, error) {
	if m.scores != nil && slices.Equal(m.scored, items) {
		return m.scores, nil
	}
	scores := make([]float64, len(items))
	if err := strategy.CallScorer(ctx, task, items, scores); err != nil {
		return nil, err
	}
	m.scored, m.scores = slices.Clone(items), scores
	return scores, nil
}

// mostForms is how many forms of a reading are remembered.
const mostForms = 8

// remembered returns what a map has for a key, or what find returns for it. The map keeps
// at most so many values.
func remembered[K comparable, V any](m map[K]V, most int, key K, find func(K) V) V {
	value, ok := m[key]
	if !ok {
		if len(m) == most {
			clear(m)
		}
		value = find(key)
		m[key] = value
	}
	return value
}
