package assertions_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wollax/cupel-go/cmd/cupel/internal/assertions"
	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/cupel/placer"
	"github.com/wollax/cupel-go/cupel/scorer"
	"github.com/wollax/cupel-go/cupel/slicer"
	"github.com/wollax/cupel-go/cupeltest"
)

// kitchen is a selection of 30 tokens. The window is, in order, the pinned
// prompt, the repairs (0.8) and the oven (0.9), of 25 tokens together; out are
// another oven (0.5), the tea (0.2), which 5 tokens are left for, and a memory
// of -3 tokens. There should have been a Memory.
func kitchen(t *testing.T) assertions.Subject {
	t.Helper()
	items := []*cupel.ContextItem{
		cupeltest.Item("You answer briefly.", 5, cupel.WithKind(cupel.KindSystemPrompt), cupel.WithPinned()),
		cupeltest.Item("The oven is broken.", 10, cupel.WithFutureRelevanceHint(0.9), cupel.WithTags("fault", "kitchen"), cupel.WithSource(cupel.SourceChat),
			cupel.WithMetadata(map[string]any{"session": "june", "turn": 0, "urgent": true, "list": []any{"x"},
				"long": json.Number("9007199254740993"), "price": json.Number("0.10"), "huge": json.Number("1e1000000000")})),
		cupeltest.Item("Repairs cost\n900 euros.", 10, cupel.WithFutureRelevanceHint(0.8), cupel.WithKind(cupel.KindToolOutput), cupel.WithSource(cupel.SourceTool),
			cupel.WithGroup("repair"), cupel.WithVersionOf("offer")),
		cupeltest.Item("Tea is nice.", 10, cupel.WithFutureRelevanceHint(0.2)),
		cupeltest.Item("The oven is broken.", 10, cupel.WithFutureRelevanceHint(0.5)),
		cupeltest.Item("Ovens heat.", -3, cupel.WithKind(cupel.KindMemory)),
	}
	budget := cupeltest.Budget(30, 30)
	p, err := pipeline.New(pipeline.Config{
		Scorer: scorer.Reflexive{},
		Slicer: slicer.Must(slicer.NewCountQuota(slicer.Greedy{}, []slicer.CountQuotaEntry{
			{Kind: cupel.KindMemory, RequireCount: 1, CapCount: 1},
		})),
		Placer: placer.UShaped{},
	})
	require.NoError(t, err)
	report, err := p.DryRun(t.Context(), items, budget)
	require.NoError(t, err)
	return assertions.Subject{Budget: budget, Report: report}
}

// plain are patterns that match one content alone: the command has its own.
func plain(pattern string) func(string) bool {
	return func(content string) bool { return content == pattern }
}

// decode reads a file with one check.
func decode(t *testing.T, text string) assertions.Check {
	t.Helper()
	file, err := assertions.Decode([]byte("[[checks]]\n"+text), plain)
	require.NoError(t, err, text)
	require.Len(t, file.Checks, 1)
	return file.Checks[0]
}

// TestVocabulary has each assertion hold and fail, under both of its names.
func TestVocabulary(t *testing.T) {
	rows := []struct {
		name      string
		holds     string // its arguments
		fails     string
		holdsOver func(*cupel.SelectionReport)
		failsOver func(*cupel.SelectionReport)
		why       string
	}{
		{name: "IncludeItemWithKind", holds: `kind = "toolOUTPUT"`, fails: `kind = "Document"`,
			why: "kinds compare without case; there was no document"},
		{name: "IncludeItemMatching", holds: `item = { group = "repair" }`, fails: `item = { group = "repair", pinned = true }`,
			why: "the repairs are in by their score"},
		{name: "IncludeExactlyNItemsWithKind", holds: "kind = \"Memory\"\nn = 0", fails: "kind = \"Message\"\nn = 2",
			why: "of three messages one is in, and the memory is out"},
		{name: "ExcludeItemWithReason", holds: `reason = "NegativeTokens"`, fails: `reason = "PinnedOverride"`,
			why: "nothing was displaced"},
		{name: "ExcludeItemMatchingWithReason", holds: "item = { content = \"Tea is nice.\" }\nreason = \"BudgetExceeded\"", fails: "item = { kind = \"Message\" }\nreason = \"NegativeTokens\"",
			why: "the memory has negative tokens, and the messages do not"},
		{name: "ExcludeItemWithBudgetDetails", holds: "item = { kind = \"Message\" }\nitem_tokens = 10\navailable_tokens = 5", fails: "item = { kind = \"Message\" }\nitem_tokens = 10\navailable_tokens = -4",
			why: "5 tokens are left for the tea"},
		{name: "HaveNoExclusionsForKind", holds: `kind = "ToolOutput"`, fails: `kind = "Message"`,
			why: "two messages are out"},
		{name: "HaveAtLeastNExclusions", holds: "n = 3", fails: "n = 4",
			why: "three items are out"},
		{name: "ExcludedItemsAreSortedByScoreDescending", failsOver: func(r *cupel.SelectionReport) { slices.Reverse(r.Excluded) },
			why: "reports are sorted unless somebody turns them around"},
		{name: "HaveBudgetUtilizationAbove", holds: "threshold = 0.8333", fails: "threshold = 1",
			why: "the budget is the selection's; integers are numbers"},
		{name: "HaveKindCoverageCount", holds: "n = 3", fails: "n = 4",
			why: "three kinds are in"},
		{name: "PlaceItemAtEdge", holds: `item = { pinned = true }`, fails: `item = { group = "repair" }`,
			why: "the repairs stand in the middle"},
		{name: "PlaceTopNScoredAtEdges", holds: "n = 2", fails: "n = 2", failsOver: func(r *cupel.SelectionReport) { r.Included[1], r.Included[2] = r.Included[2], r.Included[1] },
			why: "the second best is last unless somebody moves it"},
		{name: "IncludeInOrder", holds: `contents = ["You answer briefly.", "The oven is broken."]`, fails: `contents = ["The oven is broken.", "You answer briefly."]`,
			why: "the prompt comes first"},
		{name: "HaveNoExclusions", holdsOver: func(r *cupel.SelectionReport) { r.Excluded = nil },
			why: "three items are out"},
		{name: "IncludeNoItemMatching", holds: `item = { content = "password" }`, fails: `item = { kind = "ToolOutput" }`,
			why: "the repairs are in, and nothing has a password"},
		{name: "ExcludeNoItemMatching", holds: `item = { kind = "ToolOutput" }`, fails: `item = { kind = "Memory" }`,
			why: "the memory is out, and the repairs are in"},
		{name: "HaveTokensAtMost", holds: "n = 25", fails: "n = 24",
			why: "5, 10 and 10"},
		{name: "HaveShortfallForKind", holds: `kind = "memory"`, fails: `kind = "Message"`,
			why: "the only memory has no valid token count"},
	}
	tested := map[string]bool{assertions.KeepFact: true} // by tests of their own
	for _, row := range rows {
		tested[row.name] = true
		t.Run(row.name, func(t *testing.T) {
			for _, name := range []string{row.name, snake(row.name)} {
				subject := kitchen(t)
				if row.holdsOver != nil {
					row.holdsOver(subject.Report)
				}
				require.NoError(t, decode(t, fmt.Sprintf("assert = %q\n%s", name, row.holds)).Run(subject), row.why)
				subject = kitchen(t)
				if row.failsOver != nil {
					row.failsOver(subject.Report)
				}
				check := decode(t, fmt.Sprintf("assert = %q\n%s", name, row.fails))
				err := check.Run(subject)
				failure := new(cupeltest.SelectionReportAssertionError)
				require.ErrorAs(t, err, &failure, row.why)
				require.Equal(t, check.Name, failure.Assertion)
			}
		})
	}
	for _, name := range knownNames(t) {
		require.True(t, tested[camel(name)], "%s is in no row", name)
	}
}

func TestKeepFact(t *testing.T) {
	lost := errors.New("lost")
	subject := assertions.Subject{Keeps: func(fact string) error {
		if fact == "a.go" {
			return nil
		}
		return lost
	}}
	require.NoError(t, decode(t, "assert = \"keep_fact\"\nfact = \"a.go\"").Run(subject))
	require.ErrorIs(t, decode(t, "assert = \"keep_fact\"\nfact = \"b.go\"").Run(subject), lost)
}

// knownNames returns the names that the error about an unknown one lists.
func knownNames(t *testing.T) []string {
	t.Helper()
	_, err := assertions.Decode([]byte("[[checks]]\nassert = \"x\""), plain)
	_, list, ok := strings.Cut(fmt.Sprint(err), "want one of ")
	require.True(t, ok, err)
	return strings.Split(list, ", ")
}

// snake and camel turn names into each other.
func snake(name string) string {
	for c := 'A'; c <= 'Z'; c++ {
		name = strings.ReplaceAll(name, string(c), "_"+strings.ToLower(string(c)))
	}
	return strings.TrimPrefix(name, "_")
}

func camel(name string) string {
	for c := 'A'; c <= 'Z'; c++ {
		name = strings.ReplaceAll("_"+name, "_"+strings.ToLower(string(c)), string(c))
		name = strings.TrimPrefix(name, "_")
	}
	return name
}

// TestPredicates asks for the oven, which is in, in every way that there is.
func TestPredicates(t *testing.T) {
	subject := kitchen(t)
	for _, row := range []struct {
		item  string
		holds bool
		why   string
	}{
		{`content = "The oven is broken."`, true, "the whole content"},
		{`content = "The oven"`, false, "a part is not the whole"},
		{`content_glob = "The oven is broken."`, true, "the caller's patterns decide"},
		{`content_glob = "*"`, false, "these patterns have no star"},
		{`tag = "kitchen"`, true, "the second of its tags"},
		{`tag = "Kitchen"`, false, "tags compare with case"},
		{`kind = "message"`, true, "kinds compare without case"},
		{`kind = "Document"`, false, "there is none"},
		{`source = "chat"`, true, "sources compare without case"},
		{`source = "Rag"`, false, "nothing came from there"},
		{`group = "repair"`, true, "the group of the repairs"},
		{`group = "Repair"`, false, "groups compare with case"},
		{`version_of = "offer"`, true, "the version key of the repairs"},
		{`version_of = "repair"`, false, "the key is another"},
		{`pinned = false`, true, "the oven is not"},
		{`pinned = true, kind = "ToolOutput"`, false, "only the prompt is pinned"},
		{`metadata = { session = "june" }`, true, "text"},
		{`metadata = { session = "june", turn = 0.0, urgent = true }`, true, "all of them, numbers by value"},
		{`metadata = { session = "june", turn = 4 }`, false, "one is another"},
		{`metadata = { turn = 0.5 }`, false, "by their whole value"},
		{`metadata = { long = 9007199254740993 }`, true, "all digits count"},
		{`metadata = { long = 9007199254740992 }`, false, "even those that a float has not"},
		{`metadata = { price = 0.1 }`, true, "a decimal is what was written"},
		{`metadata = { price = nan }`, false, "nothing is equal to it"},
		{`metadata = { huge = 1 }`, false, "what would take a gigabyte to write out is not written out"},
		{`metadata = { huge = inf }`, false, "nor is it without end"},
		{`metadata = { price = 0 }`, false, "a decimal is no integer"},
		{`metadata = { turn = "0" }`, false, "text is no number"},
		{`metadata = { urgent = 1 }`, false, "a boolean is no number"},
		{`metadata = { list = "x" }`, false, "a list is no text"},
		{`metadata = { speaker = "" }`, false, "what is absent is not blank"},
		{`kind = "Message", group = "repair"`, false, "two items have one of the two each"},
	} {
		err := decode(t, `assert = "include_item_matching"`+"\nitem = { "+row.item+" }").Run(subject)
		require.Equal(t, row.holds, err == nil, "%s: %v; %s", row.item, err, row.why)
	}
}
