package cupel_test

import (
	"reflect"
	"testing"
	"testing/quick"
	"unsafe"

	"github.com/wollax/cupel-go/cupel"
)

// everyCode has all codes of this module and some that it does not know.
var everyCode = []cupel.ExclusionCode{
	cupel.ExcludeBudgetExceeded, cupel.ExcludeDeduplicated, cupel.ExcludeNegativeTokens, cupel.ExcludePinnedOverride, cupel.ExcludeCountCapExceeded,
	cupel.ExcludeScoredTooLow, cupel.ExcludeQuotaCapExceeded, cupel.ExcludeQuotaRequireDisplaced, cupel.ExcludeFiltered, cupel.ExcludeCountRequireCandidatesExhausted,
	"TooSimilar", "",
}

// TestReasonDataComeBack: however a reason keeps its data, each field of them
// comes back under any code, alone and among others.
func TestReasonDataComeBack(t *testing.T) {
	survivor := item(t, "stays", 1)
	fields := reflect.TypeFor[cupel.ReasonData]()
	set := func(d *cupel.ReasonData, i, n int) bool {
		switch f := reflect.ValueOf(d).Elem().Field(i); {
		case !fields.Field(i).IsExported():
			return false
		case f.Kind() == reflect.Int:
			f.SetInt(int64(n))
		case f.Kind() == reflect.Float64:
			f.SetFloat(float64(n) + 0.5)
		case f.Kind() == reflect.String:
			f.SetString(fields.Field(i).Name)
		default:
			f.Set(reflect.ValueOf(survivor))
		}
		return true
	}
	for _, code := range everyCode {
		var all cupel.ReasonData
		for i := range fields.NumField() {
			var one cupel.ReasonData
			if !set(&one, i, -i-1) {
				continue
			}
			set(&all, i, i+1)
			if got := cupel.NewExclusionReason(code, one); got.Code != code || got.Data() != one {
				t.Errorf("%q with %s: got %+v back, want %+v", code, fields.Field(i).Name, got.Data(), one)
			}
		}
		if got := cupel.NewExclusionReason(code, all).Data(); got != all {
			t.Errorf("%q: got %+v back, want %+v", code, got, all)
		}
		if got := (cupel.ExclusionReason{Code: code}).Data(); got != (cupel.ReasonData{}) {
			t.Errorf("%q without data has %+v", code, got)
		}
	}
}

func TestReasonDataComeBackTogether(t *testing.T) {
	property := func(code uint8, tokens, available, capCount, count int, kind, content, filter string, score float64) bool {
		data := cupel.ReasonData{ItemTokens: tokens, AvailableTokens: available, Cap: capCount, Count: count,
			Kind: cupel.ContextKind(kind), DisplacedBy: content, FilterName: filter, Score: score}
		return cupel.NewExclusionReason(everyCode[int(code)%len(everyCode)], data).Data() == data
	}
	if err := quick.Check(property, nil); err != nil {
		t.Error(err)
	}
}

// TestReasonsAreSmallAndFree: reports hold a reason for each item that is left
// out, and slicers one for each item that they drop.
func TestReasonsAreSmallAndFree(t *testing.T) {
	if size, most := unsafe.Sizeof(cupel.ExclusionReason{}), 6*unsafe.Sizeof(uintptr(0)); size > most {
		t.Errorf("a reason takes %d bytes, want at most %d", size, most)
	}
	survivor := item(t, "stays", 1)
	for _, tt := range []struct {
		code cupel.ExclusionCode
		data cupel.ReasonData
	}{
		{cupel.ExcludeBudgetExceeded, cupel.ReasonData{ItemTokens: 5, AvailableTokens: -3}},
		{cupel.ExcludeDeduplicated, cupel.ReasonData{DeduplicatedAgainst: "stays", Survivor: survivor}},
		{cupel.ExcludeNegativeTokens, cupel.ReasonData{Tokens: -1}},
		{"Boring", cupel.ReasonData{}},
	} {
		var got cupel.ReasonData
		if n := testing.AllocsPerRun(10, func() { got = cupel.NewExclusionReason(tt.code, tt.data).Data() }); n != 0 || got != tt.data {
			t.Errorf("%s: %v allocations, got %+v; runs give very many of these", tt.code, n, got)
		}
	}
}

// TestReasonsAreEqual: what counts is what a reason says, not where it keeps it.
func TestReasonsAreEqual(t *testing.T) {
	capped := cupel.ReasonData{Kind: "tool", Cap: 2, Count: 2}
	a := cupel.NewExclusionReason(cupel.ExcludeCountCapExceeded, capped)
	capped.Count = 3
	tests := []struct {
		name string
		b    cupel.ExclusionReason
		want bool
	}{
		{"made again", cupel.NewExclusionReason(cupel.ExcludeCountCapExceeded, a.Data()), true},
		{"other data", cupel.NewExclusionReason(cupel.ExcludeCountCapExceeded, capped), false},
		{"other code", cupel.NewExclusionReason(cupel.ExcludeQuotaCapExceeded, a.Data()), false},
		{"no data", cupel.ExclusionReason{Code: cupel.ExcludeCountCapExceeded}, false},
	}
	for _, tt := range tests {
		if got := a.Equal(tt.b); got != tt.want || tt.b.Equal(a) != tt.want {
			t.Errorf("%s: got %v, want %v", tt.name, got, tt.want)
		}
	}
}
