package eval

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"sync"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupelrelevance"
)

// Option configures [Run].
type Option func(*config)

// WithWorkers sets how many conversations are measured concurrently, at least
// 0. The default, 0, means the number of processors. The result does not depend
// on it.
func WithWorkers(n int) Option {
	return func(c *config) { c.workers = n }
}

// WithProgress calls progress after each question with the number done and the
// total. It is called from several goroutines, but never concurrently. nil
// disables it.
func WithProgress(progress func(done, total int)) Option {
	return func(c *config) { c.progress = progress }
}

// WithAgainst compares the recall of each policy with that of the policy of this
// name. "" disables it.
func WithAgainst(policy string) Option {
	return func(c *config) { c.against = policy }
}

type config struct {
	policies []Policy
	against  string
	budgets  []int
	workers  int
	progress func(done, total int)
}

// Result is the result of [Run].
type Result struct {
	Conversations int            `json:"conversations"`
	Questions     int            `json:"questions"`
	Budgets       []int          `json:"budgets"` // in tokens
	Policies      []PolicyResult `json:"policies"`
}

// PolicyResult is the result of one policy.
type PolicyResult struct {
	Name   string  `json:"name"`
	InTurn bool    `json:"inTurn,omitempty"` // the policy has [Policy.InTurn]
	Points []Point `json:"points"`           // by budget
}

// Point is the result of a policy at a budget, averaged over the questions. All
// shares are in [0,1].
type Point struct {
	Budget    int     `json:"budget"`    // in tokens
	Recall    float64 `json:"recall"`    // share of the evidence that was selected
	Precision float64 `json:"precision"` // share of the selected items that are evidence; 0 for none selected
	Use       float64 `json:"use"`       // share of the budget that was used
	// Cost is what the windows cost with a prompt cache, as a share of what writing
	// the whole budget to it costs: 0.1 a token for the prefix that the question
	// before had, 1.25 for the rest.
	Cost float64 `json:"cost"`

	// RecallInterval is nil if fewer than two conversations have questions.
	RecallInterval *Interval `json:"recallInterval,omitempty"`
	// Against compares the point with the policy of [WithAgainst]. It is nil
	// without one, and in the points of that policy.
	Against *Against `json:"against,omitempty"`
}

// add adds the shares of another point.
func (p *Point) add(q Point) {
	p.Recall += q.Recall
	p.Precision += q.Precision
	p.Use += q.Use
	p.Cost += q.Cost
}

func (c *config) validate() error {
	bad := func(field, value, reason string) error {
		return &cupel.InvalidConfigError{Component: "eval.Run", Field: field, Value: value, Reason: reason}
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

// Run runs every policy for every question at every budget. It requires at
// least one policy, with distinct names, and at least one budget, in tokens,
// positive and ascending. The same input gives the same result, bit for bit. It
// returns a [cupel.InvalidConfigError], the error of a policy or its pipeline,
// or ctx.Err() if ctx is done first. No goroutine outlives it.
func Run(ctx context.Context, conversations []Conversation, policies []Policy, budgets []int, opts ...Option) (*Result, error) {
	config := config{policies: policies, budgets: budgets}
	for _, opt := range opts {
		if opt != nil {
			opt(&config)
		}
	}
	if err := config.validate(); err != nil {
		return nil, err
	}
	r := &runner{config: config, points: make([][]Point, len(conversations))}
	for _, c := range conversations {
		r.total += len(c.Questions)
	}
	workers := config.workers
	if workers == 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	// Run returns the error of the first failing conversation, regardless of
	// which worker fails first: an error does not stop earlier conversations.
	errs := make([]error, len(conversations))
	var next int
	var mu sync.Mutex
	var group sync.WaitGroup
	failed := len(conversations)
	for range min(workers, len(conversations)) {
		group.Go(func() {
			for {
				mu.Lock()
				i := next
				next++
				stop := i >= failed
				mu.Unlock()
				if stop {
					return
				}
				if errs[i] = r.conversation(ctx, i, &conversations[i]); errs[i] != nil {
					mu.Lock()
					failed = min(failed, i)
					mu.Unlock()
				}
			}
		})
	}
	group.Wait()
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return r.result(conversations), ctx.Err()
}

// runner is the state of one Run.
type runner struct {
	config config
	total  int
	points [][]Point // by conversation: sums over its questions, by policy and budget

	mu   sync.Mutex
	done int
}

// conversation measures one conversation.
func (r *runner) conversation(ctx context.Context, at int, c *Conversation) error {
	items, err := c.ContextItems()
	if err != nil {
		return err
	}
	index, err := cupelrelevance.NewIndex()
	if err != nil {
		return err
	}
	sums := make([]Point, len(r.config.policies)*len(r.config.budgets))
	states := make([]asked, len(sums))
	for _, q := range c.Questions {
		for p, policy := range r.config.policies {
			first, n := p*len(r.config.budgets), len(r.config.budgets)
			if err := r.question(ctx, policy, index, items, q, sums[first:][:n], states[first:][:n]); err != nil {
				if ctx.Err() != nil {
					return ctx.Err()
				}
				return fmt.Errorf("cupel: policy %q on conversation %q: %w", policy.Name, c.ID, err)
			}
		}
		r.progress()
	}
	r.points[at] = sums
	return nil
}

// question adds the results of one policy to points.
func (r *runner) question(ctx context.Context, policy Policy, index *cupelrelevance.Index, items []*cupel.ContextItem, q Question, points []Point, states []asked) error {
	pipeline, err := policy.New(index, q.Query)
	if err != nil {
		return err
	}
	choose, err := chooser(ctx, policy, pipeline, items)
	if err != nil {
		return err
	}
	evidence := make(map[int]bool, len(q.Evidence))
	for _, at := range q.Evidence {
		evidence[at] = true
	}
	for i, tokens := range r.config.budgets {
		budget, err := cupel.NewContextBudget(tokens, tokens)
		if err != nil {
			return err
		}
		selected, window, err := choose(ctx, &states[i], budget)
		if err != nil {
			return err
		}
		found, used := 0, 0
		for _, item := range window {
			used += item.Tokens()
		}
		for _, at := range selected {
			if evidence[at] {
				found++
			}
		}
		points[i].add(Point{
			Recall:    float64(found) / float64(len(evidence)),
			Precision: float64(found) / float64(max(1, len(selected))),
			Use:       float64(used) / float64(tokens),
			Cost:      states[i].pay(window) / (PriceWrite * float64(tokens)),
		})
	}
	return nil
}

// chooser returns what selects the items for a question: the pipeline, which scores
// them once for all budgets, or what asks in turn.
func chooser(ctx context.Context, policy Policy, pipeline *cupel.Pipeline, items []*cupel.ContextItem) (func(context.Context, *asked, cupel.ContextBudget) ([]int, []*cupel.ContextItem, error), error) {
	if policy.InTurn != nil {
		return func(ctx context.Context, a *asked, budget cupel.ContextBudget) ([]int, []*cupel.ContextItem, error) {
			if a.ask == nil {
				a.ask = policy.InTurn()
			}
			return a.ask(ctx, pipeline, items, budget)
		}, nil
	}
	prepared, err := pipeline.Prepare(ctx, items)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, _ *asked, budget cupel.ContextBudget) ([]int, []*cupel.ContextItem, error) {
		selected, err := prepared.Select(ctx, budget)
		window := make([]*cupel.ContextItem, len(selected))
		for i, at := range selected {
			window[i] = items[at]
		}
		return selected, window, err
	}, nil
}

func (r *runner) progress() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.done++
	if r.config.progress != nil {
		r.config.progress(r.done, r.total)
	}
}
