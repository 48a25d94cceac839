package inspector

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
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
		assert.Equal(t, fmt.Sprint(tokens), strings.ReplaceAll(b.text(".figures dd strong"), ",", ""), "at %d", budget)
		smaller := value[[]int](b, `return [...document.querySelectorAll('#grid tr[data-row]')].filter((tr) => tr.querySelector('.tag.form')).map((tr) => Number(tr.dataset.row))`)
		for _, candidate := range smaller {
			assert.NotZero(t, forms[candidate], "at %d candidate %d is cut", budget, candidate)
			delete(forms, candidate)
		}
		assert.Empty(t, forms, "at %d", budget)
	}
	require.NotZero(t, seen, "no smaller form was in a window")

	// The slider says what is in another form than in the run, and filters find it.
	b.goTo(900)
	assert.Contains(t, b.text("#budget .summary"), "in another form")
	var smaller []int
	for _, entry := range s.at(t, 900).Included {
		if entry.Form > 0 {
			smaller = append(smaller, entry.Candidate)
		}
	}
	b.choose("#filter-state", "In a smaller form")
	got := b.rows()
	assert.Len(t, got, len(smaller))
	assert.NotEmpty(t, got)
	b.choose("#filter-state", "Have a newer version")
	assert.Len(t, b.rows(), 3)
	b.click("#filter-clear")
	b.typeFilter("call_03")
	assert.Len(t, b.rows(), 2)

	// Details show the group, and the form in the window.
	b.click("#filter-clear")
	b.click(fmt.Sprintf(`#grid tr[data-row="%d"]`, smaller[0]))
	details := b.text("#details")
	entry := s.items[smaller[0]]
	assert.Contains(t, details, "in the prompt, cut")
	assert.Contains(t, details, entry.Group())
	assert.Contains(t, details, "In or out with")
	assert.Empty(t, b.takeTroubles())
}
