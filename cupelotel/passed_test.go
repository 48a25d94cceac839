package cupelotel_test

import (
	"context"
	"testing"

	"go.opentelemetry.io/otel/baggage"

	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/cupelotel"
)

func TestConversation(t *testing.T) {
	carrying := func(header string) context.Context {
		b, err := baggage.Parse(header)
		if err != nil {
			t.Fatal(err)
		}
		return baggage.ContextWithBaggage(t.Context(), b)
	}
	const header = "gen_ai.conversation.id=b%201,other=secret"
	for _, tt := range []struct {
		name string
		ctx  context.Context
		id   string
		why  string
	}{
		{"none", t.Context(), "", "not set where there is none"},
		{"context", cupelotel.ContextWithConversationID(t.Context(), "c1"), "c1", "the caller's"},
		{"baggage", carrying(header), "b 1", "from the service that called; other members are not shown"},
		{"both", cupelotel.ContextWithConversationID(carrying(header), "c1"), "c1", "the context is nearer"},
		{"hidden", cupelotel.ContextWithConversationID(carrying(header), ""), "", "an empty id hides that of the baggage"},
		{"other baggage", carrying("gen_ai.conversation.ids=x"), "", "another name"},
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
				if id := attr(spanNamed(t, recorder, name).Attributes(), "gen_ai.conversation.id"); id != tt.id {
					t.Errorf("%s has %q, want %q: %s", name, id, tt.id, tt.why)
				}
			}
		})
	}
}
