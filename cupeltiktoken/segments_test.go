package cupeltiktoken

import (
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"time"
)

func randomWord(n int) string {
	r := rand.New(rand.NewPCG(1, 2))
	word := make([]byte, n)
	for i := range word {
		word[i] = 'a' + byte(r.IntN(26))
	}
	return string(word)
}

func TestSegments(t *testing.T) {
	word := randomWord(longestWord)
	prose := strings.Repeat("They don't count 1,234 words. ", 3*segmentSize/30)
	for _, tt := range []struct {
		name, text string
		least, in  int
		why        string
	}{
		{"empty", "", 0, 0, "nothing is counted"},
		{"short", "a b", 1, 1, "a short text is one segment"},
		{"prose", prose, 3, 3, "a segment ends at the end of a word"},
		{"a long word", word, 1, 1, "words of 1 MiB are not cut"},
		{"a long word in prose", prose + word + " " + prose, 4, 7, "the word stays whole with what is before it"},
		{"a longer word", word + word, 16, 33, "a longer one is cut"},
		{"wide characters", strings.Repeat("\u6f22", longestWord), 32, 49, "between two characters"},
		{"no UTF-8", strings.Repeat("\x80", 2*longestWord), 16, 33, "anywhere, and it comes to an end"},
	} {
		segments, joined, n := segments{text: tt.text}, strings.Builder{}, 0
		for s := segments.next(); s != ""; s = segments.next() {
			if tt.name == "wide characters" && len(s)%3 != 0 {
				t.Errorf("%s: cut within a character", tt.name)
			}
			joined.WriteString(s)
			n++
		}
		if joined.String() != tt.text || n < tt.least || n > tt.in {
			t.Errorf("%s: %d segments, want %d to %d: %s", tt.name, n, tt.least, tt.in, tt.why)
		}
	}
}

func TestCutAfter(t *testing.T) {
	for _, tt := range []struct {
		text string
		want int
		why  string
	}{
		{"ab cd", 2, "before the space after a word"},
		{"12 cd", 2, "before the space after a number"},
		{" !?ab.", 5, "not in punctuation, of which one may go with the next word"},
		{"don't.", 5, "not in a contraction"},
		{"e\u0301 x.", 5, "a mark is a letter in o200k_base and punctuation in cl100k_base, so after neither"},
		{"a1b2", 4, "not within letters and digits"},
		{"\u6f22\u5b57\u3002", 6, "after any letter"},
		{"a\xff", 1, "invalid bytes are no letters"},
		{"", 0, "an empty text ends at once"},
	} {
		if got := cutAfter(tt.text, 0); got != tt.want {
			t.Errorf("%q: cut at %d, want %d: %s", tt.text, got, tt.want, tt.why)
		}
	}
}

// FuzzCutAfter holds that both parts of a text have as many tokens as the whole,
// in every encoding.
func FuzzCutAfter(f *testing.F) {
	for _, seed := range []string{
		"They don't count 1,234 words.", "a\n \n b", "x\u0301\n\n", "A's 'S\n !/\r\n \n", "1\n \n2", "\u6f22\u5b57\u3002\n\n", "a\x80b \xe3\x80",
		"HTTPServer'll /\n/ x", "9\u3000\n\u3000\n9", "a...\n \n", "z \u0301\n \n",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for name, load := range counters {
			c, err := load()
			if err != nil {
				t.Fatal(err)
			}
			whole, err := c.count(text)
			if err != nil {
				t.Fatal(err)
			}
			for at := cutAfter(text, 0); at < len(text); at = cutAfter(text, at) {
				head, err1 := c.count(text[:at])
				tail, err2 := c.count(text[at:])
				if err1 != nil || err2 != nil || head+tail != whole {
					t.Fatalf("%s: %q has %d tokens, %d and %d when cut at %d (%v, %v)", name, text, whole, head, tail, at, err1, err2)
				}
			}
		}
	})
}

// TestLongWordIsEstimated compares the sum of parts with the tokens of a word
// that is just too long.
func TestLongWordIsEstimated(t *testing.T) {
	if testing.Short() {
		t.Skip("it counts megabytes")
	}
	c, err := ForEncoding(EncodingCl100kBase)
	if err != nil {
		t.Fatal(err)
	}
	word := randomWord(longestWord + 2*segmentSize)
	exact, err := c.count(word)
	if err != nil {
		t.Fatal(err)
	}
	got, err := c.CountTokens(word)
	if parts := len(word)/segmentSize + 1; err != nil || got == 0 || got < exact-2*parts || got > exact+2*parts {
		t.Errorf("%d tokens, %v, and %d as a whole: a cut changes it by two at most here", got, err, exact)
	}
}

// TestLongWordTakesLinearTime compares words of two sizes, both beyond what is
// counted exactly.
func TestLongWordTakesLinearTime(t *testing.T) {
	if testing.Short() {
		t.Skip("it measures time and memory")
	}
	c, err := ForEncoding(EncodingO200kBase)
	if err != nil {
		t.Fatal(err)
	}
	measure := func(n int) (best time.Duration) {
		text := randomWord(n)
		for range 3 {
			start := time.Now()
			if _, err := c.CountTokens(text); err != nil {
				t.Fatal(err)
			}
			if took := time.Since(start); best == 0 || took < best {
				best = took
			}
		}
		return best
	}
	const size, times = 2 << 20, 4
	short := measure(size)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	long := measure(times * size)
	runtime.ReadMemStats(&after)
	if long > 3*times*short {
		t.Errorf("%d times the text takes %s, %.1f times the %s of the shorter one", times, long, float64(long)/float64(short), short)
	}
	if grown := int(after.HeapSys) - int(before.HeapSys); grown > 16*times*size {
		t.Errorf("the heap has grown by %d bytes for a text of %d", grown, times*size)
	}
}
