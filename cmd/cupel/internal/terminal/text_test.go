package terminal

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestSafe(t *testing.T) {
	for _, test := range []struct{ name, why, in, want string }{
		{"letters", "what is harmless stays", "Grüße, 東京 👍", "Grüße, 東京 👍"},
		{"colour", "an escape sequence would colour the rest", "a\x1b[31mb", `a\x1b[31mb`},
		{"title", "it would set the title of the window", "\x1b]0;x\x07", `\x1b]0;x\x07`},
		{"line end", "a cell is one line", "a\r\nb\tc", `a\r\nb\tc`},
		{"delete", "0x7f is a control too", "\x7f", `\x7f`},
		{"c1", "terminals take U+009B for an escape and a bracket", "\u009b31m", `\u009b31m`},
		{"bidi", "an override turns the rest of the line around", "a\u202eb\u2066c", `a\u202eb\u2066c`},
		{"marks of direction", "they are not seen and move what is", "\u200e\u200f\u061c", `\u200e\u200f\u061c`},
		{"tags", "text can hide in them", "a\U000e0041", `a\U000e0041`},
		{"private", "what it looks like is anybody's guess", "\ue0b0", `\ue0b0`},
		{"separators", "some take them for line ends", "\u2028\u2029", `\u2028\u2029`},
		{"not utf-8", "such bytes are C1 controls to some", "a\x9b\xff", `a\x9b\xff`},
		{"replacement", "it is a character like others when it is there", "\ufffd", "\ufffd"},
		{"accent", "a mark belongs to its letter", "e\u0301", "e\u0301"},
		{"stray accent", "it would change the cell before", "\u0301e", `\u0301e`},
		{"after a space", "a space is not a letter", "a \u0301", `a \u0301`},
		{"tower", "six marks stay, the seventh does not", "e" + strings.Repeat("\u0301", 7), "e" + strings.Repeat("\u0301", 6) + `\u0301`},
		{"family", "joined emoji stay joined", "👩\u200d👧", "👩\u200d👧"},
		{"joiners in a row", "text can be hidden in them", "👩\u200d\u200d", `👩` + "\u200d" + `\u200d`},
		{"joiner alone", "it has nothing to join", "\u200dx", `\u200dx`},
		{"heart", "the selector of the emoji's form", "❤\ufe0f", "❤\ufe0f"},
		{"selectors in a row", "text can be hidden in them", "❤\ufe0f\ufe0e", "❤\ufe0f" + `\ufe0e`},
		{"rare selector", "text can be hidden in them", "a\U000e0100", `a\U000e0100`},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := Safe(test.in); got != test.want {
				t.Errorf("got %q, want %q: %s", got, test.want, test.why)
			}
		})
	}
}

func TestSafeLines(t *testing.T) {
	if got, want := SafeLines("a\x1b\nb\n"), "a\\x1b\nb\n"; got != want {
		t.Errorf("got %q, want %q: line ends stay and all else is as in Safe", got, want)
	}
}

func TestWidth(t *testing.T) {
	for _, test := range []struct {
		name, why, text string
		want            int
	}{
		{"nothing", "no text has no width", "", 0},
		{"ascii", "one column a letter", "abc", 3},
		{"cjk", "ideographs have two", "東京", 4},
		{"hangul", "syllables have two", "한국", 4},
		{"conjoining hangul", "vowels and finals join the consonant, which has two", "\u1112\u1161\u11ab", 2},
		{"fullwidth", "by their name", "ＡＢ", 4},
		{"halfwidth", "by their name", "ｱｲ", 2},
		{"combining", "a mark has none", "e\u0301", 1},
		{"emoji", "two", "👍", 2},
		{"skin", "a tone changes the hand before it", "👍🏽", 2},
		{"family", "one picture", "👩\u200d👩\u200d👧", 2},
		{"flag", "two letters are one flag", "🇯🇵", 2},
		{"flags", "and four are two", "🇯🇵🇫🇷", 4},
		{"heart", "narrow by itself", "❤", 1},
		{"red heart", "wide in the emoji's form", "❤\ufe0f", 2},
		{"joined letters", "a joiner makes no picture of letters", "漢\u200d字", 4},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := Width(test.text); got != test.want {
				t.Errorf("%q has %d columns, want %d: %s", test.text, got, test.want, test.why)
			}
		})
	}
}

func TestCut(t *testing.T) {
	for _, test := range []struct {
		name, why, text string
		columns         int
		want            string
	}{
		{"fits", "all of it", "abc", 3, "abc"},
		{"one too many", "the ellipsis takes a column", "abcd", 3, "ab…"},
		{"wide", "half an ideograph cannot be shown", "東京都", 4, "東…"},
		{"wide and odd", "one column is left before the ellipsis", "東京都", 5, "東京…"},
		{"marks", "a letter keeps its marks", "e\u0301e\u0301e\u0301", 2, "e\u0301…"},
		{"family", "a picture is not taken apart", "👩\u200d👧x", 2, "…"},
		{"one", "only the ellipsis fits", "ab", 1, "…"},
		{"none", "nothing fits", "ab", 0, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := Cut(test.text, test.columns); got != test.want {
				t.Errorf("got %q, want %q: %s", got, test.want, test.why)
			}
		})
	}
}

func TestExcerpt(t *testing.T) {
	for _, test := range []struct {
		name, why, content string
		columns            int
		want               string
	}{
		{"short", "all of it", "abc", 10, "abc"},
		{"lines", "the first line, and a sign that there are more", "abc\ndef", 10, "abc …"},
		{"lines and no room", "the sign does not need the space", "abcdef\nghi", 6, "abcde…"},
		{"blank lines before", "they say nothing", "\n\n  abc  \n", 10, "abc"},
		{"line end after", "nothing more follows", "abc\n", 10, "abc"},
		{"blank", "nothing but white space is shown as it is", "\n\t", 10, `\n `},
		{"tab", "a tab is as wide as the terminal likes", "a\tb", 10, "a b"},
		{"escape", "an excerpt is safe", "\x1b[1mabc", 20, `\x1b[1mabc`},
		{"long", "cut as Cut does", "abcdefgh", 4, "abc…"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := Excerpt(test.content, test.columns); got != test.want {
				t.Errorf("got %q, want %q: %s", got, test.want, test.why)
			}
		})
	}
}

// A megabyte without a line end or a letter must not be measured to its end.
func TestExcerptOfLongLines(t *testing.T) {
	for _, piece := range []string{"a", "\u0301", "東", "\x00", "\xff", "👩\u200d"} {
		content := strings.Repeat(piece, 1<<20/len(piece))
		got := Excerpt(content, 20)
		if w := Width(got); w > 20 || !strings.HasSuffix(got, ellipsis) {
			t.Errorf("%q repeated: %q has %d columns, want at most 20 and an ellipsis", piece, got, w)
		}
	}
}

func TestEscapeJSON(t *testing.T) {
	const text = "\x7f \u009b \u202e \U000e0041 é 東 \" \\ \n"
	encoded, err := json.Marshal(text)
	if err != nil {
		t.Fatal(err)
	}
	const want = `"\u007f \u009b \u202e \udb40\udc41 é 東 \" \\ \n"`
	escaped := EscapeJSON(encoded)
	if string(escaped) != want {
		t.Errorf("got %s, want %s", escaped, want)
	}
	var back string
	if err := json.Unmarshal(escaped, &back); err != nil || back != text {
		t.Errorf("it means %q (%v), want %q", back, err, text)
	}
	if plain := []byte("{\n}"); string(EscapeJSON(plain)) != string(plain) {
		t.Error("what has nothing to escape stays as it is, line ends too")
	}
}

func FuzzText(f *testing.F) {
	for _, seed := range []string{"abc", "\x1b[31m", "e\u0301\u0301", "👩\u200d👧🏽", "🇯🇵", "\u202e", "\xff\u0301", "❤\ufe0f漢\u200d字", "\u1112\u1161"} {
		f.Add(seed, 3)
	}
	f.Fuzz(func(t *testing.T, text string, columns int) {
		columns = min(max(columns, 2), 200)
		safe := Safe(text)
		if Safe(safe) != safe {
			t.Errorf("Safe changes what it returned: %q", safe)
		}
		if !utf8.ValidString(safe) {
			t.Errorf("not UTF-8: %q", safe)
		}
		for _, r := range safe {
			harmless := unicode.IsGraphic(r) || r == joiner || r == nonJoiner || unicode.Is(unicode.Prepended_Concatenation_Mark, r)
			if !harmless {
				t.Errorf("%U reaches the terminal", r)
			}
		}
		if w := Width(Cut(safe, columns)); w > columns {
			t.Errorf("%q cut to %d columns has %d", safe, columns, w)
		}
		if excerpt := Excerpt(text, columns); Width(excerpt) > columns || Safe(excerpt) != excerpt {
			t.Errorf("excerpt %q is not safe or too wide for %d", excerpt, columns)
		}
		quoted, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		var before, after string
		if json.Unmarshal(quoted, &before) != nil || json.Unmarshal(EscapeJSON(quoted), &after) != nil || before != after {
			t.Errorf("EscapeJSON changes %s", quoted)
		}
	})
}
