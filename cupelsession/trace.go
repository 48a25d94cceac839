package cupelsession

import (
	"context"
	"reflect"
	"time"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/observe"
	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/cupel/turn"
)

// observe tells the collector that a turn begins. It returns the context of the
// turn, and a function to call when the turn was proposed or has failed.
func (s *Session) observe(ctx context.Context, now time.Time, candidates int, budget cupel.ContextBudget) (context.Context, func(*Turn, error)) {
	observer, ok := s.config.Trace.(turn.Observer)
	if !ok || !s.config.Trace.IsEnabled() {
		return ctx, func(*Turn, error) {}
	}
	observed, trace := observer.StartTurn(ctx, turn.Info{
		Start: now, Number: s.Turns() + 1, Candidates: candidates, Budget: budget, Pipeline: s.pipelineName(),
	})
	if observed != nil {
		ctx = observed
	}
	if v := reflect.ValueOf(trace); !v.IsValid() || v.Kind() == reflect.Pointer && v.IsNil() {
		return ctx, func(*Turn, error) {}
	}
	return ctx, func(t *Turn, err error) {
		switch {
		case err != nil:
			trace.EndTurn(ctx, turn.End{Err: err})
		case t == nil: // a chooser or a callback panicked
			trace.EndTurn(ctx, turn.End{Err: &observe.AbandonedError{}})
		default:
			trace.EndTurn(ctx, t.facts())
			t.committed = func(c turn.Commit) { trace.CommitTurn(context.WithoutCancel(ctx), c) }
		}
	}
}

// pipelineName returns the name of the pipeline that chooses, if it has one.
func (s *Session) pipelineName() string {
	if p, ok := s.chooser.(interface{ Config() pipeline.Config }); ok {
		return p.Config().Name
	}
	return ""
}

// facts are the facts of a turn that observers get.
func (t *Turn) facts() turn.End {
	e := turn.End{
		Items: len(t.Window), KeptItems: len(t.before.window), KeptTokens: t.KeptTokens, DroppedItems: len(t.dropped),
		CacheRead: t.Cache.Read, CacheWritten: t.Cache.Written, Cost: t.Cache.Cost, CostWithout: t.Cache.Without,
	}
	if t.Break != nil {
		e.Break, e.KeptItems = string(t.Break.Reason), t.Break.At
	}
	for _, item := range t.Window {
		e.Tokens += item.Tokens()
	}
	for _, item := range t.dropped {
		e.DroppedTokens += item.Tokens()
	}
	for n := range t.after.window {
		if t.after.window[n].Summary {
			e.Summarized += len(t.Entries[n].Candidates)
		}
	}
	for _, entry := range t.Entries[t.Stable:] {
		if t.after.at[entry.Candidates[0]] == out {
			e.Quoted++
		}
	}
	return e
}
