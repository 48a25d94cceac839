package cupel_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/slicer"
)

// wholeReport is a report in JSON with every field that there is, and with an
// unknown one in each object.
const wholeReport = `{"events":[{"stage":"Classify","duration_ms":1.5,"item_count":3,"x":1},{"stage":"Slice","duration_ms":0,"item_count":1,"message":"text","x":[2]}],
"included":[{"item":{"content":"in","tokens":3,"kind":"Message","source":"Chat","priority":2,"tags":["t"],"metadata":{"k":"v"},"timestamp":"2025-01-02T03:04:05Z","futureRelevanceHint":0.5,"pinned":true,"originalTokens":9,"x":3},"score":0.5,"reason":{"reason":"Scored","x":[3]},"candidate":7,"form":2,"stale":true,"x":4}],
"excluded":[{"item":{"content":"out","tokens":4,"kind":"Message","source":"Chat"},"score":0.25,"reason":{"reason":"BudgetExceeded","item_tokens":4,"available_tokens":1,"x":5},"candidate":9,"stale":true,"x":6}],
"total_candidates":2,"total_tokens_considered":7,
"count_requirement_shortfalls":[{"kind":"Memory","required_count":2,"satisfied_count":1,"x":7}],
"x":8,"y":9}`

func readReport(t *testing.T, text string) (cupel.SelectionReport, error) {
	t.Helper()
	var r cupel.SelectionReport
	err := json.Unmarshal([]byte(text), &r)
	return r, err
}

// TestEqualSeesEveryField changes each value of a report in turn, wherever it is:
// then the report is another one, and it is written as it was read.
func TestEqualSeesEveryField(t *testing.T) {
	original, err := readReport(t, wholeReport)
	if err != nil {
		t.Fatal(err)
	}
	if twice, err := readReport(t, wholeReport); err != nil || !original.Equal(twice) {
		t.Fatalf("a report that is read twice differs: %v", err)
	}
	if swapped, err := readReport(t, strings.Replace(wholeReport, `"x":8,"y":9`, `"y":9,"x":8`, 1)); err != nil || !original.Equal(swapped) {
		t.Errorf("the order of unknown fields counts: %v", err)
	}

	var tree any
	if err := json.Unmarshal([]byte(wholeReport), &tree); err != nil {
		t.Fatal(err)
	}
	changed := 0
	try := func(path string) {
		text, err := json.Marshal(tree)
		if err != nil {
			t.Fatal(err)
		}
		r, err := readReport(t, string(text))
		if err != nil {
			return // not one that there can be
		}
		changed++
		blind := strings.HasSuffix(path, ".duration_ms") || strings.HasSuffix(path, ".candidate")
		if r.Equal(original) != blind || original.Equal(r) != blind {
			t.Errorf("%s: with another value the reports are equal: %t, want %t", path, !blind, blind)
		}
		again, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		var got any
		if err := json.Unmarshal(again, &got); err != nil || !contains(got, tree) {
			t.Errorf("%s: read %s, written %s", path, text, again)
		}
	}
	walk(tree, "report", func(path string, value any, set func(any)) {
		switch v := value.(type) {
		case float64:
			set(v + 1)
		case string:
			set(v + "x")
		case bool:
			set(!v)
		default:
			return
		}
		try(path)
		set(value)
	})
	if changed < 30 {
		t.Errorf("only %d values could be changed", changed)
	}
}

// contains reports whether all of part is in whole, which may have more fields
// and may lack those that are false.
func contains(whole, part any) bool {
	switch part := part.(type) {
	case map[string]any:
		m, ok := whole.(map[string]any)
		for name := range part {
			if value, has := m[name]; !ok || !has && part[name] != false || has && !contains(value, part[name]) {
				return false
			}
		}
		return ok
	case []any:
		list, ok := whole.([]any)
		return ok && slices.EqualFunc(list, part, contains)
	}
	return reflect.DeepEqual(whole, part)
}

func walk(tree any, path string, visit func(path string, value any, set func(any))) {
	switch tree := tree.(type) {
	case map[string]any:
		for name, value := range tree {
			visit(path+"."+name, value, func(v any) { tree[name] = v })
			walk(value, path+"."+name, visit)
		}
	case []any:
		for i, value := range tree {
			visit(fmt.Sprint(path, ".", i), value, func(v any) { tree[i] = v })
			walk(value, fmt.Sprint(path, ".", i), visit)
		}
	}
}

func TestOverflowEventsAreEqual(t *testing.T) {
	a, b := item(t, "a", 5), item(t, "b", 5)
	event := cupel.OverflowEvent{TokensOverBudget: 3, OverflowingItems: []*cupel.ContextItem{a}, Budget: budgetOf(t, 9, 8)}
	for name, change := range map[string]func(*cupel.OverflowEvent){
		"tokens": func(e *cupel.OverflowEvent) { e.TokensOverBudget++ },
		"items":  func(e *cupel.OverflowEvent) { e.OverflowingItems = []*cupel.ContextItem{b} },
		"budget": func(e *cupel.OverflowEvent) { e.Budget = budgetOf(t, 9, 7) },
	} {
		other := event
		change(&other)
		if event.Equal(other) || other.Equal(event) || !other.Equal(other) {
			t.Errorf("%s: do not count", name)
		}
	}
}

// The bounds of what runs with units add to entries.
func TestOriginsInJSON(t *testing.T) {
	for _, tt := range []struct {
		fields string
		ok     bool
	}{
		{`"candidate":0`, true}, {`"candidate":549755813886`, true}, {`"candidate":549755813887`, false}, {`"candidate":-1`, false},
		{`"form":0`, true}, {`"form":1048575`, true}, {`"form":1048576`, false}, {`"form":-1`, false},
		{`"stale":false`, true}, {`"stale":1`, false}, {`"candidate":3,"form":1,"stale":true`, true},
	} {
		if math.MaxInt == math.MaxInt32 && strings.Contains(tt.fields, "10995") {
			continue // beyond an int
		}
		text := `{"item":{"content":"in","tokens":3},"score":0.5,"reason":{"reason":"Scored"},` + tt.fields + `}`
		var i cupel.IncludedItem
		err := json.Unmarshal([]byte(text), &i)
		if !tt.ok {
			if !errors.Is(err, cupel.ErrInvalidJSON) {
				t.Errorf("%s: %v", tt.fields, err)
			}
			continue
		}
		written, err2 := json.Marshal(i)
		if err != nil || err2 != nil || !strings.HasSuffix(string(written), `,`+tt.fields+`}`) {
			t.Errorf("%s: written as %s, %v, %v", tt.fields, written, err, err2)
		}
	}
}

func TestErrorsOfOneItemHaveNoIndex(t *testing.T) {
	good := item(t, "a", 1)
	_, empty := cupel.NewContextItem("", 1)
	_, without := good.With(cupel.WithContent("", 1))
	_, none := (*cupel.ContextItem)(nil).With()
	_, kind := cupel.NewContextItem("a", 1, cupel.WithKind(" "))
	_, group := cupel.NewContextItem("a", 1, cupel.WithGroup(""))
	_, version := cupel.NewContextItem("a", 1, cupel.WithVersionOf(""))
	for _, err := range []error{empty, without, none, kind, group, version} {
		var invalid *cupel.InvalidItemError
		if !errors.As(err, &invalid) || invalid.Index != -1 {
			t.Errorf("%v (%#v), want the index -1", err, invalid)
		}
	}
	if hint, ok := (*cupel.ContextItem)(nil).FutureRelevanceHint(); hint != 0 || ok {
		t.Errorf("no item has the hint %v, %t", hint, ok)
	}
}

// Without a margin no number goes through a float.
func TestEffectiveIsExact(t *testing.T) {
	if math.MaxInt == math.MaxInt32 {
		t.Skip("an int is exact as a float64")
	}
	const odd = math.MaxInt - 2
	if got := budgetOf(t, odd, odd).Effective(0); got.MaxTokens != odd || got.TargetTokens != odd {
		t.Errorf("got %+v, want %d", got, odd)
	}
}

// inSmallerForms selects the first item whole and the second in a smaller form.
var inSmallerForms = cupel.SlicerFunc(func(_ context.Context, items []cupel.ScoredItem, _ cupel.SliceBudget) (cupel.Selection, error) {
	return cupel.Selection{Indices: []int{0}, Smaller: []cupel.SmallerForm{{Index: 1, Form: 1}}}, nil
})

func TestHelpersPassSmallerFormsOn(t *testing.T) {
	var items []cupel.ScoredItem
	for i := range 4 {
		items = append(items, cupel.ScoredItem{Item: item(t, fmt.Sprint("item ", i), 10, cupel.WithVariants(cupel.Variant{Content: "short", Tokens: 5, Worth: 0.7})), Score: 0.5})
	}
	budget := cupel.SliceBudget{MaxTokens: 99, TargetTokens: 99}
	got, err := cupel.SliceSubset(t.Context(), inSmallerForms, items, []int{1, 3}, budget)
	if err != nil || !slices.Equal(got.Indices, []int{1}) || !slices.Equal(got.Smaller, []cupel.SmallerForm{{Index: 3, Form: 1}}) {
		t.Errorf("got %+v, %v", got, err)
	}
	for at := range items {
		o, err := cupel.ExplainSlice(t.Context(), inSmallerForms, items, budget, at)
		if err != nil || (o.Rule == "") != (at < 2) {
			t.Errorf("item %d: %+v, %v; nothing is in the way of the first two", at, o, err)
		}
	}
}

func TestCursorKnowsWhereNothingChanges(t *testing.T) {
	items := []*cupel.ContextItem{item(t, "p", 5, cupel.WithPinned()), item(t, "a", 10, hint(0.9)), item(t, "b", 10, hint(0.8))}
	prepared, err := pipeline(t, func(c *cupel.Config) { c.Slicer = slicer.Greedy{} }).Prepare(t.Context(), items)
	if err != nil {
		t.Fatal(err)
	}
	cursor := prepared.Cursor()
	for _, tt := range []struct {
		tokens    int
		unchanged map[int]bool
		why       string
	}{
		{3, map[int]bool{0: true, 3: true, 4: true, 5: false}, "5 tokens are pinned"},
		{15, map[int]bool{14: false, 15: true, 24: true, 25: false, 4: false}, "10 tokens are in, and the next comes with 10 more"},
		{25, map[int]bool{24: false, 25: true, math.MaxInt: true, 4: false}, "all are in"},
		{4, map[int]bool{0: true, 4: true, 5: false, 15: false}, "and out again"},
	} {
		change, err := cursor.Move(t.Context(), budgetOf(t, tt.tokens, tt.tokens))
		if (err != nil) != (tt.tokens < 5) {
			t.Fatalf("at %d: %+v, %v", tt.tokens, change, err)
		}
		for tokens, want := range tt.unchanged {
			if got := cursor.Unchanged(budgetOf(t, tokens, tokens)); got != want {
				t.Errorf("from %d to %d nothing changes: %t, want %t: %s", tt.tokens, tokens, got, want, tt.why)
			}
		}
	}
}

// A position comes in a form that its item has.
func TestFormsThatThereAreNot(t *testing.T) {
	short := cupel.Variant{Content: "short", Tokens: 5, Worth: 0.7}
	items := []cupel.ScoredItem{{Item: item(t, "a", 10)}, {Item: item(t, "b", 10, cupel.WithVariants(short))}}
	for _, tt := range []struct {
		form cupel.SmallerForm
		ok   bool
	}{
		{cupel.SmallerForm{Index: 1, Form: 1}, true}, {cupel.SmallerForm{Index: 1, Form: 2}, false}, {cupel.SmallerForm{Index: 1}, false},
		{cupel.SmallerForm{Index: 0, Form: 1}, false}, {cupel.SmallerForm{Index: 2, Form: 1}, false}, {cupel.SmallerForm{Index: -1, Form: 1}, false},
	} {
		sel, err := cupel.Slice(t.Context(), cupel.SlicerFunc(func(context.Context, []cupel.ScoredItem, cupel.SliceBudget) (cupel.Selection, error) {
			return cupel.Selection{Smaller: []cupel.SmallerForm{tt.form}}, nil
		}), items, cupel.SliceBudget{MaxTokens: 99, TargetTokens: 99})
		var broken *cupel.ContractError
		if errors.As(err, &broken) == tt.ok || !tt.ok && sel.Smaller != nil {
			t.Errorf("%+v: %+v, %v", tt.form, sel, err)
		}
	}
}

func TestMetadataIntEnds(t *testing.T) {
	for _, tt := range []struct {
		value any
		want  int
		ok    bool
	}{
		{uint64(math.MaxInt), math.MaxInt, true}, {uint64(math.MaxInt) + 1, 0, false}, {math.MinInt, math.MinInt, true}, {uint8(0), 0, true},
	} {
		it := item(t, "a", 1, cupel.WithMetadata(map[string]any{"n": tt.value}))
		if got, ok := it.MetadataInt("n"); got != tt.want || ok != tt.ok {
			t.Errorf("%v: got %d, %t", tt.value, got, ok)
		}
	}
}

// What a slicer drops in an order of its own is reported by score and candidate.
func TestReportSortsDrops(t *testing.T) {
	items := []*cupel.ContextItem{item(t, "a", 1, hint(0.5)), item(t, "b", 1, hint(0.5)), item(t, "c", 1, hint(0.9)), item(t, "d", 1, hint(0.5))}
	stale := cupel.ExclusionReason{Code: "Stale"}
	drops := dropping(cupel.Drop{Index: 3, Reason: stale}, cupel.Drop{Index: 1, Reason: stale}, cupel.Drop{Index: 2, Reason: stale})
	report, err := pipeline(t, func(c *cupel.Config) { c.Slicer = drops }).DryRun(t.Context(), items, budgetOf(t, 9, 9))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range report.Excluded {
		got = append(got, e.Item.Content())
	}
	equalSlices(t, "excluded", got, []string{"a", "b", "d"})
}

// Each stage runs, even for nothing.
func TestEmptyStreamRunsEachStage(t *testing.T) {
	var none iter.Seq2[*cupel.ContextItem, error] = func(func(*cupel.ContextItem, error) bool) {}
	s := &spy{detail: cupel.TraceDetail{ItemEvents: true}}
	if _, err := pipeline(t).RunStream(t.Context(), none, budgetOf(t, 9, 9), cupel.WithTrace(s)); err != nil {
		t.Fatal(err)
	}
	for _, stage := range []cupel.PipelineStage{cupel.StageClassify, cupel.StageScore, cupel.StageDeduplicate, cupel.StageSlice, cupel.StagePlace} {
		for _, want := range []string{fmt.Sprintf("start %s 0", stage), fmt.Sprintf("stage %s 0", stage), fmt.Sprintf("end %s 0-0 <nil>", stage)} {
			if n := len(slices.DeleteFunc(slices.Clone(s.log), func(line string) bool { return line != want })); n != 1 {
				t.Errorf("%q is logged %d times: %q", want, n, s.log)
			}
		}
	}
}

// noContext returns no context for a stage.
type noContext struct{ cupel.NoTrace }

func (noContext) IsEnabled() bool                    { return true }
func (noContext) RecordStageEvent(cupel.TraceEvent)  {}
func (noContext) RecordItemEvent(cupel.TraceEvent)   {}
func (noContext) Detail() (detail cupel.TraceDetail) { return detail }
func (n noContext) StartRun(context.Context, cupel.RunInfo) (context.Context, cupel.RunTrace) {
	return nil, n
}
func (noContext) StartStage(context.Context, cupel.StageStart) context.Context { return nil }

// wantsContext fails the test when it is started without one.
type wantsContext struct {
	noContext
	t *testing.T
}

func (w wantsContext) StartRun(ctx context.Context, _ cupel.RunInfo) (context.Context, cupel.RunTrace) {
	if ctx == nil {
		w.t.Error("a run starts without a context")
	}
	return nil, w
}

func (w wantsContext) StartStage(ctx context.Context, s cupel.StageStart) context.Context {
	if ctx == nil {
		w.t.Errorf("%s starts without a context", s.Stage)
	}
	return nil
}

func TestObserversWithoutContexts(t *testing.T) {
	both := cupel.MultiTraceCollector(noContext{}, wantsContext{t: t})
	if _, err := pipeline(t).Run(t.Context(), observedItems(t), budgetOf(t, 20, 10), cupel.WithTrace(both)); err != nil {
		t.Fatal(err)
	}
}

// TestMetadataEqualThroughJSON compares items with themselves after a round
// trip, which gives their metadata other Go types.
func TestMetadataEqualThroughJSON(t *testing.T) {
	of := func(value any) *cupel.ContextItem {
		return item(t, "a", 1, cupel.WithMetadata(map[string]any{"k": value}))
	}
	type point struct{ Y, X int }
	for name, value := range map[string]any{
		"integer": 7, "small integer": int8(7), "number": 0.25, "text": "t", "list": []string{"a"}, "numbers": []float64{1, 2},
		"struct": point{1, 2}, "map": map[string]int{"b": 1, "a": 2}, "nothing": nil, "time": time.Unix(0, 0),
	} {
		before := of(value)
		data, err := json.Marshal(before)
		var after cupel.ContextItem
		if err == nil {
			err = json.Unmarshal(data, &after)
		}
		if err != nil || !before.Equal(&after) || !after.Equal(before) {
			t.Errorf("%s: %s is not equal to what was written: %v", name, data, err)
		}
		if other := of([]any{value}); other.Equal(before) || other.Equal(&after) {
			t.Errorf("%s: equal to a list of it", name)
		}
	}
	wire := make(chan int)
	for _, tt := range []struct {
		a, b any
		want bool
		why  string
	}{
		{wire, wire, true, "JSON cannot hold a channel, and it is the same one"},
		{wire, make(chan int), false, "another channel"},
		{wire, 1, false, "JSON can hold one of them"},
		{math.NaN(), math.NaN(), false, "as reflect.DeepEqual has it"},
		{point{1, 2}, map[string]int{"X": 2, "Y": 1}, true, "JSON has the same fields"},
		{1, "1", false, "a number is no text"},
	} {
		if got := of(tt.a).Equal(of(tt.b)); got != tt.want || of(tt.b).Equal(of(tt.a)) != tt.want {
			t.Errorf("%T and %T are equal: %t, want %t: %s", tt.a, tt.b, got, tt.want, tt.why)
		}
	}
	if of(1).Equal(item(t, "a", 1, cupel.WithMetadata(map[string]any{"other": 1}))) {
		t.Error("another key is equal")
	}
}
