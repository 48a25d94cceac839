package cupeltest_test

import (
	"bytes"
	"context"
	"errors"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupeltest"
)

// A fault is an implementation that breaks one rule of its contract, and the
// sentence of that rule. It may break others on the way: what remembers calls
// is rarely wrong in one way only.
type fault struct {
	name     string
	sentence string
	run      func(t cupeltest.T)
	found    string // part of what is found
}

// checkFaults wants each fault caught by the rule meant for it, and each rule
// to catch one.
func checkFaults(t *testing.T, role string, faults []fault) {
	t.Helper()
	caught := make(map[string]bool)
	ran := 0
	for _, f := range faults {
		t.Run(f.name, func(t *testing.T) {
			ran++
			s := watch(f.run)
			for at, message := range s.messages {
				if !strings.HasPrefix(message, role+" ") || !strings.Contains(message, " breaks its contract: ") || !strings.Contains(message, "\n\tfound: ") {
					t.Errorf("a message of another form: %q", message)
				}
				if strings.Contains(message, "\n\trule: "+f.sentence+"\n\tfound: ") && strings.Contains(message, f.found) {
					caught[f.sentence] = true
					if at > 0 {
						t.Errorf("first is a consequence: %s", s.messages[0])
					}
					return
				}
			}
			t.Errorf("the rule\n\t%s\ndid not find %q; reported was\n\t%s", f.sentence, f.found, strings.Join(s.messages, "\n\t"))
		})
	}
	if ran < len(faults) {
		return // only some were asked for
	}
	for _, sentence := range cupeltest.Sentences(role) {
		if !caught[sentence] {
			t.Errorf("no fault shows that this rule finds anything: %s", sentence)
		}
	}
}

// invalid is strategies that say of themselves that they are not ready.
type invalid struct{}

func (invalid) Validate() error { return errors.New("not ready") }

func (invalid) Score(*cupel.ContextItem, []*cupel.ContextItem) float64 { return 0 }

func (invalid) Slice(context.Context, []cupel.ScoredItem, cupel.SliceBudget) (cupel.Selection, error) {
	return cupel.Selection{}, nil
}

func (invalid) Place(context.Context, []cupel.ScoredItem) ([]int, error) { return nil, nil }

// home is the goroutine from which a strategy was called first. A strategy that
// depends on it is wrong in any other, every time and without a data race.
type home struct {
	lock locked
	id   string
}

func (h *home) away() (yes bool) {
	id := goroutine()
	h.lock.do(func() {
		if h.id == "" {
			h.id = id
		}
		yes = h.id != id
	})
	return yes
}

// goroutine names the current goroutine.
func goroutine() string {
	stack := make([]byte, 64)
	name, _, _ := bytes.Cut(stack[:runtime.Stack(stack, false)], []byte("["))
	return string(name)
}

// locked makes the memory of a broken strategy safe to use, so that it is
// broken in its own way and not by a data race.
type locked struct{ sync.Mutex }

func (l *locked) do(f func()) {
	l.Lock()
	defer l.Unlock()
	f()
}

// perGoroutine is memory that a broken strategy keeps for each goroutine that
// calls it, for the same reason.
type perGoroutine[V any] struct {
	lock   locked
	values map[string]*V
}

func (p *perGoroutine[V]) use(f func(v *V)) {
	id := goroutine()
	p.lock.do(func() {
		if p.values == nil {
			p.values = make(map[string]*V)
		}
		if p.values[id] == nil {
			p.values[id] = new(V)
		}
		f(p.values[id])
	})
}

// perList is memory that a broken strategy keeps for each list, by where it is.
type perList[V any] struct {
	lock   locked
	values map[**cupel.ContextItem]*V
}

func (p *perList[V]) use(all []*cupel.ContextItem, f func(v *V)) {
	p.lock.do(func() {
		if p.values == nil {
			p.values = make(map[**cupel.ContextItem]*V)
		}
		v := p.values[&all[0]]
		if v == nil {
			v = new(V)
			p.values[&all[0]] = v
		}
		f(v)
	})
}

// sleepy takes long for a long list, and ignores its context.
func sleepy(n int) error {
	if n > 1000 {
		time.Sleep(260 * time.Millisecond)
	}
	return nil
}

// leak starts a goroutine that outlasts the rule.
func leak() error {
	go func() { time.Sleep(3 * time.Second) }()
	return nil
}

type batch struct {
	scoreFunc
	all func(ctx context.Context, all []*cupel.ContextItem, scores []float64) error
}

func (b batch) ScoreAll(ctx context.Context, all []*cupel.ContextItem, scores []float64) error {
	return b.all(ctx, all, scores)
}

// size is a sound score.
func size(item *cupel.ContextItem, _ []*cupel.ContextItem) float64 { return float64(item.Tokens()) }

// The helpers below make new strategies, with memories of their own, for each
// call: a strategy that is always the same one is warm when a rule begins.

func brokenScorer(newScorer func() cupel.Scorer) func(t cupeltest.T) {
	return func(t cupeltest.T) { cupeltest.TestScorer(t, newScorer) }
}

// the returns a function that returns the same value each time.
func the[S any](s S) func() S { return func() S { return s } }

type (
	batchPart = func(ctx context.Context, all []*cupel.ContextItem, scores []float64) error
	offset    = func(all []*cupel.ContextItem) float64
)

// brokenBatch is a batch form that does after when it has scored all items.
func brokenBatch(after batchPart) func(t cupeltest.T) {
	return brokenBatches(the(after))
}

func brokenBatches(newAfter func() batchPart) func(t cupeltest.T) {
	return brokenScorer(func() cupel.Scorer {
		after := newAfter()
		return batch{size, func(ctx context.Context, all []*cupel.ContextItem, scores []float64) error {
			for i, item := range all {
				scores[i] = size(item, all)
			}
			return after(ctx, all, scores)
		}}
	})
}

// plus changes the scores by something that is not theirs.
func plus(newOffset func() offset) func() batchPart {
	return func() batchPart {
		offset := newOffset()
		return func(_ context.Context, all []*cupel.ContextItem, scores []float64) error {
			extra := offset(all)
			for i := range scores {
				scores[i] += extra
			}
			return nil
		}
	}
}

// The memories below are each shared by the single and the batch form of a
// fault.

func counter() func([]*cupel.ContextItem) float64 {
	var calls atomic.Int64
	return func([]*cupel.ContextItem) float64 { return float64(calls.Add(1)) }
}

func longestSeen() func(all []*cupel.ContextItem) float64 {
	var (
		lock    locked
		longest int
	)
	return func(all []*cupel.ContextItem) (n float64) {
		lock.do(func() { longest = max(longest, len(all)); n = float64(longest) })
		return n
	}
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

// rankedOnce remembers the rank that an item had in the list in which it came
// first, as a cache by item does.
func rankedOnce() func(item *cupel.ContextItem, all []*cupel.ContextItem) float64 {
	var lock locked
	ranks := make(map[*cupel.ContextItem]float64)
	return func(item *cupel.ContextItem, all []*cupel.ContextItem) (rank float64) {
		lock.do(func() {
			if _, known := ranks[item]; !known {
				ranks[item] = float64(slices.Index(all, item))
			}
			rank = ranks[item]
		})
		return rank
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

func panicsAtOne(all []*cupel.ContextItem) float64 {
	if len(all) == 1 {
		panic("nothing to compare with")
	}
	return 0
}

func TestBrokenScorers(t *testing.T) {
	skipUnderRace(t)
	single := func(newOffset func() offset) func(t cupeltest.T) {
		return brokenScorer(func() cupel.Scorer {
			offset := newOffset()
			return scoreFunc(func(item *cupel.ContextItem, all []*cupel.ContextItem) float64 { return size(item, nil) + offset(all) })
		})
	}
	var (
		kept perGoroutine[[]float64]
		turn = counter()
	)
	checkFaults(t, "scorer", []fault{
		{"nil", "it is accepted by cupel.New: neither nil nor invalid, and not inside itself.", brokenScorer(the[cupel.Scorer](nil)), "Scorer"},
		{"typed nil", "it is accepted by cupel.New: neither nil nor invalid, and not inside itself.", brokenScorer(the[cupel.Scorer](scoreFunc(nil))), "Scorer"},
		{"not ready", "it is accepted by cupel.New: neither nil nor invalid, and not inside itself.", brokenScorer(the[cupel.Scorer](invalid{})), "not ready"},

		{"panics", "Score takes every valid list, one of a single item too, without a panic or an error.", single(the[offset](panicsAtOne)), "a list of one item: panic: nothing to compare with"},
		{"counts its calls", "Score stores nothing about a call: what was called before does not change a result.", single(counter), "item 1 scores "},
		{"scores by turns", "Score is a pure function: the same input gives the same result each time.", single(the(counter())), "run again: item 1 scores "},
		{"remembers the longest list", "Score stores nothing about a call: what was called before does not change a result.", single(longestSeen), "run first and after other lists: item 1 scores "},
		{"remembers by address", "Score does not keep the list, whose memory is used again after the call.", single(cachedByAddress), "in memory of its own and in that of the list before"},
		{"sorts the list", "Score does not change the list that it is given.", single(the[offset](sorts)), "position 0 holds something else"},
		{"appends to the list", "Score does not change the list that it is given.", single(the[offset](appends)), "behind the end of the list"},
		{"remembers items", "Score stores nothing about a call: what was called before does not change a result.", brokenScorer(the[cupel.Scorer](scoreFunc(rankedOnce()))), "run in two orders of the lists, with equal items: item 1 scores "},
		{"is not safe", "Score is safe for concurrent use.", single(whenAway), "run alone and in several goroutines"},
		{"remembers the item before", "Score depends on the item and the list, not on which item of the list was scored before.",
			brokenScorer(func() cupel.Scorer {
				var previous perList[*cupel.ContextItem]
				return scoreFunc(func(item *cupel.ContextItem, all []*cupel.ContextItem) (s float64) {
					previous.use(all, func(before **cupel.ContextItem) {
						if item == all[0] {
							*before = nil
						}
						s = size(item, nil) - size(*before, nil)
						*before = item
					})
					return s
				})
			}), "after the items before it"},

		{"wants every item once", "Score takes a list that holds an item twice: two candidates, alike.",
			brokenScorer(the[cupel.Scorer](scoreFunc(func(item *cupel.ContextItem, all []*cupel.ContextItem) float64 {
				at := slices.Index(all, item)
				if slices.Contains(all[at+1:], item) {
					panic("given twice")
				}
				return 0
			}))), "panic: given twice"},

		{"leaves goroutines", "Score starts no goroutine that goes on after the call, except for a number that does not grow.",
			single(the[offset](func(all []*cupel.ContextItem) float64 {
				if len(all) == 3 {
					_ = leak()
				}
				return 0
			})), " goroutines after a third of them, "},

		{"batch fails", "ScoreAll takes every valid list, one of a single item too, without a panic or an error.",
			brokenBatch(func(_ context.Context, all []*cupel.ContextItem, _ []float64) error {
				if len(all) == 1 {
					return errors.New("too few")
				}
				return nil
			}), `a list of one item: the error "too few"`},
		{"batch counts its calls", "ScoreAll stores nothing about a call: what was called before does not change a result.", brokenBatches(plus(counter)), "item 1 scores "},
		{"batch fails by turns", "ScoreAll is a pure function: the same input gives the same result each time.",
			brokenBatch(func(_ context.Context, all []*cupel.ContextItem, _ []float64) error {
				if int(turn(nil))%20 == 0 {
					return errors.New("enough")
				}
				return nil
			}), `run again: a result, then the error "enough"`},
		{"batch remembers the longest list", "ScoreAll stores nothing about a call: what was called before does not change a result.", brokenBatches(plus(longestSeen)), "run first and after other lists: item 1 scores "},
		{"batch remembers by address", "ScoreAll does not keep the list, whose memory is used again after the call.", brokenBatches(plus(cachedByAddress)), "in that of the list before"},
		{"batch sorts the list", "ScoreAll does not change the list that it is given.", brokenBatches(plus(the[offset](sorts))), "position 0 holds something else"},
		{"batch keeps the scores", "ScoreAll gives its result away: later calls do not change it.",
			brokenBatch(func(_ context.Context, _ []*cupel.ContextItem, scores []float64) error {
				kept.use(func(before *[]float64) {
					if len(*before) > 0 {
						(*before)[0] = -1
					}
					*before = scores
				})
				return nil
			}), "before and after other calls: item 1 scores 12, then -1"},
		{"batch is not safe", "ScoreAll is safe for concurrent use.", brokenBatches(plus(whenAway)), "run alone and in several goroutines"},
		{"batch dresses the context's error", "ScoreAll that stops because its context is done fails with the context's error, and returns no part of a result.",
			brokenBatch(func(ctx context.Context, _ []*cupel.ContextItem, _ []float64) error {
				if ctx.Err() != nil {
					return errors.New("stopped")
				}
				return nil
			}), `the error "stopped"`},
		{"batch stops without an error", "ScoreAll that stops because its context is done fails with the context's error, and returns no part of a result.",
			brokenScorer(the[cupel.Scorer](batch{size, func(ctx context.Context, all []*cupel.ContextItem, scores []float64) error {
				for i, item := range all {
					if ctx.Err() != nil {
						break
					}
					scores[i] = size(item, all)
				}
				return nil //nolint:nilerr // this is the fault that the kit must find
			}})), "without an error and under a context that is done: item 1 scores 12, then 0"},
		{"batch rounds otherwise", "ScoreAll gives the same bits as Score.", brokenBatch(func(_ context.Context, _ []*cupel.ContextItem, scores []float64) error {
			for i := range scores {
				scores[i] = math.Nextafter(scores[i], math.Inf(1))
			}
			return nil
		}), "Score and ScoreAll: item "},
		{"batch leaves one out", "ScoreAll writes every score.",
			brokenScorer(the[cupel.Scorer](batch{size, func(_ context.Context, all []*cupel.ContextItem, scores []float64) error {
				for i, item := range all[:max(0, len(all)-1)] {
					scores[i] = size(item, all)
				}
				return nil
			}})), "the score of item 9 is what was there before"},
		{"batch works by pointer", "ScoreAll scores an item that is given twice at each of its positions, as Score does.",
			brokenScorer(the[cupel.Scorer](batch{size, func(_ context.Context, all []*cupel.ContextItem, scores []float64) error {
				at := make(map[*cupel.ContextItem]int)
				for i, item := range all {
					at[item] = i
				}
				for item, i := range at {
					scores[i] = size(item, all)
				}
				return nil
			}})), "a list that holds two items twice, Score and ScoreAll: item 1 scores 12, then 0"},
		{"batch does not look at its context", "ScoreAll stops soon after its context is done, if it takes long.",
			brokenBatch(func(_ context.Context, all []*cupel.ContextItem, _ []float64) error { return sleepy(len(all)) }), "under a context that is done"},
		{"batch leaves goroutines", "ScoreAll starts no goroutine that goes on after the call, except for a number that does not grow.",
			brokenBatch(func(context.Context, []*cupel.ContextItem, []float64) error { return leak() }), " goroutines after a third of them, "},
		{"batch looks at the first", "ScoreAll takes an empty list.", brokenBatch(func(_ context.Context, all []*cupel.ContextItem, _ []float64) error {
			_ = all[0]
			return nil
		}), "panic: runtime error: index out of range"},
	})
}
