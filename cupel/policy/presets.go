package policy

// preset returns a policy of built-in types without settings.
func preset(name, description, slicer, placer string, parts ...Weighted) Policy {
	return Policy{Name: name, Description: description, Scorers: parts, Slicer: Strategy{Type: slicer}, Placer: Strategy{Type: placer}}
}

func weighted(scorer string, weight float64) Weighted {
	return Weighted{Strategy{Type: scorer}, weight}
}

// Chat returns the preset for conversations: recent items count most, and the
// prompt is in chronological order. Recency 3, kind 1; greedy; chronological.
//
// It is not for the conversations of agents with tools, nor is any other preset: at
// budgets below half of such a conversation, they keep less of what the next step needs
// than the newest messages that fit. Use package cupelchat/agent for these, or measure
// with cupel replay.
//
// Each call of a preset returns a new policy, which the caller may change.
func Chat() Policy {
	return preset("Chat", "Conversations: recent items count most, in chronological order.",
		"greedy", "chronological", weighted("recency", 3), weighted("kind", 1))
}

// CodeReview returns the preset for code reviews: kind and priority count more
// than age. Kind 2, priority 2, recency 1; greedy; chronological. See [Chat] for
// when not to use it.
func CodeReview() Policy {
	return preset("CodeReview", "Code reviews: kind and priority count more than age.",
		"greedy", "chronological", weighted("kind", 2), weighted("priority", 2), weighted("recency", 1))
}

// RAG returns the preset for retrieval-augmented generation: the retriever's
// relevance counts most, and the best items go to the edges of the prompt.
// Reflexive 3, kind 1; greedy; u-shaped. See [Chat] for when not to use it.
func RAG() Policy {
	return preset("Rag", "Retrieval-augmented generation: the retriever's relevance counts most, and the best items go to the edges of the prompt.",
		"greedy", "uShaped", weighted("reflexive", 3), weighted("kind", 1))
}

// DocumentQA returns the preset for questions about documents: it finds the best
// total score within the budget, and puts the best items at the edges of the
// prompt. Kind 2, reflexive 2, priority 1; knapsack with buckets of 100 tokens;
// u-shaped. See [Chat] for when not to use it.
func DocumentQA() Policy {
	p := preset("DocumentQa", "Questions about documents: the best total score within the budget, and the best items at the edges of the prompt.",
		"knapsack", "uShaped", weighted("kind", 2), weighted("reflexive", 2), weighted("priority", 1))
	p.Slicer.Settings = Settings{"bucketSize": 100}
	return p
}

// ToolUse returns the preset for tool use: kind counts as much as age.
// Kind 2, recency 2, priority 1; greedy; chronological. See [Chat] for when not to
// use it.
func ToolUse() Policy {
	return preset("ToolUse", "Tool use: kind counts as much as age, in chronological order.",
		"greedy", "chronological", weighted("kind", 2), weighted("recency", 2), weighted("priority", 1))
}

// LongRunning returns the preset for long sessions: recent items count most, and
// recurring topics are kept. Recency 3, frequency 1, kind 1; greedy;
// chronological. See [Chat] for when not to use it.
func LongRunning() Policy {
	return preset("LongRunning", "Long sessions: recent items count most, and recurring topics are kept.",
		"greedy", "chronological", weighted("recency", 3), weighted("frequency", 1), weighted("kind", 1))
}

// Debugging returns the preset for finding bugs: priority counts most. Priority
// 3, kind 2, recency 1; greedy; chronological. See [Chat] for when not to use it.
func Debugging() Policy {
	return preset("Debugging", "Debugging: priority counts most, in chronological order.",
		"greedy", "chronological", weighted("priority", 3), weighted("kind", 2), weighted("recency", 1))
}
