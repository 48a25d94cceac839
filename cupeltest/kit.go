package cupeltest

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/cupel/placer"
	"github.com/wollax/cupel-go/cupel/scorer"
	"github.com/wollax/cupel-go/cupel/slicer"
	"github.com/wollax/cupel-go/cupel/strategy"
)

// A KitOption configures [TestScorer], [TestSlicer], [TestPlacer] or
// [TestTraceCollector].
type KitOption func(*kit)

// WithItems adds a list of the caller's items to the inputs, for example for a
// strategy that reads metadata. For slicers and placers they get descending scores.
// Items with a negative token count are left out, since no strategy receives one.
func WithItems(items ...*cupel.ContextItem) KitOption {
	return func(k *kit) {
		for _, item := range items {
			if item == nil || item.Tokens() >= 0 {
				k.items = append(k.items, item)
				k.metadata = append(k.metadata, fmt.Sprint(item.Metadata()))
			}
		}
	}
}

// OnlyItems builds all inputs from the caller's items, for a strategy that requires
// something of every item. Lists that are longer hold some of them several times.
// Rules that need special items are not checked.
func OnlyItems(items ...*cupel.ContextItem) KitOption {
	return func(k *kit) {
		k.only = true
		WithItems(items...)(k)
	}
}

// MayFail allows a strategy to return these errors, compared with [errors.Is],
// for any list except an empty one and any target except 0.
func MayFail(allowed ...error) KitOption {
	return func(k *kit) { k.mayFail = append(k.mayFail, allowed...) }
}

// Except leaves out rules, by the names in RULES.md and in failures. It is the way out
// for an implementation that breaks a rule on purpose. An unknown name is a failure.
func Except(rules ...string) KitOption {
	return func(k *kit) { k.except = append(k.except, rules...) }
}

// TestScorer checks that a scorer keeps the contract of [strategy.Scorer] and is of
// use, and reports each broken rule. Each call of newScorer returns a new scorer,
// since first calls go wrong in ways that later ones do not show. Scores outside
// [0,1] are allowed. A scorer that reads a clock needs one that stands still.
//
// In a bubble of testing/synctest the kit lets a year pass between runs. In a parallel
// test it leaves the time zone and the language of the process alone. Run it under
// the race detector too.
func TestScorer(t T, newScorer func() strategy.Scorer, opts ...KitOption) {
	t.Helper()
	testStrategy(t, scorers, newScorer, opts, scoring, func(s strategy.Scorer) pipeline.Config {
		return pipeline.Config{Scorer: s, Slicer: slicer.Greedy{}, Placer: placer.Chronological{}}
	})
}

// TestSlicer checks a slicer as [TestScorer] does a scorer, by the contract of
// [strategy.Slicer] and by what it says in its Facts. The slicer may return a
// [cupel.ScarcityError], and the errors of [MayFail], except for an empty list and
// for a target of 0. One that passes the target on purpose, as count slicers do, needs
// Except("target").
func TestSlicer(t T, newSlicer func() strategy.Slicer, opts ...KitOption) {
	t.Helper()
	testStrategy(t, slicers, newSlicer, append(opts, MayFail(cupel.ErrScarcity)), slicing, func(s strategy.Slicer) pipeline.Config {
		return pipeline.Config{Scorer: scorer.Reflexive{}, Slicer: s, Placer: placer.Chronological{}}
	})
}

// TestPlacer checks a placer as [TestScorer] does a scorer, by the contract of
// [strategy.Placer].
func TestPlacer(t T, newPlacer func() strategy.Placer, opts ...KitOption) {
	t.Helper()
	testStrategy(t, placers, newPlacer, opts, placing, func(p strategy.Placer) pipeline.Config {
		return pipeline.Config{Scorer: scorer.Reflexive{}, Slicer: slicer.Greedy{}, Placer: p}
	})
}

// testStrategy checks a strategy by the rules of its role.
func testStrategy[S any](t T, of role, start func() S, opts []KitOption, methodOf func(S) method, config func(S) pipeline.Config) {
	t.Helper()
	k := &kit{role: of, changesProcess: changesProcess(t)}
	for _, opt := range opts {
		opt(k)
	}
	problem := ""
	switch {
	case slices.Contains(k.items, nil):
		problem = "WithItems or OnlyItems was given a nil item"
	case k.only && len(k.items) == 0:
		problem = "OnlyItems was given no item that a strategy may receive"
	case start == nil:
		problem = fmt.Sprintf("there is no function that makes the %s: it is nil", of)
	}
	if problem != "" {
		t.Errorf("%s", problem)
		t.FailNow()
		return
	}
	k.start = func() method { return methodOf(start()) }
	k.strategy = func() any { return start() }
	k.accept = func() error {
		_, err := pipeline.New(config(start()))
		return err
	}
	k.hold(t)
}

// hold reports each broken rule and lets the test continue.
func (k *kit) hold(t T) {
	t.Helper()
	for _, except := range k.except {
		if !slices.ContainsFunc(rules(), func(r rule) bool { return r.name == except && r.of&k.role != 0 }) {
			t.Errorf("Except(%q): a %s has no rule of this name", except, k.role)
		}
	}
	for _, r := range rules() {
		if r.of&k.role == 0 || slices.Contains(k.except, r.name) {
			continue
		}
		found := k.watch(r)
		if found == "" {
			continue
		}
		text := fmt.Sprintf("%s %T breaks the rule %s: %s\n\trule: %s\n\tfound: %s", k.role, k.made, r.name, inBrief(found), r.sentence, found)
		if r.vital || found == neverReturns {
			t.Errorf("%s\n\tskipped: the rules that follow this one", text)
			return
		}
		t.Errorf("%s\n\tif that is on purpose: cupeltest.Except(%q)", text, r.name)
	}
}

// inBrief returns what was found without the place.
func inBrief(found string) string {
	if _, what, ok := strings.Cut(found, ": "); ok && !strings.HasPrefix(found, "panic: ") {
		found = what
	}
	found = plainLine(found)
	const most = 120
	if runes := []rune(found); len(runes) > most {
		found = string(runes[:most]) + "…"
	}
	return found
}

func protect(check func() string) (found string) {
	defer func() {
		if v := recover(); v != nil {
			found = fmt.Sprintf("panic: %v", v)
		}
	}()
	return check()
}

// longestCall is after how long, or twice that, a call counts as one that never
// returns.
const longestCall = 15 * time.Second

var neverReturns = fmt.Sprintf("no call has returned for %v", longestCall)

// process is held by a rule that changes what all goroutines see, such as the time
// zone, and shared by all others.
var process sync.RWMutex

// watch returns what a check finds, unless it waits for a call that never returns.
func (k *kit) watch(r rule) string {
	lock, unlock := process.RLock, process.RUnlock
	if r.alone {
		lock, unlock = process.Lock, process.Unlock
	}
	lock()
	defer unlock()
	done := make(chan string, 1)
	go func() {
		defer close(done) // after runtime.Goexit too, as of a FailNow in a strategy
		done <- protect(func() string { return r.broken(k) })
	}()
	tick := time.NewTicker(longestCall)
	defer tick.Stop()
	if r.alone { // it may let a year pass
		tick.Stop()
	}
	for {
		calls := k.calls.Load()
		select {
		case found, ok := <-done:
			if !ok {
				runtime.Goexit()
			}
			return found
		case <-tick.C:
			if k.calls.Load() == calls {
				return neverReturns
			}
		}
	}
}

// A kit checks one implementation. Each rule is checked with new strategies and,
// except for the caller's items, with contents that are new to the process: what an
// earlier rule has warmed hides what is wrong with the first use.
type kit struct {
	role     role
	start    func() method // the method of a new strategy
	strategy func() any    // a new strategy
	accept   func() error  // by a pipeline
	made     any

	items          []*cupel.ContextItem
	metadata       []string // of items, before any strategy has seen them
	only           bool     // there are no other items
	mayFail        []error
	except         []string
	changesProcess bool

	calls atomic.Int32             // that have begun
	first []call                   // of one strategy, each with memory of its own
	slow  map[string]time.Duration // inputs that take too long for many calls, or fail

	collector collectorKit
}

// allows reports whether the caller allows an error.
func (k *kit) allows(err error) bool {
	return slices.ContainsFunc(k.mayFail, func(allowed error) bool { return errors.Is(err, allowed) })
}
