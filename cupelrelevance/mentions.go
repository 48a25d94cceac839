package cupelrelevance

import (
	"context"
	"strings"
	"unicode/utf8"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/strategy"
)

// Mentions scores an item by whether the question mentions one of its names,
// such as its speaker, file or symbol. The score of a name is the share of its
// words that occur in the question, compared without case and without stemming;
// for a path, the last part alone also counts if that is better. Words of one
// character count only in names without longer words. The score of an item is
// that of its best name, from 0 to 1.
//
// Names are the values of the index's metadata keys ([WithNames]). Mentions is
// safe for concurrent use. Create it with [NewMentions].
type Mentions struct {
	index *Index
	words map[string]bool
}

// NewMentions returns a scorer that looks for names in query. It returns a
// [cupel.InvalidConfigError] if index does not come from [NewIndex].
func NewMentions(index *Index, query string) (*Mentions, error) {
	if err := index.validate("Mentions"); err != nil {
		return nil, err
	}
	m := &Mentions{index: index, words: make(map[string]bool)}
	newTokenizer(func(term []byte, _ bool) { m.words[string(term)] = true }).text(query)
	return m, nil
}

// Facts says that a scorer that was not created with [NewMentions] is invalid.
func (m *Mentions) Facts() strategy.Facts {
	return built(m, m != nil && m.index != nil, "Mentions")
}

// Score scores each name of the list once, and then the items in linear
// time. It fails if ctx is done or the scorer is invalid.
func (m *Mentions) Score(ctx context.Context, items []*cupel.ContextItem, scores []float64) error {
	if err := begin(ctx, m, items, scores); err != nil {
		return err
	}
	l, err := m.index.of(ctx, items)
	if err != nil {
		return err
	}
	known := borrowFloats(len(l.names.texts))
	defer known.giveBack()
	reader := newNameReader(m.words)
	for i, name := range l.names.texts {
		known.of[i] = reader.name(name)
	}
	for _, is := range l.names.named {
		for i := range l.words.positions(is.item) {
			scores[i] = max(scores[i], known.of[is.name])
		}
	}
	return ctx.Err()
}

// names holds the names of the items of a corpus.
type names struct {
	texts []string // each once
	named []naming
}

type naming struct{ item, name uint32 }

// name returns the number of a name.
func (c *corpus) name(text string) uint32 {
	number, known := c.texts[text]
	if !known {
		number = uint32(len(c.names.texts))
		text = strings.Clone(text) // it may be a piece of something large
		c.texts[text] = number
		c.names.texts = append(c.names.texts, text)
	}
	return number
}

// nameReader counts the words of names.
type nameReader struct {
	asked                    map[string]bool
	tokenizer                *tokenizer
	words, found             int
	characters, foundOfThose int // words of one character
}

func newNameReader(asked map[string]bool) *nameReader {
	n := &nameReader{asked: asked}
	n.tokenizer = newTokenizer(n.add)
	return n
}

func (n *nameReader) add(term []byte, _ bool) {
	found := 0
	if n.asked[string(term)] {
		found = 1
	}
	if utf8.RuneCount(term) == 1 {
		n.characters++
		n.foundOfThose += found
		return
	}
	n.words++
	n.found += found
}

// name returns how much of a name was asked for.
func (n *nameReader) name(name string) float64 {
	best := n.share(name)
	if at := strings.LastIndexAny(name, `/\`); at >= 0 {
		best = max(best, n.share(name[at+1:]))
	}
	return best
}

func (n *nameReader) share(name string) float64 {
	n.words, n.found, n.characters, n.foundOfThose = 0, 0, 0, 0
	n.tokenizer.text(name)
	switch {
	case n.words > 0:
		return float64(n.found) / float64(n.words)
	case n.characters > 0:
		return float64(n.foundOfThose) / float64(n.characters)
	}
	return 0
}
