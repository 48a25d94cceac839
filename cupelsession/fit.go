package cupelsession

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupelchat"
)

// Body proposes the next turn of a conversation, and returns the body to send. If every
// item is in the window unchanged, the body is the conversation's own, except for
// breakpoints. If the session's [CacheModel] has breakpoints, Body sets them as
// [CacheUse] has them, in the formats of Anthropic and Bedrock; a breakpoint at the top
// level of the request stays. The turn's notes include those of the conversation and of
// its body. Read the conversations of one session with [Session.Reading], as Fit does.
// It fails with a [cupelchat.TooLargeError] if the request cannot be made to fit, with
// an error of [Config.Store], and as [Session.Next] does.
func (s *Session) Body(ctx context.Context, c *cupelchat.Conversation, budget cupel.ContextBudget, opts ...TurnOption) ([]byte, *Turn, error) {
	if !s.isMade() {
		return nil, nil, errNotMade
	}
	o, before, least := s.options(opts), s.committed(), 0
	if len(before.Sent.caching(s.config.Cache, &o, s.config.Clock()).held) > 0 {
		least = before.Least
	}
	items, notes, least, err := c.ItemsAfter(o.chooser, budget, least)
	if err != nil {
		return nil, nil, err
	}
	s.conversation.Store(c)
	opts = append(slices.Clip(opts), func(o *turnOptions) { o.blocks, o.least = c.Blocks(), least })
	turn, err := s.Next(ctx, items, budget, opts...)
	if err != nil {
		return nil, nil, c.TooLarge(budget, err)
	}
	ttl := cmp.Or(s.config.Cache.TTL, "5m")
	pieces := make([]cupelchat.Piece, len(turn.Window))
	tokens := 0 // more than the budget has, if the provider counts fewer than are estimated
	for n, e := range turn.Entries {
		pieces[n].Candidates = e.Candidates
		pieces[n].Content = turn.Window[n].Content()
		if slices.Contains(turn.Cache.Breakpoints, n+1) {
			pieces[n].Breakpoint = ttl
		}
		tokens += turn.Window[n].Tokens()
	}
	body, more, err := c.Compose(pieces, max(tokens, turn.limit))
	if err != nil {
		return nil, nil, err
	}
	if s.recalls != nil {
		if err := s.recalls.keep(ctx, &s.config, turn); err != nil {
			return nil, nil, err
		}
	}
	turn.Notes = append(append(turn.Notes, notes...), more...)
	return body, turn, nil
}

// Request is a request that a session proposes, made by [Fit].
type Request[T any] struct {
	// Params are the parameters to send. Do not build on them: append later
	// messages to the parameters that Fit was given, which are complete.
	Params T
	// Body is the JSON of Params, with members in the order of the conversation.
	Body json.RawMessage
	// Turn describes Params, and takes the usage that the provider reported. It is
	// empty if Fit failed.
	*Turn

	format cupelchat.Format
}

// Answered commits the turn of a request that was answered, and returns the usage that
// the provider reported. [UsageOf] reads it from the response or the events of a
// stream; see also [Turn.Commit]. A response without a usage commits the turn as well.
func (r Request[T]) Answered(response ...any) (Usage, error) {
	usage, err := UsageOf(r.format, response...)
	if err != nil && r.Turn != nil {
		r.Notes = append(r.Notes, err.Error())
	}
	return usage, r.Commit(usage)
}

// Fit proposes the next turn of a conversation that is in the parameters of a request.
// params hold the whole conversation, in a value that marshals to the format's JSON and
// back, such as an SDK's parameters. Fit treats it as [cupelchat.Fit] does, and sets
// breakpoints as [Session.Body] does. The member model, or modelId, names the model as
// [WithModel] does. Commit the turn once the request is answered.
//
// Fit fails as [Session.Body] does. It also fails with a [HistoryError] if params
// are not the conversation that the session knows, or if the conversation has not
// changed for three turns.
func Fit[T any](ctx context.Context, s *Session, params T, f cupelchat.Format, budget cupel.ContextBudget, counter cupel.TokenCounter, opts ...cupelchat.Option) (Request[T], error) {
	none := Request[T]{Turn: new(Turn)}
	body, err := json.Marshal(params)
	if err != nil {
		return none, err
	}
	c, err := cupelchat.Read(body, f, counter, append(slices.Clip(opts), s.Reading()...)...)
	if err != nil {
		return none, err
	}
	smaller, turn, err := s.Body(ctx, c, budget, WithModel(c.Model()))
	switch {
	case err != nil:
		return none, err
	case turn.after.repeats >= mostRepeats:
		return none, &HistoryError{Turns: turn.after.repeats}
	}
	fitted, err := cupelchat.Refit(c, params, smaller)
	if err != nil {
		return none, err
	}
	turn.Notes = append(c.Notes(), turn.Notes...)
	return Request[T]{fitted, smaller, turn, f}, nil
}

// Reading returns the options for reading the conversations of a session. A conversation
// is read as the continuation of the last one that got a turn, with marks if there is a
// [Config.Store]. Answers to recalls leave first, once the model has gone on.
func (s *Session) Reading() []cupelchat.Option {
	if !s.isMade() {
		return nil
	}
	opts := []cupelchat.Option{cupelchat.WithEarlier(s.conversation.Load())}
	if s.recalls != nil {
		opts = append(opts, cupelchat.WithMarks(s.recalls), cupelchat.WithRules(cupelchat.Rule{Tool: recallName, Never: true}))
	}
	return opts
}
