package eval

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strconv"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupelrelevance"
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

// WithAgainst compares the recall of each policy with the recall of the policy of
// this name. "" disables it.
func WithAgainst(policy string) Option {
	return func(c *config) { c.against = policy }
}

type config struct {
	policies []Policy
	against  string
	budgets  []int
	workers  int
}

// Result is the result of a [Table].
type Result struct {
	Conversations int            `json:"conversations"`
	Questions     int            `json:"questions"`
	Failed        int            `json:"failed,omitempty"` // conversations that could not be read
	Budgets       []int          `json:"budgets"`          // in tokens
	Policies      []PolicyResult `json:"policies"`
}

// PolicyResult is the result of one policy.
type PolicyResult struct {
	Name   string  `json:"name"`
	Points []Point `json:"points"` // by budget
}

// Point is the result of a policy at a budget, averaged over the questions. All
// shares are in [0,1].
type Point struct {
	Budget    int     `json:"budget"`    // in tokens
	Recall    float64 `json:"recall"`    // share of the evidence that was selected
	Precision float64 `json:"precision"` // share of the selected items that are evidence; 0 for none selected
	Use       float64 `json:"use"`       // share of the budget that was used
	// Cost is the cost of the windows with a prompt cache, as a share of the cost
	// of writing the whole budget to it. A token costs 0.1 in the prefix that the
	// previous question had, and 1.25 in the rest.
	Cost float64 `json:"cost"`

	// RecallInterval is nil if fewer than two conversations have questions.
	RecallInterval *Interval `json:"recallInterval,omitempty"`
	// Against compares the point with the policy of [WithAgainst]. It is nil
	// without one, and in the points of that policy.
	Against *Against `json:"against,omitempty"`

	// Failures counts the conversations on which the policy failed, and so selected
	// nothing. First is the first such failure.
	Failures int      `json:"failures,omitempty"`
	First    *Failure `json:"firstFailure,omitempty"`
}

func (c *config) validate() error {
	bad := func(field, value, reason string) error {
		return &cupel.InvalidConfigError{Component: "eval.NewMeasure", Field: field, Value: value, Reason: reason}
	}
	if len(c.policies) == 0 {
		return bad("policies", "", "at least one policy is required")
	}
	for i, p := range c.policies {
		where := fmt.Sprintf("policies[%d]", i)
		if p.Name == "" || p.New == nil {
			return bad(where, "", "a policy must have a name and a New")
		}
		if slices.ContainsFunc(c.policies[:i], func(other Policy) bool { return other.Name == p.Name }) {
			return bad(where, strconv.Quote(p.Name), "policies must have different names")
		}
	}
	if c.against != "" && !slices.ContainsFunc(c.policies, func(p Policy) bool { return p.Name == c.against }) {
		return bad("against", strconv.Quote(c.against), "the policy to compare with is not among the policies")
	}
	if len(c.budgets) == 0 {
		return bad("budgets", "", "at least one budget is required")
	}
	for i, b := range c.budgets {
		if b <= 0 || i > 0 && b <= c.budgets[i-1] {
			return bad(fmt.Sprintf("budgets[%d]", i), strconv.Itoa(b), "budgets must be positive and ascending")
		}
	}
	if c.workers < 0 {
		return bad("workers", strconv.Itoa(c.workers), "workers must be at least 0")
	}
	return nil
}

// Measure measures policies on conversations.
type Measure struct {
	config config
	plan   Plan
}

// NewMeasure returns a measure of policies at budgets. It requires at least one
// policy, with distinct names, and at least one budget, in tokens, positive and
// ascending. It returns a [cupel.InvalidConfigError].
func NewMeasure(policies []Policy, budgets []int, opts ...Option) (*Measure, error) {
	m := &Measure{config: config{policies: policies, budgets: budgets}}
	for _, opt := range opts {
		if opt != nil {
			opt(&m.config)
		}
	}
	m.plan = Plan{Budgets: budgets, Against: m.config.against}
	for _, p := range policies {
		m.plan.Policies = append(m.plan.Policies, p.Name)
	}
	if err := m.config.validate(); err != nil {
		return nil, err
	}
	return m, nil
}

// Plan returns the plan of the measure, for [NewTable].
func (m *Measure) Plan() Plan { return m.plan }

// Samples yields the sample of each conversation, in order, and measures several
// concurrently. For a [ReadError] it yields a sample without sums. The sums record
// the failure of a policy. Any other error ends the sequence: an error of
// conversations, or ctx.Err() if ctx is done first. No goroutine outlives the loop.
func (m *Measure) Samples(ctx context.Context, conversations iter.Seq2[Conversation, error]) iter.Seq2[Sample, error] {
	return ordered.Map(ctx, m.config.workers, conversations, func(ctx context.Context, c Conversation, err error) (Sample, error) {
		if bad, ok := errors.AsType[*ReadError](err); ok {
			return Sample{File: bad.File, Line: bad.Line, Error: bad.Reason, err: bad}, nil
		}
		if err != nil {
			return Sample{}, err
		}
		return m.Sample(ctx, &c)
	})
}

// Sample measures every policy for every question about a conversation at every
// budget. The same conversation gives the same sample, bit for bit. A policy that
// fails counts as selecting nothing, and its sums record the failure. Sample
// returns ctx.Err() if ctx is done first.
func (m *Measure) Sample(ctx context.Context, c *Conversation) (Sample, error) {
	s := Sample{File: c.File, Line: c.Line, Conversation: c.ID, Questions: len(c.Questions)}
	items, err := c.ContextItems()
	if err != nil {
		s.Error, s.err = err.Error(), err
		return s, nil //nolint:nilerr // it is the sample's
	}
	index, err := cupelrelevance.NewIndex()
	if err != nil {
		return Sample{}, err
	}
	n := len(m.config.budgets)
	s.Sums = make([]Sums, len(m.config.policies)*n)
	before := make([]window, len(s.Sums))
	failed := make([]error, len(m.config.policies))
	for _, q := range c.Questions {
		for p, policy := range m.config.policies {
			if failed[p] == nil {
				failed[p] = m.question(ctx, policy, index, items, q, s.Sums[p*n:][:n], before[p*n:][:n])
			}
			if ctx.Err() != nil {
				return Sample{}, ctx.Err()
			}
		}
	}
	for p, err := range failed {
		if err == nil {
			continue
		}
		for i := range s.Sums[p*n:][:n] {
			s.Sums[p*n+i] = Sums{Failure: err.Error()}
		}
		s.err = cmp.Or(s.err, fmt.Errorf("cupel: policy %q on conversation %q: %w", m.config.policies[p].Name, c.ID, err))
	}
	return s, nil
}

// question adds the results of one policy to sums. before has the windows of the
// question before, which it replaces.
func (m *Measure) question(ctx context.Context, policy Policy, index *cupelrelevance.Index, items []*cupel.ContextItem, q Question, sums []Sums, before []window) error {
	pipeline, err := policy.New(index, q.Query)
	if err != nil {
		return err
	}
	prepared, err := pipeline.Prepare(ctx, items)
	if err != nil {
		return err
	}
	evidence := make(map[int]bool, len(q.Evidence))
	for _, at := range q.Evidence {
		evidence[at] = true
	}
	for i, tokens := range m.config.budgets {
		budget, err := cupel.NewContextBudget(tokens, tokens)
		if err != nil {
			return err
		}
		selected, err := prepared.Select(ctx, budget)
		if err != nil {
			return err
		}
		sent, found, used := make(window, len(selected)), 0, 0
		for n, at := range selected {
			sent[n] = items[at]
			used += items[at].Tokens()
			if evidence[at] {
				found++
			}
		}
		sums[i].Recall += float64(found) / float64(len(evidence))
		sums[i].Precision += float64(found) / float64(max(1, len(selected)))
		sums[i].Use += float64(used) / float64(tokens)
		sums[i].Cost += sent.cost(before[i]) / (priceWrite * float64(tokens))
		before[i] = sent
	}
	return nil
}

// Prices of a token with a prompt cache, in units of a token without one.
const (
	priceRead  = 0.1  // of a token in the prefix that the last question sent too
	priceWrite = 1.25 // of any other token
)

// window is what is sent for a question.
type window []*cupel.ContextItem

// cost returns what a window costs after another one.
func (w window) cost(before window) float64 {
	cost, same := 0.0, true
	for i, item := range w {
		same = same && i < len(before) && before[i].Content() == item.Content()
		price := priceWrite
		if same {
			price = priceRead
		}
		cost += float64(price * float64(item.Tokens()))
	}
	return cost
}
