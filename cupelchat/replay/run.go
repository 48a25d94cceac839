package replay

import (
	"context"

	"fmt"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupelsession"
)

// Option configures [Run].
type Option func(*config)

// WithCounter sets what counts the text of a message; 4 tokens are added for
// each message. The default is [Characters].
func WithCounter(counter cupel.TokenCounter) Option {
	return func(c *config) { c.counter = counter }
}

// WithWorkers sets how many conversations are measured concurrently, at least
// 0. The default, 0, means the number of processors. The result does not depend
// on it.
func WithWorkers(n int) Option {
	return func(c *config) { c.workers = n }
}

// WithProgress calls progress after each conversation and policy with the
// number of windows chosen and the total. It is called from several goroutines,
// but never concurrently. nil disables it.
func WithProgress(progress func(done, total int)) Option {
	return func(c *config) { c.progress = progress }
}

// WithAgainst compares the grounded support of each policy with that of the first
// one of this name.
func WithAgainst(policy string) Option {
	return func(c *config) { c.against = policy }
}

// WithCache counts what the windows cost with a provider's prompt cache as well, as
// a share of what it costs to send everything each time. No time passes between the
// steps. The model's name is that of the column. The windows do not depend on it.
func WithCache(model cupelsession.CacheModel) Option {
	return func(c *config) { c.cache = &model }
}

type config struct {
	cache    *cupelsession.CacheModel
	policies []Policy
	against  string
	shares   []float64
	counter  cupel.TokenCounter
	workers  int
	progress func(done, total int)
}

func (c *config) validate() error {
	bad := func(field, value, reason string) error {
		return &cupel.InvalidConfigError{Component: "replay.Run", Field: field, Value: value, Reason: reason}
	}
	if len(c.policies) == 0 {
		return bad("policies", "", "at least one policy is required")
	}
	for i, p := range c.policies {
		where := fmt.Sprintf("policies[%d]", i)
		switch {
		case p.Name == "" || p.New == nil && p.units == nil:
			return bad(where, "", "a policy must have a name and a New")
		case p.Mode != Stateless && p.Mode != Session:
			return bad(where, strconv.Quote(string(p.Mode)), "the mode must be Stateless or Session")
		case p.Mode == Session && (p.blocks || p.chooses != nil) && !(p.low > 0 && p.low <= 1):
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
	if c.against != "" && c.opponent() < 0 {
		return bad("against", strconv.Quote(c.against), "it must be the name of one of the policies")
	}
	if c.counter == nil {
		return bad("counter", "", "a token counter is required")
	}
	if c.cache != nil {
		if err := c.cache.Validate(); err != nil {
			return bad("cache", c.cache.Name, err.Error())
		}
	}
	if c.workers < 0 {
		return bad("workers", strconv.Itoa(c.workers), "workers must be at least 0")
	}
	return nil
}

// opponent returns the policy that all are compared with, or -1.
func (c *config) opponent() int {
	return slices.IndexFunc(c.policies, func(p Policy) bool { return p.Name == c.against })
}

// Run measures every policy on every conversation at every share. It requires
// at least one policy, with distinct names, and at least one share, above 0, at
// most 1 and ascending. The same input gives the same result, bit for bit, if
// the policies are deterministic. A policy that fails at a step counts as one
// that sends nothing, and the result says so. Run returns a
// [cupel.InvalidConfigError], the error of the counter, or ctx.Err() if ctx is
// done first. No goroutine outlives it.
func Run(ctx context.Context, conversations []Conversation, policies []Policy, shares []float64, opts ...Option) (*Result, error) {
	config := config{policies: policies, shares: shares, counter: Characters{}}
	for _, opt := range opts {
		if opt != nil {
			opt(&config)
		}
	}
	if err := config.validate(); err != nil {
		return nil, err
	}
	r := &runner{config: config, recordings: make([]*recording, len(conversations))}
	err := r.each(ctx, len(conversations), func(i int) (err error) {
		r.recordings[i], err = record(&conversations[i], newMeter(config.counter))
		return err
	})
	if err != nil {
		return nil, err
	}
	for _, rec := range r.recordings {
		r.total += len(rec.steps) * len(policies) * len(shares)
	}
	// A job is a policy on a conversation, so that a few long conversations keep
	// all processors busy.
	r.sums = make([][]sums, len(conversations)*len(policies))
	err = r.each(ctx, len(r.sums), func(i int) error {
		rec, p := r.recordings[i/len(policies)], &policies[i%len(policies)]
		r.sums[i] = make([]sums, len(shares))
		err := rec.replay(ctx, p, &r.config, newMeter(config.counter), r.sums[i])
		r.advance(len(rec.steps) * len(shares))
		return err
	})
	if err != nil {
		return nil, err
	}
	return r.result(), ctx.Err()
}

// runner is the state of one Run.
type runner struct {
	config
	recordings []*recording
	sums       [][]sums // by conversation and policy: for each share
	total      int

	mu   sync.Mutex
	done int
}

// each calls job with the numbers below n, on all workers, and returns the error
// of the lowest number that failed.
func (r *runner) each(ctx context.Context, n int, job func(i int) error) error {
	workers := r.workers
	if workers == 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	var (
		mu     sync.Mutex
		group  sync.WaitGroup
		next   int
		failed = n
		errs   = make([]error, n)
	)
	for range min(workers, n) {
		group.Go(func() {
			for {
				mu.Lock()
				i := next
				next++
				stop := i >= failed || i >= n || ctx.Err() != nil
				mu.Unlock()
				if stop {
					return
				}
				if errs[i] = job(i); errs[i] != nil {
					mu.Lock()
					failed = min(failed, i)
					mu.Unlock()
				}
			}
		})
	}
	group.Wait()
	if err := ctx.Err(); err != nil {
		return err
	}
	if i := slices.IndexFunc(errs, func(err error) bool { return err != nil }); i >= 0 {
		return errs[i]
	}
	return nil
}

func (r *runner) advance(steps int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.done += steps
	if r.progress != nil {
		r.progress(r.done, r.total)
	}
}

// Prices of an input token, as shares of the plain price.
const (
	priceRead  = 0.1  // from the cache
	priceWrite = 1.25 // new, and written to the cache
)

// sums is what is counted over steps.
type sums struct {
	steps, breaks, recent   int
	values, support, ground int
	tasks, task             int
	sent, room              int     // tokens, where not everything fits
	cost, whole             float64 // at the prices; whole is for sending everything
	model, modelWhole       float64 // the same, by the model of a provider's cache
	failures                int
	first                   *Failure // of them, or nil
}

func (s *sums) add(o *sums) {
	s.steps += o.steps
	s.breaks += o.breaks
	s.recent += o.recent
	s.values += o.values
	s.support += o.support
	s.ground += o.ground
	s.tasks += o.tasks
	s.task += o.task
	s.sent += o.sent
	s.room += o.room
	s.cost += o.cost
	s.whole += o.whole
	s.model += o.model
	s.modelWhole += o.modelWhole
	s.failures += o.failures
	if s.first == nil {
		s.first = o.first
	}
}

// recentUnits is how many of the newest units a window should have whole.
const recentUnits = 3

// fail counts a failure.
func (s *sums) fail(t *turn, reason string) {
	s.failures++
	if s.first == nil {
		s.first = &Failure{Conversation: t.id, Step: t.step, Reason: reason}
	}
}

// run is a policy on one conversation at one share.
type run struct {
	*sums
	chooser   chooser
	policy    *Policy
	limit     int
	before    window
	allBefore int // tokens

	cache     *cupelsession.CacheModel
	held, all []cupelsession.Prefix // by the cache, of the windows and of everything
	units     int                   // of everything, before
}

// replay measures a policy on one conversation. All shares are measured at a
// step before the next one, so that they share what is read.
func (r *recording) replay(ctx context.Context, p *Policy, c *config, m *meter, sums []sums) error {
	runs := make([]run, len(c.shares))
	messages := make(map[string]*Message)
	for k, share := range c.shares {
		runs[k] = run{sums: &sums[k], chooser: p.chooser(messages, c.cache), policy: p, limit: r.limit(share), cache: c.cache}
	}
	for i := range r.steps {
		t := &turn{recording: r, step: i, said: r.steps[i].units, meter: m, shared: new(shared)}
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
	case t.meter.err != nil:
		return t.meter.err
	case err != nil:
		w = nil
		r.fail(t, err.Error())
	}
	same := w.same(r.before)
	total, prefix := w.tokens(), w[:same].tokens()
	if total > budget && !r.policy.over {
		r.fail(t, fmt.Sprintf("the window has %d tokens, %d more than the budget", total, total-budget))
	}
	if r.policy.New != nil && err == nil {
		if reason := t.refusal(w); reason != "" {
			r.fail(t, reason)
		}
	}
	r.cost += price(prefix, total-prefix)
	r.whole += price(r.allBefore, step.tokens-r.allBefore)
	if r.cache != nil {
		sent, _ := everything(t, 0)
		var cost float64
		var marks []int
		if chosen, ok := r.chooser.(*requests); ok {
			marks = chosen.marks
		}
		cost, r.held = w.cost(r.cache, same, marks, r.held)
		r.model += cost
		cost, r.all = sent.cost(r.cache, r.units, nil, r.all)
		r.modelWhole += cost
		r.units = len(sent)
	}
	r.steps++
	r.breaks += btoi(same < len(r.before))
	if step.tokens > budget {
		r.sent += total
		r.room += budget
	}
	if len(step.values) > 0 {
		r.find(step.values, w.text())
	}
	full := t.full(w)
	if first := t.first; first >= 0 && first < t.said {
		needed := fixed
		if !t.pinned(first, t.said) {
			needed += t.units[first].tokens
		}
		if needed <= budget {
			r.tasks++
			r.task += btoi(full[first])
		}
	}
	r.recent += btoi(!slices.Contains(full[max(0, len(full)-recentUnits):], false))
	r.before, r.allBefore = w, step.tokens
	return nil
}

// find counts which values are in the text of a window.
func (s *sums) find(values []value, text string) {
	s.values += len(values)
	for i := range values {
		s.support += btoi(strings.Contains(text, values[i].text))
		s.ground += btoi(values[i].grounded(text))
	}
}

// price returns what tokens cost. The products are rounded before they are
// added, on every processor.
func price(read, written int) float64 {
	return float64(priceRead*float64(read)) + float64(priceWrite*float64(written))
}

// cost returns what a window costs by the model of a cache, where same pieces at
// the start were sent before, and what the cache holds then. Without marks,
// breakpoints stand as in a session in which the system prompts and the task are
// pinned.
func (w window) cost(m *cupelsession.CacheModel, same int, marks []int, held []cupelsession.Prefix) (float64, []cupelsession.Prefix) {
	r := cupelsession.Request{Tokens: make([]int, len(w)), Blocks: make([]int, len(w)), Same: same, Breakpoints: marks, Held: held}
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
