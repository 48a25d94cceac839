package cupelrelevance

import (
	"context"
	"math"
	"time"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/strategy"
)

// Relevance is the preset: it scores items by their relevance to a question,
// with settings measured on long meetings, on many short chat sessions, and on
// source code.
//
// It combines the words of the passage around an item, the words of the item itself
// ([Lexical]), the best item of its group and the names that the question mentions.
// The weights depend on the list: how long items are, how many are in a group, and
// how many more words neighbors share than distant items do. In a meeting of
// hundreds of short turns a single turn says little and the passage decides; in
// chat sessions, in files and in documents the item itself, its group and names
// count as much; and if neighbors share no more, as in the results of a search,
// only the item counts. Stop words ([Language.IsStopWord]) count little: all
// together a tenth of the others, and only in the item itself. In a question made
// only of stop words they count like other words. A word also matches its beginning
// that the list uses as its abbreviation, such as "addr" for "address". Of equally relevant items the
// shorter scores higher, since more of them fit a budget.
//
// Dates in the question, such as "in May 2023", "since 8 May" and "last week",
// count as much as the passage if some of the items, but not all, have a
// timestamp of that time. The words of the date then do not count. See
// [WithNow].
//
// Scores are in [0,1], and 0 if nothing in an item matches, or if it has no words
// but those of the question and of its names. They are meant for slicers that take
// the highest scores first, such as slicer.ScoreGreedy. An item that occurs twice
// gets the higher of its scores. Relevance is safe for concurrent use. Create it
// with [New].
type Relevance struct {
	index    *Index
	lexical  *Lexical
	mentions mentions
	dated    string    // the question, if it names a date
	undated  string    // the question without its dates
	now      time.Time // zero: the newest item's
}

// The settings of the preset. docs/benchmarks.md has the preset's results, and
// the command that measures them.
const (
	presetK1     = 2.0
	presetPer    = 0.025 // least k1 for each word of the mean length: long items repeat the words of their subject
	presetStop   = 0.1   // of all stop words, in the item itself
	presetNames  = 0.2   // of names
	presetGroup  = 0.3   // of the group
	presetDate   = 1.0   // of the dates that the question names
	presetTokens = 10.0  // of the shortest items that length still distinguishes
)

// Option configures the preset.
type Option func(*relevanceDraft)

// relevanceDraft is a Relevance under construction. It is a separate type so
// that options cannot be applied to a finished one.
type relevanceDraft struct {
	now time.Time
}

// WithNow sets the time to which dates in a question, such as "yesterday", "last
// week", "three days ago" and "in May", refer. The default is the newest
// timestamp of the items. Its location sets the calendar. A date without a year
// is the latest one that is not after now, and weeks begin on Monday.
//
// Dates are days, months and years by their English names ("8 May 2023", "May 8th") and in numbers with the year first
// ("2023-05-08"), dates with "since", "until", "before", "after" or "between" before them, and dates relative to now.
// The question may be in any language. A day that its month does not have is not a date. The zero time restores the
// default.
func WithNow(now time.Time) Option {
	return func(d *relevanceDraft) { d.now = now }
}

// New returns the preset for a question. It returns a
// [cupel.InvalidConfigError] if index does not come from [NewIndex].
func New(index *Index, query string, opts ...Option) (*Relevance, error) {
	lexical, err := NewLexical(index, query)
	if err != nil {
		return nil, err
	}
	var draft relevanceDraft
	for _, opt := range opts {
		if opt != nil {
			opt(&draft)
		}
	}
	lexical.k1, lexical.perWord, lexical.abbreviated = presetK1, presetPer, true
	r := &Relevance{index: index, lexical: lexical, mentions: mentionsOf(query), now: draft.now}
	if spans, rest := dates(query, time.Unix(0, 0)); len(spans) > 0 {
		r.dated, r.undated = query, rest
	}
	return r, nil
}

// subjectOf returns the words of a question that are not stop words, and those that are.
func subjectOf(query string, languages languages) (subject, common []queryTerm) {
	for _, term := range queryTerms(query, languages) {
		if languages.isStopWord(term.text) {
			common = append(common, term)
		} else {
			subject = append(subject, term)
		}
	}
	return subject, common
}

// Facts returns the parts. It reports a scorer that was not created with [New]
// as invalid.
func (r *Relevance) Facts() strategy.Facts {
	if r == nil || r.index == nil {
		return strategy.Facts{Of: r, Invalid: notBuilt("Relevance", "New")}
	}
	return strategy.Facts{Of: r, Scorers: []strategy.Scorer{r.lexical}}
}

// Score scores all items. The first call for a list reads the whole text;
// later calls take time linear in the number of items for each word of the
// question. It fails if ctx is done or the scorer is invalid.
func (r *Relevance) Score(ctx context.Context, items []*cupel.ContextItem, scores []float64) error {
	if err := begin(ctx, r, items, scores); err != nil {
		return err
	}
	l, err := r.index.of(ctx, items)
	if err != nil {
		return err
	}
	subject, common := subjectOf(r.lexical.query, l.languages)
	others, positions := withoutEchoes(l, items, subject, common)
	if others == nil {
		return r.score(ctx, l, items, subject, common, scores)
	}
	if l, err = r.index.of(ctx, others); err != nil {
		return err
	}
	some := borrowFloats(len(others))
	defer some.giveBack()
	subject, common = subjectOf(r.lexical.query, l.languages)
	if err := r.score(ctx, l, others, subject, common, some.of); err != nil {
		return err
	}
	for k, i := range positions {
		scores[i] = some.of[k]
	}
	return nil
}

// score scores the items of a list by the words of the question.
func (r *Relevance) score(ctx context.Context, l *list, items []*cupel.ContextItem, subject, common []queryTerm, scores []float64) error {
	own, part := borrowFloats(len(items)), borrowFloats(len(items))
	defer own.giveBack()
	defer part.giveBack()
	if len(subject) == 0 {
		subject, common = common, nil
	}
	dated, near := 0.0, borrowFloats(len(items))
	defer near.giveBack()
	if r.isDated(items, near.of) {
		dated = presetDate
		subject, _ = subjectOf(r.undated, l.languages)
	}
	r.addSubject(l, subject, own.of, scores, part.of)
	r.lexical.score(l.words, common, part.of)
	scale(part.of)
	for i, score := range part.of {
		own.of[i] += float64(presetStop * score)
	}
	r.mentions.score(l, part.of)
	for g, manner := range l.order.manners {
		sequence, single := l.order.at(g), manner.own
		total := 1 + float64(single*(float64((1+presetStop)*(1+presetGroup))+presetNames)) + dated
		best := 0.0
		for _, i := range sequence {
			best = max(best, own.of[i])
		}
		for _, i := range sequence {
			score := scores[i] + float64(single*(own.of[i]+float64(presetGroup*best)+float64(presetNames*part.of[i])))
			if dated > 0 {
				score += float64(dated * near.of[i])
			}
			scores[i] = score / total
		}
	}
	for i, item := range items {
		scores[i] *= cheapness(item.Tokens())
	}
	l.words.settle(scores)
	return ctx.Err()
}

// addSubject sets the scores of the words that are not stop words, scaled: the
// scores of the item itself, and of the passage around it. before is scratch.
func (r *Relevance) addSubject(l *list, subject []queryTerm, own, passages, before []float64) {
	clear(own)
	clear(passages)
	r.lexical.eachTerm(l.words, subject, func(weight float64, items []uint32, values []float64) {
		for _, i := range items {
			own[i] += float64(weight * values[i])
		}
		addPassages(l.order, weight, values, before, passages)
	})
	scale(passages)
	scale(own)
}

// isDated sets how close the items are to the dates of the question, and reports
// whether the dates distinguish the items.
func (r *Relevance) isDated(all []*cupel.ContextItem, near []float64) bool {
	if r.dated == "" {
		return false
	}
	now := r.now
	if now.IsZero() {
		for _, item := range all {
			if t := timeOf(item); t.After(now) {
				now = t
			}
		}
	}
	spans, _ := dates(r.dated, now)
	return closeness(spans, all, near)
}

// cheapness, in (0,1], is the fourth root of an item's smallness: an item of
// sixteen times the size scores half as much. Square roots are exact on every
// processor; powers are not.
func cheapness(tokens int) float64 {
	return math.Sqrt(math.Sqrt(presetTokens / (presetTokens + float64(max(tokens, 0)))))
}

// scale divides scores, which are at least 0, by the highest.
func scale(scores []float64) {
	highest := 0.0
	for _, s := range scores {
		highest = max(highest, s)
	}
	if highest == 0 {
		return
	}
	for i := range scores {
		scores[i] /= highest
	}
}
