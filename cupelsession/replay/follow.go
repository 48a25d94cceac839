package replay

import (
	"context"
	"iter"

	"github.com/wollax/cupel-go/cupelreduce"
)

// Followed is the fate of a value at a step.
type Followed struct {
	Message int  `json:"message"` // of the assistant, from 1, as the file numbers its messages
	Kept    bool `json:"kept"`    // the window has the value as a word
}

// Follow yields, for each step after a message with the value, whether and how the policy
// sends the value. The windows are chosen as in the measure, for a budget in its
// tokens, or for the messages that are always sent if these are more. It ends with an
// error of the policy or of ctx.
func Follow(ctx context.Context, c *Conversation, p Policy, budget int, value string) iter.Seq2[Followed, error] {
	return func(yield func(Followed, error) bool) {
		measure, err := NewMeasure([]Policy{p}, []float64{1})
		if err != nil {
			yield(Followed{}, err)
			return
		}
		r := record(c)
		chooser := measure.policies[0].chooser(make(map[string]*chatMessage), nil)
		for i := range r.steps {
			t := &turn{recording: r, step: i, said: r.steps[i].units, shared: new(shared)}
			w, err := chooser.choose(ctx, t, max(budget, t.fixed(t.said)))
			f := Followed{Message: r.steps[i].message.number, Kept: has(w.text(), value)}
			if said := t.request(); err == nil && !has(said.text(), value) {
				continue
			}
			if !yield(f, err) || err != nil {
				return
			}
		}
	}
}

// has reports whether a text has a value as a word.
func has(text, value string) bool {
	for range cupelreduce.Find(text, value) {
		return true
	}
	return false
}
