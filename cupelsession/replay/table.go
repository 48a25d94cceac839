package replay

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"

	"github.com/wollax/cupel-go/internal/tally"
)

// Table adds up samples. Any order of them, and any way of cutting them into tables that are merged, gives
// the same result, bit for bit. Dividing the conversations into other files changes only the file names and
// lines in it. Its size depends on the plan alone. The JSON of a table is for [Table.Merge] in another
// process with the same release.
type Table struct {
	Plan          Plan    `json:"plan"`
	Conversations int     `json:"conversations"` // conversations measured
	Failed        int     `json:"failed"`        // samples without counts
	Cells         []*cell `json:"cells"`         // by share, then by policy
	// Worst are the ten conversations in which each policy misses most.
	Worst [][]Worst `json:"worst"`
}

// cell is a table's data on a policy at a share.
type cell struct {
	Steps    int
	Values   int
	Failures int
	First    *placed `json:",omitempty"`

	Ratios  []tally.Ratio // of the columns of a [Row]
	Against tally.Ratio   // of the differences in grounded values

	Lost []Lost `json:",omitempty"`
}

// placed is the first failure, and the place where its conversation begins.
type placed struct {
	File string
	Line int
	Failure
}

// compare orders failures by their cause, and then by their places.
func (p *placed) compare(q *placed) int {
	return cmp.Or(cmp.Compare(p.Conversation, q.Conversation), cmp.Compare(p.Step, q.Step), cmp.Compare(p.Reason, q.Reason),
		cmp.Compare(p.File, q.File), cmp.Compare(p.Line, q.Line))
}

// first keeps the failure that comes first.
func (c *cell) first(p *placed) {
	if p != nil && (c.First == nil || p.compare(c.First) < 0) {
		c.First = p
	}
}

// NewTable returns a table without samples.
func NewTable(plan Plan) *Table {
	t := &Table{Plan: plan, Cells: make([]*cell, len(plan.Shares)*len(plan.Policies)), Worst: make([][]Worst, len(plan.Policies))}
	for i := range t.Cells {
		t.Cells[i] = &cell{Ratios: make([]tally.Ratio, len(new(Counts).ratios())+len(plan.Caches))}
	}
	return t
}

// Add adds a sample. It fails if the sample is not of the table's plan.
func (t *Table) Add(s *Sample) error {
	if s.Error != "" {
		t.Failed++
		return nil
	}
	if len(s.Counts) != len(t.Cells) {
		return fmt.Errorf("cupel: the sample of conversation %q has %d counts, and the table %d: it was measured with another plan", s.Conversation, len(s.Counts), len(t.Cells))
	}
	for i := range s.Counts {
		if len(s.Counts[i].Caches) != len(t.Plan.Caches) {
			return fmt.Errorf("cupel: the sample of conversation %q has the costs of %d caches, and the table %d: it was measured with another plan", s.Conversation, len(s.Counts[i].Caches), len(t.Plan.Caches))
		}
	}
	t.Conversations++
	opponent := t.Plan.opponent()
	for i := range t.Worst {
		t.worst(i, opponent, s)
	}
	for i, cell := range t.Cells {
		c := &s.Counts[i]
		cell.Steps += c.Steps
		cell.Values += c.Values
		cell.Failures += c.Failures
		if c.First != nil {
			cell.first(&placed{s.File, s.Line, *c.First})
		}
		for k, r := range c.ratios() {
			cell.Ratios[k].Add(r.Cost, r.Whole)
		}
		cell.lose(s.placed(c.Lost))
		if opponent >= 0 {
			other := &s.Counts[i-i%len(t.Plan.Policies)+opponent]
			cell.Against.Add(float64(c.Grounded-other.Grounded), float64(c.Values))
		}
	}
	return nil
}

// Merge adds the samples of another table of the same plan.
func (t *Table) Merge(other *Table) error {
	if !reflect.DeepEqual(t.Plan, other.Plan) || len(t.Cells) != len(other.Cells) || len(t.Worst) != len(other.Worst) {
		return fmt.Errorf("cupel: tables with different policies or shares cannot be merged: %+v and %+v", t.Plan, other.Plan)
	}
	t.Conversations += other.Conversations
	t.Failed += other.Failed
	for i := range t.Worst {
		t.Worst[i] = tenWorst(slices.Concat(t.Worst[i], other.Worst[i]))
	}
	for i, cell := range t.Cells {
		from := other.Cells[i]
		cell.Steps += from.Steps
		cell.Values += from.Values
		cell.Failures += from.Failures
		cell.first(from.First)
		cell.lose(from.Lost)
		cell.Against.Merge(&from.Against)
		for k := range cell.Ratios {
			cell.Ratios[k].Merge(&from.Ratios[k])
		}
	}
	return nil
}

// opponent returns the policy with which all are compared, or -1.
func (p *Plan) opponent() int {
	return slices.IndexFunc(p.Policies, func(q Planned) bool { return q.Name == p.Against })
}

// Result returns the figures.
func (t *Table) Result() *Result {
	result := &Result{Conversations: t.Conversations, Failed: t.Failed}
	opponent := t.Plan.opponent()
	for k, share := range t.Plan.Shares {
		for i, p := range t.Plan.Policies {
			c := t.Cells[k*len(t.Plan.Policies)+i]
			row := Row{Policy: p.Name, Share: share, Mode: p.Mode, title: p.Title, Values: c.Values, Steps: c.Steps, Failures: c.Failures}
			if c.First != nil {
				row.First = &c.First.Failure
			}
			for _, name := range t.Plan.Caches {
				row.Caches = append(row.Caches, CacheCost{Cache: name})
			}
			for n, f := range row.columns() {
				*f.value = c.Ratios[n].Value()
				f.interval.Low, f.interval.High, _ = c.Ratios[n].Interval(0, f.most)
			}
			if opponent >= 0 && i != opponent && t.Conversations > 0 {
				a := &Against{Policy: t.Plan.Against, Difference: c.Against.Value()}
				a.Low, a.High = a.Difference, a.Difference
				if low, high, ok := c.Against.Interval(-1, 1); ok {
					a.Low, a.High = low, high
				}
				row.Against = a
			}
			result.Rows = append(result.Rows, row)
			result.Lost = append(result.Lost, c.lostBy(&row)...)
		}
	}
	for i, list := range t.Worst {
		for _, w := range list {
			w.title = t.Plan.Policies[i].Title
			result.Worst = append(result.Worst, w)
		}
	}
	return result
}
