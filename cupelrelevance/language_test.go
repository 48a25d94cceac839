package cupelrelevance

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wollax/cupel-go/cupel"
)

// TestStems finds a word by another form of it, in each language.
func TestStems(t *testing.T) {
	assert.Len(t, Languages(), 18)
	for language, c := range map[Language][2]string{
		"arabic": {"الكتاب", "كتاب"}, "danish": {"husene", "huset"}, "dutch": {"boeken", "boek"},
		"english": {"repairing", "repairs"}, "finnish": {"talossa", "talon"}, "french": {"applications", "application"},
		"german": {"Häuser", "Haus"}, "hungarian": {"házakban", "házak"}, "irish": {"bhuachaill", "buachaill"},
		"italian": {"libri", "libro"}, "norwegian": {"båtene", "båten"}, "portuguese": {"livros", "livro"},
		"romanian": {"lucrurile", "lucruri"}, "russian": {"важнейшими", "важнейший"}, "spanish": {"árboles", "arbol"},
		"swedish": {"möjligheter", "mojlighet"}, "tamil": {"புத்தகங்கள்", "புத்தகம்"}, "turkish": {"kitaplar", "kitap"},
	} {
		scores := scoresOf(t, Must(NewLexical(Must(NewIndex(WithLanguage(language))), c[1])), contents(t, c[0], "0"))
		assert.Positive(t, scores[0], "%s: %s is not found by %s", language, c[0], c[1])
		assert.Zero(t, scores[1])
	}
	for word, want := range map[string]string{
		"café": "cafe", "cafe\u0301": "cafe", "straße": "strasse", "łódź": "lodz", "ёлка": "елка", "नमस्ते": "नमस्ते", "v2": "v2",
	} {
		assert.Equal(t, want, newStemmer().stem(LanguageNone, word))
	}
}

// TestStemsOfAnything stems what is no word of the language.
func TestStemsOfAnything(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 6))
	letters := []rune("aeioubcdfghlmnstyzéäöüßığşйаеинтсюьبةالوحيتகஙதபமிுை்")
	stemmer := newStemmer()
	for range 800 {
		word := make([]rune, 1+r.IntN(20))
		for i := range word {
			word[i] = letters[r.IntN(len(letters))]
		}
		for language, stem := range stemmers {
			stemmer.env.SetCurrent(string(word))
			stem(stemmer.env)
			require.NotEmpty(t, stemmer.stem(language, string(word)))
		}
	}
}

// TestDetected looks at which languages a list is in.
func TestDetected(t *testing.T) {
	const (
		english = "Where did they put the keys of the boat that was in the harbour?"
		german  = "Wo haben sie die Schlüssel des Bootes hingelegt, das nicht mehr im Hafen war?"
		spanish = "Dónde pusieron las llaves del barco que estaba en el puerto y que no era de ellos?"
		norsk   = "Hvor la de nøklene til båten som lå i havnen, og hvorfor er den ikke der nå?"
	)
	for _, c := range []struct {
		texts []string
		want  languages
		why   string
	}{
		{nil, languages{"english"}, "there is nothing"},
		{[]string{"la casa"}, languages{"english"}, "one word says nothing"},
		{[]string{"func (s *Server) Close() error {", "return s.listener.Close()"}, languages{"english"}, "code"},
		{[]string{english, english}, languages{"english"}, "English"},
		{[]string{"was in is", "was in is"}, languages{"english"}, "as many words are Dutch"},
		{[]string{german, german}, languages{"german"}, "German"},
		{[]string{spanish}, languages{"spanish"}, "Spanish"},
		{[]string{norsk, norsk}, languages{"norwegian"}, "not Danish"},
		{[]string{spanish, english, german}, languages{"spanish", "german", "english"}, "three at once"},
	} {
		l, err := Must(NewIndex()).of(t.Context(), contents(t, c.texts...))
		require.NoError(t, err)
		assert.ElementsMatch(t, c.want, l.languages, c.why)
	}
	assert.Equal(t, languages{"german", "english"}, detected(map[string]int{"nicht": 15, "the": 3}), "a fifth is enough")
	scores := scoresOf(t, Must(New(Must(NewIndex()), "puertos Häfen", nil)), contents(t, spanish, english, german))
	assert.Positive(t, min(scores[0], scores[2]), "each language has its stems: %v", scores)
}

// TestLongQuestion asks about many words with a question of as many, in languages
// whose stems lose accents.
func TestLongQuestion(t *testing.T) {
	var items []*cupel.ContextItem
	var question strings.Builder
	for i := range 2000 {
		items = append(items, item(t, fmt.Sprintf("%cá%xes %cá%xos", 'b'+i%20, i, 'c'+i%20, i)))
		fmt.Fprintf(&question, "%cá%xes ", 'b'+i%20, i)
	}
	scores := scoresOf(t, Must(NewLexical(Must(NewIndex(WithLanguage("spanish"))), question.String())), items)
	assert.Positive(t, scores[0])
	assert.Zero(t, scores[1999], "only so many words of a question count")
}

// TestAbbreviations looks at which beginnings of a word stand for it.
func TestAbbreviations(t *testing.T) {
	items := contents(t, "the address in addr", "addr", "a carpet", "car", "doc", "424", "ow", "internat", "structure")
	for query, c := range map[string]struct {
		at   int
		want bool
		why  string
	}{
		"address":         {1, true, "both are in one item"},
		"carpet":          {3, false, "no item has both"},
		"document":        {4, true, "no item has the word itself"},
		"4242":            {5, false, "numbers have no abbreviation"},
		"owl":             {6, false, "two letters are too few"},
		"internationally": {7, true, "eight letters are not too many"},
		"structurewise":   {8, false, "nine letters are"},
	} {
		lexical := Must(New(Must(NewIndex()), query)).lexical
		assert.Equal(t, c.want, scoresOf(t, lexical, items)[c.at] > 0, "%s: %s", query, c.why)
	}
}
