package repocontext

import (
	"maps"
	"math"
	"slices"
	"testing"

	"github.com/wollax/cupel-go/cupel"
)

func TestParts(t *testing.T) {
	tests := []struct {
		tag  string
		want []string
		why  string
	}{
		{"CountQuota", []string{"count", "quota"}, "a capital begins a word"},
		{"cupel/slicer", []string{"cupel", "slicer"}, "a slash ends one"},
		{"Quota.ForKind", []string{"quota", "for", "kind"}, "so does a dot"},
		{"JSONReport", []string{"json", "report"}, "the last capital of a run begins the next word"},
		{"readJSON", []string{"read", "json"}, "a run at the end is one word"},
		{"snake_case_2", []string{"snake", "case", "2"}, "underscores separate"},
		{"Élan", []string{"élan"}, "letters beyond ASCII are letters"},
		{"...", nil, "no word at all"},
		{"", nil, "nothing"},
	}
	for _, tt := range tests {
		t.Run(tt.tag, func(t *testing.T) {
			if got := parts(tt.tag); !slices.Equal(got, tt.want) {
				t.Errorf("%q, want %q: %s", got, tt.want, tt.why)
			}
		})
	}
}

func TestStem(t *testing.T) {
	for _, family := range [][]string{
		{"slice", "slices", "slicer", "slicers", "sliced", "slicing"},
		{"budget", "budgets"},
		{"query", "queries"},
		{"place", "placer", "placing"},
	} {
		for _, word := range family {
			if got, want := stem(word), stem(family[0]); got != want {
				t.Errorf("stem of %s is %q, of %s %q", word, got, family[0], want)
			}
		}
	}
	for _, word := range []string{"use", "ed", "", "key"} {
		if got := stem(word); got != word {
			t.Errorf("stem of %q is %q: nothing is left of so short a word", word, got)
		}
	}
}

func tagged(t *testing.T, tags ...string) *cupel.ContextItem {
	t.Helper()
	it, err := cupel.NewContextItem("x", 1, cupel.WithTags(tags...))
	if err != nil {
		t.Fatal(err)
	}
	return it
}

func TestTagWeights(t *testing.T) {
	items := []*cupel.ContextItem{
		tagged(t, "Quota", "cupel/slicer"),
		tagged(t, "Quota.Slice", "cupel/slicer"),
		tagged(t, "CountQuota"),
		tagged(t, "Knapsack"),
	}
	root3 := 1 / math.Sqrt(3) // three items have quota in a tag
	root2 := 1 / math.Sqrt(2) // two have slice or slicer

	tests := []struct {
		name, why, question string
		want                map[string]float64
	}{
		{"word", "the whole of one tag, half of two others", "What are quotas?",
			map[string]float64{"Quota": root3, "Quota.Slice": root3 / 2, "CountQuota": root3 / 2}},
		{"name", "a name in the question asks for its words", "Explain Quota.Slice",
			map[string]float64{"Quota": root3, "Quota.Slice": (root3 + root2) / 2, "CountQuota": root3 / 2, "cupel/slicer": root2 / 2}},
		{"nothing", "no tag fits", "Why not?", map[string]float64{}},
		{"silence", "no question", "", map[string]float64{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := tagWeights(tt.question, items)
			if got == nil || !maps.EqualFunc(got, tt.want, func(a, b float64) bool { return math.Abs(a-b) < 1e-15 }) {
				t.Errorf("%v, want %v: %s", got, tt.want, tt.why)
			}
		})
	}
}
