package cupeltest_test

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/strategy"
	"github.com/wollax/cupel-go/cupeltest"
)

// A fault is an implementation that breaks a rule, as people write them. The first
// failure is of this rule, even if more is broken by the way.
type fault struct {
	name string
	rule string
	make func() any // a new one for each call, with a memory of its own
	opts []cupeltest.KitOption
	// In a bubble of testing/synctest, where its waits cost nothing and no other work on
	// the machine disturbs them.
	bubble bool
}

// test runs the kit for what start returns.
func test(t cupeltest.T, start func() any, opts ...cupeltest.KitOption) {
	t.Helper()
	switch start().(type) {
	case strategy.Scorer:
		cupeltest.TestScorer(t, func() strategy.Scorer { return start().(strategy.Scorer) }, opts...)
	case strategy.Slicer:
		cupeltest.TestSlicer(t, func() strategy.Slicer { return start().(strategy.Slicer) }, opts...)
	case strategy.Placer:
		cupeltest.TestPlacer(t, func() strategy.Placer { return start().(strategy.Placer) }, opts...)
	default:
		t.Errorf("there is no kit for a %T", start())
	}
}

// messages returns what the kit reports.
func (f fault) messages(t *testing.T) (messages []string) {
	t.Helper()
	run := func() { messages = watch(func(t cupeltest.T) { test(t, f.make, f.opts...) }).messages }
	if !f.bubble {
		run()
		return messages
	}
	synctest.Test(t, func(*testing.T) {
		run()
		time.Sleep(2 * time.Hour) // until what was started is over
	})
	return messages
}

// varying are rules whose failures depend on chance, the machine or the time of day,
// and generation is what contents end with.
var (
	varying    = regexp.MustCompile(` breaks the rule (result|memory|repeat|concurrency|environment|long-call|goroutines|growth|for-kind|alike): `)
	generation = regexp.MustCompile(` \(\d{5}\)`)
)

// checkFaults wants each fault caught by its rule, and each rule to catch one. What
// the kit says of them is in testdata, which the variable that updates golden files
// updates too.
func checkFaults(t *testing.T, role string, faults []fault) {
	t.Helper()
	caught := make(map[string]bool)
	var page strings.Builder
	run := 0
	for _, f := range faults {
		caught[f.rule] = true
		t.Run(f.name, func(t *testing.T) {
			messages := f.messages(t)
			require.NotEmpty(t, messages, "it passes")
			require.Contains(t, messages[0], " breaks the rule "+f.rule+": ", "all failures: %s", strings.Join(messages, "\n"))
			require.True(t, strings.HasPrefix(messages[0], role+" "), messages[0])
			require.NotRegexp(t, `\d\.\d{10}`, firstLine(messages[0]))
			fmt.Fprintf(&page, "# %s\n", f.name)
			for _, message := range messages {
				if !varying.MatchString(message) {
					page.WriteString(generation.ReplaceAllString(message, "") + "\n")
				}
			}
			run++
		})
	}
	for _, name := range cupeltest.RuleNames()[role] {
		require.True(t, caught[name], "no %s shows that the rule %s finds anything", role, name)
	}
	if run == len(faults) {
		samePage(t, "testdata/faults-of-"+role+"s.txt", page.String())
	}
}

// the returns a function that returns the same value each time.
func the(s any) func() any { return func() any { return s } }

// invalid is strategies that say of themselves that they are not ready.
type invalid struct{}

func (i invalid) Facts() strategy.Facts {
	return strategy.Facts{Of: i, Invalid: errors.New("not ready")}
}

func (invalid) Score(context.Context, []*cupel.ContextItem, []float64) error { return nil }

// batch is a scorer of a whole list, whose scores are sizes until it has run.
type batch func(ctx context.Context, all []*cupel.ContextItem, scores []float64) error

func (b batch) Score(ctx context.Context, all []*cupel.ContextItem, scores []float64) error {
	for i, item := range all {
		scores[i] = float64(item.Tokens())
	}
	return b(ctx, all, scores)
}

// score is a scorer of single items.
type score = strategy.ScorerFunc

// slice is a slicer that changes what firstFit selects.
type slice func(items []cupel.ScoredItem, budget cupel.SliceBudget, sel *strategy.Selection) error

func (s slice) Slice(_ context.Context, items []cupel.ScoredItem, budget cupel.SliceBudget) (strategy.Selection, error) {
	sel := firstFit(items, budget)
	err := s(items, budget, &sel)
	return sel, err
}

// firstFit is a sound selection: what fits, best first.
func firstFit(items []cupel.ScoredItem, budget cupel.SliceBudget) (sel strategy.Selection) {
	left := budget.TargetTokens
	for i, it := range items {
		if budget.TargetTokens > 0 && it.Item.Tokens() <= left {
			left -= it.Item.Tokens()
			sel.Indices = append(sel.Indices, i)
		}
	}
	return sel
}

// facts is a sound slicer with facts, whose Of is set.
type facts strategy.Facts

func (f *facts) Slice(_ context.Context, items []cupel.ScoredItem, budget cupel.SliceBudget) (strategy.Selection, error) {
	return firstFit(items, budget), nil
}

func (f *facts) Facts() strategy.Facts {
	given := strategy.Facts(*f)
	given.Of = f
	return given
}

// place is a placer that never fails.
type place func(items []cupel.ScoredItem, order []int)

func (p place) Place(_ context.Context, items []cupel.ScoredItem, order []int) error {
	p(items, order)
	return nil
}

// locked makes the memory of a broken strategy safe to use, so that it is
// broken in its own way and not by a data race.
type locked struct{ sync.Mutex }

func (l *locked) do(f func()) {
	l.Lock()
	defer l.Unlock()
	f()
}

// memo is a cache that is safe to use, keyed by what does not determine the score.
func memo[K comparable](key func(item *cupel.ContextItem, all []*cupel.ContextItem) K, of score) score {
	var lock locked
	known := make(map[K]float64)
	return func(item *cupel.ContextItem, all []*cupel.ContextItem) (s float64) {
		lock.do(func() {
			k := key(item, all)
			if _, ok := known[k]; !ok {
				known[k] = of(item, all)
			}
			s = known[k]
		})
		return s
	}
}

func size(item *cupel.ContextItem, _ []*cupel.ContextItem) float64 { return float64(item.Tokens()) }

func rank(item *cupel.ContextItem, all []*cupel.ContextItem) float64 {
	return float64(slices.Index(all, item)) / float64(len(all))
}

func content(item *cupel.ContextItem, _ []*cupel.ContextItem) string { return item.Content() }

// busy counts how many goroutines are in a call at once, which it makes likely.
type busy struct {
	lock locked
	n    int
}

func (b *busy) shared() (yes bool) {
	b.lock.do(func() { b.n++ })
	time.Sleep(50 * time.Microsecond)
	b.lock.do(func() { yes = b.n > 1; b.n-- })
	return yes
}

// leak starts a goroutine that goes on after the call.
func leak() { go time.Sleep(time.Hour) }

// slow takes long for a long list, and ignores its context.
func slow(n int) {
	if n > 1000 {
		time.Sleep(260 * time.Millisecond)
	}
}

// quadratic takes time in proportion to the square of n, and never long.
func quadratic(n int) { time.Sleep(time.Duration(n) * time.Duration(n) * 12 * time.Nanosecond) }

// wasteful allocates memory in proportion to the square of n.
func wasteful(n int) (sum int) {
	for i := range n {
		sum += len(fmt.Append(make([]byte, 0, 8*n), i))
	}
	return sum
}

// stopping is a placer that does nothing once its context is done.
type stopping struct{}

func (stopping) Place(ctx context.Context, _ []cupel.ScoredItem, order []int) error {
	if ctx.Err() == nil {
		slices.Reverse(order)
	}
	return nil
}
