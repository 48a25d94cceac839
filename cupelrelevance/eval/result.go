package eval

import (
	"slices"

	"github.com/wollax/cupel-go/internal/resample"
)

// Interval is a 95 % interval over conversations like those that were measured:
// a bootstrap that draws whole conversations. A few say little.
type Interval struct {
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// Against compares the recall of a policy with that of another one at the same
// budget.
type Against struct {
	Policy     string  `json:"policy"`
	Difference float64 `json:"difference"` // in [-1,1], positive if this policy finds more
	// Interval is that of the difference, nil if fewer than two conversations have
	// questions.
	Interval *Interval `json:"interval,omitempty"`
	// P is how likely a difference of this size or more is if the two policies are
	// equally good: a randomization test that exchanges the two in each
	// conversation. It is in (0,1], and at least 0.5^(n-1) for n conversations.
	P float64 `json:"p"`
}

// result adds up the conversations in their order.
func (r *runner) result(conversations []Conversation) *Result {
	result := &Result{Conversations: len(conversations), Questions: r.total, Budgets: slices.Clone(r.config.budgets)}
	n := float64(max(1, r.total))
	// Conversations without questions say nothing, and are not drawn.
	var asked []int
	for c := range conversations {
		if len(conversations[c].Questions) > 0 {
			asked = append(asked, c)
		}
	}
	at := func(conversation, policy, budget int) Point {
		return r.points[conversation][policy*len(result.Budgets)+budget]
	}
	// interval returns the interval of the sum of a figure of conversations, for
	// each of their questions.
	interval := func(sum func(conversation int) float64) *Interval {
		if len(asked) < 2 {
			return nil
		}
		low, high := resample.Interval(len(asked), func(draw func(int) int) float64 {
			total, questions := 0.0, 0
			for i := range asked {
				c := asked[draw(i)]
				total += sum(c)
				questions += len(conversations[c].Questions)
			}
			return total / float64(questions)
		})
		return &Interval{low, high}
	}
	opponent := slices.IndexFunc(r.config.policies, func(p Policy) bool { return p.Name == r.config.against })
	for p, policy := range r.config.policies {
		points := make([]Point, len(result.Budgets))
		for i, budget := range result.Budgets {
			point := &points[i]
			for _, c := range asked {
				point.add(at(c, p, i))
			}
			*point = Point{Budget: budget, Recall: point.Recall / n, Precision: point.Precision / n, Use: point.Use / n, Cost: point.Cost / n}
			point.RecallInterval = interval(func(c int) float64 { return at(c, p, i).Recall })
			if opponent < 0 || p == opponent {
				continue
			}
			difference := func(c int) float64 { return at(c, p, i).Recall - at(c, opponent, i).Recall }
			differences, sum := make([]float64, len(asked)), 0.0
			for k, c := range asked {
				differences[k] = difference(c)
				sum += differences[k]
			}
			point.Against = &Against{Policy: r.config.against, Difference: sum / n, Interval: interval(difference), P: resample.P(differences)}
		}
		result.Policies = append(result.Policies, PolicyResult{Name: policy.Name, InTurn: policy.InTurn != nil, Points: points})
	}
	return result
}
