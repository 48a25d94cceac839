package cupelrelevance

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/wollax/cupel-go/cupel"
)

func termsOf(text string) []string {
	var terms []string
	newTokenizer(func(term []byte, word bool) {
		if word {
			terms = append(terms, string(term))
		} else {
			terms = append(terms, "="+string(term))
		}
	}).text(text)
	return terms
}

func TestTokenizer(t *testing.T) {
	long := strings.Repeat("x", maxTerm)
	names := make(map[string]bool)
	for _, c := range []struct {
		name, text string
		want       []string // those that have no stem with =
		why        string
	}{
		{"camel", "getUserName", []string{"get", "user", "name", "=getusername"}, "an identifier gives its parts and itself"},
		{"acronym inside", "parseHTTPHeader", []string{"parse", "http", "header", "=parsehttpheader"}, "the last capital of a run begins the next part"},
		{"snake", "max_upload__bytes_", []string{"max", "upload", "bytes", "=maxuploadbytes"}, "underscores separate parts, and getUser and get_user are the same whole"},
		{"underscores alone", "a ___ b", []string{"a", "b"}, "they are no word"},
		{"digits", "sha256 v1.24 3,000", []string{"sha256", "v1", "24", "3", "000"}, "digits are letters, points and commas separate"},
		{"digit then capital", "utf8Valid", []string{"utf8", "valid", "=utf8valid"}, "a capital after a digit begins a part"},
		{"apostrophe", "don't l’eau", []string{"don", "t", "l", "eau"}, "apostrophes of any shape separate"},
		{"accents", "Ärger RÉSUMÉ", []string{"ärger", "résumé"}, "letters beyond ASCII have small forms, too"},
		{"combining", "e\u0301te\u0301", []string{"e\u0301te\u0301"}, "marks belong to the letter before"},
		{"han", "会議室です", []string{"=会議", "=議室", "=室で", "=です"}, "overlapping pairs"},
		{"han alone", "猫 〇 と", []string{"=猫", "=〇", "=と"}, "a character alone is a term"},
		{"han and latin", "Goの本xyz", []string{"go", "=の本", "xyz"}, "a change of the way of writing separates"},
		{"hangul", "회의실", []string{"=회의", "=의실"}, "Korean endings are glued to the word"},
		{"thai", "ประชุม", []string{"=ปร", "=ระ", "=ะช", "=ชุ", "=ุม"}, "Thai has no spaces between words"},
		{"hebrew with marks", "\u200fשלום\u200e", []string{"שלום"}, "direction marks do not show and do not count"},
		{"emoji", "done👩‍👧🏽 ok ☀ ⬀ 🀀", []string{"done", "=👩", "=👧", "ok", "=☀", "=⬀", "=🀀"}, "each picture is a term, however they are put together"},
		{"drawing", "a ─┤ ⠋ b", []string{"a", "b"}, "lines are no pictures"},
		{"width", "ＡＢ１ ｶﾀｶﾅ", []string{"ab1", "=カタ", "=タカ", "=カナ"}, "letters have one width"},
		{"keycap", "1\ufe0f", []string{"1"}, "variation selectors do not count"},
		{"invalid", "ab\xffcd\xc3", []string{"ab", "cd"}, "bytes that are not UTF-8 separate"},
		{"replacement character", "ab\ufffdcd", []string{"ab", "cd"}, "it is a symbol like others"},
		{"long", long + "yyy z", []string{long, "z"}, "the first 64 bytes count"},
		{"long with capitals", "Y" + long + "yyy z", []string{"y" + long[1:], "z"}, "the same on the slow way"},
		{"title case", "ǅungla", []string{"ǆungla"}, "a letter that is two counts as a capital"},
	} {
		if names[c.name] || c.why == "" {
			t.Errorf("row %q is there twice or does not say why", c.name)
		}
		names[c.name] = true
		if got := termsOf(c.text); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q gives %q, want %q: %s", c.name, c.text, got, c.want, c.why)
		}
	}
}

// FuzzTokenizer checks what holds for any text.
func FuzzTokenizer(f *testing.F) {
	for _, seed := range []string{"", "getUserName", "会議室です Go", "e\u0301\xff\u200f_A_b", strings.Repeat("aA", 100), "👩‍👩‍👧‍👦", "ุุุุ", "ǅ İstanbul"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		terms := 0
		newTokenizer(func(term []byte, _ bool) {
			terms++
			if len(term) == 0 || len(term) >= maxTerm+utf8.UTFMax || !utf8.Valid(term) {
				t.Fatalf("%q gives the term %q", text, term)
			}
		}).text(text)
		if terms > 2*len(text) {
			t.Fatalf("%q gives %d terms", text, terms)
		}
		first := termsOf(text)
		if again := termsOf(text); !slices.Equal(first, again) {
			t.Fatalf("%q gives %q and then %q", text, first, again)
		}
		// A separator between two texts keeps them apart.
		if got, want := termsOf(text+" . "+text), slices.Concat(first, first); !slices.Equal(got, want) {
			t.Fatalf("%q twice gives %q, want %q", text, got, want)
		}
	})
}

// hostileTexts cost the most that text of their kind can.
var hostileTexts = map[string]func(bytes int) string{
	"one word":         func(n int) string { return strings.Repeat("a", n) },
	"one capital word": func(n int) string { return strings.Repeat("A", n) },
	"camel":            func(n int) string { return strings.Repeat("aB", n/2) },
	"snake":            func(n int) string { return strings.Repeat("a_", n/2) },
	"underscores":      func(n int) string { return strings.Repeat("_", n) },
	"invalid":          func(n int) string { return strings.Repeat("\xff\xc0", n/2) },
	"right to left":    func(n int) string { return strings.Repeat("שלום\u200f", n/11) },
	"marks":            func(n int) string { return "a" + strings.Repeat("\u0301", n/2) },
	"joiners":          func(n int) string { return strings.Repeat("\u200d", n/3) },
	"emoji":            func(n int) string { return strings.Repeat("👩‍👩‍👧‍👦", n/25) },
	"han":              func(n int) string { return strings.Repeat("会議", n/6) },
	"endings":          func(n int) string { return strings.Repeat("ational", n/7) },
	"different words": func(n int) string {
		var b strings.Builder
		for i := 0; b.Len() < n; i++ {
			fmt.Fprintf(&b, "w%x ", i)
		}
		return b.String()
	},
}

// TestHostileTexts reads them. With CUPEL_BENCH_GUARD set it measures that too: a
// text may take no more than four times as long as its sixteen parts one after
// the other; what is quadratic takes sixteen times.
func TestHostileTexts(t *testing.T) {
	guard := os.Getenv("CUPEL_BENCH_GUARD") != ""
	cost := func(text string, times int) time.Duration {
		items := []*cupel.ContextItem{item(t, text), item(t, "a roof")}
		start := time.Now()
		for range times {
			scores := scoresOf(t, Must(New(Must(NewIndex()), text[:len(text)/2])), items)
			for _, score := range scores {
				if !(score >= 0 && score <= 1) {
					t.Errorf("the scores are %v", scores)
				}
			}
		}
		return time.Since(start)
	}
	for name, text := range hostileTexts {
		t.Run(name, func(t *testing.T) {
			const times = 16
			small, large := text(1<<20/times), text(1<<20)
			if !guard {
				cost(small, 1)
				return
			}
			parts, whole := time.Hour, time.Hour // the least of rounds that take turns
			for round := 0; round < 2 || round < 20 && whole > 4*parts; round++ {
				parts, whole = min(parts, cost(small, times)), min(whole, cost(large, 1))
			}
			if whole > 4*parts {
				t.Errorf("%d parts of 1 MiB take %v, the whole %v", times, parts, whole)
			}
		})
	}
}
