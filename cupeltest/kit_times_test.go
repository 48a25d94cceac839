package cupeltest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/observe"
)

const ms = time.Millisecond

// taking returns a function that takes the given times, one after the other, and
// then the last one again and again.
func taking(calls *int, times ...time.Duration) func() {
	return func() {
		time.Sleep(times[0])
		times = times[min(1, len(times)-1):]
		*calls++
	}
}

// Times are those of a clock that stands still between calls.
func TestGrowth(t *testing.T) {
	for _, row := range []struct {
		short, long []time.Duration
		want        string
		calls       int
		why         string
	}{
		{[]time.Duration{ms}, []time.Duration{32 * ms}, "", 20, "32 times as long is as much as may be"},
		{[]time.Duration{ms}, []time.Duration{33 * ms}, "250 and 2000 items: 1ms, then 33ms, which is 33 times as long", 20, "33 is more"},
		{[]time.Duration{0}, []time.Duration{2999 * time.Microsecond}, "", 4, "less than 3 ms do not matter"},
		{[]time.Duration{0}, []time.Duration{3 * ms}, "250 and 2000 items: 0s, then 3ms, which is 3000000 times as long", 20, "3 ms do"},
		{[]time.Duration{ms, ms, 2 * ms}, []time.Duration{40 * ms, 50 * ms}, "250 and 2000 items: 1ms, then 40ms, which is 40 times as long", 20, "the least times count"},
		{[]time.Duration{2 * ms, 2 * ms, ms}, []time.Duration{50 * ms, 40 * ms}, "250 and 2000 items: 1ms, then 40ms, which is 40 times as long", 20, "the least times count, whenever they come"},
		{[]time.Duration{ms}, []time.Duration{40 * ms, 40 * ms, 31 * ms}, "", 20, "a later round is faster"},
		{[]time.Duration{ms}, []time.Duration{40 * ms, 2 * ms}, "", 8, "a later round is very fast"},
		{[]time.Duration{ms}, []time.Duration{600 * ms}, "250 and 2000 items: 1ms, then 600ms, which is 600 times as long", 8, "two rounds are the least"},
		{[]time.Duration{ms}, []time.Duration{247 * ms}, "250 and 2000 items: 1ms, then 247ms, which is 247 times as long", 12, "500 ms are not too much for another"},
		{[]time.Duration{ms}, []time.Duration{248 * ms}, "250 and 2000 items: 1ms, then 248ms, which is 248 times as long", 8, "502 are"},
		{[]time.Duration{1000400 * time.Nanosecond}, []time.Duration{40000600 * time.Nanosecond}, "250 and 2000 items: 1ms, then 40.001ms, which is 40 times as long", 20, "times are rounded"},
	} {
		synctest.Test(t, func(t *testing.T) {
			calls := 0
			short, long := taking(&calls, row.short...), taking(&calls, row.long...)
			got := growth("items", func(n int) func() {
				if n == growthFrom {
					return short
				}
				return long
			})
			if got != row.want || calls != row.calls {
				t.Errorf("%v and %v: %q after %d calls, want %q after %d: %s", row.short, row.long, got, calls, row.want, row.calls, row.why)
			}
		})
	}
}

// A method is given lists of both lengths, and a collector as many events.
func TestGrowthOfCalls(t *testing.T) {
	for _, row := range []struct {
		takes func(n int) time.Duration
		want  string
		why   string
	}{
		{func(n int) time.Duration { return time.Duration(n) * 4 * time.Microsecond }, "", "8 times as long for 8 times as many"},
		{func(n int) time.Duration { return time.Duration(n*n) * time.Microsecond }, "250 and 2000 items: 62.5ms, then 4s, which is 64 times as long", "the square"},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := timedSubject(new(int), nil, nil)
			s.start = func() method[int, int] {
				return func(_ context.Context, in input[int]) (int, error) {
					time.Sleep(row.takes(len(in.list)))
					return 0, nil
				}
			}
			if got := s.growthRule(func(n int) input[int] { return input[int]{list: make([]int, n)} }).broken(); got != row.want {
				t.Errorf("%q, want %q: %s", got, row.want, row.why)
			}
		})
	}
	for _, row := range []struct {
		takes func(nth int) time.Duration
		want  string
		why   string
	}{
		{func(int) time.Duration { return 4 * time.Microsecond }, "", "each event takes as long as the others"},
		{func(nth int) time.Duration { return time.Duration(nth) * time.Microsecond }, "250 and 2000 events: 125.25ms, then 8.002s, which is 64 times as long", "each takes longer"},
		{func(nth int) time.Duration { return time.Duration(max(4, 1000*(nth-4000))) * time.Microsecond }, "", "it is new for each round of 2 times 2000 events"},
	} {
		synctest.Test(t, func(t *testing.T) {
			k := &collectorKit{newCollector: func() observe.TraceCollector {
				n := 0
				slower := func(cupel.TraceEvent) {
					n++
					time.Sleep(row.takes(n))
				}
				return observe.Funcs{StageEvent: slower, ItemEvent: slower}
			}}
			if got := k.slows(); got != row.want {
				t.Errorf("%q, want %q: %s", got, row.want, row.why)
			}
		})
	}
}

// timedSubject takes the times of full while its context goes on, and of ended
// when it is done.
func timedSubject(calls *int, full, ended []time.Duration) *subject[int, int] {
	goesOn, stops := taking(calls, full...), taking(calls, ended...)
	return &subject[int, int]{
		options: new(kitOptions),
		method:  "Method",
		start: func() method[int, int] {
			return func(ctx context.Context, _ input[int]) (int, error) {
				if ctx.Err() != nil {
					stops()
					return 0, ctx.Err()
				}
				goesOn()
				return 0, nil
			}
		},
		clone: func(n int) int { return n },
		lists: func(generation) []input[int] { return []input[int]{{name: "x"}, {name: "y"}} },
		may:   func(error) bool { return false },
	}
}

func TestStopsSoon(t *testing.T) {
	slow := map[string]time.Duration{"x": 250 * ms}
	for _, row := range []struct {
		slow        map[string]time.Duration
		full, ended []time.Duration
		want        string
		calls       int
		why         string
	}{
		{nil, []time.Duration{300 * ms}, []time.Duration{300 * ms}, "", 0, "nothing is slow"},
		{map[string]time.Duration{"x": 249 * ms}, []time.Duration{300 * ms}, []time.Duration{300 * ms}, "", 0, "nothing is slow enough"},
		{map[string]time.Duration{"y": 250 * ms}, []time.Duration{300 * ms}, []time.Duration{300 * ms}, "y: 300ms, and 300ms under a context that is done", 8, "the second is slow"},
		{slow, []time.Duration{300 * ms}, []time.Duration{300 * ms}, "x: 300ms, and 300ms under a context that is done", 8, "it does not stop"},
		{slow, []time.Duration{300 * ms}, []time.Duration{200 * ms}, "x: 300ms, and 200ms under a context that is done", 8, "two thirds are not soon"},
		{slow, []time.Duration{300 * ms}, []time.Duration{199 * ms}, "", 8, "less is"},
		{slow, []time.Duration{250 * ms}, []time.Duration{250 * ms}, "x: 250ms, and 250ms under a context that is done", 8, "250 ms are long"},
		{slow, []time.Duration{249 * ms}, []time.Duration{249 * ms}, "", 2, "less is not, now that it is measured again"},
		{slow, []time.Duration{400 * ms, 300 * ms}, []time.Duration{300 * ms}, "x: 300ms, and 300ms under a context that is done", 8, "the least times count"},
		{slow, []time.Duration{300 * ms}, []time.Duration{300 * ms, 0}, "", 4, "other work disturbed the first call"},
		{slow, []time.Duration{300 * ms}, []time.Duration{75 * ms}, "", 8, "a quarter may be a disturbance"},
		{slow, []time.Duration{300 * ms}, []time.Duration{74 * ms}, "", 2, "less is clear"},
	} {
		synctest.Test(t, func(t *testing.T) {
			calls := 0
			s := timedSubject(&calls, row.full, row.ended)
			s.slow = row.slow
			if got := s.stopsSoon(); got != row.want || calls != row.calls {
				t.Errorf("%v, %v, slow %v: %q after %d calls, want %q after %d: %s", row.full, row.ended, row.slow, got, calls, row.want, row.calls, row.why)
			}
		})
	}
	synctest.Test(t, func(t *testing.T) {
		calls := 0
		s := timedSubject(&calls, []time.Duration{300 * ms}, []time.Duration{300 * ms})
		s.slow, s.fails = slow, map[string]bool{"x": true}
		if got := s.stopsSoon(); got != "" || calls > 0 {
			t.Errorf("%q after %d calls: the input fails, which has been reported", got, calls)
		}
	})
}

// Inputs that take long twice are left out of the rules that make many calls.
func TestSlowInputs(t *testing.T) {
	defer SetSlowCall(slowCall)
	SetSlowCall(50 * ms)
	for _, row := range []struct {
		times []time.Duration
		want  string
	}{
		{[]time.Duration{50 * ms}, "map[]"},
		{[]time.Duration{51 * ms}, "map[x:51ms y:51ms]"},
		{[]time.Duration{50 * ms, 60 * ms, 70 * ms}, "map[y:60ms]"}, // the first call of x is not repeated
		{[]time.Duration{60 * ms, 50 * ms}, "map[]"},
		{[]time.Duration{60 * ms, 55 * ms, 10 * ms}, "map[x:55ms]"},
		{[]time.Duration{55 * ms, 60 * ms, 10 * ms}, "map[x:55ms]"},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := timedSubject(new(int), row.times, row.times)
			if found := s.takes(); found != "" || fmt.Sprint(s.slow) != row.want {
				t.Errorf("%v: %q, slow are %v, want %s", row.times, found, s.slow, row.want)
			}
			var cold []string
			for _, in := range s.cold() {
				if cold = append(cold, in.name); s.slow[in.name] > 0 {
					t.Errorf("%v: %s is slow and tried again", row.times, in.name)
				}
			}
			if len(cold)+len(s.slow) != 2 {
				t.Errorf("%v: %v are tried again", row.times, cold)
			}
		})
	}
}

// The first input that fails is reported, and none of them is used again.
func TestFailingInputs(t *testing.T) {
	failure := errors.New("too much")
	s := timedSubject(new(int), []time.Duration{0}, []time.Duration{0})
	s.start = func() method[int, int] {
		return func(context.Context, input[int]) (int, error) { return 0, failure }
	}
	if found := s.takes(); found != `x: the error "too much"` || len(s.cold()) > 0 {
		t.Errorf("%q, and %d inputs are used again", found, len(s.cold()))
	}
	s.may = func(err error) bool { return errors.Is(err, failure) }
	if found := s.takes(); found != "" || len(s.cold()) != 2 {
		t.Errorf("%q of an error that is allowed, and %d inputs are used again", found, len(s.cold()))
	}
}

func TestGoroutinesLeftBehind(t *testing.T) {
	for _, row := range []struct {
		each int // calls start as many goroutines
		once int // the first call does
		want string
		why  string
	}{
		{0, 0, "", "none is started"},
		{0, 3, "", "a pool stays"},
		{1, 0, "12 calls: 4 goroutines after a third of them, 12 after all", "two for each of two inputs"},
		{1, 2, "12 calls: 6 goroutines after a third of them, 14 after all", "and a pool"},
	} {
		synctest.Test(t, func(t *testing.T) {
			calls := 0
			s := timedSubject(new(int), []time.Duration{0}, []time.Duration{0})
			s.start = func() method[int, int] {
				return func(context.Context, input[int]) (int, error) {
					n := row.each
					if calls++; calls == 1 {
						n += row.once
					}
					for range n {
						go time.Sleep(time.Minute)
					}
					go time.Sleep(400 * ms) // ends soon
					return 0, nil
				}
			}
			if got := s.endsGoroutines(); got != row.want {
				t.Errorf("%q, want %q: %s", got, row.want, row.why)
			}
			time.Sleep(time.Hour) // of the test's own clock, until all have ended
		})
	}
}

// One round is enough where nothing is left of it.
func TestLeftBehind(t *testing.T) {
	for _, row := range []struct {
		ends        []time.Duration // goroutines of each round
		first, last int
		waits       time.Duration
		why         string
	}{
		{nil, 0, 0, 0, "none is started"},
		{[]time.Duration{100 * ms}, 0, 0, 127 * ms, "it ends soon, and is waited for in steps of 1, 2, 4 ms and so on"},
		{[]time.Duration{time.Hour}, 1, 3, 2 * 1023 * ms, "1 for each round"},
		{[]time.Duration{time.Hour, 100 * ms}, 1, 3, 2 * 1023 * ms, "one of two"},
	} {
		synctest.Test(t, func(t *testing.T) {
			began := time.Now()
			first, last := leftBehind(func() {
				for _, d := range row.ends {
					go time.Sleep(d)
				}
			})
			if waited := time.Since(began); first != row.first || last != row.last || waited != row.waits {
				t.Errorf("%d, then %d after %v, want %d and %d after %v: %s", first, last, waited, row.first, row.last, row.waits, row.why)
			}
			time.Sleep(2 * time.Hour) // of the test's own clock, until all have ended
		})
	}
}

// A context that ends late ends for those too that wait for it in the background.
func TestLateContextsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // which fails if a goroutine waits for good
		s := timedSubject(new(int), nil, nil)
		s.differ = func(a, b int) string { return "" }
		s.start = func() method[int, int] {
			return func(ctx context.Context, _ input[int]) (int, error) {
				if done := ctx.Done(); done != nil {
					go func() { <-done }()
				}
				return 0, nil
			}
		}
		if found := s.stops(); found != "" {
			t.Error(found)
		}
	})
}

// The goroutines that call a strategy at once begin with the same list, for each
// of the lists, and then each with another.
func TestConcurrentCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := timedSubject(new(int), nil, nil)
		s.lists = func(generation) []input[int] { return []input[int]{{name: "w"}, {name: "x"}, {name: "y"}, {name: "z"}} }
		s.differ = func(a, b int) string { return "" }
		var (
			lock sync.Mutex
			runs [][]string // the lists of the calls that begin with the run
		)
		s.start = func() method[int, int] {
			began, n := time.Now(), len(runs)
			runs = append(runs, nil)
			return func(_ context.Context, in input[int]) (int, error) {
				lock.Lock()
				if time.Now().Equal(began) {
					runs[n] = append(runs[n], in.name)
				}
				lock.Unlock()
				time.Sleep(ms)
				return 0, nil
			}
		}
		if found := s.runsConcurrently(); found != "" {
			t.Error(found)
		}
		for _, names := range runs {
			slices.Sort(names)
		}
		if got, want := fmt.Sprint(runs), "[[w w w w] [x x x x] [y y y y] [z z z z] [w x y z] [w] [x] [y] [z]]"; got != want {
			t.Errorf("%s, want %s", got, want)
		}
	})
}

// A stream that ends early has an error.
func TestRunsOfCollectorsThatEnd(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, run := range kitRuns() {
		if strings.Contains(run.name, "stream") {
			if items, err := run.start(ctx, nil); !errors.Is(err, context.Canceled) || items != nil {
				t.Errorf("%s: %d items, %v", run.name, len(items), err)
			}
		}
	}
}

// Each question to a context counts, and looking whether it is done does not.
func TestLateContexts(t *testing.T) {
	done := func(c *lateContext) bool {
		select {
		case <-c.Done():
			return true
		default:
			return false
		}
	}
	for questions := range 4 {
		for name, ask := range map[string]func(c *lateContext) bool{
			"Done": done,
			"Err":  func(c *lateContext) bool { return errors.Is(c.Err(), context.Canceled) },
		} {
			c, asked := newLateContext(questions), 0
			for !c.ended() && asked < 9 {
				if ended := ask(c); ended != (asked == questions) {
					t.Errorf("done after %d questions, asked by %s: %t the %d. time", questions, name, ended, asked+1)
				}
				asked++
			}
			if asked != questions+1 {
				t.Errorf("done after %d questions, asked by %s: not asked for after %d", questions, name, asked)
			}
		}
		c := newLateContext(questions)
		if c.end(); !done(c) || c.Err() == nil || !c.ended() {
			t.Errorf("not done after its end, of %d questions", questions)
		}
	}
}
