package replay

import (
	"math"
	"slices"
)

// Plan says what is measured. Samples add up to one table if their plans are equal.
type Plan struct {
	Policies []Planned `json:"policies"`
	Shares   []float64 `json:"shares"`
	Against  string    `json:"against,omitempty"` // of [WithAgainst]
	Caches   []string  `json:"caches,omitempty"`  // the names of the models of [WithCache]
}

// Planned is a policy of a plan.
type Planned struct {
	Name  string `json:"name"`
	Title string `json:"title,omitempty"`
	Mode  Mode   `json:"mode"`
}

// Sample is what one conversation says of all policies and shares.
type Sample struct {
	File         string `json:"file,omitempty"` // where the conversation begins, with Line
	Line         int    `json:"line,omitempty"`
	Conversation string `json:"conversation,omitempty"` // its id
	// Error says why there are no counts, such as that the line is damaged.
	Error  string   `json:"error,omitempty"`
	Counts []Counts `json:"counts,omitempty"` // by share, then by policy

	err error
}

// Counts is what is counted over the steps of a conversation, for a policy at a
// share. The figures of a [Row] are ratios of their sums.
type Counts struct {
	Steps  int `json:"steps,omitempty"`
	Breaks int `json:"breaks,omitempty"` // steps that do not begin with what was sent before
	Recent int `json:"recent,omitempty"` // steps with the newest three units whole

	Values   int `json:"values,omitempty"`
	Support  int `json:"support,omitempty"`  // values that are in the window
	Grounded int `json:"grounded,omitempty"` // values with grounded support

	Tasks int `json:"tasks,omitempty"` // steps in which the user's first message fits
	Task  int `json:"task,omitempty"`  // those whose window has it whole

	Sent int `json:"sent,omitempty"` // tokens, where not everything fits
	Room int `json:"room,omitempty"` // tokens of the budget there

	// Tokens at the prices of the measure, and of sending everything; and the same by
	// the models of [WithCache], in their order.
	Cost   float64      `json:"cost,omitempty"`
	Whole  float64      `json:"whole,omitempty"`
	Caches []CacheCount `json:"caches,omitempty"`

	Failures int      `json:"failures,omitempty"`
	First    *Failure `json:"firstFailure,omitempty"` // the first failure, or nil
}

// CacheCount is what windows cost with a cache, and what sending everything costs, in
// tokens of plain input.
type CacheCount struct {
	Cost  float64 `json:"cost"`
	Whole float64 `json:"whole"`
}

// fail counts a failure.
func (c *Counts) fail(t *turn, reason string) {
	c.Failures++
	if c.First == nil {
		c.First = &Failure{Conversation: t.id, Step: t.step, Reason: reason}
	}
}

// valid reports whether a conversation can have these counts, which a file of samples
// may have from anywhere. Sums over conversations stay finite.
func (c *Counts) valid() bool {
	const most = 1 << 53
	ascend := func(numbers ...int) bool { return numbers[0] >= 0 && slices.IsSorted(numbers) }
	cost := func(x float64) bool { return x >= 0 && x <= most }
	return ascend(c.Support, c.Values, math.MaxInt32) && ascend(c.Grounded, c.Values) &&
		ascend(c.Task, c.Tasks, c.Steps, math.MaxInt32) &&
		ascend(c.Breaks, c.Steps) && ascend(c.Recent, c.Steps) && min(c.Sent, c.Room, c.Failures) >= 0 && cost(c.Cost) && cost(c.Whole) &&
		!slices.ContainsFunc(c.Caches, func(c CacheCount) bool { return !cost(c.Cost) || !cost(c.Whole) })
}
