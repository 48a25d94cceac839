package cupeltest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"runtime"
	"runtime/pprof"
	"slices"
	"strconv"
	"sync/atomic"
	"time"
)

// changesProcess reports whether the kit may change the time zone and the language
// of the process: not in a parallel test, where Setenv of *testing.T panics.
func changesProcess(t T) bool {
	setter, ok := t.(interface{ Setenv(key, value string) })
	return !ok || protect(func() string {
		setter.Setenv("TZ", os.Getenv("TZ"))
		return ""
	}) == ""
}

// A surrounding is a state of the process that no result may depend on.
type surrounding struct {
	name   string
	change func() (restore func())
}

// surroundings are the states that the kit may change.
func (k *kit) surroundings() []surrounding {
	list := []surrounding{onProcessors(1), onProcessors(3)}
	if k.changesProcess {
		list = append(list, inZone(-9*time.Hour-30*time.Minute), inZone(400*24*time.Hour), withVariable("LANG", "tr_TR.UTF-8"), withVariable("LC_ALL", "tr_TR.UTF-8"))
	}
	// A bubble of testing/synctest begins in the year 2000, and its time costs nothing.
	if time.Now().Year() < 2010 { //nolint:forbidigo // the kit varies the clock
		list = append(list, surrounding{"a year later", func() func() {
			time.Sleep(366*24*time.Hour + 7*time.Hour)
			return func() {}
		}})
	}
	return list
}

func onProcessors(n int) surrounding {
	return surrounding{fmt.Sprintf("GOMAXPROCS=%d", n), func() func() {
		was := runtime.GOMAXPROCS(n)
		return func() { runtime.GOMAXPROCS(was) }
	}}
}

func inZone(offset time.Duration) surrounding {
	return surrounding{fmt.Sprintf("a local time %v ahead", offset), func() func() {
		was := time.Local
		time.Local = time.FixedZone("kit", int(offset.Seconds()))
		return func() { time.Local = was }
	}}
}

func withVariable(name, value string) surrounding {
	return surrounding{name + "=" + value, func() func() {
		was, set := os.LookupEnv(name)
		_ = os.Setenv(name, value) // it cannot fail for these
		return func() {
			_ = os.Setenv(name, was)
			if !set {
				_ = os.Unsetenv(name)
			}
		}
	}}
}

// looksAround runs new strategies in other surroundings.
func (k *kit) looksAround() string {
	g := nextGeneration()
	want := k.eachAlone(k.short(g))
	for _, s := range k.surroundings() {
		restore := s.change()
		got := k.eachAlone(k.short(g))
		restore()
		for _, in := range k.short(g) {
			if diff := compare(want[in.name], got[in.name]); diff != "" {
				return fmt.Sprintf("%s, here and with %s: %s", in.name, s.name, diff)
			}
		}
	}
	return ""
}

// A lateContext is canceled once it was asked more than a number of times.
type lateContext struct {
	context.Context
	cancel func()
	asked  atomic.Int64
	last   int64
}

func newLateContext(last int64) *lateContext {
	c := &lateContext{last: last}
	c.Context, c.cancel = context.WithCancel(context.Background())
	return c
}

func (c *lateContext) ask() {
	if c.asked.Add(1) > c.last {
		c.cancel()
	}
}

func (c *lateContext) Done() <-chan struct{} {
	c.ask()
	return c.Context.Done()
}

func (c *lateContext) Err() error {
	c.ask()
	return c.Context.Err()
}

// stops ends the context before a call and at several points of it.
func (k *kit) stops() string {
	run := k.start()
	for _, in := range k.cold(nextGeneration()) {
		want := k.alone(in)
		for _, questions := range []int64{0, 1, 2, 3, 6, 20} {
			ctx := newLateContext(questions)
			out := k.call(ctx, run, in)
			ended := ctx.Context.Err() != nil
			ctx.cancel() // for goroutines that still wait
			if diff := compare(want, out); diff != "" && (!ended || !errors.Is(out.err, context.Canceled)) {
				return fmt.Sprintf("%s, under a context that is done when it is asked %d times: %s", in.name, questions+1, diff)
			}
			if !ended {
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

// longCall is how long a call may take without checking its context.
const longCall = 250 * time.Millisecond

// stopsSoon counts how often long calls check their context.
func (k *kit) stopsSoon() string {
	run := k.start()
	for _, in := range k.inputs(nextGeneration()) {
		ctx, times := newLateContext(math.MaxInt64), 0
		for times < 3 && k.slow[in.name] >= longCall { // other work may disturb a call
			if timeOf(func() { k.call(ctx, run, in) }) < longCall {
				break
			}
			times++
		}
		if times == 3 && ctx.asked.Load() == 0 {
			return fmt.Sprintf("%s: it takes more than %v and never looks at its context", in.name, longCall)
		}
	}
	return ""
}

// lastLabel tells the goroutines of calls apart from all others.
var lastLabel atomic.Int64

// leaves counts the goroutines that remain after some calls, and after three times
// as many calls. A pool that is started once and stays is allowed.
func (k *kit) leaves() string {
	label := fmt.Sprint(lastLabel.Add(1))
	calls := k.someCalls()
	round := func() {
		pprof.Do(context.Background(), pprof.Labels(goroutineLabel, label), func(ctx context.Context) {
			for _, call := range calls {
				call(ctx)
			}
		})
	}
	round()
	first := settled(label, 0)
	if first == 0 {
		return ""
	}
	round()
	round()
	if last := settled(label, first); last > first {
		return fmt.Sprintf("%d goroutines go on after %d calls, and %d after three times as many", first, len(calls), last)
	}
	return ""
}

const goroutineLabel = "cupeltest"

// someCalls are calls with live and with done contexts.
func (k *kit) someCalls() (calls []func(context.Context)) {
	run := k.start()
	done, cancel := context.WithCancel(context.Background())
	cancel()
	for _, in := range k.short(nextGeneration()) {
		calls = append(calls, func(ctx context.Context) { k.call(ctx, run, in) }, func(context.Context) { k.call(done, run, in) })
	}
	return calls
}

// settled waits for the goroutines with a label to end, down to a number, and
// returns how many are left.
func settled(label string, to int) int {
	n := labeled(label)
	for try := 0; n > to && try < 9; try++ {
		time.Sleep(time.Millisecond << try)
		n = labeled(label)
	}
	return n
}

// labeled counts goroutines by their label in a profile, where each line of
// labels follows the count of the goroutines that have it.
func labeled(label string) int {
	var profile bytes.Buffer
	_ = pprof.Lookup("goroutine").WriteTo(&profile, 1) // a buffer takes everything
	var n, count int
	for line := range bytes.Lines(profile.Bytes()) {
		if before, _, ok := bytes.Cut(line, []byte(" @ ")); ok {
			count, _ = strconv.Atoi(string(before))
		}
		if bytes.Contains(line, fmt.Appendf(nil, "%q:%q", goroutineLabel, label)) {
			n += count
		}
	}
	return n
}

// Growth is measured between lists of these lengths. Growth with N log N is a
// factor of 11, with the square of N a factor of 64.
const (
	growthFrom = 250
	growthTo   = 2000
	growthMost = 32
	sortFaster = 3 // at least the strategy's growth divided by this

	growthLeast = 3 * time.Millisecond // less does not matter
	leastBytes  = 2 << 20

	// On a busy machine a short call is rarely disturbed, and a long one often.
	// Calls that look slow are therefore repeated until they had enough time.
	growthRounds = 20
	growthTime   = 2 * time.Second
)

// grows compares the memory that calls allocate, and the time that they take. Each
// call is timed next to sorting, which other work on the machine slows down
// equally.
func (k *kit) grows() string {
	small, large := k.longCallOf(growthFrom), k.longCallOf(growthTo)
	if from, to := allocated(small), allocated(large); to > max(leastBytes, growthMost*from) {
		return fmt.Sprintf("%d and %d items: %d times as many bytes are allocated", growthFrom, growthTo, to/max(from, 1))
	}
	least := slices.Repeat([]time.Duration{math.MaxInt64}, 4) // the fastest of several is hardly disturbed
	var ratio, most float64
	var spent time.Duration
	for round := 0; round < growthRounds && (round < 9 || spent < growthTime); round++ {
		for i, do := range []func(){small, large, func() { sort(growthFrom) }, func() { sort(growthTo) }} {
			took := timeOf(do)
			least[i], spent = min(least[i], took), spent+took
			if least[1] < growthLeast {
				return ""
			}
		}
		ratio, most = float64(least[1])/float64(least[0]+1), sortFaster*float64(least[3])/float64(least[2]+1)
		if round > 2 && ratio < growthMost/2 {
			return ""
		}
	}
	if ratio <= min(max(growthMost, most), 1.4*growthMost) {
		return ""
	}
	return fmt.Sprintf("%d and %d items: %.0f times as long, and %.0f times would be much longer than for sorting them", growthFrom, growthTo, ratio, most)
}

// allocated returns the bytes that a call allocates. It takes the lesser of
// two calls, since other goroutines allocate too.
func allocated(call func()) uint64 {
	least := uint64(math.MaxUint64)
	for range 2 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		call()
		runtime.ReadMemStats(&after)
		least = min(least, after.TotalAlloc-before.TotalAlloc)
	}
	return least
}

// sort is work that takes time in proportion to N log N.
func sort(n int) {
	list := make([]uint64, 20*n)
	for i := range list {
		list[i] = uint64(i) * 0x9E3779B97F4A7C15
	}
	slices.Sort(list)
}

// longCallOf returns a call with a list of n items.
func (k *kit) longCallOf(n int) func() {
	in := k.longInput(n)
	return func() { k.alone(in) }
}
