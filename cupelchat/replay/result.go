package replay

// Result is the result of [Run].
type Result struct {
	Conversations int   `json:"conversations"`
	Rows          []Row `json:"rows"` // by share, then by policy
}

// Row is the result of a policy at a share. Shares are in [0,1] unless said
// otherwise.
type Row struct {
	Policy string  `json:"policy"`
	Share  float64 `json:"share"` // of the conversation beside the system prompt, the budget
	Mode   Mode    `json:"mode"`

	Support  float64 `json:"support"`  // of the values, those that are in the window
	Grounded float64 `json:"grounded"` // of the values, those that are there with what tells what they are
	Cost     float64 `json:"cost"`     // of what sending everything costs; may be above 1
	Breaks   float64 `json:"breaks"`   // of the steps, those that do not begin with what was sent before
	Task     float64 `json:"task"`     // of the steps where it fits, those with the user's first message whole
	Recent   float64 `json:"recent"`   // of the steps, those with the newest three units whole
	Fill     float64 `json:"fill"`     // of the budget, what is used where not everything fits; 0 if everything does
	Values   int     `json:"values"`
	Steps    int     `json:"steps"`

	// Failures counts what went wrong at steps: the policy returned an error, a
	// window larger than the budget, or one that the API refuses, although it takes
	// the whole conversation. First is the first of them.
	Failures int      `json:"failures,omitempty"`
	First    *Failure `json:"firstFailure,omitempty"`

	title string
}

// Failure is a step at which a policy did not do what it should.
type Failure struct {
	Conversation string `json:"conversation"`
	Step         int    `json:"step"` // of the assistant, from 0
	Reason       string `json:"reason"`
}

// result adds up the conversations in their order.
func (r *runner) result() *Result {
	result := &Result{Conversations: len(r.recordings)}
	for k, share := range r.shares {
		for i := range r.policies {
			p := &r.policies[i]
			var s sums
			for c := range r.recordings {
				s.add(&r.sums[c*len(r.policies)+i][k])
			}
			row := Row{Policy: p.Name, Share: share, Mode: p.Mode, title: p.Title, Values: s.values, Steps: s.steps, Failures: s.failures, First: s.first}
			row.Support, row.Grounded = ratio(s.support, s.values), ratio(s.ground, s.values)
			row.Breaks, row.Recent = ratio(s.breaks, s.steps), ratio(s.recent, s.steps)
			row.Task, row.Fill = ratio(s.task, s.tasks), ratio(s.sent, s.room)
			if s.whole > 0 {
				row.Cost = s.cost / s.whole
			}
			result.Rows = append(result.Rows, row)
		}
	}
	return result
}

func ratio(a, b int) float64 { return float64(a) / float64(max(1, b)) }
