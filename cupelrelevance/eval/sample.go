package eval

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/wollax/cupel-go/internal/tally"
)

// Plan says what is measured. Samples add up to one table if their plans are equal.
type Plan struct {
	Policies []Planned `json:"policies"`
	Budgets  []int     `json:"budgets"`           // in tokens
	Against  string    `json:"against,omitempty"` // of [WithAgainst]
}

// Planned is a policy of a plan.
type Planned struct {
	Name   string `json:"name"`
	InTurn bool   `json:"inTurn,omitempty"`
}

func (p *Plan) equal(q *Plan) bool {
	return slices.Equal(p.Policies, q.Policies) && slices.Equal(p.Budgets, q.Budgets) && p.Against == q.Against
}

// opponent returns the policy that all are compared with, or -1.
func (p *Plan) opponent() int {
	return slices.IndexFunc(p.Policies, func(q Planned) bool { return q.Name == p.Against })
}

// Sample is what one conversation says of all policies and budgets.
type Sample struct {
	File         string `json:"file,omitempty"` // where the conversation is, with Line
	Line         int    `json:"line,omitempty"`
	Conversation string `json:"conversation,omitempty"` // its id
	Questions    int    `json:"questions,omitempty"`
	// Error says why there are no sums, such as that the line is damaged.
	Error string `json:"error,omitempty"`
	Sums  []Sums `json:"sums,omitempty"` // by policy, then by budget

	err error
}

// Err returns the first error of a sample that was measured in this process: its
// own or that of a policy, or nil.
func (s *Sample) Err() error { return s.err }

// Sums adds up the shares of a [Point] over the questions about a conversation. If
// the policy failed at one of them, all are 0, and Failure says why.
type Sums struct {
	Recall    float64 `json:"recall,omitempty"`
	Precision float64 `json:"precision,omitempty"`
	Use       float64 `json:"use,omitempty"`
	Cost      float64 `json:"cost,omitempty"`
	Failure   string  `json:"failure,omitempty"`
}

// valid reports whether a conversation with so many questions can have these sums,
// which a file of samples may have from anywhere. Sums over conversations stay finite.
func (s *Sums) valid(questions int) bool {
	most := float64(questions)
	within := func(x, most float64) bool { return x >= 0 && x <= most }
	return questions >= 0 && questions <= math.MaxInt32 &&
		within(s.Recall, most) && within(s.Precision, most) && within(s.Use, math.MaxInt32) && within(s.Cost, math.MaxInt32)
}

// Table adds up samples. Any order of them, and any way of cutting them into
// tables that are merged, gives the same result, bit for bit. Its size depends on
// the plan alone. The JSON of a table is for [Table.Merge] in another process with
// the same release.
type Table struct {
	Plan          Plan    `json:"plan"`
	Conversations int     `json:"conversations"` // that were measured
	Questions     int     `json:"questions"`
	Failed        int     `json:"failed"` // samples without sums
	Cells         []*cell `json:"cells"`  // by policy, then by budget
}

// cell is what a table keeps of a policy at a budget.
type cell struct {
	Recall, Precision, Use, Cost tally.Ratio // by questions
	Difference                   tally.Ratio // in recall, to the policy to compare with
	Signs                        tally.Signs
	Failures                     int
	First                        *placed `json:",omitempty"`
}

// placed is the first failure, and where its conversation is.
type placed struct {
	File string
	Line int
	Failure
}

func (c *cell) first(p *placed) {
	if p != nil && (c.First == nil || cmp.Or(cmp.Compare(p.File, c.First.File), cmp.Compare(p.Line, c.First.Line), cmp.Compare(p.Conversation, c.First.Conversation)) < 0) {
		c.First = p
	}
}

// NewTable returns a table without samples.
func NewTable(plan Plan) *Table {
	t := &Table{Plan: plan, Cells: make([]*cell, len(plan.Policies)*len(plan.Budgets))}
	for i := range t.Cells {
		t.Cells[i] = new(cell)
	}
	return t
}

// Add adds a sample. It fails if the sample is not of the table's plan, or has sums
// that no conversation has.
func (t *Table) Add(s *Sample) error {
	if s.Error != "" {
		t.Failed++
		return nil
	}
	if len(s.Sums) != len(t.Cells) {
		return fmt.Errorf("cupel: the sample of conversation %q has %d sums, and the table %d: it was measured by another plan", s.Conversation, len(s.Sums), len(t.Cells))
	}
	for i := range s.Sums {
		if !s.Sums[i].valid(s.Questions) {
			return fmt.Errorf("cupel: the sample of conversation %q has sums that cannot be: it is damaged", s.Conversation)
		}
	}
	t.Conversations++
	t.Questions += s.Questions
	opponent, questions := t.Plan.opponent(), float64(s.Questions)
	for i, cell := range t.Cells {
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

// Merge adds the samples of another table of the same plan.
func (t *Table) Merge(other *Table) error {
	if !t.Plan.equal(&other.Plan) || len(t.Cells) != len(other.Cells) {
		return fmt.Errorf("cupel: tables of other policies or budgets cannot be merged: %+v and %+v", t.Plan, other.Plan)
	}
	t.Conversations += other.Conversations
	t.Questions += other.Questions
	t.Failed += other.Failed
	for i, cell := range t.Cells {
		from := other.Cells[i]
		cell.Recall.Merge(&from.Recall)
		cell.Precision.Merge(&from.Precision)
		cell.Use.Merge(&from.Use)
		cell.Cost.Merge(&from.Cost)
		cell.Difference.Merge(&from.Difference)
		cell.Signs.Merge(&from.Signs)
		cell.Failures += from.Failures
		cell.first(from.First)
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
			c := t.Cells[p*len(points)+i]
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
		result.Policies = append(result.Policies, PolicyResult{Name: policy.Name, InTurn: policy.InTurn, Points: points})
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
