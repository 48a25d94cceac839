package cupelotel_test

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/observe"
	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/cupel/policy"
	"github.com/wollax/cupel-go/cupel/slicer"
	"github.com/wollax/cupel-go/cupel/strategy"
	"github.com/wollax/cupel-go/cupelotel"
)

func TestRootSpans(t *testing.T) {
	chat, err := policy.Chat().Config(policy.Environment{})
	require.NoError(t, err)
	conversation := cupelotel.ContextWithConversationID(t.Context(), "c1")
	for _, tt := range []struct {
		name   string
		config pipeline.Config
		ctx    context.Context
		opts   []cupelotel.TraceOption
		want   map[attribute.Key]string // "" for none
		why    string
	}{
		{"policy", chat, t.Context(), nil, map[attribute.Key]string{"cupel.pipeline.name": "Chat", "cupel.policy.hash": policy.Chat().Hash()},
			"traces of one policy can be found, and of one version of it"},
		{"redacted", chat, conversation, []cupelotel.TraceOption{cupelotel.WithRedaction(observe.Redaction{Rewrite: func(observe.Part, string) string { return "x" }})},
			map[attribute.Key]string{"gen_ai.conversation.id": "x", "cupel.policy.hash": "x", "cupel.pipeline.name": "x"}, ""},
		{"reserve", config(), conversation, nil, map[attribute.Key]string{"cupel.budget.output_reserve": "7", "gen_ai.conversation.id": "c1"}, ""},
		{"failed", throwing(), t.Context(), nil, map[attribute.Key]string{
			"cupel.run.candidates": "8", "cupel.run.included": "", "cupel.run.selected_tokens": "", "cupel.budget.utilization": "", "error.type": "*pipeline.OverflowError",
		}, "there is no window"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			spans, recorder := traced(t, cupelotel.VerbosityStageOnly, tt.opts...)
			metrics, reader := measured(t)
			budget, err := cupel.NewContextBudget(1000, 100, cupel.WithOutputReserve(7))
			require.NoError(t, err)
			_, _ = newPipeline(t, tt.config).Run(tt.ctx, candidates(t), budget, pipeline.WithTrace(observe.Multi(spans, metrics))) // one fails
			attrs := spanNamed(t, recorder, "cupel.pipeline").Attributes()
			for key, want := range tt.want {
				assert.Equal(t, want, attr(attrs, key), "%s: %s", key, tt.why)
			}
			if name, ok := tt.want["cupel.pipeline.name"]; ok && tt.opts == nil {
				for _, m := range collect(t, reader) {
					for series := range points(m) {
						assert.Equal(t, name != "", strings.Contains(series, "cupel.pipeline.name="+name+" "), "%s has the series %s", m.Name, series)
					}
				}
			}
		})
	}
}

func TestRunModes(t *testing.T) {
	spans, recorder := traced(t, cupelotel.VerbosityStageOnly)
	metrics, reader := measured(t)
	p, budget, trace := newPipeline(t, config()), newBudget(t, 1000, 100), pipeline.WithTrace(observe.Multi(spans, metrics))
	prepared, err := p.Prepare(t.Context(), candidates(t))
	require.NoError(t, err)
	for mode, run := range map[string]func() error{
		"run":        func() error { _, err := p.Run(t.Context(), candidates(t), budget, trace); return err },
		"dry_run":    func() error { _, err := p.DryRun(t.Context(), candidates(t), budget, trace); return err },
		"prepared":   func() error { _, err := prepared.Run(t.Context(), budget, trace); return err },
		"simulation": func() error { _, err := prepared.DryRun(t.Context(), budget, trace); return err },
		"stream":     func() error { _, err := p.RunStream(t.Context(), source(t, nil), budget, trace); return err },
	} {
		recorder.Reset()
		require.NoError(t, run())
		root := spanNamed(t, recorder, "cupel.pipeline").Attributes()
		assert.Equal(t, mode, attr(root, "cupel.run.mode"))
		want := "8"
		if strings.HasPrefix(mode, "prep") || mode == "simulation" {
			want = attr(root, "cupel.run.candidates")
		}
		assert.Equal(t, want, attr(root, "cupel.run.candidates"), "a stream knows them at its end")
	}
	for _, m := range collect(t, reader) {
		if m.Name == "cupel.pipeline.duration" {
			modes := slices.Sorted(maps.Keys(points(m)))
			assert.Equal(t, []string{"cupel.run.mode=prepared", "cupel.run.mode=run", "cupel.run.mode=stream"}, modes, "a dry run sends nothing to a model")
		}
	}
}

// alarming is a configuration that finds too few journals and notes, and takes
// 190 tokens, pinned ones included, for a target of 100.
func alarming(t *testing.T) pipeline.Config {
	t.Helper()
	c := config()
	quota, err := slicer.NewCountQuota(byTags, []slicer.CountQuotaEntry{{Kind: "Journal", RequireCount: 3, CapCount: 9}, {Kind: "Note", RequireCount: 1, CapCount: 1}})
	require.NoError(t, err)
	c.Slicer, c.Overflow = quota, pipeline.OverflowProceed
	return c
}

func TestShortfallsAndOverflow(t *testing.T) {
	const (
		journals = "cupel.shortfall kind=Journal required=3 satisfied=1"
		notes    = "cupel.shortfall kind=Note required=1 satisfied=0"
	)
	for _, tt := range []struct {
		name      string
		verbosity cupelotel.Verbosity
		limit     int
		events    []string
	}{
		{"each has an event", cupelotel.VerbosityStageAndExclusions, 128, []string{journals, notes}},
		{"attributes, but no events", cupelotel.VerbosityStageOnly, 128, nil},
		{"the limit holds, the count is exact", cupelotel.VerbosityFull, 1, []string{journals}},
		{"no events", cupelotel.VerbosityFull, 0, nil},
		{"no limit", cupelotel.VerbosityFull, -1, []string{journals, notes}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			spans, recorder := traced(t, tt.verbosity, cupelotel.WithEventLimit(tt.limit))
			metrics, reader := measured(t)
			run(t, alarming(t), observe.Multi(spans, metrics))
			root := spanNamed(t, recorder, "cupel.pipeline")
			assert.Equal(t, "2", attr(root.Attributes(), "cupel.shortfall.count"))
			assert.Equal(t, "70", attr(root.Attributes(), "cupel.overflow.tokens"))
			var events []string
			for _, event := range root.Events() {
				text := event.Name
				for _, kv := range event.Attributes {
					text += " " + strings.TrimPrefix(string(kv.Key), event.Name+".") + "=" + kv.Value.String()
				}
				events = append(events, text)
			}
			assert.Equal(t, tt.events, events)
			got := map[string]string{}
			for _, m := range collect(t, reader) {
				if m.Name == "cupel.shortfalls" || m.Name == "cupel.overflow.tokens" {
					maps.Copy(got, points(m))
				}
			}
			assert.Equal(t, map[string]string{"cupel.run.mode=run cupel.shortfall.kind=Journal": "1", "cupel.run.mode=run cupel.shortfall.kind=Note": "1", "cupel.run.mode=run": "70"}, got)
		})
	}
}

// One token and one item count as more do, and an empty budget has no utilization that
// is no number: exporters reject NaN.
func TestSmallestRuns(t *testing.T) {
	one := config()
	one.Overflow = pipeline.OverflowProceed
	one.Slicer = sliceFunc(func(context.Context, []cupel.ScoredItem, cupel.SliceBudget) (strategy.Selection, error) {
		return strategy.Selection{Indices: []int{0}, Shortfalls: []cupel.CountRequirementShortfall{{Kind: "Note", RequiredCount: 1}}}, nil
	})
	for _, tt := range []struct {
		config  pipeline.Config
		items   []*cupel.ContextItem
		budget  cupel.ContextBudget
		attrs   map[attribute.Key]string
		metrics map[string]string
	}{
		{config(), nil, newBudget(t, 0, 0), map[attribute.Key]string{"cupel.budget.utilization": "0", "cupel.budget.target_utilization": "0"},
			map[string]string{"cupel.budget.utilization": "1 0", "cupel.budget.target_utilization": "1 0"}},
		{one, []*cupel.ContextItem{newItem(t, "a", 1)}, newBudget(t, 1, 0), map[attribute.Key]string{"cupel.overflow.tokens": "1", "cupel.shortfall.count": "1", "cupel.budget.utilization": "1"},
			map[string]string{"cupel.overflow.tokens": "1", "cupel.budget.utilization": "1 1"}},
	} {
		spans, recorder := traced(t, cupelotel.VerbosityStageOnly)
		metrics, reader := measured(t)
		_, err := newPipeline(t, tt.config).Run(t.Context(), tt.items, tt.budget, pipeline.WithTrace(observe.Multi(spans, metrics)))
		require.NoError(t, err)
		for key, want := range tt.attrs {
			assert.Equal(t, want, attr(spanNamed(t, recorder, "cupel.pipeline").Attributes(), key), key)
		}
		values := make(map[string]string)
		for _, m := range collect(t, reader) {
			values[m.Name] = points(m)["cupel.run.mode=run"]
		}
		for name, want := range tt.metrics {
			assert.Equal(t, want, values[name], name)
		}
	}
}
