package cupelreduce_test

import (
	"bytes"
	"encoding/base64"
	"math/bits"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/wollax/cupel-go/cupelreduce"
)

// texts are of every kind, and some are hostile.
var texts = map[string]string{
	"empty":           "",
	"blank lines":     "\n\n \n\t\n",
	"json object":     reservation,
	"json array":      `[[1,2,[3,"a b",null]],{"":"x","k":{"k":"k"}},"é",-1e9,true]`,
	"json list":       `{"ids":["A1","B2","C3","D4","E5","F6","G7","H8","I9","J10","K11","L12","M13","N14","O15","P16"]}`,
	"json in json":    `{"content":[{"type":"text","text":"{\"id\":\"A-17\",\"file\":\"a/b.go\",\"note\":\"caf\u00e9 \\\"x\\\" and more of it than is short\"}"}]}`,
	"output in json":  `{"exit_code":1,"stdout":"go test ./...\nok\tpkg\t0.1s\nok\tpkg\t0.1s\n--- FAIL: TestX (0.0s)\n    x_test.go:41: got 3\nFAIL\n","cwd":"/src/app"}`,
	"json escapes":    `{"s":"` + strings.Repeat(`\ud83d\ude00\\\"\u00e9`, 40) + `"}`,
	"json backslash":  `{"s":"` + strings.Repeat(`\\`, 300) + `"}`,
	"json long key":   `{"` + strings.Repeat("key", 100) + `":[{"a":1},{"a":2},{"a":3}]}`,
	"json deep":       strings.Repeat("[", 2000) + strings.Repeat("]", 2000),
	"json too deep":   strings.Repeat("[", 20000) + strings.Repeat("]", 20000),
	"not quite json":  `{"a": 1,}`,
	"log":             "$ make\ncc -c a.c\n" + strings.Repeat("cc -c b.c -o b.o\n", 30) + "b.c:17:3: error: expected ';'\nmake: *** [Makefile:4: b.o] Error 1\n",
	"listing":         "AUTHORS.rst\nCHANGELOG.rst\nsrc/\ntests/test_fields.py\nsetup.py\n",
	"code":            "package a\n\nimport \"fmt\"\n\n// F prints.\nfunc F(x int) {\n\tif x > 0 {\n\t\tfmt.Println(x)\n\t}\n}\n\ntype T struct {\n\ta int\n}\n",
	"numbered code":   "[File: src/a.py (99 lines total)]\n1:import re\n2:\n3:class A(B):\n4:    def f(self, x):\n5:        return x\n6:\n7:    def g(self):\n8:        raise ValueError(x)\n",
	"diff":            "diff --git a/x.go b/x.go\nindex 12..34 100644\n--- a/x.go\n+++ b/x.go\n@@ -1,7 +1,7 @@ func X\n ctx\n-old1\n-old2\n-old3\n-old4\n+new1\n+new2\n ctx\n",
	"prose":           "The roof leaks. It has done so for years.\n\nCall +49-30-1234 or write to roof@example.com. They know. Ask for case R-17.\n\nNothing else matters here. At all.\n",
	"one long line":   strings.Repeat("word ", 4000),
	"no spaces":       strings.Repeat("x", 20000),
	"signs":           strings.Repeat("./-@_", 4000),
	"not utf-8":       "a\xff\xfeb\n\xc3(\n" + strings.Repeat("\x80", 300) + "\nerror at /a/b\xff\n",
	"wide characters": strings.Repeat("日本語のテキストです。\n", 200),
	"windows":         "a.txt\r\nb.txt\r\n\r\nerror: c.txt\r\n",
	"marker":          "…\n…\n… 3 more\n",
}

// large are texts of some size whose parts are alike.
var large = map[string]string{
	"csv":         numbered("row %d,a value,another,12.5\n", 900),
	"rows":        "[" + numbered(`{"id":"A%04d","name":"some name","amount":12.5,"on":true},`, 400) + "1]",
	"indented":    "[\n" + numbered("  {\n    \"id\": \"A%04d\",\n    \"name\": \"some name\"\n  },\n", 300) + "  1\n]\n",
	"minified":    strings.ReplaceAll(numbered("function f%d(a,b){return a+b};", 800), "\n", ""),
	"base64":      base64.StdEncoding.EncodeToString(bytes.Repeat([]byte("any bytes 123"), 2000)),
	"text inside": `{"status":"ok","output":"` + strings.Repeat(`a line of output\n`, 500) + `","more":"` + strings.Repeat("words ", 900) + `"}`,
	"paragraphs":  numbered("Paragraph %d says something. It goes on about what it says, in a way that is long and that is no use to anyone, for the sake of a test that needs such lines.\n\n", 90),
	"html":        numbered("<div>\n  <p class=\"c%d\">text</p>\n</div>\n", 300),
	"rubbish":     strings.Repeat("\x00\x01\xff\xfe\x80", 3000),
}

// FuzzTo holds what the package promises for any text.
func FuzzTo(f *testing.F) {
	for _, text := range texts {
		text = text[:min(len(text), 1000)] // long ones leave little time for others
		f.Add(text, 5, "HAT113")
		f.Add(text, 40, text)
	}
	f.Fuzz(func(t *testing.T, text string, tokens int, says string) {
		var known cupelreduce.Known
		known.Add(says)
		for _, options := range [][]cupelreduce.Option{{nil}, {cupelreduce.WithKnown(&known)}, {cupelreduce.WithKind(cupelreduce.KindCode)}} {
			check(t, cupelreduce.Read(text, options...), text, tokens%5000, count)
		}
	})
}

func count(s string) int { return (len(s) + 3) / 4 }

// counters count about additively.
var counters = map[string]func(string) int{
	"bytes":      count,
	"characters": func(s string) int { return (utf8.RuneCountInString(s) + 3) / 4 },
	"words": func(s string) int {
		return len(strings.FieldsFunc(s, func(r rune) bool { return !unicode.IsLetter(r) })) + len(s)/8
	},
}

func TestPromises(t *testing.T) {
	for name, counter := range counters {
		for _, all := range []map[string]string{texts, large} {
			for which, text := range all {
				t.Run(name+"/"+which, func(t *testing.T) {
					var known cupelreduce.Known
					known.Add(text[:len(text)/2])
					for _, knows := range []*cupelreduce.Known{nil, &known} {
						read := cupelreduce.Read(text, cupelreduce.WithCounter(counter), cupelreduce.WithKnown(knows))
						require.Equal(t, counter(strings.ToValidUTF8(text, "?")), read.Tokens())
						before := ""
						for tokens := 1; tokens < 2*read.Tokens(); tokens += 1 + tokens/3 {
							out := check(t, read, text, tokens, counter)
							nested(t, before, out)
							before = out
						}
					}
				})
			}
		}
	}
}

// check checks a form of a text, and returns it.
func check(t *testing.T, read *cupelreduce.Text, text string, tokens int, counter func(string) int) string {
	t.Helper()
	clean := strings.ToValidUTF8(text, "?")
	out := read.To(tokens)
	size, whole := counter(out), read.Tokens()
	switch {
	case out != read.To(tokens):
		t.Fatalf("the same size differs from one time to the next")
	case !utf8.ValidString(out):
		t.Fatalf("not UTF-8: %q", out)
	case whole <= tokens && out != clean:
		t.Fatalf("a text that fits was changed: %q", out)
	case size > max(0, tokens):
		t.Fatalf("%d tokens for %d: %q", size, tokens, out)
	case whole > tokens && tokens >= 16 && float64(size) < 0.95*float64(tokens)-6: // a key and a value of 12 bytes each are not cut
		t.Fatalf("%d tokens of %d: %q", size, tokens, out)
	}
	return out
}

// nested checks that a form has the words of a smaller one, but for those of its
// marks and those that were cut.
func nested(t *testing.T, small, large string) {
	t.Helper()
	separates := func(r rune) bool { return strings.ContainsRune(" \t=,\":\\\n", r) }
	there := make(map[string]bool) // lines and words of the larger form
	for line := range strings.SplitSeq(large, "\n") {
		there[line] = true
	}
	for word := range strings.FieldsFuncSeq(large, separates) {
		there[word] = true
	}
	for line := range strings.SplitSeq(small, "\n") {
		if there[line] || strings.Contains(large, line) {
			continue // and so are its words
		}
		words := strings.FieldsFunc(line, separates)
		for i, word := range words {
			cut := strings.Contains(line, "…") && (i >= len(words)-3 || strings.ContainsAny(word, "…+") || i > 0 && strings.HasPrefix(words[i-1], "+"))
			escaped := strings.Contains(large, `\u`) && strings.ContainsFunc(word, func(r rune) bool { return r >= utf8.RuneSelf })
			if !there[word] && !cut && !escaped && !strings.Contains(large, word) {
				t.Fatalf("%q of %q is lost in the larger form:\n%s\n---\n%s", word, line, small, large)
			}
		}
	}
}

func TestSizes(t *testing.T) {
	for name, counter := range counters {
		for which, text := range large {
			read := cupelreduce.Read(text, cupelreduce.WithCounter(counter))
			sizes := read.Sizes()
			for i, s := range sizes[:len(sizes)-1] {
				next := sizes[i+1]
				if s.Tokens >= next.Tokens || s.Worth >= next.Worth || s.Tokens > 40 && float64(next.Tokens) > 1.6*float64(s.Tokens) {
					t.Errorf("%s of %s: size %d is %+v, and then comes %+v", name, which, i, s, next)
				}
			}
			assert.Equal(t, read.Tokens(), sizes[len(sizes)-1].Tokens, "%s of %s", name, which)
		}
	}
}

// TestCounters holds the limit for counters whose counts do not add up.
func TestCounters(t *testing.T) {
	for name, counter := range map[string]func(string) int{
		"with overhead":  func(s string) int { return len(s)/4 + 7 },
		"super-additive": func(s string) int { return len(s) * len(s) / 50 },
		"steep":          func(s string) int { return len(s) * len(s) * len(s) * len(s) / 100_000 },
		"sub-additive":   func(s string) int { return min(len(s), 30) },
		"large":          func(s string) int { return len(s) * 9 },
		"nothing":        func(string) int { return 0 },
	} {
		for which, text := range texts {
			calls := 0
			read := cupelreduce.Read(text, cupelreduce.WithCounter(func(s string) int { calls++; return counter(s) }))
			read.Sizes()
			for _, tokens := range []int{0, 3, 12, 31, 200} {
				calls = 0
				out := read.To(tokens)
				if out != "" && counter(out) > tokens {
					t.Errorf("%s: %s in %d tokens has %d", name, which, tokens, counter(out))
				}
				assert.LessOrEqual(t, calls, min(24, 2+bits.Len(uint(len(text)))*2), "%s: %s of %d bytes in %d tokens", name, which, len(text), tokens)
			}
		}
	}
}

// TestNothing has forms that say nothing, and are left out, and one that says a little.
func TestNothing(t *testing.T) {
	for _, tt := range []struct {
		text   string
		tokens int
		want   string
		why    string
	}{
		{"bash-$\n/src/app/main.go: not found\n", 2, "", "a prompt is no answer"},
		{"}\n{\n\n}\nthe only words of it\n}\n", 1, "", "nor is a bracket"},
		{"<div>\n<div>\n</div>\n<p>\n</p>\n</div>\n", 5, "", "nor are tags"},
		{strings.Repeat("----\n", 20), 10, "", "nor a rule"},
		{`{"reservation_id":"UM3OG5"}`, 2, "", "nor a key"},
		{`{"passengers_of_it":{"name":"Anna Maria of the long name and more"}}`, 8, `passengers_of_it: name="Anna …`, "but a part of a value is an answer"},
		{"", 5, "", "nothing is nothing"},
		{"some words", 0, "", "no room"},
	} {
		assert.Equal(t, tt.want, cupelreduce.To(tt.text, tt.tokens), "%q in %d tokens: %s", tt.text, tt.tokens, tt.why)
	}
}

// TestCounted counts how much the counter reads: the whole once, and forms of the
// size that was asked for a few times.
func TestCounted(t *testing.T) {
	for _, lines := range []int{100, 1000, 10000} {
		text := numbered("file%d.go: line with some words\n", lines)
		calls, read := 0, 0
		counter := func(s string) int {
			calls++
			read += len(s)
			return len(s) / 4
		}
		cupelreduce.To(text, len(text)/32, cupelreduce.WithCounter(counter))
		assert.LessOrEqual(t, calls, 10, "%d lines", lines)
		assert.LessOrEqual(t, read, 3*len(text), "%d lines", lines)
	}
}

func TestKindNames(t *testing.T) {
	for i, want := range []string{"log", "prose", "code", "diff", "json", "unknown kind"} {
		assert.Equal(t, want, cupelreduce.Kind(i).String(), "kind %d", i)
	}
}

func TestDetect(t *testing.T) {
	for name, want := range map[string]cupelreduce.Kind{
		"empty": cupelreduce.KindLog, "json object": cupelreduce.KindJSON, "json array": cupelreduce.KindJSON, "not quite json": cupelreduce.KindLog,
		"log": cupelreduce.KindLog, "listing": cupelreduce.KindLog, "code": cupelreduce.KindCode, "numbered code": cupelreduce.KindCode,
		"diff": cupelreduce.KindDiff, "prose": cupelreduce.KindProse,
	} {
		assert.Equal(t, want, cupelreduce.Detect(texts[name]), name)
	}
	for text, want := range map[string]cupelreduce.Kind{
		"It is so.\nIt is here.\nwords\nmore": cupelreduce.KindProse, "It is so.\nwords\nmore\nno": cupelreduce.KindLog, "It is so.\nwords\nmore": cupelreduce.KindLog,
		"class A\nx\ny\nz": cupelreduce.KindCode, "class A\nx\ny\nz\nz": cupelreduce.KindLog, "class A\nx\n": cupelreduce.KindLog, "class A\nx\ny": cupelreduce.KindCode, "{\n}\n;\n": cupelreduce.KindLog,
		" [1]\n": cupelreduce.KindJSON, "{": cupelreduce.KindLog,
		"def f:\n1\n2\n3\n4\n5\n(\n;": cupelreduce.KindCode,
	} {
		assert.Equal(t, want, cupelreduce.Detect(text), text)
	}
	require.Equal(t, cupelreduce.KindLog, cupelreduce.Detect("type of room\nnumber of beds\nview of the sea\nbalcony\nbreakfast\n"), "a line begins with type")
}

// TestKnown says what a text makes known, and what it does not.
func TestKnown(t *testing.T) {
	for _, tt := range []struct {
		says, text string
		rank       int
		want, why  string
	}{
		{`{"cabin":"economy"}`, `{"cabin":"economy","class":"economy","seat":"aisle"}`, 3, "class=economy seat=aisle\n… +1", "a word is known after its key alone"},
		{"see UM3OG5", `{"seat":"aisle","reservation_id":"UM3OG5"}`, 3, "seat=aisle\n… +1", "a name is known anywhere"},
		{"see UM3OG5", `{"reservation_id":"UM3OG5","seat":"aisle"}`, 3, "reservation_id=UM3OG5 seat=aisle", "a new version needs the name of the old"},
		{"order #W2378156", `{"seat":"aisle","order_id":"#W2378156"}`, 3, "seat=aisle\n… +1", "a sign in front is not part of it"},
		{"see UM3OG5", `{"reservation_id":"UM3OG5"}`, 3, "", "but alone it is not repeated"},
		{"seat=,", `{"seat":",","class":"economy"}`, 3, `seat="," class=economy`, "a sign ends a value, and is none"},
		{`"price": 117,`, `{"price":117,"tax":117,"name":"something"}`, 3, "tax=117 name=something\n… +1", "so are numbers after their key"},
		{"open a/b.go\n", "open a/b.go\nopen a/c.go\n", 2, "… +1\nopen a/c.go", "a line is known"},
		{"it is in a/b.go", "found a/b.go\nfound a/c.go\n", 2, "… +1\nfound a/c.go", "so is a line whose names all are"},
	} {
		var known cupelreduce.Known
		known.Add(tt.says)
		assert.Equal(t, tt.want, cupelreduce.Ranked(tt.text, tt.rank, cupelreduce.WithKnown(&known)), "after %q: %s", tt.says, tt.why)
	}
}

// A text that is the same for a reader who knows something else has the same forms, and
// what was read for that reader says so.
func TestSame(t *testing.T) {
	same, others := 0, 0
	for name, text := range texts {
		for other, says := range texts {
			var none, known cupelreduce.Known
			known.Add(says)
			was, is := cupelreduce.Read(text, cupelreduce.WithKnown(&none)), cupelreduce.Read(text, cupelreduce.WithKnown(&known))
			if !is.Same(&known) || !was.Same(nil) {
				t.Fatalf("%s differs from itself for a reader of %s", name, other)
			}
			if !was.Same(&known) {
				others++
				continue
			}
			same++
			for _, size := range was.Sizes() {
				require.Equal(t, is.To(size.Tokens), was.To(size.Tokens), "%s for a reader of %s", name, other)
			}
		}
	}
	require.NotZero(t, same)
	require.NotZero(t, others)
}

func TestFacts(t *testing.T) {
	for _, test := range []struct {
		text string
		want []string
		why  string
	}{
		{"open src/crypto.go and edit chal_key", []string{"src/crypto.go", "chal_key"}, "paths and identifiers"},
		{"see https://example.org/a?b=1#c, please", []string{"https://example.org/a?b=1#c"}, "URLs, without the comma after them"},
		{"it is at https://example.org/a?b=1.", []string{"https://example.org/a?b=1"}, "also at the end of a line"},
		{`status: 404, retries=7`, []string{"404", "7"}, "numbers after a key"},
		{`say "the red lever" now, or "then"`, []string{"the red lever", "then"}, "quoted texts"},
		{"ok\nValueError: bad\nmore", []string{"ValueError", "ValueError: bad"}, "lines that speak of errors"},
	} {
		got := slices.Collect(cupelreduce.Facts(test.text))
		for _, want := range test.want {
			assert.Contains(t, got, want, "%q: %s", test.text, test.why)
		}
		for n := range got {
			for range cupelreduce.Facts(test.text) {
				if n--; n < 0 {
					break // a caller may stop at any fact
				}
			}
		}
	}
	for name, text := range texts {
		for f := range cupelreduce.Facts(text) {
			require.NotEmpty(t, f, name)
			require.Contains(t, text, f, name)
		}
	}
}

func TestFind(t *testing.T) {
	for _, tt := range []struct {
		text, value string
		want        []int
		why         string
	}{
		{"a", "", nil, "nothing is a word"},
		{"id: an id", "id", []int{0, 7}, "at both ends"},
		{"ids, kid, Xid, id1, id_1, #id.", "id", []int{27}, "a part of a word is none"},
		{"aa-aa-aa", "aa-aa", []int{0}, "places do not overlap"},
		{"Àid東", "id", []int{2}, "only letters of ASCII belong to a word"},
	} {
		assert.Equal(t, tt.want, slices.Collect(cupelreduce.Find(tt.text, tt.value)), "%q in %q: %s", tt.value, tt.text, tt.why)
		for range cupelreduce.Find(tt.text, tt.value) {
			break // a caller may stop
		}
	}
}

// TestWholeInParts: when the beginning of the document replaces its parts, each value
// stands once, in the one or among the others.
func TestWholeInParts(t *testing.T) {
	for name, text := range map[string]string{
		"values":            `{"a":{"b":"A-101","c":"A-102"},"d":["A-103"],"e":{"f":"A-104"},"g":"A-105"}`,
		"a document inside": `{"g":"A-101","in":"[[9000102],[9000103],[9000104],[[9000105],[9000106]],[9000107]]","h":"A-108"}`,
		"a text inside":     `{"g":"A-101","in":"the file A-102, then A-103, and also A-104, and at last the file A-105","h":"A-106"}`,
		"escapes":           `{"g":"A-101","in":"{\"g\":\"A-102\",\"in\":\"{\\\"a\\\":\\\"A-103\\\",\\\"b\\\":[{\\\"c\\\":\\\"A-104\\\"},{\\\"c\\\":\\\"A-105\\\"}]}\",\"h\":\"A-106\"}","h":"A-107"}`,
	} {
		text = strings.ReplaceAll(text, ",", ","+strings.Repeat(" ", 12)) // so that the whole has more room than the parts
		read := cupelreduce.Read(text, cupelreduce.WithCounter(func(s string) int { return len(s) }))
		for tokens := range len(text) {
			form := read.To(tokens)
			if !strings.HasPrefix(form, text[:2]) {
				continue
			}
			for _, value := range ids.FindAllString(text, -1) {
				// The places of what is escaped are found to a few bytes.
				if got := strings.Count(form, value); got == 0 || got > 1 && name != "escapes" {
					t.Errorf("%s: %s stands %d times in %s", name, value, got, form)
				}
			}
		}
	}
}

// ids are the values of TestWholeInParts.
var ids = regexp.MustCompile(`A-1..|90001..`)
