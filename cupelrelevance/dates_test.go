package cupelrelevance

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/wollax/cupel-go/cupel"
)

// TestDates reads questions as on Wednesday, 12 June 2024.
func TestDates(t *testing.T) {
	now := time.Date(2024, 6, 12, 10, 0, 0, 0, time.FixedZone("", 2*60*60))
	for _, c := range []struct {
		query string
		want  string // spans, with "-" between the first and the last day; "" for open sides
		rest  string // the question without them; "=": the same
	}{
		{"What did Ada do in May 2023?", "2023-05-01 - 2023-05-31", "What did Ada do ?"},
		{"in May of 2023", "2023-05-01 - 2023-05-31", "  "},
		{"What did she do in May?", "2024-05-01 - 2024-05-31", "What did she do ?"},
		{"in August", "2023-08-01 - 2023-08-31", " "},
		{"Where did they march to, and may I come?", "", "="},
		{"on 8 May, 2023", "2023-05-08 - 2023-05-08", ""},
		{"at 1:56 pm on 8 May, 2023", "2023-05-08 - 2023-05-08", "at 1:56 pm "},
		{"the 8th of May", "2024-05-08 - 2024-05-08", ""},
		{"on December 24th", "2023-12-24 - 2023-12-24", " "},
		{"May 8, 2023", "2023-05-08 - 2023-05-08", ""},
		{"Sept 3", "2023-09-03 - 2023-09-03", " "},
		{"Sep 3", "2023-09-03 - 2023-09-03", " "},
		{"on 2023-05-08", "2023-05-08 - 2023-05-08", " "},
		{"2023/5/8", "2023-05-08 - 2023-05-08", ""},
		{"in 2023-05", "2023-05-01 - 2023-05-31", " "},
		{"error 2023 5 8", "", "="},
		{"What was planned in 2023?", "2023-01-01 - 2023-12-31", "="},
		{"the 2023 budget", "", "="},
		{"before May 2023", " - 2023-04-30", " "},
		{"until May 2023", " - 2023-05-31", " "},
		{"since 8 May", "2024-05-08 - ", " "},
		{"after May 2023", "2023-06-01 - ", " "},
		{"between May 2023 and 3 July 2023", "2023-05-01 - 2023-07-03", "    "},
		{"from 3 May to 5 May", "2024-05-03 - 2024-05-05", "     "},
		{"yesterday or today", "2024-06-11 - 2024-06-11, 2024-06-12 - 2024-06-12", " or "},
		{"last week", "2024-06-03 - 2024-06-09", ""},
		{"this week", "2024-06-10 - 2024-06-16", ""},
		{"last month", "2024-05-01 - 2024-05-31", ""},
		{"last year", "2023-01-01 - 2023-12-31", ""},
		{"last Friday", "2024-06-07 - 2024-06-07", ""},
		{"last Wednesday", "2024-06-05 - 2024-06-05", ""},
		{"the last ten boats", "", "="},
		{"three days ago", "2024-06-09 - 2024-06-09", "  "},
		{"a few weeks ago", "2024-05-20 - 2024-05-26", "a   "},
		{"2 months ago", "2024-04-01 - 2024-04-30", "  "},
		{"a year ago", "2023-01-01 - 2023-12-31", "  "},
		{"one may ask", "", "="},
		{"How many weeks ago did we start?", "", "="},
		{"", "", "="},
		{"99999999999999999999 May", "", "="},
		{"31 February 2023", "2023-02-01 - 2023-02-28", ""}, // there is no such day
		{"2023-02-31", "", "="},
		{"on 29 February", "2024-02-29 - 2024-02-29", ""},
		{"on 29 February 2023", "2023-02-01 - 2023-02-28", ""},
	} {
		spans, rest := dates(c.query, now)
		assert.Equal(t, c.want, days(spans), c.query)
		if c.rest == "=" && rest != c.query || c.rest != "=" && strings.Join(strings.Fields(rest), " ") != strings.Join(strings.Fields(c.rest), " ") {
			t.Errorf("%q leaves %q, want %q", c.query, rest, c.rest)
		}
	}
	// Of these the spans alone.
	for _, c := range []struct{ query, want string }{
		{"last Sunday", "2024-06-09 - 2024-06-09"},
		{"last Fri", ""},
		{"this Wednesday", "2024-06-12 - 2024-06-12"},
		{"this month", "2024-06-01 - 2024-06-30"},
		{"this year", "2024-01-01 - 2024-12-31"},
		{"this two weeks", ""},
		{"last three nights", ""},
		{"since yesterday", "2024-06-11 - "},
		{"until today", " - 2024-06-12"},
		{"before yesterday", " - 2024-06-10"},
		{"between yesterday and today", "2024-06-11 - 2024-06-12"},
		{"from yesterday till 3 May", "2024-06-11 - 2024-06-11,  - 2024-05-03"},
		{"from 3 May, 5 May", "2024-05-03 - 2024-05-03, 2024-05-05 - 2024-05-05"},
		{"from 31 May to 31 May", "2024-05-31 - 2024-05-31"},
		{"between 2020 and 2022", "2020-01-01 - 2022-12-31"},
		{"in March and May", "2024-03-01 - 2024-03-31, 2024-05-01 - 2024-05-31"},
		{"in março, from maio to julio, in ámay 2023", ""},
		{"in 1900", "1900-01-01 - 1900-12-31"},
		{"in 1899", ""},
		{"in 2199", "2199-01-01 - 2199-12-31"},
		{"in 2200", ""},
		{"0 days ago", ""},
		{"1 day ago", "2024-06-11 - 2024-06-11"},
		{"since 3 days ago", "2024-06-09 - "},
		{"999 days ago", "2021-09-17 - 2021-09-17"},
		{"1000 days ago", ""},
		{"on 2023-13-01", ""},
		{"2023-12-31", "2023-12-31 - 2023-12-31"},
		{"2023-05 08", "2023-05-01 - 2023-05-31"},
		{"on 12345-05-08", ""},
		{"32 May", ""},
		{"12 June", "2024-06-12 - 2024-06-12"},
		{"13 June", "2023-06-13 - 2023-06-13"},
		{"8 of May in 2023", "2023-05-08 - 2023-05-08"},
		{"on 8 May of boats", "2024-05-08 - 2024-05-08"},
	} {
		spans, _ := dates(c.query, now)
		assert.Equal(t, c.want, days(spans), c.query)
		for _, s := range spans {
			for _, at := range []time.Time{s.from, s.to} {
				assert.True(t, at.IsZero() || at.Equal(time.Date(at.Year(), at.Month(), at.Day(), 0, 0, 0, 0, now.Location())), "%q: days begin at midnight, not at %v", c.query, at)
			}
		}
	}
	many, _ := dates(strings.Repeat("in May 2023, ", 100), now)
	if len(many) != maxSpans {
		t.Errorf("%d dates count, want %d", len(many), maxSpans)
	}
}

// days writes spans with "-" between the first and the last day, and "" for open sides.
func days(spans []span) string {
	var texts []string
	for _, s := range spans {
		first, last := "", ""
		if !s.from.IsZero() {
			first = s.from.Format(time.DateOnly)
		}
		if !s.to.IsZero() {
			last = s.to.AddDate(0, 0, -1).Format(time.DateOnly)
		}
		texts = append(texts, first+" - "+last)
	}
	return strings.Join(texts, ", ")
}

func TestCloseness(t *testing.T) {
	at := func(d int) time.Time { return time.Date(2024, 5, d, 0, 0, 0, 0, time.UTC) }
	today := span{at(10), at(11)}
	for _, c := range []struct {
		span span
		at   time.Time
		want float64
		why  string
	}{
		{today, at(10), 1, "its beginning is inside"},
		{today, at(11), 0.5, "its end is not"},
		{today, at(11).Add(84 * time.Hour), 0.25, "half of that half a week later"},
		{today, at(18), 0, "a week later nothing is left"},
		{today, at(1), 0, "nor half a week before"},
		{today, at(10).Add(-42 * time.Hour), 0.125, "half of that"},
		{span{at(1), at(1).AddDate(1, 0, 0)}, at(1).AddDate(1, 0, 31), 0, "at most 31 days"},
		{span{from: at(10)}, at(9), 0, "since then means not before"},
		{span{from: at(10)}, at(30), 1, "and ever after"},
		{span{to: at(10)}, at(10), 0, "before then means not after"},
	} {
		if got := c.span.closeness(c.at); !near(got, c.want) {
			t.Errorf("%v: got %v, want %v: %s", c.at, got, c.want, c.why)
		}
	}
	for _, day := range []int{10, 12} {
		assert.False(t, closeness([]span{today}, []*cupel.ContextItem{item(t, "a", "at", at(day))}, make([]float64, 1)), "all are of the day, or none is")
	}
}

// TestDatedQuestions looks at what the preset makes of dates.
func TestDatedQuestions(t *testing.T) {
	on := func(month time.Month, d int) time.Time { return time.Date(2024, month, d, 9, 0, 0, 0, time.UTC) }
	turns := []any{on(4, 2), on(5, 8), on(6, 1), on(6, 11)}
	for _, c := range []struct {
		query string
		times []any
		opts  []Option
		best  string // positions of the items with the highest score
		why   string
	}{
		{"What about the roof in May 2024?", turns, nil, "1", "the roof is everywhere, the date is not"},
		{"What happened in May?", turns, nil, "1", "the date alone is enough"},
		{"roof yesterday", []any{on(4, 2), on(5, 8), on(6, 10), on(6, 11)}, nil, "2", "as seen from the newest item"},
		{"roof last month", turns, []Option{WithNow(on(5, 3))}, "0", "as seen in May"},
		{"roof in 2024", turns, nil, "0123", "the year tells nothing apart"},
		{"roof in May 2024", []any{nil, nil, nil, nil}, nil, "0123", "items without times have no date"},
		{"roof in May 2024", []any{on(4, 2), nil, nil, on(5, 8)}, nil, "3", "some have a time"},
		{"roof before May 2024", []any{nil, on(4, 2), on(5, 8)}, nil, "1", "an item without a time is not before it"},
		{"roof in May 1999", turns, nil, "0123", "no item is from then"},
	} {
		items := make([]*cupel.ContextItem, len(c.times))
		for i, at := range c.times {
			pairs := []any{"session", fmt.Sprint(i)}
			if at != nil {
				pairs = append(pairs, "at", at)
			}
			items[i] = item(t, "the roof", pairs...)
		}
		scores, best, got := scoresOf(t, Must(New(Must(NewIndex()), c.query, c.opts...)), items), 0.0, ""
		for i, s := range scores {
			if s > best {
				best, got = s, ""
			}
			if s == best {
				got += fmt.Sprint(i)
			}
		}
		if got != c.best {
			t.Errorf("%q: %s score best of %v, want %s: %s", c.query, got, scores, c.best, c.why)
		}
	}
}

func FuzzDates(f *testing.F) {
	f.Add("the 2 weeks before last May 31st 2023-02-30", int64(1718180000))
	f.Add("between 0 and 2199/12/31", int64(-1<<60))
	f.Fuzz(func(t *testing.T, query string, seconds int64) {
		spans, rest := dates(query, time.Unix(seconds, 0).UTC())
		if len(rest) > len(query) || len(spans) == 0 && rest != query {
			t.Errorf("%q leaves %q", query, rest)
		}
		for _, s := range spans {
			for _, at := range []time.Time{{}, time.Unix(seconds, 0), s.from, s.to} {
				if c := s.closeness(at); !(c >= 0 && c <= 1) {
					t.Errorf("%v is %v close to %v", at, c, s)
				}
			}
		}
	})
}
