package eval_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/wollax/cupel-go/cupelrelevance/eval"
)

func TestTimes(t *testing.T) {
	const day, minute = "2023-05-08T00:00:00Z", "2023-05-08T13:56:00Z"
	for _, row := range []struct {
		text, want string // want is empty for text that is no time
		why        string
	}{
		{"2023-05-08T13:56:00Z", minute, "RFC 3339"},
		{"2023-05-08T13:56:00.25+02:00", "2023-05-08T13:56:00.25+02:00", "RFC 3339 with an offset"},
		{"1:56 pm on 8 May, 2023", minute, "as chat exports have it"},
		{"1:56 p.m. on the 8th of May 2023", minute, "in full words"},
		{"2023/05/08 (Mon) 13:56", minute, "a weekday in between"},
		{"2023-05-08 13:56", minute, "a space for the T"},
		{"2023-05-08T13:56", minute, "no seconds and no offset"},
		{"2023-05-08 13:56:07.5", "2023-05-08T13:56:07.5Z", "fractions of a second"},
		{"2023-05-08 13:56:00 +0000 UTC", minute, "as Go prints a time"},
		{"2023-05-08 15:56:00+0200", "2023-05-08T15:56:00+02:00", "an offset without a colon"},
		{"2023-05-08 13:56Z", minute, "Z behind the minutes"},
		{"Mon, 08 May 2023 13:56:00 GMT", minute, "mail and HTTP"},
		{"Mon, 8 May 2023 06:56:00 -0700", "2023-05-08T06:56:00-07:00", "mail with an offset"},
		{"Mon May  8 13:56:00 2023", minute, "ctime"},
		{"May 8, 2023 at 1:56 PM", minute, "American, with the clock last"},
		{"Monday, May 8th, 2023", day, "a date alone is its midnight"},
		{"8. Sept. 2023", "2023-09-08T00:00:00Z", "dots behind a number and an abbreviation"},
		{"August 20 2023", "2023-08-20T00:00:00Z", "a month that ends in t"},
		{"8-May-2023", day, "a month between dashes"},
		{"08.05.2023", day, "dots mean the day first"},
		{"20/5/2023", "2023-05-20T00:00:00Z", "there is no month 20"},
		{"5/20/2023", "2023-05-20T00:00:00Z", "there is no month 20"},
		{"5/5/2023", "2023-05-05T00:00:00Z", "the same either way"},
		{"1 pm on 8 May 2023", "2023-05-08T13:00:00Z", "an hour without minutes"},
		{"May 8, 2023 at 1 PM", "2023-05-08T13:00:00Z", "such an hour last"},
		{"1:56:07 pm on 8 May 2023", "2023-05-08T13:56:07Z", "an hour of 12 with seconds"},
		{"8 May 2023, 1pm", "2023-05-08T13:00:00Z", "without a space"},
		{"12:05 am, 8 May 2023", "2023-05-08T00:05:00Z", "midnight"},
		{"12:05 pm, 8 May 2023", "2023-05-08T12:05:00Z", "noon"},
		{"29 February 2024", "2024-02-29T00:00:00Z", "a leap day"},

		{"", "", "no text"},
		{"soon", "", "no time"},
		{"1:56 pm on 8 May", "", "no year"},
		{"May 2023", "", "no day"},
		{"1:56 pm", "", "no date"},
		{"3 days after 8 May 2023", "", "it says more than a time"},
		{"8 May 2023 or 9 May 2023", "", "two times"},
		{"5/6/2023", "", "May or June"},
		{"8 May 23", "", "a year of two digits, or two days"},
		{"29 February 2023", "", "there is no such day"},
		{"2023-13-08", "", "there is no such month"},
		{"13:56 pm on 8 May 2023", "", "an hour of 12 is needed"},
		{"25:00 8 May 2023", "", "there is no such hour"},
		{"25 pm on 8 May 2023", "", "nor that of the next day"},
		{"1:56 pm am on 8 May 2023", "", "both halves of the day"},
		{"8 May 2023 UTC", "", "an offset without a clock time"},
		{"8 May 2023 :", "", "a stray character"},
		{"8 May 2023 5:", "", "half a clock time"},
		{"８ May 2023", "", "digits of another script"},
		{"99999999999999999999 May 2023", "", "no overflow"},
	} {
		data, err := json.Marshal(row.text)
		require.NoError(t, err)
		var got eval.Time
		require.NoError(t, json.Unmarshal(data, &got))
		if row.want == "" {
			if !got.IsZero() || got.Unread != row.text {
				t.Errorf("%q is read as %v, %q left: %s", row.text, got.Time, got.Unread, row.why)
			}
			continue
		}
		want, err := time.Parse(time.RFC3339Nano, row.want)
		require.NoError(t, err)
		if !got.Equal(want) || got.Unread != "" {
			t.Errorf("%q is read as %v, %q left, want %v: %s", row.text, got.Time, got.Unread, want, row.why)
		}
	}
}

// FuzzTime: no text makes it panic, and what is read is a real instant.
func FuzzTime(f *testing.F) {
	for _, seed := range []string{"1:56 pm on 8 May, 2023", "2023-05-08T13:56:00Z", "8-May-2023 +", "1pm", ":", "T:", "-", "5/6/2023", "--2023"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		data, err := json.Marshal(text)
		require.NoError(t, err)
		var got eval.Time
		require.NoError(t, json.Unmarshal(data, &got))
		if got.Unread != "" && !got.IsZero() {
			t.Errorf("%q is both a time and none: %v", text, got)
		}
	})
}
