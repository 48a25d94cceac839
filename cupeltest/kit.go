package cupeltest

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/strategy"
)

// A KitOption configures [TestScorer], [TestSlicer] or [TestPlacer].
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

// MayFail allows a strategy to return these errors, compared with [errors.Is],
// for any list except an empty one and any target except 0.
func MayFail(allowed ...error) KitOption {
	return func(k *kit) { k.mayFail = append(k.mayFail, allowed...) }
}

// Except leaves out rules, by the names in RULES.md and in failures. Use it for an
// implementation that breaks a rule on purpose. An unknown name is a failure.
func Except(rules ...string) KitOption {
	return func(k *kit) { k.except = append(k.except, rules...) }
}

// TestScorer checks that a scorer keeps the contract of [strategy.Scorer] and is
// useful, and reports each broken rule. Each call of newScorer must return a new
// scorer, since some faults show only in the first call. Scores outside [0,1] are
// allowed. If the scorer reads a clock, give it one that stands still.
//
// In a bubble of testing/synctest the kit lets a year pass between runs. In a parallel
// test it does not change the time zone or the language of the process. Run it under
// the race detector too.
func TestScorer(t T, newScorer func() strategy.Scorer, opts ...KitOption) {
	t.Helper()
	testStrategy(t, scorers, newScorer, opts, scoring, strategy.ValidateScorer)
}

// TestSlicer checks a slicer as [TestScorer] checks a scorer, by the contract of
// [strategy.Slicer] and by the slicer's Facts. The slicer may return a
// [cupel.ScarcityError], and the errors of [MayFail], except for an empty list and for
// a target of 0. A slicer that exceeds the target on purpose, as count slicers do,
// needs Except("target").
func TestSlicer(t T, newSlicer func() strategy.Slicer, opts ...KitOption) {
	t.Helper()
	testStrategy(t, slicers, newSlicer, append(opts, MayFail(cupel.ErrScarcity)), slicing, strategy.ValidateSlicer)
}

// TestPlacer checks a placer as [TestScorer] checks a scorer, by the contract
// of [strategy.Placer].
func TestPlacer(t T, newPlacer func() strategy.Placer, opts ...KitOption) {
	t.Helper()
	testStrategy(t, placers, newPlacer, opts, placing, strategy.ValidatePlacer)
}

// testStrategy checks a strategy by the rules of its role.
func testStrategy[S any](t T, of role, start func() S, opts []KitOption, methodOf func(S) method, validate func(S) error) {
	t.Helper()
	k := &kit{role: of, changesProcess: changesProcess(t)}
	for _, opt := range opts {
		opt(k)
	}
	problem := ""
	switch {
	case slices.Contains(k.items, nil):
		problem = "WithItems was given a nil item"
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
	k.accept = func() error { return validate(start()) }
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
		text := fmt.Sprintf("%s %T breaks the rule %s: %s\n\tfound: %s", k.role, k.made, r.name, r.sentence, found)
		if r.is&vital != 0 {
			t.Errorf("%s\n\tskipped: the rules that follow this one", text)
			return
		}
		t.Errorf("%s\n\tif that is on purpose: cupeltest.Except(%q)", text, r.name)
	}
}

func protect(check func() string) (found string) {
	defer func() {
		if v := recover(); v != nil {
			found = fmt.Sprintf("panic: %v", v)
		}
	}()
	return check()
}

// process is locked by a rule that changes state of all goroutines, such as the
// time zone, and shared by all others.
var process sync.RWMutex

// watch returns the findings of a check.
func (k *kit) watch(r rule) string {
	lock, unlock := process.RLock, process.RUnlock
	if r.is&alone != 0 {
		lock, unlock = process.Lock, process.Unlock
	}
	lock()
	defer unlock()
	return protect(func() string { return r.broken(k) })
}

// A kit checks one implementation. Each rule is checked with new strategies and,
// except for the caller's items, with contents that are new to the process, since
// caches filled by an earlier rule hide faults of the first use.
type kit struct {
	role     role
	start    func() method // the method of a new strategy
	strategy func() any    // a new strategy
	accept   func() error  // as a pipeline does
	made     any

	items          []*cupel.ContextItem
	metadata       []string // of items, before any strategy has seen them
	mayFail        []error
	except         []string
	changesProcess bool

	first []call                   // of one strategy, each with memory of its own
	slow  map[string]time.Duration // inputs that take too long for many calls, or fail
}

// allows reports whether the caller allows an error.
func (k *kit) allows(err error) bool {
	return slices.ContainsFunc(k.mayFail, func(allowed error) bool { return errors.Is(err, allowed) })
}
