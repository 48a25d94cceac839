package cupelrelevance

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/wollax/cupel-go/cupel"
)

// span is a period that a question names, up to but not including its end. A
// zero time leaves a side open.
type span struct{ from, to time.Time }

const (
	// The closeness of an item to a span outside of it. People report events
	// afterwards, and sometimes plan them before.
	dateAfter  = 0.5
	dateBefore = 0.25

	day        = 24 * time.Hour
	week       = 7 * day
	monthNames = "janfebmaraprmayjunjulaugsepoctnovdec"
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

// datePhrase matches a date with the words before it. It knows English dates, and
// dates in numbers, year first. A space stands for what separates words. Compiling it
// takes 2 ms, which a program that asks no question does not pay.
var datePhrase = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(strings.NewReplacer(
		" ", `[^\pL\p{Nd}]+`,
		"DAY", `(?:3[01]|[12]\d|0?[1-9])`,
		"MONTH", `jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sep(?:t(?:ember)?)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?`,
		"YEAR", `(?:19|20|21)\d\d`,
		"COUNT", `[1-9]\d{0,2}|a|one|two|three|few|four|five|six|seven|eight|nine|ten`,
	).Replace(`(?i)\b(?:(?P<side>after|since|before|until|till|between|from|and|to) )?` +
		`(?:(?P<in>the|on|in|during|last|early|late|mid|of) )?(?:` +
		`(?P<iso>YEAR)(?:[-/](?P<isoMonth>1[0-2]|0?[1-9])(?:[-/](?P<isoDay>DAY))?)?` +
		`|(?:(?P<day>DAY)(?:st|nd|rd|th)?(?: of)? (?P<month>MONTH)|(?P<name>MONTH)(?: (?P<nameDay>DAY)(?:st|nd|rd|th)?\b)?)(?:(?: of| in)? (?P<year>YEAR))?` +
		`|(?P<near>today|yesterday)` +
		`|(?P<which>last|this) (?P<unit>week|month|year|(?:mon|tues|wednes|thurs|fri|satur|sun)day)` +
		`|(?P<count>COUNT) (?P<agoUnit>day|week|month|year)s? ago` +
		`)\b`))
})

// numberWords are the numbers that are read in words too.
var numberWords = map[string]int{"a": 1, "one": 1, "two": 2, "three": 3, "few": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10}

var isClosing = map[string]bool{"and": true, "to": true, "until": true, "till": true}

// maxSpans is how many dates of a question count.
const maxSpans = 8

// dates returns the periods that a question names, as seen at a time, and the
// question without the words that name them.
func dates(query string, now time.Time) (spans []span, rest string) {
	var kept strings.Builder
	at, end, opens := 0, -1, false // where kept and the last date end; whether it has "between" or "from"
	for _, places := range datePhrase().FindAllStringSubmatchIndex(query, -1) {
		if len(spans) == maxSpans {
			break
		}
		p := phrase{query, places, now}
		follows := end >= 0 && !strings.ContainsFunc(query[end:places[0]], isWord)
		s := p.date(follows)
		if s.to.IsZero() || !p.isWhole() {
			continue
		}
		side := p.text("side")
		if follows && opens && isClosing[side] && s.to.After(spans[len(spans)-1].from) {
			spans[len(spans)-1].to = s.to
		} else {
			spans = append(spans, s.seen(side))
		}
		end, opens = places[1], side == "between" || side == "from"
		// A year alone may be part of a subject: "the budget of 2023".
		if !p.isYear() {
			kept.WriteString(query[at:places[0]])
			at = end
		}
	}
	return spans, kept.String() + query[at:]
}

// seen returns the period that a word such as "since" makes of a date.
func (s span) seen(side string) span {
	switch side {
	case "after":
		return span{from: s.to}
	case "since":
		return span{from: s.from}
	case "before":
		return span{to: s.from}
	case "until", "till":
		return span{to: s.to}
	}
	return s
}

// phrase is a match of datePhrase().
type phrase struct {
	query  string
	places []int
	now    time.Time
}

// text returns a group in small letters, or "" if the phrase does not have it.
func (p phrase) text(group string) string {
	i := 2 * datePhrase().SubexpIndex(group)
	if p.places[i] < 0 {
		return ""
	}
	return strings.ToLower(p.query[p.places[i]:p.places[i+1]])
}

// number returns a group, or 0 if the phrase does not have it.
func (p phrase) number(group string) int {
	n, _ := strconv.Atoi(p.text(group))
	return n
}

// isWhole reports whether the phrase is no part of a word with letters outside of
// ASCII, such as "março", which \b does not know.
func (p phrase) isWhole() bool {
	before, _ := utf8.DecodeLastRuneInString(p.query[:p.places[0]])
	after, _ := utf8.DecodeRuneInString(p.query[p.places[1]:])
	return !isWord(before) && !isWord(after)
}

func isWord(r rune) bool      { return unicode.IsLetter(r) || unicode.IsDigit(r) }
func (p phrase) isYear() bool { return p.text("iso") != "" && p.text("isoMonth") == "" }

// date returns the day, month, year or week that the phrase names, or the zero span.
// follows says that another date comes just before.
func (p phrase) date(follows bool) span {
	switch month := cmp.Or(p.text("month"), p.text("name")); {
	case p.isYear():
		if p.isIntroduced(follows, "in during") {
			return p.stretch(p.number("iso"), 1, 1, 1, 0, 0)
		}
		return span{}
	case p.text("isoDay") != "":
		return p.dayOf(p.number("iso"), time.Month(p.number("isoMonth")), p.number("isoDay"))
	case p.text("iso") != "":
		return p.stretch(p.number("iso"), time.Month(p.number("isoMonth")), 1, 0, 1, 0)
	case month != "":
		m := time.Month(strings.Index(monthNames, month[:3])/3 + 1)
		y, d := p.number("year"), cmp.Or(p.number("day"), p.number("nameDay"))
		if y == 0 {
			// "may" and "march" are verbs too.
			if d == 0 && !p.isIntroduced(follows, "in during last early late mid of") {
				return span{}
			}
			y = p.now.Year()
			if m > p.now.Month() || m == p.now.Month() && d > p.now.Day() {
				y--
			}
		}
		return cmp.Or(p.dayOf(y, m, d), p.stretch(y, m, 1, 0, 1, 0))
	case p.text("agoUnit") != "":
		return p.ago(cmp.Or(p.number("count"), numberWords[p.text("count")]), p.text("agoUnit"))
	case p.text("near") == "today" || p.text("near") == "" && p.text("which") == "this":
		return p.ago(0, cmp.Or(p.text("unit"), "day"))
	}
	return p.ago(1, cmp.Or(p.text("unit"), "day"))
}

// isIntroduced reports whether a word of some comes before the date, or one that
// makes a period of it.
func (p phrase) isIntroduced(follows bool, some string) bool {
	if in := p.text("in"); in != "" {
		return slices.Contains(strings.Fields(some), in)
	}
	side := p.text("side")
	return side != "" && (follows || side != "and" && side != "to")
}

// ago returns the day, week, month or year so many of them before now, or the last
// day of a week so many days ago or more.
func (p phrase) ago(count int, unit string) span {
	y, m, d := p.now.Date()
	switch unit {
	case "day":
		return p.stretch(y, m, d-count, 0, 0, 1)
	case "week":
		return p.stretch(y, m, d-(int(p.now.Weekday())+6)%7-7*count, 0, 0, 7)
	case "month":
		return p.stretch(y, m-time.Month(count), 1, 0, 1, 0)
	case "year":
		return p.stretch(y-count, 1, 1, 1, 0, 0)
	}
	for !strings.EqualFold(unit, p.now.AddDate(0, 0, -count).Weekday().String()) {
		count++
	}
	return p.stretch(y, m, d-count, 0, 0, 1)
}

// dayOf returns a day, or the zero span for one that its month does not have.
func (p phrase) dayOf(y int, m time.Month, d int) span {
	if time.Date(y, m, d, 0, 0, 0, 0, time.UTC).Day() != d {
		return span{}
	}
	return p.stretch(y, m, d, 0, 0, 1)
}

// stretch returns a stretch of so many years, months and days from a date on.
func (p phrase) stretch(y int, m time.Month, d, years, months, days int) span {
	from := time.Date(y, m, d, 0, 0, 0, 0, p.now.Location())
	return span{from, from.AddDate(years, months, days)}
}
