package analysis_test

import (
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/analysis"
	"github.com/wollax/cupel-go/cupel/slicer"
)

// TestMinimumBudgetPage holds the tables of docs/operations.md, which show where
// the two searches differ.
func TestMinimumBudgetPage(t *testing.T) {
	a, b := scored("A", 11, 0.99), scored("B", 5, 0.1)
	items := []*cupel.ContextItem{a, b, item("Be brief.", 2, cupel.WithPinned())}
	p := newPipeline(slicer.Greedy{})
	number := func(text string) int { return must(strconv.Atoi(text)) }
	answer := func(find search, ceiling int) string {
		tokens, found, err := find(t.Context(), p, items, b, ceiling)
		if err != nil || !found {
			t.Errorf("up to %d tokens: %t, %v", ceiling, found, err)
		}
		return strconv.Itoa(tokens)
	}
	page := string(must(os.ReadFile("../../docs/operations.md")))
	windows := regexp.MustCompile(`(?m)^\| (\d+) (?:to (\d+)|and more) \| (.*) \|$`).FindAllStringSubmatch(page, -1)
	for _, row := range windows {
		for tokens := number(row[1]); tokens <= number("0"+row[2]) || row[2] == "" && tokens <= number(row[1])+20; tokens++ {
			var texts []string
			for _, it := range must(p.Run(t.Context(), items, budget(tokens, tokens))) {
				texts = append(texts, it.Content())
			}
			slices.Sort(texts)
			if got := strings.Join(texts, ", "); got != row[3] {
				t.Errorf("%d tokens hold %s, and the page has %q", tokens, got, row[0])
			}
		}
	}
	searched := regexp.MustCompile(`(?m)^\| (\d+) \| (\d+) \| (\d+) \|$`).FindAllStringSubmatch(page, -1)
	for _, row := range searched {
		ceiling := number(row[1])
		halves, exact := answer(analysis.FindMinBudgetFor, ceiling), answer(analysis.FindMinBudgetForExhaustive, ceiling)
		if halves != row[2] || exact != row[3] {
			t.Errorf("up to %d tokens the searches find %s and %s, and the page has %q", ceiling, halves, exact, row[0])
		}
	}
	if len(windows) != 4 || len(searched) != 3 {
		t.Errorf("the page has %d windows and %d searches", len(windows), len(searched))
	}
}
