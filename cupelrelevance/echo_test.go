package cupelrelevance

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/wollax/cupel-go/cupel"
)

// TestEchoes looks at what says the question again: it answers nothing, and takes
// nothing from what does.
func TestEchoes(t *testing.T) {
	const question = "When will the roof of the boathouse be repaired?"
	answer := item(t, "In May the boathouse gets its new roof")
	others := []*cupel.ContextItem{answer, item(t, "The owls eat mice"), item(t, "Nine cranes and a ferry"), item(t, "Bread rises twice")}
	before := scoresOf(t, Must(New(Must(NewIndex()), question)), others)
	for _, c := range []struct {
		name string
		item *cupel.ContextItem
		echo bool
		why  string
	}{
		{"copy", item(t, question), true, "it is the question"},
		{"words", item(t, "boathouse roof repaired"), true, "its subject, in any order"},
		{"forms", item(t, "When will roofs of boathouses be repaired"), true, "other forms are the same words"},
		{"speaker", item(t, "Ada Lovelace: "+question, "speaker", "Ada Lovelace"), true, "names of who asks are not of the text"},
		{"headed answer", item(t, question+"\nIn May, says the carpenter."), false, "there is an answer below"},
		{"part", item(t, "The roof of the boathouse"), true, "a part of it answers nothing either"},
		{"mention", item(t, "The boathouse"), false, "what is around may be about it"},
		{"no", item(t, "Will the roof be repaired? No."), false, "a stop word may be an answer"},
	} {
		scores := scoresOf(t, Must(New(Must(NewIndex()), question)), append(others[:4:4], c.item, c.item))
		assert.Equal(t, c.echo, scores[4] == 0, "%s: %v, %s", c.name, scores, c.why)
		if c.echo {
			assert.InDelta(t, before[0], scores[0], 0.05, "%s: the answer scores as if it were alone", c.name)
		}
	}
	few := scoresOf(t, Must(New(Must(NewIndex()), "the boathouse?")), []*cupel.ContextItem{item(t, "The boathouse"), others[1]})
	assert.Positive(t, few[0], "a question of two words may be all of an answer")
	one := scoresOf(t, Must(New(Must(NewIndex()), "What about the boathouse?")), []*cupel.ContextItem{item(t, "What about the boathouse?")})
	assert.Zero(t, one[0], "a longer one with a subject of one word is not, even if there is nothing else")
}
