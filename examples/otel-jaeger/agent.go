package main

import (
	"context"
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
	"github.com/wollax/cupel-go/cupelchat"
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
	title    string
	question string
	pause    time.Duration // since the turn before
	tooLong  bool          // the question alone is more than the window
}

// conversation holds the questions to the agent. The history grows with every
// turn until it no longer fits, one question does not fit at all, and one comes
// when the provider's cache has expired.
func conversation() []turn {
	log := testLog()
	return []turn{
		{
			title:    "a question about the source",
			question: "Where are the traces sent, and what says that they did not arrive?",
		}, {
			title:    "a second one: what was sent stays as it was",
			question: "How is a waterfall drawn to scale?",
			pause:    time.Minute,
		}, {
			title:    "a whole log in the question: it does not fit",
			question: "Why does this test fail?\n\n" + log,
			pause:    2 * time.Minute,
			tooLong:  true,
		}, {
			title:    "the end of the log: the window is full, and breaks",
			question: "Why does this test fail?\n\n" + log[len(log)-1000:],
			pause:    time.Minute,
		}, {
			title:    "an hour later: the cache has nothing, a break is free",
			question: "Which flags are there, and what do they set?",
			pause:    time.Hour,
		}, {
			title:    "one more: the cache has what was sent",
			question: "What does the picture of the waterfalls look like?",
			pause:    time.Minute,
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

// agent has a conversation about some source. For each question it searches the
// source, adds what it has found to the conversation, and sends what the session
// proposes to a model.
type agent struct {
	tracer    trace.Tracer
	collector observe.TraceCollector
	source    []*cupel.ContextItem
	session   *cupelsession.Session
	model     model

	items []*cupel.ContextItem // the conversation, oldest first
	sees  map[string]bool      // contents of the last window
	now   time.Time            // as the conversation goes
}

func newAgent(tracer trace.Tracer, collector observe.TraceCollector, source []*cupel.ContextItem, now time.Time) (*agent, error) {
	a := &agent{tracer: tracer, collector: collector, source: source, now: now}
	system, err := newItem(systemPrompt, now, cupel.WithKind(cupel.KindSystemPrompt), cupel.WithSource(cupel.SourceChat), cupel.WithPinned())
	if err != nil {
		return nil, err
	}
	a.items = append(a.items, system)
	anything, err := newChooser("")
	if err != nil {
		return nil, err
	}
	a.session, err = cupelsession.New(anything, cupelsession.Config{
		Cache:     cupelsession.AnthropicCache,
		LowWater:  0.4,       // a break leaves room for a few turns
		Trace:     collector, // the session shows its turns, and what it chooses
		Summarize: a.summarize,
		Clock:     func() time.Time { return a.now },
	})
	return a, err
}

// answer is the result of a turn.
type answer struct {
	items  int                // of the conversation
	turn   *cupelsession.Turn // nil if there is no window
	target int                // tokens that the window may have
	err    error
}

func (a answer) selected() (items, tokens int) {
	if a.turn == nil {
		return 0, 0
	}
	for _, it := range a.turn.Window {
		tokens += it.Tokens()
	}
	return len(a.turn.Window), tokens
}

// take takes a turn in its own span, so that the session appears as part of the
// agent's work.
func (a *agent) take(ctx context.Context, number int, t turn) answer {
	a.now = a.now.Add(t.pause)
	ctx, span := a.tracer.Start(ctx, "agent.turn", trace.WithAttributes(
		attribute.Int("agent.turn.number", number),
		attribute.String("agent.turn.title", t.title),
	))
	defer span.End()
	result := a.converse(ctx, t)
	if result.err != nil {
		// The error's own text is not for a span: see cupelotel's Redactor.
		span.SetStatus(codes.Error, "the question was not answered")
	}
	return result
}

// converse searches, has the session propose a window, asks the model, and commits
// the turn. A turn that fails leaves no trace in the conversation.
func (a *agent) converse(ctx context.Context, t turn) answer {
	result := answer{target: contextWindow - answerReserve}
	fail := func(err error) answer {
		result.err = err
		return result
	}
	found, err := a.search(ctx, t.question)
	if err != nil {
		return fail(err)
	}
	question := []cupel.ItemOption{cupel.WithKind(cupel.KindMessage), cupel.WithSource(cupel.SourceChat)}
	asked, err := newItem(t.question, a.now, append(question, cupel.WithPinned())...)
	if err != nil {
		return fail(err)
	}
	budget, err := cupel.NewContextBudget(contextWindow, result.target, cupel.WithOutputReserve(answerReserve))
	if err != nil {
		return fail(err)
	}
	chooser, err := newChooser(t.question)
	if err != nil {
		return fail(err)
	}
	items := append(slices.Clip(append(slices.Clip(a.items), asked)), found...)
	result.items = len(items)
	turn, err := a.session.Next(ctx, items, budget, cupelsession.WithChooser(chooser))
	if err != nil {
		return fail(err)
	}
	result.turn = turn
	usage, err := a.ask(ctx, turn)
	if err != nil {
		return fail(err)
	}
	if err := turn.Commit(usage); err != nil {
		return fail(err)
	}
	// The question is pinned in its own turn only; its text is the same.
	if asked, err = newItem(t.question, a.now, question...); err != nil {
		return fail(err)
	}
	items[len(a.items)] = asked
	said, err := newItem(fmt.Sprintf("(the answer to %q)", t.title), a.now, cupel.WithKind(cupel.KindMessage), cupel.WithSource(cupel.SourceChat))
	if err != nil {
		return fail(err)
	}
	a.items = append(items, said)
	a.sees = make(map[string]bool)
	for _, it := range turn.Window {
		a.sees[it.Content()] = true
	}
	return result
}

// search returns the parts of the source that a question is about, but for those
// that the model sees already. It is a run of a pipeline of its own.
func (a *agent) search(ctx context.Context, question string) ([]*cupel.ContextItem, error) {
	ctx, span := a.tracer.Start(ctx, "agent.search")
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
	if err != nil {
		return nil, err
	}
	var items []*cupel.ContextItem
	for _, part := range found {
		if a.sees[part.Content()] {
			continue
		}
		path, _ := part.MetadataValue("path")
		it, err := newItem(part.Content(), a.now, cupel.WithKind(cupel.KindToolOutput), cupel.WithSource(cupel.SourceTool),
			cupel.WithMetadata(map[string]any{"path": path}))
		if err != nil {
			return nil, err
		}
		items = append(items, it)
	}
	return items, nil
}

// ask sends a window to the model, and returns what it says about its cache.
func (a *agent) ask(ctx context.Context, turn *cupelsession.Turn) (cupelsession.Usage, error) {
	_, span := a.tracer.Start(ctx, "agent.ask")
	defer span.End()
	return cupelsession.UsageOf(cupelchat.Anthropic, a.model.answer(turn, a.now))
}

// summarize makes the item that stands for what leaves the window: which parts of
// the source the agent has looked at. A model would do better.
func (a *agent) summarize(_ context.Context, dropped []*cupel.ContextItem) (*cupel.ContextItem, error) {
	const shown = 6
	var parts []string
	for _, it := range dropped {
		if it.Kind() == cupel.KindToolOutput {
			parts = append(parts, firstLine(it))
		}
	}
	if len(parts) > shown {
		parts = append(parts[:shown], fmt.Sprintf("%d more", len(parts)-shown))
	}
	return newItem("(looked at before: "+strings.Join(parts, "; ")+")", a.now, cupel.WithKind(cupel.KindMessage), cupel.WithSource(cupel.SourceChat))
}

func newItem(content string, at time.Time, opts ...cupel.ItemOption) (*cupel.ContextItem, error) {
	return cupel.NewItemFrom(cupel.HeuristicCounter{}, content, append(opts, cupel.WithTimestamp(at))...)
}
