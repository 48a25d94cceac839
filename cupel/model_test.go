package cupel_test

import (
	"errors"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/wollax/cupel-go/cupel"
)

func TestKinds(t *testing.T) {
	tests := []struct {
		name      string
		a, b      cupel.ContextKind
		equal     bool
		canonical cupel.ContextKind // of a
		why       string
	}{
		{"well-known", "mEsSaGe", cupel.KindMessage, true, "Message", "ASCII case does not count, and items spell it as the constant"},
		{"tool output", "TOOLOUTPUT", "tooloutput", true, "ToolOutput", "both are the well-known kind"},
		{"own", "Note", "nOTE", true, "Note", "other kinds keep the caller's casing"},
		{"kelvin sign", "Kind", "\u212aind", false, "Kind", "only Unicode folds the Kelvin sign to k (R2)"},
		{"long s", "sort", "\u017fort", false, "sort", "only Unicode folds the long s to s (R2)"},
		{"space", "Message ", "Message", false, "Message ", "nothing is trimmed"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if tt.a.Equal(tt.b) != tt.equal || (tt.a.Key() == tt.b.Key()) != tt.equal {
				t.Errorf("Equal(%q, %q) = %v, keys %q and %q, want %v: %s", tt.a, tt.b, tt.a.Equal(tt.b), tt.a.Key(), tt.b.Key(), tt.equal, tt.why)
			}
			if got := tt.a.Canonical(); got != tt.canonical {
				t.Errorf("Canonical(%q) = %q, want %q: %s", tt.a, got, tt.canonical, tt.why)
			}
		})
	}
	for _, k := range []cupel.ContextKind{cupel.KindMessage, cupel.KindDocument, cupel.KindToolOutput, cupel.KindMemory, cupel.KindSystemPrompt} {
		if n := testing.AllocsPerRun(100, func() { k.Key() }); n != 0 || k.Key() == "" {
			t.Errorf("Key of %s is %q and allocates %v times", k, k.Key(), n)
		}
	}
	equal(t, "sources fold", cupel.SourceRAG.Equal("RAG"), true)
	equal(t, "canonical source", cupel.ContextSource("tOOL").Canonical(), cupel.SourceTool)
	equal(t, "own source", cupel.ContextSource("Crawler").Canonical(), "Crawler")
}

// TestConstructorsReportAllProblems expects every problem of an item or a budget
// that has several, in one error.
func TestConstructorsReportAllProblems(t *testing.T) {
	wrong := []cupel.ItemOption{cupel.WithKind(" "), cupel.WithSource(""), cupel.WithGroup(""), cupel.WithVersionOf(""), cupel.WithContent("", 1),
		cupel.WithVariants(cupel.Variant{Content: "a", Tokens: 5, Worth: 2}, cupel.Variant{Tokens: -1, Worth: 0.5}), cupel.WithGroupVariants(cupel.Variant{Worth: 1})}
	ofOptions := []string{"kind", "source", "group", "versionOf", "content"}
	ofVariants := []string{"variants[0].worth", "variants[1].tokens", "variants[1].content", "groupVariants[0].worth", "groupVariants[0].content"}
	_, fromNothing := cupel.NewContextItem("", 5, wrong...)
	_, fromItem := item(t, "a", 5).With(wrong...)
	_, counted := cupel.NewItemFrom(nil, "", wrong...)
	_, tooLarge := cupel.NewItemFrom(cupel.HeuristicCounter{}, "a b", cupel.WithVariants(cupel.Variant{Content: "a", Tokens: 9, Worth: 0.5}, cupel.Variant{Content: "b", Tokens: 8, Worth: 0.5}))
	slots := cupel.WithReservedSlots(map[cupel.ContextKind]int{" ": 1, "b": -1, "c": 1, "C": 1})
	_, budget := cupel.NewContextBudget(-1, -2, cupel.WithOutputReserve(-3), slots, cupel.WithEstimationSafetyMargin(101))
	_, resized := budgetOf(t, 10, 10, cupel.WithOutputReserve(5)).Resize(4, 6)
	tests := []struct {
		name string
		err  error
		want []string
		why  string
	}{
		{"item", fromNothing, slices.Concat([]string{"content"}, ofOptions, []string{"variants[0].tokens"}, ofVariants), "one option does not hide another, nor one variant the next"},
		{"changed item", fromItem, slices.Concat(ofOptions, []string{"variants[0].tokens"}, ofVariants), "the item itself is right"},
		{"counted item", counted, slices.Concat([]string{"content"}, ofOptions, ofVariants, []string{"counter"}), "what needs no count is found without one"},
		{"after counting", tooLarge, []string{"variants[0].tokens", "variants[1].tokens"}, "sizes are compared once the item's is known"},
		{"budget", budget, []string{"maxTokens", "targetTokens", "outputReserve", "reservedSlots", `reservedSlots["b"]`, `reservedSlots["c"]`, "estimationSafetyMarginPercent"}, "in the order of the fields"},
		{"resized", resized, []string{"targetTokens", "outputReserve"}, "both are compared with the ceiling"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := fieldsOf(tt.err); !slices.Equal(got, tt.want) {
				t.Errorf("got %q of %v, want %q: %s", got, tt.err, tt.want, tt.why)
			}
		})
	}
}

// fieldsOf returns the fields that the errors joined in err name.
func fieldsOf(err error) []string {
	list := []error{err}
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		list = joined.Unwrap()
	}
	var fields []string
	for _, err := range list {
		var item *cupel.InvalidItemError
		var budget *cupel.InvalidBudgetError
		var config *cupel.InvalidConfigError
		switch {
		case errors.As(err, &item):
			fields = append(fields, item.Field)
		case errors.As(err, &budget):
			fields = append(fields, budget.Field)
		case errors.As(err, &config):
			fields = append(fields, config.Field)
		}
	}
	return fields
}

func TestItemFields(t *testing.T) {
	local := time.Date(2026, 5, 6, 7, 8, 9, 10, time.FixedZone("x", 3600))
	nested, tags := []string{"deep"}, []string{"a", "B"}
	metadata := map[string]any{"list": nested}
	it := item(t, "c", 7, cupel.WithKind("TOOLoutput"), cupel.WithSource("rag"), cupel.WithPriority(0), cupel.WithTags(tags...),
		cupel.WithMetadata(metadata), cupel.WithTimestamp(local), hint(0), cupel.WithPinned(), cupel.WithOriginalTokens(0), nil)
	tags[0], metadata["list"], metadata["new"] = "changed", 2, 3                // what the caller passed in
	it.Tags()[1], it.Metadata()["list"], it.Metadata()["new"] = "changed", 4, 5 // what an accessor returned
	equal(t, "kind", it.Kind(), cupel.KindToolOutput)
	equal(t, "source", it.Source(), cupel.SourceRAG)
	equal(t, "pinned", it.Pinned(), true)
	if p, ok := it.Priority(); p != 0 || !ok {
		t.Errorf("priority: got %d, %v; 0 is not absent", p, ok)
	}
	if h, ok := it.FutureRelevanceHint(); h != 0 || !ok {
		t.Errorf("hint: got %v, %v; 0 is not absent", h, ok)
	}
	if o, ok := it.OriginalTokens(); o != 0 || !ok {
		t.Errorf("original tokens: got %v, %v; 0 is not absent", o, ok)
	}
	ts, ok := it.Timestamp()
	equal(t, "has a timestamp", ok, true)
	equal(t, "timestamp", ts, time.Date(2026, 5, 6, 6, 8, 9, 10, time.UTC))
	equalSlices(t, "tags", it.Tags(), []string{"a", "B"})
	var seen []string
	for _, tag := range it.AllTags() {
		seen = append(seen, tag)
	}
	equalSlices(t, "all tags", seen, []string{"a", "B"})
	if v, ok := it.MetadataValue("list"); !ok || &v.([]string)[0] != &nested[0] {
		t.Error("metadata values are passed through untouched")
	}
	equal(t, "metadata keys", len(it.Metadata()), 1)
}

func TestNilItem(t *testing.T) {
	var it *cupel.ContextItem
	for range it.AllTags() {
		t.Error("a nil item has a tag")
	}
	_, a := it.Priority()
	_, b := it.Timestamp()
	_, c := it.FutureRelevanceHint()
	_, d := it.OriginalTokens()
	_, e := it.MetadataValue("x")
	if a || b || c || d || e || it.Content() != "" || it.Tokens() != 0 || it.Kind() != "" || it.Source() != "" || it.Pinned() ||
		it.NumTags() != 0 || it.Tags() != nil || it.Metadata() != nil {
		t.Error("a nil item has a field")
	}
}

func TestBudgets(t *testing.T) {
	slots := cupel.WithReservedSlots
	tests := []struct {
		name        string
		max, target int
		opt         cupel.BudgetOption
		field       string // of the error, or ""
		why         string
	}{
		{"all zero", 0, 0, nil, "", "0 is allowed everywhere"},
		{"target at the ceiling", 10, 10, nil, "", "equal is allowed"},
		{"target above the ceiling", 10, 11, nil, "targetTokens", "rule 3"},
		{"reserve at the ceiling", 10, 5, cupel.WithOutputReserve(10), "", "equal is allowed"},
		{"negative margin", 10, 5, cupel.WithEstimationSafetyMargin(-0.1), "estimationSafetyMarginPercent", "rule 6"},
		{"margin at 100", 10, 5, cupel.WithEstimationSafetyMargin(100), "", "equal is allowed"},
		{"slots above the ceiling", 10, 5, slots(map[cupel.ContextKind]int{"tool": 1000}), "", "the effective budget is 0 then, which is not an error"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b, err := cupel.NewContextBudget(tt.max, tt.target, tt.opt)
			var invalid *cupel.InvalidBudgetError
			switch {
			case tt.field == "" && err != nil:
				t.Errorf("got %v, want no error: %s", err, tt.why)
			case tt.field != "" && (!errors.As(err, &invalid) || invalid.Field != tt.field):
				t.Errorf("got %v, want an InvalidBudgetError for %s: %s", err, tt.field, tt.why)
			case tt.field != "":
				errorIs(t, err, cupel.ErrInvalidBudget)
				equal(t, "budget with the error", b.MaxTokens(), 0)
			}
		})
	}
}

func TestBudgetFields(t *testing.T) {
	slots := map[cupel.ContextKind]int{"memory": 3, "Note": 4}
	b := budgetOf(t, 100, 80, cupel.WithOutputReserve(20), cupel.WithReservedSlots(slots), cupel.WithEstimationSafetyMargin(2.5))
	slots["Note"] = 99
	b.ReservedSlots()["Note"] = 98
	equal(t, "ceiling", b.MaxTokens(), 100)
	equal(t, "goal", b.TargetTokens(), 80)
	equal(t, "reserve", b.OutputReserve(), 20)
	equal(t, "margin", b.EstimationSafetyMarginPercent(), 2.5)
	got := b.ReservedSlots()
	if len(got) != 2 || got[cupel.KindMemory] != 3 || got["Note"] != 4 {
		t.Errorf("slots: got %v; well-known kinds are spelled as the constants, and maps are copied", got)
	}
	if budgetOf(t, 1, 1).ReservedSlots() != nil {
		t.Error("slots where none were given")
	}
}

func TestEffectiveBudget(t *testing.T) {
	margin, reserve := cupel.WithEstimationSafetyMargin, cupel.WithOutputReserve
	slots := func(n ...int) cupel.BudgetOption {
		m := map[cupel.ContextKind]int{}
		for i, v := range n {
			m[cupel.ContextKind(rune('a'+i))] = v
		}
		return cupel.WithReservedSlots(m)
	}
	tests := []struct {
		name      string
		budget    cupel.ContextBudget
		pinned    int
		maxTokens int
		target    int
		why       string
	}{
		{"plain", budgetOf(t, 100, 80), 0, 100, 80, "nothing is taken off"},
		{"reserve", budgetOf(t, 100, 80, reserve(30)), 0, 70, 70, "the goal is clamped to what is left of the ceiling"},
		{"pinned", budgetOf(t, 100, 80), 15, 85, 65, "pinned tokens come off both"},
		{"slots", budgetOf(t, 100, 80, slots(10, 20)), 15, 55, 35, "slots are summed and come off both"},
		{"nothing left", budgetOf(t, 100, 80, slots(90)), 15, 0, 0, "never below zero"},
		{"negative", budgetOf(t, 10, 10), -5, 10, 10, "there is no such sum"},
		{"margin floors", budgetOf(t, 99, 55, margin(10)), 0, 89, 49, "99 * 0.9 = 89.1, 55 * 0.9 = 49.5"},
		{"margin after the rest", budgetOf(t, 100, 100, margin(50), reserve(20)), 10, 35, 35, "(100 - 20 - 10) / 2, not 100 / 2 - 30"},
		{"odd", budgetOf(t, math.MaxInt-2, math.MaxInt-2), 0, math.MaxInt - 2, math.MaxInt - 2, "no number goes through a float without a margin"},
		{"huge with a tiny margin", budgetOf(t, math.MaxInt, math.MaxInt, margin(1e-300)), 0, math.MaxInt, math.MaxInt, "2^63 as a float is clamped, not wrapped (R5)"},
		{"huge slots", budgetOf(t, math.MaxInt, math.MaxInt, slots(math.MaxInt, math.MaxInt)), 5, 0, 0, "their sum does not wrap (R5)"},
		{"huge pinned and reserve", budgetOf(t, math.MaxInt, 1, reserve(5)), math.MaxInt - 5, 0, 0, "exactly nothing is left"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := tt.budget.Effective(tt.pinned)
			if want := (cupel.SliceBudget{MaxTokens: tt.maxTokens, TargetTokens: tt.target}); got != want {
				t.Errorf("got %+v, want %+v: %s", got, want, tt.why)
			}
		})
	}
}

func TestResize(t *testing.T) {
	base := budgetOf(t, 100, 50, cupel.WithOutputReserve(10), cupel.WithReservedSlots(map[cupel.ContextKind]int{"a": 5}), cupel.WithEstimationSafetyMargin(20))
	got, err := base.Resize(60, 40)
	if err != nil {
		t.Fatal(err)
	}
	want := budgetOf(t, 60, 40, cupel.WithOutputReserve(10), cupel.WithReservedSlots(map[cupel.ContextKind]int{"a": 5}), cupel.WithEstimationSafetyMargin(20))
	if !got.Equal(want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	// (40 - 3 - 5) * 0.8 = 25.6, and (60 - 10 - 3 - 5) * 0.8 = 33.6
	equal(t, "effective", got.Effective(3), cupel.SliceBudget{MaxTokens: 33, TargetTokens: 25})
	for _, totals := range [][2]int{{9, 9}, {20, 30}, {-1, -1}, {20, -1}} {
		var invalid *cupel.InvalidBudgetError
		if got, err := base.Resize(totals[0], totals[1]); !errors.As(err, &invalid) || got.MaxTokens() != 0 {
			t.Errorf("Resize(%d, %d) gave %+v, %v", totals[0], totals[1], got, err)
		}
	}
}
