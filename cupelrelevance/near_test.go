package cupelrelevance

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/strategy"
)

// TestOrder looks at which items stand next to each other.
func TestOrder(t *testing.T) {
	minute := func(m int) time.Time { return time.Date(2025, 1, 1, 0, m, 0, 0, time.UTC) }
	for _, c := range []struct {
		name  string
		items [][]any // pairs of each item
		want  string  // positions, group by group
		why   string
	}{
		{"groups", [][]any{{"session", "a"}, {"session", "b"}, {"session", "a"}, {"session", "b"}}, "[0 2] [1 3]",
			"what is next in the session counts, not what is next in the list"},
		{"first key", [][]any{{"session", "a", "file", "x"}, {"session", "b", "file", "x"}, {"session", "a"}, {"session", "b"}}, "[0 2] [1 3]", "a file has several sessions"},
		{"second key", [][]any{{"file", "x"}, {"file", "y"}, {"file", "x"}, {"file", "y"}}, "[0 2] [1 3]", "where the first is absent, the next counts"},
		{"groups of one", [][]any{{"file", "x"}, {"file", "y"}, {"file", "x"}}, "[0 1 2]", "most groups have one item, and none says what belongs together"},
		{"groups of one, in time", [][]any{{"file", "x", "at", minute(2)}, {"file", "y", "at", minute(1)}}, "[1 0]", "their order is still that of time"},
		{"numbers", [][]any{{"session", 1}, {"session", "1"}, {"session", int64(1)}, {"session", 1.0}, {"session", json.Number("1")}, {"session", 1.5}, {"session", true}, {"session", "true"}, {"session", ""}, {}},
			"[0 1 2 3 4] [5] [6 7] [8 9]", "they are what they are written as"},
		{"time", [][]any{{"at", minute(3)}, {"at", minute(1)}, {"at", minute(2)}}, "[1 2 0]", "where all have a time, that is the order"},
		{"time of some", [][]any{{"at", minute(3)}, {}, {"at", minute(1)}}, "[0 1 2]", "where some have none, the list is the order"},
		{"pause", [][]any{{"at", minute(0)}, {"at", minute(60)}, {"at", minute(121)}, {"at", minute(122)}}, "[0 1] [2 3]", "more than an hour makes two groups"},
	} {
		items := make([]*cupel.ContextItem, len(c.items))
		for i, pairs := range c.items {
			items[i] = item(t, "text", pairs...)
		}
		l, err := Must(NewIndex()).of(t.Context(), items)
		require.NoError(t, err)
		var groups []string
		for g := range l.order.numGroups() {
			groups = append(groups, fmt.Sprint(l.order.at(g)))
		}
		if got := strings.Join(groups, " "); got != c.want {
			t.Errorf("%s: the order is %s, want %s: %s", c.name, got, c.want, c.why)
		}
	}
}

// TestPassagesByDefinition compares with the formula of the documentation.
func TestPassagesByDefinition(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 9))
	for range 200 {
		items := randomItems(t, r, 1+r.IntN(15))
		index := Must(NewIndex())
		lexical := Must(NewLexical(index, "meeting roof 42"))
		l, err := index.of(t.Context(), items)
		require.NoError(t, err)
		got, want, before := make([]float64, len(items)), make([]float64, len(items)), make([]float64, len(items))
		lexical.eachTerm(l.words, queryTerms(lexical.query, l.languages), func(weight float64, _ []uint32, values []float64) {
			addPassages(l.order, weight, values, before, got)
		})
		lexical.eachTerm(l.words, queryTerms(lexical.query, l.languages), func(weight float64, _ []uint32, values []float64) {
			for g := range l.order.numGroups() {
				sequence := l.order.at(g)
				for a, i := range sequence {
					d := 0.0
					for b, j := range sequence {
						d += math.Pow(l.order.manners[g].decay, math.Abs(float64(a-b))) * values[j]
					}
					want[i] += weight * d * 13 / (d + 12)
				}
			}
		})
		for i := range got {
			if math.Abs(got[i]-want[i]) > 1e-9 {
				t.Fatalf("item %d scores %v, want %v", i, got[i], want[i])
			}
		}
	}
}

func TestMentions(t *testing.T) {
	for _, c := range []struct {
		name, query string
		pairs       []any
		want        float64
		why         string
	}{
		{"speaker", "What does Ada think?", []any{"speaker", "Ada"}, 1, "the question names the speaker"},
		{"case", "what does ADA think", []any{"speaker", "ada"}, 1, "case does not matter"},
		{"one of two words", "the professor", []any{"speaker", "Professor Smith"}, 0.5, "half of the name is there"},
		{"letter", "what does B say", []any{"speaker", "B"}, 1, "a name may be one letter"},
		{"file", "why does greedy.go fail", []any{"file", "cupel/slicer/greedy.go"}, 1, "the last part of a path is a name"},
		{"folder", "the slicer", []any{"path", "cupel/slicer/greedy.go"}, 0.25, "one of four words"},
		{"symbol", "what calls parse header", []any{"symbol", "parseHeader"}, 2.0 / 3, "both parts, and not the whole"},
		{"best of two", "Ada", []any{"speaker", "Bo", "author", "Ada"}, 1, "one name suffices"},
		{"no one", "what was decided", []any{"speaker", "Ada"}, 0, "no name is mentioned"},
		{"no name", "Ada", nil, 0, "the item has none"},
		{"name without words", "Ada", []any{"speaker", "?"}, 0, "and nothing is divided by nothing"},
	} {
		items := []*cupel.ContextItem{item(t, "text", c.pairs...)}
		l, err := Must(NewIndex()).of(t.Context(), items)
		require.NoError(t, err)
		got := make([]float64, 1)
		if mentionsOf(c.query).score(l, got); !near(got[0], c.want) {
			t.Errorf("%s: the score is %v, want %v: %s", c.name, got[0], c.want, c.why)
		}
	}
}

// scorersFor returns a scorer of each type.
func scorersFor(query string) []strategy.Scorer { return scorersOf(Must(NewIndex()), query) }

func scorersOf(index *Index, query string) []strategy.Scorer {
	return []strategy.Scorer{Must(NewLexical(index, query)), Must(New(index, query))}
}

func TestRelevance(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	for range 200 {
		items := randomItems(t, r, r.IntN(30))
		for i, s := range scoresOf(t, Must(New(Must(NewIndex()), "meeting of the roof, said meet")), items) {
			if !(s >= 0 && s <= 1) {
				t.Fatalf("item %d scores %v", i, s)
			}
		}
	}
	chat := []*cupel.ContextItem{
		item(t, "Bo: How was the trip?", "session", "1", "speaker", "Bo"),
		item(t, "Ada: It rained for nine days", "session", "1", "speaker", "Ada"),
		item(t, "Bo: The oven broke", "session", "2", "speaker", "Bo"),
		item(t, "Ada: What does the repair cost?", "session", "2", "speaker", "Ada"),
	}
	scores := scoresOf(t, Must(New(Must(NewIndex()), "How was the weather on Ada's trip?")), chat)
	if slices.Max(scores) != max(scores[0], scores[1]) || scores[1] <= scores[3] || scores[1] <= 0 {
		t.Errorf("scores are %v: the session about the trip must come first, with the turn that has no word of the question but the name", scores)
	}
	for _, s := range scoresOf(t, Must(New(Must(NewIndex()), "zebra")), chat) {
		if s != 0 {
			t.Errorf("nothing is about zebras, but scores %v", s)
		}
	}
}

// TestRelevanceByDefinition puts the preset together from its parts.
func TestRelevanceByDefinition(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 7))
	const rare, common = "meeting roof snake zebra walrus", "the of"
	for range 100 {
		items := randomItems(t, r, 1+r.IntN(30))
		for range r.IntN(4) { // with stop words, blocks and long ones
			items = append(items, item(t, "the roof\n of\nthe owl"+strings.Repeat(" owl", r.IntN(1_000)), "session", "1"))
		}
		all := items
		items = slices.DeleteFunc(slices.Clone(all), repeatsQuestion)
		index := Must(NewIndex(WithLanguage(LanguageEnglish)))
		l, err := index.of(t.Context(), items)
		require.NoError(t, err)
		k1 := max(2, 0.025*float64(l.words.total)/float64(len(items)))
		own := plainBM25(items, rare, LanguageEnglish, k1, 0.75)
		scale(own)
		stops := plainBM25(items, common, LanguageEnglish, k1, 0.75)
		scale(stops)
		lexical := Must(NewLexical(index, rare))
		lexical.k1 = k1
		passages, before, named := make([]float64, len(items)), make([]float64, len(items)), make([]float64, len(items))
		lexical.eachTerm(l.words, queryTerms(lexical.query, l.languages), func(weight float64, _ []uint32, values []float64) {
			addPassages(l.order, weight, values, before, passages)
		})
		scale(passages)
		mentionsOf(rare).score(l, named)
		want := make([]float64, len(items))
		for g := range l.order.numGroups() {
			single := l.order.manners[g].own
			best := 0.0
			for _, i := range l.order.at(g) {
				own[i] += 0.1 * stops[i]
				best = max(best, own[i])
			}
			for _, i := range l.order.at(g) {
				want[i] = (passages[i] + single*(own[i]+0.3*best+0.2*named[i])) / (1 + single*(1.1*1.3+0.2)) * math.Pow(10/(10+float64(items[i].Tokens())), 0.25)
			}
		}
		highest := make(map[*cupel.ContextItem]float64)
		for i, it := range items {
			highest[it] = max(highest[it], want[i])
		}
		for i, got := range scoresOf(t, Must(New(index, rare+" "+common)), all) {
			require.InDelta(t, highest[all[i]], got, 1e-9, "item %d", i) // 0 for those that repeat the question
		}
	}
}

// repeatsQuestion reports whether a random item has at least two words of the question of
// [TestRelevanceByDefinition], and no others but its speaker's.
func repeatsQuestion(item *cupel.ContextItem) bool {
	speaker, _ := item.MetadataValue("speaker")
	subject := make(map[string]bool)
	for _, word := range append(strings.Fields(item.Content()), item.Tags()...) {
		stem := strings.TrimSuffix(strings.TrimSuffix(word, "s"), "ing")
		if slices.Contains([]string{"meet", "roof", "snake"}, stem) {
			subject[stem] = true
		} else if word != speaker {
			return false
		}
	}
	return len(subject) >= 2
}

func TestSettings(t *testing.T) {
	fail := func(component, field string, _ any, err error) { t.Helper(); mustFail(t, err, component, field) }
	newIndex := func(opt IndexOption) (any, error) { return NewIndex(nil, opt) }
	for field, opt := range map[string]IndexOption{
		"language": WithLanguage("klingon"),
	} {
		built, err := newIndex(opt)
		fail("Index", field, built, err)
	}
	built, err := NewLexical(new(Index), "x")
	fail("Lexical", "index", built, err)
	relevance, err := New(nil, "x")
	fail("Lexical", "index", relevance, err)

	for _, s := range []strategy.Scorer{new(Lexical), new(Relevance), (*Lexical)(nil)} {
		err := strategy.FactsOf(s).Invalid
		mustFail(t, err, err.(*cupel.InvalidConfigError).Component, "")
		if !strings.Contains(err.Error(), "cupelrelevance.New") {
			t.Errorf("%T: %v does not say what to call", s, err)
		}
		if got := s.Score(t.Context(), nil, nil); !errors.Is(got, cupel.ErrInvalidConfig) {
			t.Errorf("%T that was not built scores: %v", s, got)
		}
	}
}

// TestManner looks at what decides how far words spread, and how much an item
// counts.
func TestManner(t *testing.T) {
	for _, c := range []struct {
		items       int
		bytes, lift float64
		decay, own  float64
		why         string
	}{
		{693, 0, 1.5, 0.99, 0.0625, "turns of a meeting without a word"},
		{693, 3000, 1.5, 0.99 / 4, 0.0625, "long turns need fewer others"},
		{7, 0, 1.5, 0.5, 1 / (1 + 49.0/2500), "a short group has several passages"},
		{693, 3000, 3, 0.99 / 4, 1, "a list of many topics"},
		{693, 3000, 7, 0.99 / 4, 1, "more topics than many"},
		{693, 0, 1.025, 0.99 / 2, 1 / (1 + 693*693/2500.0), "half strangers"},
	} {
		if got := mannerOf(c.items, c.bytes, c.lift); !near(got.decay, c.decay) || !near(got.own, c.own) {
			t.Errorf("%d items of %v bytes, lift %v: got %v, want %v and %v: %s", c.items, c.bytes, c.lift, got, c.decay, c.own, c.why)
		}
	}
}

// TestSample compares a list in which each two neighbors have a subject with
// the same items in any order.
func TestSample(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	items := make([]*cupel.ContextItem, 3000)
	for i := range items {
		items[i] = item(t, fmt.Sprintf("w%d v%[1]d w%[1]d x%d y%d", i/3, r.IntN(40), r.IntN(40)))
	}
	lift := func(index *Index, items []*cupel.ContextItem) float64 {
		l, err := index.of(t.Context(), items)
		require.NoError(t, err)
		return l.order.sample.lift(false)
	}
	index := Must(NewIndex())
	together := lift(index, items)
	assert.InDelta(t, 21.10523323660111, together, 1e-9, "an item has a word once, however often it repeats it")
	known := index.lists[0].order.sample
	rest := append(items[:2000:2000], items[2500:]...)
	assert.InDelta(t, lift(Must(NewIndex()), rest), lift(index, rest), 0, "what the index has seen before changes nothing")
	lift(index, items[1:])
	assert.Subset(t, known.numbers, index.lists[0].order.sample.numbers, "without the first item, the sample stays")
	shuffled := slices.Clone(items)
	r.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
	assert.LessOrEqual(t, lift(index, shuffled), 1.5, "the same items in any order")
	for n := range 2 {
		assert.InDelta(t, sampleUsual, lift(index, items[:n]), 1e-9, "of %d items nothing is known", n)
	}
}
