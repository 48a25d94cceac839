package cupeltiktoken

import (
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
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
		assert.Equal(t, tt.text, joined.String(), tt.name)
		assert.GreaterOrEqual(t, n, tt.least, tt.why)
		assert.LessOrEqual(t, n, tt.in, tt.why)
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
		assert.Equal(t, tt.want, cutAfter(tt.text, 0), "%q: %s", tt.text, tt.why)
	}
}

// FuzzCutAfter holds that both parts of a text have as many tokens as the whole,
// in every encoding.
func FuzzCutAfter(f *testing.F) {
	for _, seed := range []string{
		"They don't count 1,234 words.", "a\n \n b", "x\u0301\n\n", "A's 'S\n !/\r\n \n", "1\n \n2", "\u6f22\u5b57\u3002\n\n", "a\x80b \xe3\x80",
		"HTTPServer'll /\n/ x", "9\u3000\n\u3000\n9", "a...\n \n", "z \u0301\n \n",
		"x !\u0301\n \n", "x\uff11!\u0301\n \n", "x!?\u0301\n \n", "x !?\u0301\n \n",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for name, load := range counters {
			c, err := load()
			require.NoError(t, err)
			whole := c.count(text)
			for at := cutAfter(text, 0); at < len(text); at = cutAfter(text, at) {
				head, tail := c.count(text[:at]), c.count(text[at:])
				require.Equal(t, whole, head+tail, "%s: %q cut at %d", name, text, at)
			}
		}
	})
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
	const n = longRun + 6<<10 // shorter words are counted as a whole
	prose := strings.Repeat("So don't\n \n panic!! ", 40)
	for i, tt := range []struct{ name, text string }{
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
			if testing.Short() && name != EncodingO200kBase && (name != EncodingP50kBase || i%6 != 1) {
				continue // they cut words in one way
			}
			c, err := load()
			require.NoError(t, err)
			got, err := c.CountTokens(tt.text)
			require.NoError(t, err, "%s, %s", tt.name, name)
			assert.Equal(t, c.count(tt.text), got, "%s, %s", tt.name, name)
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
		long := strings.Repeat(text, 1+3*window/len(text))
		for name, load := range counters {
			c, err := load()
			require.NoError(t, err)
			for _, text := range []string{text, long} {
				if got, want := c.all().count(text), c.count(text); got != want && c.all().ranks[text] == 0 {
					t.Fatalf("%s: %q has %d tokens, merged %d", name, text, want, got)
				}
			}
		}
	})
}

// TestWindows merges pieces of many lengths window by window and in one.
func TestWindows(t *testing.T) {
	c, err := ForEncoding(EncodingO200kBase)
	require.NoError(t, err)
	vocabulary := c.all()
	for _, n := range []int{1, 2*window - 1, 2 * window, 2*window + 1, 3*window - 1, 3 * window, 5*window + 17} {
		for name, piece := range map[string]string{"random": randomWord(n), "one letter": strings.Repeat("a", n), "wide": repeatRandom("\u6f22\u5b57\u4e00", n)} {
			m := new(merger)
			whole := m.merge(vocabulary, piece, nil)
			at, tokens := m.advance(vocabulary, piece)
			if len(piece) < 2*window {
				assert.Zero(t, at, "%s of %d bytes is one window", name, n)
			} else {
				assert.Less(t, len(piece)-at, 2*window, "%s of %d bytes", name, n)
				assert.Equal(t, at, int(whole[tokens-1]), "%s of %d bytes", name, n)
			}
			assert.Equal(t, len(whole), vocabulary.count(piece), "%s of %d bytes", name, n)
		}
	}
}

// TestWindowsThatMustGrow uses a vocabulary of pairs of characters in which the last
// pair of a block is merged first: how a block is cut depends on where it ends.
func TestWindowsThatMustGrow(t *testing.T) {
	ranks := map[string]uint32{"\u07ff": 9999}
	const first, characters = '\u0100', 1500 // of two bytes each
	for i := range rune(characters) {
		ranks[string(first+i)] = uint32(i)
		ranks[string(first+i)+string(first+i+1)] = uint32(10_000 - i)
	}
	v := newVocabulary(ranks)
	for _, row := range []struct {
		block        int // characters
		grows, joins bool
		why          string
	}{
		{200, false, false, "a window reaches back over the last block"},
		{1364, true, true, "two windows end within reach of the beginning of a block"},
		{1400, true, false, "no window does, up to the whole"},
	} {
		var block strings.Builder
		for i := range rune(row.block) {
			block.WriteRune(first + i)
		}
		for _, before := range []int{1, 8*1792 + 101} { // characters that no token has with others
			piece := strings.Repeat("\u07ff", before) + strings.Repeat(block.String(), 5)
			whole := new(merger).merge(v, piece, nil)
			require.Equal(t, []int{2, len(piece)}, []int{int(whole[0]), int(whole[before+5*row.block/2-1])}, "the pairs of each block")
			assert.Equal(t, len(whole), v.count(piece), "blocks of %d: %s", row.block, row.why)
			m := new(merger)
			at, tokens := m.advance(v, piece)
			if at > 0 {
				assert.Equal(t, at, int(whole[tokens-1]), "blocks of %d: %s", row.block, row.why)
			}
			if before == 1 && len(piece) >= 2*window { // windows have an odd number of a block's characters
				assert.Equal(t, []bool{row.grows, row.joins}, []bool{len(m.parts) > window+1, at > 0}, "blocks of %d: %s", row.block, row.why)
			}
		}
	}
}

func TestCutBefore(t *testing.T) {
	for _, tt := range []struct {
		text     string
		at, want int
		why      string
	}{
		{"abc", 0, 0, "the beginning"},
		{"abc", 2, 2, "a character of one byte begins anywhere"},
		{"abc", 3, 3, "the end"},
		{"abc", 9, 3, "nothing comes after the end"},
		{"a\u6f22b", 2, 1, "within a character"},
		{"a\u6f22b", 3, 1, "before its last byte"},
		{"a\U0001f600", 4, 1, "a character of four bytes"},
		{"ab\x80\x80\x80\x80\x80", 6, 3, "no character is longer"},
	} {
		assert.Equal(t, tt.want, cutBefore(tt.text, tt.at), "%q at %d: %s", tt.text, tt.at, tt.why)
	}
}

func TestFindRun(t *testing.T) {
	const n = longRun
	for _, tt := range []struct {
		name, text string
		start, end int // in o200k_base
		why        string
	}{
		{"none", "abc def", 7, 7, "no run is long"},
		{"short by one", "1" + strings.Repeat("a", n-1), n, n, "it must have so many bytes"},
		{"at the end", "1" + strings.Repeat("a", n), 1, n + 1, "it may end with the text"},
		{"before another", "1" + strings.Repeat("a", n) + "!", 1, n + 1, "another class ends it"},
		{"shorter before another", "1" + strings.Repeat("a", n-1) + "!b", n + 2, n + 2, "which is too early here"},
		{"white space", strings.Repeat(" ", n), n, n, "white space is no run"},
		{"white space before", strings.Repeat(" ", n) + "a", n + 1, n + 1, "nor before a word"},
		{"caseless before a capital", strings.Repeat("\u6f22", n) + "Ab", 3*n + 2, 3*n + 2, "what came before decides whether the capital ends the piece"},
		{"caseless before a small letter", strings.Repeat("\u6f22", n) + "ab", 0, 3 * n, "this one does not"},
		{"no run at all", strings.Repeat("a ", longestWord/2) + " ", longestWord, longestWord, "the search ends"},
	} {
		start, end := (&Counter{encoding: EncodingO200kBase}).findRun(tt.text)
		assert.Equal(t, []int{tt.start, tt.end}, []int{start, end}, "%s: %s", tt.name, tt.why)
	}
}

func TestClasses(t *testing.T) {
	for _, tt := range []struct {
		r           rune
		cased, rest class // in o200k_base, and in the others
	}{
		{'a', lower, lower}, {'z', lower, lower}, {'\u00e9', lower, lower}, {'A', upper, lower}, {'\u01c5', upper, lower}, {'\u6f22', caseless, lower},
		{'\u0301', caseless, noClass}, {'1', noClass, noClass}, {' ', noClass, noClass}, {'\x7f', noClass, noClass}, {'\ufffd', noClass, noClass},
		{'!', punctuation, punctuation}, {'`', punctuation, punctuation}, {'{', punctuation, punctuation}, {'\U0001f600', punctuation, punctuation},
	} {
		assert.Equal(t, tt.cased, (&Counter{encoding: EncodingO200kBase}).classOf(tt.r), "%q", tt.r)
		assert.Equal(t, tt.rest, (&Counter{encoding: EncodingCl100kBase}).classOf(tt.r), "%q", tt.r)
	}
}

// TestLongWordTakesLinearWork counts merges: each byte is merged once at most,
// and again where windows overlap.
func TestLongWordTakesLinearWork(t *testing.T) {
	c, err := ForEncoding(EncodingO200kBase)
	require.NoError(t, err)
	for _, n := range []int{1 << 15, 1 << 17} {
		m := new(merger)
		at, _ := m.advance(c.all(), randomWord(n))
		_, next := c.countRun(randomWord(n), 0, n)
		assert.LessOrEqual(t, n-min(at, next), 2*window, "%d bytes", n)
		assert.GreaterOrEqual(t, m.merges, n/4, "%d bytes", n)
		assert.LessOrEqual(t, m.merges, n*(window+overlap)/window, "%d bytes", n)
		assert.LessOrEqual(t, cap(m.parts)+cap(m.queue)+cap(m.ends)+cap(m.next), 8*window, "%d bytes", n)
	}
}

// TestRunsThatNothingFits has a vocabulary without a token that the tokenizer makes: the
// largest window of a run is counted as it is.
func TestRunsThatNothingFits(t *testing.T) {
	c, err := ForEncoding(EncodingO200kBase)
	require.NoError(t, err)
	empty := newVocabulary(nil)
	odd := &Counter{words: c.words, all: func() *vocabulary { return empty }}
	word := randomWord(5 * window)
	tokens, at := odd.countRun(word, 0, len(word))
	assert.Equal(t, []int{c.count(word[:4*window]), 4 * window}, []int{tokens, at})
	assert.Less(t, len(c.blanks.load().ranks), 1000, "tokens of white space alone")
	m := new(merger)
	m.ends = m.merge(c.all(), word, nil)
	assert.Zero(t, testing.AllocsPerRun(1, func() { m.ends = m.merge(c.all(), word, m.ends) }), "its memory is used again")
}

// TestEstimate holds that each part of what has no place to cut is counted for itself: of
// digits, three are a token, and each part of 64 KiB has one in its last token; DEL is a token.
func TestEstimate(t *testing.T) {
	c, err := ForEncoding(EncodingO200kBase)
	require.NoError(t, err)
	const rest = 2 * segmentSize
	got, err := c.CountTokens("\x7f\x7f" + strings.Repeat("7", longestWord-2+rest))
	require.NoError(t, err)
	require.Equal(t, longestWord/segmentSize*(segmentSize/3+1)+1+(rest+2)/3, got)
}

// Texts of more words than are remembered count the same again.
func TestManyWords(t *testing.T) {
	c, err := ForEncoding(EncodingO200kBase)
	require.NoError(t, err)
	var b strings.Builder
	want := 0
	for i := range maxCounted + maxCounted/8 {
		number := strconv.Itoa(i)
		b.WriteString("a" + number)
		want += 1 + (len(number)+2)/3 // three digits are a token
	}
	for range 2 {
		got, err := c.CountTokens(b.String())
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	counted, _ := c.counted.Get().(map[string]int)
	assert.LessOrEqual(t, len(counted), maxCounted)
}
