package cupel_test

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

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

// counterFunc is a counter made of a function.
type counterFunc func(text string) (int, error)

func (f counterFunc) CountTokens(text string) (int, error) { return f(text) }

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
		{"nil function", counterFunc(nil), "x", nil, "cupel: a token counter is required here, for example cupel.HeuristicCounter{} (NewItemFrom, counter)", cupel.ErrInvalidConfig, "it would panic"},
		{"empty content", never, "", nil, "cupel: invalid item: content must not be empty", cupel.ErrInvalidItem, "as NewContextItem, and nothing is counted"},
		{"option", never, "x", []cupel.ItemOption{cupel.WithKind(" ")}, "cupel: invalid item: kind must not be blank", cupel.ErrInvalidItem, "as NewContextItem"},
		{"fails", returning(3, offline), "x", nil, "cupel: token counter cupel_test.counterFunc failed: offline", offline, "the counter's own error is kept"},
		{"typed nil", returning(3, (*cupel.ScarcityError)(nil)), "x", nil, "cupel: token counter cupel_test.counterFunc failed with a nil *cupel.ScarcityError", cupel.ErrStrategy, "its methods panic"},
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
	if it, err := cupel.NewItemFrom(returning(0, nil), "x"); err != nil || it.Tokens() != 0 {
		t.Errorf("0 tokens: %v, %v", it, err)
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
