package pipeline_test

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/cupel/slicer"
	"github.com/wollax/cupel-go/cupel/strategy"
)

// unitItems reads items, one per line or semicolon: content, tokens, score, and
// then any of
//
//	g=GROUP  k=KEY (version of)  t=SECONDS  kind=KIND  pin
//	v=TOKENS:WORTH,...   variants; their contents are "content.TOKENS"
//	gv=TOKENS:WORTH,...  group variants, "content*TOKENS"
//	w=WORD               a content of 60 more words, in which that one is its own
//
// A content ends at "/": a/1 and a/2 have the same content, a.
func unitItems(t testing.TB, text string) []*cupel.ContextItem {
	t.Helper()
	number := func(s string) float64 {
		if s == "big" { // 2^62 where int has 64 bits: four of them are one more than it can count
			return math.MaxInt/2 + 1
		}
		f, err := strconv.ParseFloat(s, 64)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	var items []*cupel.ContextItem
	for _, line := range strings.FieldsFunc(text, func(r rune) bool { return r == ';' || r == '\n' }) {
		f := strings.Fields(line)
		if len(f) == 0 {
			continue
		}
		content, _, _ := strings.Cut(f[0], "/")
		opts := []cupel.ItemOption{hint(number(f[2]))}
		for _, field := range f[3:] {
			key, value, _ := strings.Cut(field, "=")
			forms := func(mark string) (list []cupel.Variant) {
				for form := range strings.SplitSeq(value, ",") {
					tokens, worth, _ := strings.Cut(form, ":")
					list = append(list, cupel.Variant{Content: content + mark + tokens, Tokens: int(number(tokens)), Worth: number(worth)})
				}
				return list
			}
			switch key {
			case "g":
				opts = append(opts, cupel.WithGroup(value))
			case "k":
				opts = append(opts, cupel.WithVersionOf(value))
			case "t":
				opts = append(opts, cupel.WithTimestamp(time.Unix(int64(number(value)), 0)))
			case "kind":
				opts = append(opts, cupel.WithKind(cupel.ContextKind(value)))
			case "pin":
				opts = append(opts, cupel.WithPinned())
			case "v":
				opts = append(opts, cupel.WithVariants(forms(".")...))
			case "gv":
				opts = append(opts, cupel.WithGroupVariants(forms("*")...))
			case "w":
				words := strings.Fields(strings.Repeat("so it goes with the words of a long text ", 6))
				for i := range words {
					words[i] += string(rune('a'+i/26)) + string(rune('a'+i%26))
				}
				words[int(number(value))] = content
				content += " " + strings.Join(words, " ")
			default:
				t.Fatalf("field %q", field)
			}
		}
		items = append(items, item(t, content, int(number(f[1])), opts...))
	}
	return items
}

// entries lists the included items as content(tokens), with * for a pinned one, #FORM
// for a smaller form, ~ for a stale one, and 0 for the reason ZeroToken.
func entries(list []cupel.IncludedItem) string {
	var all []string
	for _, e := range list {
		content, _, _ := strings.Cut(e.Item.Content(), " ")
		text := fmt.Sprintf("%s(%d)", content, e.Item.Tokens())
		if e.Form > 0 {
			text += fmt.Sprint("#", e.Form)
		}
		if e.Stale {
			text += "~"
		}
		switch e.Reason {
		case cupel.IncludePinned:
			text = "*" + text
		case cupel.IncludeZeroToken:
			text += "0"
		case cupel.IncludeScored:
		}
		all = append(all, text)
	}
	return strings.Join(all, " ")
}

// reasons lists the excluded items with their reasons, shortened.
func reasons(list []cupel.ExcludedItem) string {
	var all []string
	for _, e := range list {
		content, _, _ := strings.Cut(e.Item.Content(), " ")
		text := fmt.Sprintf("%s@%.3g", content, e.Score)
		if e.Stale {
			text += "~"
		}
		other := func(s string) string { s, _, _ = strings.Cut(s, " "); return s }
		switch d := e.Reason.Data(); e.Reason.Code {
		case cupel.ExcludeBudgetExceeded:
			text += fmt.Sprintf(" %d/%d", d.ItemTokens, d.AvailableTokens)
			if d.GroupTokens != 0 {
				text += fmt.Sprint(" of ", d.GroupTokens)
			}
		case cupel.ExcludeNegativeTokens:
			text += fmt.Sprint(" ", d.Tokens)
		case cupel.ExcludeDeduplicated:
			text += " is " + other(d.DeduplicatedAgainst)
		case cupel.ExcludeSuperseded:
			text += " older than " + other(d.SupersededBy)
		case cupel.ExcludeNearDuplicate:
			text += fmt.Sprintf(" %.2f of %s", d.Similarity, other(d.Of))
		case cupel.ExcludePinnedOverride:
			text += " for " + other(d.DisplacedBy)
		default:
			text += " " + string(e.Reason.Code)
		}
		all = append(all, text)
	}
	return strings.Join(all, "; ")
}

// pipelineOf builds the pipeline that some words describe.
func pipelineOf(t testing.TB, how string) *pipeline.Pipeline {
	t.Helper()
	return newPipeline(t, func(c *pipeline.Config) {
		for word := range strings.FieldsSeq(how) {
			switch word {
			case "greedy":
				c.Slicer = slicer.Greedy{}
			case "knapsack":
				c.Slicer = slicer.Must(slicer.NewKnapsack(slicer.WithBucketSize(1)))
			case "multipleChoice":
				c.Slicer = slicer.MultipleChoice{}
			case "inOrder":
				c.Slicer = inOrder
			case "everything":
				c.Slicer = everything
			case "truncate":
				c.Overflow = pipeline.OverflowTruncate
			case "proceed":
				c.Overflow = pipeline.OverflowProceed
			case "KeepDuplicates":
				c.KeepDuplicates = true
			case "near":
				c.NearDuplicates = 0.8
			}
		}
	})
}

// budgetBy makes a budget with the settings that some words name.
func budgetBy(t testing.TB, how string, maxTokens, target int) cupel.ContextBudget {
	t.Helper()
	var opts []cupel.BudgetOption
	for word := range strings.FieldsSeq(how) {
		key, value, _ := strings.Cut(word, "=")
		n, _ := strconv.Atoi(value)
		switch key {
		case "reserve":
			opts = append(opts, cupel.WithOutputReserve(n))
		case "slots":
			opts = append(opts, cupel.WithReservedSlots(map[cupel.ContextKind]int{"x": n}))
		case "margin":
			opts = append(opts, cupel.WithEstimationSafetyMargin(float64(n)))
		}
	}
	return budgetOf(t, maxTokens, target, opts...)
}

// TestRuns has what is in, what is out, and why.
func TestRuns(t *testing.T) {
	tests := []struct {
		why, items  string
		target, max int
		how, want   string // want is "window | excluded", or an error
	}{
		// Plain items
		{"no candidates", "", 100, 100, "inOrder", " | "},
		{"the slicer sees the best first", "low 60 .1; high 60 .9", 100, 100, "inOrder", "high(60) | low@0.1 60/40"},
		{"ties go by place", "a 1 .5; b 1 .5; c 1 .5", 2, 9, "inOrder", "a(1) b(1) | c@0.5 1/0"},
		{"NaN is last, infinities at the ends, and zeros tie", "nan 1 NaN; m 1 -0; z 1 0; lo 1 -Inf; hi 1 Inf", 9, 9, "everything", "hi(1) m(1) z(1) lo(1) nan(1) | "},
		{"pinned ones in the order given, then by score", "a 1 .1; p 1 0 pin; b 1 .2; q 1 0 pin", 9, 9, "everything", "*p(1) *q(1) b(1) a(1) | "},
		{"a negative count takes out what is pinned", "bad -1 0 pin; ok 1 0", 9, 9, "inOrder", "ok(1) | bad@0 -1"},
		{"of duplicates the best stays", "x/1 1 .1; y 1 .5; x/2 2 .9", 9, 9, "inOrder", "x(2) y(1) | x@0.1 is x"},
		{"0.9 > NaN is false", "x/1 1 NaN; x/2 2 .9", 9, 9, "inOrder", "x(1) | x@0.9 is x"},
		{"duplicates stay if they are to", "x/1 1 .1; x/2 2 .9", 9, 9, "inOrder KeepDuplicates", "x(2) x(1) | "},
		{"contents are compared byte for byte", "é 1 0; e\u0301 1 0; É 1 0; \ufeffé 1 0", 9, 9, "inOrder", "é(1) e\u0301(1) É(1) \ufeffé(1) | "},
		{"91 > 100 - 10", "p 91 0 pin", 50, 100, "inOrder reserve=10", "cupel: Pinned items require 91 tokens, but only 90 are available"},
		{"the check knows neither the target nor slots", "p 90 0 pin", 50, 100, "inOrder truncate reserve=10 slots=60", "*p(90) | "},
		{"four times 2^62 does not wrap", "p big 0 pin; q big 0 pin; r big 0 pin; s big 0 pin", 100, 100, "inOrder", "cupel: Pinned items require MAX tokens, but only 100 are available"},
		{"(90 - 30) less 10 % is 54", "a 54 1; b 1 0", 90, 100, "inOrder slots=30 margin=10", "a(54) | b@0 1/0"},
		{"more than the target fails", "a 60 0; b 60 0", 100, 200, "everything", "cupel: Selected items require 120 tokens, exceeding target budget of 100"},
		{"truncation keeps what fits behind what does not", "a 50 .9; b 60 .8; c 30 .7; z 0 .1; p 20 0 pin", 100, 200, "everything truncate", "*p(20) a(50) c(30) z(0)0 | b@0.8 60/30"},
		{"without the pinned one both fit", "a 50 .9; b 50 .8; p 20 0 pin", 100, 200, "everything truncate", "*p(20) a(50) | b@0.8 for p"},
		{"nothing fits once the target is passed", "p 120 0 pin; z 0 .1", 100, 200, "everything truncate", "*p(120) | z@0.1 for p"},
		{"everything stays", "a 60 .1; b 60 .2; p 5 0 pin", 100, 200, "everything proceed", "*p(5) b(60) a(60) | , 25 over: p b a"},
		{"a would fit if nothing were pinned, and d does on its own", "p 60 0 pin; a 50 .9; b 30 .8; c 101 .7; d 20 .1", 100, 200, "inOrder", "*p(60) b(30) | a@0.9 for p; c@0.7 101/10; d@0.1 20/10"},
		{"by score, then stage, then place", "d 99 0; x/1 98 0; x/2 97 0; n -4 0; m -3 0", 9, 9, "inOrder", " | n@0 -4; m@0 -3; x@0 is x; d@0 99/9; x@0 98/9"},
		{"a pinned item is pinned before it has no tokens", "p 0 .3 pin; z 0 .25; s 5 .75", 10, 10, "inOrder", "*p(0) s(5) z(0)0 | "},
		{"near copies leave, but for those in groups", "a 9 .9 w=30; b 9 .8 w=31; c 9 .7 w=32 g=g; d 9 .6 g=g", 100, 100, "inOrder near", "c(9) d(9) | a@0.9~ 0.88 of c; b@0.8~ 0.90 of c"},
		// Units
		{"a pinned unit shrinks by the members that the caller did not pin", "a 50 .5 g=g pin v=1:.5; b 50 .5 g=g v=10:.5", 99, 200, "greedy", "*a(50) *b.10(10)#1 | "},
		{"a member with negative tokens takes its group out", "a 10 .5 g=g; b -3 .5 g=g; c -5 .5 g=g pin; d 10 .25", 100, 100, "greedy", "d(10) | a@0 -3; b@0 -3; c@0 -3"},
		{"without timestamps the last counts", "a 10 .9 k=f; b 11 .5 k=f; c 12 .7 k=f; o 5 .6", 100, 100, "inOrder", "c(12) o(5) | a@0.9~ older than c; b@0.5~ older than c"},
		{"a pinned version stays", "a 10 .9 k=f pin; b 11 .5 k=f", 100, 100, "inOrder", "*a(10)~ b(11) | "},
		{"an older version comes back where the newest does not fit", "a 10 .9 k=f; b 60 .5 k=f; o 30 .6", 50, 50, "greedy", "a(10)~ o(30) | b@0.5 60/10"},
		{"where the newest would fit, the slicer has left both out", "a 10 .9 k=f; n 20 -.5 k=f", 50, 50, "multipleChoice", " | a@0.9~ older than n; n@-0.5 20/50"},
		{"nor within a target of 0", "a 0 .9 k=f; n 60 .5 k=f", 0, 50, "greedy", " | a@0.9~ older than n; n@0.5 60/0"},
		{"the survivor of the newest stands for it", "o/1 10 .9 k=f; x/1 60 .8; x/2 60 .5 k=f", 50, 50, "greedy", "o(10)~ | x@0.8 60/40; x@0.5 is x"},
		{"KeepDuplicates keeps them", "a 10 .5 g=g; a 10 .6 g=h; c 5 .5; c 5 .4", 100, 100, "inOrder KeepDuplicates", "a(10) a(10) c(5) c(5) | "},
		{"a group shrinks as one", "a 60 .5 g=g v=30:.5; b 60 .5 g=g v=10:.5; c 10 .9", 100, 100, "greedy", "c(10) a(60) b.10(10)#1 | "},
		{"a group variant stands for all members", "a 60 .5 g=g v=30:.5; b 60 .4 g=g gv=25:.9; c 10 .9", 50, 50, "greedy", "c(10) b*25(25)#2 b*25(0)#1 | "},
		{"a group is out with its tokens", "a 60 .5 g=g; b 60 .4 g=g; c 10 .9", 50, 50, "greedy", "c(10) | a@0.5 60/40 of 120; b@0.5 60/40 of 120"},
		{"pinned units are the reason", "p 40 .5 pin; a 30 .5 g=g; b 40 .4 g=g; c 70 .1; d 20 .1; e 90 .2 g=h; f 20 .2 g=h", 100, 100, "greedy", "*p(40) d(20) | a@0.5 for p; b@0.5 for p; e@0.2 90/40 of 110; f@0.2 20/40 of 110; c@0.1 for p"},
		{"a zero-token unit", "z 0 .5 g=g; y 0 .5 k=f; a 5 .1", 5, 5, "inOrder", "z(0)0 y(0)0 a(5) | "},
		{"Proceed keeps it all", "a 60 .9 v=30:.5; b 60 .8 g=g; c 30 .7 g=g", 100, 100, "everything proceed", "a(60) b(60) c(30) | , 50 over: a b c"},
	}
	for _, tt := range tests {
		p, items, budget := pipelineOf(t, tt.how), unitItems(t, tt.items), budgetBy(t, tt.how, tt.max, tt.target)
		window, err := p.Run(t.Context(), items, budget)
		report, again := p.DryRun(t.Context(), items, budget)
		got := entries(report.Included) + " | " + reasons(report.Excluded)
		if err != nil {
			got = strings.ReplaceAll(err.Error(), fmt.Sprint(math.MaxInt), "MAX")
		} else if n := len(report.Included) + len(report.Excluded); n != len(items) || report.TotalCandidates != n || contents(window) != contents(report.Window()) {
			t.Errorf("%s: %d of %d candidates are in the report, and the window is %s", tt.why, n, len(items), contents(window))
		}
		linked := tt.how == "inOrder near" || strings.Contains(tt.items, "=")
		for _, e := range report.Included {
			if e.Units != linked {
				t.Errorf("%s: the entry of %s has units: %t", tt.why, e.Item.Content(), e.Units)
			}
		}
		if report.Overflow != nil {
			got += fmt.Sprintf(", %d over: %s", report.Overflow.TokensOverBudget, contents(report.Overflow.OverflowingItems))
		}
		if got != tt.want || fmt.Sprint(err) != fmt.Sprint(again) {
			t.Errorf("%s: %s\n got %s\nwant %s", tt.why, tt.items, got, tt.want)
		}
	}
}

// describe says what strategies see: kind, content, tokens, score, members and forms.
func describe(list []cupel.ScoredItem) string {
	var all []string
	for _, it := range list {
		text := fmt.Sprintf("%s %s %d@%g", it.Item.Kind(), it.Item.Content(), it.Item.Tokens(), it.Score)
		if it.Item.Members() != nil {
			text += " of " + contents(it.Item.Members())
		}
		for _, f := range it.Item.Forms() {
			text += fmt.Sprintf(" %d:%.4g", f.Tokens, f.Worth)
		}
		all = append(all, text)
	}
	return strings.Join(all, "; ")
}

func TestStrategiesSeeUnits(t *testing.T) {
	for _, tt := range []struct{ why, items, slicer, placer string }{
		{"most of its tokens decide the kind of a group", "a 39 .5 g=g kind=Message; b 20 .5 g=g kind=Document; c 20 .5 g=g kind=document", "Document a 79@0.5 of a b c", "Document a 79@0.5 of a b c"},
		{"of equal kinds the first, as it is spelled", "a 20 .5 g=g kind=Memory; b 20 .5 g=g kind=note; c 9 .5 kind=NOTE", "Memory a 40@0.5 of a b; NOTE c 9@0.5", "Memory a 40@0.5 of a b; NOTE c 9@0.5"},
		{"with all forms and the best score", "a 60 .5 g=g v=40:.8,20:.1; b 40 .75 g=g v=30:.9,10:.3; c 9 .9 v=5:.5; p 5 0 pin", "Message c 9@0.9 5:0.5; Message a 100@0.75 of a b 90:0.96 70:0.84 50:0.6 30:0.18", "Message p 5@1; Message c 9@0.9 5:0.5; Message a.40 70@0.75 of a b 90:0.96 70:0.84 50:0.6 30:0.18"},
		{"pinned units that have shrunk", "a 60 .5 g=g pin; b 60 .75 g=g v=30:.9", "", "Message a 90@1 of a b 90:0.95"},
	} {
		var slicerSaw, placerSaw string
		p := newPipeline(t, withSlicer(sliceFunc(func(ctx context.Context, list []cupel.ScoredItem, budget cupel.SliceBudget) (strategy.Selection, error) {
			slicerSaw = describe(list)
			return strategy.CallSlicer(ctx, slicer.Greedy{}, list, budget)
		})), withPlacer(placeFunc(func(_ context.Context, list []cupel.ScoredItem, _ []int) error {
			placerSaw = describe(list)
			return nil
		})))
		if _, err := p.Run(t.Context(), unitItems(t, tt.items), budgetOf(t, 100, 100)); err != nil {
			t.Fatal(err)
		}
		if slicerSaw != tt.slicer || placerSaw != tt.placer {
			t.Errorf("%s\n got %q, %q\nwant %q, %q", tt.why, slicerSaw, placerSaw, tt.slicer, tt.placer)
		}
	}
}
