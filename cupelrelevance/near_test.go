package cupelrelevance

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/strategy"
)

func TestNeighbours(t *testing.T) {
	nan := math.NaN()
	minute := func(m int) time.Time { return time.Date(2025, 1, 1, 0, m, 0, 0, time.UTC) }
	half := func(n *Neighbours) { n.decay = 0.5 }
	for _, c := range []struct {
		name  string
		items [][]any // pairs of each item
		own   []float64
		set   func(*Neighbours)
		index []IndexOption
		want  []float64
		why   string
	}{
		{"one side", make([][]any, 4), []float64{8, 0, 0, 0}, half, nil, []float64{8, 4, 2, 1},
			"each step halves"},
		{"the better side", make([][]any, 3), []float64{8, 1, 4}, half, nil, []float64{8 + 0.5 + 1, 1 + 4, 4 + 0.5 + 2},
			"8/2 from the left is more than 4/2 from the right; ends have one side"},
		{"window", make([][]any, 4), []float64{8, 0, 0, 0}, func(n *Neighbours) { n.decay, n.window = 1, 2 }, nil, []float64{8, 8, 8, 0},
			"the fourth is three away"},
		{"groups", [][]any{{"session", "a"}, {"session", "b"}, {"session", "a"}, {"session", "b"}}, []float64{8, 0, 0, 0}, half, nil, []float64{8, 0, 4, 0},
			"what is next in the session counts, not what is next in the list"},
		{"other key", [][]any{{"part", 1}, {"part", 2}}, []float64{8, 0}, half, []IndexOption{WithGroups("part")}, []float64{8, 0},
			"numbers name groups as well"},
		{"no key", [][]any{{"session", "a"}, {"session", "b"}}, []float64{8, 0}, half, []IndexOption{WithGroups()}, []float64{8, 4},
			"without keys there is one group"},
		{"time", [][]any{{"at", minute(3)}, {"at", minute(1)}, {"at", minute(2)}}, []float64{8, 0, 0}, half, nil, []float64{8, 2, 4},
			"where all have a time, that is the order"},
		{"time of some", [][]any{{"at", minute(3)}, {"at", minute(1)}, {}}, []float64{8, 0, 0}, half, nil, []float64{8, 4, 2},
			"where some have none, the list is the order"},
		{"pause", [][]any{{"at", minute(0)}, {"at", minute(60)}, {"at", minute(121)}}, []float64{8, 0, 0}, half, nil, []float64{8, 4, 0},
			"more than an hour makes two groups"},
		{"shorter pause", [][]any{{"at", minute(0)}, {"at", minute(2)}}, []float64{8, 0}, nil, []IndexOption{WithGap(time.Minute)}, []float64{8, 0},
			"the pause can be set"},
		{"not finite", make([][]any, 3), []float64{math.Inf(1), 2, nan}, half, nil, []float64{math.Inf(1), 2, nan},
			"what is not a number stays where it is"},
		{"negative", make([][]any, 2), []float64{-8, 0}, half, nil, []float64{-8, 0},
			"the larger of -4 and nothing is nothing"},
	} {
		t.Run(c.name, func(t *testing.T) {
			items := make([]*cupel.ContextItem, len(c.items))
			for i, pairs := range c.items {
				items[i] = item(t, "text", pairs...)
			}
			neighbours := Must(NewNeighbours(Must(NewIndex(c.index...)), &fixed{items, c.own}))
			if c.set != nil {
				c.set(neighbours)
			}
			got := scoresOf(t, neighbours, items)
			for i := range got {
				if got[i] != c.want[i] && !(math.IsNaN(got[i]) && math.IsNaN(c.want[i])) {
					t.Fatalf("scores are %v, want %v: %s", got, c.want, c.why)
				}
			}
		})
	}
}

// TestPassagesByDefinition compares with the formula of the documentation.
func TestPassagesByDefinition(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 9))
	for range 200 {
		items := randomItems(t, r, 1+r.IntN(15))
		index := Must(NewIndex())
		lexical := Must(NewLexical(index, "meeting roof 42"))
		saturation := 0.5 + 5*r.Float64()
		passages := Must(NewPassages(lexical))
		passages.saturation = saturation
		got := scoresOf(t, passages, items)
		l, err := index.of(t.Context(), items)
		if err != nil {
			t.Fatal(err)
		}
		want := make([]float64, len(items))
		lexical.eachTerm(l.words, func(weight float64, _ []uint32, values []float64) {
			for g := range l.order.numGroups() {
				sequence := l.order.at(g)
				for a, i := range sequence {
					d := 0.0
					for b, j := range sequence {
						d += math.Pow(l.order.decays[g], math.Abs(float64(a-b))) * values[j]
					}
					want[i] += weight * d * (saturation + 1) / (d + saturation)
				}
			}
		})
		l.words.settle(want)
		for i := range got {
			if math.Abs(got[i]-want[i]) > 1e-9 {
				t.Fatalf("item %d scores %v, want %v", i, got[i], want[i])
			}
		}
	}
}

func TestGrouped(t *testing.T) {
	items := []*cupel.ContextItem{
		item(t, "a", "thread", "x"), item(t, "b", "thread", "y"), item(t, "c", "thread", "x"), item(t, "d", "thread", "y"),
	}
	inner := &fixed{items, []float64{8, math.NaN(), 0, 2}}
	for share, want := range map[float64][]float64{
		0:    {8, math.NaN(), 0, 2},
		0.25: {8, math.NaN(), 2, 2},
		1:    {8, math.NaN(), 8, 2},
	} {
		got := scoresOf(t, Must(NewGrouped(Must(NewIndex()), inner, share)), items)
		for i := range got {
			if got[i] != want[i] && !(math.IsNaN(got[i]) && math.IsNaN(want[i])) {
				t.Errorf("with a share of %v scores are %v, want %v", share, got, want)
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
		{"letters do not count", "the professor", []any{"speaker", "Professor E"}, 1, "a single letter is hardly ever written out"},
		{"letters alone", "what does B say", []any{"speaker", "B"}, 1, "but a name may be one letter"},
		{"file", "why does greedy.go fail", []any{"file", "cupel/slicer/greedy.go"}, 1, "the last part of a path is a name"},
		{"folder", "the slicer", []any{"path", "cupel/slicer/greedy.go"}, 0.25, "one of four words"},
		{"symbol", "what calls parse header", []any{"symbol", "parseHeader"}, 2.0 / 3, "both parts, and not the whole"},
		{"best of two", "Ada", []any{"speaker", "Bo", "author", "Ada"}, 1, "one name suffices"},
		{"no one", "what was decided", []any{"speaker", "Ada"}, 0, "no name is mentioned"},
		{"no name", "Ada", nil, 0, "the item has none"},
		{"name without words", "Ada", []any{"speaker", "?"}, 0, "and nothing is divided by nothing"},
	} {
		items := []*cupel.ContextItem{item(t, "text", c.pairs...)}
		if got := scoresOf(t, Must(NewMentions(Must(NewIndex()), c.query)), items); !near(got[0], c.want) {
			t.Errorf("%s: the score is %v, want %v: %s", c.name, got[0], c.want, c.why)
		}
	}
}

// all returns a scorer of each type.
func scorersFor(query string) []strategy.Scorer { return scorersOf(Must(NewIndex()), query) }

func scorersOf(index *Index, query string) []strategy.Scorer {
	lexical := Must(NewLexical(index, query))
	return []strategy.Scorer{
		lexical,
		Must(NewPassages(lexical)),
		Must(NewNeighbours(index, lexical)),
		Must(NewGrouped(index, lexical, 0.3)),
		Must(NewMentions(index, query)),
		Must(New(index, query)),
		Must(NewGrouped(index, Must(NewNeighbours(index, Must(New(index, query)))), 0.5)),
	}
}

// TestScoresAgain: scores have the same bits on another index.
func TestScoresAgain(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	for range 60 {
		items := randomItems(t, r, r.IntN(25))
		query := []string{"meeting roof", "snake_case 会議室 http", "", "who said résumé"}[r.IntN(4)]
		others := scorersFor(query)
		for k, s := range scorersFor(query) {
			first := scoresOf(t, s, items)
			if again := scoresOf(t, others[k], items); !slices.Equal(first, again) {
				t.Fatalf("%T: %v, and then %v", s, first, again)
			}
		}
	}
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

func TestSettings(t *testing.T) {
	index := Must(NewIndex())
	lexical := Must(NewLexical(index, "x"))
	fail := func(component, field string, _ any, err error) { t.Helper(); mustFail(t, err, component, field) }
	newIndex := func(opt IndexOption) (any, error) { return NewIndex(nil, opt) }
	for field, opt := range map[string]IndexOption{
		"language":  WithLanguage("klingon"),
		"fields":    WithFields(),
		"fields[0]": WithFields("title"),
		"fields[1]": WithFields(FieldTags, FieldTags),
		"gap":       WithGap(0),
		"groups[0]": WithGroups(""),
		"groups[1]": WithGroups("a", "a"),
		"names[0]":  WithNames(""),
	} {
		built, err := newIndex(opt)
		fail("Index", field, built, err)
	}
	built, err := NewLexical(new(Index), "x")
	fail("Lexical", "index", built, err)
	neighbours, err := NewNeighbours(index, nil)
	fail("Neighbours", "inner", neighbours, err)
	neighbours, err = NewNeighbours(nil, lexical)
	fail("Neighbours", "index", neighbours, err)
	neighbours, err = NewNeighbours(index, new(Relevance))
	fail("Relevance", "", neighbours, err)
	passages, err := NewPassages(nil)
	fail("Lexical", "", passages, err)
	grouped, err := NewGrouped(index, (*Lexical)(nil), 0.5)
	fail("Grouped", "inner", grouped, err)
	grouped, err = NewGrouped(nil, lexical, 0.5)
	fail("Grouped", "index", grouped, err)
	grouped, err = NewGrouped(index, lexical, math.NaN())
	fail("Grouped", "share", grouped, err)
	mentions, err := NewMentions(nil, "x")
	fail("Mentions", "index", mentions, err)
	relevance, err := New(nil, "x")
	fail("Lexical", "index", relevance, err)

	for _, s := range []strategy.Scorer{new(Lexical), new(Passages), new(Neighbours), new(Grouped), new(Mentions), new(Relevance), (*Lexical)(nil)} {
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

// TestDecay looks at what decides how far words spread.
func TestDecay(t *testing.T) {
	for _, c := range []struct {
		size, blocks int
		want         float64
		why          string
	}{
		{1, 0, 0.95 - 0.35/(1+1.0/2500), "alone"},
		{50, 0, 0.775, "half of the difference"},
		{1000, 0, 0.95 - 0.35/401, "a meeting"},
		{1000, 500, 0.95 - 0.35/401, "half of the items are not most"},
		{1000, 501, 0.4, "a file"},
		{1, 1, 0.4, "a file of one function"},
	} {
		if got := decayOf(c.size, c.blocks); !near(got, c.want) {
			t.Errorf("%d items, %d blocks: got %v, want %v: %s", c.size, c.blocks, got, c.want, c.why)
		}
	}
	for text, want := range map[string]bool{"": false, "a": false, "a\nb": false, "a\nb\n": true, "a\n\nb": true, "\n\n": true} {
		if isBlock(text) != want {
			t.Errorf("%q: got %t", text, !want)
		}
	}
	// Each group has a decay of its own.
	var items []*cupel.ContextItem
	for i := range 6 {
		items = append(items, item(t, []string{"roof", "a", "b"}[i%3], "session", "chat"), item(t, []string{"roof\n{\n}", "\na\n", "\nb\n"}[i%3], "file", "x.go"))
	}
	index := Must(NewIndex())
	l, err := index.of(t.Context(), items)
	if err != nil {
		t.Fatal(err)
	}
	if want := []float64{decayOf(6, 0), 0.4}; !slices.Equal(l.order.decays, want) {
		t.Errorf("decays are %v, want %v", l.order.decays, want)
	}
}
