package cupelrelevance

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/wollax/cupel-go/cupel"
)

// span is a period that a question names, up to but not including its end. A
// zero time leaves a side open.
type span struct{ from, to time.Time }

// The closeness of an item to a span outside of it. People report events
// afterwards, and sometimes plan them before.
const (
	dateAfter  = 0.5
	dateBefore = 0.25
)

const (
	day  = 24 * time.Hour
	week = 7 * day
)

// closeness returns 1 inside a span. After it, it falls from 0.5 to 0 within
// the length of the span, but at least a week and at most 31 days; before it,
// from 0.25 to 0 within half of that.
func (s span) closeness(t time.Time) float64 {
	late, early := !s.to.IsZero() && !t.Before(s.to), t.Before(s.from)
	if !late && !early {
		return 1
	}
	if s.from.IsZero() || s.to.IsZero() {
		return 0
	}
	edge := float64(min(max(s.to.Sub(s.from), week), 31*day))
	if late {
		return dateAfter * max(0, 1-float64(t.Sub(s.to))/edge)
	}
	return dateBefore * max(0, 1-2*float64(s.from.Sub(t))/edge)
}

// closeness sets how close the items are to the nearest of spans, and reports
// whether this distinguishes them: some are inside a span, and some are not.
func closeness(spans []span, all []*cupel.ContextItem, to []float64) bool {
	inside, outside := false, false
	for i, item := range all {
		to[i] = 0
		if t, ok := item.Timestamp(); ok {
			for _, s := range spans {
				to[i] = max(to[i], s.closeness(t))
			}
		}
		inside, outside = inside || to[i] == 1, outside || to[i] < 1
	}
	return inside && outside
}

// newest returns the latest timestamp of a list, or the zero time if there is none.
func newest(all []*cupel.ContextItem) (latest time.Time) {
	for _, item := range all {
		if t := timeOf(item); t.After(latest) {
			latest = t
		}
	}
	return latest
}

// dateWord is a word or a number of a question.
type dateWord struct {
	text     string // in small letters
	from, to int    // in the question
	number   int    // in digits, or -1
	joined   bool   // by "-" or "/" with what is before it
}

var wordOrNumber = regexp.MustCompile(`[\pL\p{Nd}]+`)

// dateWords cuts a question into words and numbers. A number loses the ending of
// "8th".
func dateWords(query string) []dateWord {
	var words []dateWord
	before := 0 // where the last word ends
	for _, at := range wordOrNumber.FindAllStringIndex(query, -1) {
		w := dateWord{text: strings.ToLower(query[at[0]:at[1]]), from: at[0], to: at[1], number: -1}
		digits := strings.TrimRight(w.text, "stndrh")
		if n, err := strconv.Atoi(digits); err == nil && len(digits) <= 4 && len(w.text)-len(digits) <= 2 {
			w.number = n
		}
		between := query[before:w.from]
		w.joined = between == "-" || between == "/"
		words, before = append(words, w), w.to
	}
	return words
}

// numberWords are the numbers that are read in words too.
var numberWords = map[string]int{"a": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10, "few": 3}

// monthOf returns the month with a name or its first letters, or 0.
func monthOf(name string) time.Month {
	if name == "sept" {
		return time.September
	}
	for month := time.January; month <= time.December; month++ {
		if full := strings.ToLower(month.String()); name == full || name == full[:3] {
			return month
		}
	}
	return 0
}

// maxSpans is how many dates of a question count.
const maxSpans = 8

// dates returns the periods that a question names, as seen at a time, and marks
// the words that name them. It knows English dates, and dates in numbers, year
// first.
func dates(words []dateWord, now time.Time) (spans []span, used []bool) {
	r := dateReader{words: words, now: now}
	used = make([]bool, len(words))
	for i := 0; i < len(words) && len(spans) < maxSpans; {
		s, n := r.phrase(i)
		if n == 0 {
			i++
			continue
		}
		spans = append(spans, s)
		// A year alone may be part of a subject: "the budget of 2023".
		for k := i; k < i+n; k++ {
			used[k] = !r.yearOnly
		}
		i += n
	}
	return spans, used
}

type dateReader struct {
	words    []dateWord
	now      time.Time
	yearOnly bool // the last phrase named only a year
}

// word returns a word, and one without a text outside.
func (r *dateReader) word(i int) dateWord {
	if i < 0 || i >= len(r.words) {
		return dateWord{number: -1}
	}
	return r.words[i]
}

func (r *dateReader) at(i int) string { return r.word(i).text }

// number returns a number in digits if it is one from low to high.
func (r *dateReader) number(i, low, high int) (int, bool) {
	n := r.word(i).number
	return n, n >= low && n <= high
}

func (r *dateReader) year(i int) (int, bool) { return r.number(i, 1900, 2199) }

// phrase reads a period with the words before it, such as "since", and returns
// how many words it took.
func (r *dateReader) phrase(i int) (span, int) {
	s, n := r.date(i + 1)
	switch r.at(i) {
	case "after":
		s = span{from: s.to}
	case "since":
		s = span{from: s.from}
	case "before":
		s = span{to: s.from}
	case "until", "till":
		s = span{to: s.to}
	case "between", "from":
		switch r.at(i + 1 + n) {
		case "and", "to", "until", "till":
			if end, m := r.date(i + 2 + n); n > 0 && m > 0 && end.to.After(s.from) {
				return span{s.from, end.to}, 2 + n + m
			}
		}
	default:
		return r.date(i)
	}
	if n == 0 {
		return span{}, 0
	}
	return s, n + 1
}

// date reads a day, a month, a year, or a period relative to now, and returns
// how many words it took.
func (r *dateReader) date(i int) (span, int) {
	r.yearOnly = false
	start := r.after(i, "the", "on", "in", "during")
	s, n := r.absolute(start)
	if n == 0 {
		s, n = r.relative(start)
	}
	if s.to.IsZero() {
		return span{}, 0
	}
	return s, start + n - i
}

// after returns the place after a word if it is one of some, or else its own.
func (r *dateReader) after(i int, some ...string) int {
	if slices.Contains(some, r.at(i)) {
		return i + 1
	}
	return i
}

// absolute reads dates that name a day, a month or a year.
func (r *dateReader) absolute(i int) (span, int) {
	if y, ok := r.year(i); ok {
		return r.yearFirst(i, y)
	}
	at := i
	d, hasDay := r.number(i, 1, 31)
	if hasDay {
		at = r.after(i+1, "of")
	}
	m := monthOf(r.at(at))
	if m == 0 {
		return span{}, 0
	}
	at++
	if !hasDay {
		if d, hasDay = r.number(at, 1, 31); hasDay {
			at++
		}
	}
	y, hasYear := r.year(r.after(at, "of", "in"))
	switch {
	case hasYear:
		at = r.after(at, "of", "in") + 1
	case !hasDay && !introducesMonth[r.at(i-1)]:
		return span{}, 0 // "may" and "march" are verbs too
	default:
		y = r.now.Year()
		if m > r.now.Month() || hasDay && m == r.now.Month() && d > r.now.Day() {
			y--
		}
	}
	if hasDay {
		return r.dayOf(y, m, d), at - i
	}
	return r.stretch(y, m, 1, 0, 1, 0), at - i
}

var introducesMonth = map[string]bool{"in": true, "during": true, "since": true, "until": true, "till": true, "last": true, "early": true, "late": true, "mid": true, "between": true, "of": true}

// yearFirst reads dates in numbers, and years alone.
func (r *dateReader) yearFirst(i, y int) (span, int) {
	m, ok := r.number(i+1, 1, 12)
	if ok && r.word(i+1).joined {
		if d, ok := r.number(i+2, 1, 31); ok && r.word(i+2).joined {
			return r.dayOf(y, time.Month(m), d), 3
		}
		return r.stretch(y, time.Month(m), 1, 0, 1, 0), 2
	}
	switch r.at(i - 1) {
	case "in", "during", "since", "until", "till", "before", "after", "between", "and", "to":
		r.yearOnly = true
		return r.stretch(y, 1, 1, 1, 0, 0), 1
	}
	return span{}, 0
}

// relative reads dates such as "yesterday", "last week" and "two days ago".
func (r *dateReader) relative(i int) (span, int) {
	if r.at(i+2) == "ago" {
		count, ok := r.number(i, 1, 999)
		if !ok {
			count = numberWords[r.at(i)]
		}
		if count > 0 {
			return r.ago(count, strings.TrimSuffix(r.at(i+1), "s")), 3
		}
	}
	back := 1
	switch r.at(i) {
	case "today":
		return r.ago(0, "day"), 1
	case "yesterday":
		return r.ago(1, "day"), 1
	case "last":
	case "this":
		back = 0
	default:
		return span{}, 0
	}
	unit := r.at(i + 1)
	for days := back; days < back+7; days++ {
		if unit == strings.ToLower(r.now.AddDate(0, 0, -days).Weekday().String()) {
			return r.ago(days, "day"), 2
		}
	}
	if unit == "day" {
		return span{}, 0
	}
	return r.ago(back, unit), 2
}

// ago returns the day, week, month or year so many of them before now, or the
// zero span for another unit.
func (r *dateReader) ago(count int, unit string) span {
	y, m, d := r.now.Date()
	switch unit {
	case "day":
		return r.stretch(y, m, d-count, 0, 0, 1)
	case "week":
		return r.stretch(y, m, d-(int(r.now.Weekday())+6)%7-7*count, 0, 0, 7)
	case "month":
		return r.stretch(y, m-time.Month(count), 1, 0, 1, 0)
	case "year":
		return r.stretch(y-count, 1, 1, 1, 0, 0)
	}
	return span{}
}

// dayOf returns a day, or the zero span for one that its month does not have.
func (r *dateReader) dayOf(y int, m time.Month, d int) span {
	if time.Date(y, m, d, 0, 0, 0, 0, time.UTC).Day() != d {
		return span{}
	}
	return r.stretch(y, m, d, 0, 0, 1)
}

// stretch returns a stretch of so many years, months and days from a date on.
func (r *dateReader) stretch(y int, m time.Month, d, years, months, days int) span {
	from := time.Date(y, m, d, 0, 0, 0, 0, r.now.Location())
	return span{from, from.AddDate(years, months, days)}
}

// without returns a question without the words that are used.
func without(query string, words []dateWord, used []bool) string {
	var rest strings.Builder
	at := 0
	for i, w := range words {
		if used[i] {
			rest.WriteString(query[at:w.from])
			at = w.to
		}
	}
	rest.WriteString(query[at:])
	return rest.String()
}
