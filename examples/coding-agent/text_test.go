package main

import (
	"math"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestVisible(t *testing.T) {
	tests := []struct{ name, text, want, why string }{
		{"plain", "a b", "a b", "nothing to do"},
		{"tab", "a\tb", "a b", "a tab would break the table"},
		{"escape", "\x1b[31mred\x1b[0m", `\x1b[31mred\x1b[0m`, "colours"},
		{"bell and delete", "\a\x7f", `\a\x7f`, "noise"},
		{"carriage return", "good\rbad", `good\rbad`, "would write over what is there"},
		{"bidi", "a\u202eb\u2066", `a\u202eb\u2066`, "would turn the line around"},
		{"c1", "\u009b31m", `\u009b31m`, "a control sequence in one letter"},
		{"zero width", "a\u200db\ufeff", `a\u200db\ufeff`, "not seen otherwise"},
		{"line separator", "a\u2028b", `a\u2028b`, "a line break for some"},
		{"invalid", "a\xffb", `a\xffb`, "not text"},
		{"replacement", "a\uFFFDb", "a\uFFFDb", "a letter like any other"},
		{"letters", "café 世界 🎉", "café 世界 🎉", "letters of the world"},
		{"quotes", `'"\`, `'"\`, "no quoting"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := visible(tt.text); got != tt.want {
				t.Errorf("%q, want %q: %s", got, tt.want, tt.why)
			}
		})
	}
	if got, want := visibleText("a\tb\r\n\x1bc\n"), "a\tb\n\\x1bc\n"; got != want {
		t.Errorf("text %q, want %q", got, want)
	}
}

func FuzzVisible(f *testing.F) {
	f.Add("a\x1b[2Jb\xff\u202e世界\n\t")
	f.Fuzz(func(t *testing.T, text string) {
		for _, line := range append(strings.Split(visibleText(text), "\n"), visible(text), firstLine(text)) {
			if !utf8.ValidString(line) {
				t.Errorf("%q is not UTF-8", line)
			}
			for _, r := range line {
				if r != '\t' && !strconv.IsPrint(r) {
					t.Errorf("%q holds %q", line, r)
				}
			}
			for _, columns := range []int{1, 4, 10} {
				for _, cut := range []string{fit(line, columns), fitEnd(line, columns)} {
					if width(cut) > columns {
						t.Errorf("%q has more than %d columns", cut, columns)
					}
				}
			}
		}
	})
}

func TestFirstLine(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"\n \t\n  one\ntwo", "one"},
		{"", ""},
		{"\n\n", ""},
		{strings.Repeat("x", 1<<20), strings.Repeat("x", maxLine)},
	} {
		if got := firstLine(tt.text); got != tt.want {
			t.Errorf("first line of %.20q is %.20q (%d bytes)", tt.text, got, len(got))
		}
	}
}

func TestFit(t *testing.T) {
	tests := []struct {
		name, text  string
		columns     int
		want, atEnd string
		why         string
	}{
		{"fits", "abc", 3, "abc", "abc", "as it is"},
		{"cut", "abcdef", 4, "abc…", "…def", "three letters and the dots"},
		{"wide", "世界世界", 6, "世界…", "…世界", "five columns: half a letter is none"},
		{"wide and even", "世界世界", 7, "世界世…", "…界世界", "seven columns are used"},
		{"marks", "e\u0301e\u0301e\u0301", 2, "e\u0301…", "…e\u0301", "a mark takes no column"},
		{"one", "abc", 1, "…", "…", "the dots alone"},
		{"empty", "", 0, "", "", "nothing fits in nothing"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := fit(tt.text, tt.columns); got != tt.want {
				t.Errorf("fit gives %q, want %q: %s", got, tt.want, tt.why)
			}
			if got := fitEnd(tt.text, tt.columns); got != tt.atEnd {
				t.Errorf("fitEnd gives %q, want %q: %s", got, tt.atEnd, tt.why)
			}
		})
	}
}

func TestThousands(t *testing.T) {
	for n, want := range map[int]string{0: "0", 999: "999", 1000: "1,000", 1234567: "1,234,567", -1: "-1", -1234: "-1,234", -123: "-123"} {
		if got := thousands(n); got != want {
			t.Errorf("%d is written %s, want %s", n, got, want)
		}
	}
}

func TestTable(t *testing.T) {
	columns := []column{{title: "n", right: true}, {title: "path", share: 1, end: true}, {title: "text", share: 1}}
	tests := []struct {
		name, why string
		total     int
		want      string
	}{
		{
			name: "wide", why: "nothing is cut, and nothing is padded at the end", total: 60,
			want: "   n  path            text\n   1  a/b             short\n  12  some/long/path  a longer text\n",
		},
		{
			name: "narrow", why: "both are cut to half of the 20 columns that are left", total: 28,
			want: "   n  path        text\n   1  a/b         short\n  12  …long/path  a longer …\n",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			table := table{columns: columns}
			table.add("1", "a/b", "short")
			table.add("12", "some/long/path", "a longer text")
			var b strings.Builder
			table.print(&b, tt.total)
			if b.String() != tt.want {
				t.Errorf("table:\n%swant, because %s:\n%s", b.String(), tt.why, tt.want)
			}
		})
	}
}

func TestTableGivesWhatOneColumnDoesNotNeed(t *testing.T) {
	table := table{columns: []column{{share: 1}, {share: 1}}}
	table.add("abc", strings.Repeat("x", 40))
	if got := table.widths(30); got[0] != 3 || got[1] != 27 {
		t.Errorf("widths %v, want 3 and the 27 that are left", got)
	}
}

func TestDrawBar(t *testing.T) {
	tests := []struct {
		name, why string
		segments  []segment
		width     int
		want      string
	}{
		{"to scale", "a letter for ten tokens", []segment{{letter: 'A', tokens: 30}, {letter: 'B', tokens: 70}}, 10, "AAABBBBBBB"},
		{"small", "what is there is seen, at the cost of the largest", []segment{{letter: 'A', tokens: 1}, {letter: 'B', tokens: 1}, {letter: 'C', tokens: 998}}, 10, "ABCCCCCCCC"},
		{"none", "what is not there is not seen", []segment{{letter: 'A'}, {letter: 'B', tokens: 5}}, 4, "BBBB"},
		{"nothing", "no bar of nothing", []segment{{letter: 'A'}}, 4, ""},
		{"thirds", "rounding leaves no gap", []segment{{letter: 'A', tokens: 1}, {letter: 'B', tokens: 1}, {letter: 'C', tokens: 1}}, 10, "AAAABBBCCC"},
		{"huge", "no sum wraps", []segment{{letter: 'A', tokens: math.MaxInt/4 + 1}, {letter: 'B', tokens: math.MaxInt/4 + 1}}, 4, "AABB"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := drawBar(tt.segments, tt.width); got != tt.want {
				t.Errorf("%q, want %q: %s", got, tt.want, tt.why)
			}
		})
	}
}

func TestLineWidth(t *testing.T) {
	for _, tt := range []struct {
		flag int
		env  string
		want int
	}{
		{0, "", 120}, {0, "80", 80}, {90, "80", 90}, {0, "wide", 120}, {0, "-5", 120}, {10, "", 60}, {1 << 30, "", 1000},
	} {
		if got := lineWidth(tt.flag, tt.env); got != tt.want {
			t.Errorf("-width %d, COLUMNS=%s: %d, want %d", tt.flag, tt.env, got, tt.want)
		}
	}
}
