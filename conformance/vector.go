package conformance

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/BurntSushi/toml"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/cupel/policy"
	"github.com/wollax/cupel-go/cupel/strategy"
	"github.com/wollax/cupel-go/cupeltoml"
)

// file is a vector as its TOML has it.
type file struct {
	Test struct {
		Name, Stage, Description string
		Scorer, Slicer, Placer   *string
		Construction             bool `toml:"expect_construction_error"`
	}
	Config      map[string]any
	Budget      *budget
	Items       []item
	ScoredItems []item                     `toml:"scored_items"`
	Expected    toml.Primitive             // a table or an array of tables (R47)
	Output      []struct{ Content string } `toml:"expected_output"`
	Tolerance   struct {
		ScoreEpsilon *float64 `toml:"score_epsilon"`
	}
}

// instant is a date-time. One without an offset is in UTC.
type instant time.Time

// UnmarshalTOML implements [toml.Unmarshaler].
func (t *instant) UnmarshalTOML(v any) error {
	at, ok := v.(time.Time)
	if !ok || at.Location().String() == "time-local" {
		return fmt.Errorf("must be a date-time, got %v", v)
	}
	// The TOML library gives date-times without an offset the local location.
	switch at.Location().String() {
	case "datetime-local", "date-local":
		at = time.Date(at.Year(), at.Month(), at.Day(), at.Hour(), at.Minute(), at.Second(), at.Nanosecond(), time.UTC)
	}
	*t = instant(at.UTC())
	return nil
}

// vector is a decoded test vector: the inputs, or the error of building them,
// and the expected result.
type vector struct {
	name, stage string

	pipeline Pipeline

	items  []*cupel.ContextItem
	scores []float64 // of items, in slicing and placing vectors
	budget cupel.ContextBudget
	slice  cupel.SliceBudget // the budget of a slicing vector, as given

	built      error // why items or budget could not be built
	epsilon    float64
	want       expectation
	wantScores []expectation // by content
}

// errVector matches every error in a vector itself.
var errVector = errors.New("invalid vector")

// errorClasses maps the words of the schema to the errors that errors.Is
// matches.
var errorClasses = map[string]error{
	"":                      nil,
	"invalid_item":          cupel.ErrInvalidItem,
	"invalid_budget":        cupel.ErrInvalidBudget,
	"invalid_config":        cupel.ErrInvalidConfig,
	"pinned_exceeds_budget": pipeline.ErrPinnedExceedsBudget,
	"overflow":              pipeline.ErrOverflow,
	"scarcity":              cupel.ErrScarcity,
	"content":               pipeline.ErrContent,
}

// maxVectorBytes is the maximum size of a vector.
const maxVectorBytes = 8 << 20

// readVector reads one file. Errors in it match errVector.
func readVector(data []byte, strict bool) (*vector, error) {
	v := &vector{}
	r := &reader{strict: strict}
	values, err := cupeltoml.Parse(data, maxVectorBytes) // which bounds time and memory
	if err != nil {
		return v, fmt.Errorf("%w: %w", errVector, err)
	}
	var in file
	md, err := toml.Decode(string(data), &in)
	if err != nil {
		return v, fmt.Errorf("%w: %w", errVector, err)
	}
	v.name, v.stage = in.Test.Name, in.Test.Stage
	if v.name == "" {
		r.fail("test.name", "is required")
	}
	v.epsilon = 1e-9
	if in.Tolerance.ScoreEpsilon != nil {
		v.epsilon = *in.Tolerance.ScoreEpsilon
	}
	v.readStrategies(in, r)
	v.readExpectation(in, values["expected"], md, r)
	if in.Test.Construction { // only building is checked
		v.want = expectation{Error: "invalid_config"}
	} else {
		v.readItems(in, r)
		v.readBudget(in.Budget, r)
	}
	for _, key := range md.Undecoded() {
		if strict && key[0] != "config" && !slices.Contains(key, "metadata") { // their keys are checked when they are read
			r.fail(key.String(), "unknown key")
		}
	}
	return v, r.err
}

func (v *vector) readStrategies(in file, r *reader) {
	config := place{"config", in.Config}
	keys := []string{"scorer", "slicer", "placer", "deduplication", "overflow_strategy", "near_duplicates", "scorers"}
	r.knows(config, slices.Concat(keys, keysOf("scorer"), keysOf("slicer"))...)
	named := func(role string, name *string) policy.Strategy {
		switch {
		case name != nil:
			return r.nested(role, *name, "test."+role, config, config)
		case config.has(role):
			return r.nested(role, config.values[role], "config."+role, config, config)
		case v.stage != "pipeline":
			r.fail("test."+role, "is required, here or as config.%s", role)
		}
		return policy.Strategy{}
	}
	p := &v.pipeline
	p.Scorers = []policy.Weighted{{Scorer: policy.Strategy{Type: "reflexive"}, Weight: 1}}
	p.Slicer.Type, p.Placer.Type = "greedy", "chronological"
	switch v.stage {
	case "scoring":
		p.Scorers[0].Scorer = named("scorer", in.Test.Scorer)
	case "slicing":
		p.Slicer = named("slicer", in.Test.Slicer)
	case "placing":
		p.Placer = named("placer", in.Test.Placer)
	case "pipeline":
		p.Slicer, p.Placer = named("slicer", nil), named("placer", nil)
		if p.Scorers[0].Scorer = named("scorer", nil); !config.has("scorer") {
			p.Scorers = r.parts(config, "scorers", config.without("scorers"))
		}
		v.readPipeline(config, r)
	default:
		r.fail("test.stage", "unknown stage %q", v.stage)
	}
	p.Now, v.built = r.now, r.refused
}

// readPipeline reads the rest of the configuration of a pipeline.
func (v *vector) readPipeline(config place, r *reader) {
	p := &v.pipeline
	if config.has("near_duplicates") {
		p.NearDuplicates = r.number("config.near_duplicates", config.values["near_duplicates"])
	}
	switch config.values["deduplication"] {
	case nil, true:
	case false:
		p.KeepDuplicates = true
	default:
		r.fail("config.deduplication", "must be a boolean")
	}
	switch overflow := config.values["overflow_strategy"]; overflow {
	case nil, "throw":
	case "truncate":
		p.Overflow = pipeline.OverflowTruncate
	case "proceed":
		p.Overflow = pipeline.OverflowProceed
	default:
		r.fail("config.overflow_strategy", "unknown overflow strategy %q", overflow)
	}
}

// item is a candidate of a vector.
type item struct {
	Content, Kind, Source, Group, VersionOf *string
	Tokens, Priority, OriginalTokens        *int
	Tags                                    []string
	Metadata                                map[string]any
	Timestamp                               *instant
	FutureRelevanceHint, Score              *float64
	Pinned                                  bool
	Variants, GroupVariants                 []variant
}

// variant is a smaller form. If it is made, a function returns its text, and
// fails if the text is empty.
type variant struct {
	Content string
	Made    *string
	Tokens  int
	Worth   float64
}

func (v *vector) readItems(in file, r *reader) {
	list, key := in.Items, "items"
	if v.stage == "slicing" && in.ScoredItems != nil {
		list, key = in.ScoredItems, "scored_items"
	}
	for i, it := range list {
		path := fmt.Sprintf("%s[%d]", key, i)
		if v.stage == "slicing" || v.stage == "placing" {
			v.scores = append(v.scores, required(r, path+".score", it.Score))
		}
		built, err := it.build(path, r)
		if err != nil && v.built == nil {
			v.built = fmt.Errorf("item %d: %w", i, err)
		}
		v.items = append(v.items, built)
	}
}

func required[T any](r *reader, path string, p *T) (value T) {
	if p == nil {
		r.fail(path, "is required")
		return value
	}
	return *p
}

func (it item) build(path string, r *reader) (*cupel.ContextItem, error) {
	opts := []cupel.ItemOption{
		given(it.Kind, func(s string) cupel.ItemOption { return cupel.WithKind(cupel.ContextKind(s)) }),
		given(it.Source, func(s string) cupel.ItemOption { return cupel.WithSource(cupel.ContextSource(s)) }),
		given(it.Priority, cupel.WithPriority),
		given(it.FutureRelevanceHint, cupel.WithFutureRelevanceHint),
		given(it.OriginalTokens, cupel.WithOriginalTokens),
		given(it.Group, cupel.WithGroup),
		given(it.VersionOf, cupel.WithVersionOf),
		given(it.Timestamp, func(t instant) cupel.ItemOption { return cupel.WithTimestamp(time.Time(t)) }),
		cupel.WithTags(it.Tags...),
		cupel.WithMetadata(it.Metadata),
		cupel.WithVariants(variants(it.Variants)...),
		cupel.WithGroupVariants(variants(it.GroupVariants)...),
	}
	if it.Pinned {
		opts = append(opts, cupel.WithPinned())
	}
	return cupel.NewContextItem(required(r, path+".content", it.Content), required(r, path+".tokens", it.Tokens), opts...)
}

// given returns the option for a value that the vector gives, or nil, which
// changes nothing.
func given[T any](value *T, option func(T) cupel.ItemOption) cupel.ItemOption {
	if value == nil {
		return nil
	}
	return option(*value)
}

func variants(rows []variant) []cupel.Variant {
	var list []cupel.Variant
	for _, row := range rows {
		v := cupel.Variant{Content: row.Content, Tokens: row.Tokens, Worth: row.Worth}
		if row.Made != nil {
			v.Make = func(context.Context) (string, error) { return *row.Made, nil }
		}
		list = append(list, v)
	}
	return list
}

// budget is the budget of a vector.
type budget struct {
	MaxTokens     *int `toml:"max_tokens"`
	TargetTokens  *int `toml:"target_tokens"`
	OutputReserve int  `toml:"output_reserve"`
	ReservedSlots []struct {
		Kind   cupel.ContextKind
		Tokens int
	} `toml:"reserved_slots"`
	SafetyMargin float64 `toml:"estimation_safety_margin_percent"`
}

// readBudget reads the budget. Unless it expects an error, a slicing vector
// passes its budget to the slicer unchecked, to test the slicers' rule for a
// target of 0 or less.
func (v *vector) readBudget(b *budget, r *reader) {
	if b == nil {
		if (v.stage == "slicing" || v.stage == "pipeline") && v.want.Error == "" {
			r.fail("budget", "is required")
		}
		return
	}
	v.slice.MaxTokens = required(r, "budget.target_tokens", cmp.Or(b.MaxTokens, b.TargetTokens))
	v.slice.TargetTokens = required(r, "budget.target_tokens", cmp.Or(b.TargetTokens, b.MaxTokens))
	slots := map[cupel.ContextKind]int{}
	for _, s := range b.ReservedSlots {
		slots[s.Kind] = s.Tokens
	}
	var err error
	v.budget, err = cupel.NewContextBudget(v.slice.MaxTokens, v.slice.TargetTokens, cupel.WithOutputReserve(b.OutputReserve),
		cupel.WithReservedSlots(slots), cupel.WithEstimationSafetyMargin(b.SafetyMargin))
	if v.built == nil && (v.stage != "slicing" || v.want.Error != "") {
		v.built = err
	}
}

// expectation is the expectation of a vector: a table, or one row of an array of
// tables. A stage's tag marks the fields that it returns. The other fields are
// unknown in that stage, so that a vector that expects only those does not pass.
// nil asserts nothing, and an empty list asserts that there are no elements.
type expectation struct {
	Content     *string  `stages:"scoring slicing placing pipeline"`
	ScoreApprox *float64 `toml:"score_approx" stages:"scoring"`

	Error            string                 `stages:"scoring slicing placing pipeline"`
	Scores           []float64              `stages:"scoring pipeline"`
	SelectedContents []string               `toml:"selected_contents" stages:"slicing"`
	OrderedContents  []string               `toml:"ordered_contents" stages:"placing pipeline"`
	SelectedIndices  []int                  `toml:"selected_indices" stages:"slicing placing pipeline"`
	OrderedIndices   []int                  `toml:"ordered_indices" stages:"slicing placing pipeline"`
	Smaller          []strategy.SmallerForm `stages:"slicing"`
	ShortfallCount   *int                   `toml:"shortfall_count" stages:"slicing pipeline"`
	CapExcludedCount *int                   `toml:"cap_excluded_count" stages:"slicing pipeline"`
	Diagnostics      diagnostics            `stages:"slicing pipeline"`
}

// diagnostics are the assertions about a report.
type diagnostics struct {
	Included   []row `stages:"pipeline"`
	Excluded   []row `stages:"pipeline"`
	Shortfalls []row `stages:"slicing pipeline"`
	Events     []row `stages:"pipeline"`
	Summary    row   `stages:"pipeline"`
}

// row is a row of a list in a report. Only the values that a vector gives are
// compared.
type row map[string]any

// readExpectation reads the expected result.
func (v *vector) readExpectation(in file, expected any, md toml.MetaData, r *reader) {
	var rows []expectation
	var err error
	switch expected.(type) {
	case nil:
	case map[string]any:
		rows = make([]expectation, 1)
		err = md.PrimitiveDecode(in.Expected, &rows[0])
	default:
		err = md.PrimitiveDecode(in.Expected, &rows)
	}
	if err != nil {
		r.fail("expected", "%v", err)
	}
	for i := range rows {
		v.leaveOut(&rows[i], "expected", r)
		v.leaveOut(&rows[i].Diagnostics, "expected.diagnostics", r)
		rows[i].Diagnostics.check(r)
	}
	if v.stage != "placing" && v.stage != "pipeline" && in.Output != nil {
		if r.strict {
			r.fail("expected_output", "unknown key: a %s vector has no output", v.stage)
		}
		in.Output = nil
	}
	if len(rows) == 1 && rows[0].Content == nil {
		v.want = rows[0]
	} else if rows != nil {
		v.readRows(rows, r)
	}
	if in.Output != nil {
		contents := []string{}
		for _, o := range in.Output {
			contents = append(contents, o.Content)
		}
		if before := v.want.OrderedContents; before != nil && !slices.Equal(before, contents) {
			r.fail("expected.ordered_contents", "is %q, expected_output is %q", before, contents)
		}
		v.want.OrderedContents = contents
	}
	if _, known := errorClasses[v.want.Error]; !known {
		r.fail("expected.error", "unknown error class %q", v.want.Error)
	}
	if selected := v.want.SelectedIndices; selected != nil {
		if v.want.OrderedIndices != nil {
			r.fail("expected.selected_indices", "cannot be combined with ordered_indices")
		}
		v.want.OrderedIndices = selected // which are a set in slicing vectors
	}
	// (R47) A pipeline vector without an expectation expects the empty output.
	if v.stage != "pipeline" && !in.Test.Construction && v.wantScores == nil && reflect.ValueOf(v.want).IsZero() {
		r.fail("expected", "is required: a %s vector must expect something", v.stage)
	}
}

// leaveOut removes from a struct the fields that the stage does not return.
func (v *vector) leaveOut(of any, path string, r *reader) {
	values := reflect.ValueOf(of).Elem()
	for i := range values.NumField() {
		f := values.Type().Field(i)
		if values.Field(i).IsZero() || strings.Contains(f.Tag.Get("stages"), v.stage) {
			continue
		}
		values.Field(i).SetZero()
		if r.strict {
			r.fail(path+"."+cmp.Or(f.Tag.Get("toml"), strings.ToLower(f.Name)), "unknown key")
		}
	}
}

// readRows reads an array of tables, one for each item.
func (v *vector) readRows(rows []expectation, r *reader) {
	contents := []string{}
	for i, e := range rows {
		path := fmt.Sprintf("expected[%d]", i)
		contents = append(contents, required(r, path+".content", e.Content))
		if v.stage == "scoring" {
			required(r, path+".score_approx", e.ScoreApprox)
		}
	}
	switch v.stage {
	case "scoring":
		v.wantScores = rows
	case "slicing":
		v.want.SelectedContents = contents
	default:
		v.want.OrderedContents = contents
	}
}

// check removes unknown keys from the rows.
func (d diagnostics) check(r *reader) {
	keys := []string{
		"content", "score_approx", "inclusion_reason", "exclusion_reason", "candidate", "form", "stale", "tokens", "original_tokens",
		"kind", "required_count", "satisfied_count", "stage", "item_count", "total_candidates", "total_tokens_considered",
	}
	for _, code := range cupel.ExclusionCodes() {
		for f := range cupel.NewExclusionReason(code, cupel.ReasonData{GroupTokens: 1}).Fields() {
			keys = append(keys, f.Name)
		}
	}
	for _, given := range slices.Concat(d.Included, d.Excluded, d.Shortfalls, d.Events, []row{d.Summary}) {
		r.knows(place{"expected.diagnostics", given}, keys...)
		maps.DeleteFunc(given, func(key string, _ any) bool { return !slices.Contains(keys, key) })
	}
}
