package cupeltest_test

import (
	"log"
	"math/rand/v2"
	"strconv"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/cupel/placer"
	"github.com/wollax/cupel-go/cupel/scorer"
	"github.com/wollax/cupel-go/cupel/slicer"
	"github.com/wollax/cupel-go/cupeltest"
)

// helpdesk is the conversation of docs/testing-a-policy.md, after the document with
// the rules.
func helpdesk() []*cupel.ContextItem {
	rules := cupeltest.Item("refunds.md", 60, cupel.WithKind(cupel.KindDocument), cupel.WithFutureRelevanceHint(0.9))
	return append([]*cupel.ContextItem{rules}, cupeltest.Conversation(
		cupeltest.System("Answer from the rules."),
		cupeltest.User("The ferry at nine was cancelled."),
		cupeltest.Assistant("I am sorry to hear that. Which ticket do you have?"),
		cupeltest.Tool("find ticket 7", "ticket 7: two adults, paid"),
		cupeltest.User("Do I get the money back?"),
	)...)
}

func policyOf(config pipeline.Config) *pipeline.Pipeline {
	pipeline, err := pipeline.New(config)
	if err != nil {
		log.Fatal(err)
	}
	return pipeline
}

// The first version of the policy takes the newest items. The rules have no time,
// and the answer is made up.
func Example_policyAssertion() {
	policy := policyOf(pipeline.Config{Scorer: scorer.Recency{}, Slicer: slicer.ScoreGreedy{}, Placer: placer.Chronological{}})
	report, _ := cupeltest.Run(t, policy, helpdesk(), cupeltest.Budget(90, 90))
	cupeltest.Expect(t, report).IncludeItemWithKind(cupel.KindDocument)
	// Output:
	// IncludeItemWithKind(Document) failed: Included contained 0 items with Kind=Document. Included had 6 items with kinds: [SystemPrompt, Message, ToolOutput].
	// 	refunds.md is excluded: BudgetExceeded, 60 tokens requested, 46 available. The smallest budget that includes it is 96 tokens.
}

// The second version requires a document. A placer that should help the model with
// long windows mixes up the conversation, which the golden file shows.
func Example_policyGolden() {
	quota := slicer.Must(slicer.NewCountQuota(slicer.ScoreGreedy{}, []slicer.CountQuotaEntry{{Kind: cupel.KindDocument, RequireCount: 1, CapCount: 3}}))
	policy := policyOf(pipeline.Config{Scorer: scorer.Recency{}, Slicer: quota, Placer: placer.UShaped{}})
	report, _ := cupeltest.Run(t, policy, helpdesk(), cupeltest.Budget(120, 120))
	cupeltest.Expect(t, report).MatchGolden("helpdesk")
	// Output:
	// MatchGolden(helpdesk) failed: the report differs from testdata/helpdesk.golden:
	// moved:
	//   "refunds.md" (Document, Chat, 60 tokens): place 4, was 1
	//   "The ferry at nine was cancelled." (Message, Chat, 8 tokens): place 5, was 3
	//   "I am sorry to hear that. Which ticket do you have?" (Message, Chat, 13 tokens): place 6, was 4
	// If the report is right, run the test with CUPELTEST_UPDATE=1.
}

// The third version prefers what is relevant, and gives everything a little. Notes
// of few tokens, which nothing prefers, are then dense enough to push out the rules.
func Example_policyProperty() {
	relevance := scoreFunc(func(item *cupel.ContextItem, _ []*cupel.ContextItem) float64 {
		hint, _ := item.FutureRelevanceHint()
		return 0.1 + hint
	})
	policy := policyOf(pipeline.Config{Scorer: relevance, Slicer: slicer.Greedy{}, Placer: placer.Chronological{}})
	cupeltest.Property(t, policy,
		cupeltest.RequiredKindNotDisplaced(cupel.KindDocument),
		cupeltest.WithCandidates(func(random *rand.Rand) []*cupel.ContextItem {
			items := helpdesk()[:1]
			for i := range random.IntN(8) {
				items = append(items, cupeltest.Item("message "+strconv.Itoa(i), 1+random.IntN(100), cupel.WithFutureRelevanceHint(0.2)))
			}
			return items
		}))
	// Output:
	// Property failed: RequiredKindNotDisplaced: with one more item of 5 tokens, which nothing prefers, the window loses kind Document.
	// 	case 132 of seed 1: cupeltest.WithSeed(1) repeats it
	// 	budget: at most 63 tokens, target 61
	// 	1 of 3 candidates are enough:
	// 	  "refunds.md" (Document, Chat, 60 tokens), hint 0.9
}
