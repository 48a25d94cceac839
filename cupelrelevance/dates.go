package cupelrelevance

import (
	"strconv"
	"strings"
	"time"
	"unicode"

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

// newest returns the latest timestamp of a list, or false if there is none.
func newest(all []*cupel.ContextItem) (latest time.Time, ok bool) {
	for _, item := range all {
		if t, timed := item.Timestamp(); timed && (!ok || t.After(latest)) {
			latest, ok = t, true
		}
	}
	return latest, ok
}

// dateWord is a word or a number of a question.
type dateWord struct {
	text     string // in small letters
	from, to int    // in the question
	number   int    // in digits, or -1
	count    int    // the same, or in words
	joined   bool   // by "-" or "/" with the one before it
}

// dateWords cuts a question into words and numbers. A number loses the ending of
// "8th".
func dateWords(query string) []dateWord {
	var words []dateWord
	from := -1
	end := func(to int) {
		if from < 0 {
			return
		}
		w := dateWord{text: strings.ToLower(query[from:to]), from: from, to: to, number: -1, count: -1}
		digits := strings.TrimRight(w.text, "stndrh")
		if n, err := strconv.Atoi(digits); err == nil && len(digits) <= 4 && len(w.text)-len(digits) <= 2 {
			w.number, w.count = n, n
		} else if n, ok := numberWords[w.text]; ok {
			w.count = n
		}
		w.joined = len(words) > 0 && words[len(words)-1].to == from-1 && (query[from-1] == '-' || query[from-1] == '/')
		words = append(words, w)
		from = -1
	}
	for i, r := range query {
		switch {
		case unicode.IsLetter(r) || unicode.IsDigit(r):
			if from < 0 {
				from = i
			}
		default:
			end(i)
		}
	}
	end(len(query))
	return words
}

var (
	numberWords  = map[string]int{"a": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10, "few": 3}
	monthNumbers = withSept(numbered("january february march april may june july august september october november december"))
	dayNumbers   = numbered("sunday monday tuesday wednesday thursday friday saturday")
)

// numbered numbers names from 1, and their first three letters too.
func numbered(names string) map[string]int {
	numbers := make(map[string]int)
	for i, name := range strings.Fields(names) {
		numbers[name], numbers[name[:3]] = i+1, i+1
	}
	return numbers
}

func withSept(months map[string]int) map[string]int {
	months["sept"] = months["september"]
	return months
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

// at returns the text of a word, and "" outside.
func (r *dateReader) at(i int) string {
	if i < 0 || i >= len(r.words) {
		return ""
	}
	return r.words[i].text
}

// number returns a number in digits if it is one from low to high.
func (r *dateReader) number(i, low, high int) (int, bool) {
	if i < 0 || i >= len(r.words) || r.words[i].number < low || r.words[i].number > high {
		return 0, false
	}
	return r.words[i].number, true
}

// count returns a number, perhaps in words.
func (r *dateReader) count(i int) (int, bool) {
	if i < 0 || i >= len(r.words) || r.words[i].count < 1 || r.words[i].count > 999 {
		return 0, false
	}
	return r.words[i].count, true
}

func (r *dateReader) year(i int) (int, bool) { return r.number(i, 1900, 2199) }

// phrase reads a period with the words before it, such as "since", and returns
// how many words it took.
func (r *dateReader) phrase(i int) (span, int) {
	if count, ok := r.count(i); ok && r.at(i+2) == "ago" {
		if s := r.ago(count, strings.TrimSuffix(r.at(i+1), "s")); !s.to.IsZero() {
			return s, 3
		}
	}
	switch first := r.at(i); first {
	case "before", "until", "till", "after", "since":
		s, n := r.date(i + 1)
		if n == 0 {
			return span{}, 0
		}
		switch first {
		case "after":
			return span{from: s.to}, n + 1
		case "since":
			return span{from: s.from}, n + 1
		case "before":
			return span{to: s.from}, n + 1
		}
		return span{to: s.to}, n + 1
	case "between", "from":
		s, n := r.date(i + 1)
		if n == 0 {
			return span{}, 0
		}
		switch r.at(i + 1 + n) {
		case "and", "to", "until", "till":
			if end, m := r.date(i + 2 + n); m > 0 && end.to.After(s.from) {
				return span{s.from, end.to}, 2 + n + m
			}
		}
		return s, n + 1
	}
	return r.date(i)
}

// date reads a day, a month, a year, or a period relative to now, and returns
// how many words it took.
func (r *dateReader) date(i int) (span, int) {
	r.yearOnly = false
	start := i
	if r.at(i) == "the" || r.at(i) == "on" || r.at(i) == "in" || r.at(i) == "during" {
		i++
	}
	s, n := r.absolute(i)
	if n == 0 {
		s, n = r.relative(i)
	}
	if n == 0 {
		return span{}, 0
	}
	return s, i + n - start
}

// absolute reads dates that name a day, a month or a year.
func (r *dateReader) absolute(i int) (span, int) {
	if y, ok := r.year(i); ok {
		if m, ok := r.number(i+1, 1, 12); ok && r.words[i+1].joined {
			if d, ok := r.number(i+2, 1, 31); ok && r.words[i+2].joined {
				if !exists(y, m, d) {
					return span{}, 0
				}
				return r.dayOf(y, time.Month(m), d), 3
			}
			return r.monthOf(y, m), 2
		}
		switch r.at(i - 1) {
		case "in", "during", "since", "until", "till", "before", "after", "between", "and", "to":
			r.yearOnly = true
			return r.yearOf(y), 1
		}
		return span{}, 0
	}
	n := 0
	d, hasDay := r.number(i, 1, 31)
	if hasDay {
		n++
		if r.at(i+n) == "of" {
			n++
		}
	}
	m, ok := monthNumbers[r.at(i+n)]
	if !ok {
		return span{}, 0
	}
	n++
	if !hasDay {
		if d, hasDay = r.number(i+n, 1, 31); hasDay {
			n++
		}
	}
	y, hasYear := r.year(i + n)
	if r.at(i+n) == "of" || r.at(i+n) == "in" {
		if y, hasYear = r.year(i + n + 1); hasYear {
			n++
		}
	}
	switch {
	case hasYear:
		n++
	case !hasDay && !introducesMonth[r.at(i-1)]:
		return span{}, 0 // "may" and "march" are verbs too
	default:
		y = r.now.Year()
		if time.Month(m) > r.now.Month() || hasDay && time.Month(m) == r.now.Month() && d > r.now.Day() {
			y--
		}
	}
	if hasDay && !exists(y, m, d) {
		return span{}, 0 // 30 February
	}
	if hasDay {
		return r.dayOf(y, time.Month(m), d), n
	}
	return r.monthOf(y, m), n
}

var introducesMonth = map[string]bool{"in": true, "during": true, "since": true, "until": true, "till": true, "last": true, "early": true, "late": true, "mid": true, "between": true, "of": true}

// relative reads dates such as "yesterday" and "last week".
func (r *dateReader) relative(i int) (span, int) {
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
	if d, ok := dayNumbers[unit]; ok && len(unit) > 3 {
		days := (int(r.now.Weekday()) - (d - 1) + 7) % 7
		if days == 0 {
			days = 7 * back
		}
		return r.ago(days, "day"), 2
	}
	if s := r.ago(back, unit); unit != "day" && !s.to.IsZero() {
		return s, 2
	}
	return span{}, 0
}

// ago returns the day, week, month or year so many of them before now, or the
// zero span for another unit.
func (r *dateReader) ago(count int, unit string) span {
	y, m, d := r.now.Date()
	switch unit {
	case "day":
		return r.dayOf(y, m, d-count)
	case "week":
		monday := d - (int(r.now.Weekday())+6)%7 - 7*count
		return span{r.dayOf(y, m, monday).from, r.dayOf(y, m, monday+7).from}
	case "month":
		return r.monthOf(y, int(m)-count)
	case "year":
		return r.yearOf(y - count)
	}
	return span{}
}

// exists reports whether a month of a year has a day, from 1 on.
func exists(y, m, d int) bool { return time.Date(y, time.Month(m), d, 0, 0, 0, 0, time.UTC).Day() == d }

func (r *dateReader) dayOf(y int, m time.Month, d int) span {
	from := time.Date(y, m, d, 0, 0, 0, 0, r.now.Location())
	return span{from, from.AddDate(0, 0, 1)}
}

func (r *dateReader) monthOf(y, m int) span {
	from := time.Date(y, time.Month(m), 1, 0, 0, 0, 0, r.now.Location())
	return span{from, from.AddDate(0, 1, 0)}
}

func (r *dateReader) yearOf(y int) span {
	from := time.Date(y, 1, 1, 0, 0, 0, 0, r.now.Location())
	return span{from, from.AddDate(1, 0, 0)}
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
