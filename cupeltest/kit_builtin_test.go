package cupeltest_test

import (
	"testing"
	"time"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/placer"
	"github.com/wollax/cupel-go/cupel/scorer"
	"github.com/wollax/cupel-go/cupel/slicer"
	"github.com/wollax/cupel-go/cupel/strategy"
	"github.com/wollax/cupel-go/cupeltest"
)

// inTime runs a kit, which takes 3 seconds at most. That is measured in full
// runs only, where one kit runs after the other, and what else the machine does
// costs more attempts.
func inTime(t *testing.T, kit func()) {
	t.Helper()
	if testing.Short() || raceEnabled {
		kit()
		return
	}
	const most = 3 * time.Second
	took := most
	for range 5 {
		began := time.Now()
		kit()
		if took = time.Since(began); took <= most {
			return
		}
	}
	t.Errorf("the kit takes %v, want %v at most", took, most)
}

// parallelShort runs a test with others at the same time where none of them
// measures time.
func parallelShort(t *testing.T) {
	t.Helper()
	if testing.Short() || raceEnabled {
		t.Parallel()
	}
}

// The strategies of the specification keep their contracts, alone and inside
// one another.
func TestBuiltInScorers(t *testing.T) {
	clock := func() time.Time { return time.Date(2025, 6, 2, 12, 0, 0, 0, time.UTC) }
	for name, s := range map[string]strategy.Scorer{
		"Recency":             scorer.Recency{},
		"Priority":            scorer.Priority{},
		"Kind":                scorer.Kind{},
		"Kind with weights":   scorer.Must(scorer.NewKind(map[cupel.ContextKind]float64{"Sketch": 3})),
		"Tag":                 scorer.Must(scorer.NewTag(map[string]float64{"a": 1, "b": 0.1, "reference": 2})),
		"Tag without case":    scorer.Must(scorer.NewTag(map[string]float64{"A": 1, "chat": 0.1}, scorer.WithCaseInsensitiveTags())),
		"Frequency":           scorer.Frequency{},
		"Reflexive":           scorer.Reflexive{},
		"MetadataTrust":       scorer.Must(scorer.NewMetadataTrust(0.5)),
		"MetadataKey":         scorer.Must(scorer.NewMetadataKey(cupel.MetadataPriority, "high", 1.5)),
		"Decay, exponential":  scorer.Must(scorer.NewDecay(clock, scorer.Must(scorer.Exponential(time.Hour)))),
		"Decay, window":       scorer.Must(scorer.NewDecay(clock, scorer.Must(scorer.Window(2*time.Hour)), scorer.WithNullTimestampScore(0.2))),
		"Decay, step":         scorer.Must(scorer.NewDecay(clock, scorer.Must(scorer.Step(scorer.StepWindow{MaxAge: time.Hour, Score: 0.9}, scorer.StepWindow{MaxAge: 3 * time.Hour, Score: 0.4})))),
		"Scaled":              scorer.Must(scorer.NewScaled(scorer.Reflexive{})),
		"Composite":           composite(scorer.Recency{}, scorer.Frequency{}, scorer.Kind{}),
		"Composite of Scaled": composite(scorer.Must(scorer.NewScaled(composite(scorer.Priority{}, scorer.Recency{}))), scorer.Frequency{}),
	} {
		t.Run(name, func(t *testing.T) {
			parallelShort(t)
			inTime(t, func() { cupeltest.TestScorer(t, the(s), cupeltest.WithItems(cupeltest.Items(5, 6, 7)...)) })
		})
	}
}

func composite(scorers ...strategy.Scorer) strategy.Scorer {
	var parts []scorer.Weighted
	for i, s := range scorers {
		parts = append(parts, scorer.Weighted{Scorer: s, Weight: 0.1 + 0.7*float64(i)})
	}
	return scorer.Must(scorer.NewComposite(parts...))
}

func TestBuiltInSlicers(t *testing.T) {
	small := slicer.Must(slicer.NewKnapsack(slicer.WithBucketSize(1)))
	entry := func(kind cupel.ContextKind, require, limit int) slicer.CountQuotaEntry {
		return slicer.CountQuotaEntry{Kind: kind, RequireCount: require, CapCount: limit}
	}
	counts := []slicer.CountQuotaEntry{entry(cupel.KindMessage, 1, 2), entry(cupel.KindMemory, 2, 2), entry("nothing of this kind", 1, 1)}
	may := []cupeltest.SlicerOption{cupeltest.WithTargetExceeded()}
	for name, tt := range map[string]struct {
		slicer  strategy.Slicer
		options []cupeltest.SlicerOption
	}{
		"Greedy":                  {slicer.Greedy{}, nil},
		"ScoreGreedy":             {slicer.ScoreGreedy{}, nil},
		"Knapsack":                {slicer.Knapsack{}, nil},
		"MultipleChoice":          {slicer.MultipleChoice{}, nil},
		"Quota of MultipleChoice": {slicer.Must(slicer.NewQuota(slicer.MultipleChoice{}, slicer.Cap(cupel.KindToolOutput, 40))), nil},
		"Knapsack, bucket 1":      {small, nil},
		"Quota":                   {slicer.Must(slicer.NewQuota(slicer.Greedy{}, slicer.Require(cupel.KindMessage, 30), slicer.Cap(cupel.KindDocument, 40))), nil},
		"Quota of Knapsack":       {slicer.Must(slicer.NewQuota(small, slicer.Between(cupel.KindToolOutput, 10, 50))), nil},
		"CountQuota":              {slicer.Must(slicer.NewCountQuota(slicer.Greedy{}, counts)), may},
		"CountQuota, throwing":    {slicer.Must(slicer.NewCountQuota(slicer.Greedy{}, counts[:2], slicer.WithScarcity(slicer.ScarcityThrow))), may},
		"CountQuota without requirements": {slicer.Must(slicer.NewCountQuota(slicer.Greedy{}, []slicer.CountQuotaEntry{entry(cupel.KindMessage, 0, 1)})),
			nil},
		"CountConstrainedKnapsack": {slicer.Must(slicer.NewCountConstrainedKnapsack(small, counts)), may},
		"Quota of CountQuota":      {slicer.Must(slicer.NewQuota(slicer.Must(slicer.NewCountQuota(slicer.Greedy{}, counts)), slicer.Cap(cupel.KindMessage, 50))), may},
	} {
		t.Run(name, func(t *testing.T) {
			parallelShort(t)
			items := append(cupeltest.Items(5, 6, 7), cupeltest.Item("a call", 5, cupel.WithGroup("g")), cupeltest.Item("its result", 20, cupel.WithGroup("g"),
				cupel.WithVariants(cupel.Variant{Content: "its outline", Tokens: 9, Worth: 0.5})))
			options := append(tt.options, cupeltest.WithItems(items...))
			inTime(t, func() { cupeltest.TestSlicer(t, the(tt.slicer), options...) })
		})
	}
}

func TestBuiltInPlacers(t *testing.T) {
	inTime(t, func() {
		cupeltest.TestPlacer(t, the[strategy.Placer](placer.Chronological{}), cupeltest.WithItems(cupeltest.Items(5, 6, 7)...))
	})
	inTime(t, func() { cupeltest.TestPlacer(t, the[strategy.Placer](placer.UShaped{})) })
}
