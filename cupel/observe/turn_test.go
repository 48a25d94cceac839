package observe_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/wollax/cupel-go/cupel/observe"
	"github.com/wollax/cupel-go/cupel/turn"
)

// turnWatch notes what it gets to know about turns, in a list that it shares.
type turnWatch struct {
	turn.NoTrace
	observe.NullTraceCollector
	name   string
	to     *[]string
	off    bool   // not enabled
	blind  bool   // wants no turns
	panics string // where
}

type turnWatchKey string

func (w *turnWatch) IsEnabled() bool { return !w.off }

func (w *turnWatch) note(what string) {
	*w.to = append(*w.to, w.name+" "+what)
	if w.panics != "" && strings.HasPrefix(what, w.panics) {
		panic(w.name)
	}
}

func (w *turnWatch) StartTurn(ctx context.Context, i turn.Info) (context.Context, turn.Trace) {
	w.note(fmt.Sprint("start ", i.Number))
	if w.blind {
		return nil, (*turnWatch)(nil)
	}
	return context.WithValue(ctx, turnWatchKey(w.name), true), w
}

func (w *turnWatch) EndTurn(ctx context.Context, e turn.End) {
	w.note(fmt.Sprint("end ", e.Items, e.Err, ctx.Value(turnWatchKey("a")), ctx.Value(turnWatchKey("b"))))
}

func (w *turnWatch) CommitTurn(_ context.Context, c turn.Commit) {
	w.note(fmt.Sprint("commit ", c.Input))
}

// TestMultiTraceCollectorOfTurns: each collector follows the turns that it wants.
func TestMultiTraceCollectorOfTurns(t *testing.T) {
	tests := []struct {
		name     string
		of       func(to *[]string) []observe.TraceCollector
		followed bool
		want     string
		why      string
	}{
		{"two", func(to *[]string) []observe.TraceCollector {
			return []observe.TraceCollector{&turnWatch{name: "a", to: to}, nil, &turnWatch{name: "b", to: to}}
		}, true, "a start 4, b start 4, a end 2 <nil> true true, b end 2 <nil> true true, a commit 9, b commit 9", "in order, in the context of both"},
		{"others", func(to *[]string) []observe.TraceCollector {
			return []observe.TraceCollector{observe.NewDiagnosticTraceCollector(), &turnWatch{name: "a", to: to, off: true}, &turnWatch{name: "b", to: to, blind: true}}
		}, false, "b start 4", "one knows no turns, one is off, one does not want this turn"},
		{"panic at the end", func(to *[]string) []observe.TraceCollector {
			return []observe.TraceCollector{&turnWatch{name: "a", to: to, panics: "end"}, &turnWatch{name: "b", to: to}}
		}, true, "a start 4, b start 4, a end 2 <nil> true true, b end 2 <nil> true true, panic a, a commit 9, b commit 9", "each ends what it started"},
		{"panic at the start", func(to *[]string) []observe.TraceCollector {
			return []observe.TraceCollector{&turnWatch{name: "a", to: to}, &turnWatch{name: "b", to: to, panics: "start"}}
		}, false, "a start 4, b start 4, a end 0 cupel: the run was abandoned true <nil>, panic b", "the turn does not take place"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var notes []string
			quietly := func(do func()) {
				defer func() {
					if v := recover(); v != nil {
						notes = append(notes, fmt.Sprint("panic ", v))
					}
				}()
				do()
			}
			observer, ok := observe.Multi(tt.of(&notes)...).(turn.Observer)
			if !ok {
				t.Fatal("turns do not reach the collectors")
			}
			ctx, trace := t.Context(), turn.Trace(nil)
			quietly(func() { ctx, trace = observer.StartTurn(ctx, turn.Info{Number: 4}) })
			if (trace != nil) != tt.followed {
				t.Errorf("followed: %t, want %t: %s", trace != nil, tt.followed, tt.why)
			}
			if trace != nil {
				quietly(func() { trace.EndTurn(ctx, turn.End{Items: 2}) })
				quietly(func() { trace.CommitTurn(ctx, turn.Commit{Input: 9}) })
			}
			if got := strings.Join(notes, ", "); got != tt.want {
				t.Errorf("%s\nwant %s: %s", got, tt.want, tt.why)
			}
		})
	}
}
