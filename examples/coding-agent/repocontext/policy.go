package repocontext

import (
	"slices"
	"strings"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/placer"
	"github.com/wollax/cupel-go/cupel/scorer"
	"github.com/wollax/cupel-go/cupel/slicer"
	"github.com/wollax/cupel-go/cupelrelevance"
)

// kindWeights say what a coding agent needs most: what a tool complains about,
// then code, then what is written about it.
var kindWeights = map[cupel.ContextKind]float64{
	cupel.KindToolOutput: 1.0,
	KindCode:             0.8,
	cupel.KindDocument:   0.6,
	cupel.KindMemory:     0.4,
}

// share is what one kind may have of the window.
type share struct {
	kind         cupel.ContextKind
	percent, cap float64 // of the tokens
}

// shares keep any kind from starving, and from crowding out the others.
var shares = []share{
	{kind: KindCode, percent: 45, cap: 80},
	{kind: cupel.KindDocument, percent: 12, cap: 50},
	{kind: cupel.KindMemory, percent: 8, cap: 25},
	{kind: cupel.KindToolOutput, percent: 4, cap: 20},
}

// sharesOf returns the shares of the kinds that there are candidates of, with
// caps that leave nothing of a window to kinds that are missing.
func sharesOf(items []*cupel.ContextItem) []share {
	var present []share
	caps := 0.0
	for _, s := range shares {
		if slices.ContainsFunc(items, func(it *cupel.ContextItem) bool { return it.Kind() == s.kind && !it.Pinned() }) {
			present = append(present, s)
			caps += s.cap
		}
	}
	for i := range present {
		if s := &present[i]; caps < 100 {
			s.cap = min(s.cap/caps*100, 100)
		}
	}
	return present
}

// NewPipeline returns a pipeline that chooses among items for a question.
//
// It scores by what the question is about, then by what is recent, of a telling
// kind, marked as important, and connected with much else. It gives each kind a
// share of the tokens and fills it with the best of that kind that fits, so that
// a window never exceeds its budget. What is best stands at the edges of the window. Without a
// question, a blank one, the rest of the scores decide.
func NewPipeline(question string, items []*cupel.ContextItem) (*cupel.Pipeline, error) {
	kind, err := scorer.NewKind(kindWeights)
	if err != nil {
		return nil, err
	}
	parts := []scorer.Weighted{
		{Scorer: scorer.Recency{}, Weight: 1},
		{Scorer: kind, Weight: 1},
		{Scorer: scorer.Priority{}, Weight: 1},
		{Scorer: scorer.Frequency{}, Weight: 1},
	}
	if strings.TrimSpace(question) != "" {
		about, err := relevance(question)
		if err != nil {
			return nil, err
		}
		parts = append(parts, scorer.Weighted{Scorer: about, Weight: 5})
	}
	score, err := scorer.NewComposite(parts...)
	if err != nil {
		return nil, err
	}

	var quotas []slicer.QuotaEntry
	for _, s := range sharesOf(items) {
		quotas = append(quotas, slicer.Between(s.kind, s.percent, s.cap))
	}
	balanced, err := slicer.NewQuota(slicer.ScoreGreedy{}, quotas...)
	if err != nil {
		return nil, err
	}
	return cupel.New(cupel.Config{
		Scorer: score,
		Slicer: balanced,
		Placer: placer.UShaped{},
	})
}

// relevance scores by what a question is about: by the words that an item shares
// with it, those of the file around it, and the file and symbol that it names.
// The best item counts as 1, however little of the question it covers.
func relevance(question string) (cupel.Scorer, error) {
	index, err := cupelrelevance.NewIndex()
	if err != nil {
		return nil, err
	}
	about, err := cupelrelevance.New(index, question)
	if err != nil {
		return nil, err
	}
	return scorer.NewScaled(about)
}

// Kinds returns the kinds that occur in items, each once and in a fixed order:
// those that the policy knows, then others in the order of their names.
func Kinds(items []*cupel.ContextItem) []cupel.ContextKind {
	kinds := []cupel.ContextKind{cupel.KindSystemPrompt, cupel.KindMessage}
	for _, s := range shares {
		kinds = append(kinds, s.kind)
	}
	var others []cupel.ContextKind
	found := make(map[cupel.ContextKind]bool)
	for _, it := range items {
		kind := it.Kind()
		found[kind] = true
		if !slices.Contains(kinds, kind) && !slices.Contains(others, kind) {
			others = append(others, kind)
		}
	}
	slices.Sort(others)
	return slices.DeleteFunc(append(kinds, others...), func(kind cupel.ContextKind) bool { return !found[kind] })
}
