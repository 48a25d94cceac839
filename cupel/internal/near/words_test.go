package near

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// Words of a text, those with digits in parentheses.
func TestWords(t *testing.T) {
	for _, row := range []struct{ text, want, why string }{
		{"", "", "there is none"},
		{"az AZ _ a_b", "az AZ _ a_b", "letters and underscores"},
		{"a`b{c@d[e/f:g", "a b c d e f g", "the characters next to them"},
		{"0 9 a1b x9", "(0) (9) (a1b) (x9)", "a digit anywhere"},
		{"1a", "(1a)", "at the start"},
		{"é ñandú e\u0301a", "é ñandú e\u0301a", "letters of other scripts, and marks"},
		{"١٢ Ⅳ ½", "(١٢) (Ⅳ) (½)", "numbers of other scripts"},
		{"a天地b", "a 天 地 b", "each ideograph"},
		{"3天4", "(3) 天 (4)", "which is no number"},
		{"あア", "あ ア", "each kana"},
		{"-1 −2 x -3", "(-1) (−2) x (-3)", "a minus sign belongs to the number"},
		{"a-1 a−2 天-3", "a (1) a (2) 天 (3)", "unless a word ends before it"},
		{"--1", "(-1)", "the last of two"},
		{"- 1 -a -", "(1) a", "before a digit alone"},
		{"(-1)", "(-1)", "behind punctuation"},
		{"1-2", "(1) (2)", "a range"},
		{"a\xffb", "a b", "bytes that are no text end a word"},
		{"a", "a", "at the end of the text"},
	} {
		var words []string
		eachWord(row.text, func(w word) bool {
			text := w.text
			if w.number {
				text = "(" + text + ")"
			}
			words = append(words, text)
			return true
		})
		if got := strings.Join(words, " "); got != row.want {
			t.Errorf("%q has the words %s, want %s: %s", row.text, got, row.want, row.why)
		}
	}
	for text, most := range map[string]int{"a b c": 2, "天地玄": 2, "a": 1, "a\nb": 1, "a 天": 1} {
		n := 0
		eachWord(text, func(word) bool { n++; return n < most })
		if n != most {
			t.Errorf("%q: %d words after the end at %d", text, n, most)
		}
	}
}

// Numbers of lines are left out.
func TestLineNumbers(t *testing.T) {
	for _, row := range []struct{ text, want, why string }{
		{"1 a\n2 b", " a| b", "they count"},
		{"1 a\n3 b", "1 a|3 b", "they do not"},
		{"1 a\n2 b\n4 c", " a| b|4 c", "the last does not"},
		{"4 a\n1 b\n2 c", "4 a| b| c", "the first does not"},
		{"0 a\n1 b", " a| b", "from 0"},
		{"1 a", "1 a", "one line alone"},
		{"1 a\n\n2 b", "1 a||2 b", "not one after the other"},
		{"x\n1 a", "x|1 a", "the line before has no number"},
		{"1 a\nx\n2 b", "1 a|x|2 b", "the line between has none"},
		{"-1 a\n0 b", "-1 a|0 b", "a sign comes first"},
		{" \t1\ta\n \t2\tb", "\ta|\tb", "spaces and tabs before them"},
		{"1\n2", "|", "nothing but numbers"},
		{"1\n2\n", "|", "with the end of the last line"},
		{"1: a\n2: b", ": a|: b", "a colon follows"},
		{"1:2 a\n2:3 b", "1:2 a|2:3 b", "and then no digit"},
		{"1.0 a\n2.9 b", "1.0 a|2.9 b", "decimals"},
		{"1 0\n2 9", " 0| 9", "a digit after a space"},
		{"1:a\n2:b", ":a|:b", "nor a letter"},
		{"1/\n2:", "/|:", "the ends of lines"},
		{"0 a\nx", "0 a|x", "no number is not 1"},
		{"0 a\n5x b", "0 a|5x b", "nor a word with one"},
		{"0 a\n5.5 b", "0 a|5.5 b", "nor decimals"},
		{"0 a\n1000000000 b", "0 a|1000000000 b", "nor ten digits"},
		{"1a\n2b", "1a|2b", "words with digits"},
		{"1天\n2天", "1天|2天", "an ideograph is a part of a word"},
		{"999999998 a\n999999999 b", " a| b", "nine digits"},
		{"1000000000 a\n1000000001 b", "1000000000 a|1000000001 b", "ten digits"},
		{"09 a\n10 b", " a| b", "zeros before them"},
		{"9 a\n10 b", " a| b", "one digit and two"},
		{"19 a\n30 b", "19 a|30 b", "tens count as well"},
		{"5x\n1 b", "5x|1 b", "no number comes before 1"},
		{"5.5 a\n1 b", "5.5 a|1 b", "nor here"},
		{"1000000000 a\n1 b", "1000000000 a|1 b", "nor here"},
		{"", "", "no lines"},
	} {
		if got := strings.Join(slices.Collect(lines(row.text)), "|"); got != row.want {
			t.Errorf("%q is %q, want %q: %s", row.text, got, row.want, row.why)
		}
	}
}

// A text takes part from 50 words on, which need 99 bytes.
func TestShortest(t *testing.T) {
	for text, want := range map[string]bool{
		strings.Repeat("a ", 49) + "a":       true,
		strings.Repeat("a ", 49) + " ":       false,
		strings.Repeat("天", 49):              false,
		"1\n2\n" + strings.Repeat("a ", 49):  false,
		"1\n2\n" + strings.Repeat("a ", 50):  true,
		strings.Repeat("a ", 48) + "abcdefg": false,
		strings.Repeat("水", 50):              true,
	} {
		if got := Long(text); got != want {
			t.Errorf("%q is long: %t", text, got)
		}
	}
}

// at is a number with two words on one side of it.
func at(value, near, far int32, after bool) number {
	n := number{0, near, far, value}
	if after {
		n[0] = 1
	}
	return n
}

// numbersOf reads numbers with the words on one side, as VALUE NEAR FAR, and "after" if
// these come after it, separated by semicolons.
func numbersOf(t *testing.T, text string) (list []number) {
	t.Helper()
	for part := range strings.SplitSeq(text, ";") {
		var value, near, far int32
		var side string
		if n, _ := fmt.Sscan(part, &value, &near, &far, &side); n >= 3 {
			list = append(list, at(value, near, far, side == "after"))
		}
	}
	return list
}

func TestDiffer(t *testing.T) {
	for _, row := range []struct {
		a, b string
		want bool
		why  string
	}{
		{"", "", false, "there are none"},
		{"1 5 6", "", false, "there is one"},
		{"1 5 6", "2 5 6", true, "another number between the same words"},
		{"2 5 6", "1 5 6", true, "the other way round"},
		{"1 5 6", "1 5 6", false, "the same"},
		{"1 5 6", "2 5 7", false, "other words"},
		{"1 5 6", "2 4 6", false, "other words"},
		{"1 5 6", "2 5 6 after", false, "on the other side"},
		{"1 5 6 after", "2 5 6", false, "on the other side"},
		{"1 5 6; 2 5 6", "2 5 6", false, "one has more"},
		{"2 5 6", "1 5 6; 2 5 6", false, "the other has more"},
		{"1 5 6; 2 5 6", "2 5 6; 3 5 6", true, "each has one that the other lacks"},
		{"2 5 6; 3 5 6", "1 5 6; 2 5 6", true, "the other way round"},
		{"1 5 6; 1 5 6", "1 5 6; 2 5 6", true, "each as often as it comes"},
		{"1 4 6; 1 5 6", "1 4 6; 2 5 6", true, "after others that are equal"},
		{"1 5 6; 1 7 7 after", "3 7 7 after", true, "before others"},
		{"3 7 7 after", "1 5 6; 1 7 7 after", true, "the other way round"},
		{"1 4 6; 1 5 6", "2 5 6", true, "other words before it"},
		{"1 4 6", "1 4 6; 1 5 6", false, "others after it"},
	} {
		if got := differ(numbersOf(t, row.a), numbersOf(t, row.b)); got != row.want {
			t.Errorf("%s and %s differ: %t, but %s", row.a, row.b, got, row.why)
		}
	}
}

// A text is compared with the eight that share most of what is looked up, and 16
// texts are looked up by a shingle.
func TestCaps(t *testing.T) {
	f := finder{met: make([]int32, 40), known: make([][]int32, 3), texts: make([]text, 40)}
	for i := range int32(20) {
		f.texts[i].shingles = []int32{1}
		f.register(i)
	}
	if got := len(f.known[1]); got != registered {
		t.Errorf("%d texts are known by a shingle, want %d", got, registered)
	}
	for i := range int32(9) {
		f.texts[20+i].shingles = []int32{2}
		f.register(20 + i)
		f.texts[20+i].numbers = []number{at(i, 5, 6, false)}
	}
	for value, want := range map[int32]int{7: 27, 8: -1} {
		f.texts[30] = text{shingles: []int32{2}, numbers: []number{at(value, 5, 6, false)}}
		if got := f.best(30, 1); got.Of != want || slices.Max(f.met) != 0 {
			t.Errorf("with the number %d: a copy of %d, want %d; left are %v", value, got.Of, want, f.met)
		}
	}
	most := finder{met: make([]int32, 11), known: make([][]int32, 2), texts: make([]text, 11)}
	for i := range int32(10) {
		most.texts[i].shingles = []int32{0, 1}[:1+i/9] // the last has both
		most.register(i)
	}
	most.texts[10].shingles = []int32{0, 1}
	if got := most.best(10, 1); got.Of != 9 {
		t.Errorf("of ten, a copy of %d, want the last, which shares most", got.Of)
	}
	// Of equal ones the earliest, and of others the nearest.
	g := finder{met: make([]int32, 5), known: make([][]int32, 6), texts: []text{{shingles: []int32{0, 1}}, {shingles: []int32{0, 1, 2}}, {shingles: []int32{0, 1, 2}}, {shingles: []int32{0, 3}}, {shingles: []int32{0, 1, 2, 4}}}}
	for i := range int32(4) {
		g.register(i)
	}
	for _, row := range []struct {
		threshold float64
		want      string
	}{{0.5, "{1 3 4}"}, {0.75, "{1 3 4}"}, {0.76, "{-1 0 4}"}} {
		if got := fmt.Sprint(g.best(4, row.threshold)); got != row.want {
			t.Errorf("at %v: %s, want %s", row.threshold, got, row.want)
		}
	}
	// The first is found by one of its shingles alone, and shares as many.
	h := finder{met: make([]int32, 3), known: [][]int32{nil, {0, 1}, {1}}, texts: []text{{shingles: []int32{0, 1}}, {shingles: []int32{1, 2}}, {shingles: []int32{0, 1, 2}}}}
	if got := fmt.Sprint(h.best(2, 0.5)); got != "{0 2 3}" {
		t.Errorf("of two that share as many, one found by more shingles: %s, want the earlier", got)
	}
}

// A number is known by two words on each side, the nearest first.
func TestContexts(t *testing.T) {
	f := finder{words: map[string]int32{"#": masked}, shingles: make(map[[shingle]int32]int32), texts: make([]text, 1)}
	f.read(0, "a b 7 c 8")
	word := func(text string) int32 { return f.words[text] }
	want := []number{
		at(word("8"), word("c"), masked, false), at(word("7"), word("b"), word("a"), false),
		at(word("8"), edge, edge, true), at(word("7"), word("c"), masked, true),
	}
	got := slices.Clone(f.texts[0].numbers)
	for _, n := range want {
		if !slices.Contains(got, n) {
			t.Errorf("%+v is not among %+v", n, got)
		}
	}
	if len(got) != len(want) || !slices.IsSortedFunc(got, number.compare) {
		t.Errorf("got %+v, want these in order: %+v", got, want)
	}
}
