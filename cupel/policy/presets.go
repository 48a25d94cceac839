package policy

// Chat returns the preset for conversations: recent items count most, and the
// prompt is in chronological order. Recency 3, kind 1; greedy; chronological.
//
// Each call of a preset returns a new policy, which the caller may change.
func Chat() Policy {
	return Policy{
		Name:        "Chat",
		Description: "Conversations: recent items count most, in chronological order.",
		Scorers:     []Weighted{{Strategy{Type: "recency"}, 3}, {Strategy{Type: "kind"}, 1}},
		Slicer:      Strategy{Type: "greedy"},
		Placer:      Strategy{Type: "chronological"},
	}
}

// CodeReview returns the preset for code reviews: kind and priority count more
// than age. Kind 2, priority 2, recency 1; greedy; chronological.
func CodeReview() Policy {
	return Policy{
		Name:        "CodeReview",
		Description: "Code reviews: kind and priority count more than age.",
		Scorers:     []Weighted{{Strategy{Type: "kind"}, 2}, {Strategy{Type: "priority"}, 2}, {Strategy{Type: "recency"}, 1}},
		Slicer:      Strategy{Type: "greedy"},
		Placer:      Strategy{Type: "chronological"},
	}
}

// Rag returns the preset for retrieval-augmented generation: the retriever's
// relevance counts most, and the best items go to the edges of the prompt.
// Reflexive 3, kind 1; greedy; u-shaped.
func Rag() Policy {
	return Policy{
		Name:        "Rag",
		Description: "Retrieval-augmented generation: the retriever's relevance counts most, and the best items go to the edges of the prompt.",
		Scorers:     []Weighted{{Strategy{Type: "reflexive"}, 3}, {Strategy{Type: "kind"}, 1}},
		Slicer:      Strategy{Type: "greedy"},
		Placer:      Strategy{Type: "uShaped"},
	}
}

// DocumentQa returns the preset for questions about documents: it finds the best
// total score within the budget, and puts the best items at the edges of the
// prompt. Kind 2, reflexive 2, priority 1; knapsack with buckets of 100 tokens;
// u-shaped.
func DocumentQa() Policy {
	return Policy{
		Name:        "DocumentQa",
		Description: "Questions about documents: the best total score within the budget, and the best items at the edges of the prompt.",
		Scorers:     []Weighted{{Strategy{Type: "kind"}, 2}, {Strategy{Type: "reflexive"}, 2}, {Strategy{Type: "priority"}, 1}},
		Slicer:      Strategy{"knapsack", Settings{"bucketSize": 100}},
		Placer:      Strategy{Type: "uShaped"},
	}
}

// ToolUse returns the preset for tool use: kind counts as much as age.
// Kind 2, recency 2, priority 1; greedy; chronological.
func ToolUse() Policy {
	return Policy{
		Name:        "ToolUse",
		Description: "Tool use: kind counts as much as age, in chronological order.",
		Scorers:     []Weighted{{Strategy{Type: "kind"}, 2}, {Strategy{Type: "recency"}, 2}, {Strategy{Type: "priority"}, 1}},
		Slicer:      Strategy{Type: "greedy"},
		Placer:      Strategy{Type: "chronological"},
	}
}

// LongRunning returns the preset for long sessions: recent items count most, and
// recurring topics are kept. Recency 3, frequency 1, kind 1; greedy;
// chronological.
func LongRunning() Policy {
	return Policy{
		Name:        "LongRunning",
		Description: "Long sessions: recent items count most, and recurring topics are kept.",
		Scorers:     []Weighted{{Strategy{Type: "recency"}, 3}, {Strategy{Type: "frequency"}, 1}, {Strategy{Type: "kind"}, 1}},
		Slicer:      Strategy{Type: "greedy"},
		Placer:      Strategy{Type: "chronological"},
	}
}

// Debugging returns the preset for finding bugs: priority counts most. Priority
// 3, kind 2, recency 1; greedy; chronological.
func Debugging() Policy {
	return Policy{
		Name:        "Debugging",
		Description: "Debugging: priority counts most, in chronological order.",
		Scorers:     []Weighted{{Strategy{Type: "priority"}, 3}, {Strategy{Type: "kind"}, 2}, {Strategy{Type: "recency"}, 1}},
		Slicer:      Strategy{Type: "greedy"},
		Placer:      Strategy{Type: "chronological"},
	}
}
