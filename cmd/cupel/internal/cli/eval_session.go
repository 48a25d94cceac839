package cli

import (
	"context"
	"slices"
	"time"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/cupelrelevance/eval"
	"github.com/wollax/cupel-go/cupelsession"
)

// questionKind is the kind of the item that a question is in a session.
const questionKind cupel.ContextKind = "Question"

// askedInSession returns what selects for the questions about a conversation in a
// session, with a low-water mark. Answers are not part of the conversation.
func askedInSession(low float64) func() eval.Asker {
	return func() eval.Asker {
		var session *cupelsession.Session
		return func(ctx context.Context, pipeline *pipeline.Pipeline, items []*cupel.ContextItem, budget cupel.ContextBudget) ([]int, []*cupel.ContextItem, error) {
			var err error
			if session == nil {
				session, err = cupelsession.New(pipeline, cupelsession.Config{
					Cache:    cupelsession.CacheModel{Read: eval.PriceRead, Write: eval.PriceWrite, Sure: time.Minute, Likely: time.Minute},
					LowWater: low,
					Horizon:  -1,
					Tail:     func(item *cupel.ContextItem) bool { return item.Kind() == questionKind },
					Clock:    func() time.Time { return time.Unix(0, 0) },
				})
				if err != nil {
					return nil, nil, err
				}
			}
			// Its words are not those of the conversation, which the relevance goes by.
			question, err := cupel.NewContextItem("?", 0, cupel.WithKind(questionKind), cupel.WithPinned())
			if err != nil {
				return nil, nil, err
			}
			turn, err := session.Next(ctx, append(slices.Clone(items), question), budget, cupelsession.WithChooser(pipeline))
			if err != nil {
				return nil, nil, err
			}
			var selected []int
			for _, e := range turn.Entries {
				for _, at := range e.Candidates {
					if at < len(items) {
						selected = append(selected, at)
					}
				}
			}
			return selected, turn.Window, turn.Commit(cupelsession.Usage{})
		}
	}
}
