package cupeltest

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/cupel/strategy"
)

// A SlicerOption configures [TestSlicer].
type SlicerOption interface{ applySlicer(*kitOptions) }

// A StrategyOption configures [TestScorer], [TestPlacer] and [TestSlicer].
type StrategyOption interface {
	SlicerOption
	applyStrategy(*kitOptions)
}

type kitOptions struct {
	items     []*cupel.ContextItem
	metadata  []string // of items, before any strategy has seen them
	only      bool     // there are no other items
	mayExceed bool
	mayFail   []error
	except    []string
	strict    bool
	calls     int32 // that have begun, for atomic use
}

// A KitOption configures any kit.
type KitOption interface {
	StrategyOption
	CollectorOption
}

type kitOption func(*kitOptions)

func (o kitOption) applySlicer(k *kitOptions) { o(k) }

func (o kitOption) applyStrategy(k *kitOptions) { o(k) }

func (o kitOption) applyCollector(k *collectorKit) { o(&k.options) }

type strategyOption func(*kitOptions)

func (o strategyOption) applySlicer(k *kitOptions) { o(k) }

func (o strategyOption) applyStrategy(k *kitOptions) { o(k) }

func (k *kitOptions) add(items []*cupel.ContextItem) {
	for _, item := range items {
		if item == nil || item.Tokens() >= 0 {
			k.items = append(k.items, item)
			k.metadata = append(k.metadata, fmt.Sprint(item.Metadata()))
		}
	}
}

// changed finds an item of the caller's whose metadata a strategy has changed,
// such as a vector that it normalized where it is.
func (k *kitOptions) changed() string {
	for i, item := range k.items {
		if fmt.Sprint(item.Metadata()) != k.metadata[i] {
			return fmt.Sprintf("the caller's items: the metadata of item %d is changed", i+1)
		}
	}
	return ""
}

// WithItems adds a list of the caller's items to the kit's inputs, for example
// for a strategy that reads metadata. For slicers and placers they get
// descending scores from 1. Items with a negative token count are left out,
// since no strategy ever receives one.
func WithItems(items ...*cupel.ContextItem) StrategyOption {
	return strategyOption(func(k *kitOptions) { k.add(items) })
}

// OnlyItems has the kit build its inputs from the caller's items alone, for a
// strategy that requires something of every item. Lists that are longer than
// items hold some of them several times. Rules that need special items, such as
// those about groups, are checked as far as the items allow. At least one item
// needs a token count of 0 or more.
func OnlyItems(items ...*cupel.ContextItem) StrategyOption {
	return strategyOption(func(k *kitOptions) {
		k.only = true
		k.add(items)
	})
}

// MayFail allows a strategy to return these errors, compared with [errors.Is],
// for any list except an empty one and any target except 0.
func MayFail(allowed ...error) StrategyOption {
	return strategyOption(func(k *kitOptions) { k.mayFail = append(k.mayFail, allowed...) })
}

// Except leaves out the rules whose sentence begins with the given text. A
// failure prints the sentence after "rule: ". It is an error if there is no such
// rule.
func Except(rule string) KitOption {
	return kitOption(func(k *kitOptions) { k.except = append(k.except, rule) })
}

// Strict makes failures of the kit's warnings, which are about strategies that
// keep their contract and are still of little use: NaN scores for ordinary
// items, times that grow faster than N log N, budget left over, an unstable
// order; and about collectors that take ever longer for an event. Without it they
// go to the Logf method of T, if it has one.
func Strict() KitOption {
	return kitOption(func(k *kitOptions) { k.strict = true })
}

// allows reports whether the caller allows an error.
func (k *kitOptions) allows(err error) bool {
	return slices.ContainsFunc(k.mayFail, func(allowed error) bool { return errors.Is(err, allowed) })
}

// A rule is one sentence of a contract, with the check for it.
type rule struct {
	sentence string
	cause    string        // what is wrong when it is broken
	broken   func() string // describes the violation, or ""
	vital    bool          // the rules that follow say nothing about a strategy that breaks it
	advice   bool          // breaking it is lawful
}

// hold reports each broken rule and lets the test continue.
func hold(t T, role string, strategy any, rules []rule, options *kitOptions) {
	t.Helper()
	for _, text := range options.except {
		if text == "" || !slices.ContainsFunc(rules, func(r rule) bool { return strings.HasPrefix(r.sentence, text) }) {
			t.Errorf("Except(%q): no rule for this %s begins like that", text, role)
		}
	}
	for _, r := range rules {
		if slices.ContainsFunc(options.except, func(text string) bool { return strings.HasPrefix(r.sentence, text) }) {
			continue
		}
		found := options.watch(r.broken)
		if found == "" {
			continue
		}
		details := fmt.Sprintf("%s: %s\n\trule: %s\n\tfound: %s", r.cause, inBrief(found), r.sentence, found)
		switch logger, ok := t.(interface{ Logf(string, ...any) }); {
		case r.vital || strings.HasSuffix(found, neverReturns):
			t.Errorf("%s %T breaks its contract: %s\n\tskipped: the rules that follow this one", role, strategy, details)
			return
		case r.advice && options.strict:
			t.Errorf("%s %T is lawful but bad: %s", role, strategy, details)
		case r.advice:
			if ok {
				logger.Logf("%s %T is lawful but bad: %s", role, strategy, details)
			}
		default:
			t.Errorf("%s %T breaks its contract: %s", role, strategy, details)
		}
	}
}

// inBrief returns what was found without the place.
func inBrief(found string) string {
	if _, what, ok := strings.Cut(found, ": "); ok && !strings.HasPrefix(found, "panic: ") {
		found = what
	}
	if strings.HasPrefix(found, "item ") {
		if _, scores, ok := strings.Cut(found, " scores "); ok {
			found = scores
		}
	}
	const most = 120
	runes := 0
	for at := range found {
		if runes++; runes > most {
			return found[:at] + "…"
		}
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

var neverReturns = fmt.Sprintf("no call has returned for %v; look for a lock that stays locked, or a loop without an end", longestCall)

// began counts a call, if there is a kit.
func (k *kitOptions) began() {
	if k != nil {
		atomic.AddInt32(&k.calls, 1)
	}
}

// watch returns what a check finds, unless it waits for a call that never
// returns.
func (k *kitOptions) watch(check func() string) string {
	done := make(chan string, 1)
	go func() {
		defer close(done) // after runtime.Goexit too, as of a FailNow in a strategy
		done <- protect(check)
	}()
	tick := time.NewTicker(longestCall)
	defer tick.Stop()
	for {
		calls := atomic.LoadInt32(&k.calls)
		select {
		case found, ok := <-done:
			if !ok {
				runtime.Goexit()
			}
			return found
		case <-tick.C:
			if atomic.LoadInt32(&k.calls) == calls {
				return neverReturns
			}
		}
	}
}

// The rule that is checked before all others.
const (
	acceptedSentence = "it is accepted by pipeline.New: neither nil nor invalid, and not inside itself; and its Facts, if it has any, name it."
	acceptedCause    = "it cannot be used"
)

// accepted makes a strategy, and stops the test if there is none, if pipeline.New
// rejects it, or if the caller's items are of no use.
func accepted[S any](t T, role string, start func() S, config func(S) pipeline.Config, options *kitOptions) (strategy S, ok bool) {
	t.Helper()
	var problem string
	switch i := slices.Index(options.items, nil); {
	case i >= 0 && options.only:
		problem = fmt.Sprintf("OnlyItems was given nil as item %d", i+1)
	case i >= 0:
		problem = fmt.Sprintf("WithItems was given nil as item %d", i+1)
	case options.only && len(options.items) == 0:
		problem = "OnlyItems was given no item that a strategy may receive: tokens must be 0 or more"
	case start == nil:
		problem = fmt.Sprintf("there is no function that makes the %s: it is nil", role)
	default:
		problem = protect(func() string {
			strategy = start()
			if _, err := pipeline.New(config(strategy)); err != nil {
				return "pipeline.New: " + err.Error()
			}
			return namelessFacts(strategy)
		})
		if problem != "" {
			problem = fmt.Sprintf("%s %T breaks its contract: %s: %s\n\trule: %s\n\tfound: %s", role, strategy, acceptedCause, inBrief(problem), acceptedSentence, problem)
		}
	}
	if problem != "" {
		t.Errorf("%s", problem)
		t.FailNow()
	}
	return strategy, problem == ""
}

// namelessFacts finds facts that do not say which strategy they are about. They are
// then not used.
func namelessFacts(s any) string {
	if d, ok := s.(strategy.Describer); ok && d.Facts().Of == nil {
		return "Facts: Of is nil, and must be the receiver of Facts"
	}
	return ""
}
