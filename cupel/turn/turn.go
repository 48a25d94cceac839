// Package turn defines the interfaces of observers of a session's turns. A session,
// such as those of package cupelsession, keeps a window from one request to the
// next, and runs a pipeline several times for a turn, or not at all.
//
//	// A breaks prints why windows change. It passes runs on to another collector.
//	type breaks struct{ observe.TraceCollector }
//
//	func (breaks) StartTurn(ctx context.Context, info turn.Info) (context.Context, turn.Trace) {
//		return ctx, trace{number: info.Number}
//	}
//
//	type trace struct {
//		turn.NoTrace
//		number int
//	}
//
//	func (t trace) EndTurn(_ context.Context, e turn.End) {
//		if e.Break != "" {
//			fmt.Printf("turn %d: %s, %d items left\n", t.number, e.Break, e.DroppedItems)
//		}
//	}
//
// A collector of package observe that is an [Observer] too gets [Info] and returns a
// [Trace], which embeds [NoTrace] and gets [End] and, if the turn was committed,
// [Commit].
package turn

import (
	"context"
	"time"

	"github.com/wollax/cupel-go/cupel"
)

// Observer is an optional interface of a collector, found by type
// assertion. It follows the turns of a session, which keeps a window from one
// request to the next, such as those of package cupelsession. The runs that choose
// for a turn are observed as all others are, between StartTurn and EndTurn.
type Observer interface {
	// StartTurn is called before a turn is proposed. It returns the context for the
	// turn's runs (nil for the same one) and the state that follows this turn. If
	// the state is nil, the turn is not observed.
	StartTurn(ctx context.Context, info Info) (context.Context, Trace)
}

// Info describes a turn at its start.
type Info struct {
	Start      time.Time // by the session's clock
	Number     int       // from 1; proposing a turn again repeats it
	Candidates int       // number of items of the conversation
	Budget     cupel.ContextBudget
	Pipeline   string // the name of the pipeline that chooses; may be empty
}

// Trace follows one turn. Implementations embed [NoTrace], so that methods can
// be added to this interface.
type Trace interface {
	// EndTurn is called once, when the turn was proposed or has failed with e.Err.
	// Its error is an AbandonedError of package observe while a panic or runtime.Goexit is
	// unwinding the turn.
	EndTurn(ctx context.Context, e End)
	// CommitTurn is called after EndTurn if the turn was committed, at most once.
	// Its context has the values of EndTurn's context and is never done.
	CommitTurn(ctx context.Context, c Commit)

	embedNoTrace()
}

// End describes a turn that was proposed. Tokens are the estimates for the items.
// If Err is not nil, the rest is zero.
type End struct {
	Items, Tokens         int // of the window
	KeptItems, KeptTokens int // at the beginning of the window, sent as they were sent before
	// Break is why the window differs from what was sent before, after the kept
	// items. It is empty if all of that is sent again, and at the first turn.
	Break                       string
	DroppedItems, DroppedTokens int // items that left the window, and their tokens
	Quoted                      int // items of the tail that quote what was left out
	Summarized                  int // items that summaries replace

	// CacheRead and CacheWritten are the tokens expected to be read from the cache
	// and written to it.
	CacheRead, CacheWritten int
	// Cost is the cost of the window and CostWithout the cost of sending
	// everything, both in units of the price of a token of plain input.
	Cost, CostWithout float64

	Err error // why the turn failed, or nil
}

// Commit describes what a provider reported for a committed turn.
type Commit struct {
	Input  int // tokens of the request, those in the cache included; 0 if not reported
	Output int // tokens of the answer
	// CacheRead and CacheWritten are the tokens of Input that were read from the
	// cache and written to it. They are valid only if Cached is true: the provider
	// reported them.
	CacheRead, CacheWritten int
	Cached                  bool
}

// NoTrace is a [Trace] that does nothing, for embedding.
type NoTrace struct{}

// EndTurn does nothing.
func (NoTrace) EndTurn(context.Context, End) {}

// CommitTurn does nothing.
func (NoTrace) CommitTurn(context.Context, Commit) {}

func (NoTrace) embedNoTrace() {}

// Stage is the stage of the event that describes a session's turn. Only the reports of a
// session's turns have it; no run makes it.
const Stage cupel.PipelineStage = "Session"
