package replay

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupelsession"
	"github.com/wollax/cupel-go/internal/ordered"
)

// Option configures [NewMeasure].
type Option func(*config)

// WithWorkers sets how many conversations are measured concurrently, at least
// 0. The default, 0, means the number of processors. The result does not depend
// on it.
func WithWorkers(n int) Option {
	return func(c *config) { c.workers = n }
}

// WithAgainst compares the grounded support of each policy with that of the first
// policy with this name.
func WithAgainst(policy string) Option {
	return func(c *config) { c.against = policy }
}

// WithCache also computes the cost of the windows with the prompt cache of each
// model, as a share of the cost of sending everything each time. No time passes
// between the steps. The names of the models name the columns, and must differ. The
// windows do not depend on the models.
func WithCache(models ...cupelsession.CacheModel) Option {
	return func(c *config) { c.caches = models }
}

type config struct {
	caches   []cupelsession.CacheModel
	policies []Policy
	against  string
	shares   []float64
	workers  int
}

func (c *config) validate() error {
	bad := func(field, value, reason string) error {
		return &cupel.InvalidConfigError{Component: "replay.NewMeasure", Field: field, Value: value, Reason: reason}
	}
	if len(c.policies) == 0 {
		return bad("policies", "", "at least one policy is required")
	}
	for i, p := range c.policies {
		where := fmt.Sprintf("policies[%d]", i)
		switch {
		case p.err != nil:
			return p.err
		case p.Name == "" || p.chooses == nil && p.units == nil:
			return bad(where, "", "a policy must have a name and a chooser")
		case p.Mode == Session && !(p.low > 0 && p.low <= 1) && (p.low != 0 || p.chooses == nil):
			return bad(where, fmt.Sprint(p.low), "the low-water mark must be above 0 and at most 1")
		case slices.ContainsFunc(c.policies[:i], func(other Policy) bool { return other.Name == p.Name && other.Mode == p.Mode }):
			return bad(where, strconv.Quote(p.Name), "policies of one mode must have different names")
		}
	}
	if len(c.shares) == 0 {
		return bad("shares", "", "at least one share is required")
	}
	for i, share := range c.shares {
		if !(share > 0 && share <= 1) || i > 0 && share <= c.shares[i-1] {
			return bad(fmt.Sprintf("shares[%d]", i), fmt.Sprint(share), "shares must be above 0, at most 1, and ascending")
		}
	}
	if c.against != "" && !slices.ContainsFunc(c.policies, func(p Policy) bool { return p.Name == c.against }) {
		return bad("against", strconv.Quote(c.against), "it must be the name of one of the policies")
	}
	for i := range c.caches {
		m := &c.caches[i]
		if err := m.Validate(); err != nil {
			return bad("cache", m.Name, err.Error())
		}
		if slices.ContainsFunc(c.caches[:i], func(other cupelsession.CacheModel) bool { return other.Name == m.Name }) {
			return bad("cache", strconv.Quote(m.Name), "the models must have different names")
		}
	}
	if c.workers < 0 {
		return bad("workers", strconv.Itoa(c.workers), "workers must be at least 0")
	}
	return nil
}

// Measure measures policies on conversations.
type Measure struct {
	config
	plan Plan
}

// NewMeasure returns a measure of policies at shares. It requires at least one
// policy, with distinct names, and at least one share, above 0, at most 1 and
// ascending. It returns a [cupel.InvalidConfigError].
func NewMeasure(policies []Policy, shares []float64, opts ...Option) (*Measure, error) {
	m := &Measure{config: config{policies: policies, shares: shares}}
	for _, opt := range opts {
		if opt != nil {
			opt(&m.config)
		}
	}
	m.plan = Plan{Shares: shares, Against: m.against}
	for _, p := range policies {
		m.plan.Policies = append(m.plan.Policies, Planned{p.Name, p.Title, p.Mode})
	}
	for i := range m.caches {
		m.plan.Caches = append(m.plan.Caches, m.caches[i].Name)
	}
	if err := m.validate(); err != nil {
		return nil, err
	}
	return m, nil
}

// Plan returns the plan of the measure, for [NewTable].
func (m *Measure) Plan() Plan { return m.plan }

// Sample measures every policy on a conversation at every share. The same
// conversation gives the same sample, bit for bit, if the policies are
// deterministic. A policy that fails at a step counts as sending nothing there,
// and the counts record the failure. Sample returns ctx.Err() if ctx is done
// first.
func (m *Measure) Sample(ctx context.Context, c *Conversation) (Sample, error) {
	rec := record(c)
	s := Sample{File: c.File, Line: c.Line, Conversation: c.ID, Counts: make([]Counts, len(m.shares)*len(m.policies))}
	for i := range m.policies {
		if err := rec.replay(ctx, &m.policies[i], &m.config, s.Counts[i:]); err != nil {
			return Sample{}, err
		}
	}
	return s, nil
}

// Samples yields the sample of each conversation, in order, and measures several
// concurrently. For a [ReadError] it yields a sample without counts. Any other error
// ends the sequence: an error of conversations, or ctx.Err() if ctx is done first.
// No goroutine outlives the loop.
func (m *Measure) Samples(ctx context.Context, conversations iter.Seq2[Conversation, error]) iter.Seq2[Sample, error] {
	return ordered.Map(ctx, m.workers, conversations, func(ctx context.Context, c Conversation, err error) (Sample, error) {
		if bad, ok := errors.AsType[*ReadError](err); ok {
			return Sample{File: bad.File, Line: bad.Line, Error: bad.Err.Error(), err: bad}, nil
		}
		if err != nil {
			return Sample{}, err
		}
		return m.Sample(ctx, &c)
	})
}

// Err returns the error of a sample that was measured in this process, or nil.
func (s *Sample) Err() error { return s.err }

// Prices of an input token, as shares of the plain price.
const (
	priceRead  = 0.1  // from the cache
	priceWrite = 1.25 // new, and written to the cache
)

// recentUnits is how many of the newest units a window should contain whole.
const recentUnits = 3

// run is a policy on one conversation at one share.
type run struct {
	*Counts
	chooser   chooser
	policy    *Policy
	limit     int
	before    window
	allBefore int // tokens

	caches []cached
	units  int // of everything, before
}

// cached is a model of a cache, and what it holds of the windows and of everything.
type cached struct {
	model     *cupelsession.CacheModel
	held, all []cupelsession.Prefix
}

// replay measures a policy on one conversation. It measures all shares at a step
// before the next one, so that they share what is read. counts are the counts of
// the policy and of all later ones in a sample.
func (r *recording) replay(ctx context.Context, p *Policy, c *config, counts []Counts) error {
	runs := make([]run, len(c.shares))
	messages := make(map[string]*chatMessage)
	for k, share := range c.shares {
		runs[k] = run{Counts: &counts[k*len(c.policies)], chooser: p.chooser(messages, c.caches), policy: p, limit: r.limit(share)}
		runs[k].Caches = make([]CacheCount, len(c.caches))
		for i := range c.caches {
			runs[k].caches = append(runs[k].caches, cached{model: &c.caches[i]})
		}
	}
	for i := range r.steps {
		t := &turn{recording: r, step: i, said: r.steps[i].units, shared: new(shared)}
		for k := range runs {
			if err := runs[k].step(ctx, t); err != nil {
				return err
			}
		}
	}
	return nil
}

// step measures one step.
func (r *run) step(ctx context.Context, t *turn) error {
	step := &t.steps[t.step]
	fixed := t.fixed(t.said)
	budget := max(r.limit, fixed)
	w, err := r.chooser.choose(ctx, t, budget)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		r.fail(t, err.Error())
	}
	same := w.same(r.before)
	total, prefix := w.tokens(), w[:same].tokens()
	if total > budget && !r.policy.over {
		r.fail(t, fmt.Sprintf("the window has %d tokens, %d more than the budget", total, total-budget))
	}
	if r.policy.chooses != nil && err == nil {
		if reason := t.refusal(w); reason != "" {
			r.fail(t, reason)
		}
	}
	r.Cost += price(prefix, total-prefix)
	r.Whole += price(r.allBefore, step.tokens-r.allBefore)
	if len(r.caches) > 0 {
		sent := everything(t, 0)
		for i := range r.caches {
			c := &r.caches[i]
			var cost float64
			var marks []int
			if session, ok := r.chooser.(*inSession); ok {
				marks = session.of(placementOf(c.model)).marks
			}
			cost, c.held = w.cost(c.model, same, marks, c.held)
			r.Caches[i].Cost += cost
			cost, c.all = sent.cost(c.model, r.units, nil, c.all)
			r.Caches[i].Whole += cost
		}
		r.units = len(sent)
	}
	r.Steps++
	r.Breaks += btoi(same < len(r.before))
	if step.tokens > budget {
		r.Sent += total
		r.Room += budget
	}
	if len(step.values) > 0 {
		r.find(t, w.text())
	}
	full := t.full(w)
	if first := t.first; first >= 0 && first < t.said {
		needed := fixed
		if !t.pinned(first, t.said) {
			needed += t.units[first].tokens
		}
		if needed <= budget {
			r.Tasks++
			r.Task += btoi(full[first])
		}
	}
	r.Recent += btoi(!slices.Contains(full[max(0, len(full)-recentUnits):], false))
	r.before, r.allBefore = w, step.tokens
	return nil
}

// find counts which values of a step are in the text of a window.
func (c *Counts) find(t *turn, text string) {
	values := t.steps[t.step].values
	c.Values += len(values)
	for i := range values {
		v := &values[i]
		c.Support += btoi(strings.Contains(text, v.text))
		if v.grounded(text) {
			c.Grounded++
			continue
		}
		c.Lost = dearest(append(c.Lost, Lost{Conversation: t.id, Message: t.steps[t.step].message.number, Value: first(v.text, mostCharacters), Tokens: t.least(v.text)}))
	}
}

// price returns the cost of tokens. The products are rounded before they are
// added, on every processor.
func price(read, written int) float64 {
	return float64(priceRead*float64(read)) + float64(priceWrite*float64(written))
}

// cost returns the cost of a window by the model of a cache, and the prefixes
// that the cache then holds. same is how many pieces at the start were sent
// before. Without marks, breakpoints are placed as in a session in which the
// system prompts and the task are pinned.
func (w window) cost(m *cupelsession.CacheModel, same int, marks []int, held []cupelsession.Prefix) (float64, []cupelsession.Prefix) {
	r := cupelsession.CacheRequest{Tokens: make([]int, len(w)), Blocks: make([]int, len(w)), Same: same, Breakpoints: marks, Held: held}
	for i := range w {
		r.Tokens[i], r.Blocks[i] = w[i].tokens, w[i].blocks
		if r.System == i && w[i].role == "system" {
			r.System++
		}
	}
	r.Pinned = r.System
	if r.System < len(w) && w[r.System].role == "user" {
		r.Pinned++
	}
	use, held := m.Use(r)
	return use.Cost, held
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}
