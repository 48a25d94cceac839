package eval

// Interval is a 95 % interval over conversations like those that were measured. It
// goes by conversation, since the questions of one depend on each other. A few
// say little.
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
	// conversation. It is in [0,1]: exact for up to 14 conversations that differ, and
	// that of the normal distribution for more.
	P float64 `json:"p"`
}

// Failure is a conversation at which a policy failed.
type Failure struct {
	Conversation string `json:"conversation"`
	Reason       string `json:"reason"`
}
