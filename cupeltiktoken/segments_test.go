package cupeltiktoken

import (
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"time"
	"unicode"
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
		{"a long word", word, 1, 1, "words are not cut"},
		{"a long word in prose", prose + word + " " + prose, 4, 7, "the word stays whole with what is before it"},
		{"letters and digits", strings.Repeat("ab1", segmentSize), 2, 3, "a letter and a number part"},
		{"no UTF-8", strings.Repeat("\x80", 2*longestWord), 1, 1, "there is no place to cut"},
	} {
		segments, joined, n := segments{text: tt.text}, strings.Builder{}, 0
		for s := segments.next(); s != ""; s = segments.next() {
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
		{" !?ab.", 5, "not in punctuation, which may go with the next word"},
		{"don't.", 5, "not in a contraction"},
		{"e\u0301 x.", 5, "a mark is a letter in o200k_base and punctuation in cl100k_base, so after neither"},
		{"a1b2", 1, "between a letter and a number"},
		{"12b2", 2, "between a number and a letter"},
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

// whole counts as the tokenizer does without cutting.
func whole(t testing.TB, c *Counter, text string) int {
	t.Helper()
	n, err := c.count(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func repeatRandom(alphabet string, n int) string {
	r, letters := rand.New(rand.NewPCG(3, 4)), []rune(alphabet)
	var b strings.Builder
	for b.Len() < n {
		b.WriteRune(letters[r.IntN(len(letters))])
	}
	return b.String()
}

// TestLongWordIsExact compares words that are counted window by window with
// what the tokenizer counts as a whole.
func TestLongWordIsExact(t *testing.T) {
	const n = 90 << 10
	prose := strings.Repeat("So don't\n \n panic!! ", 40)
	for _, tt := range []struct{ name, text string }{
		{"random letters", randomWord(n)},
		{"one letter", strings.Repeat("a", n)},
		{"one letter and a half token", prose + strings.Repeat("a", n+3)},
		{"two letters", strings.Repeat("ab", n/2)},
		{"a word again and again", "x" + strings.Repeat("strawberry", n/10)},
		{"capitals, then small letters", strings.ToUpper(randomWord(n)) + "zebra'll go"},
		{"small letters, then capitals", prose + "'s" + randomWord(n) + "ZEBRA's"},
		{"caseless", "abc" + repeatRandom("\u6f22\u5b57\u4e00\u4e8c\u7d4c\u9f98\U00020000", n) + "Ab c"},
		{"caseless, then a capital", "abc" + repeatRandom("\u6f22\u5b57\u4e00\u4e8c\u7d4c", n) + "\u5b57Ab" + randomWord(n)},
		{"marks", repeatRandom("\u0915\u093f\u0924\u093e\u092c", n)},
		{"Cyrillic", repeatRandom("\u0430\u0431\u0432\u0433\u0434\u0438\u043e", n)},
		{"punctuation", "a." + repeatRandom("!?-=/*'\"#", n) + "\n \n'' b"},
		{"dashes", " " + strings.Repeat("-", n) + "\n\n"},
		{"emoji", repeatRandom("\U0001f600\U0001f4a9\u2764", n)},
		{"invalid before", "\xff\xe3\x80" + randomWord(n) + "\x80"},
		{"DEL in it", randomWord(n) + "\x7f" + randomWord(n)},
		{"digits", repeatRandom("0123456789", n) + randomWord(n)},
		{"mixed case", repeatRandom("abcABC", n)},
		{"blank lines", "a" + strings.Repeat("\n \t", n/3) + "b"},
	} {
		for name, load := range counters {
			if testing.Short() && (name == EncodingCl100kBase || name == EncodingR50kBase) {
				continue // they cut words as p50k_base does
			}
			c, err := load()
			if err != nil {
				t.Fatal(err)
			}
			got, err := c.CountTokens(tt.text)
			if want := whole(t, c, tt.text); err != nil || got != want {
				t.Errorf("%s, %s: %d tokens, %v, want %d", tt.name, name, got, err, want)
			}
		}
	}
}

// FuzzMerge compares merging with the tokenizer, in one window and in many.
func FuzzMerge(f *testing.F) {
	for _, seed := range []string{"a", "antidisestablishmentarianism", "aaaaaaaaaaaa", "\u6f22\u5b57", "abcabcabcabd"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		text = strings.Map(func(r rune) rune {
			if unicode.Is(unicode.Ll, r) {
				return r
			}
			return 'a' + (r&0x7fff)%26
		}, text)
		if text == "" || len(text) > 300 {
			return
		}
		long := strings.Repeat(text, 1+5*window/len(text))
		for name, load := range counters {
			c, err := load()
			if err != nil {
				t.Fatal(err)
			}
			for _, text := range []string{text, long} {
				if got, want := c.all().count(text), whole(t, c, text); got != want && c.all().ranks[text] == 0 {
					t.Fatalf("%s: %q has %d tokens, merged %d", name, text, want, got)
				}
			}
		}
	})
}

// TestLongWordTakesLinearWork counts merges: each byte is merged once at most,
// and again where windows overlap.
func TestLongWordTakesLinearWork(t *testing.T) {
	c, err := ForEncoding(EncodingO200kBase)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{1 << 15, 1 << 18, 1 << 20} {
		m := new(merger)
		at, _ := m.advance(c.all(), randomWord(n))
		if left := n - at; left > 2*window || m.merges > n*(window+overlap)/window {
			t.Errorf("%d bytes: %d merges, and %d bytes left", n, m.merges, left)
		}
		if c := cap(m.parts) + cap(m.queue) + cap(m.ends) + cap(m.next); c > 8*window {
			t.Errorf("%d bytes: memory for %d parts", n, c)
		}
	}
}

// TestLongWordTakesTheTimeOfProse leaves room for a busy machine; the benchmark
// of the same name has the figures.
func TestLongWordTakesTheTimeOfProse(t *testing.T) {
	if testing.Short() {
		t.Skip("it measures time and memory")
	}
	c, err := ForEncoding(EncodingO200kBase)
	if err != nil {
		t.Fatal(err)
	}
	const size = 8 << 20
	word, prose := randomWord(size), strings.Repeat("The quick brown fox jumps over it. ", size/35)
	var before, after runtime.MemStats
	var best [2]time.Duration
	for round := 0; round < 3 || round < 10 && best[0] > 4*best[1]; round++ { // a machine may be busy for a second
		for i, text := range []string{word, prose} {
			if i == 0 {
				runtime.ReadMemStats(&before)
			}
			start := time.Now()
			if _, err := c.CountTokens(text); err != nil {
				t.Fatal(err)
			}
			if took := time.Since(start); best[i] == 0 || took < best[i] {
				best[i] = took
			}
			if i == 0 {
				runtime.ReadMemStats(&after)
			}
		}
	}
	if best[0] > 4*best[1] {
		t.Errorf("a word takes %s, %.1f times the %s of prose", best[0], float64(best[0])/float64(best[1]), best[1])
	}
	if allocated := after.TotalAlloc - before.TotalAlloc; allocated > size {
		t.Errorf("a word of %d bytes allocates %d", size, allocated)
	}
}

// TestEstimate holds that parts of what has no place to cut differ from the
// whole by a few tokens each.
func TestEstimate(t *testing.T) {
	if testing.Short() {
		t.Skip("it counts megabytes")
	}
	c, err := ForEncoding(EncodingO200kBase)
	if err != nil {
		t.Fatal(err)
	}
	text := repeatRandom("0123456789", 2*longestWord)
	got, err := c.CountTokens(text)
	if want, parts := whole(t, c, text), len(text)/segmentSize+1; err != nil || got < want || got > want+2*parts {
		t.Errorf("%d tokens, %v, and %d as a whole in %d parts", got, err, want, parts)
	}
}
