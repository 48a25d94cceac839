package scorer_test

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/internal/ascii"
	"github.com/wollax/cupel-go/cupel/scorer"
	"github.com/wollax/cupel-go/cupel/strategy"
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

// TestRelativeScorersAgainstTheChapters compares with what the chapters say of
// one item, bit for bit.
func TestRelativeScorersAgainstTheChapters(t *testing.T) {
	r := newRand(1)
	for round := range 120 {
		all := richItems(r, pick(r, 0, 1, 2, 3, 10, 30, 70))
		if round%40 == 0 {
			all = richItems(r, 200) // enough for sorting by digits
		}
		for s, score := range map[strategy.Scorer]strategy.ScorerFunc{
			scorer.Recency{}:   byRank((*cupel.ContextItem).Timestamp, time.Time.Compare),
			scorer.Priority{}:  byRank((*cupel.ContextItem).Priority, cmp.Compare[int]),
			scorer.Frequency{}: frequency,
		} {
			if got, want := scoreAll(t, s, all), scoreAll(t, score, all); !slices.Equal(got, want) {
				t.Fatalf("%T, round %d: got %v, want %v", s, round, got, want)
			}
		}
	}
}

// byRank is RECENCY-SCORE and PRIORITY-SCORE.
func byRank[K any](key func(*cupel.ContextItem) (K, bool), compare func(a, b K) int) strategy.ScorerFunc {
	return func(item *cupel.ContextItem, all []*cupel.ContextItem) float64 {
		own, ok := key(item)
		if !ok {
			return 0
		}
		count, rank := 0, 0
		for _, other := range all {
			if k, ok := key(other); ok {
				count++
				if compare(k, own) < 0 {
					rank++
				}
			}
		}
		if count <= 1 {
			return 1
		}
		return float64(rank) / float64(count-1)
	}
}

// frequency is FREQUENCY-SCORE.
func frequency(item *cupel.ContextItem, all []*cupel.ContextItem) float64 {
	if len(all) <= 1 {
		return 0
	}
	matching := 0
	for _, other := range all {
		if other != item && slices.ContainsFunc(item.Tags(), func(a string) bool {
			return slices.ContainsFunc(other.Tags(), func(b string) bool { return ascii.EqualFold(a, b) })
		}) {
			matching++
		}
	}
	return float64(matching) / float64(len(all)-1)
}
