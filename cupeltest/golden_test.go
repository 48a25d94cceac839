package cupeltest_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/wollax/cupel-go/cupel"
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

const fullGolden = `candidates: 5, 657 tokens

included: 2, 70 tokens
  "Answer \"briefly\".\n" (SystemPrompt, Chat, 50 tokens): score 1, Pinned
  "a" (Message, Chat, 20 tokens): score 0.30000000000000004, Scored

excluded: 3
  "ToolOutput 500" (ToolOutput, Chat, 500 tokens): score 0.9, BudgetExceeded: 500 tokens requested, 120 available
  "Message 80" (Message, Chat, 80 tokens): score 0.75, Deduplicated: against "Message 80"
  "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"… (61 bytes, sha256 ` + hashOfX61 + `…) (Message, Chat, 7 tokens): score 0.5, PinnedOverride: displaced by "Answer"

shortfalls: 1
  Memory has 1 of 3 required items

overflow: 1 items, 30 tokens above the target of 40

events: 2
  Slice: 1, "BudgetExceeded: 500 tokens requested, 120 available"
  Slice: 3
`

// match runs MatchGolden and returns what it reports, "" when it holds.
func match(r *report, name string) string {
	return strings.Join(watch(func(t cupeltest.T) { cupeltest.Should(t, r).MatchGolden(name) }).messages, "\n")
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
	t.Chdir(t.TempDir())
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
	want = `MatchGolden(window) failed: the report differs from testdata/window.golden (- golden file, + report):
- candidates: 5, 657 tokens
+ candidates: 5, 658 tokens

  included: 2, 70 tokens
    "Answer \"briefly\".\n" (SystemPrompt, Chat, 50 tokens): score 1, Pinned
-   "a" (Message, Chat, 20 tokens): score 0.30000000000000004, Scored
+   "a" (Message, Chat, 20 tokens): score 0.25, Scored

  excluded: 3
  …
If the report is right, run the test with CUPELTEST_UPDATE=1.`
	if got := match(other, "window"); got != want {
		t.Errorf("another report:\n%s\nwant\n%s", got, want)
	}
	if data, err := os.ReadFile("testdata/window.golden"); err != nil || string(data) != fullGolden {
		t.Error("the golden file changed without an update")
	}
}

// Durations and times are not decisions.
func TestMatchGoldenIgnoresTimes(t *testing.T) {
	t.Chdir(t.TempDir())
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
	t.Chdir(t.TempDir())
	writeFile(t, "testdata/window.golden", fullGolden)
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
		if match(r, "window") == "" {
			t.Errorf("another %s is not seen", name)
		}
	}
}

func TestMatchGoldenUpdate(t *testing.T) {
	t.Chdir(t.TempDir())
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
	if got := match(new(report), "new"); got != "" {
		t.Error(got)
	}
	if got := tree(t); got != "testdata testdata/deep testdata/deep/er testdata/deep/er/window.golden testdata/new.golden" {
		t.Errorf("the files are %s", got)
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
	t.Chdir(t.TempDir())
	t.Setenv(cupeltest.UpdateVariable, "1")
	const below = "must be a path below testdata, with slashes and without dots as elements."
	for name, want := range map[string]string{
		"":                 "is empty.",
		".":                "is a directory.",
		"a/":               "is a directory.",
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
		if got, want := match(full(), name), "MatchGolden("+name+") failed: the name "+want; got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
	if got := tree(t); got != "" {
		t.Errorf("files were written: %s", got)
	}
}

func TestMatchGoldenStaysInsideTestdata(t *testing.T) {
	t.Chdir(t.TempDir())
	t.Setenv(cupeltest.UpdateVariable, "1")
	outside := t.TempDir()
	writeFile(t, "testdata/a.golden", "")
	if err := os.Symlink(outside, "testdata/out"); err != nil {
		t.Skip("no symbolic links here:", err)
	}
	if got := match(full(), "out/window"); !strings.HasPrefix(got, "MatchGolden(out/window) failed: the golden file cannot be written: ") {
		t.Errorf("a link out of the folder: %q", got)
	}
	if entries, err := os.ReadDir(outside); err != nil || len(entries) > 0 {
		t.Errorf("outside there is %v (%v)", entries, err)
	}
	t.Setenv(cupeltest.UpdateVariable, "")
	if got := match(full(), "out/window"); !strings.HasPrefix(got, "MatchGolden(out/window) failed: the golden file cannot be read: ") {
		t.Errorf("a link out of the folder: %q", got)
	}
}

// Names may hold what ends a line: the file is the same when it is read again,
// with the ends of lines that Git may give it, and no name looks like a line of
// its own.
func TestMatchGoldenOfNamesWithLineEnds(t *testing.T) {
	t.Chdir(t.TempDir())
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
	if lines := strings.Count(string(data), "\n"); lines != 13 || strings.Contains(string(data), "\r") {
		t.Errorf("%d lines, want 1 and 4 times 3:\n%s", lines, data)
	}
	const line = `  "\r\n" (a\r\nb\r\n\nexcluded: 0\x00\xff, a\r\nb\r\n\nexcluded: 0\x00\xff, 1 tokens): score 0, a\r\nb\r\n\nexcluded: 0\x00\xff`
	if !strings.Contains(string(data), "\n"+line+"\n") {
		t.Errorf("the line\n%s\nis not in\n%s", line, data)
	}
}

// Two runs of one pipeline give one file.
func TestMatchGoldenOfRuns(t *testing.T) {
	t.Chdir(t.TempDir())
	pipeline, err := cupel.New(cupel.Config{Scorer: scorer.Recency{}, Slicer: slicer.Greedy{}, Placer: placer.UShaped{}})
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

func TestLongDiffsAreCut(t *testing.T) {
	t.Chdir(t.TempDir())
	writeFile(t, "testdata/window.golden", fullGolden)
	r := full()
	for i := range 5000 { // past the size up to which a table is made
		r.Excluded = append(r.Excluded, out("Z", i, 0, because(cupel.ExcludeFiltered)))
	}
	got := match(r, "window")
	if lines := strings.Count(got, "\n"); lines != 62 || !strings.Contains(got, "more lines\nIf the report is right") {
		t.Errorf("%d lines: %.2000s", lines, got)
	}
}
