package cupelrelevance

import "github.com/wollax/cupel-go/cupel"

// The settings of echoes.
const (
	echoScore  = 0.5  // of the best item that an echo has at least
	echoShare  = 0.85 // share of an echo's words that are in the question
	echoCovers = 0.75 // share of the question's words that an echo has
	echoWords  = 2    // words of a subject that is distinct from a mention of it
	echoTerms  = 1024 // words of a text that decide
)

// asked are the words of a question that has echoes.
type asked struct {
	subject   map[string]bool // by id
	common    map[string]bool
	least     float64 // of the words that an echo has
	languages languages
}

// echoesOf returns the items that merely repeat the question, or nil if there are
// none. They answer nothing, and a few of them would fill the window. own are
// scores of the subject, scaled: only the best items can be echoes.
func (r *Relevance) echoesOf(l *list, items []*cupel.ContextItem, own []float64, subject, common []queryTerm) map[uint32]bool {
	if len(subject) == 0 || l.languages.isStopWord(subject[0].text) {
		return nil // it has no subject
	}
	q := asked{idsOf(subject), idsOf(common), echoCovers * float64(len(subject)), l.languages}
	if len(subject) < echoWords { // the whole question instead of the subject
		q.subject, q.common = idsOf(append(common, subject...)), nil
		q.least = echoCovers * float64(len(q.subject))
		if len(q.subject) <= echoWords {
			return nil
		}
	}
	var echoes map[uint32]bool
	for i, score := range own {
		if score < echoScore || float64(l.words.facts[l.words.numbers[i]].terms) < q.least {
			continue
		}
		if q.isEcho(items[i]) {
			if echoes == nil {
				echoes = make(map[uint32]bool)
			}
			echoes[uint32(i)] = true
		}
	}
	return echoes
}

func idsOf(terms []queryTerm) map[string]bool {
	ids := make(map[string]bool, len(terms))
	for _, term := range terms {
		ids[term.id()] = true
	}
	return ids
}

// isEcho reports whether a text has most words of the question, and hardly any
// others except the names of the speaker.
func (q *asked) isEcho(item *cupel.ContextItem) bool {
	named := make(map[string]bool)
	for _, key := range nameKeys {
		if name, ok := metadataText(item, key); ok {
			newQuestionReader(q.languages, func(term queryTerm) { named[term.id()] = true }).text(name)
		}
	}
	words, known := 0, 0
	covered := make(map[string]bool)
	newQuestionReader(q.languages, func(term queryTerm) {
		id := term.id()
		switch {
		case words == echoTerms:
			return
		case q.subject[id]:
			covered[id] = true
			known++
		case q.common[id]:
			known++
		case named[id]:
			return
		}
		words++
	}).text(item.Content())
	return float64(known) >= echoShare*float64(words) && float64(len(covered)) >= q.least
}
