package scorer_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/scorer"
)

func newRand(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0x5c04e4)) }

func pick[E any](r *rand.Rand, from ...E) E { return from[r.IntN(len(from))] }

// richItems returns n items that have most of what goes wrong: absent fields,
// ties, the same pointer again, nil, hints that are no numbers, letters that
// only Unicode folds, years that Unix nanoseconds do not reach.
func richItems(r *rand.Rand, n int) items {
	all := make(items, 0, n)
	for len(all) < n {
		switch {
		case len(all) > 0 && r.IntN(8) == 0:
			all = append(all, pick(r, all...))
		case r.IntN(40) == 0:
			all = append(all, nil)
		default:
			all = append(all, richItem(r))
		}
	}
	return all
}

func richItem(r *rand.Rand) *cupel.ContextItem {
	opts := []cupel.ItemOption{cupel.WithKind(pick[cupel.ContextKind](r,
		cupel.KindMessage, cupel.KindDocument, "toolOUTPUT", "memory", cupel.KindSystemPrompt, "Custom", "CUSTOM", "\u212aind"))}
	if r.IntN(4) > 0 {
		opts = append(opts, cupel.WithPriority(pick(r, r.IntN(5)-2, r.IntN(100), math.MaxInt, math.MinInt)))
	}
	if r.IntN(4) > 0 {
		opts = append(opts, cupel.WithTimestamp(richTime(r)))
	}
	if r.IntN(4) > 0 {
		opts = append(opts, cupel.WithFutureRelevanceHint(pick(r,
			r.Float64(), r.Float64(), float64(r.IntN(3)), r.NormFloat64()*10, math.Copysign(0, -1),
			math.NaN(), math.Inf(1), math.Inf(-1), math.MaxFloat64, -math.MaxFloat64, math.SmallestNonzeroFloat64)))
	}
	if r.IntN(2) > 0 {
		opts = append(opts, cupel.WithMetadata(map[string]any{
			cupel.MetadataTrust:    pick[any](r, "0.25", "0.5", "high", "1e999", "NaN", "0x1p-2", 0.75, 1, float32(2), true, nil),
			cupel.MetadataPriority: pick[any](r, "high", "high", "normal", 1, nil),
		}))
	}
	return item(append(opts, cupel.WithTags(richTags(r, pick(r, 0, 1, 2, 3, 4, 5, 9), 12)...))...)
}

func richTime(r *rand.Rand) time.Time {
	zone := pick(r, time.UTC, time.FixedZone("", 9*3600), time.FixedZone("", -5*3600))
	return pick(r,
		reference.Add(-time.Duration(r.IntN(5))),
		reference.Add(-time.Duration(r.Int64N(int64(1000*time.Hour)))),
		reference.Add(time.Duration(r.IntN(3))*time.Hour),
		time.Time{}, date(1), date(2300), date(1600), date(9999).Add(time.Duration(r.IntN(3))),
		time.Unix(math.MaxInt64, 0), time.Unix(math.MinInt64, 5)).In(zone)
}

func richTags(r *rand.Rand, n, among int) []string {
	var tags []string
	for range n {
		tags = append(tags, fmt.Sprintf(pick(r, "tag-%d", "Tag-%d", "TAG-%d"), r.IntN(among)))
		if r.IntN(20) == 0 {
			tags = append(tags, pick(r, "k", "K", "\u212a", "s", "\u017f", "", "ä", "Ä"))
		}
	}
	return tags
}

// TestBatchEqualsSingle holds the two forms of every scorer against each other,
// bit for bit.
func TestBatchEqualsSingle(t *testing.T) {
	r := newRand(1)
	scorers := everyScorer()
	for round := range 120 {
		all := richItems(r, pick(r, 0, 1, 2, 3, 10, 30, 70))
		if round%40 == 0 {
			all = richItems(r, 200) // enough for sorting by digits
		}
		for name, s := range scorers {
			for i, got := range scoreAll(t, s, all) {
				if want := s.Score(all[i], all); !same(got, want) {
					t.Fatalf("%s, round %d, item %d of %d: ScoreAll gives %v (%x), Score %v (%x)",
						name, round, i, len(all), got, math.Float64bits(got), want, math.Float64bits(want))
				}
			}
		}
	}
}

// TestScoresEqualTheModel holds both forms against the pseudocode.
func TestScoresEqualTheModel(t *testing.T) {
	blend := everyScorer()["Composite"].(*scorer.Composite)
	parts := []cupel.Scorer{scorer.Recency{}, scorer.Kind{}, scaled(rawHint)}
	sum := 1.0 + 2 + 4
	models := []struct {
		name   string
		scorer cupel.Scorer
		model  func(*cupel.ContextItem, items) float64
	}{
		{"Recency", scorer.Recency{}, recencyScore},
		{"Priority", scorer.Priority{}, priorityScore},
		{"Frequency", scorer.Frequency{}, frequencyScore},
		{"Composite", composite(scorer.Weighted{Scorer: parts[0], Weight: 1}, scorer.Weighted{Scorer: parts[1], Weight: 2}, scorer.Weighted{Scorer: parts[2], Weight: 4}),
			func(item *cupel.ContextItem, all items) float64 {
				return compositeScore(item, all, parts, []float64{1 / sum, 2 / sum, 4 / sum})
			}},
		{"Scaled Recency", scaled(scorer.Recency{}), func(item *cupel.ContextItem, all items) float64 {
			return scaledScore(item, all, scorer.Recency{})
		}},
		{"Scaled Composite", scaled(blend), func(item *cupel.ContextItem, all items) float64 {
			return scaledScore(item, all, blend)
		}},
		{"Scaled hints", scaled(rawHint), func(item *cupel.ContextItem, all items) float64 {
			return scaledScore(item, all, rawHint)
		}},
		{"Scaled Scaled Priority", scaled(scaled(scorer.Priority{})), func(item *cupel.ContextItem, all items) float64 {
			return scaledScore(item, all, function(func(item *cupel.ContextItem, all []*cupel.ContextItem) float64 {
				return scaledScore(item, all, scorer.Priority{})
			}))
		}},
	}
	r := newRand(2)
	for _, m := range models {
		for round := range 60 {
			all := richItems(r, pick(r, 0, 1, 2, 5, 20))
			scores := scoreAll(t, m.scorer, all)
			for i, it := range append(all, richItem(r)) { // the last one is absent
				want := m.model(it, all)
				if got := m.scorer.Score(it, all); !same(got, want) {
					t.Fatalf("%s, round %d, item %d of %d: Score gives %v, the chapter %v", m.name, round, i, len(all), got, want)
				}
				if i < len(all) && !same(scores[i], want) {
					t.Fatalf("%s, round %d, item %d of %d: ScoreAll gives %v, the chapter %v", m.name, round, i, len(all), scores[i], want)
				}
			}
		}
	}
}

// TestFrequencyEqualsTheModel covers the numbers of tags at which the way of
// counting changes.
func TestFrequencyEqualsTheModel(t *testing.T) {
	r := newRand(3)
	for _, shape := range []struct{ items, least, most, among int }{
		{60, 0, 3, 9}, {400, 1, 1, 50}, {700, 1, 3, 14}, {700, 0, 4, 30}, {300, 4, 4, 40},
		{400, 0, 12, 30}, {300, 5, 9, 2000}, {200, 20, 25, 90}, {500, 1, 6, 6},
	} {
		all := make(items, shape.items)
		for i := range all {
			if i > 0 && r.IntN(20) == 0 {
				all[i] = all[r.IntN(i)]
				continue
			}
			all[i] = tagged(richTags(r, shape.least+r.IntN(shape.most-shape.least+1), shape.among)...)
		}
		scores := scoreAll(t, scorer.Frequency{}, all)
		for i, it := range all {
			if i%7 != 0 && len(all) > 100 {
				continue // the model is slow
			}
			if want := frequencyScore(it, all); !same(scores[i], want) {
				t.Fatalf("%+v: item %d scores %v, the chapter says %v", shape, i, scores[i], want)
			}
		}
	}
}

// TestLongListsEqualTheModel covers lists long enough for every way of sorting,
// of instants near each other and far apart.
func TestLongListsEqualTheModel(t *testing.T) {
	r := newRand(4)
	for _, span := range []time.Duration{0, 10, time.Hour, 290 * 365 * 24 * time.Hour} {
		for _, far := range []bool{false, true} {
			all := make(items, 600)
			for i := range all {
				when := reference
				if span > 0 {
					when = when.Add(-time.Duration(r.Int64N(int64(span))))
				}
				if far && i%5 == 0 {
					when = when.AddDate(-pick(r, 500, 1900), 0, 0)
				}
				all[i] = item(cupel.WithTimestamp(when), cupel.WithPriority(int(r.Uint64())>>r.IntN(64)))
			}
			recency, priority := scoreAll(t, scorer.Recency{}, all), scoreAll(t, scorer.Priority{}, all)
			for i, it := range all {
				if want := recencyScore(it, all); !same(recency[i], want) {
					t.Fatalf("span %v, far %v: item %d has recency %v, the chapter says %v", span, far, i, recency[i], want)
				}
				if want := priorityScore(it, all); !same(priority[i], want) {
					t.Fatalf("span %v, far %v: item %d has priority %v, the chapter says %v", span, far, i, priority[i], want)
				}
			}
		}
	}
}

func TestExponentialEqualsPow(t *testing.T) {
	r := newRand(5)
	for range 2000 {
		halfLife := time.Duration(1 + r.Int64N(int64(1)<<(1+r.IntN(62))))
		age := time.Duration(r.Int64N(int64(1) << (1 + r.IntN(62))))
		s := decay(scorer.Must(scorer.Exponential(halfLife)))
		got, want := s.Score(at(reference.Add(-age)), nil), halfLives(age, halfLife)
		if !(math.Abs(got-want) <= 1e-12) || got < 0 || got > 1 {
			t.Fatalf("age %v at half-life %v: got %v, want %v in [0,1]", age, halfLife, got, want)
		}
	}
}
