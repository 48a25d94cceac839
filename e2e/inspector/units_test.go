package inspector

import (
	"fmt"
	"strings"
	"testing"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/scorer"
	"github.com/wollax/cupel-go/cupelinspect"
)

// conversation is turns with calls and their results, which have outlines and
// stubs, and files that were read twice. Its contents begin with their numbers.
func conversation(turns int) []*cupel.ContextItem {
	var items []*cupel.ContextItem
	add := func(text string, tokens int, score float64, options ...cupel.ItemOption) {
		items = append(items, must(cupel.NewContextItem(fmt.Sprintf("item %05d: %s", len(items), text), tokens,
			append(options, cupel.WithFutureRelevanceHint(score))...)))
	}
	add("Find out why the build fails.", 12, 1, cupel.WithPinned())
	for turn := range turns {
		group := cupel.WithGroup(fmt.Sprintf("call_%02d", turn))
		score := 0.2 + 0.7*float64((turn*7)%10)/10
		add(fmt.Sprintf("read(build_%d.go)", turn), 8, score, group)
		tokens := 60 + 40*(turn%5)
		outline := cupel.Variant{Content: fmt.Sprintf("outline of build_%d.go", turn), Tokens: tokens / 3, Worth: 0.5}
		stub := cupel.Variant{Content: fmt.Sprintf("[%d tokens of build_%d.go left out]", tokens, turn), Tokens: 6, Worth: 0.1}
		add(fmt.Sprintf("package build\n// file %d", turn), tokens, score/2, group, cupel.WithKind(cupel.KindToolOutput), cupel.WithSource(cupel.SourceTool), cupel.WithVariants(outline, stub))
		if turn%3 == 0 {
			add(fmt.Sprintf("notes.md, version %d", turn/3), 20+turn, 0.6, cupel.WithKind(cupel.KindDocument), cupel.WithVersionOf("notes.md"))
		}
	}
	return items
}

func units(t *testing.T) *subject {
	t.Helper()
	config := usual()
	config.Scorer = scorer.Reflexive{}
	return inspect(t, config, conversation(12), 1400, cupelinspect.WithName("units"), cupelinspect.WithSweep(300, 3000, 28))
}

// TestUnits compares what the page shows of groups, smaller forms and versions
// with the reports at several budgets.
func TestUnits(t *testing.T) {
	s := units(t)
	b := open(t, "units", s.selection)
	seen := 0
	for _, budget := range []int{1400, 900, 400, 3000} {
		b.goTo(budget)
		report := s.at(t, budget)
		forms, tokens := make(map[int]int), 0
		for _, entry := range report.Included {
			tokens += entry.Item.Tokens()
			if entry.Form > 0 {
				forms[entry.Candidate] = entry.Form
				seen++
			}
		}
		if got := strings.ReplaceAll(b.text(".figures dd strong"), ",", ""); got != fmt.Sprint(tokens) {
			t.Errorf("at %d the window has %s tokens, want %d", budget, got, tokens)
		}
		smaller := value[[]int](b, `return [...document.querySelectorAll('#grid tr[data-row]')].filter((tr) => tr.querySelector('.tag.form')).map((tr) => Number(tr.dataset.row))`)
		for _, candidate := range smaller {
			if forms[candidate] == 0 {
				t.Errorf("at %d candidate %d is cut", budget, candidate)
			}
			delete(forms, candidate)
		}
		if len(forms) > 0 {
			t.Errorf("at %d the page lacks the forms %v", budget, forms)
		}
	}
	if seen == 0 {
		t.Fatal("no smaller form was in a window")
	}

	// The slider says what is in another form than in the run, and filters find it.
	b.goTo(900)
	if summary := b.text("#budget .summary"); !strings.Contains(summary, "in another form") {
		t.Errorf("the summary is %q", summary)
	}
	var smaller []int
	for _, entry := range s.at(t, 900).Included {
		if entry.Form > 0 {
			smaller = append(smaller, entry.Candidate)
		}
	}
	b.choose("#filter-state", "In a smaller form")
	if got := b.rows(); len(got) != len(smaller) || len(got) == 0 {
		t.Errorf("the filter shows %v, want %v", got, smaller)
	}
	b.choose("#filter-state", "Have a newer version")
	if got := b.rows(); len(got) != 3 {
		t.Errorf("the filter shows %v, want 3 older versions", got)
	}
	b.click("#filter-clear")
	b.typeFilter("call_03")
	if got := b.rows(); len(got) != 2 {
		t.Errorf("the group has the rows %v, want a call and its result", got)
	}

	// Details show the group, and the form in the window.
	b.click("#filter-clear")
	b.click(fmt.Sprintf(`#grid tr[data-row="%d"]`, smaller[0]))
	details := b.text("#details")
	entry := s.items[smaller[0]]
	if !strings.Contains(details, "in the prompt, cut") || !strings.Contains(details, entry.Group()) || !strings.Contains(details, "In or out with") {
		t.Errorf("the details are\n%s", details)
	}
	if trouble := b.takeTroubles(); len(trouble) > 0 {
		t.Errorf("%q", trouble)
	}
}
