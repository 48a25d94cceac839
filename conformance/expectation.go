package conformance

import (
	"github.com/wollax/cupel-go/cupel"
)

// diagnostics is what a vector asserts of a report. A nil list says nothing,
// an empty one asserts emptiness.
type diagnostics struct {
	included   []includedRow
	excluded   []excludedRow
	shortfalls []cupel.CountRequirementShortfall
	events     []eventRow

	totalCandidates, totalTokens *int
}

type includedRow struct {
	content string
	score   *float64
	reason  cupel.InclusionReason
}

type excludedRow struct {
	content string
	score   *float64
	code    cupel.ExclusionCode
	fields  map[string]any // wire name to int, float64 or string, for the fields that the row gives
}

type eventRow struct {
	stage cupel.PipelineStage
	count int
}

// reasonFields are the data of a reason under their wire names.
var reasonFields = []struct {
	name string
	of   func(cupel.ExclusionReason) any
}{
	{"item_tokens", func(r cupel.ExclusionReason) any { return r.ItemTokens }},
	{"available_tokens", func(r cupel.ExclusionReason) any { return r.AvailableTokens }},
	{"deduplicated_against", func(r cupel.ExclusionReason) any { return r.DeduplicatedAgainst }},
	{"tokens", func(r cupel.ExclusionReason) any { return r.Tokens }},
	{"displaced_by", func(r cupel.ExclusionReason) any { return r.DisplacedBy }},
	{"kind", func(r cupel.ExclusionReason) any { return string(r.Kind) }},
	{"cap", func(r cupel.ExclusionReason) any { return r.Cap }},
	{"count", func(r cupel.ExclusionReason) any { return r.Count }},
	{"actual", func(r cupel.ExclusionReason) any { return r.Actual }},
	{"required", func(r cupel.ExclusionReason) any { return r.Required }},
	{"available", func(r cupel.ExclusionReason) any { return r.Available }},
	{"displaced_by_kind", func(r cupel.ExclusionReason) any { return string(r.DisplacedByKind) }},
	{"score", func(r cupel.ExclusionReason) any { return r.Score }},
	{"threshold", func(r cupel.ExclusionReason) any { return r.Threshold }},
	{"filter_name", func(r cupel.ExclusionReason) any { return r.FilterName }},
}

// readExpectation reads what must come out. expected is a table or, as in the
// scoring vectors of the format chapter, an array of tables (R47).
func (v *vector) readExpectation(root table) {
	w := &v.want
	w.epsilon = 1e-9
	if t := root.table("tolerance").knows("score_epsilon"); t.has("score_epsilon") {
		w.epsilon = t.number("score_epsilon")
	}
	if root.has("expected_output") {
		w.ordered = contentsOf(root.tables("expected_output"))
	}
	switch root.values["expected"].(type) {
	case nil:
	case map[string]any:
		v.readExpectedTable(root.table("expected"))
	default:
		v.readExpectedRows(root.tables("expected"))
	}
	// (R47) A pipeline may expect the empty output by saying nothing about it.
	nothing := w.err == "" && !w.construction && w.scoreRows == nil && w.scores == nil && w.selected == nil && w.ordered == nil &&
		w.indices == nil && w.shortfallCount == nil && w.capExcludedCount == nil && w.diagnostics == nil
	if nothing && v.stage != "pipeline" {
		root.fail("expected", "is required: a %s vector must expect something", v.stage)
	}
}

func (v *vector) readExpectedRows(rows []table) {
	if v.stage != "scoring" {
		contents := contentsOf(rows)
		if v.stage == "slicing" {
			v.want.selected = contents
		} else {
			v.want.ordered = contents
		}
		return
	}
	v.want.scoreRows = []scoreRow{}
	for _, r := range rows {
		r.knows("content", "score_approx")
		v.want.scoreRows = append(v.want.scoreRows, scoreRow{r.required("content").text("content"), r.required("score_approx").number("score_approx")})
	}
}

func (v *vector) readExpectedTable(t table) {
	w := &v.want
	t.knows("error", "scores", "selected_contents", "ordered_contents", "ordered_indices", "selected_indices", "shortfall_count", "cap_excluded_count",
		"diagnostics")
	if t.has("error") {
		w.err = t.text("error")
		if errorClasses[w.err] == nil {
			t.fail("error", "unknown error class %q", w.err)
		}
	}
	w.scores = t.numbers("scores")
	w.selected = t.texts("selected_contents")
	if t.has("ordered_contents") {
		w.ordered = t.texts("ordered_contents")
	}
	w.indices = t.integers("ordered_indices")
	if t.has("selected_indices") {
		w.indices = t.integers("selected_indices")
	}
	w.shortfallCount = optional(t, "shortfall_count", table.integer)
	w.capExcludedCount = optional(t, "cap_excluded_count", table.integer)
	if t.has("diagnostics") {
		w.diagnostics = readDiagnostics(t.table("diagnostics"))
	}
}

func readDiagnostics(t table) *diagnostics {
	t.knows("included", "excluded", "summary", "shortfalls", "events")
	d := &diagnostics{}
	if t.has("included") {
		d.included = []includedRow{}
	}
	for _, r := range t.tables("included") {
		r.knows("content", "score_approx", "inclusion_reason")
		d.included = append(d.included, includedRow{
			r.required("content").text("content"), optional(r, "score_approx", table.number), cupel.InclusionReason(r.text("inclusion_reason")),
		})
	}
	if t.has("excluded") {
		d.excluded = []excludedRow{}
	}
	for _, r := range t.tables("excluded") {
		d.excluded = append(d.excluded, readExcluded(r))
	}
	if t.has("shortfalls") {
		d.shortfalls = []cupel.CountRequirementShortfall{}
	}
	for _, r := range t.tables("shortfalls") {
		r.knows("kind", "required_count", "satisfied_count")
		d.shortfalls = append(d.shortfalls, cupel.CountRequirementShortfall{
			Kind:           cupel.ContextKind(r.required("kind").text("kind")),
			RequiredCount:  r.required("required_count").integer("required_count"),
			SatisfiedCount: r.required("satisfied_count").integer("satisfied_count"),
		})
	}
	if t.has("events") {
		d.events = []eventRow{}
	}
	for _, r := range t.tables("events") {
		r.knows("stage", "item_count")
		d.events = append(d.events, eventRow{cupel.PipelineStage(r.required("stage").text("stage")), r.required("item_count").integer("item_count")})
	}
	s := t.table("summary").knows("total_candidates", "total_tokens_considered")
	d.totalCandidates = optional(s, "total_candidates", table.integer)
	d.totalTokens = optional(s, "total_tokens_considered", table.integer)
	return d
}

func readExcluded(r table) excludedRow {
	keys := []string{"content", "score_approx", "exclusion_reason"}
	row := excludedRow{
		content: r.required("content").text("content"), score: optional(r, "score_approx", table.number),
		code: cupel.ExclusionCode(r.text("exclusion_reason")), fields: map[string]any{},
	}
	for _, f := range reasonFields {
		keys = append(keys, f.name)
		if !r.has(f.name) {
			continue
		}
		switch f.of(cupel.ExclusionReason{}).(type) {
		case int:
			row.fields[f.name] = r.integer(f.name)
		case float64:
			row.fields[f.name] = r.number(f.name)
		default:
			row.fields[f.name] = r.text(f.name)
		}
	}
	r.knows(keys...)
	return row
}

func contentsOf(rows []table) []string {
	out := make([]string, 0, len(rows))
	for _, r := range rows {
		r.knows("content")
		out = append(out, r.required("content").text("content"))
	}
	return out
}
