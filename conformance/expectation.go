package conformance

import (
	"slices"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/strategy"
)

// diagnostics holds a vector's assertions about a report. A nil list asserts
// nothing; an empty one asserts that there are no elements.
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
	reason  *string

	candidate, form, tokens, originalTokens *int
	stale                                   *bool
}

type excludedRow struct {
	content string
	score   *float64
	code    *string
	fields  map[string]any // wire name to int, float64 or string, for the fields that the row gives

	candidate *int
	stale     *bool
}

type eventRow struct {
	stage cupel.PipelineStage
	count int
}

// reasonFields are the data that reasons have, by their names in JSON, with a
// value of their type.
var reasonFields = func() map[string]any {
	fields := make(map[string]any)
	for _, code := range cupel.ExclusionCodes() {
		for f := range cupel.NewExclusionReason(code, cupel.ReasonData{GroupTokens: 1}).Fields() {
			fields[f.Name] = f.Value
		}
	}
	return fields
}()

// readExpectation reads the expected result. expected is a table or, as in the
// scoring vectors of the format chapter, an array of tables (R47).
func (v *vector) readExpectation(root table) {
	w := &v.want
	w.epsilon = 1e-9
	if t := root.table("tolerance").knows("score_epsilon"); t.has("score_epsilon") {
		w.epsilon = t.number("score_epsilon")
	}
	if v.stage == "pipeline" || v.stage == "placing" {
		if root.has("expected_output") {
			w.ordered = contentsOf(root.tables("expected_output"))
		}
	} else if root.strict && root.has("expected_output") {
		root.fail("expected_output", "unknown key: a %s vector has no output", v.stage)
	}
	switch root.values["expected"].(type) {
	case nil:
	case map[string]any:
		v.readExpected(root.table("expected"))
	default:
		rows := root.tables("expected")
		if len(rows) == 1 && !rows[0].has("content") {
			v.readExpected(rows[0]) // the table, as an array of one
			break
		}
		v.readRows(root, rows)
	}
	// (R47) A pipeline vector without an expectation expects the empty output.
	nothing := w.err == "" && !w.construction && w.scoreRows == nil && w.scores == nil && w.selected == nil && w.ordered == nil &&
		w.indices == nil && w.smaller == nil && w.shortfallCount == nil && w.capExcludedCount == nil && w.diagnostics == nil
	if nothing && v.stage != "pipeline" {
		root.fail("expected", "is required: a %s vector must expect something", v.stage)
	}
}

// readRows reads an array of tables, one for each item.
func (v *vector) readRows(root table, rows []table) {
	switch v.stage {
	case "scoring":
		v.want.scoreRows = []scoreRow{}
		for _, r := range rows {
			r.knows("content", "score_approx")
			v.want.scoreRows = append(v.want.scoreRows, scoreRow{r.required("content").text("content"), r.required("score_approx").number("score_approx")})
		}
	case "slicing":
		v.want.selected = contentsOf(rows)
	default:
		v.expectOutput(contentsOf(rows), root, "expected")
	}
}

// expectOutput sets the expected output from key in t. If a vector gives it
// twice, both must agree.
func (v *vector) expectOutput(contents []string, t table, key string) {
	if before := v.want.ordered; before != nil && !slices.Equal(before, contents) {
		t.fail(key, "is [%s], expected_output is [%s]", quoted(contents), quoted(before))
	}
	v.want.ordered = contents
}

// expectedKeys are the keys of the table expected in a stage. A key for a
// result that the stage does not return is unknown there, so that a vector that
// expects nothing else does not pass.
var expectedKeys = map[string][]string{
	"scoring":  {"error", "scores"},
	"slicing":  {"error", "selected_contents", "selected_indices", "ordered_indices", "smaller", "shortfall_count", "cap_excluded_count", "diagnostics"},
	"placing":  {"error", "ordered_contents", "ordered_indices", "selected_indices"},
	"pipeline": {"error", "scores", "ordered_contents", "ordered_indices", "selected_indices", "shortfall_count", "cap_excluded_count", "diagnostics"},
}

func (v *vector) readExpected(t table) {
	w := &v.want
	if v.stage == "scoring" && t.has("content") { // a single row
		v.readRows(t, []table{t})
		return
	}
	t = t.only(expectedKeys[v.stage]...)
	if t.has("error") {
		w.err = t.text("error")
		if errorClasses[w.err] == nil {
			t.fail("error", "unknown error class %q", w.err)
		}
	}
	w.scores = t.numbers("scores")
	w.selected = t.texts("selected_contents")
	if t.has("ordered_contents") {
		v.expectOutput(t.texts("ordered_contents"), t, "ordered_contents")
	}
	w.indices = t.integers("ordered_indices")
	if t.has("selected_indices") {
		if t.has("ordered_indices") {
			t.fail("selected_indices", "cannot be combined with ordered_indices")
		}
		w.indices = t.integers("selected_indices")
	}
	if t.has("smaller") {
		w.smaller = []strategy.SmallerForm{}
	}
	for _, row := range t.tables("smaller") {
		row.knows("index", "form")
		w.smaller = append(w.smaller, strategy.SmallerForm{Index: row.required("index").integer("index"), Form: row.required("form").integer("form")})
	}
	w.shortfallCount = optional(t, "shortfall_count", table.integer)
	w.capExcludedCount = optional(t, "cap_excluded_count", table.integer)
	if !t.has("diagnostics") {
		return
	}
	d := t.table("diagnostics")
	if v.stage == "slicing" { // a slicer returns shortfalls but no report
		if d = d.only("shortfalls"); !d.has("shortfalls") {
			return
		}
	}
	w.diagnostics = readDiagnostics(d)
}

func readDiagnostics(t table) *diagnostics {
	t.knows("included", "excluded", "summary", "shortfalls", "events")
	d := &diagnostics{}
	if t.has("included") {
		d.included = []includedRow{}
	}
	for _, r := range t.tables("included") {
		r.knows("content", "score_approx", "inclusion_reason", "candidate", "form", "stale", "tokens", "original_tokens")
		d.included = append(d.included, includedRow{
			content: r.required("content").text("content"), score: optional(r, "score_approx", table.number), reason: optional(r, "inclusion_reason", table.text),
			candidate: optional(r, "candidate", table.integer), form: optional(r, "form", table.integer), stale: optional(r, "stale", table.boolean),
			tokens: optional(r, "tokens", table.integer), originalTokens: optional(r, "original_tokens", table.integer),
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
	keys := []string{"content", "score_approx", "exclusion_reason", "candidate", "stale"}
	row := excludedRow{
		content: r.required("content").text("content"), score: optional(r, "score_approx", table.number),
		code: optional(r, "exclusion_reason", table.text), fields: map[string]any{},
		candidate: optional(r, "candidate", table.integer), stale: optional(r, "stale", table.boolean),
	}
	for name, value := range reasonFields {
		keys = append(keys, name)
		if !r.has(name) {
			continue
		}
		switch value.(type) {
		case int:
			row.fields[name] = r.integer(name)
		case float64:
			row.fields[name] = r.number(name)
		case cupel.ContextKind:
			row.fields[name] = cupel.ContextKind(r.text(name))
		default:
			row.fields[name] = r.text(name)
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
