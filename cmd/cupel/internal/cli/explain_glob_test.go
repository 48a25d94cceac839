package cli

import (
	"path"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

func TestGlob(t *testing.T) {
	for _, test := range []struct {
		name, why, pattern, text string
		want                     bool
	}{
		{"literal", "all of it", "abc", "abc", true},
		{"part", "a part is not all", "abc", "abcd", false},
		{"star", "any text", "a*d", "abcd", true},
		{"empty star", "none is text too", "a*d", "ad", true},
		{"slash", "stars cross slashes", "a*d", "a/b/d", true},
		{"lines", "stars cross line ends", "a*d", "a\nd", true},
		{"two stars", "the second try of the first", "*ab*b", "aabab", true},
		{"one character", "one and not none", "a?", "a", false},
		{"wide character", "one character of three bytes", "?", "東", true},
		{"class", "one of them", "[a-cx]", "b", true},
		{"outside the class", "none of them", "[a-cx]", "d", false},
		{"negated", "anything but them", "[^a-c]", "d", true},
		{"escaped", "no meaning", `\*`, "*", true},
		{"escaped, other", "no meaning", `\*`, "a", false},
		{"empty", "only nothing", "", "a", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			g, err := parseGlob(test.pattern)
			if err != nil {
				t.Fatal(err)
			}
			if got := g.match(test.text); got != test.want {
				t.Errorf("got %t: %s", got, test.why)
			}
		})
	}
}

// Where there are no slashes, patterns are those of path.Match.
func FuzzGlob(f *testing.F) {
	for _, seed := range [][2]string{{"a*b?", "axxby"}, {"[a-c]*", "bcd"}, {"[^a]", "b"}, {`\[`, "["}, {"[]a]", "]"}, {"[a-", "a"}, {"**", ""}, {"[-]", "-"}} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, pattern, text string) {
		if strings.Contains(pattern+text, "/") || !utf8.ValidString(pattern) || !utf8.ValidString(text) {
			return
		}
		want, wrong := path.Match(pattern, text)
		g, err := parseGlob(pattern)
		if err != nil {
			// An empty range is the one pattern that is wrong here alone.
			if wrong == nil && !strings.Contains(err.Error(), "is empty") {
				t.Fatalf("pattern %q: %v", pattern, err)
			}
			return
		}
		if wrong != nil {
			t.Fatalf("pattern %q: want an error", pattern)
		}
		if got := g.match(text); got != want {
			t.Errorf("pattern %q, text %q: got %t", pattern, text, got)
		}
	})
}

func TestGlobWithManyStars(t *testing.T) {
	g, err := parseGlob(strings.Repeat("*a", 200) + "*b")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan bool, 1)
	go func() { done <- g.match(strings.Repeat("a", 5000)) }()
	select {
	case got := <-done:
		if got {
			t.Error("there is no b")
		}
	case <-time.After(time.Minute):
		t.Fatal("trying every division of the text would take longer than anybody has")
	}
}
