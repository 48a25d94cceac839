package cupeltest_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/cupeltest"
)

// full is a report with something of everything.
func full() *report {
	note := cupel.WithTimestamp(time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC))
	pinned := cupeltest.Item("Answer \"briefly\".\n", 50, cupel.WithKind(cupel.KindSystemPrompt), note)
	return &report{
		Events: []cupel.TraceEvent{
			{Stage: cupel.StageSlice, DurationMS: 12.5, ItemCount: 1, Message: "BudgetExceeded: 500 tokens requested, 120 available"},
			{Stage: cupel.StageSlice, DurationMS: 99, ItemCount: 3},
		},
		Included: []cupel.IncludedItem{{Item: pinned, Score: 1, Reason: cupel.IncludePinned}, {Item: cupeltest.Item("a", 20, cupel.WithGroup("g"), cupel.WithSource("x")), Score: 0.30000000000000004, Reason: cupel.IncludeScored, Form: 1, Stale: true}},
		Excluded: []cupel.ExcludedItem{
			out(cupel.KindToolOutput, 500, 0.9, exceeded(500, 120)),
			out(cupel.KindMessage, 80, 0.75, cupel.NewExclusionReason(cupel.ExcludeDeduplicated, cupel.ReasonData{DeduplicatedAgainst: "Message 80"})),
			{Item: cupeltest.Item(strings.Repeat("x", 61), 7), Score: 0.5, Stale: true, Reason: cupel.NewExclusionReason(cupel.ExcludePinnedOverride, cupel.ReasonData{DisplacedBy: "Answer"})},
		},
		TotalCandidates:            5,
		TotalTokensConsidered:      657,
		CountRequirementShortfalls: []cupel.CountRequirementShortfall{{Kind: cupel.KindMemory, RequiredCount: 3, SatisfiedCount: 1}},
		Overflow:                   &cupel.OverflowEvent{TokensOverBudget: 30, OverflowingItems: []*cupel.ContextItem{pinned}, Budget: cupeltest.Budget(100, 40)},
	}
}

const fullGolden = `in:
  "Answer \"briefly\".\n" (SystemPrompt, Chat, 50 tokens): Pinned
  "a" (Message, x, 20 tokens, group "g"): Scored, form 1, stale

out:
  "ToolOutput 500" (ToolOutput, Chat, 500 tokens): BudgetExceeded
  "Message 80" (Message, Chat, 80 tokens): Deduplicated
  "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"… (61 bytes, sha256 ` + hashOfX61 + `…) (Message, Chat, 7 tokens): PinnedOverride, stale

shortfalls:
  Memory has 1 of 3 required items

overflow: 30 tokens above the target of 40
`

// match runs MatchGolden and returns what it reports, "" when it holds.
func match(r *report, name string, opts ...cupeltest.ChainOption) string {
	return strings.Join(watch(func(t cupeltest.T) { cupeltest.Should(t, r, opts...).MatchGolden(name) }).messages, "\n")
}

// tree lists the files below the current folder.
func tree(t *testing.T) (names []string) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			names = append(names, filepath.ToSlash(path))
		}
		return err
	}))
	return names
}

// written updates a golden file and returns what it holds then.
func written(t *testing.T, r *report, name string, opts ...cupeltest.ChainOption) string {
	t.Helper()
	t.Setenv(cupeltest.UpdateVariable, "1")
	require.Empty(t, match(r, name, opts...))
	t.Setenv(cupeltest.UpdateVariable, "")
	data, err := os.ReadFile("testdata/" + name + ".golden")
	require.NoError(t, err)
	return string(data)
}

func TestMatchGolden(t *testing.T) {
	elsewhere(t)
	require.Equal(t, "MatchGolden(window) failed: there is no golden file testdata/window.golden. To write it, run the test with CUPELTEST_UPDATE=1.",
		match(full(), "window"))
	require.Empty(t, tree(t), "a file was written without an update")

	require.Equal(t, fullGolden, written(t, full(), "deep/er/window"))
	require.Empty(t, match(full(), "deep/er/window"))
	require.NoError(t, os.WriteFile("testdata/crlf.golden", []byte(strings.ReplaceAll(fullGolden, "\n", "\r\n")), 0o600))
	require.Empty(t, match(full(), "crlf"), "Git may change the ends of lines")

	other := full()
	other.Included[1].Score = 0.25
	other.TotalTokensConsidered++
	other.Excluded[0].Reason = exceeded(500, 119)
	other.Included[0].Item = cupeltest.Item("Answer \"briefly\".\n", 50, cupel.WithKind(cupel.KindSystemPrompt), cupel.WithTimestamp(time.Unix(0, 0)))
	require.Empty(t, match(other, "deep/er/window"), "scores, totals, sizes and times are no decisions")
	require.Equal(t, "in:\n\nout:\n", written(t, new(report), "none"))
}

func TestMatchGoldenUpdate(t *testing.T) {
	elsewhere(t)
	for _, value := range []string{"0", "yes"} {
		t.Setenv(cupeltest.UpdateVariable, value)
		require.NotEmpty(t, match(full(), "window"))
		require.Empty(t, tree(t))
	}
	t.Setenv(cupeltest.UpdateVariable, "1")
	t.Setenv("CI", "woodpecker")
	require.Equal(t, "MatchGolden(window) failed: testdata/window.golden is not written, because CI is set. Write it where you can review it.", match(full(), "window"))
	require.Empty(t, tree(t))
	t.Setenv("CI", "")
	require.Empty(t, match(full(), "window"))

	// What is right already is not written again, so that its time stays.
	old := time.Unix(1_000_000_000, 0)
	require.NoError(t, os.Chtimes("testdata/window.golden", old, old))
	match(full(), "window")
	info, err := os.Stat("testdata/window.golden")
	require.NoError(t, err)
	require.True(t, info.ModTime().Equal(old))

	watch(func(t cupeltest.T) { cupeltest.Should(t, new(report)).HaveKindCoverageCount(1).MatchGolden("skipped") })
	require.Equal(t, []string{"testdata/window.golden"}, tree(t), "a link after a failure wrote its file")

	require.NoError(t, os.WriteFile("testdata/file", nil, 0o600))
	require.Contains(t, match(full(), "file/window"), " cannot be written: mkdir testdata")
	t.Setenv(cupeltest.UpdateVariable, "")
	require.NoError(t, os.Mkdir("testdata/folder.golden", 0o700))
	require.Contains(t, match(full(), "folder"), " the golden file cannot be read: ")
}

func TestMatchGoldenRefusesNames(t *testing.T) {
	elsewhere(t)
	t.Setenv(cupeltest.UpdateVariable, "1")
	for _, name := range []string{"", "a/", "..", "../window", "a/../b", "./a", "/tmp/window", "a//b", `a\b`, "not \xff unicode"} {
		want := "MatchGolden(" + strings.ReplaceAll(name, "\xff", `\xff`) + ") failed: the name must be a path below testdata, with slashes and without dots as elements."
		require.Equal(t, want, match(full(), name))
	}
	require.Empty(t, tree(t))
}

// Names may hold what ends a line: no name looks like a line of its own.
func TestMatchGoldenOfNamesWithLineEnds(t *testing.T) {
	elsewhere(t)
	const name = "a\r\nb\r\n\nexcluded: 0\x00\xff"
	r := &report{
		Included:                   []cupel.IncludedItem{{Item: cupeltest.Item("\r\n", 1, cupel.WithKind(name), cupel.WithSource(name)), Reason: name}},
		CountRequirementShortfalls: []cupel.CountRequirementShortfall{{Kind: name, RequiredCount: 1}},
	}
	require.Equal(t, `in:
  "\r\n" (a\r\nb\r\n\nexcluded: 0\x00\xff, a\r\nb\r\n\nexcluded: 0\x00\xff, 1 tokens): a\r\nb\r\n\nexcluded: 0\x00\xff

out:

shortfalls:
  a\r\nb\r\n\nexcluded: 0\x00\xff has 0 of 1 required items
`, written(t, r, "window"))
	require.Empty(t, match(r, "window"))
}

// The order of the file is that of the window, and then that of the candidates;
// forms are part of a decision.
func TestMatchGoldenOrder(t *testing.T) {
	elsewhere(t)
	hint := cupel.WithFutureRelevanceHint
	items := []*cupel.ContextItem{
		cupeltest.Item("low", 50, hint(0.1)), cupeltest.Item("high", 60, hint(0.9)),
		cupeltest.Item("document", 40, hint(0.95), cupel.WithVariants(cupel.Variant{Content: "outline", Tokens: 15, Worth: 0.9})),
	}
	r := dryRun(t, newPipeline(t, pipeline.Config{}), items, cupeltest.Budget(20, 20))
	require.Equal(t, "high", r.Excluded[0].Item.Content())
	require.Equal(t, `in:
  "outline" (Message, Chat, 15 tokens): Scored, form 1

out:
  "low" (Message, Chat, 50 tokens): BudgetExceeded
  "high" (Message, Chat, 60 tokens): BudgetExceeded
`, written(t, r, "window"))
	err := errOf(r, func(c *chain) *chain { return c.IncludeNoItemMatching(cupeltest.ByContent("outline").Included) })
	require.ErrorContains(t, err, "\n\t\"outline\" is included at index 0 of 1: Scored, score 0.95, 15 tokens, form 1")
}

// A mismatch is shown as decisions, or as lines if no decision differs.
func TestMatchGoldenListsChanges(t *testing.T) {
	elsewhere(t)
	entry := func(name string) cupel.IncludedItem { return named(name, cupel.KindMessage, 1, 0) }
	before := &report{
		Included: []cupel.IncludedItem{entry("first"), entry("second"), entry("third"), entry("a | b: c): d"), entry("twin")},
		Excluded: []cupel.ExcludedItem{
			{Item: entry("large").Item, Reason: exceeded(1, 0)}, {Item: entry("copy").Item, Reason: because(cupel.ExcludeDeduplicated)}, {Item: entry("gone").Item, Reason: exceeded(1, 0)},
		},
	}
	after := &report{
		Included: []cupel.IncludedItem{entry("third"), entry("first"), entry("large"), entry("a | b: c): d"), entry("twin")},
		Excluded: []cupel.ExcludedItem{{Item: entry("second").Item, Reason: exceeded(1, 0)}, {Item: entry("copy").Item, Reason: because(cupel.ExcludeFiltered)}, {Item: entry("new").Item, Reason: exceeded(1, 0)}, {Item: entry("twin").Item, Reason: exceeded(1, 0)}},
	}
	written(t, before, "window")
	require.Equal(t, `MatchGolden(window) failed: the report differs from testdata/window.golden:
came:
  "large" (Message, Chat, 1 tokens): Scored, was BudgetExceeded
went:
  "second" (Message, Chat, 1 tokens): BudgetExceeded, was Scored
moved:
  "first" (Message, Chat, 1 tokens): place 2, was 1
reason changed:
  "copy" (Message, Chat, 1 tokens): Filtered, was Deduplicated
If the report is right, run the test with CUPELTEST_UPDATE=1.`, match(after, "window"))

	more := *before
	more.Included = append(slices.Clone(before.Included), entry("new"))
	more.Excluded = before.Excluded[1:]
	require.Contains(t, match(&more, "window"), "\ncame:\n  \"new\" (Message, Chat, 1 tokens): Scored, was not a candidate\n")

	scarce := *before
	scarce.CountRequirementShortfalls = []cupel.CountRequirementShortfall{{Kind: "K", RequiredCount: 1}}
	require.Contains(t, match(&scarce, "window"), "\n- golden file, + report\n+ shortfalls:\n+   K has 0 of 1 required items\n")
}

func TestGoldenWithHiddenContents(t *testing.T) {
	elsewhere(t)
	hidden := cupeltest.WithHiddenContents()
	text := written(t, full(), "hidden", hidden)
	require.NotContains(t, text, "Answer")
	require.Contains(t, text, "(61 bytes, sha256 "+hashOfX61+"…)")
	written(t, full(), "shown")
	require.Empty(t, match(full(), "shown", hidden), "the file is right, with its contents too")

	changed := full()
	changed.Included = changed.Included[1:]
	require.Contains(t, match(changed, "hidden", hidden), ":\nwent:\n")
	require.Equal(t, "MatchGolden(shown) failed: the report differs from testdata/shown.golden, which has contents that are to be hidden. "+
		"Run the test without hidden contents to see the difference.", match(changed, "shown", hidden))
}
