package cupel

import (
	"bytes"
	"encoding/json"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/wollax/cupel-go/cupel/internal/compat"
	"github.com/wollax/cupel-go/cupel/internal/jsonwire"
)

// random makes values of this package, rich in the corners of their types.
type random struct{ *rand.Rand }

func pick[T any](r random, from ...T) T { return from[r.IntN(len(from))] }

func (r random) chance(percent int) bool { return r.IntN(100) < percent }

func (r random) int() int {
	return pick(r, 0, 1, -1, math.MaxInt, math.MinInt, math.MaxInt>>10+2 /* 1<<53 + 1 where int has 64 bits */, r.IntN(10_000), int(r.Uint64()))
}

func (r random) float() float64 {
	return pick(r, 0, math.Copysign(0, -1), 1, 0.1, 1e21, 1e-7, 123456789, math.MaxFloat64, math.SmallestNonzeroFloat64,
		math.Inf(1), math.Inf(-1), r.Float64(), r.NormFloat64()*1e9, math.Float64frombits(r.Uint64()))
}

func (r random) string() string {
	return pick(r, "a", "tool output", "a<b> & \"c\" \\ /", "\x00\x1f\x7f\b\f\n\r\t", "é€😀\u2028\ufffd", `\ufffd`, "🇨🇭", strconv.Itoa(r.IntN(1000)), strings.Repeat("long ", r.IntN(50))+".")
}

func (r random) kind() ContextKind {
	return pick(r, KindMessage, KindDocument, KindToolOutput, KindMemory, KindSystemPrompt, "Recipe", "ſ\u212a", ContextKind(r.string())).Canonical()
}

// value is what metadata is read as.
func (r random) value(depth int) any {
	if depth > 0 && r.chance(40) {
		n := r.IntN(4)
		if r.chance(50) {
			list := make([]any, n)
			for i := range list {
				list[i] = r.value(depth - 1)
			}
			return list
		}
		m := make(map[string]any)
		for range n {
			m[r.string()] = r.value(depth - 1)
		}
		return m
	}
	return pick[any](r, nil, true, false, r.string(), json.Number("12345678901234567890.1234567890e-400"), json.Number(strconv.Itoa(r.int())))
}

func (r random) item() *ContextItem {
	opts := []ItemOption{WithKind(r.kind())}
	if r.chance(50) {
		opts = append(opts, WithSource(pick(r, SourceChat, SourceTool, SourceRag, "web", ContextSource(r.string()))))
	}
	if r.chance(50) {
		opts = append(opts, WithPriority(r.int()))
	}
	if n := r.IntN(4); n > 0 {
		tags := make([]string, n)
		for i := range tags {
			tags[i] = pick(r, "", r.string())
		}
		opts = append(opts, WithTags(tags...))
	}
	if n := r.IntN(4); n > 0 {
		m := make(map[string]any)
		for range n {
			m[pick(r, "", MetadataTrust, r.string())] = r.value(3)
		}
		opts = append(opts, WithMetadata(m))
	}
	if r.chance(50) {
		first, last := time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(10000, 1, 1, 0, 0, 0, -1, time.UTC)
		opts = append(opts, WithTimestamp(pick(r, first, last, time.Time{}, time.Unix(0, 0), time.Unix(r.Int64N(1<<37), r.Int64N(1e9)))))
	}
	if r.chance(50) {
		opts = append(opts, WithFutureRelevanceHint(r.float()))
	}
	if r.chance(30) {
		opts = append(opts, WithPinned())
	}
	if r.chance(50) {
		opts = append(opts, WithOriginalTokens(r.int()))
	}
	it, err := NewContextItem(r.string(), r.int(), opts...)
	if err != nil {
		panic(err) // every value above is valid
	}
	it.extra = r.extra()
	return it
}

func (r random) budget() ContextBudget {
	maxTokens := pick(r, 0, 1, 8192, math.MaxInt)
	opts := []BudgetOption{
		WithOutputReserve(pick(r, 0, maxTokens, maxTokens/3)),
		WithEstimationSafetyMargin(pick(r, 0, math.Copysign(0, -1), 100, 12.5, r.Float64()*100)),
	}
	if r.chance(50) {
		opts = append(opts, WithReservedSlots(map[ContextKind]int{KindMemory: 0, "z": math.MaxInt, "É": 1, "B": r.IntN(100), "a": 2}))
	}
	b, err := NewContextBudget(maxTokens, pick(r, 0, maxTokens, maxTokens/2), opts...)
	if err != nil {
		panic(err) // every value above is valid
	}
	b.extra = r.extra()
	return b
}

// extra makes unknown fields; their names are not those of any known field.
func (r random) extra() *extraFields {
	if r.chance(70) {
		return nil
	}
	x := extraFields{{"x-" + r.string(), json.RawMessage(`[1.0,{"a":null}]`)}}
	if r.chance(50) {
		x = append(x, extraField{"Tokens", json.RawMessage(`12345678901234567890123`)}, extraField{"", json.RawMessage(`null`)})
	}
	return &x
}

func (r random) reason() ExclusionReason {
	code, d := pick(r, append(ExclusionCodes(), "Future", "")...), ReasonData{extra: r.extra()}
	for i := range reasonFields {
		f := &reasonFields[i]
		if spec := specOf(code); (spec == nil || !slices.Contains(spec.fields, i)) && !r.chance(20) {
			continue // mostly, a code has its own data alone
		}
		switch v := f.in(&d).(type) {
		case *int:
			*v = r.int()
		case *float64:
			*v = r.float()
		case *string:
			*v = pick(r, "", r.string())
		case *ContextKind:
			*v = pick(r, "", r.kind())
		}
	}
	return NewExclusionReason(code, d)
}

func list[T any](r random, one func() T) []T {
	var s []T
	for range r.IntN(4) {
		s = append(s, one())
	}
	return s
}

func (r random) report() SelectionReport {
	report := SelectionReport{
		Events: list(r, func() TraceEvent {
			return TraceEvent{pick(r, append(slices.Clip(logStages), "Sort", "")...), r.float(), r.int(), pick(r, "", r.string()), r.extra()}
		}),
		Included: list(r, func() IncludedItem {
			i := IncludedItem{Item: r.item(), Score: r.float(), Reason: pick(r, IncludeScored, IncludePinned, IncludeZeroToken, "Boosted", "")}
			if item, reason := r.extra(), r.extra(); item != nil || reason != nil {
				i.extra = &includedExtra{item, reason}
			}
			return i
		}),
		Excluded: list(r, func() ExcludedItem {
			return ExcludedItem{Item: r.item(), Score: r.float(), Reason: r.reason(), extra: r.extra()}
		}),
		TotalCandidates:       r.int(),
		TotalTokensConsidered: r.int(),
		CountRequirementShortfalls: list(r, func() CountRequirementShortfall {
			return CountRequirementShortfall{r.kind(), r.int(), r.int(), r.extra()}
		}),
		extra: r.extra(),
	}
	if r.chance(30) {
		report.Overflow = &OverflowEvent{r.int(), list(r, r.item), r.budget(), r.extra()}
	}
	return report
}

// noNaN replaces NaN, which is unequal to itself, everywhere in a report.
func noNaN(r *SelectionReport) {
	fix := func(f *float64) {
		if math.IsNaN(*f) {
			*f = -987654321
		}
	}
	item := func(it *ContextItem) { fix(&it.hint) }
	for i := range r.Events {
		fix(&r.Events[i].DurationMS)
	}
	for i := range r.Included {
		fix(&r.Included[i].Score)
		item(r.Included[i].Item)
	}
	for i := range r.Excluded {
		e := &r.Excluded[i]
		fix(&e.Score)
		d := e.Reason.Data()
		fix(&d.Score)
		fix(&d.Threshold)
		e.Reason = NewExclusionReason(e.Reason.Code, d)
		item(e.Item)
	}
	if r.Overflow != nil {
		for _, it := range r.Overflow.OverflowingItems {
			item(it)
		}
	}
}

// TestRandomRoundTrips: what is written reads back as what it was, bit for
// bit, and is written again as the same text.
func TestRandomRoundTrips(t *testing.T) {
	for seed := range uint64(1000) {
		r := random{rand.New(rand.NewPCG(seed, 7))}
		report := r.report()
		text, err := report.MarshalJSON()
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if !json.Valid(text) {
			t.Fatalf("seed %d: no JSON: %s", seed, text)
		}
		var back SelectionReport
		if err := back.UnmarshalJSON(text); err != nil {
			t.Fatalf("seed %d: %v in %s", seed, err, text)
		}
		again, err := back.MarshalJSON()
		if err != nil || !bytes.Equal(text, again) {
			t.Fatalf("seed %d: wrote\n%s\nand then, %v\n%s", seed, text, err, again)
		}
		noNaN(&report)
		noNaN(&back)
		if !reflect.DeepEqual(report, back) {
			t.Fatalf("seed %d: the report changed on the way through\n%s", seed, text)
		}

		// The same through encoding/json, with its HTML escapes and an indent.
		pretty, err := json.MarshalIndent(report, "", "\t")
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		var indented SelectionReport
		if err := json.Unmarshal(pretty, &indented); err != nil {
			t.Fatalf("seed %d: %v in %s", seed, err, pretty)
		}
		if !reflect.DeepEqual(report, indented) {
			t.Fatalf("seed %d: the report changed on the way through\n%s", seed, pretty)
		}
	}
}

// inject adds an unknown field to every object that this package interprets,
// and nothing to the objects of metadata and of reserved slots.
func inject(v any, path string, injected *[]string) {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			inject(e, path, injected)
		}
	case map[string]any:
		for name, e := range v {
			if name != "metadata" && name != "reservedSlots" {
				inject(e, path+"."+name, injected)
			}
		}
		v["unknown_field"] = json.Number("1234567890.12345678901234567890")
		*injected = append(*injected, path)
	}
}

// TestUnknownFieldsEverywhere: in any object, unknown fields come
// back.
func TestUnknownFieldsEverywhere(t *testing.T) {
	places := make(map[string]bool)
	for seed := range uint64(300) {
		r := random{rand.New(rand.NewPCG(seed, 11))}
		text, err := r.report().MarshalJSON()
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		want, err := jsonwire.Read(text, (*jsonwire.Reader).Any)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		var injected []string
		inject(want, "", &injected)
		for _, path := range injected {
			places[path] = true
		}
		if text, err = json.Marshal(want); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		var report SelectionReport
		if err := json.Unmarshal(text, &report); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if text, err = report.MarshalJSON(); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		got, err := jsonwire.Read(text, (*jsonwire.Reader).Any)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Fatalf("seed %d: unknown fields were lost, %v\n got %v\nwant %v", seed, err, got, want)
		}
	}
	for _, path := range []string{"", ".events", ".included", ".included.item", ".included.reason", ".excluded", ".excluded.item", ".excluded.reason",
		".count_requirement_shortfalls", ".overflow_event", ".overflow_event.overflowing_items", ".overflow_event.budget"} {
		if !places[path] {
			t.Errorf("no report had an object at %q: the test looks at less than it says", path)
		}
	}
}

// checkRoundTrip: data is refused with a DecodeError, or what it says is
// written and read to the same.
func checkRoundTrip[T any, P interface {
	*T
	json.Unmarshaler
	json.Marshaler
}](t *testing.T, data []byte) {
	t.Helper()
	var first, second T
	if err := P(&first).UnmarshalJSON(data); err != nil {
		if _, ok := compat.AsType[*DecodeError](err); !ok {
			t.Fatalf("%T is no DecodeError: %v", err, err)
		}
		if !reflect.ValueOf(first).IsZero() {
			t.Fatalf("reading failed and left %+v behind", first)
		}
		return
	}
	if jsonwire.IsNull(data) {
		return
	}
	text, err := P(&first).MarshalJSON()
	if err != nil {
		t.Fatalf("what was read cannot be written: %v", err)
	}
	if err := P(&second).UnmarshalJSON(text); err != nil {
		t.Fatalf("what was written cannot be read: %v\n%s", err, text)
	}
	again, err := P(&second).MarshalJSON()
	if err != nil || !bytes.Equal(text, again) {
		t.Fatalf("wrote\n%s\nand then, %v\n%s", text, err, again)
	}
	if through, err := json.Marshal(first); err != nil || !json.Valid(through) {
		t.Fatalf("encoding/json wrote %s, %v", through, err)
	}
}

// addSeeds adds the rows of the tables, and what random reports consist of.
func addSeeds(f *testing.F, part func(random) json.Marshaler) {
	f.Helper()
	for _, tt := range goldens {
		f.Add([]byte(tt.text))
	}
	for _, tt := range malformed {
		if len(tt.text) < 1000 {
			f.Add([]byte(tt.text))
		}
	}
	for seed := range uint64(20) {
		text, err := part(random{rand.New(rand.NewPCG(seed, 3))}).MarshalJSON()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
}

func FuzzItemJSON(f *testing.F) {
	addSeeds(f, func(r random) json.Marshaler { return r.item() })
	f.Fuzz(checkRoundTrip[ContextItem])
}

func FuzzBudgetJSON(f *testing.F) {
	addSeeds(f, func(r random) json.Marshaler { return r.budget() })
	f.Fuzz(checkRoundTrip[ContextBudget])
}

func FuzzReportJSON(f *testing.F) {
	addSeeds(f, func(r random) json.Marshaler { return r.report() })
	f.Fuzz(checkRoundTrip[SelectionReport])
}

func FuzzReasonJSON(f *testing.F) {
	addSeeds(f, func(r random) json.Marshaler { return r.reason() })
	f.Fuzz(checkRoundTrip[ExclusionReason])
}
