package eval

import (
	"regexp"
	"slices"
	"strings"
	"time"
)

// parseTime reads a time as people write it in English, with a full date and
// perhaps a clock time and an offset. A date without a clock time is its midnight,
// and a time without an offset is in UTC. ok is false for any text that says
// anything else, or that can be read in two ways.
func parseTime(text string) (t time.Time, ok bool) {
	if t, err := time.Parse(time.RFC3339Nano, text); err == nil {
		return t, true
	}
	text = numberEnd.ReplaceAllString(strings.ToUpper(text), "$1 $2")
	text = strings.Join(strings.Fields(noise.ReplaceAllString(text, " ")), " ")
	text = spellings.Replace(text)
	clock := clockTime.FindString(text)
	at := slices.IndexFunc(clockLayouts, func(layout string) bool {
		_, err := time.Parse(layout, clock)
		return err == nil
	})
	if at < 0 {
		return time.Time{}, false
	}
	date := strings.Join(strings.Fields(strings.Replace(text, clock, "", 1)), " ")
	for _, layout := range dateLayouts {
		read, err := time.Parse(layout+" "+clockLayouts[at], date+" "+clock)
		if err != nil {
			continue
		}
		if ok && !read.Equal(t) {
			return time.Time{}, false // 5/6/2023 is in May or in June
		}
		t, ok = read, true
	}
	return t, ok
}

var (
	// numberEnd is the ending of an ordinal number, or the T of 2023-05-08T13:56.
	numberEnd = regexp.MustCompile(`([0-9])(?:ST\b|ND\b|RD\b|TH\b|T)([0-9]?)`)
	// noise is text that adds nothing to a time with a date.
	noise = regexp.MustCompile(`[,;()\[\]]|\.(\s|$)|\b(AT|ON|OF|THE)\b|\b(MON|TUE|TUES|WED|WEDNES|THU|THURS|FRI|SAT|SATUR|SUN)(DAY)?\b`)
	// spellings are texts that package time does not read, with texts that it
	// reads.
	spellings = strings.NewReplacer(
		" A.M", "AM", " P.M", "PM", " AM", "AM", " PM", "PM",
		" +0000 UTC", "Z", " UTC", "Z", " GMT", "Z", "SEPT ", "SEP ",
	)
	clockTime = regexp.MustCompile(`[0-9]+(:[0-9:]+)?[AP]M|[0-9]+:[0-9:.]+( ?[-+][0-9:]+|Z)?`)
)

// The layouts of texts after spellings were replaced.
var (
	clockLayouts = []string{
		"", "3PM", "3:04PM", "3:04:05PM", "15:04", "15:04:05", "15:04Z07:00", "15:04:05Z07:00", "15:04Z0700", "15:04:05Z0700",
		"15:04 -07:00", "15:04:05 -07:00", "15:04 -0700", "15:04:05 -0700",
	}
	dateLayouts = []string{
		"2006-1-2", "2006/1/2", "2.1.2006", "2/1/2006", "1/2/2006",
		"2 Jan 2006", "2 January 2006", "Jan 2 2006", "January 2 2006", "2-Jan-2006", "2-January-2006",
	}
)
