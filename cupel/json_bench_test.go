package cupel

import (
	"fmt"
	"testing"
)

// benchReport is a report of n items with 200 bytes of content each.
func benchReport(b *testing.B, n int) SelectionReport {
	b.Helper()
	var r SelectionReport
	for i := range n {
		it, err := NewContextItem(fmt.Sprintf("%0200d", i), i, WithKind(KindDocument), WithTags("a", "b"), WithPriority(i))
		if err != nil {
			b.Fatal(err)
		}
		r.Excluded = append(r.Excluded, ExcludedItem{Item: it, Score: 1 / float64(i+1), Reason: NewExclusionReason(ExcludeBudgetExceeded, ReasonData{ItemTokens: i})})
	}
	return r
}

func BenchmarkWriteReport(b *testing.B) {
	report := benchReport(b, 1000)
	b.ReportAllocs()
	for b.Loop() {
		text, err := report.MarshalJSON()
		if err != nil {
			b.Fatal(err)
		}
		b.SetBytes(int64(len(text)))
	}
}

func BenchmarkReadReport(b *testing.B) {
	report := benchReport(b, 1000)
	text, err := report.MarshalJSON()
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		var r SelectionReport
		if err := r.UnmarshalJSON(text); err != nil {
			b.Fatal(err)
		}
	}
}
