package cupeltest_test

import (
	"log"
	"time"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/cupel/placer"
	"github.com/wollax/cupel-go/cupel/scorer"
	"github.com/wollax/cupel-go/cupel/slicer"
	"github.com/wollax/cupel-go/cupeltest"
)

// helpdesk is the conversation of docs/operations.md, a minute between the
// messages, after the document with the rules.
func helpdesk() []*cupel.ContextItem {
	items := []*cupel.ContextItem{
		cupeltest.Item("refunds.md", 60, cupel.WithKind(cupel.KindDocument), cupel.WithFutureRelevanceHint(0.9)),
	}
	call := []cupel.ItemOption{cupel.WithKind(cupel.KindToolOutput), cupel.WithSource(cupel.SourceTool), cupel.WithGroup("call 4")}
	for i, turn := range []struct {
		content string
		opts    []cupel.ItemOption
	}{
		{"Answer from the rules.", []cupel.ItemOption{cupel.WithKind(cupel.KindSystemPrompt), cupel.WithPinned()}},
		{"The ferry at nine was cancelled.", nil},
		{"I am sorry to hear that. Which ticket do you have?", nil},
		{"find ticket 7", call},
		{"ticket 7: two adults, paid", call},
		{"Do I get the money back?", nil},
	} {
		at := cupel.WithTimestamp(time.Date(2026, 1, 1, 12, i, 0, 0, time.UTC))
		items = append(items, cupeltest.Item(turn.content, (len(turn.content)+3)/4, append(turn.opts, at)...))
	}
	return items
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
	// 	"refunds.md" is excluded: BudgetExceeded, 60 tokens requested, 46 available. The smallest budget that includes it is 96 tokens.
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
