package replay

// Result is the result of [Run].
type Result struct {
	Conversations int   `json:"conversations"`
	Rows          []Row `json:"rows"` // by share, then by policy
	// Cache is the name of the model of [WithCache], "" without one.
	Cache string `json:"cache,omitempty"`
}

// Row is the result of a policy at a share. Shares are in [0,1] unless said
// otherwise.
type Row struct {
	Policy string  `json:"policy"`
	Share  float64 `json:"share"` // of the conversation without the system prompt, the budget
	Mode   Mode    `json:"mode"`

	Support  float64 `json:"support"`  // of the values, those that are in the window
	Grounded float64 `json:"grounded"` // of the values, those that are there with what tells what they are
	Cost     float64 `json:"cost"`     // of what sending everything costs; may be above 1
	Breaks   float64 `json:"breaks"`   // of the steps, those that do not begin with what was sent before
	Task     float64 `json:"task"`     // of the steps where it fits, those with the user's first message whole
	Recent   float64 `json:"recent"`   // of the steps, those with the newest three units whole
	Fill     float64 `json:"fill"`     // of the budget, what is used where not everything fits; 0 if everything does
	Values   int     `json:"values"`
	// CacheCost is Cost by the model of [WithCache], 0 without one.
	CacheCost float64 `json:"cacheCost,omitempty"`
	Steps     int     `json:"steps"`

	// Failures counts what went wrong at steps: the policy returned an error, a
	// window larger than the budget, or one that the API refuses, although it takes
	// the whole conversation. First is the first of them.
	Failures int      `json:"failures,omitempty"`
	First    *Failure `json:"firstFailure,omitempty"`

	// Against compares the row with the policy of [WithAgainst]. It is nil without
	// one, and in its own rows.
	Against *Against `json:"against,omitempty"`

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
	if r.cache != nil {
		result.Cache = r.cache.Name
	}
	opponent := r.opponent()
	for k, share := range r.shares {
		for i := range r.policies {
			p := &r.policies[i]
			var s sums
			for _, conversation := range r.of(i, k) {
				s.add(conversation)
			}
			row := Row{Policy: p.Name, Share: share, Mode: p.Mode, title: p.Title, Values: s.values, Steps: s.steps, Failures: s.failures, First: s.first}
			row.Support, row.Grounded = ratio(s.support, s.values), ratio(s.ground, s.values)
			row.Breaks, row.Recent = ratio(s.breaks, s.steps), ratio(s.recent, s.steps)
			row.Task, row.Fill = ratio(s.task, s.tasks), ratio(s.sent, s.room)
			if s.whole > 0 {
				row.Cost = s.cost / s.whole
			}
			if s.modelWhole > 0 {
				row.CacheCost = s.model / s.modelWhole
			}
			if opponent >= 0 && i != opponent && len(r.recordings) > 0 {
				against := compare(r.of(i, k), r.of(opponent, k))
				against.Policy = r.policies[opponent].Name
				row.Against = &against
			}
			result.Rows = append(result.Rows, row)
		}
	}
	return result
}

// of returns the sums of a policy at a share, by conversation.
func (r *runner) of(policy, share int) []*sums {
	list := make([]*sums, len(r.recordings))
	for c := range list {
		list[c] = &r.sums[c*len(r.policies)+policy][share]
	}
	return list
}

func ratio(a, b int) float64 { return float64(a) / float64(max(1, b)) }
