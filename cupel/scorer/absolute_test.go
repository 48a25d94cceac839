package scorer_test

import (
	"encoding/json"
	"math"
	"testing"
	"time"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/scorer"
)

func TestKind(t *testing.T) {
	custom := scorer.Must(scorer.NewKind(map[cupel.ContextKind]float64{
		"MESSAGE": 3, "Custom": 0.25, "größe": 0.5, "k": 0.75, "zero": math.Copysign(0, -1),
		cupel.KindDocument: 0.1, cupel.KindMemory: 0.2, cupel.KindToolOutput: 0.3, cupel.KindSystemPrompt: 0.4,
	}))
	long := cupel.ContextKind("AVeryLongKindOfWhichThereIsProbablyNoSecondOneInTheWholeWorld-0123456789")
	wellKnown := items{
		kind(cupel.KindSystemPrompt), kind(cupel.KindMemory), kind(cupel.KindToolOutput), kind(cupel.KindDocument),
		kind(cupel.KindMessage), kind("sYSTEMpROMPT"), kind("toolOUTPUT"), kind("Other"),
	}
	runScoreCases(t, []scoreCase{
		{name: "default weights of the zero value", scorer: scorer.Kind{}, items: wellKnown,
			want: []float64{1.0, 0.8, 0.6, 0.4, 0.2, 1.0, 0.6, 0}, why: "the chapter's table, in any casing"},
		{name: "default weights of no map", scorer: scorer.Must(scorer.NewKind(nil)), items: wellKnown,
			want: []float64{1.0, 0.8, 0.6, 0.4, 0.2, 1.0, 0.6, 0}, why: "no map given means the default weights (R13)"},
		{name: "empty map", scorer: scorer.Must(scorer.NewKind(map[cupel.ContextKind]float64{})), items: wellKnown,
			want: make([]float64, 8), why: "an empty map scores everything 0 (R13)"},
		{name: "custom weights", scorer: custom, items: wellKnown,
			want: []float64{0.4, 0.2, 0.3, 0.1, 3, 0.4, 0.3, 0}, why: "weights above 1 are returned as they are"},
		{name: "custom kinds", scorer: custom, items: items{kind("Custom"), kind("CUSTOM"), kind("custom"), kind("Customs")},
			want: []float64{0.25, 0.25, 0.25, 0}, why: "any string is a kind, compared without ASCII case"},
		{name: "Unicode", scorer: custom, items: items{kind("GRöße"), kind("GRÖßE"), kind("K"), kind("\u212a")},
			want: []float64{0.5, 0, 0.75, 0}, why: "letters beyond ASCII keep their case, and the Kelvin sign is no k (R2)"},
		{name: "negative zero", scorer: custom, items: items{kind("Zero")}, want: one(math.Copysign(0, -1)),
			why: "a weight of -0 is not below 0 and is returned as it is"},
		{name: "long kind", scorer: scorer.Must(scorer.NewKind(map[cupel.ContextKind]float64{long: 0.9})), items: items{kind(long)},
			want: one(0.9), why: "a kind may be longer than any buffer"},
		{name: "nil item", scorer: scorer.Kind{}, items: items{nil}, want: one(0), why: "a nil item has no kind"},
	})
}

func TestKindCopiesItsWeights(t *testing.T) {
	weights := map[cupel.ContextKind]float64{"a": 1}
	s := scorer.Must(scorer.NewKind(weights))
	weights["a"] = 0.5
	if got := s.Score(kind("a"), nil); got != 1 {
		t.Errorf("got %v, want 1: the caller's map changed after construction", got)
	}
}

func TestKindErrors(t *testing.T) {
	build := func(weights map[cupel.ContextKind]float64) func() (any, error) { return built(scorer.NewKind(weights)) }
	runErrorCases(t, []errorCase{
		{"negative", build(map[cupel.ContextKind]float64{"a": 1, "b": -0.5}),
			cupel.InvalidConfigError{Component: "KindScorer", Field: `weights["b"]`, Value: "-0.5", Reason: "Weight for kind must be non-negative"}, "the chapter's first check"},
		{"NaN", build(map[cupel.ContextKind]float64{"a": math.NaN()}),
			cupel.InvalidConfigError{Component: "KindScorer", Field: `weights["a"]`, Value: "NaN", Reason: "Weight for kind must be finite"}, "NaN is not below 0, and not finite"},
		{"infinite", build(map[cupel.ContextKind]float64{"a": math.Inf(1)}),
			cupel.InvalidConfigError{Component: "KindScorer", Field: `weights["a"]`, Value: "+Inf", Reason: "Weight for kind must be finite"}, "the chapter's second check"},
		{"negative infinite", build(map[cupel.ContextKind]float64{"a": math.Inf(-1)}),
			cupel.InvalidConfigError{Component: "KindScorer", Field: `weights["a"]`, Value: "-Inf", Reason: "Weight for kind must be non-negative"}, "the sign is checked before finiteness"},
		{"blank", build(map[cupel.ContextKind]float64{" \u00a0": 1}),
			cupel.InvalidConfigError{Component: "KindScorer", Field: `weights[" \u00a0"]`, Reason: "kind must not be blank"}, "a blank kind is a configuration's error (R2)"},
		{"twice", build(map[cupel.ContextKind]float64{"custom": 1, "Custom": 1}),
			cupel.InvalidConfigError{Component: "KindScorer", Field: `weights["custom"]`, Reason: "twice"}, "kinds are equal up to casing (R2)"},
		{"twice in two ways", build(map[cupel.ContextKind]float64{"custom": -1, "Custom": 1}),
			cupel.InvalidConfigError{Component: "KindScorer", Field: `weights["custom"]`, Value: "-1", Reason: "non-negative"}, "the weight is checked before the kind"},
		{"well-known twice", build(map[cupel.ContextKind]float64{"message": 1, "Message": 1}),
			cupel.InvalidConfigError{Component: "KindScorer", Field: `weights["message"]`, Reason: "twice"}, "well-known kinds too"},
	})
}

func TestTag(t *testing.T) {
	weights := map[string]float64{"go": 2, "Go": 1, "db": 1, "\u017f": 4}
	s := scorer.Must(scorer.NewTag(weights))
	folding := scorer.Must(scorer.NewTag(map[string]float64{"Go": 3, "DB": 1, "größe": 4}, nil, scorer.WithCaseInsensitiveTags()))
	runScoreCases(t, []scoreCase{
		{name: "sums", scorer: s, items: items{tagged("go"), tagged("go", "db"), tagged("db", "other"), tagged("Go")},
			want: []float64{2.0 / 8, 3.0 / 8, 1.0 / 8, 1.0 / 8}, why: "matched weight over the sum of all weights, with case"},
		{name: "no tags", scorer: s, items: items{item(), tagged()}, want: []float64{0, 0}, why: "an item without tags scores 0"},
		{name: "no match", scorer: s, items: items{tagged("GO", "s", "")}, want: one(0), why: "no tag is configured as it is spelled"},
		{name: "all", scorer: s, items: items{tagged("\u017f", "db", "Go", "go", "more")}, want: one(1), why: "all weights of all weights"},
		{name: "duplicates", scorer: s, items: items{tagged("db", "db", "db")}, want: one(3.0 / 8), why: "each occurrence counts"},
		{name: "clamped", scorer: s, items: items{tagged("\u017f", "\u017f", "\u017f")}, want: one(1), why: "12 of 8 is clamped to 1"},
		{name: "no weights", scorer: scorer.Must(scorer.NewTag(nil)), items: items{tagged("go"), item()}, want: []float64{0, 0},
			why: "a total weight of 0 scores 0"},
		{name: "zero weights", scorer: scorer.Must(scorer.NewTag(map[string]float64{"go": 0})), items: items{tagged("go")}, want: one(0),
			why: "a total weight of 0 scores 0"},
		{name: "one zero weight", scorer: scorer.Must(scorer.NewTag(map[string]float64{"go": 0, "db": 1})), items: items{tagged("go"), tagged("db")},
			want: []float64{0, 1}, why: "a weight of 0 is allowed"},
		{name: "overflowing sum", scorer: scorer.Must(scorer.NewTag(map[string]float64{"go": math.MaxFloat64})), items: items{tagged("go", "go")}, want: one(1),
			why: "an infinite matched sum is clamped like any other"},
		{name: "folding", scorer: folding, items: items{tagged("gO"), tagged("db", "GO"), tagged("GRÖßE"), tagged("GRößE")},
			want: []float64{3.0 / 8, 4.0 / 8, 0, 4.0 / 8}, why: "only the case of ASCII letters is ignored (R13)"},
		{name: "nil item", scorer: s, items: items{nil}, want: one(0), why: "a nil item has no tags"},
	})
}

// TestTagSumsInOneOrder builds the scorer often enough for the order of a map
// to show: 0.1 + 0.2 + 0.3 is not 0.3 + 0.2 + 0.1.
func TestTagSumsInOneOrder(t *testing.T) {
	sum := 0.0
	for _, weight := range []float64{0.1, 0.2, 0.3} {
		sum += weight
	}
	for range 50 {
		s := scorer.Must(scorer.NewTag(map[string]float64{"c": 0.3, "a": 0.1, "b": 0.2}))
		if got, want := s.Score(tagged("c"), nil), 0.3/sum; got != want {
			t.Fatalf("got %v, want %v: weights are summed in the order of the sorted tags (R13)", got, want)
		}
	}
}

func TestTagErrors(t *testing.T) {
	build := func(weights map[string]float64, opts ...scorer.TagOption) func() (any, error) {
		return built(scorer.NewTag(weights, opts...))
	}
	runErrorCases(t, []errorCase{
		{"negative", build(map[string]float64{"a": -1}),
			cupel.InvalidConfigError{Component: "TagScorer", Field: `weights["a"]`, Value: "-1", Reason: "Tag weight must be non-negative"}, "the chapter's first check"},
		{"NaN", build(map[string]float64{"a": math.NaN()}),
			cupel.InvalidConfigError{Component: "TagScorer", Field: `weights["a"]`, Value: "NaN", Reason: "Tag weight must be finite"}, "NaN is not below 0, and not finite"},
		{"infinite", build(map[string]float64{"a": math.Inf(1)}),
			cupel.InvalidConfigError{Component: "TagScorer", Field: `weights["a"]`, Value: "+Inf", Reason: "Tag weight must be finite"}, "the chapter's second check"},
		{"infinite sum", build(map[string]float64{"a": math.MaxFloat64, "b": math.MaxFloat64}),
			cupel.InvalidConfigError{Component: "TagScorer", Field: "weights", Reason: "sum"}, "finite weights with an infinite sum score nothing (R9)"},
		{"twice", build(map[string]float64{"go": 1, "Go": 1}, scorer.WithCaseInsensitiveTags()),
			cupel.InvalidConfigError{Component: "TagScorer", Field: `weights["go"]`, Reason: "twice"}, "equal under folding (R13)"},
	})
	if _, err := scorer.NewTag(map[string]float64{"k": 1, "\u212a": 1}, scorer.WithCaseInsensitiveTags()); err != nil {
		t.Errorf("got %v; k and the Kelvin sign are two tags, only Unicode folds them", err)
	}
}

func TestReflexive(t *testing.T) {
	negativeZero := math.Copysign(0, -1)
	runScoreCases(t, []scoreCase{
		{name: "no hint", scorer: scorer.Reflexive{}, items: items{item(), nil}, want: []float64{0, 0}, why: "an absent hint scores 0"},
		{name: "not finite", scorer: scorer.Reflexive{}, items: items{hint(math.NaN()), hint(math.Inf(1)), hint(math.Inf(-1))},
			want: []float64{0, 0, 0}, why: "NaN and infinities score 0, not a boundary"},
		{name: "inside", scorer: scorer.Reflexive{}, items: items{hint(0.5), hint(0), hint(1), hint(math.SmallestNonzeroFloat64)},
			want: []float64{0.5, 0, 1, math.SmallestNonzeroFloat64}, why: "passed through"},
		{name: "clamped", scorer: scorer.Reflexive{}, items: items{hint(-0.3), hint(1.7), hint(math.MaxFloat64), hint(-math.MaxFloat64)},
			want: []float64{0, 1, 1, 0}, why: "values outside [0,1] are clamped, not refused"},
		{name: "negative zero", scorer: scorer.Reflexive{}, items: items{hint(negativeZero)}, want: one(negativeZero),
			why: "-0 is not below 0, so clamp returns it"},
	})
}

// Types of a caller's own.
type (
	trust  float64
	level  int
	count  uint8
	word   string
	answer bool
)

func TestMetadataTrust(t *testing.T) {
	const missing = 0.625
	s := scorer.Must(scorer.NewMetadataTrust(missing))
	value := func(v any) *cupel.ContextItem { return metadata(cupel.MetadataTrust, v) }
	var rows []scoreCase
	for _, r := range []struct {
		name  string
		value any
		want  float64
		why   string
	}{
		{"present", "0.85", 0.85, "outline 1"},
		{"zero", "0.0", 0, "a trust of 0 is a trust"},
		{"three quarters", "0.75", 0.75, "the chapter's row"},
		{"one", "1.0", 1, "the chapter's row"},
		{"below", "-0.1", 0, "clamped"},
		{"above", "1.5", 1, "clamped (outline 4)"},
		{"word", "high", missing, "unreadable (outline 3)"},
		{"empty", "", missing, "unreadable"},
		{"NaN", "NaN", missing, "not finite (outline 5)"},
		{"Infinity", "Infinity", missing, "not finite (outline 5)"},
		{"+Infinity", "+Infinity", missing, "not finite"},
		{"-Infinity", "-Infinity", missing, "not finite, not 0"},
		{"inf", "inf", missing, "strconv would read this"},
		{"nan", "nan", missing, "strconv would read this"},
		{"hexadecimal", "0x1p-2", missing, "decimal syntax only (R11)"},
		{"hexadecimal digits", "0xe", missing, "decimal syntax only (R11)"},
		{"underscore", "0_1.5", missing, "no underscores (R11)"},
		{"space before", " 0.5", missing, "no surrounding space (R11)"},
		{"space after", "0.5\n", missing, "no surrounding space (R11)"},
		{"exponent", "8.5e-1", 0.85, "an exponent is decimal syntax"},
		{"capital exponent", "5E-1", 0.5, "an exponent is decimal syntax"},
		{"plus", "+0.5", 0.5, "a sign is decimal syntax"},
		{"no digit before the point", ".5", 0.5, "decimal syntax"},
		{"no digit after the point", "1.", 1, "decimal syntax"},
		{"point alone", ".", missing, "no digit at all"},
		{"exponent alone", "e5", missing, "no digit before the exponent"},
		{"two points", "0.5.5", missing, "not a number"},
		{"comma", "0,5", missing, "not a decimal point"},
		{"other digits", "０.５", missing, "full-width digits are no decimal syntax"},
		{"too large", "1e999", missing, "overflows to infinity, which is not finite"},
		{"too small", "1e-999", 0, "rounds to 0, which is finite"},
		{"json.Number", json.Number("0.35"), 0.35, "a number as JSON spells it (R11)"},
		{"json.Number of other text", json.Number("0x1p-2"), missing, "decimal syntax only, here too"},
		{"float64", 0.45, 0.45, "a number is used directly"},
		{"float64 above", 7.5, 1.0, "clamped"},
		{"float64 NaN", math.NaN(), missing, "not finite"},
		{"float64 infinite", math.Inf(-1), missing, "not finite"},
		{"float32", float32(0.5), 0.5, "any floating-point type (R11)"},
		{"float32 infinite", float32(math.Inf(1)), missing, "not finite"},
		{"int", 1, 1, "any integer type (R11)"},
		{"int below", -3, 0, "clamped"},
		{"int8", int8(1), 1, "any integer type"},
		{"int64", int64(0), 0, "any integer type"},
		{"uint64", uint64(math.MaxUint64), 1, "any integer type, clamped"},
		{"uintptr", uintptr(1), 1, "any integer type"},
		{"own float", trust(0.25), 0.25, "any floating-point type, a caller's own too"},
		{"own int", level(1), 1, "any integer type, a caller's own too"},
		{"own uint", count(0), 0, "any integer type, a caller's own too"},
		{"bool", true, missing, "everything else is unreadable (R11)"},
		{"own string", word("0.5"), missing, "everything else is unreadable (R11)"},
		{"nil", nil, missing, "everything else is unreadable"},
		{"slice", []float64{0.5}, missing, "everything else is unreadable"},
		{"pointer", new(float64), missing, "everything else is unreadable"},
		{"complex", complex(0.5, 0), missing, "everything else is unreadable"},
	} {
		rows = append(rows, scoreCase{name: r.name, scorer: s, items: items{value(r.value)}, want: one(r.want), why: r.why})
	}
	rows = append(rows,
		scoreCase{name: "absent", scorer: s, items: items{item(), metadata("trust", 0.1), nil}, want: []float64{missing, missing, missing},
			why: "without the key the default applies (outline 2)"},
		scoreCase{name: "default at the ends", scorer: scorer.Must(scorer.NewMetadataTrust(0)), items: items{item()}, want: one(0), why: "0 is allowed"},
		scoreCase{name: "default at the other end", scorer: scorer.Must(scorer.NewMetadataTrust(1)), items: items{item()}, want: one(1), why: "1 is allowed"})
	runScoreCases(t, rows)

	bad := func(x float64, value string) errorCase {
		return errorCase{value, built(scorer.NewMetadataTrust(x)),
			cupel.InvalidConfigError{Component: "MetadataTrustScorer", Field: "defaultScore", Value: value, Reason: "[0.0, 1.0]"}, "defaultScore must be in [0,1]"}
	}
	runErrorCases(t, []errorCase{bad(-0.1, "-0.1"), bad(1.1, "1.1"), bad(math.NaN(), "NaN"), bad(math.Inf(1), "+Inf")})
}

func TestMetadataKey(t *testing.T) {
	var rows []scoreCase
	for _, r := range []struct {
		name  string
		value string // the configured one
		raw   any    // the item's
		match bool
		why   string
	}{
		{"match", "high", "high", true, "outline 1"},
		{"other", "high", "normal", false, "outline 2"},
		{"case", "high", "High", false, "no normalization"},
		{"space", "high", "high ", false, "no normalization"},
		{"empty", "", "", true, "an empty value is a value"},
		{"true", "true", true, true, "a bool compares through its text (R12)"},
		{"true in capitals", "True", true, false, "the text is true"},
		{"own bool", "false", answer(false), true, "a caller's own bool type too"},
		{"int", "-3", -3, true, "an integer in base 10"},
		{"int with plus", "+3", 3, false, "the text is 3"},
		{"smallest int64", "-9223372036854775808", int64(math.MinInt64), true, "the whole range"},
		{"largest uint64", "18446744073709551615", uint64(math.MaxUint64), true, "the whole range"},
		{"own int", "2", level(2), true, "a caller's own integer type too"},
		{"duration", "1000000000", time.Second, true, "an integer, not its String"},
		{"float", "0.1", 0.1, true, "the fewest digits that tell it apart"},
		{"whole float", "1", 1.0, true, "no trailing point"},
		{"large float", "1e+21", 1e21, true, "strconv's form 'g'"},
		{"longest float", "-2.2250738585072014e-308", -2.2250738585072014e-308, true, "24 characters"},
		{"float32", "0.1", float32(0.1), true, "the fewest digits of its own size"},
		{"NaN", "NaN", math.NaN(), true, "its text"},
		{"json.Number", "1.50", json.Number("1.50"), true, "its own text, not its value"},
		{"json.Number of equal value", "1.5", json.Number("1.50"), false, "its own text, not its value"},
		{"own string", "high", word("high"), false, "other types never match (R12)"},
		{"nil", "<nil>", nil, false, "other types never match"},
		{"empty text and nil", "", nil, false, "other types never match, not even the empty value"},
		{"slice", "[]", []int{}, false, "other types never match"},
	} {
		want := 1.0
		if r.match {
			want = 1.5
		}
		rows = append(rows, scoreCase{name: r.name, scorer: scorer.Must(scorer.NewMetadataKey("key", r.value, 1.5)),
			items: items{metadata("key", r.raw)}, want: one(want), why: r.why})
	}
	s := scorer.Must(scorer.NewMetadataKey(cupel.MetadataPriority, "high", 0.25))
	rows = append(rows, scoreCase{name: "absent", scorer: s, items: items{item(), metadata("other", "high"), nil, metadata(cupel.MetadataPriority, "high")},
		want: []float64{1, 1, 1, 0.25}, why: "a missing key is neutral (outline 3); a boost below 1 is allowed"})
	runScoreCases(t, rows)

	bad := func(x float64, value, reason, why string) errorCase {
		return errorCase{value, built(scorer.NewMetadataKey("k", "v", x)),
			cupel.InvalidConfigError{Component: "MetadataKeyScorer", Field: "boost", Value: value, Reason: reason}, why}
	}
	runErrorCases(t, []errorCase{
		bad(0, "0", "greater than 0", "outline 4"), bad(-1, "-1", "greater than 0", "outline 5"),
		bad(math.NaN(), "NaN", "finite", "not finite"), bad(math.Inf(1), "+Inf", "finite", "not finite"),
		bad(math.Inf(-1), "-Inf", "greater than 0", "negative first"),
	})
}

// A metadata key that was not built has neither key nor value, and must not
// take an item that has these for a match.
func TestMetadataKeyNotBuiltIsNeutral(t *testing.T) {
	for _, it := range (items{item(), item(cupel.WithMetadata(map[string]any{"": ""})), nil}) {
		for _, m := range []*scorer.MetadataKey{nil, {}} {
			if got := m.Score(it, nil); got != 1 {
				t.Errorf("%v: got %v for %v, want 1", m, got, it)
			}
		}
	}
}
