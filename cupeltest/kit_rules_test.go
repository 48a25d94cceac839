package cupeltest

import (
	"slices"
	"testing"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/slicer"
)

// Options and optional methods have rules left out.
func TestRulesLeftOut(t *testing.T) {
	only := &kitOptions{only: true, items: Items(1)}
	causes := func(rules []rule) (all []string) {
		for _, r := range rules {
			all = append(all, r.cause)
		}
		return all
	}
	slicerRules := func(s cupel.Slicer, options *kitOptions) []rule {
		return newSlicerKit(func() cupel.Slicer { return s }, options).rules(s)
	}
	placerRules := func(options *kitOptions, appending func() cupel.AppendPlacer) []rule {
		return newPlacerKit(nil, options).rules(appending)
	}
	scorers := func(s cupel.Scorer) []rule { return scorerRules(s, nil, new(kitOptions)) }
	collectors := func(c cupel.TraceCollector, concurrent bool) []rule {
		return (&collectorKit{collector: c, concurrent: concurrent}).rules()
	}
	diagnostic := cupel.NewDiagnosticTraceCollector()
	all := func() cupel.AppendPlacer { return nil }
	for _, row := range []struct {
		all, rules []rule
		want       []string
		why        string
	}{
		{slicerRules(&scripted{}, new(kitOptions)), slicerRules(&scripted{}, only), []string{"sums of tokens wrap", "equal items are selected in no order"}, "the items for them are others"},
		{slicerRules(&scripted{}, new(kitOptions)), slicerRules(&scripted{}, &kitOptions{mayExceed: true}), []string{"selects more than the target", "selects more than the target"}, "it may, with groups too"},
		{slicerRules(nil, new(kitOptions)), slicerRules(&scripted{}, new(kitOptions)), []string{"ForKind gives no slicer"}, "it has all optional methods but this one"},
		{slicerRules(nil, new(kitOptions)), slicerRules(sliceOf(nil), new(kitOptions)), []string{"Sweep and Slice differ", "ForKind gives no slicer", "NonMonotonic is not true", "explains badly"}, "it has none"},
		{slicerRules(sliceOf(nil), new(kitOptions)), slicerRules(slicer.Must(slicer.NewQuota(slicer.Greedy{}, slicer.Cap("A", 40))), new(kitOptions)), []string{"budget is left over"}, "it caps a kind"},
		{placerRules(new(kitOptions), all), placerRules(only, all), []string{"equal items are placed in no order"}, "the items for it are others"},
		{placerRules(new(kitOptions), all), placerRules(new(kitOptions), nil), []string{"Place and AppendPlace differ"}, "there is one form"},
		{scorers(struct{ cupel.Scorer }{}), scorers(scorerOf(nil)), nil, "neither has a batch form"},
		{collectors(diagnostic, true), collectors(diagnostic, false), []string{"runs at once change each other"}, "it was not asked for"},
	} {
		got := causes(row.all)
		for _, cause := range causes(row.rules) {
			if i := slices.Index(got, cause); i >= 0 {
				got = slices.Delete(got, i, i+1)
			}
		}
		if !slices.Equal(got, row.want) {
			t.Errorf("%q are left out, want %q: %s", got, row.want, row.why)
		}
	}
}

// How items that differ in content alone are selected and placed.
func TestUnstable(t *testing.T) {
	chosen := func(positions ...int) func([]cupel.ScoredItem, cupel.SliceBudget) cupel.Selection {
		return func(_ []cupel.ScoredItem, budget cupel.SliceBudget) cupel.Selection {
			if budget.TargetTokens < 1000 {
				return cupel.Selection{}
			}
			return cupel.Selection{Indices: positions}
		}
	}
	const place = "200 items with one score, with a target of 1000: of those of "
	for _, row := range []struct {
		positions []int
		want, why string
	}{
		{nil, "", "none is selected"},
		{[]int{0, 1, 2, 3}, "", "the first of each size"},
		{[]int{199, 196, 198}, "", "the last"},
		{[]int{-1, 200}, "", "another rule's"},
		{[]int{0, 3, 9}, place + "10 tokens, position 9 is selected and 6 is not, and the other way round before", "the first, and one after a gap"},
		{[]int{7}, place + "11 tokens, position 7 is selected and 10 is not, and the other way round before", "one between others"},
		{[]int{7, 5}, place + "11 tokens, position 7 is selected and 10 is not, and the other way round before", "the smaller size comes first"},
		{[]int{2, 197}, place + "12 tokens, position 197 is selected and 194 is not, and the other way round before", "the first and the last"},
	} {
		k := newSlicerKit(func() cupel.Slicer { return sliceOf(chosen(row.positions...)) }, new(kitOptions))
		if got := k.unstable(); got != row.want {
			t.Errorf("%v: %q, want %q: %s", row.positions, got, row.want, row.why)
		}
	}
	swap := func(pairs ...int) func(order []int) {
		return func(order []int) {
			for n := 0; n < len(pairs); n += 2 {
				order[pairs[n]], order[pairs[n+1]] = order[pairs[n+1]], order[pairs[n]]
			}
		}
	}
	for _, row := range []struct {
		place     func(order []int)
		want, why string
	}{
		{swap(), "", "as given"},
		{slices.Reverse[[]int], "", "in reverse"},
		{swap(0, 1, 2, 3), "", "items of other times"},
		{swap(0, 5), "", "one turn, as around a window"},
		{swap(190, 195), "", "the same at the end"},
		{swap(1, 6, 0, 5, 190, 195), "200 items, those of one score and time: positions [5 0 10 15 …] (40 in all) in this order", "a turn and another"},
		{func(order []int) { order[0] = -1 }, "", "another rule's"},
		{func(order []int) { order[0] = 200 }, "", "another rule's"},
	} {
		k := newPlacerKit(func() cupel.Placer { return placerFunc(row.place) }, new(kitOptions))
		if got := k.unstable(); got != row.want {
			t.Errorf("%q, want %q: %s", got, row.want, row.why)
		}
	}
}
