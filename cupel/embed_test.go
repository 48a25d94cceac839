package cupel_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/placer"
	"github.com/wollax/cupel-go/cupel/scorer"
	"github.com/wollax/cupel-go/cupel/slicer"
)

// counted is a scorer whose two forms give different scores, so that a test sees
// which one was asked.
type counted struct{}

func (counted) Score(*cupel.ContextItem, []*cupel.ContextItem) float64 { return 1 }
func (counted) ScoreAll(_ context.Context, _ []*cupel.ContextItem, scores []float64) error {
	for i := range scores {
		scores[i] = 10
	}
	return nil
}

// countedByPointer has its methods on the pointer.
type countedByPointer struct{ _ int }

func (*countedByPointer) Score(*cupel.ContextItem, []*cupel.ContextItem) float64 { return 1 }
func (*countedByPointer) ScoreAll(_ context.Context, _ []*cupel.ContextItem, scores []float64) error {
	for i := range scores {
		scores[i] = 10
	}
	return nil
}

type (
	embedsScorer      struct{ counted }
	ownScore          struct{ counted }
	ownScoreByPointer struct{ counted }
	ownScoreAll       struct{ counted }
	ownScorer         struct{ counted }
	scorerOfPointer   struct{ *counted }
	scorerTwice       struct{ embedsScorer }
	scorerTwiceOwn    struct{ ownScore }
	scorerOwnTwice    struct{ embedsScorer }
	batchByInterface  struct{ cupel.BatchScorer }
	hiddenInterface   interface{ cupel.BatchScorer }
	batchByHidden     struct{ hiddenInterface }
	ownByInterface    struct{ cupel.BatchScorer }
	scorerByInterface struct{ cupel.Scorer }
	byValueOfPointer  struct{ countedByPointer }
	ownOfPointer      struct{ countedByPointer }
	mixedScorer       struct {
		ownScore
		batchOnly
	}
	batchOnly             struct{}
	genericScorer[T any]  struct{ counted }
	genericOwn[T any]     struct{ counted }
	genericOwnBoth[T any] struct {
		counted
		value T
	}
	selfScorer struct {
		*selfScorer
		counted
	}
)

func (ownScore) Score(*cupel.ContextItem, []*cupel.ContextItem) float64           { return 2 }
func (*ownScoreByPointer) Score(*cupel.ContextItem, []*cupel.ContextItem) float64 { return 2 }
func (scorerOwnTwice) Score(*cupel.ContextItem, []*cupel.ContextItem) float64     { return 2 }
func (ownByInterface) Score(*cupel.ContextItem, []*cupel.ContextItem) float64     { return 2 }
func (*ownOfPointer) Score(*cupel.ContextItem, []*cupel.ContextItem) float64      { return 2 }
func (genericOwn[T]) Score(*cupel.ContextItem, []*cupel.ContextItem) float64      { return 2 }

func twenty(scores []float64) error {
	for i := range scores {
		scores[i] = 20
	}
	return nil
}

func (ownScoreAll) ScoreAll(_ context.Context, _ []*cupel.ContextItem, scores []float64) error {
	return twenty(scores)
}

// This Score begins with the code of another one, which is inlined.
func (o ownScorer) Score(item *cupel.ContextItem, all []*cupel.ContextItem) float64 {
	return o.counted.Score(item, all) + 1
}

func (o ownScorer) ScoreAll(ctx context.Context, all []*cupel.ContextItem, scores []float64) error {
	if err := o.counted.ScoreAll(ctx, all, scores); err != nil {
		return err
	}
	return twenty(scores)
}

func (o *genericOwnBoth[T]) Score(item *cupel.ContextItem, all []*cupel.ContextItem) float64 {
	return o.counted.Score(item, all) + 1
}

func (o *genericOwnBoth[T]) ScoreAll(_ context.Context, _ []*cupel.ContextItem, scores []float64) error {
	return twenty(scores)
}

func (batchOnly) ScoreAll(_ context.Context, _ []*cupel.ContextItem, scores []float64) error {
	return twenty(scores)
}

// mixedScorer needs one of the two that it embeds.
func (m mixedScorer) ScoreAll(ctx context.Context, all []*cupel.ContextItem, scores []float64) error {
	return m.batchOnly.ScoreAll(ctx, all, scores)
}

type (
	shallowScore struct{ onlyScore }
	onlyScore    struct{}
	twoSources   struct {
		onlyScore
		batchOnly
	}
)

func (onlyScore) Score(*cupel.ContextItem, []*cupel.ContextItem) float64 { return 2 }

// TestEmbeddedScorers has 1 and 2 for the single forms of the embedded type and
// of the type around it, 10 and 20 for the batch forms.
func TestEmbeddedScorers(t *testing.T) {
	tests := []struct {
		scorer cupel.Scorer
		want   float64
		why    string
	}{
		{counted{}, 10, "nothing is embedded"},
		{&counted{}, 10, "the pointer has the same methods"},
		{embedsScorer{}, 10, "embeds only"},
		{&embedsScorer{}, 10, "embeds only, by pointer"},
		{ownScorer{}, 20, "both are its own"},
		{&ownScorer{}, 20, "both are its own, by pointer"},
		{ownScore{}, 2, "its Score is its own, the ScoreAll is not"},
		{&ownScore{}, 2, "the same by pointer"},
		{&ownScoreByPointer{}, 2, "its Score is declared on the pointer"},
		{ownScoreAll{}, 20, "its ScoreAll is its own: it says what the scores are"},
		{scorerOfPointer{&counted{}}, 10, "embeds a pointer"},
		{scorerTwice{}, 10, "two levels, without own methods"},
		{scorerTwiceOwn{}, 2, "the level in the middle has its own Score"},
		{scorerOwnTwice{}, 2, "its Score is its own, the ScoreAll comes from two levels below"},
		{batchByInterface{counted{}}, 10, "embeds the interface"},
		{batchByInterface{ownScore{}}, 2, "what is in the interface has its own Score"},
		{&batchByInterface{batchByInterface{&ownScore{}}}, 2, "the same, two levels down"},
		{batchByHidden{counted{}}, 10, "embeds an interface that is not exported"},
		{batchByHidden{ownScore{}}, 2, "embeds an interface that is not exported, and what is in it has its own Score"},
		{ownByInterface{counted{}}, 2, "embeds the interface and has its own Score"},
		{scorerByInterface{counted{}}, 1, "the interface has no batch form"},
		{&byValueOfPointer{}, 10, "embeds a type with its methods on the pointer"},
		{&ownOfPointer{}, 2, "the same, with its own Score"},
		{mixedScorer{}, 20, "its ScoreAll is its own"},
		{twoSources{}, 2, "Score and ScoreAll come from two types that know nothing of each other"},
		{genericScorer[int]{}, 10, "a generic type"},
		{genericOwn[string]{}, 2, "a generic type with its own Score"},
		{&genericOwnBoth[string]{}, 20, "a generic type with both"},
		{&selfScorer{}, 10, "a type that embeds itself"},
		{shallowScore{}, 2, "no batch form anywhere"},
	}
	all := []*cupel.ContextItem{item(t, "a", 1), item(t, "b", 1)}
	for _, tt := range tests {
		t.Run(fmt.Sprintf("%T", tt.scorer), func(t *testing.T) {
			scores := make([]float64, len(all))
			for range 2 { // the second answer comes from memory
				if err := cupel.ScoreAll(t.Context(), tt.scorer, all, scores); err != nil {
					t.Fatal(err)
				}
				if scores[0] != tt.want || scores[1] != tt.want {
					t.Errorf("got %v, want %v: %s", scores, tt.want, tt.why)
				}
			}
		})
	}
}

// halved is the trap as people meet it.
type halved struct{ scorer.Recency }

func (h halved) Score(item *cupel.ContextItem, all []*cupel.ContextItem) float64 {
	return h.Recency.Score(item, all) / 2
}

type renamed struct{ scorer.Recency }

func TestEmbeddedRecency(t *testing.T) {
	now := time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC)
	all := []*cupel.ContextItem{item(t, "old", 1, cupel.WithTimestamp(now)), item(t, "new", 1, cupel.WithTimestamp(now.Add(time.Hour)))}
	for s, want := range map[cupel.Scorer]float64{scorer.Recency{}: 1, renamed{}: 1, halved{}: 0.5, &halved{}: 0.5} {
		report, err := pipeline(t, withScorer(s)).DryRun(t.Context(), all, budgetOf(t, 9, 9))
		if err != nil {
			t.Fatal(err)
		}
		equal(t, fmt.Sprintf("score of the newer one with %T", s), report.Included[0].Score, want)
	}
	if _, isBatch := any(renamed{}).(cupel.BatchScorer); !isBatch {
		t.Error("a type that embeds a batch scorer is one")
	}
	// The same speed: the single form would look 10,000 times at 10,000 items.
	many := make([]*cupel.ContextItem, 10_000)
	for i := range many {
		many[i] = all[i%2]
	}
	scores := make([]float64, len(many))
	allocs := testing.AllocsPerRun(5, func() {
		if err := cupel.ScoreAll(t.Context(), renamed{}, many, scores); err != nil {
			t.Error(err)
		}
	})
	if !raceEnabled && allocs > 0 {
		t.Errorf("a warm pass of an embedded scorer allocated %v times", allocs)
	}
}

type countedSlicer struct{ name string }

func (s countedSlicer) Slice(context.Context, []cupel.ScoredItem, cupel.SliceBudget) (cupel.Selection, error) {
	return cupel.Selection{}, errors.New("slice of " + s.name)
}

func (s countedSlicer) ForKind(kind cupel.ContextKind) cupel.Slicer {
	return countedSlicer{"narrowed " + s.name}
}

type narrowing interface {
	cupel.Slicer
	cupel.KindNarrower
}

type (
	embedsSlicer      struct{ countedSlicer }
	ownSlice          struct{ countedSlicer }
	ownForKind        struct{ countedSlicer }
	ownSlicer         struct{ countedSlicer }
	slicerOfPointer   struct{ *countedSlicer }
	slicerTwice       struct{ *embedsSlicer }
	ownSliceTwice     struct{ *embedsSlicer }
	slicerByInterface struct{ narrowing }
	plainByInterface  struct{ cupel.Slicer }
)

func sliceFails(what string) (cupel.Selection, error) { return cupel.Selection{}, errors.New(what) }

func (ownSlice) Slice(context.Context, []cupel.ScoredItem, cupel.SliceBudget) (cupel.Selection, error) {
	return sliceFails("own slice")
}

func (ownSliceTwice) Slice(context.Context, []cupel.ScoredItem, cupel.SliceBudget) (cupel.Selection, error) {
	return sliceFails("own slice")
}

func (ownForKind) ForKind(cupel.ContextKind) cupel.Slicer { return countedSlicer{"own narrowing"} }

func (ownSlicer) Slice(context.Context, []cupel.ScoredItem, cupel.SliceBudget) (cupel.Selection, error) {
	return sliceFails("own slice")
}
func (ownSlicer) ForKind(cupel.ContextKind) cupel.Slicer { return countedSlicer{"own narrowing"} }

func TestEmbeddedNarrowers(t *testing.T) {
	inner := countedSlicer{"inner"}
	const refused = "slicer has its own Slice, but the ForKind of a type that it embeds"
	tests := []struct {
		slicer cupel.Slicer
		want   string // part of the error that tells who was asked
		why    string
	}{
		{inner, "slice of narrowed inner", "nothing is embedded"},
		{embedsSlicer{inner}, "slice of narrowed inner", "embeds only"},
		{ownSlicer{inner}, "slice of own narrowing", "both are its own"},
		{ownSlice{inner}, refused, "its Slice is its own, the ForKind is not"},
		{&ownSlice{inner}, refused, "the same by pointer"},
		{ownForKind{inner}, "slice of own narrowing", "its ForKind is its own"},
		{slicerOfPointer{&inner}, "slice of narrowed inner", "embeds a pointer"},
		{slicerTwice{&embedsSlicer{inner}}, "slice of narrowed inner", "two levels, without own methods"},
		{ownSliceTwice{&embedsSlicer{inner}}, refused, "its Slice is its own, the ForKind comes from two levels below"},
		{slicerByInterface{inner}, "slice of narrowed inner", "embeds the interface"},
		{slicerByInterface{ownSlice{inner}}, refused, "what is in the interface has its own Slice"},
		{plainByInterface{inner}, "slice of inner", "the interface has no ForKind"},
		{&wrapper{slicers: []cupel.Slicer{ownSlice{inner}}}, refused, "inside a wrapper that may narrow it"},
		{narrowsTo{ownSlice{inner}}, "own slice", "what ForKind returns is not narrowed again"},
		{slicer.Must(slicer.NewCountQuota(ownSlice{inner}, nil)), refused, "a CountQuota narrows what is inside it"},
	}
	for _, tt := range tests {
		t.Run(fmt.Sprintf("%T", tt.slicer), func(t *testing.T) {
			quota, err := slicer.NewQuota(tt.slicer)
			if err == nil {
				_, err = cupel.Slice(t.Context(), quota, []cupel.ScoredItem{{Item: item(t, "a", 1), Score: 1}}, cupel.SliceBudget{MaxTokens: 9, TargetTokens: 9})
			} else {
				errorIs(t, err, cupel.ErrInvalidConfig)
			}
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q: %s", err, tt.want, tt.why)
			}
		})
	}
	// Outside of a quota nothing asks for ForKind.
	if _, err := cupel.New(cupel.Config{Scorer: byHint{}, Slicer: ownSlice{inner}, Placer: asMerged}); err != nil {
		t.Error(err)
	}
}

type narrowsTo struct{ to cupel.Slicer }

func (narrowsTo) Slice(context.Context, []cupel.ScoredItem, cupel.SliceBudget) (cupel.Selection, error) {
	return sliceFails("not narrowed")
}
func (n narrowsTo) ForKind(cupel.ContextKind) cupel.Slicer { return n.to }

type countedPlacer struct{ id int }

func (p countedPlacer) order(n, from int) []int {
	order := make([]int, n)
	for i := range order {
		order[i] = (from + i) % n
	}
	return order
}

func (p countedPlacer) Place(_ context.Context, items []cupel.ScoredItem) ([]int, error) {
	return p.order(len(items), 1), nil
}

func (p countedPlacer) AppendPlace(_ context.Context, order []int, items []cupel.ScoredItem) ([]int, error) {
	return append(order, p.order(len(items), 2)...), nil
}

type (
	embedsPlacer      struct{ countedPlacer }
	ownPlace          struct{ countedPlacer }
	ownAppendPlace    struct{ countedPlacer }
	ownPlacer         struct{ countedPlacer }
	placerOfPointer   struct{ *countedPlacer }
	placerTwice       struct{ embedsPlacer }
	ownPlaceTwice     struct{ *embedsPlacer }
	appendByInterface struct{ cupel.AppendPlacer }
	ownByAppend       struct{ cupel.AppendPlacer }
)

func (p ownPlace) Place(_ context.Context, items []cupel.ScoredItem) ([]int, error) {
	return p.order(len(items), 3), nil
}

func (p ownPlaceTwice) Place(_ context.Context, items []cupel.ScoredItem) ([]int, error) {
	return p.order(len(items), 3), nil
}

func (p ownByAppend) Place(_ context.Context, items []cupel.ScoredItem) ([]int, error) {
	return countedPlacer{}.order(len(items), 3), nil
}

func (p ownPlacer) Place(_ context.Context, items []cupel.ScoredItem) ([]int, error) {
	return p.order(len(items), 3), nil
}

func (p ownPlacer) AppendPlace(_ context.Context, order []int, items []cupel.ScoredItem) ([]int, error) {
	return append(order, p.order(len(items), 4)...), nil
}

func (p ownAppendPlace) AppendPlace(_ context.Context, order []int, items []cupel.ScoredItem) ([]int, error) {
	return append(order, p.order(len(items), 4)...), nil
}

// TestEmbeddedPlacers has orders that begin with 1 and 2 for Place and
// AppendPlace of the embedded type, with 3 and 4 for those of the type around it.
func TestEmbeddedPlacers(t *testing.T) {
	tests := []struct {
		placer cupel.Placer
		first  int
		why    string
	}{
		{countedPlacer{}, 2, "nothing is embedded"},
		{embedsPlacer{}, 2, "embeds only"},
		{&embedsPlacer{}, 2, "embeds only, by pointer"},
		{ownPlacer{}, 4, "both are its own"},
		{ownPlace{}, 3, "its Place is its own, the AppendPlace is not"},
		{&ownPlace{}, 3, "the same by pointer"},
		{ownAppendPlace{}, 4, "its AppendPlace is its own"},
		{placerOfPointer{&countedPlacer{}}, 2, "embeds a pointer"},
		{placerTwice{}, 2, "two levels, without own methods"},
		{ownPlaceTwice{&embedsPlacer{}}, 3, "its Place is its own, the AppendPlace comes from two levels below"},
		{appendByInterface{countedPlacer{}}, 2, "embeds the interface"},
		{appendByInterface{ownPlace{}}, 3, "what is in the interface has its own Place"},
		{ownByAppend{countedPlacer{}}, 3, "embeds the interface and has its own Place"},
		{struct{ placer.Chronological }{}, 0, "a type without a name"},
	}
	items := make([]*cupel.ContextItem, 5)
	scored := make([]cupel.ScoredItem, len(items))
	for i := range items {
		items[i] = item(t, fmt.Sprint(i), 1, hint(1-float64(i)/10))
		scored[i] = cupel.ScoredItem{Item: items[i], Score: 1}
	}
	for _, tt := range tests {
		t.Run(fmt.Sprintf("%T", tt.placer), func(t *testing.T) {
			order, err := cupel.Place(t.Context(), tt.placer, scored)
			if err != nil || order[0] != tt.first {
				t.Errorf("Place: got %v, error %v, want %d first: %s", order, err, tt.first, tt.why)
			}
			p := pipeline(t, withPlacer(tt.placer))
			for range 3 { // the lists of a run are used again
				window, err := p.Run(t.Context(), items, budgetOf(t, 9, 9))
				if err != nil || window[0] != items[tt.first] {
					t.Errorf("Run: got %s, error %v, want %d first: %s", contents(window), err, tt.first, tt.why)
				}
			}
		})
	}
}

// TestLargeComparableTrees has trees that are walked in no time, or for years.
func TestLargeComparableTrees(t *testing.T) {
	var byValue, byPointer, mixed cupel.Scorer = byHint{}, byHint{}, byHint{}
	var byValueSlicer cupel.Slicer = slicer.Greedy{}
	for range 200 {
		byValue = pairOf{byValue, byValue}
		byPointer = &wrapper{scorers: []cupel.Scorer{byPointer, byPointer}}
		mixed = remade{mixed, 0}
		byValueSlicer = pairOfSlicers{byValueSlicer, byValueSlicer}
	}
	for _, s := range []cupel.Scorer{byValue, byPointer, mixed, remade{byHint{}, 200}} {
		if err := cupel.ValidateScorer(s); err != nil {
			t.Errorf("%T: %v", s, err)
		}
	}
	if err := cupel.ValidateSlicer(byValueSlicer); err != nil {
		t.Error(err)
	}
}

type pairOf struct{ a, b cupel.Scorer }

func (pairOf) Score(*cupel.ContextItem, []*cupel.ContextItem) float64 { return 0 }
func (p pairOf) Scorers() []cupel.Scorer                              { return []cupel.Scorer{p.a, p.b} }

type pairOfSlicers struct{ a, b cupel.Slicer }

func (p pairOfSlicers) Slice(context.Context, []cupel.ScoredItem, cupel.SliceBudget) (cupel.Selection, error) {
	return cupel.Selection{}, nil
}
func (p pairOfSlicers) Slicers() []cupel.Slicer { return []cupel.Slicer{p.a, p.b} }

// remade makes its children each time that it is asked.
type remade struct {
	inner cupel.Scorer
	n     int
}

func (remade) Score(*cupel.ContextItem, []*cupel.ContextItem) float64 { return 0 }
func (r remade) Scorers() []cupel.Scorer {
	if r.n == 0 {
		return []cupel.Scorer{r.inner, r.inner}
	}
	return []cupel.Scorer{remade{r.inner, r.n - 1}, remade{r.inner, r.n - 1}}
}

// remadeByPointer makes new pointers to its children each time that it is asked.
type remadeByPointer struct{ n int }

func (*remadeByPointer) Score(*cupel.ContextItem, []*cupel.ContextItem) float64 { return 0 }
func (r *remadeByPointer) Scorers() []cupel.Scorer {
	if r.n == 0 {
		return nil
	}
	return []cupel.Scorer{&remadeByPointer{r.n - 1}, &remadeByPointer{r.n - 1}}
}

func TestTreesThatNeverEnd(t *testing.T) {
	const want = "cupel: there are more than 100000 scorers: a wrapper such as *cupel_test.remadeByPointer must return the same ones at each call (*cupel_test.remadeByPointer)"
	if err := cupel.ValidateScorer(&remadeByPointer{60}); err == nil || err.Error() != want {
		t.Errorf("got %v, want %q: 2^60 visits would take for ever", err, want)
	}
	if err := cupel.ValidateScorer(&remadeByPointer{15}); err != nil {
		t.Errorf("65535 scorers are few enough: %v", err)
	}
}

// list is a wrapper that is not comparable.
type list struct{ of []cupel.Scorer }

func (list) Score(*cupel.ContextItem, []*cupel.ContextItem) float64 { return 0 }
func (l list) Scorers() []cupel.Scorer                              { return l.of }

func TestLargeTreesThatAreNotComparable(t *testing.T) {
	tree := func(levels int) cupel.Scorer {
		var s cupel.Scorer = byHint{}
		for range levels {
			s = list{[]cupel.Scorer{s, s}}
		}
		return s
	}
	many := func(n int) cupel.Scorer {
		inside := make([]cupel.Scorer, n)
		for i := range inside {
			inside[i] = list{}
		}
		return &wrapper{scorers: inside}
	}
	const tooMany = "cupel: there are more than 10000 scorers of types that are not comparable, such as cupel_test.list: use pointers to them, so that one in several places is known to be the same"
	tests := []struct {
		name   string
		scorer cupel.Scorer
		want   string
		why    string
	}{
		{"13 levels", tree(13), "", "8191 visits"},
		{"14 levels", tree(14), tooMany + " (cupel_test.list)", "16383 visits"},
		{"60 levels", tree(60), tooMany + " (cupel_test.list)", "2^60 visits would take for ever"},
		{"the limit", many(10_000), "", "not one too many"},
		{"beyond the limit", many(10_001), tooMany + " (*cupel_test.wrapper)", "one too many"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := cupel.New(cupel.Config{Scorer: tt.scorer, Slicer: inOrder, Placer: asMerged})
			if tt.want == "" && err != nil || tt.want != "" && (err == nil || err.Error() != tt.want || !errors.Is(err, cupel.ErrInvalidConfig)) {
				t.Errorf("got %v, want %q: %s", err, tt.want, tt.why)
			}
		})
	}
}

// TestEmbeddedInterfacesAreLookedThrough has strategies that an embedded
// interface hides.
func TestEmbeddedInterfacesAreLookedThrough(t *testing.T) {
	invalid := &wrapper{invalid: errOwn}
	var nothing cupel.Slicer
	type inner struct{ cupel.Slicer }
	type outer struct{ *inner }
	quota := slicer.Must(slicer.NewQuota(slicer.Greedy{}))
	type hidden interface{ cupel.Slicer } // a field of this type is not exported
	type byHidden struct{ hidden }
	type hiddenTwice struct{ byHidden }
	for _, s := range []cupel.Slicer{
		plainByInterface{quota}, &plainByInterface{plainByInterface{quota}}, outer{&inner{quota}},
		byHidden{quota}, &byHidden{quota}, hiddenTwice{byHidden{quota}}, &hiddenTwice{byHidden{&byHidden{quota}}},
	} {
		found := false
		for each := range cupel.AllSlicers(s) {
			found = found || each == cupel.Slicer(quota)
		}
		if !found {
			t.Errorf("%T hides the Quota in it", s)
		}
	}
	if err := cupel.ValidateSlicer(plainByInterface{invalid}); !errors.Is(err, cupel.ErrInvalidConfig) {
		t.Errorf("slicer: got %v, want what the one inside says", err)
	}
	if err := cupel.ValidateScorer(scorerByInterface{invalid}); !errors.Is(err, cupel.ErrInvalidConfig) {
		t.Errorf("scorer: got %v, want what the one inside says", err)
	}
	if err := cupel.ValidateSlicer(plainByInterface{nothing}); err != nil {
		t.Errorf("nil in an embedded interface may have a purpose: %v", err)
	}
}
