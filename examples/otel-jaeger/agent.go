package main

import (
	"context"
	"crypto/rand"
	"embed"
	"fmt"
	"slices"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/observe"
	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/cupel/placer"
	"github.com/wollax/cupel-go/cupel/scorer"
	"github.com/wollax/cupel-go/cupel/slicer"
	"github.com/wollax/cupel-go/cupelotel"
	"github.com/wollax/cupel-go/cupelrelevance"
	"github.com/wollax/cupel-go/cupelsession"
)

// The sizes of the example, in tokens.
const (
	contextWindow = 4_600 // of the model
	answerReserve = 1_150
	searchBudget  = 1_400 // of what a search finds
)

// turn is one question to the agent.
type turn struct {
	title, question string
	pause           time.Duration // since the turn before
	tooLong         bool          // the question alone is more than the window
}

// conversation holds the questions to the agent. The history grows with every
// turn until it no longer fits, one question does not fit at all, and one comes
// when the provider's cache has expired.
func conversation() []turn {
	log := "Why does this test fail?\n\n" + strings.Repeat("    quota_test.go:120: got a share of 17 tokens, want 18\n", 400)
	return []turn{
		{title: "a question about the source", question: "Where are the traces sent, and what says that they did not arrive?"},
		{title: "a second one: what was sent stays as it was", question: "How is the tree of spans printed?", pause: time.Minute},
		{title: "a whole log in the question: it does not fit", question: log, pause: time.Minute, tooLong: true},
		{title: "the end of the log: the window is full, and breaks", question: log[:3000], pause: time.Minute},
		{title: "an hour later: the cache has nothing, a break is free", question: "Which flags are there, and what do they set?", pause: time.Hour},
		{title: "one more: the cache has what was sent", question: "How does the session choose at a break?", pause: time.Minute},
	}
}

// source is what the agent is asked about: this program and its README.
//
//go:embed main.go telemetry.go agent.go README.md
var source embed.FS

// paragraphs returns one item for each paragraph of the source.
func paragraphs(now time.Time) ([]*cupel.ContextItem, error) {
	var items []*cupel.ContextItem
	for _, name := range []string{"main.go", "telemetry.go", "agent.go", "README.md"} {
		text, err := source.ReadFile(name)
		if err != nil {
			return nil, err
		}
		for part := range strings.SplitSeq(string(text), "\n\n") {
			it, err := newItem(name+": "+part, now, cupel.WithKind(cupel.KindToolOutput))
			if err != nil {
				return nil, err
			}
			items = append(items, it)
		}
	}
	return items, nil
}

func newItem(content string, at time.Time, opts ...cupel.ItemOption) (*cupel.ContextItem, error) {
	return cupel.NewItemFrom(cupel.HeuristicCounter{}, content, append(opts, cupel.WithTimestamp(at))...)
}

// newSearch returns the policy of a search: what a question is about. An issue
// should be among the results: each search falls short of it, as when a source of
// an agent does not answer.
func newSearch(question string) (*pipeline.Pipeline, error) {
	index, err := cupelrelevance.NewIndex()
	if err != nil {
		return nil, err
	}
	about, err := cupelrelevance.New(index, question)
	if err != nil {
		return nil, err
	}
	complete, err := slicer.NewCountQuota(slicer.ScoreGreedy{}, []slicer.CountQuotaEntry{{Kind: "Issue", RequireCount: 1, CapCount: 3}})
	if err != nil {
		return nil, err
	}
	return pipeline.New(pipeline.Config{Name: "search", Scorer: about, Slicer: complete, Placer: placer.UShaped{}})
}

// agent has a conversation about some source. For each question it searches the
// source, adds what it has found to the conversation, and sends what the session
// proposes to a model.
type agent struct {
	tracer    trace.Tracer
	id        string // of the conversation
	collector observe.TraceCollector
	session   *cupelsession.Session

	source []*cupel.ContextItem
	items  []*cupel.ContextItem // the conversation, oldest first
	now    time.Time            // as the conversation goes
}

func newAgent(t *telemetry) (*agent, error) {
	a := &agent{now: time.Now(), tracer: t.tracing.Tracer("otel-jaeger"), id: rand.Text()}
	a.collector = observe.Multi(
		cupelotel.NewTraceCollector(cupelotel.WithTracerProvider(t.tracing), cupelotel.WithVerbosity(cupelotel.VerbosityFull),
			cupelotel.WithConventions(cupelotel.GenAI, cupelotel.OpenInference)), // for Phoenix and its like
		cupelotel.NewMetricCollector(cupelotel.WithMeterProvider(t.metrics)))
	var err error
	if a.source, err = paragraphs(a.now); err != nil {
		return nil, err
	}
	// What the session chooses at a break: the newest.
	newest, err := pipeline.New(pipeline.Config{Name: "window", Scorer: scorer.Recency{}, Slicer: slicer.Greedy{}, Placer: placer.Chronological{}})
	if err != nil {
		return nil, err
	}
	a.session, err = cupelsession.New(newest, cupelsession.Config{
		Cache:    cupelsession.AnthropicCache,
		LowWater: 0.4,         // a break leaves room for a few turns
		Trace:    a.collector, // the session shows its turns, and what it chooses
		Clock:    func() time.Time { return a.now },
	})
	if err != nil {
		return nil, err
	}
	err = a.add("You are a coding agent. Answer the last question from the excerpts of the source.", cupel.WithKind(cupel.KindSystemPrompt), cupel.WithPinned())
	return a, err
}

// add adds to the conversation.
func (a *agent) add(content string, opts ...cupel.ItemOption) error {
	it, err := newItem(content, a.now, opts...)
	a.items = append(a.items, it)
	return err
}

// take takes a turn in its own span, so that the session appears as part of the
// agent's work. A turn that fails leaves no trace in the conversation.
func (a *agent) take(ctx context.Context, number int, t turn) error {
	a.now = a.now.Add(t.pause)
	ctx = cupelotel.ContextWithConversationID(ctx, a.id)
	ctx, span := a.tracer.Start(ctx, "agent.turn", trace.WithAttributes(
		attribute.String("gen_ai.operation.name", "invoke_agent"), attribute.Int("agent.turn.number", number), attribute.String("agent.turn.title", t.title)))
	defer span.End()
	before := len(a.items)
	err := a.converse(ctx, t)
	span.SetAttributes(attribute.Int("agent.turn.candidates", len(a.items)))
	if err != nil {
		// The error's own text is not for a span: see observe.PartError.
		span.SetStatus(codes.Error, "the question was not answered")
		a.items = a.items[:before]
		return err
	}
	// The question is pinned in its own turn only; its text is the same.
	if a.items[before], err = newItem(t.question, a.now); err != nil {
		return err
	}
	return a.add(fmt.Sprintf("(the answer to %q)", t.title))
}

// converse searches, has the session propose a window, asks the model, and commits
// the turn.
func (a *agent) converse(ctx context.Context, t turn) error {
	found, err := a.search(ctx, t.question)
	if err != nil {
		return err
	}
	if err := a.add(t.question, cupel.WithPinned()); err != nil {
		return err
	}
	a.items = append(a.items, found...)
	budget, err := cupel.NewContextBudget(contextWindow, contextWindow-answerReserve, cupel.WithOutputReserve(answerReserve))
	if err != nil {
		return err
	}
	proposed, err := a.session.Next(ctx, a.items, budget)
	if err != nil {
		return err
	}
	return proposed.Commit(a.ask(ctx, proposed))
}

// search returns the parts of the source that a question is about, but for those
// that the conversation has already. It is a run of a pipeline of its own.
func (a *agent) search(ctx context.Context, question string) ([]*cupel.ContextItem, error) {
	ctx, span := a.tracer.Start(ctx, "agent.search", trace.WithAttributes(attribute.String("gen_ai.operation.name", "execute_tool")))
	defer span.End()
	p, err := newSearch(question)
	if err != nil {
		return nil, err
	}
	budget, err := cupel.NewContextBudget(searchBudget, searchBudget)
	if err != nil {
		return nil, err
	}
	found, err := p.Run(ctx, a.source, budget, pipeline.WithTrace(a.collector))
	return slices.DeleteFunc(found, func(it *cupel.ContextItem) bool { return slices.Contains(a.items, it) }), err
}

// ask stands in for the API of a provider, so that the example needs no key: a
// model that answers nothing, and whose cache does what the session expects.
func (a *agent) ask(ctx context.Context, t *cupelsession.Turn) cupelsession.Usage {
	_, span := a.tracer.Start(ctx, "chat stand-in", trace.WithSpanKind(trace.SpanKindClient), trace.WithAttributes(
		attribute.String("gen_ai.operation.name", "chat"), attribute.String("gen_ai.provider.name", "stand-in"),
		attribute.String("gen_ai.request.model", "stand-in"), attribute.String("gen_ai.conversation.id", a.id)))
	defer span.End()
	usage := cupelsession.Usage{Input: t.Estimate, Read: t.Cache.Read, Written: t.Cache.Written, Cached: true, Output: 12}
	// The only span with the tokens that the provider counted: tools add them up.
	span.SetAttributes(attribute.Int("gen_ai.usage.input_tokens", usage.Input), attribute.Int("gen_ai.usage.output_tokens", usage.Output))
	return usage
}
