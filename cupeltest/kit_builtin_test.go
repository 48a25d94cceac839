package cupeltest_test

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/placer"
	"github.com/wollax/cupel-go/cupel/scorer"
	"github.com/wollax/cupel-go/cupel/slicer"
	"github.com/wollax/cupel-go/cupel/strategy"
	"github.com/wollax/cupel-go/cupeltest"
)

// configurations returns strategies with sample settings, and with each value at the
// ends of a setting's range, for all descriptors of a list: a new strategy needs no
// entry here.
func configurations(t *testing.T, list []strategy.Descriptor, child any) map[string]any {
	t.Helper()
	all := make(map[string]any)
	for _, d := range list {
		for name, given := range settings(t, d.Fields, child) {
			clock := func() time.Time { return time.Date(2025, 6, 2, 12, 0, 0, 0, time.UTC) }
			if s, err := d.Build(strategy.Args{Given: given, Fields: d.Fields, Clock: clock}); err == nil {
				all[d.Name+name] = s
			}
		}
		require.Contains(t, all, d.Name, "it cannot be built of its samples")
	}
	return all
}

// settings returns the samples of all fields, and those with one of another value.
func settings(t *testing.T, fields []strategy.Field, child any) map[string]map[string]any {
	t.Helper()
	base := make(map[string]any)
	for _, f := range fields {
		base[f.Name] = values(t, f, child)[0]
	}
	all := map[string]map[string]any{"": base}
	for _, f := range fields {
		if testing.Short() && f.Type != strategy.List && f.Type != strategy.Weights {
			continue
		}
		for i, value := range values(t, f, child) {
			given := maps.Clone(base)
			given[f.Name] = value
			all[fmt.Sprintf(" with %s %d", f.Name, i)] = given
		}
	}
	return all
}

// values returns values of a setting, a usual one first.
func values(t *testing.T, f strategy.Field, child any) (list []any) {
	t.Helper()
	switch f.Type {
	case strategy.Number:
		return []any{0.4, 0.0, 1.0, 60.0}
	case strategy.Int:
		usual, _ := f.Default.(int)
		return []any{cmp.Or(usual, 2), 0, 1, 4000, math.MaxInt}
	case strategy.Bool:
		return []any{false, true}
	case strategy.Text, strategy.Kind:
		return []any{"Message", "nothing of this name"}
	case strategy.Enum:
		for _, value := range f.Values {
			list = append(list, value)
		}
		return list
	case strategy.Duration:
		return []any{time.Hour, time.Nanosecond, 200 * 365 * 24 * time.Hour}
	case strategy.Weights:
		return []any{map[string]float64{"a": 0.5, "Document": 2, "chat": 1}, map[string]float64{}, map[string]float64{"nothing of this name": 1}}
	case strategy.List:
		all := settings(t, f.Fields, child)
		for _, name := range slices.Sorted(maps.Keys(all)) {
			list = append(list, []strategy.Args{{Given: all[name], Fields: f.Fields}})
		}
		return list
	case strategy.Variant:
		for _, s := range configurations(t, f.Variants, child) {
			list = append(list, s)
		}
		return list
	case strategy.Child:
		return []any{child}
	case strategy.Parts:
		return []any{[]strategy.Part{{Strategy: child, Weight: 1}}, []strategy.Part{{Strategy: child, Weight: 0.1}, {Strategy: scorer.Priority{}, Weight: 1}, {Strategy: scorer.Frequency{}, Weight: 0.8}}}
	default:
		require.Fail(t, "no samples", "the setting %s has the type %s", f.Name, f.Type)
		return nil
	}
}

// Every strategy of the specification keeps its contract in every lawful
// configuration.
func TestBuiltInScorers(t *testing.T) {
	for name, s := range configurations(t, scorer.Descriptors(), scorer.Recency{}) {
		t.Run(name, func(t *testing.T) {
			cupeltest.TestScorer(t, func() strategy.Scorer { return s.(strategy.Scorer) }, cupeltest.WithItems(cupeltest.Items(5, 6, 7)...))
		})
	}
}

func TestBuiltInSlicers(t *testing.T) {
	all := configurations(t, slicer.Descriptors(), slicer.Greedy{})
	quota, _ := strategy.Find(slicer.Descriptors(), "quota")
	quota.Name = "quota of knapsack"
	maps.Copy(all, configurations(t, []strategy.Descriptor{quota}, slicer.Must(slicer.NewKnapsack(slicer.WithBucketSize(7)))))
	for name, s := range all {
		t.Run(name, func(t *testing.T) {
			items := append(cupeltest.Items(5, 6, 7), cupeltest.Item("a call", 5, cupel.WithGroup("g")), cupeltest.Item("its result", 20, cupel.WithGroup("g"),
				cupel.WithVariants(cupel.Variant{Content: "its outline", Tokens: 9, Worth: 0.5})))
			options := []cupeltest.KitOption{cupeltest.WithItems(items...), cupeltest.MayFail(slicer.ErrMemoryLimit)}
			switch s.(type) {
			case *slicer.CountQuota, *slicer.CountConstrainedKnapsack: // what they require may exceed it
				options = append(options, cupeltest.Except("target"))
			}
			cupeltest.TestSlicer(t, func() strategy.Slicer { return s.(strategy.Slicer) }, options...)
		})
	}
}

func TestBuiltInPlacers(t *testing.T) {
	for name, s := range configurations(t, placer.Descriptors(), nil) {
		t.Run(name, func(t *testing.T) {
			cupeltest.TestPlacer(t, func() strategy.Placer { return s.(strategy.Placer) }, cupeltest.WithItems(cupeltest.Items(5, 6, 7)...))
		})
	}
}
