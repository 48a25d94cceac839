package cupeltest_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/strategy"
	"github.com/wollax/cupel-go/cupeltest"
)

// batch is a scorer of a whole list.
type batch func(ctx context.Context, all []*cupel.ContextItem, scores []float64) error

func (b batch) Score(ctx context.Context, all []*cupel.ContextItem, scores []float64) error {
	return b(ctx, all, scores)
}

// size is a sound score.
func size(item *cupel.ContextItem, _ []*cupel.ContextItem) float64 { return float64(item.Tokens()) }

// The helpers below make new strategies, with memories of their own, for each
// call: a strategy that is always the same one is warm when a rule begins.

func brokenScorer(newScorer func() strategy.Scorer) func(t cupeltest.T) {
	return func(t cupeltest.T) { cupeltest.TestScorer(t, newScorer) }
}

type offset = func(all []*cupel.ContextItem) float64

// brokenBatch does after when it has scored all items.
func brokenBatch(after batch) func(t cupeltest.T) {
	return brokenScorer(the[strategy.Scorer](batch(func(ctx context.Context, all []*cupel.ContextItem, scores []float64) error {
		for i, item := range all {
			scores[i] = size(item, all)
		}
		return after(ctx, all, scores)
	})))
}

func counter() func([]*cupel.ContextItem) float64 {
	var calls atomic.Int64
	return func([]*cupel.ContextItem) float64 { return float64(calls.Add(1)) }
}

// cachedByAddress remembers the first item of a list by where the list is.
func cachedByAddress() func(all []*cupel.ContextItem) float64 {
	var (
		lock  locked
		where **cupel.ContextItem
		first *cupel.ContextItem
	)
	return func(all []*cupel.ContextItem) (n float64) {
		if len(all) == 0 {
			return 0
		}
		lock.do(func() {
			if where != &all[0] {
				where, first = &all[0], all[0]
			}
			n = float64(first.Tokens())
		})
		return n
	}
}

func whenAway() func([]*cupel.ContextItem) float64 {
	h := new(home)
	return func([]*cupel.ContextItem) float64 {
		if h.away() {
			return 1
		}
		return 0
	}
}

func sorts(all []*cupel.ContextItem) float64 {
	slices.SortFunc(all, func(a, b *cupel.ContextItem) int { return a.Tokens() - b.Tokens() })
	return 0
}

func appends(all []*cupel.ContextItem) float64 {
	return float64(len(append(all, nil)))
}

type (
	scoring = func(item *cupel.ContextItem, all []*cupel.ContextItem) float64
	slicing = func(items []cupel.ScoredItem, budget cupel.SliceBudget) strategy.Selection
	placing = func(items []cupel.ScoredItem) []int
)

func scorerOf(newScore func() scoring) func(t cupeltest.T) {
	return brokenScorer(func() strategy.Scorer { return scoreFunc(newScore()) })
}

func batchOf(scoreAll batch) func(t cupeltest.T) { return brokenScorer(the[strategy.Scorer](scoreAll)) }

func rank(item *cupel.ContextItem, all []*cupel.ContextItem) float64 {
	return float64(slices.Index(all, item)) / float64(len(all))
}

// memo is a cache that is safe to use, keyed by what does not determine the
// score.
func memo[K comparable](key func(item *cupel.ContextItem, all []*cupel.ContextItem) K, score scoring) scoring {
	var lock locked
	known := make(map[K]float64)
	return func(item *cupel.ContextItem, all []*cupel.ContextItem) (s float64) {
		k := key(item, all)
		lock.do(func() {
			var ok bool
			if s, ok = known[k]; !ok {
				s = score(item, all)
				known[k] = s
			}
		})
		return s
	}
}

// running is state that every call adds to.
func running(add func(sum float64, item *cupel.ContextItem) float64) func() scoring {
	return func() scoring {
		var (
			lock locked
			sum  float64
		)
		return func(item *cupel.ContextItem, all []*cupel.ContextItem) (s float64) {
			lock.do(func() { sum = add(sum, item); s = size(item, all) / (1 + sum) })
			return s
		}
	}
}

// sharedMemo is what all scorers of a type share.
var sharedMemo = memo(func(item *cupel.ContextItem, _ []*cupel.ContextItem) string { return item.Content() }, size)

func TestBrokenScorers(t *testing.T) {
	skipUnderRace(t)
	single := func(newOffset func() offset) func(t cupeltest.T) {
		return brokenScorer(func() strategy.Scorer {
			offset := newOffset()
			return scoreFunc(func(item *cupel.ContextItem, all []*cupel.ContextItem) float64 { return size(item, nil) + offset(all) })
		})
	}
	var (
		kept perGoroutine[[]float64]
		turn = counter()
	)
	checkFaults(t, "scorer", []fault{
		{"nil", "it is accepted by pipeline.New: ", brokenScorer(the[strategy.Scorer](nil)), "Scorer"},
		{"typed nil", "it is accepted by pipeline.New: ", brokenScorer(the[strategy.Scorer](scoreFunc(nil))), "Scorer"},
		{"not ready", "it is accepted by pipeline.New: ", brokenScorer(the[strategy.Scorer](invalid{})), "not ready"},
		{"remembers by address", "Score does not keep the list, whose memory is used again after the call.", single(cachedByAddress), "in memory of its own and in that of the list before"},
		{"sorts the list", "Score does not change the list that it is given.", single(the[offset](sorts)), "position 0 holds something else"},
		{"appends to the list", "Score does not change the list that it is given.", single(the[offset](appends)), "behind the end of the list"},
		{"is not safe", "Score is safe for concurrent use.", single(whenAway), "run alone and in several goroutines"},
		{"wants every item once", "Score gives an item that is given twice the same score at each of its positions.",
			brokenScorer(the[strategy.Scorer](scoreFunc(func(item *cupel.ContextItem, all []*cupel.ContextItem) float64 {
				at := slices.Index(all, item)
				if slices.Contains(all[at+1:], item) {
					panic("given twice")
				}
				return 0
			}))), "panic: given twice"},
		{"leaves goroutines", "Score starts no goroutine that goes on after the call, except for a number that does not grow.",
			single(the[offset](func(all []*cupel.ContextItem) float64 {
				if len(all) == 3 {
					leak()
				}
				return 0
			})), " goroutines after a third of them, "},
		{"batch fails by turns", "Score is a pure function: the same input gives the same result each time.",
			brokenBatch(func(_ context.Context, all []*cupel.ContextItem, _ []float64) error {
				if int(turn(nil))%20 == 0 {
					return errors.New("enough")
				}
				return nil
			}), `run again: a result, then the error "enough"`},
		{"batch keeps the scores", "Score gives its result away: later calls do not change it.",
			brokenBatch(func(_ context.Context, _ []*cupel.ContextItem, scores []float64) error {
				kept.use(func(before *[]float64) {
					if len(*before) > 0 {
						(*before)[0] = -1
					}
					*before = scores
				})
				return nil
			}), "before and after other calls: item 1 scores 12, then -1"},
		{"batch dresses the context's error", "Score that stops because its context is done fails with the context's error, and returns no part of a result.",
			brokenBatch(func(ctx context.Context, _ []*cupel.ContextItem, _ []float64) error {
				if ctx.Err() != nil {
					return errors.New("stopped")
				}
				return nil
			}), `the error "stopped"`},
		{"batch works by pointer", "Score gives an item that is given twice the same score at each of its positions.",
			brokenScorer(the[strategy.Scorer](batch(func(_ context.Context, all []*cupel.ContextItem, scores []float64) error {
				at := make(map[*cupel.ContextItem]int)
				for i, item := range all {
					at[item] = i
				}
				for item, i := range at {
					scores[i] = size(item, all)
				}
				return nil
			}))), "a list that holds two items twice: item 1 scores 0, and as item 3 12"},
		{"batch does not look at its context", "Score stops soon after its context is done, if it takes long.",
			brokenBatch(func(_ context.Context, all []*cupel.ContextItem, _ []float64) error { return sleepy(len(all)) }), "under a context that is done"},
		{"batch looks at the first", "Score takes an empty list.", brokenBatch(func(_ context.Context, all []*cupel.ContextItem, _ []float64) error {
			_ = all[0]
			return nil
		}), "panic: runtime error: index out of range"},
		{"memo by content", "Score stores nothing", scorerOf(func() scoring {
			return memo(func(item *cupel.ContextItem, _ []*cupel.ContextItem) string { return item.Content() }, rank)
		}), ""},
		{"memo by content of a score by size", "Score stores nothing", scorerOf(func() scoring {
			return memo(func(item *cupel.ContextItem, _ []*cupel.ContextItem) string { return item.Content() }, size)
		}), ""},
		{"memo by content, shared by all", "Score stores nothing", scorerOf(the(sharedMemo)), ""},
		{"memo by pointer", "Score stores nothing", scorerOf(func() scoring {
			return memo(func(item *cupel.ContextItem, _ []*cupel.ContextItem) *cupel.ContextItem { return item }, rank)
		}), ""},
		{"memo by length of list", "Score stores nothing", scorerOf(func() scoring {
			return memo(func(_ *cupel.ContextItem, all []*cupel.ContextItem) int { return len(all) }, size)
		}), ""},
		{"normalised by the first list", "Score stores nothing", scorerOf(func() scoring {
			var (
				once    sync.Once
				largest float64
			)
			return func(item *cupel.ContextItem, all []*cupel.ContextItem) float64 {
				once.Do(func() { largest = float64(len(all)) })
				return size(item, all) / largest
			}
		}), ""},
		{"running sum", "Score stores nothing", scorerOf(running(func(sum float64, item *cupel.ContextItem) float64 { return sum + float64(item.Tokens()) })), ""},
		{"running maximum", "Score stores nothing", scorerOf(running(func(sum float64, item *cupel.ContextItem) float64 { return max(sum, float64(item.Tokens())) })), ""},
		{"gives up after some calls", "Score stores nothing", scorerOf(func() scoring {
			calls := counter()
			return func(item *cupel.ContextItem, all []*cupel.ContextItem) float64 {
				if calls(nil) > 500 {
					return 0
				}
				return size(item, all)
			}
		}), ""},
		{"chance", "Score is a pure function", scorerOf(the[scoring](func(*cupel.ContextItem, []*cupel.ContextItem) float64 { return rand.Float64() })), ""},
		{"the time", "Score is a pure function", scorerOf(the[scoring](func(*cupel.ContextItem, []*cupel.ContextItem) float64 { return float64(time.Now().UnixNano()) })), ""},
		{"order of a map", "Score is a pure function", scorerOf(the[scoring](func(_ *cupel.ContextItem, all []*cupel.ContextItem) float64 {
			at := make(map[*cupel.ContextItem]int)
			for i, item := range all {
				at[item] = i
			}
			for _, i := range at {
				return float64(i)
			}
			return 0
		})), ""},
		{"buffer of 64", "Score takes every valid list", scorerOf(the[scoring](func(item *cupel.ContextItem, all []*cupel.ContextItem) float64 {
			var tokens [64]int
			for i, other := range all {
				tokens[i] = other.Tokens()
			}
			return float64(tokens[0] - item.Tokens())
		})), "runtime error: index out of range [64] with length 64"},
		{"divides by the others", "Score takes every valid list", scorerOf(the[scoring](func(item *cupel.ContextItem, all []*cupel.ContextItem) float64 {
			return float64(item.Tokens() / (len(all) - 1))
		})), "runtime error: integer divide by zero"},
		{"wants a time", "Score takes every valid list", scorerOf(the[scoring](func(item *cupel.ContextItem, _ []*cupel.ContextItem) float64 {
			at, ok := item.Timestamp()
			if !ok {
				panic("no time")
			}
			return float64(at.Unix())
		})), "no time"},
		{"as many as tokens", "Score takes every valid list", scorerOf(the[scoring](func(item *cupel.ContextItem, _ []*cupel.ContextItem) float64 {
			return float64(len(make([]byte, item.Tokens())))
		})), "runtime error: makeslice: len out of range"},
		{"unrolled by four", "Score writes every score", batchOf(func(_ context.Context, all []*cupel.ContextItem, scores []float64) error {
			for i := 0; i+4 <= len(all); i += 4 {
				for j := range 4 {
					scores[i+j] = size(all[i+j], all)
				}
			}
			return nil
		}), ""},
		{"a table of slots that compares no keys", "Score stores nothing", scorerOf(func() scoring {
			return memo(func(item *cupel.ContextItem, all []*cupel.ContextItem) uint32 {
				return uint32(hashed(item, all)*math.MaxUint32) % 64
			}, size)
		}), ""},
		{"four workers without the rest", "Score writes every score", batchOf(func(_ context.Context, all []*cupel.ContextItem, scores []float64) error {
			workers := 1
			if len(all) > 100 {
				workers = 4
			}
			var group sync.WaitGroup
			n := len(all) / workers
			for w := range workers {
				group.Go(func() {
					for i := w * n; i < (w+1)*n; i++ {
						scores[i] = size(all[i], all)
					}
				})
			}
			group.Wait()
			return nil
		}), "the score of item 301 is what was there before"},
		{"a batch that is too long", "Score takes every valid list", batchOf(func(_ context.Context, all []*cupel.ContextItem, scores []float64) error {
			if len(all) > 1000 {
				return errors.New("too many")
			}
			for i, item := range all {
				scores[i] = size(item, all)
			}
			return nil
		}), `the error "too many"`},
		{"a part after a late end", "Score that stops because", batchOf(func(ctx context.Context, all []*cupel.ContextItem, scores []float64) error {
			for i, item := range all {
				if i%32 == 31 && ctx.Err() != nil {
					return nil //nolint:nilerr // this is the fault
				}
				scores[i] = size(item, all)
			}
			return nil
		}), ""},
		{"a goroutine for each item, left at the end of the context", "Score starts no goroutine", batchOf(func(ctx context.Context, all []*cupel.ContextItem, scores []float64) error {
			type result struct {
				i int
				s float64
			}
			results := make(chan result)
			if len(all) > 50 { // else the test itself runs with too many
				for i, item := range all {
					scores[i] = size(item, all)
				}
				return nil
			}
			for i, item := range all {
				go func() { results <- result{i, size(item, all)} }()
			}
			for range all {
				select {
				case <-ctx.Done():
					return ctx.Err()
				case r := <-results:
					scores[r.i] = r.s
				}
			}
			return nil
		}), ""},
	})
}
