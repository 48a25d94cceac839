package eval_test

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupelrelevance"
	"github.com/wollax/cupel-go/cupelrelevance/eval"
)

// kind is a kind of text with questions of our own.
type kind struct {
	name          string
	conversations []eval.Conversation
	budgets       []int
}

// own returns our own questions: about a meeting, chats, logs and a manual in
// this folder, and about functions of the standard library.
func own(t *testing.T) []kind {
	t.Helper()
	return append(ownTexts(t), kind{"functions", askedFunctions(t), []int{500, 1000, 2000, 4000, 8000}})
}

// ownTexts returns those about the texts in this folder.
func ownTexts(t *testing.T) []kind {
	t.Helper()
	data, err := os.ReadFile("testdata/questions.jsonl")
	require.NoError(t, err)
	more, err := read(bytes.NewReader(data))
	require.NoError(t, err)
	short := []int{100, 200, 400, 800}
	kinds := []kind{{"meetings", nil, short}, {"chats", nil, short}, {"logs", nil, short}, {"manual", nil, short}}
	of := map[string]int{"meeting": 0, "chat-people": 1, "chat-assistant": 1, "friends": 1, "assistant": 1, "log-code": 2, "outage": 2, "handbook": 3}
	for _, c := range append(small(t), more...) {
		k, ok := of[c.ID]
		if !ok {
			t.Fatalf("%s is of no kind", c.ID)
		}
		kinds[k].conversations = append(kinds[k].conversations, c)
	}
	return kinds
}

// askedFunctions reads testdata/functions.tsv: a function of the standard library
// and a question that it answers.
func askedFunctions(t *testing.T) []eval.Conversation {
	t.Helper()
	data, err := os.ReadFile("testdata/functions.tsv")
	require.NoError(t, err)
	var all []eval.Conversation
	places := make(map[string]map[string]int) // by package and name
	at := make(map[string]int)                // of a package in all
	for line := range strings.Lines(string(data)) {
		place, query, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		dot := strings.IndexByte(place[strings.LastIndexByte(place, '/')+1:], '.') + strings.LastIndexByte(place, '/') + 1
		pkg, name := place[:dot], place[dot+1:]
		if !ok || query == "" {
			t.Fatalf("%q is not a function and a question", line)
		}
		if places[pkg] == nil {
			c, names := functionsOf(t, pkg)
			c.Questions = nil
			at[pkg], places[pkg] = len(all), names
			all = append(all, c)
		}
		position, ok := places[pkg][name]
		if !ok {
			t.Errorf("there is no %s", place)
			continue
		}
		c := &all[at[pkg]]
		c.Questions = append(c.Questions, eval.Question{Query: query, Evidence: []int{position}})
	}
	return all
}

// overlap is what a question has in common with its answer.
type overlap string

const (
	rareWord   overlap = "a rare word"   // of at most 2 % of the items, or three
	commonWord overlap = "a common word" // none but such that more items have
	noWord     overlap = "no word"       // not even a stem, but for stop words
)

// overlapOf tells what a question has in common with its evidence.
func overlapOf(t *testing.T, index *cupelrelevance.Index, items []*cupel.ContextItem, q eval.Question) overlap {
	t.Helper()
	found := noWord
	scores := make([]float64, len(items))
	for _, word := range subject(q.Query) {
		lexical := cupelrelevance.Must(cupelrelevance.NewLexical(index, word))
		require.NoError(t, lexical.Score(t.Context(), items, scores))
		shared, having := false, 0
		for _, at := range q.Evidence {
			shared = shared || scores[at] > 0
		}
		for _, s := range scores {
			if s > 0 {
				having++
			}
		}
		switch {
		case shared && having <= max(3, len(items)/50):
			return rareWord
		case shared:
			found = commonWord
		}
	}
	return found
}

// byOverlap parts conversations by what their questions have in common with
// their answers.
func byOverlap(t *testing.T, conversations []eval.Conversation) map[overlap][]eval.Conversation {
	t.Helper()
	parts := make(map[overlap][]eval.Conversation)
	for _, c := range conversations {
		items, err := c.ContextItems()
		require.NoError(t, err)
		index := cupelrelevance.Must(cupelrelevance.NewIndex())
		questions := make(map[overlap][]eval.Question)
		for _, q := range c.Questions {
			o := overlapOf(t, index, items, q)
			questions[o] = append(questions[o], q)
		}
		for o, of := range questions {
			part := c
			part.Questions = of
			parts[o] = append(parts[o], part)
		}
	}
	return parts
}

func count(conversations []eval.Conversation) (questions int) {
	for _, c := range conversations {
		questions += len(c.Questions)
	}
	return questions
}

// TestOwnQuestions counts our own questions, and measures them by kind of text
// and by what they have in common with their answer. What a rare word finds, the
// preset must find as well.
func TestOwnQuestions(t *testing.T) {
	policies := []eval.Policy{byWords(), relevancePolicy()}
	total := make(map[overlap]int)
	for _, k := range own(t) {
		for o, part := range byOverlap(t, k.conversations) {
			total[o] += count(part)
			if testing.Short() && o != rareWord {
				continue // its figures are for readers
			}
			result, err := run(t.Context(), part, policies, k.budgets)
			require.NoError(t, err)
			t.Logf("%s, %s: %s", k.name, o, result.Text())
			for i, words := range result.Policies[0].Points {
				if preset := result.Policies[1].Points[i]; o == rareWord && preset.Recall < words.Recall-0.05 {
					t.Errorf("%s, %s: within %d tokens the preset finds %.3f, words alone %.3f", k.name, o, words.Budget, preset.Recall, words.Recall)
				}
			}
		}
	}
	t.Logf("questions: %v", total)
	if sum := total[rareWord] + total[commonWord] + total[noWord]; sum < 400 || total[noWord] < 60 {
		t.Errorf("there are %d questions, %d of them without a common word; want 400 and 60", sum, total[noWord])
	}
}
