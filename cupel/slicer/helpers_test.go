package slicer_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/slicer"
	"github.com/wollax/cupel-go/cupel/strategy"
)

var (
	nan    = math.NaN()
	inf    = math.Inf(1)
	negInf = math.Inf(-1)
)

// it is a scored item whose content does not matter.
func it(kind cupel.ContextKind, tokens int, score float64) cupel.ScoredItem {
	item, err := cupel.NewContextItem("content", tokens, cupel.WithKind(kind))
	if err != nil {
		panic(err)
	}
	return cupel.ScoredItem{Item: item, Score: score}
}

// msg is a scored message.
func msg(tokens int, score float64) cupel.ScoredItem { return it(cupel.KindMessage, tokens, score) }

// target is a budget whose ceiling is its target.
func target(tokens int) cupel.SliceBudget {
	return cupel.SliceBudget{MaxTokens: max(0, tokens), TargetTokens: tokens}
}

// entry is a CountQuotaEntry without field names.
func entry(kind cupel.ContextKind, require, limit int) slicer.CountQuotaEntry {
	return slicer.CountQuotaEntry{Kind: kind, RequireCount: require, CapCount: limit}
}

// records reads a list of three fields each: "a 10 0.5, b 20 0.4".
func records(text string) (list [][]string) {
	for record := range strings.SplitSeq(text, ", ") {
		if fields := strings.Fields(record); len(fields) > 0 {
			list = append(list, append(fields, "", ""))
		}
	}
	return list
}

// number reads an integer; 2^62 is one.
func number(text string) int {
	if n, ok := map[string]int{"max": math.MaxInt, "max-1": math.MaxInt - 1, "min": math.MinInt, "2^62": math.MaxInt/2 + 1, "2^53+1": math.MaxInt>>10 + 2}[text]; ok {
		return n
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		panic(err)
	}
	return n
}

func float(text string) float64 {
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		panic(err)
	}
	return f
}

// listOf reads items, each with its kind, tokens and score. "again" is the item before
// once more, and the kind "-" a position without an item.
func listOf(text string) (list []cupel.ScoredItem) {
	for _, f := range records(text) {
		switch f[0] {
		case "again":
			list = append(list, list[len(list)-1])
		case "-":
			list = append(list, cupel.ScoredItem{Score: float(f[2])})
		default:
			list = append(list, it(cupel.ContextKind(f[0]), number(f[1]), float(f[2])))
		}
	}
	return list
}

// countsOf reads entries, each with its kind, requirement and cap.
func countsOf(text string) (list []slicer.CountQuotaEntry) {
	for _, f := range records(text) {
		list = append(list, entry(cupel.ContextKind(f[0]), number(f[1]), number(f[2])))
	}
	return list
}

// quotasOf reads entries, each with its kind, requirement and cap in percent.
func quotasOf(text string) (list []slicer.QuotaEntry) {
	for _, f := range records(text) {
		list = append(list, slicer.Between(cupel.ContextKind(f[0]), float(f[1]), float(f[2])))
	}
	return list
}

// budgetOf reads a target, or a target and a ceiling: "100/500".
func budgetOf(text string) cupel.SliceBudget {
	most, ceiling, both := strings.Cut(text, "/")
	b := target(number(most))
	if both {
		b.MaxTokens = number(ceiling)
	}
	return b
}

// told is a selection in words.
func told(sel strategy.Selection) string {
	text := fmt.Sprint(sel.Indices)
	for _, f := range sel.Smaller {
		text += fmt.Sprintf(" %d as %d", f.Index, f.Form)
	}
	for _, d := range sel.Drops {
		text += fmt.Sprintf(" drop %d", d.Index)
		switch data := d.Reason.Data(); d.Reason.Code {
		case cupel.ExcludeCountCapExceeded:
			text += fmt.Sprintf(" %s %d/%d", data.Kind, data.Count, data.Cap)
		default:
			text += " " + d.Reason.String()
		}
	}
	for _, s := range sel.Shortfalls {
		text += fmt.Sprintf(" short %s %d/%d", s.Kind, s.SatisfiedCount, s.RequiredCount)
	}
	return text
}

// sliced calls s as pipelines do and tells what it selects. The list must stay as it
// was.
func sliced(t *testing.T, s strategy.Slicer, items []cupel.ScoredItem, budget cupel.SliceBudget) string {
	t.Helper()
	before := slices.Clone(items)
	sel, err := strategy.CallSlicer(t.Context(), s, items, budget)
	for i := range before {
		if before[i].Item != items[i].Item || math.Float64bits(before[i].Score) != math.Float64bits(items[i].Score) {
			t.Errorf("item %d was changed", i)
		}
	}
	if err != nil {
		return err.Error()
	}
	return told(sel)
}

// row is a call of a slicer.
type row struct{ items, budget, want, why string }

func runRows(t *testing.T, s strategy.Slicer, rows []row) {
	t.Helper()
	for _, r := range rows {
		t.Run(r.why, func(t *testing.T) {
			if got := sliced(t, s, listOf(r.items), budgetOf(r.budget)); got != r.want {
				t.Errorf("%s within %s: got %s, want %s", r.items, r.budget, got, r.want)
			}
		})
	}
}

// refusal is a construction that must fail.
type refusal struct {
	err    error
	reason string
	at     string // field and value
}

func runRefusals(t *testing.T, component string, rows []refusal) {
	t.Helper()
	for _, r := range rows {
		if want := fmt.Sprintf("cupel: %s (%s, %s)", r.reason, component, r.at); r.err == nil || r.err.Error() != want {
			t.Errorf("got %v, want %s", r.err, want)
		}
	}
}

// failed returns the error of a constructor.
func failed[S strategy.Slicer](_ S, err error) error { return err }

// slicerFunc is a slicer of someone else's.
type slicerFunc func(items []cupel.ScoredItem, budget cupel.SliceBudget) (strategy.Selection, error)

func (f slicerFunc) Slice(_ context.Context, items []cupel.ScoredItem, budget cupel.SliceBudget) (strategy.Selection, error) {
	return f(items, budget)
}

// takeAll selects everything, from the last position to the first, for
// any budget.
func takeAll(items []cupel.ScoredItem, _ cupel.SliceBudget) (strategy.Selection, error) {
	var sel strategy.Selection
	for i := range items {
		sel.Indices = append(sel.Indices, len(items)-1-i)
	}
	return sel, nil
}

// recorder selects everything and notes the budgets and scores that it is given.
type recorder struct{ calls []string }

func (r *recorder) Slice(_ context.Context, items []cupel.ScoredItem, budget cupel.SliceBudget) (strategy.Selection, error) {
	text := fmt.Sprintf("%d/%d", budget.TargetTokens, budget.MaxTokens)
	for _, it := range items {
		text += fmt.Sprint(" ", it.Score)
	}
	r.calls = append(r.calls, text)
	return takeAll(items, budget)
}

// recordedRow is a call of a wrapper around a recorder.
type recordedRow struct{ entries, items, budget, calls, want, why string }

func runRecorded(t *testing.T, rows []recordedRow, wrap func(inner strategy.Slicer, entries string) strategy.Slicer) {
	t.Helper()
	for _, r := range rows {
		t.Run(r.why, func(t *testing.T) {
			rec := new(recorder)
			got := sliced(t, wrap(rec, r.entries), listOf(r.items), budgetOf(r.budget))
			if calls := strings.Join(rec.calls, ", "); got != r.want || calls != r.calls {
				t.Errorf("%s of %s within %s:\ngot  %s, inside %s\nwant %s, inside %s", r.entries, r.items, r.budget, got, calls, r.want, r.calls)
			}
		})
	}
}
