package replay

import (
	"fmt"
	"math"

	"github.com/wollax/cupel-go/internal/english"
)

// Result is the result of a measurement.
type Result struct {
	Conversations int   `json:"conversations"`
	Rows          []Row `json:"rows"` // by share, then by policy
	// Failed counts conversations that could not be read.
	Failed int `json:"failed,omitempty"`
	// Worst lists the ten conversations in which each policy misses most, by
	// policy.
	Worst []Worst `json:"worst,omitempty"`
	// Lost lists, by row, the ten most costly values that each policy lost at a share.
	Lost []Lost `json:"lost,omitempty"`
}

// Failures returns, for each row with failures, their number and the first of
// them.
func (r *Result) Failures() []string {
	var lines []string
	for i := range r.Rows {
		row := &r.Rows[i]
		if row.Failures > 0 {
			lines = append(lines, fmt.Sprintf("%s at %g: %d of %s failed; the first is step %d of conversation %q: %s", row.Policy, row.Share, row.Failures,
				english.Plural(row.Steps, "step"), row.First.Step, row.First.Conversation, row.First.Reason))
		}
	}
	return lines
}

// Figure returns a figure of a policy at a share, by the name of its column, such as
// "grounded" or the name of a cache. It is that of the first such row.
func (r *Result) Figure(policy string, share float64, name string) (value float64, ok bool) {
	for i := range r.Rows {
		row := &r.Rows[i]
		for _, f := range row.columns() {
			if f.name == name && row.Policy == policy && row.Share == share {
				return *f.value, true
			}
		}
	}
	return 0, false
}

// Row is the result of a policy at a share. Shares are in [0,1] unless said
// otherwise.
type Row struct {
	Policy string  `json:"policy"`
	Share  float64 `json:"share"` // the budget, as a share of the conversation without the system prompt
	Mode   Mode    `json:"mode"`

	Support  float64 `json:"support"`  // share of the values that are in the window
	Grounded float64 `json:"grounded"` // share of the values with grounded support
	Cost     float64 `json:"cost"`     // as a share of sending everything; may be above 1
	Breaks   float64 `json:"breaks"`   // share of the steps that do not begin with what was sent before
	Task     float64 `json:"task"`     // share of the steps with the user's first message whole, if it fits
	Recent   float64 `json:"recent"`   // share of the steps with the newest three units whole
	Fill     float64 `json:"fill"`     // share of the budget that is used if not everything fits; 0 if everything always does
	Values   int     `json:"values"`
	Steps    int     `json:"steps"`

	// Caches are Cost by the models of [WithCache], in their order.
	Caches []CacheCost `json:"caches,omitempty"`

	// Failures counts the steps at which the policy returned an error, a window
	// larger than the budget, or one that the API refuses although it accepts the
	// whole conversation. First is the first such failure.
	Failures int      `json:"failures,omitempty"`
	First    *Failure `json:"firstFailure,omitempty"`

	// Intervals has the intervals of the figures. All are 0 for fewer than two
	// conversations.
	Intervals Intervals `json:"intervals,omitzero"`

	// Against compares the row with the policy of [WithAgainst]. It is nil without
	// one, and in its own rows.
	Against *Against `json:"against,omitempty"`

	title string
}

// Intervals are 95 % intervals of the figures of a row, over conversations like the
// measured ones. They mean little for few conversations.
type Intervals struct {
	Support  Interval `json:"support"`
	Grounded Interval `json:"grounded"`
	Cost     Interval `json:"cost"`
	Breaks   Interval `json:"breaks"`
	Task     Interval `json:"task"`
	Recent   Interval `json:"recent"`
	Fill     Interval `json:"fill"`
}

// figure is a figure of a row, with its interval.
type figure struct {
	name     string
	most     float64
	value    *float64
	interval *Interval
}

// figures returns the figures in the order of the table, without those of caches.
func (r *Row) figures() []figure {
	in := &r.Intervals
	return []figure{
		{"support", 1, &r.Support, &in.Support},
		{"grounded", 1, &r.Grounded, &in.Grounded},
		{"cost", math.MaxFloat64, &r.Cost, &in.Cost},
		{"breaks", 1, &r.Breaks, &in.Breaks},
		{"task", 1, &r.Task, &in.Task},
		{"recent", 1, &r.Recent, &in.Recent},
		{"fill", math.MaxFloat64, &r.Fill, &in.Fill},
	}
}

// columns returns the figures of the table: the costs by caches follow the cost.
func (r *Row) columns() []figure {
	var all []figure
	for _, f := range r.figures() {
		all = append(all, f)
		if f.value != &r.Cost {
			continue
		}
		for i := range r.Caches {
			c := &r.Caches[i]
			all = append(all, figure{c.Cache, math.MaxFloat64, &c.Cost, &c.Interval})
		}
	}
	return all
}

// CacheCost is the cost of a row's windows by the model of a cache.
type CacheCost struct {
	Cache    string   `json:"cache"` // the model's name
	Cost     float64  `json:"cost"`  // as a share of sending everything; may be above 1
	Interval Interval `json:"interval,omitzero"`
}

// Interval is a 95 % interval of a figure. Both ends are 0 if it is unknown.
type Interval struct {
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// Against compares the grounded support of a row with that of another policy at
// the same share.
type Against struct {
	Policy     string  `json:"policy"`
	Difference float64 `json:"difference"` // in [-1,1], positive if the row has more
	// Low and High are the ends of the 95 % interval of the difference over
	// conversations. They mean little for few conversations, and nothing for
	// one.
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// Failure is a step at which a policy failed.
type Failure struct {
	Conversation string `json:"conversation"`
	Step         int    `json:"step"` // of the assistant, from 0
	Reason       string `json:"reason"`
}
