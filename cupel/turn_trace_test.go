package cupel_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/wollax/cupel-go/cupel"
)

// turnWatch notes what it gets to know about turns, in a list that it shares.
type turnWatch struct {
	cupel.NoTrace
	cupel.NullTraceCollector
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

func (w *turnWatch) StartTurn(ctx context.Context, i cupel.TurnInfo) (context.Context, cupel.TurnTrace) {
	w.note(fmt.Sprint("start ", i.Number))
	if w.blind {
		return nil, (*turnWatch)(nil)
	}
	return context.WithValue(ctx, turnWatchKey(w.name), true), w
}

func (w *turnWatch) EndTurn(ctx context.Context, e cupel.TurnEnd) {
	w.note(fmt.Sprint("end ", e.Items, e.Err, ctx.Value(turnWatchKey("a")), ctx.Value(turnWatchKey("b"))))
}

func (w *turnWatch) CommitTurn(_ context.Context, c cupel.TurnCommit) {
	w.note(fmt.Sprint("commit ", c.Input))
}

// TestMultiTraceCollectorOfTurns: each collector follows the turns that it wants.
func TestMultiTraceCollectorOfTurns(t *testing.T) {
	tests := []struct {
		name     string
		of       func(to *[]string) []cupel.TraceCollector
		followed bool
		want     string
		why      string
	}{
		{"two", func(to *[]string) []cupel.TraceCollector {
			return []cupel.TraceCollector{&turnWatch{name: "a", to: to}, nil, &turnWatch{name: "b", to: to}}
		}, true, "a start 4, b start 4, a end 2 <nil> true true, b end 2 <nil> true true, a commit 9, b commit 9", "in order, in the context of both"},
		{"others", func(to *[]string) []cupel.TraceCollector {
			return []cupel.TraceCollector{cupel.NewDiagnosticTraceCollector(), &turnWatch{name: "a", to: to, off: true}, &turnWatch{name: "b", to: to, blind: true}}
		}, false, "b start 4", "one knows no turns, one is off, one does not want this turn"},
		{"panic at the end", func(to *[]string) []cupel.TraceCollector {
			return []cupel.TraceCollector{&turnWatch{name: "a", to: to, panics: "end"}, &turnWatch{name: "b", to: to}}
		}, true, "a start 4, b start 4, a end 2 <nil> true true, b end 2 <nil> true true, panic a, a commit 9, b commit 9", "each ends what it started"},
		{"panic at the start", func(to *[]string) []cupel.TraceCollector {
			return []cupel.TraceCollector{&turnWatch{name: "a", to: to}, &turnWatch{name: "b", to: to, panics: "start"}}
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
			observer, ok := cupel.MultiTraceCollector(tt.of(&notes)...).(cupel.TurnObserver)
			if !ok {
				t.Fatal("turns do not reach the collectors")
			}
			ctx, turn := t.Context(), cupel.TurnTrace(nil)
			quietly(func() { ctx, turn = observer.StartTurn(ctx, cupel.TurnInfo{Number: 4}) })
			if (turn != nil) != tt.followed {
				t.Errorf("followed: %t, want %t: %s", turn != nil, tt.followed, tt.why)
			}
			if turn != nil {
				quietly(func() { turn.EndTurn(ctx, cupel.TurnEnd{Items: 2}) })
				quietly(func() { turn.CommitTurn(ctx, cupel.TurnCommit{Input: 9}) })
			}
			if got := strings.Join(notes, ", "); got != tt.want {
				t.Errorf("%s\nwant %s: %s", got, tt.want, tt.why)
			}
		})
	}
}

// TestNoTraceFollowsTurns: an implementation takes from it what it leaves out.
func TestNoTraceFollowsTurns(t *testing.T) {
	var turn cupel.TurnTrace = cupel.NoTrace{}
	turn.EndTurn(t.Context(), cupel.TurnEnd{Err: errors.New("no")})
	turn.CommitTurn(t.Context(), cupel.TurnCommit{})
}
