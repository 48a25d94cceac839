package conformance

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/cupel/placer"
	"github.com/wollax/cupel-go/cupel/strategy"
	"github.com/wollax/cupel-go/cupeltoml"
)

// vector is a decoded test vector: the inputs, or the error of building them,
// and the expected result.
type vector struct {
	name, stage string

	scorer   ScorerSpec
	slicer   SlicerSpec
	placer   string
	pipeline PipelineSpec

	items  []*cupel.ContextItem
	scores []float64 // of items, in slicing and placing vectors
	budget cupel.ContextBudget
	slice  cupel.SliceBudget // the budget of a slicing vector, as given

	built error // why items or budget could not be built
	want  expectation
}

// expectation holds the assertions of a vector. nil asserts nothing.
type expectation struct {
	err          string // class of the error, or ""
	construction bool   // only building is looked at
	epsilon      float64

	scoreRows []scoreRow
	scores    []float64
	selected  []string // contents, as a set
	ordered   []string // contents, in order
	indices   []int    // positions: a set in slicing vectors, in order elsewhere
	smaller   []strategy.SmallerForm

	shortfallCount, capExcludedCount *int
	diagnostics                      *diagnostics
}

type scoreRow struct {
	content string
	score   float64
}

// errorClasses maps the words of the schema to what errors.Is matches.
var errorClasses = map[string]error{
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
func readVector(data []byte, strict bool) (v *vector, err error) {
	if len(data) > maxVectorBytes {
		return nil, tooLarge(int64(len(data)))
	}
	values, err := cupeltoml.Parse(data, maxVectorBytes)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errVector, err)
	}
	var mistake error
	root := table{values: values, err: &mistake, strict: strict, known: map[string]bool{}}
	root.knows("test", "config", "budget", "items", "scored_items", "expected", "expected_output", "tolerance")
	v = &vector{}
	v.read(root)
	return v, mistake
}

func (v *vector) read(root table) {
	test := root.required("test").table("test").knows("name", "stage", "scorer", "slicer", "placer", "expect_construction_error", "description")
	config := root.table("config").knows(slices.Concat([]string{"scorer", "slicer", "placer", "deduplication", "overflow_strategy", "near_duplicates", "scorers"},
		without(scorerKeys, "type", "weight"), without(slicerKeys, "type"))...)
	v.name = test.required("name").text("name")
	v.stage = test.required("stage").text("stage")
	v.want.construction = test.boolean("expect_construction_error")

	switch v.stage {
	case "scoring":
		v.scorer = chosen(test, config, "scorer", scorerKeys, settings.scorer)
		v.readItems(root, "items")
	case "slicing":
		v.slicer = chosen(test, config, "slicer", slicerKeys, settings.slicer)
		key := "scored_items"
		if !root.has(key) {
			key = "items"
		}
		v.readItems(root, key)
	case "placing":
		v.placer = readPlacer(test)
		v.readItems(root, "items")
	case "pipeline":
		v.readPipeline(config)
		v.readItems(root, "items")
	default:
		test.fail("stage", "unknown stage %q", v.stage)
	}
	v.readExpectation(root)
	v.readBudget(root)
}

// chosen reads the strategy of a scoring or slicing vector: test names it and
// config holds its settings, or config holds it as a nested table.
func chosen[S any](test, config table, key string, known []string, read func(settings, string, int) S) (strategy S) {
	if m, ok := config.values[key].(map[string]any); ok {
		t := config.child(key, m).knows(known...)
		return read(settings{own: t}, t.required("type").text("type"), 0)
	}
	name := test
	if !test.has(key) && config.has(key) {
		name = config
	}
	if !name.has(key) {
		test.fail(key, "is required, here or as the table config.%s", key)
		return strategy
	}
	return read(settings{own: config, flat: &config}, name.text(key), 0)
}

func without(keys []string, others ...string) []string {
	return slices.DeleteFunc(slices.Clone(keys), func(key string) bool { return slices.Contains(others, key) })
}

func readPlacer(t table) string {
	name := t.required("placer").text("placer")
	if _, ok := described(placer.Descriptors(), name, placerName); !ok {
		t.fail("placer", "unknown placer %q", name)
	}
	return name
}

// readPipeline reads the configuration of a pipeline. Strategies that are not
// named stay nil, which the implementation rejects.
func (v *vector) readPipeline(config table) {
	p := &v.pipeline
	if config.has("scorer") {
		s := chosen(config, config, "scorer", scorerKeys, settings.scorer)
		p.Scorer = &s
	} else if parts := (settings{own: config, flat: &config}).children(0); len(parts) == 1 { // bare (R47)
		p.Scorer = &parts[0].Scorer
	} else if len(parts) > 1 {
		p.Scorer = &ScorerSpec{Type: "composite", Children: parts}
	}
	if config.has("slicer") {
		s := chosen(config, config, "slicer", slicerKeys, settings.slicer)
		p.Slicer = &s
	}
	if config.has("placer") {
		p.Placer = readPlacer(config)
	}
	p.NearDuplicates = config.number("near_duplicates")
	p.KeepDuplicates = config.has("deduplication") && !config.boolean("deduplication")
	overflow := "throw"
	if config.has("overflow_strategy") {
		overflow = config.text("overflow_strategy")
	}
	switch overflow {
	case "throw":
	case "truncate":
		p.Overflow = pipeline.OverflowTruncate
	case "proceed":
		p.Overflow = pipeline.OverflowProceed
	default:
		config.fail("overflow_strategy", "unknown overflow strategy %q", overflow)
	}
}

func (v *vector) readItems(root table, key string) {
	for i, t := range root.tables(key) {
		t.knows("content", "tokens", "kind", "source", "priority", "tags", "metadata", "timestamp", "futureRelevanceHint", "pinned",
			"originalTokens", "score", "group", "versionOf", "variants", "groupVariants")
		if v.stage == "slicing" || v.stage == "placing" {
			t.required("score")
		}
		v.scores = append(v.scores, t.number("score"))
		item, err := readItem(t)
		if err != nil && v.built == nil {
			v.built = fmt.Errorf("item %d: %w", i, err)
		}
		v.items = append(v.items, item)
	}
}

func readItem(t table) (*cupel.ContextItem, error) {
	var opts []cupel.ItemOption
	add := func(key string, opt func() cupel.ItemOption) {
		if t.has(key) {
			opts = append(opts, opt())
		}
	}
	add("kind", func() cupel.ItemOption { return cupel.WithKind(cupel.ContextKind(t.text("kind"))) })
	add("source", func() cupel.ItemOption { return cupel.WithSource(cupel.ContextSource(t.text("source"))) })
	add("priority", func() cupel.ItemOption { return cupel.WithPriority(t.integer("priority")) })
	add("tags", func() cupel.ItemOption { return cupel.WithTags(t.texts("tags")...) })
	add("metadata", func() cupel.ItemOption { return cupel.WithMetadata(t.table("metadata").values) })
	add("timestamp", func() cupel.ItemOption { return cupel.WithTimestamp(t.instant("timestamp")) })
	add("futureRelevanceHint", func() cupel.ItemOption { return cupel.WithFutureRelevanceHint(t.number("futureRelevanceHint")) })
	add("originalTokens", func() cupel.ItemOption { return cupel.WithOriginalTokens(t.integer("originalTokens")) })
	add("group", func() cupel.ItemOption { return cupel.WithGroup(t.text("group")) })
	add("versionOf", func() cupel.ItemOption { return cupel.WithVersionOf(t.text("versionOf")) })
	add("variants", func() cupel.ItemOption { return cupel.WithVariants(readVariants(t, "variants")...) })
	add("groupVariants", func() cupel.ItemOption { return cupel.WithGroupVariants(readVariants(t, "groupVariants")...) })
	if t.boolean("pinned") {
		opts = append(opts, cupel.WithPinned())
	}
	return cupel.NewContextItem(t.required("content").text("content"), t.required("tokens").integer("tokens"), opts...)
}

// readVariants reads smaller forms. One that is made has its text from a
// function, which fails where the text is empty.
func readVariants(t table, key string) []cupel.Variant {
	var list []cupel.Variant
	for _, row := range t.tables(key) {
		row.knows("content", "made", "tokens", "worth")
		v := cupel.Variant{Content: row.text("content"), Tokens: row.required("tokens").integer("tokens"), Worth: row.required("worth").number("worth")}
		if row.has("made") {
			text := row.text("made")
			v.Make = func(context.Context) (string, error) {
				if text == "" {
					return "", errNoText
				}
				return text, nil
			}
		}
		list = append(list, v)
	}
	return list
}

var errNoText = errors.New("the vector has no text for this form")

// readBudget reads the budget. Unless it expects an error, a slicing vector
// passes its budget to the slicer unchecked, to test the slicers' rule for a
// target of 0 or less.
func (v *vector) readBudget(root table) {
	t := root.table("budget").knows("max_tokens", "target_tokens", "output_reserve", "reserved_slots", "estimation_safety_margin_percent")
	if !root.has("budget") {
		if (v.stage == "slicing" || v.stage == "pipeline") && !v.want.construction && v.want.err == "" {
			root.fail("budget", "is required")
		}
		return
	}
	if !t.has("max_tokens") {
		t.required("target_tokens")
	}
	target, maxTokens := t.integer("target_tokens"), t.integer("max_tokens")
	if !t.has("max_tokens") {
		maxTokens = target
	}
	if !t.has("target_tokens") {
		target = maxTokens
	}
	v.slice = cupel.SliceBudget{MaxTokens: maxTokens, TargetTokens: target}

	var err error
	slots := map[cupel.ContextKind]int{}
	for _, s := range t.tables("reserved_slots") {
		s.knows("kind", "tokens")
		kind := cupel.ContextKind(s.required("kind").text("kind"))
		if _, ok := slots[kind]; ok { // a map would keep one and say nothing
			err = &cupel.InvalidBudgetError{Field: "reservedSlots", Reason: fmt.Sprintf("must not have %q twice", kind)}
		}
		slots[kind] = s.required("tokens").integer("tokens")
	}
	if err == nil {
		v.budget, err = cupel.NewContextBudget(maxTokens, target, cupel.WithOutputReserve(t.integer("output_reserve")),
			cupel.WithReservedSlots(slots), cupel.WithEstimationSafetyMargin(t.number("estimation_safety_margin_percent")))
	}
	if v.built == nil && (v.stage != "slicing" || v.want.err != "") {
		v.built = err
	}
}
