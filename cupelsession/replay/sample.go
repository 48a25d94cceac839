package replay

// Plan is the policies, shares and caches of a measurement. Samples with equal
// plans add up to one table.
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

// Sample is the result of one conversation for all policies and shares.
type Sample struct {
	File         string `json:"file,omitempty"` // where the conversation begins, with Line
	Line         int    `json:"line,omitempty"`
	Conversation string `json:"conversation,omitempty"` // its id
	// Error is the reason why there are no counts: the line is damaged.
	Error  string   `json:"error,omitempty"`
	Counts []Counts `json:"counts,omitempty"` // by share, then by policy

	err error
}

// Counts has the counts over the steps of a conversation, for a policy at a
// share. The figures of a [Row] are ratios of their sums.
type Counts struct {
	Steps  int `json:"steps,omitempty"`
	Breaks int `json:"breaks,omitempty"` // steps that do not begin with what was sent before
	Recent int `json:"recent,omitempty"` // steps with the newest three units whole

	Values   int `json:"values,omitempty"`
	Support  int `json:"support,omitempty"`  // values that are in the window
	Grounded int `json:"grounded,omitempty"` // values with grounded support

	Tasks int `json:"tasks,omitempty"` // steps in which the user's first message fits
	Task  int `json:"task,omitempty"`  // of these, the steps whose window has it whole

	Sent int `json:"sent,omitempty"` // tokens, where not everything fits
	Room int `json:"room,omitempty"` // tokens of the budget there

	// Tokens at the prices of the measure, and of sending everything; and the same by
	// the models of [WithCache], in their order.
	Cost   float64      `json:"cost,omitempty"`
	Whole  float64      `json:"whole,omitempty"`
	Caches []CacheCount `json:"caches,omitempty"`

	Failures int      `json:"failures,omitempty"`
	First    *Failure `json:"firstFailure,omitempty"` // the first failure, or nil

	Lost []Lost `json:"lost,omitempty"` // the ten that cost most
}

// CacheCount is the cost of windows with a cache, and the cost of sending everything,
// in tokens of plain input.
type CacheCount struct {
	Cost  float64 `json:"cost"`
	Whole float64 `json:"whole"`
}

// ratios returns the sums whose ratios are the columns of a [Row].
func (c *Counts) ratios() []CacheCount {
	of := func(a, b int) CacheCount { return CacheCount{float64(a), float64(b)} }
	ratios := []CacheCount{of(c.Support, c.Values), of(c.Grounded, c.Values), {c.Cost, c.Whole}}
	ratios = append(ratios, c.Caches...)
	return append(ratios, of(c.Breaks, c.Steps), of(c.Task, c.Tasks), of(c.Recent, c.Steps), of(c.Sent, c.Room))
}

// fail counts a failure.
func (c *Counts) fail(t *turn, reason string) {
	c.Failures++
	if c.First == nil {
		c.First = &Failure{Conversation: t.id, Step: t.step, Reason: reason}
	}
}
