package cupel

import (
	"context"
	"reflect"
	"slices"
	"sync"
	"time"
)

// StrategyTime is how long a strategy took in one stage, by the real clock. Parts of a
// strategy that are equal as Go values, such as two scorer.Recency{}, are one.
type StrategyTime struct {
	Strategy string    // its Go type, such as "*scorer.Composite"
	Parent   int       // position in the list of the strategy that called it, which comes before it; -1 for the pipeline's own
	Calls    int       // at least 1; streaming runs call a scorer once for each batch, and some slicers call others once for each kind
	Start    time.Time // of the first call
	End      time.Time // of the last call to end
	// Duration is the time of all calls, with that of the strategies that it calls.
	// It exceeds End - Start where calls overlap.
	Duration time.Duration
}

// maxStrategyTimes bounds the list of one stage: a strategy may call others without
// bound, and new ones each time.
const maxStrategyTimes = 64

// strategyTimes measures the strategies of one stage. It is not pooled, since a
// strategy may leave a goroutine behind that still has its context.
type strategyTimes struct {
	mu         sync.Mutex
	closed     bool
	list       []StrategyTime
	strategies []any // parallel to list
	root       timedContext
	firstTimes [3]StrategyTime
	firstOnes  [3]any
}

// timedContext is the context of a strategy whose stage is measured.
type timedContext struct {
	context.Context //nolint:containedctx // it is one
	times           *strategyTimes
	at              int // position of the strategy, or -1
}

type timedContextKey struct{}

func (c *timedContext) Value(key any) any {
	if key == (timedContextKey{}) {
		return c
	}
	return c.Context.Value(key)
}

// timesOf starts measuring the strategies of a stage, if the observer asked for that
// and the stage has any.
func (t *tracing) timesOf(ctx context.Context, stage PipelineStage) *strategyTimes {
	if !t.detail.Strategies || stage == StageClassify || stage == StageDeduplicate {
		return nil
	}
	return newStrategyTimes(ctx)
}

func newStrategyTimes(stage context.Context) *strategyTimes {
	t := &strategyTimes{}
	t.list, t.strategies = t.firstTimes[:0], t.firstOnes[:0]
	t.root = timedContext{stage, t, -1}
	return t
}

// context returns the context to call the stage's strategies with: stage itself
// where they are not measured.
func (t *strategyTimes) context(stage context.Context) context.Context {
	if t == nil {
		return stage
	}
	return &t.root
}

// close returns the times of the stage, and stops measuring.
func (t *strategyTimes) close() []StrategyTime {
	if t == nil {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.closed = true
	return slices.Clip(t.list)
}

// timing is a call of a strategy that is measured. Its zero value measures nothing.
type timing struct {
	times *strategyTimes
	at    int
	start time.Time
}

// startTiming measures a call of a strategy if its stage is measured, and returns the
// context to call it with.
func startTiming(ctx context.Context, s any) (context.Context, timing) {
	caller, ok := ctx.Value(timedContextKey{}).(*timedContext)
	if !ok {
		return ctx, timing{}
	}
	now := time.Now() //nolint:forbidigo // nothing depends on it
	at := caller.times.begin(s, caller.at, now)
	if at < 0 {
		return ctx, timing{}
	}
	return &timedContext{ctx, caller.times, at}, timing{caller.times, at, now}
}

// begin counts a call by parent, and returns the position of the strategy, or -1 if
// there are too many of them.
func (t *strategyTimes) begin(s any, parent int, now time.Time) int {
	name := reflect.TypeOf(s).String()
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return -1
	}
	for i := range t.list {
		if e := &t.list[i]; e.Parent == parent && e.Strategy == name && sameStrategy(t.strategies[i], s) {
			e.Calls++
			return i
		}
	}
	if len(t.list) == maxStrategyTimes {
		return -1
	}
	t.list, t.strategies = append(t.list, StrategyTime{Strategy: name, Parent: parent, Calls: 1, Start: now, End: now}), append(t.strategies, s)
	return len(t.list) - 1
}

// sameStrategy reports whether two strategies are one. Functions are if they have the
// same code; others that cannot be compared are if they have the same type.
func sameStrategy(a, b any) bool {
	x, y := reflect.ValueOf(a), reflect.ValueOf(b)
	if x.Type() != y.Type() { // packages may have one name
		return false
	}
	if x.Kind() == reflect.Func {
		return x.Pointer() == y.Pointer()
	}
	return !x.Comparable() || !y.Comparable() || a == b
}

// end ends a call, also one that panics, unless the stage has ended before.
func (c timing) end() {
	if c.times == nil {
		return
	}
	now := time.Now() //nolint:forbidigo // as above
	t := c.times
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return
	}
	e := &t.list[c.at]
	if now.After(e.End) {
		e.End = now
	}
	e.Duration += now.Sub(c.start)
}
