package eval

import (
	"strconv"
	"strings"
	"time"
	"unicode"
)

// parseTime reads a time as people write it in English, with a full date and
// perhaps a clock time and an offset. ok is false for any text that says
// anything else, or that can be read in two ways.
func parseTime(text string) (t time.Time, ok bool) {
	if t, err := time.Parse(time.RFC3339Nano, text); err == nil {
		return t, true
	}
	var p timeParts
	for _, field := range strings.FieldsFunc(text, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune(",;()[]", r) }) {
		// 2023-05-08T13:56 is two fields, and August none of that form.
		if day, clock, joined := strings.Cut(field, "T"); joined && strings.Contains(clock, ":") {
			if !p.read(day) {
				return time.Time{}, false
			}
			field = clock
		}
		if !p.read(field) {
			return time.Time{}, false
		}
	}
	return p.time()
}

// timeParts are the parts of a time that have been read; 0 and nil where there
// is none yet.
type timeParts struct {
	year, day int
	month     time.Month
	clock     *time.Time // on another date
	half      string     // am or pm
	zone      *time.Location
}

// read reads one field. It returns false if the field is no part of a time, or
// one that is there already.
func (p *timeParts) read(field string) bool {
	word := strings.ToLower(strings.TrimRight(field, "."))
	switch word {
	case "", "-", "at", "on", "of", "the":
		return true
	case "am", "a.m", "pm", "p.m":
		return p.setHalf(word[:1] + "m")
	case "utc", "gmt", "z":
		if p.zone == nil { // it may repeat an offset: +0000 UTC
			p.zone = time.UTC
		}
		return true
	}
	if _, isWeekday := nameOf(word, weekdays); isWeekday {
		return true
	}
	if month, isMonth := nameOf(word, months); isMonth {
		return p.setMonth(time.Month(month + 1))
	}
	switch {
	case strings.Contains(word, ":") && word[0] >= '0' && word[0] <= '9':
		return p.readClock(word)
	case word[0] == '+' || word[0] == '-':
		return p.readZone(word)
	case strings.HasSuffix(word, "am"), strings.HasSuffix(word, "pm"):
		return p.readClock(word)
	}
	for _, separator := range []string{"-", "/", "."} {
		if parts := strings.Split(word, separator); len(parts) == 3 {
			return p.readDate(parts, separator == ".")
		}
	}
	digits := word
	for _, ordinal := range []string{"st", "nd", "rd", "th"} {
		digits = strings.TrimSuffix(digits, ordinal)
	}
	n, err := strconv.ParseUint(digits, 10, 16)
	switch {
	case err != nil:
		return false
	case len(word) == 4 && digits == word:
		return p.setYear(int(n))
	case len(digits) > 2:
		return false
	}
	return p.setDay(int(n))
}

var (
	weekdays = []string{"monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"}
	months   = []string{"january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november", "december"}
)

// nameOf returns the position of the name that word is, or abbreviates to at
// least three letters.
func nameOf(word string, names []string) (at int, ok bool) {
	for i, name := range names {
		if len(word) >= 3 && strings.HasPrefix(name, word) {
			return i, true
		}
	}
	return 0, false
}

// readClock reads 13:56, 13:56:07.5, 1:56pm or 1pm, perhaps with an offset.
func (p *timeParts) readClock(word string) bool {
	if at := strings.IndexAny(word, "z+-"); at > 0 {
		if zone := word[at:]; zone != "z" && !p.readZone(zone) {
			return false
		} else if zone == "z" {
			p.zone = time.UTC
		}
		word = word[:at]
	}
	if half := word[max(0, len(word)-2):]; half == "am" || half == "pm" {
		if !p.setHalf(half) {
			return false
		}
		word = word[:len(word)-2]
	}
	if p.clock != nil {
		return false
	}
	for _, layout := range []string{"15:04", "15:04:05", "15"} {
		if clock, err := time.Parse(layout, word); err == nil {
			p.clock = &clock
			return true
		}
	}
	return false
}

// readZone reads +02:00 or +0200.
func (p *timeParts) readZone(word string) bool {
	for _, layout := range []string{"-07:00", "-0700"} {
		if t, err := time.Parse(layout, word); err == nil && p.zone == nil {
			p.zone = t.Location()
			return true
		}
	}
	return false
}

// readDate reads 2023-05-08, 8-may-2023, 20/5/2023 and 5/20/2023. Dots mean that
// the day comes first; with other separators one of the two must be above 12.
func (p *timeParts) readDate(parts []string, dots bool) bool {
	if month, isMonth := nameOf(parts[1], months); isMonth {
		return p.setMonth(time.Month(month+1)) && p.read(parts[0]) && p.read(parts[2])
	}
	var n [3]int
	for i, part := range parts {
		number, err := strconv.ParseUint(part, 10, 16)
		if err != nil || len(part) > 4 {
			return false
		}
		n[i] = int(number)
	}
	switch {
	case len(parts[0]) == 4:
		return p.setYear(n[0]) && p.setMonth(time.Month(n[1])) && p.setDay(n[2])
	case len(parts[2]) != 4 || !dots && n[0] <= 12 && n[1] <= 12 && n[0] != n[1]:
		return false
	case !dots && n[0] <= 12:
		n[0], n[1] = n[1], n[0]
	}
	return p.setYear(n[2]) && p.setMonth(time.Month(n[1])) && p.setDay(n[0])
}

func (p *timeParts) setYear(n int) bool {
	fresh := p.year == 0
	p.year = n
	return fresh
}

func (p *timeParts) setMonth(n time.Month) bool {
	fresh := p.month == 0
	p.month = n
	return fresh
}

func (p *timeParts) setDay(n int) bool {
	fresh := p.day == 0
	p.day = n
	return fresh
}

func (p *timeParts) setHalf(half string) bool {
	if p.half != "" {
		return false
	}
	if p.clock == nil && p.day > 0 && p.month == 0 { // 1 pm: the number is an hour
		if p.day > 12 {
			return false
		}
		clock := time.Date(0, 1, 1, p.day, 0, 0, 0, time.UTC)
		p.clock, p.day = &clock, 0
	}
	p.half = half
	return true
}

// time puts the parts together. A date without a clock time is its midnight, and
// a time without an offset is in UTC.
func (p *timeParts) time() (time.Time, bool) {
	if p.year == 0 || p.month == 0 || p.day == 0 || p.clock == nil && (p.half != "" || p.zone != nil) {
		return time.Time{}, false
	}
	var clock time.Time
	hour := 0
	if p.clock != nil {
		clock = *p.clock
		hour = clock.Hour()
	}
	if p.half != "" {
		if hour < 1 || hour > 12 {
			return time.Time{}, false
		}
		hour %= 12
		if p.half == "pm" {
			hour += 12
		}
	}
	zone := p.zone
	if zone == nil {
		zone = time.UTC
	}
	t := time.Date(p.year, p.month, p.day, hour, clock.Minute(), clock.Second(), clock.Nanosecond(), zone)
	if t.Month() != p.month || t.Day() != p.day {
		return time.Time{}, false // there is no such day
	}
	return t, true
}
