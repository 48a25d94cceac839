package cupelsession_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/cupelsession"
)

func state(t testing.TB, s *cupelsession.Session) string {
	t.Helper()
	data, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// interrupted is a chooser in which something happens before it chooses.
type interrupted struct {
	cupelsession.Chooser
	before func()
}

func (i interrupted) RunReport(ctx context.Context, items []*cupel.ContextItem, budget cupel.ContextBudget, opts ...pipeline.RunOption) ([]*cupel.ContextItem, *cupel.SelectionReport, error) {
	i.before()
	return i.Chooser.RunReport(ctx, items, budget, opts...)
}

// TestFailedTurnsLeaveNoTrace fails turns in different ways: the state stays, and
// the next turn is that of a session that never failed.
func TestFailedTurnsLeaveNoTrace(t *testing.T) {
	items := numbered(t, 9)
	pinned, err := items[4].With(cupel.WithPinned())
	if err != nil {
		t.Fatal(err)
	}
	both := slices.Clone(items[:6])
	both[4] = pinned
	for _, test := range []struct {
		name string
		fail func(t *testing.T, s *cupelsession.Session) error
		want error
		why  string
	}{
		{"a budget below what is pinned", func(t *testing.T, s *cupelsession.Session) error {
			t.Helper()
			_, err := s.Next(t.Context(), both, budget(t, 15))
			return err
		}, pipeline.ErrPinnedExceedsBudget, "two pinned items of 10 tokens exceed 15"},
		{"no budget", func(t *testing.T, s *cupelsession.Session) error {
			t.Helper()
			_, err := s.Next(t.Context(), items[:6], budget(t, 0))
			return err
		}, pipeline.ErrPinnedExceedsBudget, "one pinned item exceeds 0"},
		{"canceled while choosing", func(t *testing.T, s *cupelsession.Session) error {
			t.Helper()
			ctx, cancel := context.WithCancel(t.Context())
			_, err := s.Next(ctx, items[:6], budget(t, 50), cupelsession.WithChooser(interrupted{newest(t), cancel}))
			return err
		}, context.Canceled, "the chooser says so"},
		{"a deadline while choosing", func(t *testing.T, s *cupelsession.Session) error {
			t.Helper()
			ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
			defer cancel()
			_, err := s.Next(ctx, items[:6], budget(t, 50), cupelsession.WithChooser(interrupted{newest(t), func() { <-ctx.Done() }}))
			return err
		}, context.DeadlineExceeded, "the chooser says so"},
		{"an error of the chooser", func(t *testing.T, s *cupelsession.Session) error {
			t.Helper()
			_, err := s.Next(t.Context(), items[:6], budget(t, 50), cupelsession.WithChooser(offline{}))
			return err
		}, errOffline, "it is passed on"},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := session(t, newest(t), cupelsession.Config{Clock: func() time.Time { return time.Unix(1e9, 0) }})
			commit(t, next(t, s, items[:5], 50))
			other, before := s.Fork(), state(t, s)
			if err := test.fail(t, s); !errors.Is(err, test.want) {
				t.Errorf("error %v, want %v (%s)", err, test.want, test.why)
			}
			if after := state(t, s); after != before {
				t.Errorf("the state is %s, want %s", after, before)
			}
			for n := 6; n <= 9; n++ {
				a, b := next(t, s, items[:n], 50), next(t, other, items[:n], 50)
				if says(a) != says(b) {
					t.Errorf("%d items: window %q, want %q", n, says(a), says(b))
				}
				commit(t, a)
				commit(t, b)
			}
		})
	}
}

var errOffline = errors.New("offline")

// offline is a chooser that fails.
type offline struct{}

func (offline) RunReport(context.Context, []*cupel.ContextItem, cupel.ContextBudget, ...pipeline.RunOption) ([]*cupel.ContextItem, *cupel.SelectionReport, error) {
	return nil, nil, errOffline
}

// A summary that is canceled is not an error of the summariser: the turn fails, and
// the next one asks again.
func TestCanceledSummary(t *testing.T) {
	items := numbered(t, 9)
	ctx, cancel := context.WithCancel(t.Context())
	calls := 0
	s := session(t, newest(t), cupelsession.Config{Summarize: func(ctx context.Context, dropped []*cupel.ContextItem) (*cupel.ContextItem, error) {
		if calls++; calls == 1 {
			cancel()
			<-ctx.Done()
			return nil, ctx.Err()
		}
		return cupel.NewContextItem("(summary)", 5)
	}})
	commit(t, next(t, s, items[:5], 50))
	if _, err := s.Next(ctx, items[:6], budget(t, 50)); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want that of the context", err)
	}
	if turn := next(t, s, items[:6], 50); says(turn) != "a (summary) e f" || calls != 2 {
		t.Errorf("window %q after %d calls, want a (summary) e f after two", says(turn), calls)
	}
}

// Two processes read one state: both propose the same turn, and each goes its way.
func TestTwoProcessesWithOneState(t *testing.T) {
	items := numbered(t, 12)
	now := time.Unix(1e9, 0)
	config := cupelsession.Config{Cache: anyCache, Clock: func() time.Time { return now }}
	first := session(t, newest(t), config)
	commit(t, next(t, first, items[:6], 50))
	data := state(t, first)
	second := session(t, newest(t), config)
	if err := json.Unmarshal([]byte(data), second); err != nil {
		t.Fatal(err)
	}
	for n := 7; n <= 10; n++ {
		a, b := next(t, first, items[:n], 50), next(t, second, items[:n], 50)
		if says(a) != says(b) || fmt.Sprint(a.Cache) != fmt.Sprint(b.Cache) {
			t.Errorf("%d items: %q with %+v, and %q with %+v", n, says(a), a.Cache, says(b), b.Cache)
		}
		commit(t, a)
		commit(t, b)
		if state(t, first) != state(t, second) {
			t.Errorf("%d items: equal turns give different states\n%s\n%s", n, state(t, first), state(t, second))
		}
	}
	commit(t, next(t, first, items[:11], 50))
	if got := next(t, second, items[:12], 30); len(got.Window) == 0 || second.Turns() != first.Turns()-1 {
		t.Errorf("a turn of the first process reached the second")
	}
}

func TestConcurrentCalls(t *testing.T) {
	items := numbered(t, 9)
	entered, leave := make(chan bool), make(chan bool)
	var once sync.Once
	slow := interrupted{newest(t), func() { once.Do(func() { close(entered); <-leave }) }}
	s := session(t, slow, cupelsession.Config{})
	commit(t, next(t, s, items[:5], 50))
	turn := next(t, s, items[:5], 50)
	done := make(chan error)
	go func() {
		_, err := s.Next(t.Context(), items[:6], cupel.ContextBudget{})
		done <- err
	}()
	<-entered
	if _, err := s.Next(t.Context(), items[:6], budget(t, 50)); !errors.Is(err, cupelsession.ErrBusy) {
		t.Errorf("Next fails with %v, want ErrBusy", err)
	}
	if err := turn.Commit(cupelsession.Usage{}); !errors.Is(err, cupelsession.ErrBusy) {
		t.Errorf("Commit fails with %v, want ErrBusy", err)
	}
	if err := s.UnmarshalJSON([]byte(`{"version":1}`)); !errors.Is(err, cupelsession.ErrBusy) {
		t.Errorf("UnmarshalJSON fails with %v, want ErrBusy", err)
	}
	if s.Turns() != 1 || s.Fork().Turns() != 1 || state(t, s) == "" {
		t.Error("the committed state can be read at any time")
	}
	close(leave)
	if err := <-done; !errors.Is(err, pipeline.ErrPinnedExceedsBudget) {
		t.Errorf("the first call fails with %v, want that nothing fits in no budget", err)
	}
	commit(t, turn)
}

// Windows do not depend on prices, but for breaks that are worth it; costs of nothing
// are nothing.
func TestPricesOfNothing(t *testing.T) {
	items := numbered(t, 20)
	free, dear := anyCache, anyCache
	free.Read, free.Write = 0, 0
	a := session(t, newest(t), cupelsession.Config{Cache: free})
	b := session(t, newest(t), cupelsession.Config{Cache: dear, Horizon: -1})
	for n := 3; n <= 20; n++ {
		x, y := next(t, a, items[:n], 70), next(t, b, items[:n], 70)
		if says(x) != says(y) {
			t.Errorf("%d items: %q, and %q at other prices", n, says(x), says(y))
		}
		if x.Cache.Cost != 0 || x.Cache.Without != 0 || y.Cache.Cost <= 0 {
			t.Errorf("%d items: %+v and %+v, want costs of 0 and of more", n, x.Cache, y.Cache)
		}
		commit(t, x)
		commit(t, y)
	}
}

// A provider that says nothing about its cache loses nothing; one that read what was
// expected by its own count neither; one that read less does, unless it wrote.
func TestLostPrefixes(t *testing.T) {
	items := numbered(t, 8)
	cache := cupelsession.CacheModel{Read: .1, Write: 1.25, Sure: time.Hour, Likely: time.Hour}
	for _, test := range []struct {
		name  string
		usage cupelsession.Usage
		notes int
		read  int // expected of the next turn
		why   string
	}{
		{"nothing", cupelsession.Usage{}, 0, 50, "no usage at all"},
		{"no cache fields", cupelsession.Usage{Input: 50}, 0, 50, "it may have read it"},
		{"as expected", cupelsession.Usage{Input: 50, Read: 40, Cached: true}, 0, 50, "all of it"},
		{"nearly", cupelsession.Usage{Input: 50, Read: 36, Cached: true}, 0, 50, "estimates are not exact"},
		{"less", cupelsession.Usage{Input: 50, Read: 35, Cached: true}, 1, 0, "it was lost"},
		{"written again", cupelsession.Usage{Input: 50, Written: 50, Cached: true}, 1, 50, "it was lost, and is there again"},
	} {
		s := session(t, newest(t), cupelsession.Config{Cache: cache})
		commit(t, next(t, s, items[:4], 100))
		turn := next(t, s, items[:5], 100)
		if err := turn.Commit(test.usage); err != nil {
			t.Fatal(err)
		}
		if len(turn.Notes) != test.notes {
			t.Errorf("%s: notes %q, want %d (%s)", test.name, turn.Notes, test.notes, test.why)
		}
		if got := next(t, s, items[:6], 100).Cache.Read; got != test.read {
			t.Errorf("%s: %d tokens are expected in the cache, want %d (%s)", test.name, got, test.read, test.why)
		}
	}
	// A tokenizer that counts a fifth less reads a fifth less.
	s := session(t, newest(t), cupelsession.Config{Cache: cache})
	for n := 1; n <= 8; n++ {
		turn := next(t, s, items[:n], 1000)
		if err := turn.Commit(cupelsession.Usage{Input: 8 * n, Read: 8 * (n - 1), Cached: true}); err != nil {
			t.Fatal(err)
		}
		if n > 5 && len(turn.Notes) > 0 {
			t.Errorf("turn %d: notes %q, though the provider counts like this", n, turn.Notes)
		}
	}
}

// Ollama's older releases count only what they evaluated: such reports say nothing
// about the budget.
func TestReportsOfNewTokensAlone(t *testing.T) {
	items := numbered(t, 20)
	s := session(t, newest(t), cupelsession.Config{})
	for n := 5; n <= 20; n++ {
		turn := next(t, s, items[:n], 60)
		tokens := 0
		for _, it := range turn.Window {
			tokens += it.Tokens()
		}
		if tokens > 60 {
			t.Errorf("%d items: %d tokens in a budget of 60", n, tokens)
		}
		if err := turn.Commit(cupelsession.Usage{Input: 10}); err != nil {
			t.Fatal(err)
		}
	}
}

func TestPricesThatAreNone(t *testing.T) {
	for _, price := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), -1, 1e7} {
		for field, cache := range map[string]cupelsession.CacheModel{
			"Cache.Read": {Read: price}, "Cache.Write": {Write: price}, "Cache.Models[0].Read": {Models: []cupelsession.ModelCache{{Name: "m", Read: price}}},
		} {
			_, err := cupelsession.New(newest(t), cupelsession.Config{Cache: cache})
			var wrong *cupelsession.ConfigError
			if !errors.As(err, &wrong) || wrong.Field != field || !strings.Contains(err.Error(), "must be a price") {
				t.Errorf("%s of %v: error %v, want one about it", field, price, err)
			}
		}
	}
	for _, cache := range []cupelsession.CacheModel{{TTL: "2h"}, {Latest: -1}, {Models: []cupelsession.ModelCache{{Read: 1}}}, {Models: []cupelsession.ModelCache{{Name: "m", MinTokens: -1}}}} {
		if _, err := cupelsession.New(newest(t), cupelsession.Config{Cache: cache}); err == nil {
			t.Errorf("%+v is valid", cache)
		}
	}
}

// FuzzState reads states that no session wrote: an error that leaves the session as
// it was, or a session that goes on and writes what it reads again.
func FuzzState(f *testing.F) {
	items := numbered(f, 12)
	now := time.Unix(1e9, 0)
	config := cupelsession.Config{Cache: anyCache, Clock: func() time.Time { return now }}
	s := session(f, newest(f), config)
	f.Add(state(f, s))
	for n := 4; n <= 8; n++ {
		turn := next(f, s, items[:n], 50)
		if err := turn.Commit(cupelsession.Usage{Input: 11 * n, Read: 5, Cached: true}); err != nil {
			f.Fatal(err)
		}
		good := state(f, s)
		f.Add(good)
		f.Add(good[:len(good)/2])
		f.Add(strings.Replace(good, `"version":1`, `"version":2`, 1))
	}
	f.Add(`{"version":1,"turns":1,"window":[{"keys":["a"],"form":"x","tokens":1}],"sent":{"at":"2026-11-22T00:00:00Z","held":[{"items":1,"at":"0001-01-01T00:00:00Z"}],"everything":7},"calibration":{},"growth":1e300}`)
	f.Fuzz(func(t *testing.T, text string) {
		s := session(t, newest(t), config)
		if err := s.UnmarshalJSON([]byte(text)); err != nil {
			var wrong *cupelsession.StateError
			if !errors.As(err, &wrong) || s.Turns() != 0 {
				t.Fatalf("error %v, %d turns", err, s.Turns())
			}
			return
		}
		again := session(t, newest(t), config)
		if err := again.UnmarshalJSON([]byte(state(t, s))); err != nil {
			t.Fatalf("%s cannot be read: %v", state(t, s), err)
		}
		for n := 9; n <= 12; n++ {
			turn, other := next(t, s, items[:n], 60), next(t, again, items[:n], 60)
			if says(turn) != says(other) {
				t.Fatalf("%q, and %q after writing", says(turn), says(other))
			}
			used := 0
			for _, it := range turn.Window {
				used += it.Tokens()
			}
			if used > 60 || math.IsNaN(turn.Cache.Cost) {
				t.Fatalf("%d tokens of 60, %+v", used, turn.Cache)
			}
			commit(t, turn)
			commit(t, other)
		}
	})
}
