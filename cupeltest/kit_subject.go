package cupeltest

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/wollax/cupel-go/cupel"
)

// A subject is a method of a strategy, as a function of a list. Each rule is
// checked with new strategies and, except for the caller's items, with contents
// that are new to the process: what an earlier rule has warmed hides what is
// wrong with the first use.
type subject[E, R any] struct {
	method string
	result string                                                   // what the results are called
	start  func() func(ctx context.Context, in input[E]) (R, error) // the method of a new strategy
	differ func(a, b R) string                                      // how b differs from a, or ""
	clone  func(R) R
	same   func(a, b E) bool
	junk   E                             // overwrites the contents of a list
	lists  func(g generation) []input[E] // the kit's inputs, made of new items
	may    func(err error) bool          // reports allowed errors
	fails  map[string]bool               // names of inputs that fail, and have been reported
	slow   map[string]time.Duration      // of inputs that take too long for many calls
	made   []observed[E, R]

	options *kitOptions
}

// observed is a result that several rules look at.
type observed[E, R any] struct {
	in  input[E]
	out outcome[R]
}

// observe returns what a new strategy returns for every input.
func (s *subject[E, R]) observe() []observed[E, R] {
	if s.made == nil {
		run := s.start()
		for _, in := range s.cold() {
			s.made = append(s.made, observed[E, R]{in, s.call(run, in)})
		}
	}
	return s.made
}

// An input is a list, and for slicers a budget.
type input[E any] struct {
	name   string
	list   []E
	budget cupel.SliceBudget
	units  bool // it has groups and smaller forms
}

// long reports whether a list is too long for many calls.
func (in input[E]) long() bool { return len(in.list) > 100 }

// A method is one of a strategy of the test.
type method[E, R any] = func(ctx context.Context, in input[E]) (R, error)

// An outcome is a result, or a description of the failure.
type outcome[R any] struct {
	result R
	broke  string
	err    error // what the method returned, if that is the failure
}

// runOn runs a method on in's own list.
func (s *subject[E, R]) runOn(ctx context.Context, run method[E, R], in input[E]) (out outcome[R]) {
	s.options.began()
	defer func() {
		if v := recover(); v != nil {
			out.broke = fmt.Sprintf("panic: %v", v)
		}
	}()
	result, err := run(ctx, in)
	if err != nil {
		return outcome[R]{broke: fmt.Sprintf("the error %q", err.Error()), err: err}
	}
	return outcome[R]{result: result}
}

// ofPlain returns a rule's check of the results for lists without groups and
// forms, which have rules of their own.
func (s *subject[E, R]) ofPlain(check func(in input[E], result R) string) func() string {
	return s.ofInputs(func(in input[E]) bool { return !in.units }, check)
}

// ofUnits returns a rule's check of the results for the other lists.
func (s *subject[E, R]) ofUnits(check func(in input[E], result R) string) func() string {
	return s.ofInputs(func(in input[E]) bool { return in.units }, check)
}

func (s *subject[E, R]) ofAll(check func(in input[E], result R) string) func() string {
	return s.ofInputs(func(input[E]) bool { return true }, check)
}

func (s *subject[E, R]) ofInputs(which func(input[E]) bool, check func(in input[E], result R) string) func() string {
	return func() string {
		for _, o := range s.observe() {
			if !which(o.in) {
				continue
			}
			if found := s.judge(o, check); found != "" {
				return found
			}
		}
		return ""
	}
}

// each runs a new strategy and checks its results.
func (s *subject[E, R]) each(inputs []input[E], check func(in input[E], result R) string) string {
	run := s.start()
	for _, in := range inputs {
		if found := s.judge(observed[E, R]{in, s.call(run, in)}, check); found != "" {
			return found
		}
	}
	return ""
}

func (s *subject[E, R]) judge(o observed[E, R], check func(in input[E], result R) string) string {
	found := o.out.broke
	switch {
	case len(o.in.list) > 0 && s.answers(o.out):
		return ""
	case found == "":
		found = check(o.in, o.out.result)
	}
	if found != "" {
		return o.in.name + ": " + found
	}
	return ""
}

// call runs a method as the engine does: on a list whose memory is overwritten
// after the call. The result is a copy.
func (s *subject[E, R]) call(run method[E, R], in input[E]) outcome[R] {
	return s.callIn(context.Background(), run, in)
}

func (s *subject[E, R]) callIn(ctx context.Context, run method[E, R], in input[E]) outcome[R] {
	in.list = slices.Clone(in.list)
	out := s.runOn(ctx, run, in)
	out.result = s.clone(out.result)
	for i := range in.list {
		in.list[i] = s.junk
	}
	return out
}

// alone runs a method of a new strategy.
func (s *subject[E, R]) alone(in input[E]) outcome[R] { return s.call(s.start(), in) }

// answers reports whether the contract allows an error.
func (s *subject[E, R]) answers(out outcome[R]) bool {
	return out.err != nil && s.may(out.err)
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

// cold returns inputs with new contents: those that neither fail nor take long.
func (s *subject[E, R]) cold() []input[E] { return s.coldOf(nextGeneration()) }

func (s *subject[E, R]) coldOf(g generation) []input[E] {
	return slices.DeleteFunc(s.lists(g), func(in input[E]) bool {
		_, slow := s.slow[in.name]
		return slow || s.fails[in.name]
	})
}

// short returns inputs for many calls.
func (s *subject[E, R]) short() []input[E] {
	return slices.DeleteFunc(s.coldOf(nextShort()), input[E].long)
}

// few returns inputs for pairs of calls.
func (s *subject[E, R]) few() []input[E] {
	const most = 24
	all := s.short()
	few := withUnits(all, true)
	plain := withUnits(all, false)
	for i := range min(most, len(plain)) {
		few = append(few, plain[i*len(plain)/min(most, len(plain))])
	}
	return few
}

// slowCall is what a call may take in the rules that make many. A test that counts
// calls sets it.
var slowCall = 50 * time.Millisecond

// takes runs every input for the first time. Inputs that fail are not used
// again, so that one mistake is not reported under every rule.
func (s *subject[E, R]) takes() string {
	s.fails, s.slow = make(map[string]bool), make(map[string]time.Duration)
	found := ""
	run := s.start()
	for _, in := range s.lists(nextGeneration()) {
		var out outcome[R]
		took := timeOf(func() { out = s.call(run, in) })
		if took > slowCall { // other work on the machine is not the strategy's fault
			took = min(took, timeOf(func() { s.alone(in) }))
		}
		if took > slowCall {
			s.slow[in.name] = took
		}
		if out.broke != "" && !s.answers(out) {
			s.fails[in.name] = true
			if found == "" {
				found = in.name + ": " + out.broke
			}
		}
	}
	return found
}

// kitRepeats is how often the kit repeats the same input, to expose dependence
// on map order or chance.
const kitRepeats = 10

// repeats uses a new strategy each time: what a strategy remembers is found by
// another rule, which names it.
func (s *subject[E, R]) repeats() string {
	for _, in := range s.cold() {
		first := s.alone(in)
		times := kitRepeats
		if in.long() {
			times = 2
		}
		for range times {
			if diff := s.compare(first, s.alone(in)); diff != "" {
				return in.name + ", run again: " + diff
			}
		}
	}
	return ""
}

// fillRounds of 65 new items fill a cache of 2,048 entries.
const fillRounds = 32

// storesNothing compares what a new strategy returns for each list with what one
// returns that has seen the lists before, in both directions.
func (s *subject[E, R]) storesNothing() string {
	g := nextGeneration()
	want := s.eachAlone(s.coldOf(g))
	run := s.start()
	inputs := s.coldOf(g)
	for _, in := range append(slices.Clone(inputs), reversed(inputs)...) {
		if diff := s.compare(want[in.name], s.call(run, in)); diff != "" {
			return in.name + ", run first and after other lists: " + diff
		}
	}
	// A cache keyed by item always returns the same. Equal but new items expose
	// it, because they first occur in other lists.
	for _, in := range slices.Backward(s.coldOf(g)) {
		if diff := s.compare(want[in.name], s.call(run, in)); diff != "" {
			return in.name + ", run in two orders of the lists, with equal items: " + diff
		}
	}
	// A cache that is full forgets, or goes wrong.
	for range 4 {
		for _, in := range s.short() {
			s.call(run, in)
		}
	}
	for range fillRounds {
		var longest input[E]
		for _, in := range s.short() {
			if len(in.list) >= len(longest.list) {
				longest = in
			}
		}
		s.call(run, longest)
	}
	for _, in := range inputs {
		if diff := s.compare(want[in.name], s.call(run, in)); diff != "" {
			return in.name + ", run first and after many other lists: " + diff
		}
	}
	late := nextShort()
	want = s.eachAlone(s.coldOf(late))
	for _, in := range s.coldOf(late) {
		if diff := s.compare(want[in.name], s.call(run, in)); diff != "" {
			return in.name + ", run first and after many other lists: " + diff
		}
	}
	return s.sharesNothing()
}

// sharesNothing looks for memory that all strategies of a type share, keyed by
// content: it shows in methods whose results do not depend on contents, as two
// sets of new contents tell, once the lists come in another order.
func (s *subject[E, R]) sharesNothing() string {
	want, again := s.eachAlone(s.short()), s.eachAlone(s.short())
	for name := range want {
		if s.compare(want[name], again[name]) != "" {
			return ""
		}
	}
	for _, in := range slices.Backward(s.short()) {
		if diff := s.compare(want[in.name], s.alone(in)); diff != "" {
			return in.name + ", run in two orders of the lists, with other contents: " + diff
		}
	}
	return ""
}

// eachAlone runs each input with a strategy of its own.
func (s *subject[E, R]) eachAlone(inputs []input[E]) map[string]outcome[R] {
	out := make(map[string]outcome[R])
	for _, in := range inputs {
		out[in.name] = s.alone(in)
	}
	return out
}

// keepsNoList reuses the memory of one list for another of the same length, as
// the engine does between runs.
func (s *subject[E, R]) keepsNoList() string {
	run := s.start()
	inputs := s.few()
	for _, a := range inputs {
		for _, b := range inputs {
			n := min(len(a.list), len(b.list))
			before, after := a, b
			before.list, after.list = slices.Clone(a.list[:n]), b.list[:n]
			want := s.call(run, after)
			s.runOn(context.Background(), run, before)
			copy(before.list, b.list)
			after.list = before.list
			if diff := s.compare(want, s.runOn(context.Background(), run, after)); diff != "" {
				return fmt.Sprintf("%s, in memory of its own and in that of the list before (%s): %s", b.name, a.name, diff)
			}
		}
	}
	return ""
}

// lateWrite is how long the kit waits for goroutines that write after the call.
const lateWrite = 4 * time.Millisecond

func (s *subject[E, R]) changesNoList() string {
	run := s.start()
	changed := func(in input[E], list []E) string {
		for i := range in.list {
			if !s.same(in.list[i], list[i]) {
				return fmt.Sprintf("%s: position %d holds something else after the call", in.name, i)
			}
		}
		if !s.same(list[len(in.list)], s.junk) {
			return fmt.Sprintf("%s: the memory behind the end of the list was written to", in.name)
		}
		return ""
	}
	inputs := s.cold()
	lists := make([][]E, len(inputs))
	for n, in := range inputs {
		lists[n] = append(slices.Clone(in.list), s.junk) // the strategy must not use spare capacity either
		given := in
		given.list = lists[n][:len(in.list)]
		s.runOn(context.Background(), run, given)
		if found := changed(in, lists[n]); found != "" {
			return found
		}
	}
	time.Sleep(lateWrite)
	for n, in := range inputs {
		if found := changed(in, lists[n]); found != "" {
			return found + ", a while later"
		}
	}
	return s.options.changed()
}

// usesLength compares lists with memory behind their end with lists without.
func (s *subject[E, R]) usesLength() string {
	for _, in := range s.few() {
		tight, roomy := in, in
		tight.list = slices.Clip(slices.Clone(in.list))
		roomy.list = append(slices.Clone(in.list), s.junk, s.junk, s.junk)[:len(in.list)]
		without := s.runOn(context.Background(), s.start(), tight)
		without.result = s.clone(without.result)
		if diff := s.compare(without, s.runOn(context.Background(), s.start(), roomy)); diff != "" {
			return in.name + ", without memory behind its end and with it: " + diff
		}
	}
	return ""
}

func (s *subject[E, R]) givesResultsAway() string {
	run := s.start()
	inputs := s.few()
	results, copies := make([]outcome[R], len(inputs)), make([]R, len(inputs))
	for n, in := range inputs {
		results[n] = s.runOn(context.Background(), run, in)
		copies[n] = s.clone(results[n].result)
		for _, other := range inputs {
			s.call(run, other)
		}
		if diff := s.differ(copies[n], results[n].result); diff != "" {
			return in.name + ", its result before and after other calls: " + diff
		}
	}
	time.Sleep(lateWrite)
	for n, in := range inputs {
		if diff := s.differ(copies[n], results[n].result); diff != "" {
			return in.name + ", its result after the call and a while later: " + diff
		}
	}
	return ""
}

// kitGoroutines is the number of goroutines that call a strategy concurrently.
const kitGoroutines = 4

// runsConcurrently has several goroutines make the first calls of a strategy,
// first all with the same list and then each with another. What they should
// return is found afterwards, since it warms what the strategies share.
func (s *subject[E, R]) runsConcurrently() string {
	g := nextGeneration()
	inputs := s.coldOf(g)
	type call struct {
		in  int
		out outcome[R]
	}
	var calls [kitGoroutines][]call
	atOnce := func(do func(g int)) {
		var group sync.WaitGroup
		start := make(chan struct{})
		for g := range kitGoroutines {
			group.Go(func() {
				<-start
				do(g)
			})
		}
		close(start)
		group.Wait()
	}
	for i, in := range inputs {
		run := s.start()
		atOnce(func(g int) { calls[g] = append(calls[g], call{i, s.call(run, in)}) })
	}
	run, others := s.start(), s.cold()
	atOnce(func(g int) {
		for k := range others {
			i := (k + g*len(others)/kitGoroutines) % len(others) // start at different lists
			s.call(run, others[i])
			calls[g] = append(calls[g], call{i, s.call(run, inputs[i])})
		}
	})
	want := s.eachAlone(s.coldOf(g))
	for _, of := range calls {
		for _, c := range of {
			name := inputs[c.in].name
			if diff := s.compare(want[name], c.out); diff != "" {
				return name + ", run alone and in several goroutines: " + diff
			}
		}
	}
	return ""
}

// rules are the rules of every strategy. The first must run first: the others
// use the inputs that pass it.
func (s *subject[E, R]) rules() []rule {
	m := s.method
	return []rule{
		{sentence: m + " takes every valid list, one of a single item too, without a panic or an error.", cause: m + " fails", broken: s.takes},
		{sentence: m + " does not change the list that it is given.", cause: m + " changes its list", broken: s.changesNoList, vital: true},
		{sentence: m + " is a pure function: the same input gives the same result each time.", cause: s.result + " change from call to call", broken: s.repeats, vital: true},
		{sentence: m + " does not look behind the end of the list.", cause: s.result + " depend on the capacity of the list", broken: s.usesLength, vital: true},
		{sentence: m + " stores nothing about a call: what was called before does not change a result.", cause: s.result + " depend on earlier calls", broken: s.storesNothing, vital: true},
		{sentence: m + " does not keep the list, whose memory is used again after the call.", cause: s.result + " depend on a list of an earlier call", broken: s.keepsNoList, vital: true},
		{sentence: m + " is safe for concurrent use.", cause: s.result + " depend on other goroutines", broken: s.runsConcurrently, vital: true},
	}
}

// resultRule is for methods that return their result in memory that they
// allocate or receive.
func (s *subject[E, R]) resultRule() rule {
	return rule{sentence: s.method + " gives its result away: later calls do not change it.", cause: s.result + " are changed by later calls", broken: s.givesResultsAway, vital: true}
}
