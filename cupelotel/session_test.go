package cupelotel_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/observe"
	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/cupel/turn"
	"github.com/wollax/cupel-go/cupelotel"
)

// forced is a turn that broke, as a session describes it.
var forced = turn.End{
	Items: 5, Tokens: 600, KeptItems: 2, KeptTokens: 200, Break: "forced", DroppedItems: 3, DroppedTokens: 350, Quoted: 1, Summarized: 4,
	CacheRead: 150, CacheWritten: 300, Cost: 465, CostWithout: 930,
}

var reported = turn.Commit{Input: 640, Output: 20, CacheRead: 128, CacheWritten: 320, Cached: true}

// take takes a turn as a session does. It returns the state that follows the turn.
func take(t *testing.T, ctx context.Context, collector observe.TraceCollector, e turn.End, runs ...pipeline.Config) (context.Context, turn.Trace) { //nolint:revive // t first, as everywhere
	t.Helper()
	ctx, current := collector.(turn.Observer).StartTurn(ctx, turn.Info{Start: base, Number: 7, Candidates: 12, Budget: newBudget(t, 1000, 800)})
	for _, c := range runs {
		_, _ = newPipeline(t, c).Run(ctx, candidates(t), newBudget(t, 1000, 100), pipeline.WithTrace(collector)) // some fail
	}
	if current != nil {
		current.EndTurn(ctx, e)
	}
	return ctx, current
}

// throwing is a configuration whose run fails.
func throwing() pipeline.Config {
	c := config()
	c.Overflow = pipeline.OverflowThrow
	return c
}

func TestTurnSpans(t *testing.T) {
	tracers, recorder := newRecorder(t)
	collector := cupelotel.NewTraceCollector(cupelotel.WithTracerProvider(tracers))
	caller, span := tracers.Tracer("agent").Start(t.Context(), "agent")
	ctx, current := take(t, caller, collector, forced, config())
	current.CommitTurn(ctx, reported)
	span.End()

	var spans []sdktrace.ReadOnlySpan
	for _, s := range recorder.Ended() {
		if !strings.HasPrefix(s.Name(), "cupel.stage.") { // other tests look at these
			spans = append(spans, s)
		}
	}
	golden(t, "Turn.txt", tree(spans))
	links := spanNamed(t, recorder, "cupel.session.commit").Links()
	require.Len(t, links, 1)
	assert.Equal(t, spanNamed(t, recorder, "cupel.session.turn").SpanContext().SpanID(), links[0].SpanContext.SpanID())
}

// TestCommitsWithoutACaller: without a caller's span, turn and commit are one trace.
func TestCommitsWithoutACaller(t *testing.T) {
	collector, recorder := traced(t, cupelotel.VerbosityStageOnly)
	ctx, current := take(t, cupelotel.ContextWithConversationID(t.Context(), "c1"), collector, forced)
	current.CommitTurn(ctx, reported)
	turn, commit := spanNamed(t, recorder, "cupel.session.turn"), spanNamed(t, recorder, "cupel.session.commit")
	assert.Equal(t, turn.SpanContext().SpanID(), commit.Parent().SpanID())
	assert.Equal(t, "c1", attr(turn.Attributes(), "gen_ai.conversation.id"))
	assert.Equal(t, "c1", attr(commit.Attributes(), "gen_ai.conversation.id"))
	assert.WithinDuration(t, time.Now(), turn.StartTime(), time.Minute) // a session's clock may be moved by tests and replays
}

// TestTurnSpansOnce: what does not happen has no attribute, and a turn that is not
// committed no second span.
func TestTurnSpansOnce(t *testing.T) {
	tests := []struct {
		name    string
		end     turn.End
		commit  *turn.Commit
		missing []string
		commits int
		why     string
	}{
		{"no break", turn.End{Items: 1}, &turn.Commit{},
			[]string{"cupel.session.break_reason", "cupel.session.break_position", "cupel.session.read_reported", "cupel.session.input_reported"}, 1,
			"nothing was reported"},
		{"no cache fields", forced, &turn.Commit{Input: 5}, []string{"cupel.session.read_reported", "cupel.session.written_reported"}, 1,
			"0 would say that the cache was empty"},
		{"not committed", forced, nil, nil, 0, "the request failed"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			collector, recorder := traced(t, cupelotel.VerbosityStageOnly)
			ctx, current := take(t, t.Context(), collector, tt.end)
			if tt.commit != nil {
				current.CommitTurn(ctx, *tt.commit)
			}
			text := tree(recorder.Ended())
			for _, name := range tt.missing {
				assert.NotContains(t, text, name, tt.why)
			}
			assert.Equal(t, tt.commits, strings.Count(text, "cupel.session.commit ("), tt.why)
		})
	}
}

func TestTurnsThatFail(t *testing.T) {
	tests := []struct {
		err       error
		kind, say string
		why       string
	}{
		{context.Canceled, "context.Canceled", "cupel: the run failed", "a session returns it as it is"},
		{errors.New("secret"), "*errors.errorString", "cupel: the run failed", "the text may quote an item"},
		{(*cupel.StrategyError)(nil), "_OTHER", "cupel: the run failed", "a mistake of a chooser must not crash the turn"},
	}
	for _, tt := range tests {
		t.Run(tt.kind, func(t *testing.T) {
			spans, recorder := traced(t, cupelotel.VerbosityStageOnly)
			metrics, reader := measured(t)
			take(t, t.Context(), observe.Multi(spans, metrics), turn.End{Err: tt.err}, throwing())
			span := spanNamed(t, recorder, "cupel.session.turn")
			assert.Equal(t, sdktrace.Status{Code: codes.Error, Description: tt.say}, span.Status(), tt.why)
			assert.Equal(t, tt.kind, attr(span.Attributes(), "error.type"), tt.why)
			assert.Empty(t, attr(span.Attributes(), "cupel.session.items"), "there is no window")
			names := make(map[string]map[string]string)
			for _, m := range collect(t, reader) {
				names[m.Name] = points(m)
			}
			assert.Regexp(t, "^1 ", names["cupel.pipeline.duration"]["cupel.run.mode=session error.type=*pipeline.OverflowError"], "it is why the turn failed")
			assert.Regexp(t, "^1 ", names["cupel.session.duration"]["error.type="+tt.kind])
			assert.NotContains(t, names, "cupel.session.turns")
			assert.NotContains(t, names, "cupel.session.breaks")
		})
	}
}

// TestTurnMetrics: a turn counts when it is committed, and its window is what is
// sent, not what its runs chose.
func TestTurnMetrics(t *testing.T) {
	collector, reader := measured(t)
	take(t, t.Context(), collector, forced, config()) // never committed
	ctx, current := take(t, t.Context(), collector, forced, throwing(), config())
	require.Empty(t, collect(t, reader), "proposals do not count")
	current.CommitTurn(ctx, reported)
	calm := turn.End{Items: 6, Tokens: 700, KeptItems: 5, KeptTokens: 600, CacheRead: 600, CacheWritten: 100, Cost: 185, CostWithout: 1000}
	ctx, current = take(t, t.Context(), collector, calm)
	current.CommitTurn(ctx, turn.Commit{Input: 700}) // no cache fields
	free := calm
	free.Break, free.CostWithout = "secret", 0
	ctx, current = take(t, t.Context(), collector, free)
	current.CommitTurn(ctx, reported)

	want := map[string]map[string]string{
		"cupel.session.turns":            {"": "3"},
		"cupel.session.breaks":           {"cupel.session.break_reason=forced": "1", "cupel.session.break_reason=_OTHER": "1"},
		"cupel.session.kept_tokens":      {"": "1400"},
		"cupel.session.dropped":          {"": "3"},
		"cupel.session.cost_ratio":       {"": "2 0.685"}, // .5 and .185; sending nothing is free
		"cupel.session.read_predicted":   {"": "750"},     // of the two turns with a report
		"cupel.session.read_reported":    {"": "256"},
		"cupel.pipeline.selected_tokens": {"cupel.run.mode=session": "3 2000"},
		"cupel.budget.utilization":       {"cupel.run.mode=session": "3 1.9999999999999998"},
		"cupel.items": {"cupel.run.mode=session cupel.stage.name=classify": "16", "cupel.run.mode=session cupel.stage.name=score": "12", "cupel.run.mode=session cupel.stage.name=deduplicate": "12",
			"cupel.run.mode=session cupel.stage.name=slice": "10", "cupel.run.mode=session cupel.stage.name=place": "8"}, // of two runs
	}
	for _, m := range collect(t, reader) {
		got := points(m)
		switch m.Name {
		case "cupel.pipeline.duration":
			assert.Len(t, got, 1)
			assert.Regexp(t, "^1 ", got["cupel.run.mode=session"])
		case "cupel.stage.time":
			for series := range got {
				assert.NotContains(t, series, "error.type", "the session chose again after the stage that failed")
			}
		case "cupel.session.duration":
			assert.Len(t, got, 1)
			assert.Regexp(t, "^3 ", got[""])
		}
		if expected, ok := want[m.Name]; ok {
			assert.Equal(t, expected, got, m.Name)
			delete(want, m.Name)
		}
	}
	assert.Empty(t, want, "missing")
}

// TestTurnsThatAreNotSampled cost one span each.
func TestTurnsThatAreNotSampled(t *testing.T) {
	tracers, recorder := newRecorder(t, sdktrace.WithSampler(sdktrace.NeverSample()))
	_, current := take(t, t.Context(), cupelotel.NewTraceCollector(cupelotel.WithTracerProvider(tracers)), forced, config())
	assert.Nil(t, current)
	assert.Empty(t, recorder.Ended())
}

// TestTurnsOfOtherSessions: the reasons of a session that Cupel does not have may
// be redacted.
func TestTurnsOfOtherSessions(t *testing.T) {
	collector, recorder := traced(t, cupelotel.VerbosityStageOnly, cupelotel.WithRedaction(observe.Redaction{Rewrite: func(observe.Part, string) string { return "(hidden)" }}))
	var got []string
	for _, reason := range []string{"secret", "worth it"} {
		recorder.Reset()
		take(t, t.Context(), collector, turn.End{Break: reason})
		got = append(got, attr(spanNamed(t, recorder, "cupel.session.turn").Attributes(), "cupel.session.break_reason"))
	}
	assert.Equal(t, []string{"(hidden)", "worth it"}, got)
}
