package cupeltest_test

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/observe"
	"github.com/wollax/cupel-go/cupel/strategy"
	"github.com/wollax/cupel-go/cupeltest"
)

// moreFaults are faults that the kits once did not find.
func moreFaults(t *testing.T, role string) []fault {
	t.Helper()
	switch role {
	case "scorer":
		return moreScorerFaults()
	case "slicer":
		return moreSlicerFaults()
	case "placer":
		return morePlacerFaults()
	case "collector":
		return moreCollectorFaults()
	}
	t.Fatalf("there is no kit for a %s", role)
	return nil
}

func moreScorerFaults() []fault {
	return []fault{
		{"looks at all of the array", "Score does not look behind", scorerOf(the[scoring](func(item *cupel.ContextItem, all []*cupel.ContextItem) float64 {
			return float64(len(slices.DeleteFunc(slices.Clone(all[:cap(all)]), func(it *cupel.ContextItem) bool { return it == nil || it.Tokens() < item.Tokens() })))
		})), ", without memory behind its end and with it: item "},
		{"batch goes by the capacity", "Score does not look behind", batchOf(func(_ context.Context, all []*cupel.ContextItem, scores []float64) error {
			for i, item := range all {
				if scores[i] = size(item, all); cap(all) > len(all) && all[:len(all)+1][len(all)] != nil {
					scores[i] = 0
				}
			}
			return nil
		}), ""},
		{"divides by the tokens", "Score takes every valid list", scorerOf(the[scoring](func(item *cupel.ContextItem, all []*cupel.ContextItem) float64 {
			sum := 0
			for _, it := range all {
				sum += it.Tokens() / 2
			}
			return float64(item.Tokens() / max(sum, -sum))
		})), "two items without tokens: panic: "},
		{"no score for the last word of bits", "Score writes every score", batchOf(func(_ context.Context, all []*cupel.ContextItem, scores []float64) error {
			n := len(all)
			if n%64 == 0 {
				n -= min(n, 64)
			}
			for i, item := range all[:n] {
				scores[i] = size(item, all)
			}
			return nil
		}), "256 random items: the score of item 193 is what was there before"},
		{"a cache that is full at 1,000", "Score stores nothing", scorerOf(func() scoring {
			var lock locked
			scores := make(map[string]float64)
			return func(item *cupel.ContextItem, _ []*cupel.ContextItem) (score float64) {
				lock.do(func() {
					if _, ok := scores[item.Content()]; !ok && len(scores) < 1000 {
						scores[item.Content()] = 1
					}
					score = scores[item.Content()]
				})
				return score
			}
		}), "2000 random items, run first and after other lists: item 991 scores 1, then 0"},
		{"keeps its first context", "Score that stops because", func(t cupeltest.T) {
			cupeltest.TestScorer(t, func() strategy.Scorer {
				first := firstContext()
				return batch(func(ctx context.Context, all []*cupel.ContextItem, scores []float64) error {
					for i, item := range all {
						scores[i] = size(item, all)
					}
					return first(ctx).Err()
				})
			})
		}, "under a context that goes on, after one that was done: the error \"context canceled\""},
		{"normalizes the caller's vectors", "Score does not change", func(t cupeltest.T) {
			item := cupeltest.Item("a", 1, cupel.WithMetadata(map[string]any{"vector": []float64{3, 4}}))
			cupeltest.TestScorer(t, the[strategy.Scorer](scoreFunc(func(item *cupel.ContextItem, _ []*cupel.ContextItem) float64 {
				if value, ok := item.MetadataValue("vector"); ok {
					value.([]float64)[0] = 0.6
				}
				return 1
			})), cupeltest.WithItems(cupeltest.Item("b", 2), item))
		}, "the caller's items: the metadata of item 2 is changed"},
	}
}

// firstContext returns a function that returns the context of its first call.
func firstContext() func(ctx context.Context) context.Context {
	var once sync.Once
	var first context.Context
	return func(ctx context.Context) context.Context {
		once.Do(func() { first = ctx })
		return first
	}
}

func moreSlicerFaults() []fault {
	of := func(s func() strategy.Slicer) func(t cupeltest.T) {
		return func(t cupeltest.T) { cupeltest.TestSlicer(t, s) }
	}
	return []fault{
		{"nothing of a list with room behind it", "Slice does not look behind", slicerOf(the[slicing](func(items []cupel.ScoredItem, budget cupel.SliceBudget) strategy.Selection {
			if cap(items) > len(items) && items[:len(items)+1][len(items)].Item != nil {
				return strategy.Selection{}
			}
			return firstFit(items, budget)
		})), ", without memory behind its end and with it: positions ["},
		{"one bit too many", "a selection is a subset: every position", slicerOf(firstFitOf(func(items []cupel.ScoredItem, sel *strategy.Selection) {
			if n := len(items); n > 0 && n%128 == 0 {
				sel.Indices = append(sel.Indices, n)
			}
		})), "256 random items, with a target of "},
		{"divides by the largest", "Slice takes every valid list", slicerOf(firstFitOf(func(items []cupel.ScoredItem, _ *strategy.Selection) {
			most := 0
			for _, it := range items {
				most = max(most, it.Item.Tokens())
			}
			if len(items) > 0 {
				_ = 100 / most
			}
		})), "two items without tokens, with a target of 1 and a ceiling of 1 tokens: panic: "},
		{"one slicer for every kind", "ForKind changes neither", of(func() strategy.Slicer { return new(narrowingItself) }), "the slicer selects, before and after the calls for other kinds, positions ["},
		{"another answer each time", "an explanation of what", of(func() strategy.Slicer { return &explainingOften{} }), "two answers"},
		{"explains by sorting the list", "an explanation of what", of(func() strategy.Slicer { return explainingBySort{} }), "the list is changed"},
	}
}

// narrowingItself is a slicer that narrows itself and returns itself.
type narrowingItself struct {
	lock locked
	kind cupel.ContextKind
}

func (n *narrowingItself) Slice(_ context.Context, items []cupel.ScoredItem, budget cupel.SliceBudget) (strategy.Selection, error) {
	sel := firstFit(items, budget)
	n.lock.do(func() {
		if n.kind != "" {
			sel.Indices = slices.DeleteFunc(sel.Indices, func(i int) bool { return !items[i].Item.Kind().Equal(n.kind) })
		}
	})
	return sel, nil
}

func (n *narrowingItself) Facts() strategy.Facts {
	return strategy.Facts{Of: n, ForKind: func(kind cupel.ContextKind) strategy.Slicer {
		n.lock.do(func() { n.kind = kind })
		return n
	}}
}

// explainingOften is a slicer that explains itself in other words each time.
type explainingOften struct{ turn bool }

func (*explainingOften) Slice(_ context.Context, items []cupel.ScoredItem, budget cupel.SliceBudget) (strategy.Selection, error) {
	return firstFit(items, budget), nil
}

func (e *explainingOften) Facts() strategy.Facts {
	return strategy.Facts{Of: e, Explain: func(context.Context, []cupel.ScoredItem, cupel.SliceBudget, strategy.Selection, int) (strategy.Obstacle, error) {
		e.turn = !e.turn
		return strategy.Obstacle{Rule: map[bool]string{true: "too large", false: "too late"}[e.turn]}, nil
	}}
}

// explainingBySort is a slicer whose explanations sort the list that they are given.
type explainingBySort struct{}

func (explainingBySort) Slice(_ context.Context, items []cupel.ScoredItem, budget cupel.SliceBudget) (strategy.Selection, error) {
	return firstFit(items, budget), nil
}

func (e explainingBySort) Facts() strategy.Facts {
	return strategy.Facts{Of: e, Explain: func(_ context.Context, items []cupel.ScoredItem, _ cupel.SliceBudget, _ strategy.Selection, _ int) (strategy.Obstacle, error) {
		slices.SortFunc(items, func(a, b cupel.ScoredItem) int { return cmp.Compare(a.Item.Tokens(), b.Item.Tokens()) })
		return strategy.Obstacle{Rule: "it is too large"}, nil
	}}
}

func morePlacerFaults() []fault {
	roomy := func(items []cupel.ScoredItem) bool {
		return cap(items) > len(items) && items[:len(items)+1][len(items)].Item != nil
	}
	return []fault{{"places by capacity", "Place does not look behind", turned(the(roomy)), "without memory behind its end"}}
}

func moreCollectorFaults() []fault {
	of := func(newCollector func() observe.TraceCollector) func(t cupeltest.T) {
		return func(t cupeltest.T) { cupeltest.TestTraceCollector(t, newCollector) }
	}
	return []fault{
		{"cuts messages at 256 bytes", "every stage event is recorded", of(func() observe.TraceCollector {
			return &listCollector{stage: func(l *listCollector, e cupel.TraceEvent) {
				e.Message = e.Message[:min(256, len(e.Message))]
				l.add(e)
			}}
		}), "an event with a message of 549 bytes in two lines is not recorded as it was sent"},
		{"a deadline of its own", "a context that an observer returns", of(func() observe.TraceCollector {
			return &observer{run: func(ctx context.Context) context.Context {
				ctx, cancel := context.WithTimeout(ctx, time.Minute)
				context.AfterFunc(ctx, cancel)
				return ctx
			}}
		}), "the run's context has no deadline, and that of the strategies has one"},
	}
}

// A call that never returns is reported, and ends the kit.
func TestCallsThatNeverReturn(t *testing.T) {
	for _, row := range []struct {
		name, want string
		run        func(t cupeltest.T, wait func())
		why        string
	}{
		{"scorer", "scorer cupeltest_test.scoreFunc breaks its contract: Score fails: no call has returned for 15s; ", func(t cupeltest.T, wait func()) {
			cupeltest.TestScorer(t, the[strategy.Scorer](scoreFunc(func(item *cupel.ContextItem, all []*cupel.ContextItem) float64 {
				if len(all) == 3 {
					wait()
				}
				return size(item, all)
			})))
		}, "an early return has left a lock held"},
		{"collector", "collector *cupeltest_test.listCollector breaks its contract: does not take every event: no call has returned for 15s; ", func(t cupeltest.T, wait func()) {
			cupeltest.TestTraceCollector(t, func() observe.TraceCollector {
				return &listCollector{stage: func(*listCollector, cupel.TraceEvent) { wait() }}
			})
		}, "a channel that nothing reads"},
	} {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ended := make(chan struct{})
				defer close(ended)
				began := time.Now()
				s := watch(func(t cupeltest.T) { row.run(t, func() { <-ended }) })
				if len(s.messages) != 1 || !strings.HasPrefix(s.messages[0], row.want) || !strings.HasSuffix(s.messages[0], "\n\tskipped: the rules that follow this one") {
					t.Errorf("the failures are %q, want one that begins with %q: %s", s.messages, row.want, row.why)
				}
				if took := time.Since(began); took > 30*time.Second {
					t.Errorf("it took %v", took)
				}
			})
		})
	}
}

// What a goroutine writes to a list after the call is seen without the race
// detector too.
func TestLateWrites(t *testing.T) {
	if raceEnabled {
		t.Skip("the fault is a data race, which the detector reports")
	}
	synctest.Test(t, func(t *testing.T) {
		s := watch(func(t cupeltest.T) {
			cupeltest.TestSlicer(t, the[strategy.Slicer](sliceFunc(func(items []cupel.ScoredItem, budget cupel.SliceBudget) (strategy.Selection, error) {
				if len(items) == 3 {
					time.AfterFunc(time.Millisecond, func() { items[0].Score = 2 })
				}
				return firstFit(items, budget), nil
			})))
		})
		const want = ": position 0 holds something else after the call, a while later\n"
		if len(s.messages) == 0 || !strings.Contains(s.messages[0], " breaks its contract: Slice changes its list: ") || !strings.Contains(s.messages[0], want) {
			t.Errorf("the failures are %q, want the first with %q", s.messages, want)
		}
	})
}
