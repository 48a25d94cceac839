package cupeltest_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/observe"
	"github.com/wollax/cupel-go/cupel/placer"
	"github.com/wollax/cupel-go/cupel/scorer"
	"github.com/wollax/cupel-go/cupel/slicer"
	"github.com/wollax/cupel-go/cupel/strategy"
	"github.com/wollax/cupel-go/cupeltest"
)

// logging is a T with the method for warnings.
type logging struct {
	spy
	logs []string
}

func (l *logging) Logf(format string, args ...any) {
	l.logs = append(l.logs, fmt.Sprintf(format, args...))
}

var errBusy = errors.New("busy")

// hashed is a score that depends on the content alone.
func hashed(item *cupel.ContextItem, _ []*cupel.ContextItem) float64 {
	h := fnv.New32a()
	_, _ = h.Write([]byte(item.Content()))
	return float64(h.Sum32()) / math.MaxUint32
}

// pool is a scorer with goroutines that it starts once and never ends.
type pool struct {
	once sync.Once
	jobs chan func()
}

func (p *pool) Score(_ context.Context, all []*cupel.ContextItem, scores []float64) error {
	p.once.Do(func() {
		p.jobs = make(chan func())
		for range 4 {
			go func() {
				for job := range p.jobs {
					job()
				}
			}()
		}
	})
	var group sync.WaitGroup
	for i, item := range all {
		group.Add(1)
		p.jobs <- func() {
			defer group.Done()
			scores[i] = size(item, all)
		}
	}
	group.Wait()
	return nil
}

// Strategies that are unusual and keep their contracts.
func TestSoundStrategiesPass(t *testing.T) {
	scorers := func(newScorer func() strategy.Scorer, opts ...cupeltest.StrategyOption) func(t cupeltest.T) {
		return func(t cupeltest.T) { cupeltest.TestScorer(t, newScorer, opts...) }
	}
	score := func(s scoring, opts ...cupeltest.StrategyOption) func(t cupeltest.T) {
		return scorers(the[strategy.Scorer](scoreFunc(s)), opts...)
	}
	slicing1 := func(s sliceFunc, opts ...cupeltest.SlicerOption) func(t cupeltest.T) {
		return func(t cupeltest.T) { cupeltest.TestSlicer(t, the[strategy.Slicer](s), opts...) }
	}
	own := []*cupel.ContextItem{
		cupeltest.Item("a", 5, cupel.WithMetadata(map[string]any{"weight": 3})),
		cupeltest.Item("b", 50, cupel.WithMetadata(map[string]any{"weight": 1})),
		cupeltest.Item("c", 20, cupel.WithMetadata(map[string]any{"weight": 2})),
	}
	table := map[*cupel.ContextItem]float64{own[0]: 0.3, own[1]: 0.1, own[2]: 0.2}
	for name, run := range map[string]func(t cupeltest.T){
		"by content": score(hashed),
		"negative":   score(func(item *cupel.ContextItem, _ []*cupel.ContextItem) float64 { return -float64(item.Tokens()) }),
		"infinite":   score(func(*cupel.ContextItem, []*cupel.ContextItem) float64 { return math.Inf(1) }),
		"constant":   score(func(*cupel.ContextItem, []*cupel.ContextItem) float64 { return 0 }),
		"NaN without a time": score(func(item *cupel.ContextItem, _ []*cupel.ContextItem) float64 {
			if at, ok := item.Timestamp(); ok {
				return float64(at.Unix())
			}
			return math.NaN()
		}),
		"by rank": score(rank),
		"a memo of what the content decides": scorers(func() strategy.Scorer {
			return scoreFunc(memo(func(item *cupel.ContextItem, _ []*cupel.ContextItem) string { return item.Content() }, hashed))
		}),
		"a memo by item of what the item decides": scorers(func() strategy.Scorer {
			return scoreFunc(memo(func(item *cupel.ContextItem, _ []*cupel.ContextItem) *cupel.ContextItem { return item }, size))
		}),
		"one scorer for all":  scorers(the[strategy.Scorer](scoreFunc(memo(func(item *cupel.ContextItem, _ []*cupel.ContextItem) string { return item.Content() }, hashed)))),
		"goroutines for good": scorers(func() strategy.Scorer { return new(pool) }),
		"a goroutine for each item": scorers(the[strategy.Scorer](batch(func(_ context.Context, all []*cupel.ContextItem, scores []float64) error {
			var group sync.WaitGroup
			for i, item := range all {
				group.Go(func() { scores[i] = size(item, all) })
			}
			group.Wait()
			return nil
		}))),
		"looks at its context": scorers(the[strategy.Scorer](batch(func(ctx context.Context, all []*cupel.ContextItem, scores []float64) error {
			ctx, cancel := context.WithTimeout(ctx, time.Hour)
			defer cancel()
			for i, item := range all {
				if err := ctx.Err(); err != nil {
					return fmt.Errorf("item %d: %w", i, err)
				}
				scores[i] = size(item, all)
			}
			return nil
		}))),
		"slow, and stops": scorers(the[strategy.Scorer](batch(func(ctx context.Context, all []*cupel.ContextItem, scores []float64) error {
			if len(all) > 1000 {
				select {
				case <-ctx.Done():
					return ctx.Err()
				case <-time.After(260 * time.Millisecond):
				}
			}
			for i, item := range all {
				scores[i] = size(item, all)
			}
			return nil
		}))),
		"metadata of every item": score(func(item *cupel.ContextItem, _ []*cupel.ContextItem) float64 {
			weight, ok := item.MetadataValue("weight")
			if !ok {
				panic("no weight")
			}
			return float64(weight.(int))
		}, cupeltest.OnlyItems(own...)),
		"a table of its items": score(func(item *cupel.ContextItem, _ []*cupel.ContextItem) float64 {
			s, ok := table[item]
			if !ok {
				panic("not in the table")
			}
			return s
		}, cupeltest.OnlyItems(own...)),
		"busy": scorers(the[strategy.Scorer](batch(func(_ context.Context, all []*cupel.ContextItem, scores []float64) error {
			if len(all) > 50 {
				return fmt.Errorf("%d items: %w", len(all), errBusy)
			}
			for i, item := range all {
				scores[i] = size(item, all)
			}
			return nil
		})), cupeltest.MayFail(errBusy)),
		"changes from call to call, which is known": scorers(func() strategy.Scorer {
			sum := counter()
			return scoreFunc(func(*cupel.ContextItem, []*cupel.ContextItem) float64 { return sum(nil) })
		}, cupeltest.Except("Score stores nothing"), cupeltest.Except("Score does not keep"), cupeltest.Except("Score is safe for"), cupeltest.Except("Score that stops"), cupeltest.Except("Score gives an item that")),

		"nothing": slicing1(func([]cupel.ScoredItem, cupel.SliceBudget) (strategy.Selection, error) {
			return strategy.Selection{}, nil
		}),
		"the last that fits": slicing1(func(items []cupel.ScoredItem, budget cupel.SliceBudget) (sel strategy.Selection, err error) {
			for i, it := range slices.Backward(items) {
				if budget.TargetTokens > 0 && it.Item.Tokens() <= budget.TargetTokens {
					sel.Indices = []int{i}
					break
				}
			}
			return sel, nil
		}),
		"drops the rest": slicing1(func(items []cupel.ScoredItem, budget cupel.SliceBudget) (strategy.Selection, error) {
			sel := firstFit(items, budget)
			for i := range items {
				if !slices.Contains(sel.Indices, i) {
					sel.Drops = append(sel.Drops, strategy.Drop{Index: i, Reason: because(cupel.ExcludeScoredTooLow)})
				}
			}
			return sel, nil
		}),
		"refuses small budgets": slicing1(func(items []cupel.ScoredItem, budget cupel.SliceBudget) (strategy.Selection, error) {
			if len(items) > 0 && budget.TargetTokens > 0 && budget.TargetTokens < 100 {
				return strategy.Selection{}, errBusy
			}
			return firstFit(items, budget), nil
		}, cupeltest.MayFail(errBusy)),
		"the best of all subsets": func(t cupeltest.T) { cupeltest.TestSlicer(t, the[strategy.Slicer](exact{})) },
		"two goroutines":          func(t cupeltest.T) { cupeltest.TestSlicer(t, the[strategy.Slicer](ofTwo{})) },
		"all or nothing": slicing1(func(items []cupel.ScoredItem, budget cupel.SliceBudget) (strategy.Selection, error) {
			if sel := firstFit(items, budget); len(sel.Indices) == len(items) {
				return sel, nil
			}
			return strategy.Selection{}, nil
		}),
		"smaller forms first": slicing1(func(items []cupel.ScoredItem, budget cupel.SliceBudget) (sel strategy.Selection, err error) {
			left := budget.TargetTokens
			for i, it := range items {
				if forms := it.Item.Forms(); left > 0 && len(forms) > 0 && forms[len(forms)-1].Tokens <= left {
					left -= forms[len(forms)-1].Tokens
					sel.Smaller = append(sel.Smaller, strategy.SmallerForm{Index: i, Form: len(forms)})
				} else if left > 0 && it.Item.Tokens() <= left {
					left -= it.Item.Tokens()
					sel.Indices = append(sel.Indices, i)
				}
			}
			return sel, nil
		}),
		"by kind": func(t cupeltest.T) {
			cupeltest.TestPlacer(t, the[strategy.Placer](placeFunc(func(items []cupel.ScoredItem) ([]int, error) {
				order := asGiven(items)
				slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(items[a].Item.Kind(), items[b].Item.Kind()) })
				return order, nil
			})))
		},
		"by hash": func(t cupeltest.T) {
			cupeltest.TestPlacer(t, the[strategy.Placer](placeFunc(func(items []cupel.ScoredItem) ([]int, error) {
				order := asGiven(items)
				slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(hashed(items[a].Item, nil), hashed(items[b].Item, nil)) })
				return order, nil
			})))
		},
		"worst first": func(t cupeltest.T) {
			cupeltest.TestPlacer(t, the[strategy.Placer](placeFunc(func(items []cupel.ScoredItem) ([]int, error) {
				order := asGiven(items)
				slices.Reverse(order)
				return order, nil
			})))
		},
		"only its items": func(t cupeltest.T) {
			cupeltest.TestPlacer(t, the[strategy.Placer](placer.UShaped{}), cupeltest.OnlyItems(own...))
			cupeltest.TestSlicer(t, the[strategy.Slicer](slicer.Greedy{}), cupeltest.OnlyItems(own...))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if s := watch(run); len(s.messages) > 0 {
				t.Errorf("it is refused:\n%s", strings.Join(s.messages, "\n"))
			}
		})
	}
}

// What is lawful and bad is a warning where T takes one, and a failure if it is
// asked for.
func TestAdvice(t *testing.T) {
	skipUnderRace(t)
	quadratic := func(n int) { time.Sleep(time.Duration(n*n) * time.Microsecond / 100) } // 40 ms of a clock that stands still otherwise
	for _, tt := range []struct {
		name, want string
		run        func(t cupeltest.T, opts ...cupeltest.StrategyOption)
	}{
		{"NaN", "a score is not a number: NaN\n\trule: Score is a number for items whose fields are ordinary.\n\tfound: a list of 9 sample items: item 2 scores NaN", func(t cupeltest.T, opts ...cupeltest.StrategyOption) {
			cupeltest.TestScorer(t, the[strategy.Scorer](scoreFunc(func(item *cupel.ContextItem, _ []*cupel.ContextItem) float64 {
				return float64(item.NumTags()-1) / float64(item.NumTags()-1)
			})), opts...)
		}},
		{"quadratic scorer", "Score is slow for long lists: ", func(t cupeltest.T, opts ...cupeltest.StrategyOption) {
			cupeltest.TestScorer(t, the[strategy.Scorer](batch(func(_ context.Context, all []*cupel.ContextItem, scores []float64) error {
				quadratic(len(all))
				for i, item := range all {
					scores[i] = size(item, all)
				}
				return nil
			})), opts...)
		}},
		{"quadratic slicer", "Slice is slow for long lists: ", func(t cupeltest.T, opts ...cupeltest.StrategyOption) {
			cupeltest.TestSlicer(t, the[strategy.Slicer](slicerWith(func(items []cupel.ScoredItem, _ cupel.SliceBudget, _ *strategy.Selection) error {
				quadratic(len(items))
				return nil
			})), slicerOptions(opts)...)
		}},
		{"quadratic placer", "Place is slow for long lists: ", func(t cupeltest.T, opts ...cupeltest.StrategyOption) {
			cupeltest.TestPlacer(t, the[strategy.Placer](placeFunc(func(items []cupel.ScoredItem) ([]int, error) {
				quadratic(len(items))
				return asGiven(items), nil
			})), opts...)
		}},
		{"stops at the first that does not fit", "budget is left over: position ", func(t cupeltest.T, opts ...cupeltest.StrategyOption) {
			cupeltest.TestSlicer(t, the[strategy.Slicer](sliceFunc(func(items []cupel.ScoredItem, budget cupel.SliceBudget) (sel strategy.Selection, err error) {
				for i, left := 0, budget.TargetTokens; i < len(items) && left > 0 && items[i].Item.Tokens() <= left; i++ {
					sel.Indices = append(sel.Indices, i)
					left -= items[i].Item.Tokens()
				}
				return sel, nil
			})), slicerOptions(opts)...)
		}},
		{"sorts by size without order", "equal items are selected in no order: ", func(t cupeltest.T, opts ...cupeltest.StrategyOption) {
			cupeltest.TestSlicer(t, the[strategy.Slicer](sliceFunc(func(items []cupel.ScoredItem, budget cupel.SliceBudget) (sel strategy.Selection, err error) {
				order := asGiven(items)
				slices.SortFunc(order, func(a, b int) int { return cmp.Compare(items[a].Item.Tokens(), items[b].Item.Tokens()) })
				left := budget.TargetTokens
				for _, i := range order {
					if left > 0 && items[i].Item.Tokens() <= left {
						sel.Indices = append(sel.Indices, i)
						left -= items[i].Item.Tokens()
					}
				}
				return sel, nil
			})), slicerOptions(opts)...)
		}},
		{"sorts by time without order", "equal items are placed in no order: ", func(t cupeltest.T, opts ...cupeltest.StrategyOption) {
			cupeltest.TestPlacer(t, the[strategy.Placer](placeFunc(func(items []cupel.ScoredItem) ([]int, error) {
				order := asGiven(items)
				slices.SortFunc(order, func(a, b int) int {
					x, _ := items[a].Item.Timestamp()
					y, _ := items[b].Item.Timestamp()
					return x.Compare(y)
				})
				return order, nil
			})), opts...)
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				l := new(logging)
				tt.run(l)
				if len(l.messages) > 0 || len(l.logs) != 1 || !strings.Contains(l.logs[0], " is lawful but bad: "+tt.want) {
					t.Errorf("failures %q and warnings %q, want the one warning %q", l.messages, l.logs, tt.want)
				}
				s := watch(func(t cupeltest.T) { tt.run(t, cupeltest.Strict()) })
				if len(s.messages) != 1 || !strings.Contains(s.messages[0], " is lawful but bad: "+tt.want) {
					t.Errorf("strictly, the failures are %q, want %q", s.messages, tt.want)
				}
				if tt.name == "NaN" {
					if s := watch(func(t cupeltest.T) { tt.run(t) }); len(s.messages) > 0 {
						t.Errorf("without Logf, the failures are %q", s.messages)
					}
				}
			})
		})
	}
}

// What breaks a contract is not lawful where warnings are failures.
func TestBrokenUnderOptions(t *testing.T) {
	s := watch(func(t cupeltest.T) {
		cupeltest.TestScorer(t, the[strategy.Scorer](scoreFunc(func(item *cupel.ContextItem, all []*cupel.ContextItem) float64 {
			if at := slices.Index(all, item); slices.Contains(all[at+1:], item) {
				panic("given twice")
			}
			return size(item, all)
		})), cupeltest.Strict(), cupeltest.Except("Score takes time in proportion")) // it does not
	})
	equalMessages(t, "TestScorer", s.messages, []string{
		"scorer cupeltest_test.scoreFunc breaks its contract: Score confuses items that are given twice: panic: given twice\n" +
			"\trule: Score gives an item that is given twice the same score at each of its positions.\n\tfound: a list that holds two items twice: panic: given twice",
	}, "it is one mistake")
}

// Collectors have warnings and exceptions as strategies do.
func TestAdviceForCollectors(t *testing.T) {
	slower := func() observe.TraceCollector {
		return &listCollector{stage: func(l *listCollector, e cupel.TraceEvent) {
			time.Sleep(time.Duration(len(l.events)) * time.Microsecond)
			l.add(e)
		}}
	}
	synctest.Test(t, func(t *testing.T) { // whose clock stands still while nothing sleeps
		const want = " is lawful but bad: recording is slow for many events: "
		l := new(logging)
		cupeltest.TestTraceCollector(l, slower)
		if len(l.messages) > 0 || len(l.logs) != 1 || !strings.Contains(l.logs[0], want) {
			t.Errorf("failures %q and warnings %q, want the one warning %q", l.messages, l.logs, want)
		}
		for _, tt := range []struct {
			name    string
			options []cupeltest.CollectorOption
			fails   int
			why     string
		}{
			{"strict", []cupeltest.CollectorOption{cupeltest.Strict()}, 1, "it was asked for"},
			{"without the rule", []cupeltest.CollectorOption{cupeltest.Strict(), cupeltest.Except("recording takes time")}, 0, "the rule is left out"},
			{"without an unknown rule", []cupeltest.CollectorOption{cupeltest.Except("recoding")}, 1, "a slip must not pass"},
		} {
			if s := watch(func(t cupeltest.T) { cupeltest.TestTraceCollector(t, slower, tt.options...) }); len(s.messages) != tt.fails {
				t.Errorf("%s: %q, want %d, since %s", tt.name, s.messages, tt.fails, tt.why)
			}
		}
	})
}

func slicerOptions(opts []cupeltest.StrategyOption) (of []cupeltest.SlicerOption) {
	for _, opt := range opts {
		of = append(of, opt)
	}
	return of
}

// The best strategies of the specification have no warning either.
func TestNoAdvice(t *testing.T) {
	strict := cupeltest.Strict()
	for _, s := range []strategy.Scorer{scorer.Recency{}, scorer.Frequency{}, scorer.Priority{}, composite(scorer.Recency{}, scorer.Kind{})} {
		cupeltest.TestScorer(t, the(s), strict)
	}
	for _, s := range []strategy.Slicer{slicer.Greedy{}, slicer.ScoreGreedy{}} {
		cupeltest.TestSlicer(t, the(s), strict)
	}
	for _, p := range []strategy.Placer{placer.Chronological{}, placer.UShaped{}} {
		cupeltest.TestPlacer(t, the(p), strict)
	}
}

func TestOptionsOfTheKitAreChecked(t *testing.T) {
	s := watch(func(t cupeltest.T) {
		cupeltest.TestScorer(t, the[strategy.Scorer](scoreFunc(size)), cupeltest.Except("Skore"), cupeltest.Except(""))
	})
	equalMessages(t, "TestScorer", s.messages, []string{
		`Except("Skore"): no rule for this scorer begins like that`, `Except(""): no rule for this scorer begins like that`,
	}, "a rule that is renamed must not be left out in silence")
	for name, run := range map[string]func(t cupeltest.T){
		"OnlyItems was given no item that a strategy may receive: tokens must be 0 or more": func(t cupeltest.T) {
			cupeltest.TestPlacer(t, the[strategy.Placer](placer.UShaped{}), cupeltest.OnlyItems(cupeltest.Item("negative", -1)))
		},
		"OnlyItems was given nil as item 1": func(t cupeltest.T) {
			cupeltest.TestPlacer(t, the[strategy.Placer](placer.UShaped{}), cupeltest.OnlyItems(nil))
		},
		"there is no function that makes the slicer: it is nil": func(t cupeltest.T) { cupeltest.TestSlicer(t, nil) },
		"TestTraceCollector: there is no function that makes the collector: it is nil": func(t cupeltest.T) {
			cupeltest.TestTraceCollector(t, nil)
		},
	} {
		s := watch(run)
		equalMessages(t, "the kit", s.messages, []string{name}, "there is nothing to test")
		if !s.stopped {
			t.Error("the kit went on")
		}
	}
}
