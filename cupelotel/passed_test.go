package cupelotel_test

import (
	"context"
	"testing"

	"go.opentelemetry.io/otel/baggage"

	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/cupelotel"
)

func TestConversationAndAgent(t *testing.T) {
	carrying := func(header string) context.Context {
		b, err := baggage.Parse(header)
		if err != nil {
			t.Fatal(err)
		}
		return baggage.ContextWithBaggage(t.Context(), b)
	}
	const both = "gen_ai.conversation.id=b1,gen_ai.agent.name=plan%20ner,other=secret"
	for _, tt := range []struct {
		name      string
		ctx       context.Context
		id, agent string
		why       string
	}{
		{"neither", t.Context(), "", "", "not set where there is none"},
		{"context", cupelotel.ContextWithAgentName(cupelotel.ContextWithConversationID(t.Context(), "c1"), "writer"), "c1", "writer", ""},
		{"baggage", carrying(both), "b1", "plan ner", "from the service that called; other members are not shown"},
		{"both", cupelotel.ContextWithConversationID(carrying(both), "c1"), "c1", "plan ner", "the context is nearer"},
		{"hidden", cupelotel.ContextWithConversationID(carrying(both), ""), "", "plan ner", "an empty id hides that of the baggage"},
		{"other baggage", carrying("gen_ai.agent.names=x"), "", "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			provider, recorder := newRecorder(t)
			collector := cupelotel.NewTraceCollector(cupelotel.WithTracerProvider(provider))
			if _, err := newPipeline(t, config()).Run(tt.ctx, candidates(t), newBudget(t, 1000, 100), pipeline.WithTrace(collector)); err != nil {
				t.Fatal(err)
			}
			ctx, turn := take(t, tt.ctx, collector, forced)
			turn.CommitTurn(ctx, reported)
			for _, name := range []string{"cupel.pipeline", "cupel.session.turn", "cupel.session.commit"} {
				attrs := spanNamed(t, recorder, name).Attributes()
				if id, agent := attr(attrs, "gen_ai.conversation.id"), attr(attrs, "gen_ai.agent.name"); id != tt.id || agent != tt.agent {
					t.Errorf("%s has %q and %q, want %q and %q: %s", name, id, agent, tt.id, tt.agent, tt.why)
				}
			}
		})
	}
}

func TestRedactionOfTheAgent(t *testing.T) {
	provider, recorder := newRecorder(t)
	collector := cupelotel.NewTraceCollector(cupelotel.WithTracerProvider(provider), cupelotel.WithRedaction(func(source cupelotel.TextSource, text string) string {
		if source == cupelotel.TextAgent {
			return "x"
		}
		return text
	}))
	ctx := cupelotel.ContextWithAgentName(cupelotel.ContextWithConversationID(t.Context(), "c1"), "planner")
	if _, err := newPipeline(t, config()).Run(ctx, candidates(t), newBudget(t, 1000, 100), pipeline.WithTrace(collector)); err != nil {
		t.Fatal(err)
	}
	attrs := spanNamed(t, recorder, "cupel.pipeline").Attributes()
	if attr(attrs, "gen_ai.agent.name") != "x" || attr(attrs, "gen_ai.conversation.id") != "c1" {
		t.Errorf("the root span has %v", attrs)
	}
}
