package analysis_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/analysis"
	"github.com/wollax/cupel-go/cupel/slicer"
)

func dryRun(t *testing.T, items []*cupel.ContextItem, tokens int) *cupel.SelectionReport {
	t.Helper()
	report, err := pipeline(slicer.Greedy{}).DryRun(t.Context(), items, budget(tokens, tokens))
	if err != nil {
		t.Fatal(err)
	}
	return report
}

// reread returns a report as JSON gives it back.
func reread(t *testing.T, report *cupel.SelectionReport) *cupel.SelectionReport {
	t.Helper()
	text, err := json.Marshal(report)
	if err != nil {
		t.Fatal(err)
	}
	var back cupel.SelectionReport
	if err := json.Unmarshal(text, &back); err != nil {
		t.Fatal(err)
	}
	return &back
}

func short(content string, tokens int, worth float64) cupel.Variant {
	return cupel.Variant{Content: content, Tokens: tokens, Worth: worth}
}

func TestDiffReportsOfForms(t *testing.T) {
	stub := "[left out]"
	items := []*cupel.ContextItem{
		scored("manual", 50, 0.5, cupel.WithVariants(short("chapters", 20, 0.6), short(stub, 2, 0.1))),
		scored("log", 40, 0.4, cupel.WithVariants(short("errors", 12, 0.5), short(stub, 2, 0.1))),
		scored("call", 5, 0.9, cupel.WithGroup("g"), cupel.WithGroupVariants(short("both", 3, 0.4))),
		scored("result", 25, 0.1, cupel.WithGroup("g"), cupel.WithKind(cupel.KindToolOutput)),
		scored("plain", 10, 0.8),
	}
	for _, tt := range []struct {
		name string
		a, b int
		want string
		why  string
	}{
		{"same", 60, 60, "no difference", "the forms are the same"},
		{"smaller", 130, 60, `~ "manual" (Message, 50 tokens): is in form 2, 2 tokens, was in full, 50 tokens
~ "log" (Message, 40 tokens): is in form 1, 12 tokens, was in full, 40 tokens`, "the stubs and the errors are no new items"},
		{"larger", 15, 130, `+ "log" (Message, 40 tokens): was BudgetExceeded: 40 tokens requested, 0 available
~ "call" (Message, 3 tokens): is in full, 5 tokens, was in form 1, 3 tokens
~ "result" (Message, 0 tokens): is in full, 25 tokens, was in form 1, 0 tokens
~ "manual" (Message, 2 tokens): is in full, 50 tokens, was in form 2, 2 tokens`, "the form of a group is in once, and each member has an entry"},
		{"smaller still", 60, 15, `- "log" (Message, 12 tokens): is BudgetExceeded: 40 tokens requested, 0 available
~ "call" (Message, 5 tokens): is in form 1, 3 tokens, was in full, 5 tokens
~ "result" (ToolOutput, 25 tokens): is in form 1, 0 tokens, was in full, 25 tokens`, "the same stub of two items is two"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a, b := dryRun(t, items, tt.a), dryRun(t, items, tt.b)
			got := analysis.DiffReports(a, b)
			if got.String() != tt.want || got.Empty() != (tt.want == "no difference") {
				t.Errorf("got\n%s\nwant\n%s\nsince %s", got, tt.want, tt.why)
			}
			if fromJSON := analysis.DiffReports(reread(t, a), reread(t, b)); fromJSON.String() != tt.want {
				t.Errorf("of reports that were read\n%s\nwant\n%s", fromJSON, got)
			}
		})
	}
}

// Without two items of one content, a difference by content is the difference by
// candidate, in memory and after JSON.
func TestDiffReportsOfUnitsGoesByCandidate(t *testing.T) {
	random := rand.New(rand.NewPCG(13, 1))
	changed := 0
	for range 300 {
		items := randomUnits(random, 2+random.IntN(8))
		a, b := dryRun(t, items, 30+random.IntN(90)), dryRun(t, items, 30+random.IntN(90))
		type decision struct {
			in   bool
			form int
		}
		decisions := func(r *cupel.SelectionReport) []decision {
			list := make([]decision, len(items))
			for _, e := range r.Included {
				list[e.Candidate()] = decision{true, e.Form()}
			}
			return list
		}
		was, is := decisions(a), decisions(b)
		var came, went, forms []int
		for c := range items {
			switch {
			case !was[c].in && is[c].in:
				came = append(came, c)
			case was[c].in && !is[c].in:
				went = append(went, c)
			case was[c].form != is[c].form:
				forms = append(forms, c)
			}
		}
		changed += len(forms)
		for _, pair := range [][2]*cupel.SelectionReport{{a, b}, {reread(t, a), reread(t, b)}} {
			d := analysis.DiffReports(pair[0], pair[1])
			of := func(changes []analysis.ReportChange) []int {
				var list []int
				for _, c := range changes {
					switch {
					case c.A != nil && c.A.Included != nil:
						list = append(list, c.A.Included.Candidate())
					case c.B != nil && c.B.Included != nil:
						list = append(list, c.B.Included.Candidate())
					}
				}
				slices.Sort(list)
				return list
			}
			if got := [][]int{of(d.Came), of(d.Went), of(d.Forms)}; fmt.Sprint(got) != fmt.Sprint([][]int{came, went, forms}) {
				t.Fatalf("came, went and changed form: got %v, want %v in\n%s", got, [][]int{came, went, forms}, d)
			}
			for _, c := range slices.Concat(d.Came, d.Went, d.Forms, d.Moved, d.Reasons) {
				if c.A == nil || c.B == nil {
					t.Fatalf("%v has only one entry in\n%s", c, d)
				}
			}
		}
	}
	if changed < 50 {
		t.Errorf("only %d forms have changed", changed)
	}
}

// randomUnits returns lone items, groups, smaller forms and versions, each with a
// content of its own.
func randomUnits(random *rand.Rand, n int) []*cupel.ContextItem {
	var items []*cupel.ContextItem
	for i := range n {
		tokens := random.IntN(30)
		var opts []cupel.ItemOption
		forms := func(most int) (list []cupel.Variant) {
			for k := range random.IntN(3) {
				if most > 0 {
					list = append(list, short(fmt.Sprintf("form %d of %d", k, i), random.IntN(most), 0.05+0.9*random.Float64()))
				}
			}
			return list
		}
		opts = append(opts, cupel.WithVariants(forms(tokens)...))
		if random.IntN(2) == 0 {
			opts = append(opts, cupel.WithGroup(fmt.Sprint("group ", random.IntN(3))))
			if random.IntN(4) == 0 {
				opts = append(opts, cupel.WithGroupVariants(forms(20)...))
			}
		}
		if random.IntN(3) == 0 {
			opts = append(opts, cupel.WithVersionOf(fmt.Sprint("version ", random.IntN(2))))
		}
		if random.IntN(8) == 0 {
			tokens = max(tokens/8, 1)
			opts = []cupel.ItemOption{cupel.WithPinned()}
		}
		items = append(items, scored(fmt.Sprint("item ", i), tokens, float64(random.IntN(10))/10, opts...))
	}
	return items
}
