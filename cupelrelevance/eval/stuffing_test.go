package eval_test

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wollax/cupel-go/cupelrelevance/eval"
)

// TestStuffing stuffs our own conversations with items that repeat a question or the words
// of its subject. One may cost .005 of the recall, and twenty .02.
func TestStuffing(t *testing.T) {
	for _, k := range ownTexts(t) {
		if testing.Short() { // half of the questions
			for i, c := range k.conversations {
				k.conversations[i].Questions = c.Questions[len(c.Questions)/2:]
			}
		}
		before := meanOf(stuffed(t, k, 0, nil))
		for name, spam := range map[string]func(query string) string{
			"the question":      func(query string) string { return query },
			"its words":         func(query string) string { return strings.Join(subject(query), " ") },
			"again and again":   func(query string) string { return query + " " + query },
			"said by a speaker": func(query string) string { return "Ada: " + query },
		} {
			if name == "the question" {
				assert.GreaterOrEqual(t, meanOf(stuffed(t, k, 1, spam)), before-0.005, "%s: %s once", k.name, name)
			}
			assert.GreaterOrEqual(t, meanOf(stuffed(t, k, 20, spam)), before-0.02, "%s: %s twenty times", k.name, name)
		}
	}
}

// stuffed returns what the preset finds if each question is repeated among the items.
func stuffed(t *testing.T, k kind, times int, spam func(query string) string) eval.PolicyResult {
	t.Helper()
	var all []eval.Conversation
	for _, c := range k.conversations {
		for _, q := range c.Questions {
			one := eval.Conversation{ID: c.ID, Questions: []eval.Question{{Query: q.Query}}}
			moved := make([]int, len(c.Items))
			for i, turn := range c.Items {
				moved[i] = len(one.Items)
				one.Items = append(one.Items, turn)
				if (i+1)*times/len(c.Items) == i*times/len(c.Items) {
					continue
				}
				turn.Content, turn.Speaker = spam(q.Query), ""
				if speaker, text, spoken := strings.Cut(turn.Content, ": "); spoken {
					turn.Speaker, turn.Content = speaker, text
				}
				one.Items = append(one.Items, turn)
			}
			for _, at := range q.Evidence {
				one.Questions[0].Evidence = append(one.Questions[0].Evidence, moved[at])
			}
			all = append(all, one)
		}
	}
	result, err := run(t.Context(), all, []eval.Policy{relevancePolicy()}, k.budgets)
	require.NoError(t, err)
	return result.Policies[0]
}

// TestHeadedAnswers: an answer that is headed by its question is no repetition of it, be it
// one word. The answers were written before the preset first ranked them.
func TestHeadedAnswers(t *testing.T) {
	text, err := os.ReadFile("testdata/headed.tsv")
	require.NoError(t, err)
	answers := eval.Conversation{ID: "answers"}
	for line := range strings.Lines(string(text)) {
		question, answer, _ := strings.Cut(strings.TrimSpace(line), "\t")
		answers.Questions = append(answers.Questions, eval.Question{Query: question, Evidence: []int{len(answers.Items)}})
		answers.Items = append(answers.Items, eval.Turn{Content: question + "\n" + answer})
	}
	require.Len(t, answers.Items, 50)
	k := kind{"answers", []eval.Conversation{answers}, []int{40}}
	for _, times := range []int{0, 1, 20} {
		found := stuffed(t, k, times, func(query string) string { return query }).Points[0].Recall
		assert.InDelta(t, 1, found, 0, "of fifty answers, among %d repetitions of the question", times)
	}
}
