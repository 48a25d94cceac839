package eval

// Interval is a 95 % interval over conversations like the measured ones. It treats
// each conversation as a unit, since the questions of one depend on each other. It
// means little for few conversations.
type Interval struct {
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// Against compares the recall of a policy with that of another one at the same
// budget.
type Against struct {
	Policy     string  `json:"policy"`
	Difference float64 `json:"difference"` // in [-1,1], positive if this policy finds more
	// Interval is the interval of the difference. It is nil if fewer than two
	// conversations have questions.
	Interval *Interval `json:"interval,omitempty"`
	// P is the probability of a difference of at least this size if the two policies
	// are equally good, by a randomization test that exchanges the two in each
	// conversation. It is in [0,1]: exact for up to 14 conversations that differ, and
	// from the normal distribution for more.
	P float64 `json:"p"`
}

// Failure is a conversation on which a policy failed.
type Failure struct {
	Conversation string `json:"conversation"`
	Reason       string `json:"reason"`
}
