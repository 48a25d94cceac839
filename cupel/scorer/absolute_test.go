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
		{"default weights of none", scorer.Must(scorer.NewKind(nil)), wellKnown, []float64{1.0, 0.8, 0.6, 0.4, 0.2, 1.0, 0.6, 0}, "the chapter's table, in any casing"},
		{"empty map", scorer.Must(scorer.NewKind(map[cupel.ContextKind]float64{})), wellKnown, make([]float64, 8), "an empty map scores everything 0 (R13)"},
		{"custom weights", custom, wellKnown, []float64{0.4, 0.2, 0.3, 0.1, 3, 0.4, 0.3, 0}, "weights above 1 are returned as they are"},
		{"custom kinds", custom, items{kind("Custom"), kind("CUSTOM"), kind("custom"), kind("Customs")}, []float64{0.25, 0.25, 0.25, 0}, "any string is a kind, compared without ASCII case"},
		{"Unicode", custom, items{kind("GRöße"), kind("GRÖßE"), kind("K"), kind("\u212a")}, []float64{0.5, 0, 0.75, 0}, "letters beyond ASCII keep their case, and the Kelvin sign is no k (R2)"},
		{"long kind", scorer.Must(scorer.NewKind(map[cupel.ContextKind]float64{long: 0.9})), items{kind(long)}, one(0.9), "a kind may be longer than any buffer"},
		{"nil item", scorer.Kind{}, items{nil}, one(0), "a nil item has no kind"},
	})
}

func TestKindErrors(t *testing.T) {
	build := func(weights map[cupel.ContextKind]float64) error { return refused(scorer.NewKind(weights)) }
	runErrorCases(t, []errorCase{
		{"negative", build(map[cupel.ContextKind]float64{"a": 1, "b": -0.5}),
			`cupel: Weight for kind must be non-negative (KindScorer, weights["b"] = -0.5)`, "the chapter's first check"},
		{"infinite", build(map[cupel.ContextKind]float64{"a": math.Inf(1)}),
			`cupel: Weight for kind must be finite (KindScorer, weights["a"] = +Inf)`, "the chapter's second check"},
		{"blank", build(map[cupel.ContextKind]float64{" \u00a0": 1}),
			"cupel: kind must not be blank (KindScorer, weights[\" \\u00a0\"])", "a blank kind is a configuration's error (R2)"},
		{"twice", build(map[cupel.ContextKind]float64{"custom": 1, "Custom": 1}),
			`cupel: kind is given twice; kinds are case-insensitive (KindScorer, weights["custom"])`, "kinds are equal up to casing (R2)"},
	})
}

func TestTag(t *testing.T) {
	weights := map[string]float64{"go": 2, "Go": 1, "db": 1, "\u017f": 4}
	s := scorer.Must(scorer.NewTag(weights))
	folding := scorer.Must(scorer.NewTag(map[string]float64{"Go": 3, "DB": 1, "größe": 4}, nil, scorer.WithCaseInsensitiveTags()))
	runScoreCases(t, []scoreCase{
		{"sums", s, items{tagged("go"), tagged("go", "db"), tagged("db", "other"), tagged("Go")}, []float64{2.0 / 8, 3.0 / 8, 1.0 / 8, 1.0 / 8}, "matched weight over the sum of all weights, with case"},
		{"no tags", s, items{item(), tagged()}, []float64{0, 0}, "an item without tags scores 0"},
		{"duplicates", s, items{tagged("db", "db", "db")}, one(3.0 / 8), "each occurrence counts"},
		{"clamped", s, items{tagged("\u017f", "\u017f", "\u017f")}, one(1), "12 of 8 is clamped to 1"},
		{"no weights", scorer.Must(scorer.NewTag(nil)), items{tagged("go"), item()}, []float64{0, 0}, "a total weight of 0 scores 0"},
		{"folding", folding, items{tagged("gO"), tagged("db", "GO"), tagged("GRÖßE"), tagged("GRößE")}, []float64{3.0 / 8, 4.0 / 8, 0, 4.0 / 8}, "only the case of ASCII letters is ignored (R13)"},
		{"nil item", s, items{nil}, one(0), "a nil item has no tags"},
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
		if got, want := scoreAll(t, s, items{tagged("c")})[0], 0.3/sum; got != want {
			t.Fatalf("got %v, want %v: weights are summed in the order of the sorted tags (R13)", got, want)
		}
	}
}

func TestTagErrors(t *testing.T) {
	build := func(weights map[string]float64, opts ...scorer.TagOption) error {
		return refused(scorer.NewTag(weights, opts...))
	}
	runErrorCases(t, []errorCase{
		{"infinite", build(map[string]float64{"a": math.Inf(1)}),
			`cupel: Tag weight must be finite (TagScorer, weights["a"] = +Inf)`, "the chapter's second check"},
		{"infinite sum", build(map[string]float64{"a": math.MaxFloat64, "b": math.MaxFloat64}),
			"cupel: the sum of the tag weights must be finite; scale them down (TagScorer, weights)", "finite weights with an infinite sum score nothing (R9)"},
		{"twice", build(map[string]float64{"go": 1, "Go": 1}, scorer.WithCaseInsensitiveTags()),
			`cupel: tag is given twice; tags are case-insensitive here (TagScorer, weights["go"])`, "equal under folding (R13)"},
	})
	if _, err := scorer.NewTag(map[string]float64{"k": 1, "\u212a": 1}, scorer.WithCaseInsensitiveTags()); err != nil {
		t.Errorf("got %v; k and the Kelvin sign are two tags, only Unicode folds them", err)
	}
}

func TestReflexive(t *testing.T) {
	negativeZero := math.Copysign(0, -1)
	runScoreCases(t, []scoreCase{
		{"no hint", scorer.Reflexive{}, items{item(), nil}, []float64{0, 0}, "an absent hint scores 0"},
		{"not finite", scorer.Reflexive{}, items{hint(math.NaN()), hint(math.Inf(1)), hint(math.Inf(-1))}, []float64{0, 0, 0}, "NaN and infinities score 0, not a boundary"},
		{"inside", scorer.Reflexive{}, items{hint(0.5), hint(0), hint(1), hint(math.SmallestNonzeroFloat64)}, []float64{0.5, 0, 1, math.SmallestNonzeroFloat64}, "passed through"},
		{"clamped", scorer.Reflexive{}, items{hint(-0.3), hint(1.7), hint(math.MaxFloat64), hint(-math.MaxFloat64)}, []float64{0, 1, 1, 0}, "values outside [0,1] are clamped, not refused"},
		{"negative zero", scorer.Reflexive{}, items{hint(negativeZero)}, one(negativeZero), "-0 is not below 0, so clamp returns it"},
	})
}

// Types of a caller's own.
type (
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
		{"below", "-0.1", 0, "clamped"},
		{"above", "1.5", 1, "clamped (outline 4)"},
		{"NaN", "NaN", missing, "not finite (outline 5)"},
		{"hexadecimal", "0x1p-2", missing, "decimal syntax only (R11)"},
		{"space before", " 0.5", missing, "no surrounding space (R11)"},
		{"too large", "1e999", missing, "overflows to infinity, which is not finite"},
		{"json.Number", json.Number("0.35"), 0.35, "a number as JSON spells it (R11)"},
		{"float64", 0.45, 0.45, "a number is used directly"},
		{"NaN as a number", math.NaN(), missing, "not finite either"},
		{"infinity as a number", math.Inf(1), missing, "not finite either"},
		{"float32", float32(0.5), 0.5, "any floating-point type (R11)"},
		{"int", 1, 1, "any integer type (R11)"},
		{"uint64", uint64(math.MaxUint64), 1, "any integer type, clamped"},
		{"bool", true, missing, "everything else is unreadable (R11)"},
		{"nil", nil, missing, "everything else is unreadable"},
	} {
		rows = append(rows, scoreCase{r.name, s, items{value(r.value)}, one(r.want), r.why})
	}
	rows = append(rows,
		scoreCase{"absent", s, items{item(), metadata("trust", 0.1), nil}, []float64{missing, missing, missing}, "without the key the default applies (outline 2)"},
		scoreCase{"default at the ends", scorer.Must(scorer.NewMetadataTrust(0)), items{item()}, one(0), "0 is allowed"},
		scoreCase{"default at the other end", scorer.Must(scorer.NewMetadataTrust(1)), items{item()}, one(1), "1 is allowed"})
	runScoreCases(t, rows)

	bad := func(x float64, value string) errorCase {
		return errorCase{value, refused(scorer.NewMetadataTrust(x)),
			"cupel: defaultScore must be in [0.0, 1.0] (MetadataTrustScorer, defaultScore = " + value + ")", "defaultScore must be in [0,1]"}
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
		{"true", "true", true, true, "a bool compares through its text (R12)"},
		{"own bool", "false", answer(false), true, "a caller's own bool type too"},
		{"int", "-3", -3, true, "an integer in base 10"},
		{"smallest int64", "-9223372036854775808", int64(math.MinInt64), true, "the whole range"},
		{"largest uint64", "18446744073709551615", uint64(math.MaxUint64), true, "the whole range"},
		{"duration", "1000000000", time.Second, true, "an integer, not its String"},
		{"float", "0.1", 0.1, true, "the fewest digits that tell it apart"},
		{"float32", "0.1", float32(0.1), true, "the fewest digits of its own size"},
		{"json.Number", "1.50", json.Number("1.50"), true, "its own text, not its value"},
		{"own string", "high", word("high"), false, "other types never match (R12)"},
		{"empty text and nil", "", nil, false, "other types never match, not even the empty value"},
	} {
		want := 1.0
		if r.match {
			want = 1.5
		}
		rows = append(rows, scoreCase{r.name, scorer.Must(scorer.NewMetadataKey("key", r.value, 1.5)), items{metadata("key", r.raw)}, one(want), r.why})
	}
	s := scorer.Must(scorer.NewMetadataKey(cupel.MetadataPriority, "high", 0.25))
	rows = append(rows, scoreCase{"absent", s, items{item(), metadata("other", "high"), nil, metadata(cupel.MetadataPriority, "high")}, []float64{1, 1, 1, 0.25}, "a missing key is neutral (outline 3); a boost below 1 is allowed"})
	runScoreCases(t, rows)

	bad := func(x float64, value, reason, why string) errorCase {
		return errorCase{value, refused(scorer.NewMetadataKey("k", "v", x)),
			"cupel: boost must be " + reason + " (MetadataKeyScorer, boost = " + value + ")", why}
	}
	runErrorCases(t, []errorCase{
		bad(0, "0", "greater than 0.0", "outline 4"), bad(-1, "-1", "greater than 0.0", "outline 5"),
		bad(math.NaN(), "NaN", "finite", "not finite"), bad(math.Inf(1), "+Inf", "finite", "not finite"),
		bad(math.Inf(-1), "-Inf", "greater than 0.0", "negative first"),
	})
}
