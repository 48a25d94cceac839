package cli

// budgetSearch looks for the budget from which on something is kept.
type budgetSearch struct {
	low, high int // tokens
	keeps     func(tokens int) (bool, error)
}

// mostProven is how many smaller budgets are tried to prove that one is the smallest.
const mostProven = 32

// run returns a budget that keeps it, where the budget of one token less does not. It is
// proven to be the smallest if all smaller ones were tried, which there are few of.
func (s *budgetSearch) run() (tokens int, found, proven bool, err error) {
	if found, err = s.keeps(s.high); !found || err != nil {
		return 0, false, false, err
	}
	below, tokens := s.low-1, s.high
	for tokens-below > 1 {
		middle := below + (tokens-below)/2
		kept, err := s.keeps(middle)
		switch {
		case err != nil:
			return 0, false, false, err
		case kept:
			tokens = middle
		default:
			below = middle
		}
	}
	if tokens-s.low > mostProven {
		return tokens, true, false, nil
	}
	for smaller := s.low; smaller < tokens; smaller++ {
		if kept, err := s.keeps(smaller); kept || err != nil {
			return smaller, kept, kept, err
		}
	}
	return tokens, true, true, nil
}
