package cupelotel_test

import (
	"context"
	"iter"
	"testing"

	"go.opentelemetry.io/otel/attribute"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/cupel/policy"
	"github.com/wollax/cupel-go/cupelotel"
)

func TestRootSpans(t *testing.T) {
	chat, err := policy.Chat().Config(policy.Environment{})
	if err != nil {
		t.Fatal(err)
	}
	unnamed := policy.Chat()
	unnamed.Name = ""
	anonymous, err := unnamed.Config(policy.Environment{})
	if err != nil {
		t.Fatal(err)
	}
	conversation := cupelotel.ContextWithConversationID(t.Context(), "c1")
	for _, tt := range []struct {
		name   string
		config pipeline.Config
		ctx    context.Context
		max    int
		opts   []cupelotel.TraceOption
		want   map[attribute.Key]string // "" for none
		why    string
	}{
		{"policy", chat, t.Context(), 1000, nil, map[attribute.Key]string{"cupel.policy.name": "Chat", "cupel.policy.hash": policy.Chat().Hash()},
			"traces of one policy can be found, and of one version of it"},
		{"policy without a name", anonymous, t.Context(), 1000, nil, map[attribute.Key]string{"cupel.policy.name": "", "cupel.policy.hash": policy.Chat().Hash()},
			"the hash is of what the policy does"},
		{"no policy", config(), t.Context(), 1000, nil, map[attribute.Key]string{"cupel.policy.name": "", "cupel.policy.hash": "", "gen_ai.conversation.id": ""}, ""},
		{"conversation in the context", config(), conversation, 1000, nil,
			map[attribute.Key]string{"gen_ai.conversation.id": "c1"}, "of the caller"},
		{"redacted", chat, conversation, 1000,
			[]cupelotel.TraceOption{cupelotel.WithRedaction(func(cupelotel.TextSource, string) string { return "x" })},
			map[attribute.Key]string{"gen_ai.conversation.id": "x", "cupel.policy.name": "x", "cupel.pipeline.name": "x"}, ""},
		{"sizes", config(), t.Context(), 1000, nil, map[attribute.Key]string{
			"cupel.budget.target_tokens": "100", "cupel.budget.output_reserve": "7", "cupel.run.candidates": "8", "cupel.run.included": "3",
			"cupel.run.selected_tokens": "60", "cupel.budget.utilization": "0.06", "cupel.budget.target_utilization": "0.6",
		}, ""},
		{"failed", throwing(), t.Context(), 1000, nil, map[attribute.Key]string{
			"cupel.run.candidates": "8", "cupel.run.included": "", "cupel.run.selected_tokens": "", "cupel.budget.utilization": "", "error.type": "*pipeline.OverflowError",
		}, "there is no window"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			provider, recorder := newRecorder(t)
			collector := cupelotel.NewTraceCollector(append(tt.opts, cupelotel.WithTracerProvider(provider))...)
			budget, err := cupel.NewContextBudget(tt.max, 100, cupel.WithOutputReserve(7))
			if err != nil {
				t.Fatal(err)
			}
			_, _ = newPipeline(t, tt.config).Run(tt.ctx, candidates(t), budget, pipeline.WithTrace(collector)) // one fails
			attrs := spanNamed(t, recorder, "cupel.pipeline").Attributes()
			for key, want := range tt.want {
				if got := attr(attrs, key); got != want {
					t.Errorf("%s is %q, want %q: %s", key, got, want, tt.why)
				}
			}
		})
	}
}

func TestRootSpanOfAStream(t *testing.T) {
	provider, recorder := newRecorder(t)
	source := iter.Seq2[*cupel.ContextItem, error](func(yield func(*cupel.ContextItem, error) bool) {
		for _, item := range candidates(t)[1:5] {
			if !yield(item, nil) {
				return
			}
		}
	})
	_, err := newPipeline(t, config()).RunStream(t.Context(), source, newBudget(t, 1000, 100), pipeline.WithTrace(cupelotel.NewTraceCollector(cupelotel.WithTracerProvider(provider))))
	if err != nil {
		t.Fatal(err)
	}
	if got := attr(spanNamed(t, recorder, "cupel.pipeline").Attributes(), "cupel.run.candidates"); got != "4" {
		t.Errorf("a stream of four candidates says %q", got)
	}
}

func TestEmptyBudgetsHaveNoUtilization(t *testing.T) {
	provider, recorder := newRecorder(t)
	if _, err := newPipeline(t, config()).Run(t.Context(), nil, newBudget(t, 0, 0), pipeline.WithTrace(cupelotel.NewTraceCollector(cupelotel.WithTracerProvider(provider)))); err != nil {
		t.Fatal(err)
	}
	attrs := spanNamed(t, recorder, "cupel.pipeline").Attributes()
	for _, key := range []attribute.Key{"cupel.budget.utilization", "cupel.budget.target_utilization"} {
		if got := attr(attrs, key); got != "0" {
			t.Errorf("%s of an empty budget is %q, want 0: exporters reject NaN", key, got)
		}
	}
}

func TestTurnsKnowTheConversation(t *testing.T) {
	provider, recorder := newRecorder(t)
	collector := cupelotel.NewTraceCollector(cupelotel.WithTracerProvider(provider), cupelotel.WithAttributes(attribute.String("tenant", "a")))
	ctx, turn := take(t, cupelotel.ContextWithConversationID(t.Context(), "c1"), collector, forced)
	turn.CommitTurn(ctx, reported)
	for _, name := range []string{"cupel.session.turn", "cupel.session.commit"} {
		attrs := spanNamed(t, recorder, name).Attributes()
		if attr(attrs, "gen_ai.conversation.id") != "c1" || attr(attrs, "tenant") != "a" {
			t.Errorf("%s has %v", name, attrs)
		}
	}
}
