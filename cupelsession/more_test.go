package cupelsession_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupelchat"
	"github.com/wollax/cupel-go/cupelchat/agent"
	"github.com/wollax/cupel-go/cupelsession"
)

// A tokenizer that is 13 % denser, with 346 tokens that were not counted.
func TestCalibration(t *testing.T) {
	actual := func(estimated int) int { return int(math.Ceil(1.13*float64(estimated))) + 346 }
	rng := rand.New(rand.NewPCG(1, 1))
	s := session(t, newest(t), cupelsession.Config{})
	items := numbered(t, 1)
	const limit = 4000
	exceeded := 0
	for turn := range 120 {
		items = append(items, item(t, fmt.Sprint("message ", turn), 20+rng.IntN(200), cupel.WithTimestamp(time.Unix(int64(turn), 0))))
		proposed := next(t, s, items, limit)
		estimated := 0
		for _, it := range proposed.Window {
			estimated += it.Tokens()
		}
		counted := actual(estimated)
		if counted > limit {
			exceeded++
			if turn > 25 {
				t.Errorf("turn %d: %d tokens exceed %d, though the calibration has many reports", turn, counted, limit)
			}
		}
		if err := proposed.Commit(cupelsession.Usage{Input: counted}); err != nil {
			t.Fatal(err)
		}
		if c := proposed.Estimate; turn >= 10 && math.Abs(float64(c-counted)) > 0.05*float64(counted) {
			t.Errorf("turn %d: %d tokens are estimated, %d were counted", turn, c, counted)
		}
		if note := fmt.Sprint(proposed.Notes); strings.Contains(note, "more than the budget has") != (counted > limit) {
			t.Errorf("turn %d: %d tokens of %d, notes %s", turn, counted, limit, note)
		}
	}
	if exceeded > 1 {
		t.Errorf("the budget was exceeded %d times, want once at most", exceeded)
	}
}

// One report that makes no sense changes nothing.
func TestOneOddReport(t *testing.T) {
	items := numbered(t, 20)
	for _, odd := range []int{1, 1e6} {
		s := session(t, newest(t), cupelsession.Config{})
		for n := 2; n < 12; n++ {
			turn := next(t, s, items[:n], 1000)
			counted := 10 * n
			if n == 7 {
				counted = odd
			}
			if err := turn.Commit(cupelsession.Usage{Input: counted}); err != nil {
				t.Fatal(err)
			}
		}
		if turn := next(t, s, items, 200); says(turn) != says(next(t, session(t, newest(t), cupelsession.Config{}), items, 200)) {
			t.Errorf("a report of %d tokens changes the window of 200 tokens to %q", odd, says(turn))
		}
	}
}

func TestCacheIsNotThere(t *testing.T) {
	cache := cupelsession.CacheModel{Read: 0.1, Write: 1.25, Sure: time.Hour, Likely: time.Hour}
	items := numbered(t, 8)
	s := session(t, newest(t), cupelsession.Config{Cache: cache})
	commit(t, next(t, s, items[:5], 50))
	turn := next(t, s, items[:6], 50) // a e f
	if err := turn.Commit(cupelsession.Usage{Input: 30, Cached: true}); err != nil {
		t.Fatal(err)
	}
	if len(turn.Notes) != 1 || !strings.Contains(turn.Notes[0], "read 0 tokens from its cache, 10 were expected") {
		t.Errorf("notes %q, want that the prefix was not found", turn.Notes)
	}
	if turn = next(t, s, items[:7], 50); turn.Cache.Read != 0 {
		t.Errorf("%d tokens are expected in a cache that has nothing", turn.Cache.Read)
	}
}

func TestSummary(t *testing.T) {
	items := numbered(t, 9)
	calls := 0
	var stored []string
	config := cupelsession.Config{
		Summarize: func(_ context.Context, dropped []*cupel.ContextItem) (*cupel.ContextItem, error) {
			calls++
			return cupel.NewContextItem(fmt.Sprintf("(%d left out)", len(dropped)), 5)
		},
		Dropped: func(dropped []*cupel.ContextItem) {
			for _, it := range dropped {
				stored = append(stored, it.Content())
			}
		},
	}
	s := session(t, newest(t), config)
	commit(t, next(t, s, items[:5], 50))
	turn := next(t, s, items[:6], 50)
	next(t, s, items[:6], 50)
	if says(turn) != "a (3 left out) e f" || calls != 1 {
		t.Errorf("window %q after %d calls, want a (3 left out) e f after one", says(turn), calls)
	}
	if len(stored) > 0 {
		t.Errorf("%q was stored before the commit", stored)
	}
	commit(t, turn)
	if fmt.Sprint(stored) != "[b c d]" {
		t.Errorf("%q was stored, want b, c, d", stored)
	}
	if turn = next(t, s, items[:7], 50); says(turn) != "a (3 left out) e f g" || turn.Break != nil {
		t.Errorf("window %q, break %v; want the summary to stay", says(turn), turn.Break)
	}
}

func TestSummariesThatFail(t *testing.T) {
	items := numbered(t, 9)
	for _, test := range []struct {
		name      string
		summarize func(ctx context.Context, dropped []*cupel.ContextItem) (*cupel.ContextItem, error)
		note      string
		why       string
	}{
		{"error", func(context.Context, []*cupel.ContextItem) (*cupel.ContextItem, error) {
			return nil, errors.New("offline")
		}, "offline", "the window is made without it"},
		{"panic", func(context.Context, []*cupel.ContextItem) (*cupel.ContextItem, error) { panic("no model") }, "panicked: no model", "no panic leaves a session"},
		{"late", func(ctx context.Context, _ []*cupel.ContextItem) (*cupel.ContextItem, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}, "deadline", "it has its time"},
		{"more than it was given", func(context.Context, []*cupel.ContextItem) (*cupel.ContextItem, error) {
			return cupel.NewContextItem("long", 40)
		}, "not smaller", "a summary is shorter"},
		{"nothing", func(context.Context, []*cupel.ContextItem) (*cupel.ContextItem, error) { return nil, nil }, "", "it may have nothing to say"},
	} {
		patience := time.Minute // on a busy machine the others must not be late
		if test.name == "late" {
			patience = 20 * time.Millisecond
		}
		s := session(t, newest(t), cupelsession.Config{Summarize: test.summarize, SummarizeTimeout: patience})
		commit(t, next(t, s, items[:5], 50))
		turn := next(t, s, items[:6], 50)
		if says(turn) != "a e f" || !strings.Contains(fmt.Sprint(turn.Notes), test.note) {
			t.Errorf("%s: window %q, notes %q; want a e f and a note with %q (%s)", test.name, says(turn), turn.Notes, test.note, test.why)
		}
	}
}

func TestASessionInUse(t *testing.T) {
	items := numbered(t, 9)
	var s *cupelsession.Session
	var inside error
	s = session(t, newest(t), cupelsession.Config{Summarize: func(ctx context.Context, _ []*cupel.ContextItem) (*cupel.ContextItem, error) {
		_, inside = s.Next(ctx, items, budget(t, 50))
		return nil, nil
	}})
	commit(t, next(t, s, items[:5], 50))
	next(t, s, items[:6], 50)
	if !errors.Is(inside, cupelsession.ErrBusy) {
		t.Errorf("a call during another fails with %v, want ErrBusy", inside)
	}
}

func TestStatesThatCannotBeRead(t *testing.T) {
	for _, test := range []struct{ state, want, why string }{
		{`{"version":1,"turns":2,"window":[`, "not the JSON", "it is cut short"},
		{`{"version":9}`, "its version is 9", "a later release wrote it"},
		{`{"version":1,"window":[{"keys":[],"tokens":1,"hash":"x"}]}`, "window[0] has no keys", "it stands for nothing"},
		{`{"version":1,"window":[{"keys":["a"],"tokens":1}]}`, "neither a hash nor a form", "it says nothing"},
		{`{"version":1,"window":[{"keys":["a"],"tokens":1,"hash":"x"},{"keys":["a"],"tokens":1,"hash":"x"}]}`, "repeats the key", "one item would be in twice"},
		{`{"version":1,"window":[],"sent":{"held":[{"items":3}]}}`, "held[0] has 3 items", "there is no such place"},
		{`{"version":1,"window":[],"growth":-1}`, "impossible", "nothing shrinks by itself"},
		{`{"version":1,"window":[],"calibration":{"reports":[{"estimated":1,"counted":0}]}}`, "reports[0]", "no request has no tokens"},
	} {
		s := session(t, newest(t), cupelsession.Config{})
		items := numbered(t, 3)
		commit(t, next(t, s, items, 50))
		err := s.UnmarshalJSON([]byte(test.state))
		var state *cupelsession.StateError
		if !errors.As(err, &state) || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: error %v, want %q (%s)", test.state, err, test.want, test.why)
		}
		if s.Turns() != 1 {
			t.Errorf("%s: the session has %d turns, want what it had", test.state, s.Turns())
		}
	}
}

func TestConfigs(t *testing.T) {
	for _, test := range []struct {
		config cupelsession.Config
		want   string
		why    string
	}{
		{cupelsession.Config{LowWater: 1.5}, "LowWater must be in (0,1]", "a window cannot be fuller than full"},
		{cupelsession.Config{LowWater: math.NaN()}, "LowWater must be in (0,1]", "NaN compares with nothing"},
		{cupelsession.Config{Cache: cupelsession.CacheModel{Read: -1}}, "Cache.Read must be a price", "a price is not negative"},
		{cupelsession.Config{Cache: cupelsession.CacheModel{Sure: 2, Likely: 1}}, "Cache.Likely must be at least Sure", "sure is shorter than likely"},
		{cupelsession.Config{SummarizeTimeout: -1}, "SummarizeTimeout must be", "time does not run back"},
	} {
		_, err := cupelsession.New(newest(t), test.config)
		var wrong *cupelsession.ConfigError
		if !errors.As(err, &wrong) || !strings.Contains(err.Error(), test.want) {
			t.Errorf("error %v, want %q (%s)", err, test.want, test.why)
		}
	}
	if _, err := cupelsession.New(nil, cupelsession.Config{}); err == nil {
		t.Error("a session without a chooser is made")
	}
	if _, err := new(cupelsession.Session).Next(t.Context(), nil, budget(t, 1)); err == nil {
		t.Error("the zero Session proposes a turn")
	}
}

func TestCanceledTurns(t *testing.T) {
	items := numbered(t, 9)
	s := session(t, newest(t), cupelsession.Config{})
	commit(t, next(t, s, items[:5], 50))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Next(ctx, items, budget(t, 50)); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want that of the context", err)
	}
	if turn := next(t, s, items[:6], 50); says(turn) != "a e f" {
		t.Errorf("window %q after a call that was canceled, want a e f", says(turn))
	}
}

// A conversation of an agent, turn by turn: bodies keep their beginning, fit, and
// can be read again.
func TestFit(t *testing.T) {
	type message map[string]any
	messages := []message{{"role": "system", "content": "You fix bugs."}, {"role": "user", "content": "Fix the test in cupel/item.go."}}
	s := session(t, agent.New(quarter{}), cupelsession.Config{})
	var before []message
	breaks := 0
	for step := range 30 {
		params := map[string]any{"model": "m", "messages": messages}
		fitted, turn, err := cupelsession.Fit(t.Context(), s, params, cupelchat.OpenAI, budget(t, 900), quarter{})
		if err != nil {
			t.Fatal(err)
		}
		if err := turn.Commit(cupelsession.Usage{}); err != nil {
			t.Fatal(err)
		}
		data, err := json.Marshal(fitted)
		if err != nil {
			t.Fatal(err)
		}
		var sent struct{ Messages []message }
		if err := json.Unmarshal(data, &sent); err != nil {
			t.Fatal(err)
		}
		if turn.Break == nil {
			for i := range before {
				if fmt.Sprint(sent.Messages[i]) != fmt.Sprint(before[i]) {
					t.Fatalf("step %d: message %d changed without a break", step, i)
				}
			}
		} else {
			breaks++
		}
		if violations := cupelchat.Check(data, cupelchat.OpenAI); len(violations) > 0 {
			t.Fatalf("step %d: %v", step, violations)
		}
		before = sent.Messages
		id := fmt.Sprint("call_", step)
		messages = append(messages,
			message{"role": "assistant", "content": "I look.", "tool_calls": []any{map[string]any{"id": id, "type": "function",
				"function": map[string]any{"name": "read", "arguments": fmt.Sprintf(`{"path":"a/file%d.go"}`, step)}}}},
			message{"role": "tool", "tool_call_id": id, "content": strings.Repeat(fmt.Sprintf("func f%d() { return }\n", step), 20)})
	}
	if breaks == 0 || breaks > 15 {
		t.Errorf("%d breaks in 30 turns, want some, and fewer than half", breaks)
	}
}

type quarter struct{}

func (quarter) CountTokens(text string) (int, error) { return (len(text) + 3) / 4, nil }
