package placer_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/placer"
	"github.com/wollax/cupel-go/cupel/strategy"
)

var noon = time.Date(2025, 6, 1, 12, 0, 0, 0, time.UTC)

// at is an item with a timestamp; its score is the opposite of what the order
// of times would give, because scores must not matter.
func at(t time.Time) cupel.ScoredItem { return scored(float64(t.Year()), cupel.WithTimestamp(t)) }

func after(d time.Duration) cupel.ScoredItem { return at(noon.Add(d)) }

// scored is an item with a score.
func scored(score float64, opts ...cupel.ItemOption) cupel.ScoredItem {
	item, err := cupel.NewContextItem("content", 1, opts...)
	if err != nil {
		panic(err)
	}
	return cupel.ScoredItem{Item: item, Score: score}
}

type placeCase struct {
	name  string
	items []cupel.ScoredItem
	want  []int
	why   string
}

func runCases(t *testing.T, p strategy.Placer, cases []placeCase) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got := make([]int, len(c.items))
			if err := strategy.CallPlacer(t.Context(), p, c.items, got); err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("got %v, want %v: %s", got, c.want, c.why)
			}
		})
	}
}

func TestChronological(t *testing.T) {
	far := func(year int, ns int) cupel.ScoredItem { return at(time.Date(year, 1, 1, 0, 0, 0, ns, time.UTC)) }
	paris := time.FixedZone("Paris", 2*60*60)
	// Time counts seconds from the year 1 in an int64 that Unix can wrap.
	const yearOneToUnix = 62135596800
	lastSecond := time.Unix(math.MaxInt64-yearOneToUnix, 0)
	firstSecond := time.Unix(math.MaxInt64-yearOneToUnix+1, 0)
	runCases(t, placer.Chronological{}, []placeCase{
		{"empty", nil, nil, "edge case: an empty list"},
		{"single", []cupel.ScoredItem{after(0)}, []int{0}, "edge case: returned as it is"},
		{"zones", []cupel.ScoredItem{at(time.Date(2025, 6, 1, 13, 0, 0, 0, paris)), at(time.Date(2025, 6, 1, 11, 30, 0, 0, time.UTC))}, []int{0, 1},
			"conformance note: 13:00 in Paris is 11:00 UTC, the instant counts and not the text"},
		{"beyond Unix nanoseconds", []cupel.ScoredItem{far(2300, 1), far(1, 0), far(2300, 0), scored(0), far(1600, 0), far(9999, 0)}, []int{1, 4, 2, 0, 5, 3},
			"R10: the years before 1678 and after 2262 order rightly too"},
		{"ends of the range", []cupel.ScoredItem{at(lastSecond), after(0), at(firstSecond)}, []int{2, 1, 0},
			"the whole range of time.Time, in the order of its Compare"},
		{"ends of the range, nothing between", []cupel.ScoredItem{scored(0), at(lastSecond.Add(time.Second - 1)), at(firstSecond)}, []int{2, 1, 0},
			"their difference is -1 ns in 64 bits, which must not read as close or as no time"},
		{"no item", []cupel.ScoredItem{{}, after(0)}, []int{1, 0}, "a position without an item has no time; it must not panic"},
	})
}

func TestUShaped(t *testing.T) {
	list := func(scores ...float64) (items []cupel.ScoredItem) {
		for _, s := range scores {
			items = append(items, scored(s))
		}
		return items
	}
	runCases(t, placer.UShaped{}, []placeCase{
		{"empty", nil, nil, "edge case: an empty list"},
		{"visual example", list(0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3), []int{0, 2, 4, 6, 5, 3, 1}, "the chapter's picture: A C E G F D B"},
	})
}

// TestMemory: what placers sort with is used again.
func TestMemory(t *testing.T) {
	var items []cupel.ScoredItem
	for i := range 1000 {
		items = append(items, after(time.Duration(i*7919%1000)*time.Second))
	}
	order := make([]int, len(items))
	for p, most := range map[strategy.Placer]float64{placer.Chronological{}: 1, placer.UShaped{}: 0} { // what a closure needs
		if made := testing.AllocsPerRun(20, func() { _ = p.Place(t.Context(), items, order) }); made > most {
			t.Errorf("%T takes %v allocations, want at most %v", p, made, most)
		}
	}
}

func TestDescriptors(t *testing.T) {
	all := placer.Descriptors()
	if len(all) != 2 || all[0].Name != "chronological" || all[1].Name != "uShaped" {
		t.Errorf("got %v", all)
	}
	all[0].Name = "changed"
	if placer.Descriptors()[0].Name != "chronological" {
		t.Error("a caller changed the list")
	}
}

// TestAgainstTheChapters compares with the pseudocode, on short and long lists.
func TestAgainstTheChapters(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	times := []func() time.Time{
		func() time.Time { return noon.Add(time.Duration(r.IntN(6))) },
		func() time.Time { return noon.Add(time.Duration(r.Int64N(1e18))) },
		func() time.Time { return time.Unix(r.Int64N(1e12)-5e11, r.Int64N(3)) },
		func() time.Time { return time.Time{}.Add(time.Duration(r.IntN(3))) },
	}
	scores := []func() float64{
		func() float64 { return float64(r.IntN(4)) },
		r.Float64,
		func() float64 {
			return []float64{math.NaN(), math.Inf(1), math.Inf(-1), math.Copysign(0, -1), 0}[r.IntN(5)]
		},
	}
	for round := range 600 {
		n := r.IntN(12)
		if round%20 == 0 {
			n = 300 + r.IntN(300)
		}
		var items []cupel.ScoredItem
		for range n {
			one := scored(0)
			switch {
			case r.IntN(4) == 0:
			case r.IntN(8) == 0 && len(items) > 0:
				one = items[r.IntN(len(items))]
			default:
				one = at(times[r.IntN(1+(round+round/20)%len(times))]())
			}
			one.Score = scores[r.IntN(1+(round+round/20)%len(scores))]()
			items = append(items, one)
		}
		for _, tt := range []struct {
			placer strategy.Placer
			want   []int
		}{
			{placer.Chronological{}, chronologicalPlace(items)},
			{placer.UShaped{}, uShapedPlace(items)},
		} {
			got := make([]int, len(items))
			if err := strategy.CallPlacer(t.Context(), tt.placer, items, got); err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(got, tt.want) {
				t.Fatalf("round %d, %T: got %v, want %v", round, tt.placer, got, tt.want)
			}
		}
	}
}

// chronologicalPlace is CHRONOLOGICAL-PLACE of the chapter.
func chronologicalPlace(items []cupel.ScoredItem) []int {
	before := func(a, b int) bool {
		ta, aHas := items[a].Item.Timestamp()
		tb, bHas := items[b].Item.Timestamp()
		switch {
		case aHas != bHas:
			return aHas
		case !ta.Equal(tb):
			return ta.Before(tb)
		}
		return a < b
	}
	return insertionSort(len(items), before)
}

// uShapedPlace is U-SHAPED-PLACE of the chapter.
func uShapedPlace(items []cupel.ScoredItem) []int {
	ranked := insertionSort(len(items), func(a, b int) bool {
		x, y := items[a].Score, items[b].Score
		switch {
		case x > y || x == x && y != y:
			return true
		case y > x || y == y && x != x:
			return false
		}
		return a < b
	})
	result := make([]int, len(items))
	left, right := 0, len(items)-1
	for i, original := range ranked {
		if i%2 == 0 {
			result[left] = original
			left++
		} else {
			result[right] = original
			right--
		}
	}
	return result
}

func insertionSort(n int, before func(a, b int) bool) []int {
	var sorted []int
	for i := range n {
		place := len(sorted)
		for place > 0 && before(i, sorted[place-1]) {
			place--
		}
		sorted = slices.Insert(sorted, place, i)
	}
	return sorted
}
