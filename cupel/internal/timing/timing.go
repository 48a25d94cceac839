// Package timing measures the strategies of a stage, which call each other with the
// context that they are given.
package timing

import (
	"context"
	"reflect"
	"slices"
	"sync"
	"time"
)

// Entry is how long a strategy took in one stage, by the real clock. It has the fields
// of observe.StrategyTime, which says what they mean.
type Entry struct {
	Strategy string
	Parent   int
	Calls    int
	Start    time.Time
	End      time.Time
	Duration time.Duration
}

// maxEntries bounds the list of one stage: a strategy may call others without
// bound, and new ones each time.
const maxEntries = 64

// Stage measures the strategies of one stage. It is not pooled, since a strategy may
// leave a goroutine behind that still has its context.
type Stage struct {
	mu         sync.Mutex
	closed     bool
	list       []Entry
	strategies []any // parallel to list
	root       timedContext
}

// timedContext is the context of a strategy whose stage is measured.
type timedContext struct {
	context.Context //nolint:containedctx // it is one
	stage           *Stage
	at              int // position of the strategy, or -1
}

type timedContextKey struct{}

func (c *timedContext) Value(key any) any {
	if key == (timedContextKey{}) {
		return c
	}
	return c.Context.Value(key)
}

// Start starts measuring the strategies of a stage with the given context.
func Start(ctx context.Context) *Stage {
	s := &Stage{}
	s.root = timedContext{ctx, s, -1}
	return s
}

// Context returns the context to call the stage's strategies with.
func (s *Stage) Context() context.Context { return &s.root }

// End returns the times of the stage, and stops measuring. A nil Stage has none.
func (s *Stage) End() []Entry {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	return slices.Clip(s.list)
}

// Call is a call of a strategy that is measured. Its zero value measures nothing.
type Call struct {
	stage *Stage
	at    int
	start time.Time
}

// Begin measures a call of a strategy if its stage is measured, and returns the
// context to call it with.
func Begin(ctx context.Context, strategy any) (context.Context, Call) {
	caller, ok := ctx.Value(timedContextKey{}).(*timedContext)
	if !ok {
		return ctx, Call{}
	}
	now := time.Now() //nolint:forbidigo // nothing depends on it
	at := caller.stage.begin(strategy, caller.at, now)
	if at < 0 {
		return ctx, Call{}
	}
	return &timedContext{ctx, caller.stage, at}, Call{caller.stage, at, now}
}

// begin counts a call by parent, and returns the position of the strategy, or -1 if
// there are too many of them.
func (s *Stage) begin(strategy any, parent int, now time.Time) int {
	name := reflect.TypeOf(strategy).String()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return -1
	}
	for i := range s.list {
		if e := &s.list[i]; e.Parent == parent && e.Strategy == name && same(s.strategies[i], strategy) {
			e.Calls++
			return i
		}
	}
	if len(s.list) == maxEntries {
		return -1
	}
	s.list, s.strategies = append(s.list, Entry{Strategy: name, Parent: parent, Calls: 1, Start: now, End: now}), append(s.strategies, strategy)
	return len(s.list) - 1
}

// same reports whether two strategies are one. Functions are if they have the
// same code; others that cannot be compared are if they have the same type.
func same(a, b any) bool {
	x, y := reflect.ValueOf(a), reflect.ValueOf(b)
	if x.Type() != y.Type() { // packages may have one name
		return false
	}
	if x.Kind() == reflect.Func {
		return x.Pointer() == y.Pointer()
	}
	return !x.Comparable() || !y.Comparable() || a == b
}

// End ends a call, also one that panics, unless the stage has ended before.
func (c Call) End() {
	if c.stage == nil {
		return
	}
	now := time.Now() //nolint:forbidigo // as above
	s := c.stage
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return
	}
	e := &s.list[c.at]
	if now.After(e.End) {
		e.End = now
	}
	e.Duration += now.Sub(c.start)
}
