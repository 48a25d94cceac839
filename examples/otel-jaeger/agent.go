package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/wollax/cupel-go/cupel"
)

// turn is one question to the agent, and the window of the model that is to
// answer it.
type turn struct {
	title    string
	question string
	budget   int  // tokens; a quarter of them is kept for the answer
	tooLong  bool // the question alone is more than the window
}

// conversation holds the questions to the agent. The history grows with every
// turn, the windows shrink, and one question does not fit.
func conversation() []turn {
	log := testLog()
	return []turn{
		{
			title:    "a question about the source",
			question: "Where are the traces sent, and what says that they did not arrive?",
			budget:   8_000,
		}, {
			title:    "a second one, with what the first has brought",
			question: "What happens to a question that is larger than the window?",
			budget:   6_000,
		}, {
			title:    "a third one, to a smaller model",
			question: "How is a waterfall drawn to scale?",
			budget:   4_000,
		}, {
			title:    "a whole log in the question: it does not fit",
			question: "Why does this test fail?\n\n" + log,
			budget:   2_400,
			tooLong:  true,
		}, {
			title:    "the same with the end of the log",
			question: "Why does this test fail?\n\n" + log[len(log)-1000:],
			budget:   2_400,
		},
	}
}

// testLog is a long log that a user pastes.
func testLog() string {
	var b strings.Builder
	b.WriteString("--- FAIL: TestQuotaSharesAddUp (0.04s)\n")
	for i := range 400 {
		fmt.Fprintf(&b, "    quota_test.go:%d: kind %d: got a share of %d tokens, want %d\n", 120+i%3, i, 17*i, 17*i+1)
	}
	b.WriteString("FAIL\n")
	return b.String()
}

// agent has a conversation about some source. It does not answer: the example
// is about what it would show to the model.
type agent struct {
	tracer     trace.Tracer
	collector  cupel.TraceCollector
	candidates []*cupel.ContextItem
	history    []*cupel.ContextItem // oldest first
	clock      time.Time            // of the history; advances by a minute a turn
}

func newAgent(tracer trace.Tracer, collector cupel.TraceCollector, candidates []*cupel.ContextItem, now time.Time) *agent {
	return &agent{tracer: tracer, collector: collector, candidates: candidates, clock: now}
}

// answer is the result of a turn.
type answer struct {
	window     []*cupel.ContextItem
	candidates int
	target     int // tokens that the window may have
	err        error
}

func (a answer) tokens() int {
	n := 0
	for _, it := range a.window {
		n += it.Tokens()
	}
	return n
}

// take runs a turn in its own span, so that the selection of the context
// appears as part of the agent's work.
func (a *agent) take(ctx context.Context, number int, t turn) answer {
	ctx, span := a.tracer.Start(ctx, "agent.turn", trace.WithAttributes(
		attribute.Int("agent.turn.number", number),
		attribute.String("agent.turn.title", t.title),
	))
	defer span.End()
	result := a.choose(ctx, t)
	if result.err != nil {
		// The error's own text is not for a span: see cupelotel's Redactor.
		span.SetStatus(codes.Error, "no context was selected")
		return result
	}
	if err := a.remember(t, result.window); err != nil {
		result.err = err
		span.SetStatus(codes.Error, "the turn could not be remembered")
	}
	return result
}

// choose selects the context of a turn: the window that a model would see.
func (a *agent) choose(ctx context.Context, t turn) answer {
	reserve := t.budget / 4
	result := answer{target: t.budget - reserve}
	budget, err := cupel.NewContextBudget(t.budget, result.target, cupel.WithOutputReserve(reserve))
	if err != nil {
		result.err = err
		return result
	}
	pipeline, items, err := a.prepare(ctx, t)
	if err != nil {
		result.err = err
		return result
	}
	result.candidates = len(items)
	result.window, result.err = pipeline.Run(ctx, items, budget, cupel.WithTrace(a.collector))
	return result
}

// prepare gathers the candidates of a turn, and the policy for its question. It
// takes about as long as the selection, so it has a span too.
func (a *agent) prepare(ctx context.Context, t turn) (*cupel.Pipeline, []*cupel.ContextItem, error) {
	_, span := a.tracer.Start(ctx, "agent.prepare")
	defer span.End()
	items, err := pinned(t.question)
	if err != nil {
		return nil, nil, err
	}
	items = append(append(items, a.history...), a.candidates...)
	pipeline, err := newPipeline(t.question)
	return pipeline, items, err
}

// opened is the number of excerpts that the agent looks at again in each turn.
const opened = 4

// remember adds to the history what a turn leaves behind: the question, the
// files that the agent opened to answer it, and the answer. What it opened is in
// the source as well, so later turns have duplicates.
func (a *agent) remember(t turn, window []*cupel.ContextItem) error {
	a.clock = a.clock.Add(time.Minute)
	add := func(kind cupel.ContextKind, source cupel.ContextSource, content string) error {
		it, err := cupel.NewItemFrom(cupel.HeuristicCounter{}, content,
			cupel.WithKind(kind), cupel.WithSource(source), cupel.WithTimestamp(a.clock))
		if err == nil {
			a.history = append(a.history, it)
		}
		return err
	}
	if err := add(cupel.KindMessage, cupel.SourceChat, t.question); err != nil {
		return err
	}
	var origins []string
	for _, it := range window {
		if it.Kind() != kindCode || len(origins) == opened {
			continue
		}
		origins = append(origins, firstLine(it))
		if err := add(cupel.KindToolOutput, cupel.SourceTool, it.Content()); err != nil {
			return err
		}
	}
	return add(cupel.KindMessage, cupel.SourceChat, fmt.Sprintf("(the answer to %q, from %s)", t.title, strings.Join(origins, ", ")))
}
