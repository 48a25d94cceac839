package cupeltest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"runtime/pprof"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// stopRules are for methods with a context.
func (s *subject[E, R]) stopRules() []rule {
	return []rule{
		{sentence: s.method + " that stops because its context is done fails with the context's error, and returns no part of a result.",
			cause: s.method + " stops in a wrong way", broken: s.stops},
		{sentence: s.method + " stops soon after its context is done, if it takes long.", cause: s.method + " does not notice the end of its context", broken: s.stopsSoon},
		s.goroutineRule(),
	}
}

func (s *subject[E, R]) goroutineRule() rule {
	return rule{sentence: s.method + " starts no goroutine that goes on after the call, except for a number that does not grow.", cause: s.method + " leaves goroutines behind", broken: s.endsGoroutines}
}

// A lateContext is done after it was asked so many times.
type lateContext struct {
	context.Context
	mu   sync.Mutex
	left int
	done chan struct{}
	over bool
}

func newLateContext(questions int) *lateContext {
	return &lateContext{Context: context.Background(), left: questions, done: make(chan struct{})}
}

func (c *lateContext) ask(questions int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.left -= questions; c.left < 0 && !c.over {
		c.over = true
		close(c.done)
	}
	return c.over
}

// ended reports whether the context is done, without asking it.
func (c *lateContext) ended() bool { return c.ask(0) }

// end ends the context for those who still wait.
func (c *lateContext) end() { c.ask(math.MaxInt / 2) }

func (c *lateContext) Done() <-chan struct{} {
	c.ask(1)
	return c.done
}

func (c *lateContext) Err() error {
	if c.ask(1) {
		return context.Canceled
	}
	return nil
}

// stops ends the context before a call and at several points of it.
func (s *subject[E, R]) stops() string {
	run := s.start()
	for _, in := range s.cold() {
		want := s.alone(in)
		for _, questions := range []int{0, 1, 2, 3, 6, 20} {
			ctx := newLateContext(questions)
			out := s.callIn(ctx, run, in)
			asked := ctx.ended()
			ctx.end()
			when := "under a context that is done"
			if questions > 0 {
				when = fmt.Sprintf("under a context that is done when it is asked %d times", questions+1)
			}
			switch {
			case out.broke != "":
				switch {
				case s.answers(out):
				case errors.Is(out.err, context.Canceled) && !asked:
					return in.name + ", under a context that goes on, after one that was done: " + out.broke
				case !errors.Is(out.err, context.Canceled):
					return in.name + ", " + when + ": " + out.broke
				}
			case want.broke == "":
				if diff := s.differ(want.result, out.result); diff != "" {
					return in.name + ", without an error and " + when + ": " + diff
				}
			}
			if !asked {
				break // later ends are not seen either
			}
		}
	}
	return ""
}

// timeOf returns how long a call takes.
func timeOf(call func()) time.Duration {
	began := time.Now() //nolint:forbidigo // the kit measures the strategies of others
	call()
	return time.Since(began) //nolint:forbidigo // as above
}

// longCall is how long a call may take that does not look at its context.
const longCall = 250 * time.Millisecond

func (s *subject[E, R]) stopsSoon() string {
	if len(s.slow) == 0 {
		return ""
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for _, in := range s.lists(nextGeneration()) {
		if s.slow[in.name] < longCall || s.fails[in.name] {
			continue
		}
		run := s.start()
		full, ended := time.Duration(math.MaxInt64), time.Duration(math.MaxInt64)
		for range 4 { // the least of several is hardly disturbed by other work
			full = min(full, timeOf(func() { s.call(run, in) }))
			ended = min(ended, timeOf(func() { s.callIn(ctx, run, in) }))
			if full < longCall || ended < full/4 { // a full call that was disturbed is not four times as long
				break
			}
		}
		if full >= longCall && ended >= full*2/3 {
			return fmt.Sprintf("%s: %v, and %v under a context that is done", in.name, full.Round(time.Millisecond), ended.Round(time.Millisecond))
		}
		return "" // one is enough: each takes long
	}
	return ""
}

// lastLabel tells the goroutines of calls apart from all others.
var lastLabel atomic.Int64

// endsGoroutines makes the same calls several times.
func (s *subject[E, R]) endsGoroutines() string {
	run := s.start()
	done, cancel := context.WithCancel(context.Background())
	cancel()
	inputs := s.few()
	before, after := leftBehind(func() {
		for _, in := range inputs {
			s.call(run, in)
			s.callIn(done, run, in)
		}
	})
	if after > before {
		return fmt.Sprintf("%d calls: %d goroutines after a third of them, %d after all", 6*len(inputs), before, after)
	}
	return ""
}

// leftBehind returns how many goroutines of a round go on after it, and how many
// after three rounds: a pool that is started once and stays is lawful.
func leftBehind(round func()) (first, last int) {
	label := fmt.Sprint(lastLabel.Add(1))
	labelledRound := func() {
		pprof.Do(context.Background(), pprof.Labels(goroutineLabel, label), func(context.Context) { round() })
	}
	labelledRound()
	if first = settled(label, 0); first == 0 {
		return 0, 0
	}
	labelledRound()
	labelledRound()
	return first, settled(label, first)
}

const goroutineLabel = "cupeltest"

// settled waits for the goroutines with a label to end, down to a number, and
// returns how many are left.
func settled(label string, to int) int {
	n := labelled(label)
	for try := 0; n > to && try < 10; try++ {
		time.Sleep(time.Millisecond << try)
		n = labelled(label)
	}
	return n
}

// labelled counts goroutines by their label in a profile, where each line of
// labels follows the count of the goroutines that have it.
func labelled(label string) int {
	var profile bytes.Buffer
	_ = pprof.Lookup("goroutine").WriteTo(&profile, 1) // a buffer takes everything
	var n, count int
	for line := range bytes.Lines(profile.Bytes()) {
		if before, _, ok := bytes.Cut(line, []byte(" @ ")); ok {
			count, _ = strconv.Atoi(string(before))
		}
		if bytes.Contains(line, []byte(fmt.Sprintf("%q:%q", goroutineLabel, label))) {
			n += count
		}
	}
	return n
}
