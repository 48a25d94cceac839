package cupeltest_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupeltest"
)

// sharedMemo is what all scorers of a type share.
var sharedMemo = memo(content, size)

// at returns the time of an item.
func at(item *cupel.ContextItem) time.Time {
	t, _ := item.Timestamp()
	return t
}

func TestBrokenScorers(t *testing.T) {
	vector := cupeltest.Item("a", 1, cupel.WithMetadata(map[string]any{"vector": []float64{3, 4}}))
	checkFaults(t, "scorer", []fault{
		{name: "typed nil", rule: "accepted", make: the(score(nil))},
		{name: "not ready", rule: "accepted", make: the(invalid{})},
		{name: "a buffer of 64", rule: "failure", make: the(score(func(item *cupel.ContextItem, all []*cupel.ContextItem) float64 {
			var tokens [64]int
			for i, other := range all {
				tokens[i] = other.Tokens()
			}
			return float64(tokens[0] - item.Tokens())
		}))},
		{name: "a text of 64 kB at most", rule: "failure", make: the(score(func(item *cupel.ContextItem, _ []*cupel.ContextItem) float64 {
			var text [1 << 16]byte
			for i := range len(item.Content()) {
				text[i] = item.Content()[i]
			}
			return float64(text[0])
		}))},
		{name: "looks at the first of an empty list", rule: "failure", make: the(batch(func(_ context.Context, all []*cupel.ContextItem, _ []float64) error {
			_ = all[0]
			return nil
		}))},
		{name: "sorts the list", rule: "list", make: the(batch(func(_ context.Context, all []*cupel.ContextItem, _ []float64) error {
			slices.SortFunc(all, func(a, b *cupel.ContextItem) int { return a.Tokens() - b.Tokens() })
			return nil
		}))},
		{name: "appends to the list", rule: "list", make: the(batch(func(_ context.Context, all []*cupel.ContextItem, _ []float64) error {
			_ = append(all, nil)
			return nil
		}))},
		{name: "normalizes the caller's vectors", rule: "list", opts: []cupeltest.KitOption{cupeltest.WithItems(vector)}, make: the(score(func(item *cupel.ContextItem, _ []*cupel.ContextItem) float64 {
			if value, ok := item.MetadataValue("vector"); ok {
				value.([]float64)[0] = 0.6
			}
			return 1
		}))},
		{name: "chance", rule: "repeat", make: the(score(func(*cupel.ContextItem, []*cupel.ContextItem) float64 { return rand.Float64() }))},
		{name: "looks at all of the array", rule: "repeat", make: the(score(func(item *cupel.ContextItem, all []*cupel.ContextItem) float64 {
			return float64(item.Tokens() + cap(all))
		}))},
		{name: "a memo by content of ranks", rule: "memory", make: func() any { return memo(content, rank) }},
		{name: "a memo by content, shared by all", rule: "memory", make: the(sharedMemo)},
		{name: "a cache that is full at 1,000", rule: "memory", make: func() any {
			var lock locked
			known := make(map[string]bool)
			return score(func(item *cupel.ContextItem, _ []*cupel.ContextItem) (s float64) {
				lock.do(func() {
					if len(known) < 1000 {
						known[item.Content()] = true
					}
					if known[item.Content()] {
						s = 1
					}
				})
				return s
			})
		}},
		{name: "remembers lists by address", rule: "memory", make: func() any {
			var lock locked
			known := make(map[**cupel.ContextItem]float64)
			return score(func(item *cupel.ContextItem, all []*cupel.ContextItem) (s float64) {
				lock.do(func() {
					if _, ok := known[&all[0]]; !ok {
						known[&all[0]] = size(all[0], nil)
					}
					s = known[&all[0]]
				})
				return s
			})
		}},
		{name: "is not safe", bubble: true, rule: "concurrency", make: func() any {
			calls := new(busy)
			return batch(func(_ context.Context, all []*cupel.ContextItem, scores []float64) error {
				if calls.shared() {
					clear(scores)
				}
				return nil
			})
		}},
		{name: "the number of processors", rule: "environment", make: the(score(func(item *cupel.ContextItem, _ []*cupel.ContextItem) float64 {
			return size(item, nil) / float64(runtime.GOMAXPROCS(0))
		}))},
		{name: "the hour of an item here", rule: "environment", make: the(score(func(item *cupel.ContextItem, _ []*cupel.ContextItem) float64 {
			return float64(at(item).Local().Hour())
		}))},
		{name: "the language", rule: "environment", make: the(score(func(item *cupel.ContextItem, _ []*cupel.ContextItem) float64 {
			return size(item, nil) + float64(len(os.Getenv("LANG")))
		}))},
		{name: "keeps the scores", rule: "result", make: func() any {
			var lock locked
			var kept []float64
			return batch(func(_ context.Context, _ []*cupel.ContextItem, scores []float64) error {
				lock.do(func() {
					if len(kept) > 0 {
						kept[0] = -1
					}
					kept = scores
				})
				return nil
			})
		}, opts: []cupeltest.KitOption{cupeltest.Except("concurrency")}}, // with a busy machine, that rule sees it first
		{name: "dresses the context's error", rule: "context", make: the(batch(func(ctx context.Context, _ []*cupel.ContextItem, _ []float64) error {
			if ctx.Err() != nil {
				return errors.New("stopped")
			}
			return nil
		}))},
		{name: "a part after a late end", rule: "context", make: the(batch(func(ctx context.Context, all []*cupel.ContextItem, scores []float64) error {
			for i := range all {
				if i%32 == 31 && ctx.Err() != nil {
					clear(scores[i:])
					return nil //nolint:nilerr // this is the fault
				}
			}
			return nil
		}))},
		{name: "keeps its first context", rule: "context", make: func() any {
			var once sync.Once
			var first context.Context
			return batch(func(ctx context.Context, _ []*cupel.ContextItem, _ []float64) error {
				once.Do(func() { first = ctx })
				return first.Err()
			})
		}},
		{name: "never looks at its context", bubble: true, rule: "long-call", make: the(batch(func(_ context.Context, all []*cupel.ContextItem, _ []float64) error {
			slow(len(all))
			return nil
		}))},
		{name: "leaves a goroutine", bubble: true, rule: "goroutines", make: the(batch(func(_ context.Context, all []*cupel.ContextItem, _ []float64) error {
			if len(all) == 3 {
				leak()
			}
			return nil
		}))},
		{name: "quadratic", bubble: true, rule: "growth", make: the(batch(func(_ context.Context, all []*cupel.ContextItem, _ []float64) error {
			quadratic(len(all))
			return nil
		}))},
		{name: "quadratic in memory", rule: "growth", make: the(batch(func(_ context.Context, all []*cupel.ContextItem, scores []float64) error {
			if wasteful(len(all)) < 0 {
				clear(scores)
			}
			return nil
		}))},
		{name: "unrolled by four", rule: "repeat", make: the(unrolled{})},
		{name: "works by pointer", rule: "twice", make: the(batch(func(_ context.Context, all []*cupel.ContextItem, scores []float64) error {
			last := make(map[*cupel.ContextItem]int)
			for i, item := range all {
				last[item] = i
			}
			for i, item := range all {
				if last[item] != i {
					scores[i] = 0
				}
			}
			return nil
		}))},
		{name: "not a number without a tag", rule: "number", make: the(score(func(item *cupel.ContextItem, _ []*cupel.ContextItem) float64 {
			return float64(item.NumTags()) / float64(item.NumTags())
		}))},
		{name: "one", rule: "constant", make: the(score(func(*cupel.ContextItem, []*cupel.ContextItem) float64 { return 1 }))},
		{name: "ranks by an unstable sort", rule: "alike", make: the(batch(func(_ context.Context, all []*cupel.ContextItem, scores []float64) error {
			if len(all) < 50 { // in which an item that is given twice shows it
				return nil
			}
			order := make([]int, len(all))
			for i := range order {
				order[i] = i
			}
			slices.SortFunc(order, func(a, b int) int { return all[a].Tokens() - all[b].Tokens() })
			for rank, i := range order {
				scores[i] = float64(rank)
			}
			return nil
		}))},
	})
}

// unrolled is a loop that handles four items at a time, and forgets the rest.
type unrolled struct{}

func (unrolled) Score(_ context.Context, all []*cupel.ContextItem, scores []float64) error {
	for i := 0; i+4 <= len(all); i += 4 {
		for j := range 4 {
			scores[i+j] = size(all[i+j], all)
		}
	}
	return nil
}
