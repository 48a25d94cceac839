package policy

// Chat returns the preset for conversations: what is recent counts most, and
// the prompt keeps the order of time. Recency 3, kind 1; greedy; chronological.
//
// Each call of a preset returns a policy of its own, free to be changed.
func Chat() Policy {
	return Policy{
		Name:        "Chat",
		Description: "Conversations: what is recent counts most, in the order of time.",
		Scorers:     []Weighted{{Strategy{Type: "recency"}, 3}, {Strategy{Type: "kind"}, 1}},
		Slicer:      Strategy{Type: "greedy"},
		Placer:      Strategy{Type: "chronological"},
	}
}

// CodeReview returns the preset for reviews of code: kinds and priorities count
// before age. Kind 2, priority 2, recency 1; greedy; chronological.
func CodeReview() Policy {
	return Policy{
		Name:        "CodeReview",
		Description: "Reviews of code: kinds and priorities count before age.",
		Scorers:     []Weighted{{Strategy{Type: "kind"}, 2}, {Strategy{Type: "priority"}, 2}, {Strategy{Type: "recency"}, 1}},
		Slicer:      Strategy{Type: "greedy"},
		Placer:      Strategy{Type: "chronological"},
	}
}

// Rag returns the preset for retrieval-augmented generation: the relevance that
// the retriever gave counts most, and the best goes to the edges of the prompt.
// Reflexive 3, kind 1; greedy; u-shaped.
func Rag() Policy {
	return Policy{
		Name:        "Rag",
		Description: "Retrieval-augmented generation: the retriever's relevance counts most, the best at the edges of the prompt.",
		Scorers:     []Weighted{{Strategy{Type: "reflexive"}, 3}, {Strategy{Type: "kind"}, 1}},
		Slicer:      Strategy{Type: "greedy"},
		Placer:      Strategy{Type: "uShaped"},
	}
}

// DocumentQa returns the preset for questions about documents: the budget is
// filled with the best total, and the best goes to the edges of the prompt.
// Kind 2, reflexive 2, priority 1; knapsack with buckets of 100 tokens;
// u-shaped.
func DocumentQa() Policy {
	return Policy{
		Name:        "DocumentQa",
		Description: "Questions about documents: the best total within the budget, the best at the edges of the prompt.",
		Scorers:     []Weighted{{Strategy{Type: "kind"}, 2}, {Strategy{Type: "reflexive"}, 2}, {Strategy{Type: "priority"}, 1}},
		Slicer:      Strategy{"knapsack", Settings{"bucketSize": 100}},
		Placer:      Strategy{Type: "uShaped"},
	}
}

// ToolUse returns the preset for the use of tools: kinds count as much as age.
// Kind 2, recency 2, priority 1; greedy; chronological.
func ToolUse() Policy {
	return Policy{
		Name:        "ToolUse",
		Description: "Use of tools: kinds count as much as age, in the order of time.",
		Scorers:     []Weighted{{Strategy{Type: "kind"}, 2}, {Strategy{Type: "recency"}, 2}, {Strategy{Type: "priority"}, 1}},
		Slicer:      Strategy{Type: "greedy"},
		Placer:      Strategy{Type: "chronological"},
	}
}

// LongRunning returns the preset for long sessions: what is recent counts most,
// and what comes up again and again is kept. Recency 3, frequency 1, kind 1;
// greedy; chronological.
func LongRunning() Policy {
	return Policy{
		Name:        "LongRunning",
		Description: "Long sessions: what is recent counts most, and what comes up again is kept.",
		Scorers:     []Weighted{{Strategy{Type: "recency"}, 3}, {Strategy{Type: "frequency"}, 1}, {Strategy{Type: "kind"}, 1}},
		Slicer:      Strategy{Type: "greedy"},
		Placer:      Strategy{Type: "chronological"},
	}
}

// Debugging returns the preset for the search for errors: priorities count
// most. Priority 3, kind 2, recency 1; greedy; chronological.
func Debugging() Policy {
	return Policy{
		Name:        "Debugging",
		Description: "The search for errors: priorities count most, in the order of time.",
		Scorers:     []Weighted{{Strategy{Type: "priority"}, 3}, {Strategy{Type: "kind"}, 2}, {Strategy{Type: "recency"}, 1}},
		Slicer:      Strategy{Type: "greedy"},
		Placer:      Strategy{Type: "chronological"},
	}
}
