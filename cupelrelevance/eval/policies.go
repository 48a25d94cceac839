package eval

import (
	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/cupel/placer"
	"github.com/wollax/cupel-go/cupel/scorer"
	"github.com/wollax/cupel-go/cupel/slicer"
	"github.com/wollax/cupel-go/cupel/strategy"
	"github.com/wollax/cupel-go/cupelrelevance"
)

// Policy is a way of selecting items, to be measured.
type Policy struct {
	Name string
	// New returns the pipeline for a question. All questions about a
	// conversation share its index. Candidates that the pipeline drops as
	// duplicates do not count as evidence. New is called from several
	// goroutines concurrently.
	New func(index *cupelrelevance.Index, query string) (*pipeline.Pipeline, error)

	// InTurn returns an Asker, such as a session, for the questions about one
	// conversation, asked one after the other at one budget. A nil InTurn selects
	// for each question by itself. It is called from several goroutines.
	InTurn func() Asker
}

// Builtin returns the built-in policies: the preset of cupelrelevance
// ("relevance"), and for comparison the latest turns ("recency") and BM25
// ("lexical"). All take the highest scores first.
func Builtin() []Policy {
	return []Policy{
		ByScore("recency", func(*cupelrelevance.Index, string) (strategy.Scorer, error) {
			return scorer.Recency{}, nil
		}),
		ByScore("lexical", func(index *cupelrelevance.Index, query string) (strategy.Scorer, error) {
			return cupelrelevance.NewLexical(index, query)
		}),
		ByScore("relevance", func(index *cupelrelevance.Index, query string) (strategy.Scorer, error) {
			return cupelrelevance.New(index, query)
		}),
	}
}

// ByScore returns a policy that takes the highest scores first.
func ByScore(name string, newScorer func(index *cupelrelevance.Index, query string) (strategy.Scorer, error)) Policy {
	return Policy{Name: name, New: func(index *cupelrelevance.Index, query string) (*pipeline.Pipeline, error) {
		s, err := newScorer(index, query)
		if err != nil {
			return nil, err
		}
		return pipeline.New(pipeline.Config{
			Scorer:         s,
			Slicer:         slicer.ScoreGreedy{},
			Placer:         placer.Chronological{},
			KeepDuplicates: true,
		})
	}}
}
