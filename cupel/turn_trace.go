package cupel

import (
	"context"
	"time"
)

// TurnObserver is an optional interface of a [TraceCollector], found by type
// assertion. It follows the turns of a session, which keeps a window from one
// request to the next, such as those of package cupelsession. The runs that choose
// for a turn are observed as all others are, between StartTurn and EndTurn.
type TurnObserver interface {
	// StartTurn is called before a turn is proposed. It returns the context for the
	// turn's runs (nil for the same one) and the state that follows this turn. If
	// the state is nil, the turn is not observed.
	StartTurn(ctx context.Context, info TurnInfo) (context.Context, TurnTrace)
}

// TurnInfo describes a turn at its start.
type TurnInfo struct {
	Start      time.Time // by the session's clock
	Number     int       // from 1; proposing a turn again repeats it
	Candidates int       // number of items of the conversation
	Budget     ContextBudget
	Pipeline   string // the name in the [Config] of the pipeline that chooses; may be empty
}

// TurnTrace follows one turn. Implementations embed [NoTrace], so that methods can
// be added to this interface.
type TurnTrace interface {
	// EndTurn is called once, when the turn was proposed or has failed with e.Err.
	// It is called with an [AbandonedError] while a panic or runtime.Goexit is
	// unwinding the turn.
	EndTurn(ctx context.Context, e TurnEnd)
	// CommitTurn is called after EndTurn if the turn was committed, at most once.
	// Its context is the one that EndTurn was called with, without its end.
	CommitTurn(ctx context.Context, c TurnCommit)

	embedNoTrace()
}

// EndTurn does nothing.
func (NoTrace) EndTurn(context.Context, TurnEnd) {}

// CommitTurn does nothing.
func (NoTrace) CommitTurn(context.Context, TurnCommit) {}

// TurnEnd describes a turn that was proposed. Tokens are those of the items, as
// they are estimated. If Err is not nil, the rest is zero.
type TurnEnd struct {
	Items, Tokens         int // of the window
	KeptItems, KeptTokens int // at the beginning of the window, sent as they were sent before
	// Break says why the window differs from what was sent before, after the kept
	// items. It is empty if all of that is sent again, and at the first turn.
	Break                       string
	DroppedItems, DroppedTokens int // items that left the window, and their tokens
	Quoted                      int // items of the tail that quote what was left out
	Summarized                  int // items for which summaries stand

	// CacheRead and CacheWritten are the tokens that the cache is expected to have,
	// and to get.
	CacheRead, CacheWritten int
	// Cost is that of the window, CostWithout that of sending everything, both in
	// units of the price of a token of plain input.
	Cost, CostWithout float64

	Err error // why the turn failed, or nil
}

// TurnCommit describes what a provider reported for a committed turn.
type TurnCommit struct {
	Input  int // tokens of the request, those in the cache included; 0 if not reported
	Output int // tokens of the answer
	// CacheRead and CacheWritten are the tokens of Input that were read from the
	// cache and written to it. They are valid only if Cached is true: the provider
	// reported them.
	CacheRead, CacheWritten int
	Cached                  bool
}

// StartTurn implements [TurnObserver].
func (m *multiCollector) StartTurn(ctx context.Context, info TurnInfo) (context.Context, TurnTrace) {
	var turn multiTurn
	complete := false
	defer func() {
		if !complete { // a child panicked: those before it have started a turn
			quietly(func() { turn.EndTurn(ctx, TurnEnd{Err: &AbandonedError{}}) })
		}
	}()
	for _, c := range m.children {
		observer, ok := c.(TurnObserver)
		if !ok || !c.IsEnabled() {
			continue
		}
		observed, state := observer.StartTurn(ctx, info)
		if observed != nil {
			ctx = observed
		}
		if !isNil(state) {
			turn.all = append(turn.all, state)
		}
	}
	complete = true
	if len(turn.all) == 0 {
		return ctx, nil
	}
	return ctx, &turn
}

// multiTurn passes everything on to each of all, even if one panics.
type multiTurn struct {
	NoTrace
	all []TurnTrace
}

func (m *multiTurn) EndTurn(ctx context.Context, e TurnEnd) {
	tellAll(m.all, func(t *TurnTrace) { (*t).EndTurn(ctx, e) })
}

func (m *multiTurn) CommitTurn(ctx context.Context, c TurnCommit) {
	tellAll(m.all, func(t *TurnTrace) { (*t).CommitTurn(ctx, c) })
}
