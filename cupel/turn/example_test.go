package turn_test

import (
	"context"
	"fmt"

	"github.com/wollax/cupel-go/cupel/observe"
	"github.com/wollax/cupel-go/cupel/turn"
)

// A breaks prints why windows change. It passes runs on to another collector.
type breaks struct{ observe.TraceCollector }

func (breaks) StartTurn(ctx context.Context, info turn.Info) (context.Context, turn.Trace) {
	return ctx, trace{number: info.Number}
}

type trace struct {
	turn.NoTrace
	number int
}

func (t trace) EndTurn(_ context.Context, e turn.End) {
	if e.Break != "" {
		fmt.Printf("turn %d: %s, %d items left\n", t.number, e.Break, e.DroppedItems)
	}
}

// A session makes these calls for a turn whose window was full.
func ExampleObserver() {
	var observer turn.Observer = breaks{observe.NewDiagnosticTraceCollector()}
	ctx, trace := observer.StartTurn(context.Background(), turn.Info{Number: 4, Candidates: 53})
	trace.EndTurn(ctx, turn.End{Items: 22, Break: "forced", DroppedItems: 31})
	trace.CommitTurn(ctx, turn.Commit{Input: 2013})
	// Output:
	// turn 4: forced, 31 items left
}
