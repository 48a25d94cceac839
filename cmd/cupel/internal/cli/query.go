package cli

import (
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/wollax/cupel-go/cupel/policy"
	"github.com/wollax/cupel-go/cupel/strategy"
	"github.com/wollax/cupel-go/cupelrelevance"
)

// relevance is the name of the scorer that this command adds to the built-in
// ones, and of the policy that uses only that scorer.
const relevance = "relevance"

// queryFlag registers the flag that gives a question.
func queryFlag(command *cobra.Command, query *string) {
	command.Flags().StringVarP(query, "query", "q", "", "`question` that the window should help answer; adds relevance to a policy without it, and is a task for agent")
}

// question is the question that relevance is measured against.
type question struct {
	text  string
	given bool
	index *cupelrelevance.Index // nil makes one

	// ofMessages tells that messages are selected, which are never duplicates: a retry,
	// or a repeated answer of a polled tool, has its own meaning.
	ofMessages bool
}

// asking returns a question; given is false if its text is blank.
func asking(text string) *question {
	text = strings.TrimSpace(text)
	return &question{text: text, given: text != ""}
}

// registry returns the presets and strategies of package policy, with the scorer that
// measures relevance to the question.
func (q *question) registry() *policy.Registry {
	registry := policy.NewRegistry()
	must(registry.RegisterScorer(relevanceType(q.scorer)))
	return registry
}

// relevancePolicy returns the policy that package cupelrelevance recommends.
func relevancePolicy() policy.Policy {
	return policy.Policy{
		Name:        "Relevance",
		Description: "What is relevant to a question, in chronological order; requires --query.",
		Scorers:     []policy.Weighted{{Scorer: policy.Strategy{Type: relevance}, Weight: 1}},
		Slicer:      policy.Strategy{Type: "scoreGreedy"},
		Placer:      policy.Strategy{Type: "chronological"},
	}
}

// relevanceType describes the scorer in a policy.
func relevanceType(build func() (strategy.Scorer, error)) strategy.Descriptor {
	return strategy.Descriptor{
		Name: relevance, Component: "Relevance",
		Doc:   "Scores an item by its relevance to the question of --query.",
		Build: func(strategy.Args) (any, error) { return strategy.Built(build()) },
	}
}

// scorer builds the scorer.
func (q *question) scorer() (strategy.Scorer, error) {
	if !q.given {
		return nil, errors.New("no question is given; give --query")
	}
	index := q.index
	if index == nil {
		var err error
		if index, err = cupelrelevance.NewIndex(); err != nil {
			return nil, err
		}
	}
	return cupelrelevance.New(index, q.text)
}

// relevanceShare is the weight of relevance when --query adds it to a policy: a
// multiple of the weight of all its other scorers together. Measured on
// long meetings, a larger one changes nothing.
const relevanceShare = 32

// ask returns the policy with relevance among its scorers, and with a slicer
// that takes the highest score first: slicers that rank by score per token find
// half as much evidence in small budgets. A policy that already has relevance
// is unchanged.
func ask(p policy.Policy) policy.Policy {
	total := 0.0
	for _, s := range p.Scorers {
		total += s.Weight
	}
	if uses(p, relevance) {
		return p
	}
	p.Scorers = append(slices.Clone(p.Scorers), policy.Weighted{Scorer: policy.Strategy{Type: relevance}, Weight: relevanceShare * total})
	p.Slicer = byScore(p.Slicer)
	return p
}

// byScore returns the slicer with ScoreGreedy in place of Greedy and Knapsack,
// inside quotas too.
func byScore(s policy.Strategy) policy.Strategy {
	switch s.Type {
	case "greedy", "knapsack":
		return policy.Strategy{Type: "scoreGreedy"}
	case "quota", "countQuota":
		if inner, ok := s.Settings["inner"].(policy.Strategy); ok {
			s.Settings = maps.Clone(s.Settings)
			s.Settings["inner"] = byScore(inner)
		}
	}
	return s
}
