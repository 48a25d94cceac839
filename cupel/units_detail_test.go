package cupel_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/slicer"
)

// TestStagesCountMembers: stages count candidates, not units.
func TestStagesCountMembers(t *testing.T) {
	const (
		groups = "p 5 .5 g=p pin; q 5 .5 g=p; a 20 .9 g=g; b 20 .1 g=g; c 9 .5; a 20 .8 g=h; b 20 .2 g=h; n 3 .5 g=n; m -3 .5 g=n; d 90 .5; e 90 .5 g=e; f 90 .5 g=e"
		older  = "a 10 .9 k=f; c 5 .8 k=f; o 30 .6; b 60 .5 k=f"
	)
	tests := []struct {
		why, items, how string
		target          int
		batch           int // of a stream, 0 for a run
		want            string
	}{
		{"each member counts, in and out", groups, "greedy", 100, 0, "12-10 (2 out, 0 in) 8-8 (0 out, 0 in) 8-6 (2 out, 0 in) 6-3 (3 out, 0 in) 5-5 (0 out, 5 in) start Place 5 5 selected, 59 tokens"},
		{"a group variant counts each member for which it stands", "a 60 .5 g=g; b 60 .4 g=g gv=25:.9; c 10 .9", "greedy", 50, 0, "3-3 (0 out, 0 in) 3-3 (0 out, 0 in) 3-3 (0 out, 0 in) 3-3 (0 out, 0 in) 3-3 (0 out, 3 in) start Place 3 2 selected, 35 tokens"},
		{"an older version that came back counts at Slice and Place", older, "greedy", 50, 0, "4-4 (0 out, 0 in) 4-4 (0 out, 0 in) 4-2 (2 out, 0 in) 2-2 (1 out, 0 in) 2-2 (0 out, 2 in) start Place 2 2 selected, 40 tokens"},
		{"Truncate lets fewer through", "a 60 .9; b 30 .8 g=g; c 30 .2 g=g", "everything truncate", 70, 0, "3-3 (0 out, 0 in) 3-3 (0 out, 0 in) 3-3 (0 out, 0 in) 3-3 (0 out, 0 in) 3-1 (2 out, 1 in) start Place 3 1 selected, 60 tokens"},
		{"in one batch", groups, "greedy", 100, 99, "12-10 (2 out, 0 in) 8-8 (0 out, 0 in) 8-6 (2 out, 0 in) 6-3 (3 out, 0 in) 5-5 (0 out, 5 in) start Place 5 5 selected, 59 tokens"},
		{"in many", groups, "greedy", 100, 1, "12-10 (2 out, 0 in) 8-8 (0 out, 0 in) 8-6 (2 out, 0 in) 6-3 (3 out, 0 in) 5-5 (0 out, 5 in) start Place 5 5 selected, 59 tokens"},
		{"older versions in a batch", older, "greedy", 50, 99, "4-4 (0 out, 0 in) 4-4 (0 out, 0 in) 4-2 (2 out, 0 in) 2-1 (1 out, 0 in) 1-1 (0 out, 1 in) start Place 1 1 selected, 30 tokens"},
	}
	for _, tt := range tests {
		s := &spy{detail: cupel.TraceDetail{Items: true}}
		var err error
		if tt.batch == 0 {
			_, err = pipelineOf(t, tt.how).Run(t.Context(), unitItems(t, tt.items), budgetOf(t, tt.target, tt.target), cupel.WithTrace(s))
		} else {
			_, err = pipelineOf(t, tt.how).RunStream(t.Context(), streamed(unitItems(t, tt.items)), budgetOf(t, tt.target, tt.target),
				cupel.WithTrace(s), cupel.WithBatchSize(tt.batch))
		}
		if err != nil {
			t.Errorf("%s: %v", tt.why, err)
		}
		var got []string
		for _, e := range s.ends {
			got = append(got, fmt.Sprintf("%d-%d (%d out, %d in)", e.CountIn, e.CountOut, len(e.Excluded), len(e.Included)))
		}
		for _, line := range s.log {
			if strings.HasPrefix(line, "start Place ") {
				got = append(got, line)
			}
		}
		got = append(got, fmt.Sprintf("%d selected, %d tokens", s.run.Selected, s.run.SelectedTokens))
		if got := strings.Join(got, " "); got != tt.want {
			t.Errorf("%s: got %s\nwant %s", tt.why, got, tt.want)
		}
	}
}

// TestExplainUnits: what is in the way of a unit.
func TestExplainUnits(t *testing.T) {
	const items = "p 10 .5 g=p pin; q 5 .5 g=p; a 20 .9 g=g; b 20 .1 g=g; c 30 .5; d 60 .4 g=h; e 5 .1 g=h; o 1 .2 k=f; n 2 .1 k=f; f 40 .3 v=38:.5"
	tests := []struct {
		why, how  string
		target    int
		candidate int
		rule      string // a part of it
		before    []int
	}{
		{"what is in has no obstacle", "greedy", 100, 3, "", nil},
		{"a pinned unit never comes to the slicer", "greedy", 100, 1, "", nil},
		{"an older version does not either", "greedy", 100, 7, "", nil},
		{"a group is in the way with all of its members", "greedy", 100, 5, "highest score per token", []int{8, 2, 3, 4}},
		{"what is said of a group holds for each member", "greedy", 100, 6, "highest score per token", []int{8, 2, 3, 4}},
		{"pinned units leave nothing", "greedy", 15, 2, "Nothing is left", []int{0, 1}},
		{"what the slicer chose, and an overflow dropped", "everything truncate", 90, 5, "overflowed", []int{0, 1, 2, 3, 4}},
		{"what comes behind it does not count", "everything truncate", 58, 4, "overflowed", []int{0, 1, 2, 3}},
		{"what overflowed and is in", "everything truncate", 90, 4, "", nil},
		{"a candidate before the first", "greedy", 100, -1, "", nil},
		{"a candidate behind the last", "greedy", 100, 10, "", nil},
	}
	for _, tt := range tests {
		prepared, err := pipelineOf(t, tt.how).Prepare(t.Context(), unitItems(t, items))
		if err != nil {
			t.Fatal(err)
		}
		o, err := prepared.Explain(t.Context(), budgetOf(t, tt.target, tt.target), tt.candidate)
		if err != nil || (tt.rule == "") != (o.Rule == "") || !strings.Contains(o.Rule, tt.rule) || !slices.Equal(o.Before, tt.before) {
			t.Errorf("%s: got %q %v, %v, want %q %v", tt.why, o.Rule, o.Before, err, tt.rule, tt.before)
		}
	}
	prepared, err := pipelineOf(t, "everything throw").Prepare(t.Context(), unitItems(t, items))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := prepared.Explain(t.Context(), budgetOf(t, 50, 50), 4); !errors.Is(err, cupel.ErrOverflow) {
		t.Errorf("got %v: where the run fails, so does the explanation", err)
	}
}

// fixed is a slicer that always returns the same selection.
type fixed struct {
	sel      cupel.Selection
	leftOver func() bool
}

func (f *fixed) Slice(context.Context, []cupel.ScoredItem, cupel.SliceBudget) (cupel.Selection, error) {
	return f.sel, nil
}
func (f *fixed) LeftOver() bool { return f.leftOver() }

// TestLeftOver: the pass behind a slicer of any kind.
func TestLeftOver(t *testing.T) {
	smaller := func(pairs ...int) (list []cupel.SmallerForm) {
		for i := 0; i < len(pairs); i += 2 {
			list = append(list, cupel.SmallerForm{Index: pairs[i], Form: pairs[i+1]})
		}
		return list
	}
	dropped := func(at int) []cupel.Drop {
		return []cupel.Drop{{Index: at, Reason: cupel.NewExclusionReason(cupel.ExcludeFiltered, cupel.ReasonData{FilterName: "own"})}}
	}
	const two = "a 60 .9 v=40:.7,20:.4; b 50 .8 v=30:.6,10:.3"
	tests := []struct {
		why, items string
		target     int
		sel        cupel.Selection
		asks       bool
		indices    []int
		smaller    []cupel.SmallerForm
	}{
		{"one that does not ask keeps its selection", two, 100, cupel.Selection{Smaller: smaller(0, 2)}, false, nil, smaller(0, 2)},
		{"a smaller form grows, and another comes in", two, 100, cupel.Selection{Smaller: smaller(0, 2)}, true, []int{1}, smaller(0, 1)},
		{"within what is left", two, 49, cupel.Selection{Smaller: smaller(0, 2)}, true, nil, smaller(0, 2, 1, 2)},
		{"to the last token", two, 110, cupel.Selection{Smaller: smaller(0, 2)}, true, []int{0, 1}, nil},
		{"what is full does not change", two, 75, cupel.Selection{Indices: []int{1}}, true, []int{1}, smaller(0, 2)},
		{"what was dropped stays out", two, 100, cupel.Selection{Drops: dropped(1)}, true, []int{0}, nil},
		{"a target of 0 takes nothing", "a 60 .9 v=0:.5", 0, cupel.Selection{}, true, nil, nil},
		{"a form of 0 tokens comes in with nothing left", "b 9 .1; a 60 .9 v=0:.5", 9, cupel.Selection{Indices: []int{0}}, true, []int{0}, smaller(1, 1)},
		{"a selection above the target stays", two, 40, cupel.Selection{Indices: []int{0}}, true, []int{0}, nil},
		{"items without forms do not come in", "a 5 .9; b 50 .8 v=30:.6", 40, cupel.Selection{}, true, nil, smaller(1, 1)},
		{"the order given stays, what is new comes behind it", "a 5 .9; b 9 .8 v=3:.6; c 5 .7", 100, cupel.Selection{Indices: []int{2, 0}}, true, []int{2, 0, 1}, nil},
		{"smaller forms come by position", "a 50 .9 v=9:.1; b 50 .8 v=9:.6; c 50 .8 v=9:.6", 27, cupel.Selection{Smaller: smaller(2, 1)}, true, nil, smaller(0, 1, 1, 1, 2, 1)},
		{"a form that is worth less than the state is none", "a 50 -1 v=9:.1", 99, cupel.Selection{Smaller: smaller(0, 1)}, true, nil, smaller(0, 1)},
	}
	for _, tt := range tests {
		var list []cupel.ScoredItem
		for _, it := range unitItems(t, tt.items) {
			score, _ := it.FutureRelevanceHint()
			list = append(list, cupel.ScoredItem{Item: it, Score: score})
		}
		s := &fixed{tt.sel, func() bool { return tt.asks }}
		sel, err := cupel.Slice(t.Context(), s, list, cupel.SliceBudget{MaxTokens: tt.target, TargetTokens: tt.target})
		if err != nil || !slices.Equal(sel.Indices, tt.indices) || !slices.Equal(sel.Smaller, tt.smaller) || len(sel.Drops) != len(tt.sel.Drops) {
			t.Errorf("%s: got %v %v, %v, want %v %v", tt.why, sel.Indices, sel.Smaller, err, tt.indices, tt.smaller)
		}
	}
	s := &fixed{cupel.Selection{}, func() bool { panic("cannot say") }}
	list := []cupel.ScoredItem{{Item: unitItems(t, "a 60 .9 v=40:.7")[0], Score: 1}}
	if _, err := cupel.Slice(t.Context(), s, list, cupel.SliceBudget{MaxTokens: 9, TargetTokens: 9}); !errors.Is(err, cupel.ErrStrategy) {
		t.Errorf("got %v, want the panic of LeftOver as an error", err)
	}
	if _, err := cupel.Slice(t.Context(), &fixed{cupel.Selection{Smaller: smaller(0, 2)}, func() bool { return false }}, list,
		cupel.SliceBudget{MaxTokens: 9, TargetTokens: 9}); !errors.Is(err, cupel.ErrStrategy) {
		t.Errorf("got %v, want an error: there is no form 2", err)
	}
}

// TestContentsThatCannotBeMade: a run fails, and the error names the form.
func TestContentsThatCannotBeMade(t *testing.T) {
	broken := errors.New("broken")
	tests := []struct {
		why  string
		make func(context.Context) (string, error)
		want string
		is   error
	}{
		{"an error", func(context.Context) (string, error) { return "", broken }, "broken", broken},
		{"a text with an error is none", func(context.Context) (string, error) { return "text", broken }, "broken", broken},
		{"an empty text", func(context.Context) (string, error) { return "", nil }, "Make returned an empty text", cupel.ErrContent},
		{"a nil error of some type", func(context.Context) (string, error) { var e *nilError; return "text", e }, "failed with a nil *cupel_test.nilError", cupel.ErrContent},
		{"a panic", func(context.Context) (string, error) { panic("no") }, "panic: no", cupel.ErrContent},
	}
	for _, tt := range tests {
		for _, group := range []bool{false, true} {
			v := cupel.Variant{Make: tt.make, Tokens: 5, Worth: .5}
			field, opts := "variants[1]", []cupel.ItemOption{hint(.9), cupel.WithVariants(v, cupel.Variant{Content: "x", Tokens: 30, Worth: .75})}
			if group {
				field, opts = "groupVariants[0]", []cupel.ItemOption{hint(.9), cupel.WithGroup("g"), cupel.WithGroupVariants(v)}
			}
			items := []*cupel.ContextItem{item(t, "first", 1), item(t, "full", 50, opts...)}
			p := pipeline(t, func(c *cupel.Config) { c.Slicer = slicer.Greedy{} })
			_, err := p.Run(t.Context(), items, budgetOf(t, 10, 10))
			_, streamErr := p.RunStream(t.Context(), streamed(items), budgetOf(t, 10, 10))
			for _, err := range []error{err, streamErr} {
				want := "cupel: item at index 1: the content of " + field + " cannot be made: "
				if !errors.Is(err, cupel.ErrContent) || !errors.Is(err, tt.is) || errors.Is(err, cupel.ErrOverflow) ||
					!strings.HasPrefix(err.Error(), want) || !strings.Contains(err.Error(), tt.want) {
					t.Errorf("%s: got %v, want %s%s", tt.why, err, want, tt.want)
				}
			}
			prepared, err := p.Prepare(t.Context(), items)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := prepared.Select(t.Context(), budgetOf(t, 10, 10)); err != nil {
				t.Errorf("%s: Select builds no window and calls no function, got %v", tt.why, err)
			}
		}
	}
}

// TestItemsWithoutUnits: nil and plain items have nothing to say.
func TestItemsWithoutUnits(t *testing.T) {
	for _, it := range []*cupel.ContextItem{nil, item(t, "plain", 5), item(t, "grouped", 5, cupel.WithGroup("g"))} {
		if it.Members() != nil || it.Forms() != nil || it.Variants() != nil || it.GroupVariants() != nil || it.VersionOf() != "" {
			t.Errorf("%v has %v, %v, %v, %v, %q", it, it.Members(), it.Forms(), it.Variants(), it.GroupVariants(), it.VersionOf())
		}
		if it == nil && it.Group() != "" {
			t.Error("nil has a group")
		}
	}
}

// TestSmallerFormsKeepFields: a form is an item like any other.
func TestSmallerFormsKeepFields(t *testing.T) {
	items := []*cupel.ContextItem{
		item(t, "a", 50, hint(.5), cupel.WithGroup("g"), cupel.WithVersionOf("k"), cupel.WithPriority(3), cupel.WithVariants(cupel.Variant{Content: "a'", Tokens: 5, Worth: .5})),
		item(t, "b", 50, hint(.4), cupel.WithGroup("g"), cupel.WithOriginalTokens(400), cupel.WithVariants(cupel.Variant{Content: "b'", Tokens: 5, Worth: .5})),
		item(t, "c", 50, hint(.4), cupel.WithGroup("h"), cupel.WithPriority(4)),
		item(t, "d", 60, hint(.4), cupel.WithGroup("h"), cupel.WithGroupVariants(cupel.Variant{Content: "c'", Tokens: 5, Worth: .5})),
	}
	p := pipeline(t, func(c *cupel.Config) { c.Slicer = slicer.Greedy{} })
	window, err := p.Run(t.Context(), items, budgetOf(t, 15, 15))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, it := range window {
		original, _ := it.OriginalTokens()
		priority, _ := it.Priority()
		got = append(got, fmt.Sprintf("%s %d of %d, group %s, key %q, priority %d, %d variants", it.Content(), it.Tokens(), original,
			it.Group(), it.VersionOf(), priority, len(it.Variants())+len(it.GroupVariants())))
	}
	equalSlices(t, "window", got, []string{
		`a' 5 of 50, group g, key "k", priority 3, 0 variants`,
		`b' 5 of 400, group g, key "", priority 0, 0 variants`,
		`c' 5 of 110, group h, key "", priority 4, 0 variants`,
	})
}

// A group variant is in the window once, and in the report once for each member.
func TestWindowOfReportHasGroupVariantsOnce(t *testing.T) {
	note := cupel.WithGroupVariants(cupel.Variant{Content: "note", Tokens: 5, Worth: .5})
	items := []*cupel.ContextItem{
		item(t, "a", 50, hint(.9), cupel.WithGroup("g"), note),
		item(t, "b", 50, hint(.9), cupel.WithGroup("g")),
		item(t, "c", 50, hint(.5), cupel.WithGroup("h"), cupel.WithVariants(cupel.Variant{Content: "cut", Tokens: 1, Worth: .5})),
		item(t, "d", 60, hint(.5), cupel.WithGroup("h"), cupel.WithVariants(cupel.Variant{Content: "cut", Tokens: 0, Worth: .5})),
	}
	p := pipeline(t, func(c *cupel.Config) { c.Slicer = slicer.Greedy{} })
	window, report, err := p.RunReport(t.Context(), items, budgetOf(t, 6, 6))
	if err != nil {
		t.Fatal(err)
	}
	data, err := json.Marshal(report)
	if err != nil {
		t.Fatal(err)
	}
	var read cupel.SelectionReport
	if err := json.Unmarshal(data, &read); err != nil {
		t.Fatal(err)
	}
	for _, of := range []struct {
		name   string
		window []*cupel.ContextItem
	}{{"the run", window}, {"its report", report.Window()}, {"a report from JSON", read.Window()}} {
		var got []string
		for _, it := range of.window {
			got = append(got, it.Content())
		}
		equalSlices(t, of.name, got, []string{"note", "cut", "cut"})
	}
	if len(report.Included) != len(items) {
		t.Errorf("%d entries, want one for each of %d candidates", len(report.Included), len(items))
	}
}
