package cupelrelevance

import "strings"

// mentions scores an item by whether the question mentions one of its names,
// such as its speaker, file or symbol. The score of a name is the share of its
// words that occur in the question, compared without case and without stemming;
// for a path, the last part alone also counts if that is better. The score of an item is
// that of its best name, from 0 to 1.
//
// Names are the values of nameKeys. mentions are the words of the question.
type mentions map[string]bool

// mentionsOf returns the words of a question.
func mentionsOf(query string) mentions {
	m := make(mentions)
	newTokenizer(func(term []byte, _ bool) { m[string(term)] = true }).text(query)
	return m
}

// score scores each name of the list once, and then the items in linear time.
func (m mentions) score(l *list, scores []float64) {
	clear(scores)
	known := borrowFloats(len(l.names.texts))
	defer known.giveBack()
	reader := newNameReader(m)
	for i, name := range l.names.texts {
		known.of[i] = reader.name(name)
	}
	for _, is := range l.names.named {
		for at := l.words.at[is.item]; at > 0; at = l.words.next(at - 1) {
			scores[at-1] = max(scores[at-1], known.of[is.name])
		}
	}
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
		text = strings.Clone(text) // it may be a piece of a large text
		c.texts[text] = number
		c.names.texts = append(c.names.texts, text)
	}
	return number
}

// nameReader counts the words of names.
type nameReader struct {
	asked        mentions
	tokenizer    *tokenizer
	words, found int
}

func newNameReader(asked mentions) *nameReader {
	n := &nameReader{asked: asked}
	n.tokenizer = newTokenizer(n.add)
	return n
}

func (n *nameReader) add(term []byte, _ bool) {
	n.words++
	if n.asked[string(term)] {
		n.found++
	}
}

// name returns the share of a name's words that the question has.
func (n *nameReader) name(name string) float64 {
	best := n.share(name)
	if at := strings.LastIndexAny(name, `/\`); at >= 0 {
		best = max(best, n.share(name[at+1:]))
	}
	return best
}

func (n *nameReader) share(name string) float64 {
	n.words, n.found = 0, 0
	n.tokenizer.text(name)
	return float64(n.found) / float64(max(1, n.words))
}
