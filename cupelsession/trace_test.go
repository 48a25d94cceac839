package cupelsession_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/observe"
	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/cupel/turn"
	"github.com/wollax/cupel-go/cupelsession"
)

// noTurnTrace names turn.NoTrace apart from observe.NoTrace, for types that embed both.
type noTurnTrace = turn.NoTrace //nolint:unused // it seals the interface

// diary writes down what a collector gets to know about turns and runs.
type diary struct {
	observe.NoTrace
	noTurnTrace //nolint:unused // as above
	lines       []string
	blind       bool // to turns
	off         bool
}

type diaryKey struct{}

func (d *diary) IsEnabled() bool                 { return !d.off }
func (*diary) RecordStageEvent(cupel.TraceEvent) {}
func (*diary) RecordItemEvent(cupel.TraceEvent)  {}
func (d *diary) add(format string, args ...any) {
	d.lines = append(d.lines, fmt.Sprintf(format, args...))
}

func (d *diary) StartTurn(ctx context.Context, i turn.Info) (context.Context, turn.Trace) {
	if d.blind {
		var none *diary
		return nil, none // as of a method that returns its own type
	}
	d.add("turn %d of %d items for %d tokens by %q", i.Number, i.Candidates, i.Budget.MaxTokens(), i.Pipeline)
	return context.WithValue(ctx, diaryKey{}, true), d
}

func (d *diary) StartRun(ctx context.Context, i observe.RunInfo) (context.Context, observe.RunTrace) {
	d.add("run of %d items, in a turn: %t", i.Candidates, ctx.Value(diaryKey{}) != nil)
	return ctx, d
}

func (d *diary) EndTurn(ctx context.Context, e turn.End) {
	if e.Err != nil {
		d.add("failed: %v", e.Err)
		return
	}
	d.add("proposed %d items of %d tokens, kept %d of %d, break %q, dropped %d of %d, quoted %d, summarized %d, read %d, wrote %d, cost %.4g of %.4g, in its context: %t",
		e.Items, e.Tokens, e.KeptItems, e.KeptTokens, e.Break, e.DroppedItems, e.DroppedTokens, e.Quoted, e.Summarized, e.CacheRead, e.CacheWritten, e.Cost, e.CostWithout,
		ctx.Value(diaryKey{}) != nil)
}

func (d *diary) CommitTurn(ctx context.Context, c turn.Commit) {
	d.add("committed %+v, ended: %t, in its context: %t", c, ctx.Err() != nil, ctx.Value(diaryKey{}) != nil)
}

// valued is a diary whose trace is no pointer.
type valued struct{ *diary }

func (v valued) StartTurn(ctx context.Context, i turn.Info) (context.Context, turn.Trace) {
	ctx, _ = v.diary.StartTurn(ctx, i)
	return ctx, v
}

// take returns the lines since it was called last.
func (d *diary) take() string {
	text := strings.Join(d.lines, "\n")
	d.lines = nil
	return text
}

func TestTrace(t *testing.T) {
	d := &diary{}
	items := numbered(t, 9)
	model := cupelsession.CacheModel{Name: "test", Read: 0.1, Write: 1, Likely: time.Hour}
	named := newest(t).Config()
	named.Name = "chat"
	chat, err := pipeline.New(named)
	require.NoError(t, err)
	s := session(t, chat, cupelsession.Config{Trace: valued{d}, Cache: model})
	ctx, cancel := context.WithCancel(t.Context())
	turn, err := s.Next(ctx, items[:5], budget(t, 50))
	require.NoError(t, err)
	cancel() // the request was answered
	require.NoError(t, turn.Commit(cupelsession.Usage{Input: 51, Read: 0, Written: 50, Cached: true, Output: 3}))
	if got, want := d.take(), `turn 1 of 5 items for 50 tokens by "chat"
proposed 5 items of 50 tokens, kept 0 of 0, break "", dropped 0 of 0, quoted 0, summarized 0, read 0, wrote 50, cost 50 of 50, in its context: true
committed {Input:51 Output:3 CacheRead:0 CacheWritten:50 Cached:true}, ended: false, in its context: true`; got != want {
		t.Errorf("the first turn:\n%s\nwant\n%s", got, want)
	}
	amend(t, s, ready(t, items[1:4]...))
	for range 2 { // a turn that is not committed leaves no trace
		turn = next(t, s, items[:6], 50)
		if got, want := d.take(), `turn 2 of 6 items for 50 tokens by "chat"
run of 6 items, in a turn: true
proposed 4 items of 35 tokens, kept 1 of 10, break "forced", dropped 3 of 30, quoted 0, summarized 3, read 10, wrote 25, cost 26 of 15, in its context: true`; got != want {
			t.Errorf("the second turn:\n%s\nwant\n%s", got, want)
		}
	}
	stale := next(t, s, items[:6], 50)
	commit(t, turn)
	d.take()
	require.ErrorIs(t, stale.Commit(cupelsession.Usage{}), cupelsession.ErrStale)
	require.Empty(t, d.take())
	next(t, s, items[:7], 50)
	if got, want := d.take(), `turn 3 of 7 items for 50 tokens by "chat"
proposed 5 items of 45 tokens, kept 4 of 35, break "", dropped 0 of 0, quoted 0, summarized 3, read 35, wrote 10, cost 13.5 of 16, in its context: true`; got != want {
		t.Errorf("a turn that appends:\n%s\nwant\n%s", got, want)
	}
}

// TestTraceOfFailures: the end of a turn is reported once, in each case.
func TestTraceOfFailures(t *testing.T) {
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	tests := []struct {
		name   string
		ctx    context.Context
		config cupelsession.Config
		items  []*cupel.ContextItem
		want   string
		panics bool
		why    string
	}{
		{"canceled", canceled, cupelsession.Config{}, numbered(t, 1), "failed: context canceled", false, "before anything was done"},
		{"nil item", t.Context(), cupelsession.Config{}, []*cupel.ContextItem{nil}, "failed: cupelsession: an item is nil", false, "rubbish"},
		{"pinned", t.Context(), cupelsession.Config{}, []*cupel.ContextItem{item(t, "p", 99, cupel.WithPinned())},
			"failed: cupel: Pinned items require 99 tokens, but only 50 are available", false, "an error of the chooser"},
		{"pinned in the tail", t.Context(), cupelsession.Config{Tail: func(*cupel.ContextItem) bool { return true }}, []*cupel.ContextItem{item(t, "p", 99, cupel.WithPinned())},
			"failed: cupel: Pinned items require 99 tokens, but only 50 are available", false, "one of its second choice"},
		{"panic", t.Context(), cupelsession.Config{Key: func(*cupel.ContextItem) string { panic("key") }}, numbered(t, 1),
			"failed: cupel: the run was abandoned", true, "of a callback"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := &diary{}
			tt.config.Trace = d
			s := session(t, newest(t), tt.config)
			func() {
				defer func() {
					if v := recover(); (v != nil) != tt.panics {
						t.Errorf("panic: %v; %s", v, tt.why)
					}
				}()
				if _, err := s.Next(tt.ctx, tt.items, budget(t, 50)); err == nil {
					t.Errorf("no error: %s", tt.why)
				}
			}()
			if got := d.take(); !strings.HasSuffix(got, tt.want) || strings.Count(got, "failed") != 1 {
				t.Errorf("%s\nwant %s: %s", got, tt.want, tt.why)
			}
		})
	}
}

// onStage calls a function for each stage, and knows nothing of turns.
type onStage struct {
	observe.NullTraceCollector
	do func()
}

func (onStage) IsEnabled() bool { return true }

func (o onStage) RecordStageEvent(cupel.TraceEvent) { o.do() }

// TestTraceOfRuns: collectors that know nothing of turns, or want none, follow the runs.
func TestTraceOfRuns(t *testing.T) {
	runs := 0
	plain := onStage{do: func() { runs++ }}
	d := &diary{blind: true}
	off := &diary{off: true}
	for _, collector := range []observe.TraceCollector{plain, d, observe.Multi(d, nil), observe.NullTraceCollector{}, off, nil} {
		s := session(t, newest(t), cupelsession.Config{Trace: collector})
		commit(t, next(t, s, numbered(t, 6), 50))
	}
	if got, want := d.take()+off.take(), "run of 6 items, in a turn: false\nrun of 6 items, in a turn: false"; got != want || runs != 5 {
		t.Errorf("%s\nwant %s; and %d stages, want 5", got, want, runs)
	}
}
