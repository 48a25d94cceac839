package eval

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/wollax/cupel-go/internal/tally"
)

// Plan describes a measurement.
type Plan struct {
	Policies []string // their names
	Budgets  []int    // in tokens
	Against  string   // of [WithAgainst]
}

// opponent returns the policy with which all are compared, or -1.
func (p *Plan) opponent() int {
	return slices.Index(p.Policies, p.Against)
}

// Sample is the result of one conversation for all policies and budgets.
type Sample struct {
	File         string // where the conversation is, with Line
	Line         int
	Conversation string // its id
	Questions    int
	// Error is the reason why there are no sums, such as a damaged line.
	Error string
	Sums  []Sums // by policy, then by budget

	err error
}

// Err returns the first error of a sample that was measured in this process: its
// own or that of a policy, or nil.
func (s *Sample) Err() error { return s.err }

// Sums adds up the shares of a [Point] over the questions about a conversation. If
// the policy failed at one of them, all are 0, and Failure is the reason.
type Sums struct {
	Recall, Precision, Use, Cost float64
	Failure                      string
}

// Table adds up samples. Any order of them gives the same result, bit for bit. Its
// size depends on the plan alone.
type Table struct {
	Plan          Plan
	Conversations int // conversations measured
	Questions     int
	Failed        int     // samples without sums
	cells         []*cell // by policy, then by budget
}

// cell is a table's data on a policy at a budget.
type cell struct {
	Recall, Precision, Use, Cost tally.Ratio // by questions
	Difference                   tally.Ratio // in recall, to the policy to compare with
	Signs                        tally.Signs
	Failures                     int
	First                        *placed
}

// placed is the first failure, and the place of its conversation.
type placed struct {
	File string
	Line int
	Failure
}

func (c *cell) first(p *placed) {
	if c.First == nil || cmp.Or(cmp.Compare(p.File, c.First.File), cmp.Compare(p.Line, c.First.Line), cmp.Compare(p.Conversation, c.First.Conversation)) < 0 {
		c.First = p
	}
}

// NewTable returns a table without samples.
func NewTable(plan Plan) *Table {
	t := &Table{Plan: plan, cells: make([]*cell, len(plan.Policies)*len(plan.Budgets))}
	for i := range t.cells {
		t.cells[i] = new(cell)
	}
	return t
}

// Add adds a sample. It fails if the sample is not of the table's plan.
func (t *Table) Add(s *Sample) error {
	if s.Error != "" {
		t.Failed++
		return nil
	}
	if len(s.Sums) != len(t.cells) {
		return fmt.Errorf("cupel: the sample of conversation %q has %d sums, and the table %d: it was measured with another plan", s.Conversation, len(s.Sums), len(t.cells))
	}
	t.Conversations++
	t.Questions += s.Questions
	opponent, questions := t.Plan.opponent(), float64(s.Questions)
	for i, cell := range t.cells {
		sums := &s.Sums[i]
		cell.Recall.Add(sums.Recall, questions)
		cell.Precision.Add(sums.Precision, questions)
		cell.Use.Add(sums.Use, questions)
		cell.Cost.Add(sums.Cost, questions)
		if sums.Failure != "" {
			cell.Failures++
			cell.first(&placed{s.File, s.Line, Failure{s.Conversation, sums.Failure}})
		}
		if opponent >= 0 {
			difference := sums.Recall - s.Sums[opponent*len(t.Plan.Budgets)+i%len(t.Plan.Budgets)].Recall
			cell.Difference.Add(difference, questions)
			cell.Signs.Add(difference)
		}
	}
	return nil
}

// Result returns the figures.
func (t *Table) Result() *Result {
	result := &Result{Conversations: t.Conversations, Questions: t.Questions, Failed: t.Failed, Budgets: slices.Clone(t.Plan.Budgets)}
	opponent := t.Plan.opponent()
	for p, policy := range t.Plan.Policies {
		points := make([]Point, len(result.Budgets))
		for i, budget := range result.Budgets {
			c := t.cells[p*len(points)+i]
			points[i] = Point{
				Budget: budget, Recall: c.Recall.Value(), Precision: c.Precision.Value(), Use: c.Use.Value(), Cost: c.Cost.Value(),
				RecallInterval: interval(&c.Recall, 0), Failures: c.Failures,
			}
			if c.First != nil {
				points[i].First = &c.First.Failure
			}
			if opponent >= 0 && p != opponent {
				points[i].Against = &Against{Policy: t.Plan.Against, Difference: c.Difference.Value(), Interval: interval(&c.Difference, -1), P: c.Signs.P()}
			}
		}
		result.Policies = append(result.Policies, PolicyResult{Name: policy, Points: points})
	}
	return result
}

// interval returns the interval of a figure of at least low and at most 1, or nil.
func interval(r *tally.Ratio, low float64) *Interval {
	from, to, ok := r.Interval(low, 1)
	if !ok || math.IsNaN(from) {
		return nil
	}
	return &Interval{from, to}
}
