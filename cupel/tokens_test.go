package cupel_test

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/wollax/cupel-go/cupel"
)

// sample is a text with its number of tokens; see testdata/tokens/samples.txt.
type sample struct {
	kind, name, text string
	tokens           int
}

func samples(t *testing.T) []sample {
	t.Helper()
	data, err := os.ReadFile("testdata/tokens/samples.txt")
	if err != nil {
		t.Fatal(err)
	}
	var all []sample
	for _, part := range strings.Split(string(data), "\n===== ")[1:] {
		header, text, _ := strings.Cut(part, "\n")
		name, count, _ := strings.Cut(header, " ")
		kind, name, ok := strings.Cut(name, "/")
		n, err := strconv.Atoi(count)
		if !ok || err != nil {
			t.Fatalf("header %q", header)
		}
		all = append(all, sample{kind, name, text, n})
	}
	return all
}

// The documentation of HeuristicCounter says how far it is off; this holds it to
// that, on texts that its numbers were not made from.
func TestHeuristicCounterIsAsDocumented(t *testing.T) {
	ratios := make(map[string][]float64)
	for _, s := range samples(t) {
		n, err := cupel.HeuristicCounter{}.CountTokens(s.text)
		if err != nil {
			t.Fatal(err)
		}
		ratio := float64(n) / float64(s.tokens)
		ratios[s.kind] = append(ratios[s.kind], ratio)
		t.Logf("%-8s %-14s %4d tokens, estimated %4d, ratio %.2f", s.kind, s.name, s.tokens, n, ratio)
		if ratio < 0.7 || ratio > 1.25 {
			t.Errorf("%s: estimated %d of %d tokens", s.name, n, s.tokens)
		}
	}
	source, err := os.ReadFile("tokens.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range []string{"English", "code", "CJK", "JSON"} {
		all := slices.Sorted(slices.Values(ratios[kind]))
		if len(all) < 4 {
			t.Fatalf("%d samples of %s", len(all), kind)
		}
		median := (all[(len(all)-1)/2] + all[len(all)/2]) / 2
		row := fmt.Sprintf("//\t%-12s %.2f     %.2f      %.2f\n", kind, median, all[0], all[len(all)-1])
		if !strings.Contains(string(source), row) {
			t.Errorf("the documentation does not have the line\n%s", row)
		}
	}
}

func TestHeuristicCounter(t *testing.T) {
	// Counts that are known without a tokenizer: common words, one of the
	// whole text's three digits, and one line end are a token each.
	for _, tt := range []struct {
		text string
		want int
		why  string
	}{
		{"", 0, "nothing"},
		{"a", 1, "a letter"},
		{"the cat sat on the mat", 6, "short words with the space before them"},
		{"   ", 1, "blanks are one token"},
		{"\n", 1, "a line end"},
		{"1234567", 3, "three digits are a token"},
		{"a\n\n\nb", 3, "line ends in a row are one token"},
		{"x = 1;\n", 5, "x, the sign, the space before a digit, the digit, the semicolon with its line end"},
		{"x" + strings.Repeat(" ", 4000) + "x", 34, "as cl100k_base: the longest run of spaces is a token of 128"},
		{"x" + strings.Repeat("\t", 4000) + "x", 252, "as cl100k_base: the longest run of tabs is a token of 16"},
		{"x" + strings.Repeat("\n", 4000) + "x", 127, "as cl100k_base: the longest run of line ends is a token of 32"},
		{"x" + strings.Repeat("\r\n", 1000) + "x", 252, "as cl100k_base: the longest run of CR LF is a token of four"},
		{"x" + strings.Repeat("\x00", 20) + "x", 21, "cl100k_base has 22: binary data is a token a byte, and not punctuation, where 32 are one"},
		{"x" + strings.Repeat("[", 1000) + "x", 502, "cl100k_base has 502: only what lines are drawn with has long tokens"},
		{"----------------", 1, "a rule is one token"},
		{"\x00", 1, "every text has a token"},
		{strings.Repeat("\U0001F600", 10), 24, "an emoji is two to three tokens"},
		{strings.Repeat("\U0001F600 ", 10), 34, "and so it is between spaces, where each is one"},
		{strings.Repeat("\u0400", 100), 42, "Cyrillic begins at U+0400"},
		{strings.Repeat("\u052f", 100), 42, "and ends at U+052F"},
		{strings.Repeat("\u03c9", 100), 110, "a letter of another script is a token and more"},
		{strings.Repeat("\u0531", 100), 110, "as is the first letter of Armenian, which comes after Cyrillic"},
		{"\xff\xfe", 2, "invalid bytes count as the replacement character"},
	} {
		n, err := cupel.HeuristicCounter{}.CountTokens(tt.text)
		if err != nil || n != tt.want {
			t.Errorf("%q has %d tokens, %v; want %d: %s", tt.text, n, err, tt.want, tt.why)
		}
	}
}

// Texts that are hard on tokenizers cost no more than others: a text takes about
// as long as its 64 parts one after the other. In quadratic time it would take 64
// times as long.
func TestHeuristicCounterIsLinear(t *testing.T) {
	for name, unit := range map[string]string{
		"emoji":       "\U0001F600",
		"one word":    "a",
		"spaces":      " ",
		"blank lines": " \n",
		"punctuation": "!?",
		"capitals":    "Aa",
		"invalid":     "\xff",
	} {
		const times = 64
		short := strings.Repeat(unit, 1<<14/len(unit))
		long := strings.Repeat(short, times)
		count := func(text string, times int) time.Duration {
			start := time.Now()
			for range times {
				if n, err := (cupel.HeuristicCounter{}).CountTokens(text); err != nil || n < 1 || n > len(text) {
					t.Fatalf("%s: %d tokens of %d bytes, %v", name, n, len(text), err)
				}
			}
			return time.Since(start)
		}
		// The least of rounds that take turns; what disturbs a few does not fail.
		parts, whole := count(short, times), count(long, 1)
		for round := 0; round < 20 && (round < 3 || whole > 8*parts); round++ {
			parts, whole = min(parts, count(short, times)), min(whole, count(long, 1))
		}
		if whole > 8*parts {
			t.Errorf("%s: %d parts take %s, and the whole %s", name, times, parts, whole)
		}
	}
	text := strings.Repeat("The quick brown fox, 1234 times.\n", 100)
	if allocs := testing.AllocsPerRun(10, func() { _, _ = cupel.HeuristicCounter{}.CountTokens(text) }); allocs > 0 {
		t.Errorf("%v allocations", allocs)
	}
}

func FuzzHeuristicCounter(f *testing.F) {
	for _, seed := range []string{"", " x", "(a\tb)\r\n\r\n", "HTTPServer", "漢字かな한글\u0301", "\xe3\x80", "😀 12 345", "\r\r\r\r"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		n, err := cupel.HeuristicCounter{}.CountTokens(text)
		if err != nil || (n == 0) != (text == "") || n > 3*len(text) {
			t.Fatalf("%d tokens of %d bytes, %v", n, len(text), err)
		}
		// A letter and the digit after it are never one piece, so there the parts add
		// up, but for the rounding of each.
		head, _ := cupel.HeuristicCounter{}.CountTokens(text + "a")
		tail, _ := cupel.HeuristicCounter{}.CountTokens("1" + text)
		both, _ := cupel.HeuristicCounter{}.CountTokens(text + "a1" + text)
		if both < head+tail-1 || both > head+tail+1 {
			t.Fatalf("%d tokens, and %d and %d in two parts", both, head, tail)
		}
	})
}

func BenchmarkHeuristicCounter(b *testing.B) {
	text := strings.Repeat("func (r *run) sort() { r.keys = resize(r.keys, len(r.unique)) }\n", 1000)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := (cupel.HeuristicCounter{}).CountTokens(text); err != nil {
			b.Fatal(err)
		}
	}
}

// counterFunc is a counter made of a function.
type counterFunc func(text string) (int, error)

func (f counterFunc) CountTokens(text string) (int, error) { return f(text) }

func TestNewItemFrom(t *testing.T) {
	asked := 0
	it, err := cupel.NewItemFrom(counterFunc(func(text string) (int, error) {
		asked++
		return len(text), nil
	}), "seven b", cupel.WithKind("Note"), cupel.WithPinned())
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "tokens", it.Tokens(), 7)
	equal(t, "content", it.Content(), "seven b")
	equal(t, "kind", it.Kind(), "Note")
	equal(t, "pinned", it.Pinned(), true)
	equal(t, "times asked", asked, 1)
	if it, err := cupel.NewItemFrom(counterFunc(func(string) (int, error) { return 0, nil }), "x"); err != nil || it.Tokens() != 0 {
		t.Errorf("0 tokens: %v, %v", it, err)
	}
}

func TestNewItemFromFails(t *testing.T) {
	offline := errors.New("offline")
	never := counterFunc(func(string) (int, error) { panic("asked") })
	returning := func(n int, err error) cupel.TokenCounter {
		return counterFunc(func(string) (int, error) { return n, err })
	}
	for _, tt := range []struct {
		name    string
		counter cupel.TokenCounter
		content string
		opts    []cupel.ItemOption
		text    string
		is      error
		why     string
	}{
		{"nil", nil, "x", nil, "cupel: a token counter is required here, for example cupel.HeuristicCounter{} (NewItemFrom, counter)", cupel.ErrInvalidConfig, "there is no default counter"},
		{"nil function", counterFunc(nil), "x", nil, "cupel: a token counter is required here, for example cupel.HeuristicCounter{} (NewItemFrom, counter)", cupel.ErrInvalidConfig, "it would panic"},
		{"empty content", never, "", nil, "cupel: invalid item: content must not be empty", cupel.ErrInvalidItem, "as NewContextItem, and nothing is counted"},
		{"option", never, "x", []cupel.ItemOption{cupel.WithKind(" ")}, "cupel: invalid item: kind must not be blank", cupel.ErrInvalidItem, "as NewContextItem"},
		{"fails", returning(3, offline), "x", nil, "cupel: token counter cupel_test.counterFunc failed: offline", offline, "the counter's own error is kept"},
		{"typed nil", returning(3, (*nilError)(nil)), "x", nil, "cupel: token counter cupel_test.counterFunc failed with a nil *cupel_test.nilError", cupel.ErrStrategy, "its methods panic"},
		{"negative", returning(-3, nil), "x", nil, "cupel: token counter cupel_test.counterFunc returned -3 tokens, which breaks the contract of a token counter", cupel.ErrStrategy, "no text has a negative size"},
		{"panics", never, "x", nil, "cupel: token counter cupel_test.counterFunc panicked: panic: asked", cupel.ErrStrategy, "no panic on any input"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			it, err := cupel.NewItemFrom(tt.counter, tt.content, tt.opts...)
			if it != nil || err == nil || err.Error() != tt.text {
				t.Fatalf("got %v, %v; want %s, because %s", it, err, tt.text, tt.why)
			}
			errorIs(t, err, tt.is)
		})
	}
}

func ExampleNewItemFrom() {
	item, err := cupel.NewItemFrom(cupel.HeuristicCounter{}, "The build failed: 12 tests, 1 failure.", cupel.WithKind(cupel.KindToolOutput))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(item.Tokens())
	// Output: 12
}

func ExampleHeuristicCounter() {
	counter := cupel.HeuristicCounter{}
	for _, text := range []string{"Hello, world!", "func main() {\n\tfmt.Println(1)\n}\n", "こんにちは"} {
		n, err := counter.CountTokens(text)
		fmt.Println(n, err)
	}
	// Output:
	// 4 <nil>
	// 10 <nil>
	// 5 <nil>
}
