package cupelrelevance

import "github.com/wollax/cupel-go/cupel"

// mention is how many words name what a question is about. A question with no more words is
// a search for what mentions them, and a text with fewer words of a question mentions what
// it is about, as a heading does.
const mention = 2

// withoutEchoes returns the items that say something that the question does not say, and
// their positions. The others only repeat its words: they answer nothing, and a few of them
// would fill the window. It returns nil if there are none.
func withoutEchoes(l *list, items []*cupel.ContextItem, subject, common []queryTerm) (others []*cupel.ContextItem, positions []int) {
	if len(subject) == 0 || len(subject)+len(common) <= mention {
		return nil, nil
	}
	known, repeated := borrowFloats(len(items)), borrowFloats(len(items))
	defer known.giveBack()
	defer repeated.giveBack()
	clear(known.of)
	clear(repeated.of)
	reader := newEchoReader(l.languages)
	count := func(terms []queryTerm, repeats float64) {
		l.words.each(terms, false, func(term queryTerm, items []uint32, frequency []float64) {
			for _, i := range items {
				known.of[i] += frequency[i]
				repeated.of[i] += repeats
			}
		})
		for _, term := range terms {
			reader.asked[term.id()] = true
		}
	}
	count(subject, 1)
	count(common, 0)
	least := float64(min(mention, len(subject)))
	found := false
	for i, item := range items {
		terms := float64(l.words.facts[l.words.numbers[i]].terms)
		// Up to half of the words of an echo are names. The text decides.
		if repeated.of[i] >= least && 2*known.of[i] >= terms && reader.isEcho(item) {
			repeated.of[i], found = -1, true
		}
	}
	if !found {
		return nil, nil
	}
	others = []*cupel.ContextItem{}
	for i, item := range items {
		if repeated.of[i] >= 0 {
			others, positions = append(others, item), append(positions, i)
		}
	}
	return others, positions
}

// echoReader finds items that have no words but those of a question.
type echoReader struct {
	tokenizer *tokenizer
	asked     map[string]bool // by id
	named     map[string]bool // by the names of the item
	naming    bool            // a name is read
	echo      bool            // no other word was read
}

func newEchoReader(languages languages) *echoReader {
	r := &echoReader{asked: make(map[string]bool), named: make(map[string]bool)}
	r.tokenizer = newQuestionReader(languages, func(term queryTerm) {
		id := term.id()
		if r.naming {
			r.named[id] = true
		}
		r.echo = r.echo && (r.asked[id] || r.named[id])
	})
	return r
}

// isEcho reports whether an item has no words but those of the question and of its names,
// such as that of the speaker.
func (r *echoReader) isEcho(item *cupel.ContextItem) bool {
	clear(r.named)
	r.naming, r.echo = true, true
	for _, key := range nameKeys {
		if name, ok := metadataText(item, key); ok {
			r.tokenizer.text(name)
		}
	}
	r.naming = false
	r.tokenizer.text(item.Content())
	for _, tag := range item.AllTags() {
		r.tokenizer.text(tag)
	}
	return r.echo
}
