package cupeltest_test

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/cupel/placer"
	"github.com/wollax/cupel-go/cupel/scorer"
	"github.com/wollax/cupel-go/cupel/slicer"
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
		Included: []cupel.IncludedItem{{Item: pinned, Score: 1, Reason: cupel.IncludePinned}, named("a", cupel.KindMessage, 20, 0.30000000000000004)},
		Excluded: []cupel.ExcludedItem{
			out(cupel.KindToolOutput, 500, 0.9, exceeded(500, 120)),
			out(cupel.KindMessage, 80, 0.75, cupel.NewExclusionReason(cupel.ExcludeDeduplicated, cupel.ReasonData{DeduplicatedAgainst: "Message 80"})),
			{Item: cupeltest.Item(strings.Repeat("x", 61), 7), Score: 0.5, Reason: cupel.NewExclusionReason(cupel.ExcludePinnedOverride, cupel.ReasonData{DisplacedBy: "Answer"})},
		},
		TotalCandidates:            5,
		TotalTokensConsidered:      657,
		CountRequirementShortfalls: []cupel.CountRequirementShortfall{{Kind: cupel.KindMemory, RequiredCount: 3, SatisfiedCount: 1}},
		Overflow:                   &cupel.OverflowEvent{TokensOverBudget: 30, OverflowingItems: []*cupel.ContextItem{pinned}, Budget: cupeltest.Budget(100, 40)},
	}
}

const fullGolden = `in:
  "Answer \"briefly\".\n" (SystemPrompt, Chat, 50 tokens): Pinned
  "a" (Message, Chat, 20 tokens): Scored

out:
  "ToolOutput 500" (ToolOutput, Chat, 500 tokens): BudgetExceeded
  "Message 80" (Message, Chat, 80 tokens): Deduplicated
  "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"… (61 bytes, sha256 ` + hashOfX61 + `…) (Message, Chat, 7 tokens): PinnedOverride

shortfalls:
  Memory has 1 of 3 required items

overflow: 30 tokens above the target of 40
`

const detailedGolden = `in:
  "Answer \"briefly\".\n" (SystemPrompt, Chat, 50 tokens): Pinned | place 1, score 1
  "a" (Message, Chat, 20 tokens): Scored | place 2, score 0.30000000000000004

out:
  "ToolOutput 500" (ToolOutput, Chat, 500 tokens): BudgetExceeded | score 0.9, 500 tokens requested, 120 available
  "Message 80" (Message, Chat, 80 tokens): Deduplicated | score 0.75, against "Message 80"
  "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"… (61 bytes, sha256 ` + hashOfX61 + `…) (Message, Chat, 7 tokens): PinnedOverride | score 0.5, displaced by "Answer"

shortfalls:
  Memory has 1 of 3 required items

overflow: 30 tokens above the target of 40

totals: 5 candidates, 657 tokens; 2 included, 70 tokens; 3 excluded
event: Slice, 1 items, BudgetExceeded: 500 tokens requested, 120 available
event: Slice, 3 items
`

// match runs MatchGolden and returns what it reports, "" when it holds.
func match(r *report, name string, opts ...cupeltest.GoldenOption) string {
	return strings.Join(watch(func(t cupeltest.T) { cupeltest.Should(t, r).MatchGolden(name, opts...) }).messages, "\n")
}

// tree lists the files below the current folder.
func tree(t *testing.T) string {
	t.Helper()
	var names []string
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err == nil && path != "." {
			names = append(names, filepath.ToSlash(path))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(names, " ")
}

func writeFile(t *testing.T, name, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestMatchGolden(t *testing.T) {
	elsewhere(t)
	t.Setenv(cupeltest.UpdateVariable, "")

	want := "MatchGolden(window) failed: there is no golden file testdata/window.golden. To write it, run the test with CUPELTEST_UPDATE=1."
	if got := match(full(), "window"); got != want {
		t.Errorf("without a file: %q, want %q", got, want)
	}
	if got := tree(t); got != "" {
		t.Errorf("unexpected files were written: %s", got)
	}

	writeFile(t, "testdata/window.golden", fullGolden)
	if got := match(full(), "window"); got != "" {
		t.Errorf("the right file: %s", got)
	}
	writeFile(t, "testdata/crlf.golden", strings.ReplaceAll(fullGolden, "\n", "\r\n"))
	if got := match(full(), "crlf"); got != "" {
		t.Errorf("the right file with other line ends: %s", got)
	}

	other := full()
	other.Included[1].Score = 0.25
	other.TotalTokensConsidered++
	other.Excluded[0].Reason = exceeded(500, 119)
	if got := match(other, "window"); got != "" {
		t.Errorf("scores, totals and sizes are details: %s", got)
	}

	writeFile(t, "testdata/details.golden", detailedGolden)
	if got := match(full(), "details", cupeltest.WithDetails()); got != "" {
		t.Errorf("the right file with details: %s", got)
	}
	other = full()
	other.Included[1].Score = 0.25
	want = `MatchGolden(details) failed: the report differs from testdata/details.golden:
- golden file, + report
-   "a" (Message, Chat, 20 tokens): Scored | place 2, score 0.30000000000000004
+   "a" (Message, Chat, 20 tokens): Scored | place 2, score 0.25
If the report is right, run the test with CUPELTEST_UPDATE=1.`
	if got := match(other, "details", cupeltest.WithDetails()); got != want {
		t.Errorf("another report:\n%s\nwant\n%s", got, want)
	}
	if data, err := os.ReadFile("testdata/window.golden"); err != nil || string(data) != fullGolden {
		t.Error("the golden file changed without an update")
	}
}

// Durations and times are not decisions.
func TestMatchGoldenIgnoresTimes(t *testing.T) {
	elsewhere(t)
	writeFile(t, "testdata/window.golden", fullGolden)
	r := full()
	r.Events[0].DurationMS, r.Events[1].DurationMS = 0, 1e9
	r.Included[0].Item = cupeltest.Item("Answer \"briefly\".\n", 50, cupel.WithKind(cupel.KindSystemPrompt), cupel.WithTimestamp(time.Unix(0, 0)))
	if got := match(r, "window"); got != "" {
		t.Error(got)
	}
}

// Everything that a pipeline decides is in the file.
func TestMatchGoldenSeesEveryDecision(t *testing.T) {
	elsewhere(t)
	writeFile(t, "testdata/window.golden", detailedGolden)
	data := func(i int, change func(*cupel.ReasonData)) func(*report) {
		return func(r *report) {
			reason := &r.Excluded[i].Reason
			d := reason.Data()
			change(&d)
			*reason = cupel.NewExclusionReason(reason.Code, d)
		}
	}
	for name, change := range map[string]func(r *report){
		"order":            func(r *report) { r.Included[0], r.Included[1] = r.Included[1], r.Included[0] },
		"inclusion":        func(r *report) { r.Included = r.Included[:1] },
		"exclusion":        func(r *report) { r.Excluded = r.Excluded[:2] },
		"content":          func(r *report) { r.Included[1] = named("b", cupel.KindMessage, 20, 0.30000000000000004) },
		"end of a content": func(r *report) { r.Excluded[2].Item = cupeltest.Item(strings.Repeat("x", 60)+"y", 7) },
		"kind":             func(r *report) { r.Included[1] = named("a", cupel.KindMemory, 20, 0.30000000000000004) },
		"tokens":           func(r *report) { r.Excluded[2].Item = cupeltest.Item(strings.Repeat("x", 61), 8) },
		"source": func(r *report) {
			r.Excluded[2].Item = cupeltest.Item(strings.Repeat("x", 61), 7, cupel.WithSource("x"))
		},
		"last bit":          func(r *report) { r.Included[1].Score = 0.3 },
		"inclusion reason":  func(r *report) { r.Included[1].Reason = cupel.IncludeZeroToken },
		"exclusion reason":  func(r *report) { r.Excluded[0].Reason.Code = cupel.ExcludeFiltered },
		"data of another":   data(0, func(d *cupel.ReasonData) { d.Threshold = 0.5 }),
		"reason's data":     data(0, func(d *cupel.ReasonData) { d.AvailableTokens++ }),
		"reason's content":  data(2, func(d *cupel.ReasonData) { d.DisplacedBy = "Ask" }),
		"candidates":        func(r *report) { r.TotalCandidates++ },
		"shortfall":         func(r *report) { r.CountRequirementShortfalls[0].SatisfiedCount++ },
		"no shortfall":      func(r *report) { r.CountRequirementShortfalls = nil },
		"overflow":          func(r *report) { r.Overflow.TokensOverBudget++ },
		"no overflow":       func(r *report) { r.Overflow = nil },
		"count of an event": func(r *report) { r.Events[1].ItemCount++ },
		"event":             func(r *report) { r.Events = r.Events[1:] },
		"message":           func(r *report) { r.Events[1].Message = "m" },
	} {
		r := full()
		change(r)
		if match(r, "window", cupeltest.WithDetails()) == "" {
			t.Errorf("another %s is not seen", name)
		}
	}
}

func TestMatchGoldenUpdate(t *testing.T) {
	elsewhere(t)
	for _, value := range []string{"0", "false", "yes", " 1"} {
		t.Setenv(cupeltest.UpdateVariable, value)
		if match(full(), "window") == "" || tree(t) != "" {
			t.Errorf("a file was written with %s=%q", cupeltest.UpdateVariable, value)
		}
	}
	for _, value := range []string{"1", "true"} {
		t.Setenv(cupeltest.UpdateVariable, value)
		writeFile(t, "testdata/deep/er/window.golden", "old")
		if got := match(full(), "deep/er/window"); got != "" {
			t.Errorf("with %s=%s: %s", cupeltest.UpdateVariable, value, got)
		}
		if data, err := os.ReadFile("testdata/deep/er/window.golden"); err != nil || string(data) != fullGolden {
			t.Errorf("with %s=%s the file is %q (%v)", cupeltest.UpdateVariable, value, data, err)
		}
	}
	for _, name := range []string{"new", "new/er/window"} {
		if got := match(new(report), name); got != "" {
			t.Error(got)
		}
	}
	if got := tree(t); got != "testdata testdata/deep testdata/deep/er testdata/deep/er/window.golden testdata/new testdata/new/er testdata/new/er/window.golden testdata/new.golden" {
		t.Errorf("the files are %s", got)
	}
	if data, err := os.ReadFile("testdata/new.golden"); err != nil || string(data) != "in:\n\nout:\n" {
		t.Errorf("an empty report is %q (%v)", data, err)
	}

	// What is right already is not written again, so that its time stays.
	old := time.Unix(1_000_000_000, 0)
	if err := os.Chtimes("testdata/new.golden", old, old); err != nil {
		t.Fatal(err)
	}
	match(new(report), "new")
	if info, err := os.Stat("testdata/new.golden"); err != nil || !info.ModTime().Equal(old) {
		t.Errorf("the file was written again: %v", err)
	}

	// A link that is skipped writes nothing.
	watch(func(t cupeltest.T) { cupeltest.Should(t, new(report)).HaveKindCoverageCount(1).MatchGolden("skipped") })
	if strings.Contains(tree(t), "skipped") {
		t.Error("a link after a failure wrote its file")
	}
}

func TestMatchGoldenRefusesNames(t *testing.T) {
	elsewhere(t)
	t.Setenv(cupeltest.UpdateVariable, "1")
	const below = "must be a path below testdata, with slashes and without dots as elements."
	for name, want := range map[string]string{
		"":                 below,
		".":                below,
		"a/":               below,
		"..":               below,
		"../window":        below,
		"a/../../window":   below,
		"a/../b":           below,
		"./a":              below,
		"/tmp/window":      below,
		"a//b":             below,
		`..\window`:        below,
		`a\b`:              below,
		"not \xff unicode": below,
	} {
		if got, want := match(full(), name), "MatchGolden("+strings.ReplaceAll(name, "\xff", `\xff`)+") failed: the name "+want; got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
	if got := tree(t); got != "" {
		t.Errorf("files were written: %s", got)
	}
}

func TestMatchGoldenStaysInsideTestdata(t *testing.T) {
	elsewhere(t)
	t.Setenv(cupeltest.UpdateVariable, "1")
	outside := t.TempDir()
	writeFile(t, "testdata/a.golden", "")
	if err := os.Symlink(outside, "testdata/out"); err != nil {
		t.Skip("no symbolic links here:", err)
	}
	if got := match(full(), "out/window"); !strings.HasPrefix(got, "MatchGolden(out/window) failed: the golden file cannot be written: ") {
		t.Errorf("a link out of the folder: %q", got)
	}
	if got := match(full(), "out/er/window"); !strings.Contains(got, " cannot be written: mkdir") {
		t.Errorf("a folder out of the folder: %q", got)
	}
	if entries, err := os.ReadDir(outside); err != nil || len(entries) > 0 {
		t.Errorf("outside there is %v (%v)", entries, err)
	}
	t.Setenv(cupeltest.UpdateVariable, "")
	if got := match(full(), "out/window"); !strings.HasPrefix(got, "MatchGolden(out/window) failed: the golden file cannot be read: ") {
		t.Errorf("a link out of the folder: %q", got)
	}
}

// Others may read what is written, and change it as far as the system's mask
// allows.
func TestMatchGoldenModes(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there are no such modes")
	}
	elsewhere(t)
	if err := os.Mkdir("all", 0o777); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat("all")
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv(cupeltest.UpdateVariable, "1")
	match(full(), "deep/window")
	for name, want := range map[string]fs.FileMode{"testdata": 0o755, "testdata/deep": 0o755, "testdata/deep/window.golden": 0o644} {
		if got, err := os.Stat(name); err != nil || got.Mode().Perm() != want&info.Mode().Perm() {
			t.Errorf("%s has mode %v (%v), want %v", name, got.Mode(), err, want&info.Mode().Perm())
		}
	}

	if err := errors.Join(os.RemoveAll("testdata"), os.WriteFile("testdata", nil, 0o644)); err != nil {
		t.Fatal(err)
	}
	if got := match(full(), "window"); !strings.Contains(got, " cannot be written: mkdir testdata") {
		t.Errorf("a file in place of the folder: %q", got)
	}
}

// Names may hold what ends a line: the file is the same when it is read again,
// with the ends of lines that Git may give it, and no name looks like a line of
// its own.
func TestMatchGoldenOfNamesWithLineEnds(t *testing.T) {
	elsewhere(t)
	const name = "a\r\nb\r\n\nexcluded: 0\x00\xff"
	r := &report{
		Included:                   []cupel.IncludedItem{{Item: cupeltest.Item("\r\n", 1, cupel.WithKind(name), cupel.WithSource(name)), Reason: name}},
		Excluded:                   []cupel.ExcludedItem{{Item: cupeltest.Item("x", 1), Reason: cupel.NewExclusionReason(name, cupel.ReasonData{FilterName: name})}},
		CountRequirementShortfalls: []cupel.CountRequirementShortfall{{Kind: name, RequiredCount: 1}},
		Events:                     []cupel.TraceEvent{{Stage: name}},
	}
	t.Setenv(cupeltest.UpdateVariable, "1")
	if got := match(r, "window"); got != "" {
		t.Fatal(got)
	}
	t.Setenv(cupeltest.UpdateVariable, "")
	if got := match(r, "window"); got != "" {
		t.Errorf("the file that was just written: %s", got)
	}
	data, err := os.ReadFile("testdata/window.golden")
	if err != nil {
		t.Fatal(err)
	}
	if lines := strings.Count(string(data), "\n"); lines != 8 || strings.Contains(string(data), "\r") {
		t.Errorf("%d lines, want 2, 3 and 3:\n%s", lines, data)
	}
	const line = `  "\r\n" (a\r\nb\r\n\nexcluded: 0\x00\xff, a\r\nb\r\n\nexcluded: 0\x00\xff, 1 tokens): a\r\nb\r\n\nexcluded: 0\x00\xff`
	if !strings.Contains(string(data), "\n"+line+"\n") {
		t.Errorf("the line\n%s\nis not in\n%s", line, data)
	}
}

// Two runs of one pipeline give one file.
func TestMatchGoldenOfRuns(t *testing.T) {
	elsewhere(t)
	pipeline, err := pipeline.New(pipeline.Config{Scorer: scorer.Recency{}, Slicer: slicer.Greedy{}, Placer: placer.UShaped{}})
	if err != nil {
		t.Fatal(err)
	}
	run := func() *report {
		return cupeltest.DryRun(t, pipeline, cupeltest.Items(10, 20, 300), cupeltest.Budget(100, 50))
	}
	t.Setenv(cupeltest.UpdateVariable, "1")
	cupeltest.Should(t, run()).MatchGolden("run")
	t.Setenv(cupeltest.UpdateVariable, "0")
	cupeltest.Should(t, run()).MatchGolden("run")
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
	r := cupeltest.DryRun(t, newPipeline(t, pipeline.Config{}), items, cupeltest.Budget(20, 20))
	t.Setenv(cupeltest.UpdateVariable, "1")
	cupeltest.Should(t, r).MatchGolden("window")
	const want = `in:
  "outline" (Message, Chat, 15 tokens): Scored, form 1

out:
  "low" (Message, Chat, 50 tokens): BudgetExceeded
  "high" (Message, Chat, 60 tokens): BudgetExceeded
`
	if data, err := os.ReadFile("testdata/window.golden"); err != nil || string(data) != want || r.Excluded[0].Item.Content() != "high" {
		t.Errorf("the file is\n%s(%v), want\n%s", data, err, want)
	}
	err := errOf(r, func(c *chain) *chain { return c.IncludeNoItemMatching(cupeltest.ByContent("outline").Included) })
	if err == nil || !strings.HasSuffix(err.Error(), "\n\toutline is included at index 0 of 1: Scored, score 0.95, 15 tokens, form 1") {
		t.Errorf("a form is named as %v", err)
	}
}

// A mismatch is shown as decisions.
func TestMatchGoldenTellsWhatChanged(t *testing.T) {
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
	t.Setenv(cupeltest.UpdateVariable, "1")
	match(before, "window")
	t.Setenv(cupeltest.UpdateVariable, "")
	want := `MatchGolden(window) failed: the report differs from testdata/window.golden:
came:
  "large" (Message, Chat, 1 tokens): Scored, was BudgetExceeded
went:
  "second" (Message, Chat, 1 tokens): is BudgetExceeded, was Scored
moved:
  "first" (Message, Chat, 1 tokens): place 2, was 1
reason changed:
  "copy" (Message, Chat, 1 tokens): Filtered, was Deduplicated
If the report is right, run the test with CUPELTEST_UPDATE=1.`
	if got := match(after, "window"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// Removing one candidate of 1,000 changes its line, and those of items that came or
// went because of it.
func TestGoldenOfOneCandidateLess(t *testing.T) {
	elsewhere(t)
	random := rand.New(rand.NewPCG(1, 2))
	var items []*cupel.ContextItem
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for i := range 1000 {
		items = append(items, cupeltest.Item(fmt.Sprintf("note %d", i), 10+random.IntN(90), cupel.WithTimestamp(start.Add(time.Duration(i)*time.Hour))))
	}
	pipeline := newPipeline(t, pipeline.Config{Scorer: scorer.Recency{}, Slicer: slicer.Greedy{}, Placer: placer.Chronological{}})
	write := func(items []*cupel.ContextItem) []string {
		t.Setenv(cupeltest.UpdateVariable, "1")
		cupeltest.Should(t, cupeltest.DryRun(t, pipeline, items, cupeltest.Budget(5000, 5000))).MatchGolden("window")
		data, err := os.ReadFile("testdata/window.golden")
		if err != nil {
			t.Fatal(err)
		}
		return strings.Split(string(data), "\n")
	}
	before := write(items)
	for _, at := range []int{3, 500, 990} {
		after := write(slices.Delete(slices.Clone(items), at, at+1))
		inAfter := make(map[string]bool)
		for _, line := range after {
			inAfter[line] = true
		}
		// What is still there and in the same section keeps the order too.
		rest := slices.DeleteFunc(slices.Clone(before), func(line string) bool { return !inAfter[line] })
		changed := len(before) - len(rest)
		if changed < 1 || changed > 10 || len(after)-len(rest) > 10 {
			t.Errorf("without candidate %d, %d lines of %d changed", at, changed, len(before))
		}
	}
}

func TestMatchGoldenIsNotWrittenInCI(t *testing.T) {
	elsewhere(t)
	t.Setenv(cupeltest.UpdateVariable, "1")
	for _, ci := range []string{"true", "1", "woodpecker"} {
		t.Setenv("CI", ci)
		if got := match(full(), "window"); got != "MatchGolden(window) failed: testdata/window.golden is not written, because CI is set. Write it where you can review it." || tree(t) != "" {
			t.Errorf("with CI=%s: %q, files: %s", ci, got, tree(t))
		}
	}
	for i, ci := range []string{"", "false", "0"} {
		t.Setenv("CI", ci)
		if got := match(full(), fmt.Sprint("window ", i)); got != "" {
			t.Errorf("with CI=%q: %s", ci, got)
		}
	}
	t.Setenv(cupeltest.UpdateVariable, "")
	t.Setenv("CI", "true")
	if got := match(full(), "other"); !strings.Contains(got, "there is no golden file") {
		t.Errorf("in CI, without an update: %q", got)
	}
}

func TestGoldenWithHiddenContents(t *testing.T) {
	elsewhere(t)
	t.Setenv(cupeltest.UpdateVariable, "1")
	cupeltest.Should(t, full(), cupeltest.WithHiddenContents()).MatchGolden("hidden", cupeltest.WithDetails())
	data, err := os.ReadFile("testdata/hidden.golden")
	if err != nil || strings.Contains(string(data), "briefly") || strings.Contains(string(data), "Answer") || !strings.Contains(string(data), "(61 bytes, sha256 "+hashOfX61+"…)") {
		t.Errorf("%v:\n%s", err, data)
	}
	cupeltest.Should(t, full()).MatchGolden("shown")
	t.Setenv(cupeltest.UpdateVariable, "")
	hidden := cupeltest.WithHiddenContents()
	cupeltest.Should(t, full(), hidden).MatchGolden("hidden", cupeltest.WithDetails()).MatchGolden("shown")

	changed := full()
	changed.Included = changed.Included[1:]
	for name, want := range map[string]string{
		"hidden": "went:\n",
		"shown":  "MatchGolden(shown) failed: the report differs from testdata/shown.golden, which has contents that are to be hidden. Run the test without hidden contents to see the difference.",
	} {
		err := errOf(changed, func(c *chain) *chain { return c.MatchGolden(name) }, hidden)
		if err == nil || strings.Contains(err.Error(), "Answer") || !strings.Contains(err.Error(), want) {
			t.Errorf("a change fails with %v, want %q and no content", err, want)
		}
	}
}
