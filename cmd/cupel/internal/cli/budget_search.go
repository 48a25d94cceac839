package cli

// mostProven is how many smaller budgets are tried to prove that one is the smallest.
const mostProven = 32

// searchBudget looks for a budget that keeps something while a budget of one token less
// does not. It is proven to be the smallest if all smaller ones were tried, which happens
// if they are few.
func searchBudget(low, high int, keeps func(tokens int) (bool, error)) (tokens int, found, proven bool, err error) {
	if found, err = keeps(high); !found || err != nil {
		return 0, false, false, err
	}
	below, tokens := low-1, high
	for tokens-below > 1 {
		middle := below + (tokens-below)/2
		kept, err := keeps(middle)
		switch {
		case err != nil:
			return 0, false, false, err
		case kept:
			tokens = middle
		default:
			below = middle
		}
	}
	if tokens-low > mostProven {
		return tokens, true, false, nil
	}
	for smaller := low; smaller < tokens; smaller++ {
		if kept, err := keeps(smaller); kept || err != nil {
			return smaller, kept, kept, err
		}
	}
	return tokens, true, true, nil
}
