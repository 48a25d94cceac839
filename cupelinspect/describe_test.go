package cupelinspect

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/wollax/cupel-go/cupel/scorer"
	"github.com/wollax/cupel-go/cupel/slicer"
	"github.com/wollax/cupel-go/cupel/strategy"
)

func TestSettingsThatDifferAreShown(t *testing.T) {
	decay := func(curve scorer.Curve, opts ...scorer.DecayOption) strategy.Scorer {
		return scorer.Must(scorer.NewDecay(time.Now, curve, opts...))
	}
	scorers := []struct {
		scorer strategy.Scorer
		want   string
		why    string
	}{
		{scorer.Recency{}, "Recency", "there are no settings"},
		{nil, "nil", "a wrapper may have none inside"},
		{scorer.Must(scorer.NewComposite(scorer.Weighted{Scorer: scorer.Recency{}, Weight: 3})), "Composite(Recency 1)", "weights are shares"},
		{scorer.Must(scorer.NewMetadataTrust(0)), "MetadataTrust{defaultScore 0}", "a required setting has no default"},
		{scorer.Must(scorer.NewMetadataKey("a\nb", "c", 2)), `MetadataKey{key "a\nb", value "c", boost 2}`, "text is quoted"},
		{decay(scorer.Must(scorer.Window(time.Hour))), "Decay{curve window{maxAge 1h0m0s}}", "the default score is not shown"},
		{decay(scorer.Must(scorer.Exponential(time.Minute)), scorer.WithNullTimestampScore(0)), "Decay{curve exponential{halfLife 1m0s}, nullTimestampScore 0}", "another one is"},
		{scorer.Must(scorer.NewScaled(scorer.Must(scorer.NewMetadataTrust(1)))), "Scaled(MetadataTrust{defaultScore 1})", "settings of strategies inside"},
		{struct{ strategy.Scorer }{scorer.Must(scorer.NewMetadataTrust(1))}, "struct { strategy.Scorer }", "another type is not described as the one that it embeds"},
	}
	for _, tt := range scorers {
		assert.Equal(t, tt.want, describeScorer(t.Context(), tt.scorer), tt.why)
	}
	knapsack := slicer.Must(slicer.NewKnapsack(slicer.WithBucketSize(5), slicer.WithMemoryLimit(9)))
	slicers := []struct {
		slicer strategy.Slicer
		want   string
		why    string
	}{
		{slicer.Knapsack{}, "Knapsack", "every setting is the default"},
		{knapsack, "Knapsack{bucketSize 5, memoryLimit 9}", "the others are shown"},
		{slicer.Must(slicer.NewKnapsack(slicer.WithAutoBucket())), "Knapsack{autoBucket true}", "the default bucket size is not a setting"},
		{slicer.Must(slicer.NewQuota(knapsack, slicer.Require("a", 1))), "Quota(Knapsack{bucketSize 5, memoryLimit 9})", "lists have no room"},
		{slicer.Must(slicer.NewCountQuota(slicer.Greedy{}, nil, slicer.WithScarcity(slicer.ScarcityThrow))), "CountQuota{scarcity Throw}(Greedy)", "names are single values"},
	}
	for _, tt := range slicers {
		assert.Equal(t, tt.want, describeSlicer(tt.slicer), tt.why)
	}
}
