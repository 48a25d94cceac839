package cupeltest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/wollax/cupel-go/cupel"
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
	mayExceed bool
}

type itemsOption []*cupel.ContextItem

func (o itemsOption) applySlicer(k *kitOptions) {
	for _, item := range o {
		if item == nil || item.Tokens() >= 0 {
			k.items = append(k.items, item)
		}
	}
}

func (o itemsOption) applyStrategy(k *kitOptions) { o.applySlicer(k) }

// WithItems adds a list of the caller's items to the kit's inputs, for example
// for a strategy that reads metadata. For slicers and placers they get
// descending scores from 1. Items with a negative token count are left out,
// since no strategy ever receives one.
func WithItems(items ...*cupel.ContextItem) StrategyOption {
	return itemsOption(items)
}

// A rule is one sentence of a contract, with the check for it.
type rule struct {
	sentence string
	broken   func() string // describes the violation, or ""
}

// hold reports each broken rule and lets the test continue.
func hold(t T, role string, strategy any, rules []rule) {
	t.Helper()
	for _, r := range rules {
		if found := protect(r.broken); found != "" {
			t.Errorf("%s %T breaks its contract: %s\n\tfound: %s", role, strategy, r.sentence, found)
		}
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

// acceptedSentence is the rule checked before all others.
const acceptedSentence = "it is accepted by cupel.New: neither nil nor invalid, and not inside itself."

// accepted stops the test if cupel.New rejects the strategy or WithItems was
// given a nil item.
func accepted(t T, role string, strategy any, config cupel.Config, options *kitOptions) bool {
	t.Helper()
	if i := slices.Index(options.items, nil); i >= 0 {
		t.Errorf("WithItems was given nil as item %d", i+1)
		t.FailNow()
		return false
	}
	if _, err := cupel.New(config); err != nil {
		t.Errorf("%s %T breaks its contract: %s\n\tfound: %v", role, strategy, acceptedSentence, err)
		t.FailNow()
		return false
	}
	return true
}

// A subject is a method of a strategy, as a function of a list.
type subject[E, R any] struct {
	method string
	run    func(ctx context.Context, in input[E]) (R, error)
	differ func(a, b R) string // how b differs from a, or ""
	clone  func(R) R
	same   func(a, b E) bool
	junk   E // overwrites the contents of a list

	fresh  func() []input[E]    // the kit's inputs again, made of new items
	inputs []input[E]           // those that run without failing
	base   []outcome[R]         // the result of the first call with each input
	may    func(err error) bool // reports allowed errors; nil allows none
}

// An input is a list, and for slicers a budget.
type input[E any] struct {
	name   string
	list   []E
	budget cupel.SliceBudget
	units  bool // it has groups and smaller forms
}

// An outcome is a result, or a description of the failure.
type outcome[R any] struct {
	result R
	broke  string
	err    error // what the method returned, if that is the failure
}

// runOn runs the method on in's own list.
func (s *subject[E, R]) runOn(ctx context.Context, in input[E]) (out outcome[R]) {
	defer func() {
		if v := recover(); v != nil {
			out.broke = fmt.Sprintf("panic: %v", v)
		}
	}()
	result, err := s.run(ctx, in)
	if err != nil {
		return outcome[R]{broke: fmt.Sprintf("the error %q", err.Error()), err: err}
	}
	return outcome[R]{result: result}
}

// call runs the method as the engine does: on a list whose memory is
// overwritten after the call. The result is a copy.
func (s *subject[E, R]) call(in input[E]) outcome[R] {
	in.list = slices.Clone(in.list)
	out := s.runOn(context.Background(), in)
	out.result = s.clone(out.result)
	for i := range in.list {
		in.list[i] = s.junk
	}
	return out
}

// answers reports whether the contract allows an error.
func (s *subject[E, R]) answers(out outcome[R]) bool {
	return out.err != nil && s.may != nil && s.may(out.err)
}

// compare describes how two outcomes differ.
func (s *subject[E, R]) compare(a, b outcome[R]) string {
	switch {
	case a.broke == "" && b.broke == "":
		return s.differ(a.result, b.result)
	case a.broke == b.broke:
		return ""
	case b.broke != "":
		return "a result, then " + b.broke
	}
	return a.broke + ", then a result"
}

// takes runs every input for the first time. Inputs that fail are not used
// again, so that one mistake is not reported under every rule.
func (s *subject[E, R]) takes(inputs []input[E]) string {
	found := ""
	for _, in := range inputs {
		out := s.call(in)
		if out.broke != "" && !s.answers(out) {
			if found == "" {
				found = in.name + ": " + out.broke
			}
			continue
		}
		s.inputs = append(s.inputs, in)
		s.base = append(s.base, out)
	}
	return found
}

// kitRepeats is how often the kit repeats the same input, to expose dependence
// on map order or chance.
const kitRepeats = 10

func (s *subject[E, R]) repeats() string {
	for _, in := range s.inputs {
		first := s.call(in)
		for range kitRepeats {
			if diff := s.compare(first, s.call(in)); diff != "" {
				return in.name + ", run again: " + diff
			}
		}
	}
	return ""
}

func (s *subject[E, R]) storesNothing() string {
	base := make(map[string]outcome[R]) // inputs of one name are alike
	for i, in := range slices.Backward(s.inputs) {
		base[in.name] = s.base[i]
		if diff := s.compare(s.base[i], s.call(in)); diff != "" {
			return in.name + ", run first and after other lists: " + diff
		}
	}
	// A cache keyed by item always returns the same. Equal but new items expose
	// it, because they first occur in other lists.
	for _, in := range slices.Backward(s.fresh()) {
		want, ok := base[in.name]
		if !ok {
			continue // it cannot be run
		}
		if diff := s.compare(want, s.call(in)); diff != "" {
			return in.name + ", run in two orders of the lists, with equal items: " + diff
		}
	}
	return ""
}

// keepsNoList reuses the memory of one list for another of the same length, as
// the engine does between runs.
func (s *subject[E, R]) keepsNoList() string {
	for _, a := range s.inputs {
		for _, b := range s.inputs {
			n := min(len(a.list), len(b.list))
			b.list = b.list[:n]
			want := s.call(b)
			list := slices.Clone(a.list[:n])
			a.list = list
			s.runOn(context.Background(), a)
			copy(list, b.list)
			memory := b
			memory.list = list
			if diff := s.compare(want, s.runOn(context.Background(), memory)); diff != "" {
				return fmt.Sprintf("%s, in memory of its own and in that of the list before (%s): %s", b.name, a.name, diff)
			}
			clear(list)
		}
	}
	return ""
}

func (s *subject[E, R]) changesNoList() string {
	for _, in := range s.inputs {
		list := append(slices.Clone(in.list), s.junk) // the strategy must not use spare capacity either
		given := in
		given.list = list[:len(in.list)]
		s.runOn(context.Background(), given)
		for i := range in.list {
			if !s.same(in.list[i], list[i]) {
				return fmt.Sprintf("%s: position %d holds something else after the call", in.name, i)
			}
		}
		if !s.same(list[len(in.list)], s.junk) {
			return fmt.Sprintf("%s: the memory behind the end of the list was written to", in.name)
		}
	}
	return ""
}

func (s *subject[E, R]) givesResultsAway() string {
	for _, in := range s.inputs {
		in.list = slices.Clone(in.list)
		out := s.runOn(context.Background(), in)
		before := s.clone(out.result)
		for _, other := range s.inputs {
			s.call(other)
		}
		if out.broke != "" {
			continue
		}
		if diff := s.differ(before, out.result); diff != "" {
			return in.name + ", its result before and after other calls: " + diff
		}
	}
	return ""
}

// kitGoroutines is the number of goroutines that call a strategy concurrently.
const kitGoroutines = 4

func (s *subject[E, R]) runsConcurrently() string {
	var (
		group sync.WaitGroup
		mu    sync.Mutex
		found string
		start = make(chan struct{})
	)
	for g := range kitGoroutines {
		group.Go(func() {
			<-start
			for k := range s.inputs {
				i := (k + g*len(s.inputs)/kitGoroutines) % len(s.inputs) // start at different lists
				if diff := s.compare(s.base[i], s.call(s.inputs[i])); diff != "" {
					mu.Lock()
					found = s.inputs[i].name + ", run alone and in several goroutines: " + diff
					mu.Unlock()
					return
				}
			}
		})
	}
	close(start)
	group.Wait()
	return found
}

func (s *subject[E, R]) stops() string {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for i, in := range s.inputs {
		in.list = slices.Clone(in.list)
		out := s.runOn(ctx, in)
		switch {
		case out.broke != "":
			if !s.answers(out) && !errors.Is(out.err, context.Canceled) {
				return in.name + ", under a context that is done: " + out.broke
			}
		case s.base[i].broke == "":
			if diff := s.differ(s.base[i].result, out.result); diff != "" {
				return in.name + ", without an error and under a context that is done: " + diff
			}
		}
	}
	return ""
}

// rules are the rules of every strategy. The first must run first: the others
// use the inputs that pass it.
func (s *subject[E, R]) rules(inputs []input[E]) []rule {
	m := s.method
	return []rule{
		{m + " takes every valid list, one of a single item too, without a panic or an error.", func() string { return s.takes(inputs) }},
		{m + " is a pure function: the same input gives the same result each time.", s.repeats},
		{m + " stores nothing about a call: what was called before does not change a result.", s.storesNothing},
		{m + " does not keep the list, whose memory is used again after the call.", s.keepsNoList},
		{m + " does not change the list that it is given.", s.changesNoList},
		{m + " is safe for concurrent use.", s.runsConcurrently},
	}
}

// resultRule is for methods that return their result in memory that they
// allocate or receive.
func (s *subject[E, R]) resultRule() rule {
	return rule{s.method + " gives its result away: later calls do not change it.", s.givesResultsAway}
}

// stopRule is for methods with a context.
func (s *subject[E, R]) stopRule() rule {
	return rule{s.method + " that stops because its context is done fails with the context's error, and returns no part of a result.", s.stops}
}
