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
	words, found := 0.0, 0.0
	reader := newTokenizer(func(term []byte, _ bool) {
		words++
		if m[string(term)] {
			found++
		}
	})
	share := func(name string) float64 {
		words, found = 0, 0
		reader.text(name)
		return found / max(1, words)
	}
	known := borrowFloats(len(l.names.texts))
	defer known.giveBack()
	for i, name := range l.names.texts {
		last := name[strings.LastIndexAny(name, `/\`)+1:]
		known.of[i] = max(share(name), share(last))
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
