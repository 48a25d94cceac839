package cupelreduce_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

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

// FuzzReduce holds what the package promises for any text.
func FuzzReduce(f *testing.F) {
	for _, text := range texts {
		text = text[:min(len(text), 1000)] // long ones leave little time for others
		f.Add(text, 5, "HAT113")
		f.Add(text, 40, text)
	}
	f.Fuzz(func(t *testing.T, text string, tokens int, says string) {
		check(t, text, tokens%5000, says)
	})
}

func TestPromises(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for name, text := range texts {
		t.Run(name, func(t *testing.T) {
			for _, tokens := range []int{-1, 0, 1, 2, 5, 10, 20, 50, 100, 1000} {
				check(t, text, tokens, "")
				check(t, text, tokens, text)
			}
		})
	}
	// Texts put together from pieces of all kinds, cut anywhere.
	t.Run("mixed", func(t *testing.T) {
		var all []byte
		for _, text := range texts {
			all = append(all, text[:min(len(text), 400)]...)
		}
		for range 300 {
			from := random.IntN(len(all))
			text := all[from:min(len(all), from+random.IntN(2000))]
			check(t, string(text), random.IntN(200), string(all[random.IntN(len(all)):]))
		}
	})
}

func check(t *testing.T, text string, tokens int, says string) {
	t.Helper()
	var known cupelreduce.Known
	known.Add(says)
	clean := strings.ToValidUTF8(text, "?")
	isJSON := cupelreduce.Detect(text) == cupelreduce.KindJSON
	if isJSON {
		for _, out := range cupelreduce.Valid(text) {
			if !json.Valid([]byte(out)) {
				t.Fatalf("a form is no JSON: %q", out)
			}
		}
	}
	for _, kind := range []cupelreduce.Kind{cupelreduce.KindLog, cupelreduce.KindProse, cupelreduce.KindCode, cupelreduce.KindDiff, cupelreduce.KindJSON} {
		option := cupelreduce.WithKind(kind)
		asJSON := isJSON && kind == cupelreduce.KindJSON
		for _, knows := range []*cupelreduce.Known{nil, &known} {
			known := cupelreduce.WithKnown(knows)
			whole := count(clean)
			out := cupelreduce.Reduce(text, tokens, option, known)
			checkText(t, clean, out, asJSON)
			if out != cupelreduce.Reduce(text, tokens, option, known) {
				t.Fatalf("Reduce differs from one time to the next")
			}
			if got := count(out); got > max(0, tokens) {
				t.Fatalf("Reduce to %d tokens gives %d: %q", tokens, got, out)
			}
			if whole <= tokens && out != clean {
				t.Fatalf("Reduce changed a text that fits: %q", out)
			}
			forms := cupelreduce.Forms(text, option, known)
			for i, f := range forms {
				checkText(t, clean, f.Text, asJSON)
				if f.Tokens != count(f.Text) || f.Worth <= 0 {
					t.Fatalf("form %d has %d tokens and worth %v: %q", i, f.Tokens, f.Worth, f.Text)
				}
				if i > 0 && (f.Tokens <= forms[i-1].Tokens || f.Worth <= forms[i-1].Worth) {
					t.Fatalf("form %d is no larger than the one before: %+v, %+v", i, forms[i-1], f)
				}
			}
			if forms[len(forms)-1].Text != clean {
				t.Fatalf("the last form is not the text")
			}
		}
	}
}

func count(s string) int { return (len(s) + 3) / 4 }

// checkText checks that an outline is valid UTF-8, no longer than the text, and
// made of its lines or values.
func checkText(t *testing.T, text, out string, isJSON bool) {
	t.Helper()
	if !utf8.ValidString(out) {
		t.Fatalf("not UTF-8: %q", out)
	}
	if len(out) > len(text) {
		t.Fatalf("longer than the text: %q, %q", out, text)
	}
	if out == text || out == "" {
		return
	}
	if isJSON {
		checkValues(t, text, out)
		return
	}
	lines := strings.Split(text, "\n")
	at := 0
	for line := range strings.SplitSeq(out, "\n") {
		if line == "…" {
			continue
		}
		for at < len(lines) && strings.TrimRight(lines[at], " \t\r") != line &&
			!(strings.HasSuffix(line, "…") && strings.HasPrefix(lines[at], strings.TrimSuffix(line, "…"))) {
			at++
		}
		if at == len(lines) {
			t.Fatalf("line %q is no line of the text behind the one before:\n%s\n---\n%s", line, out, text)
		}
		at++
	}
}

// leftOut is what ends an outline of a document.
var leftOut = regexp.MustCompile(`\n… \+\d+ (values?|lines?)(, \+\d+ lines?)?$`)

// checkValues checks that the words of an outline that no ellipsis cut are in the
// document.
func checkValues(t *testing.T, text, out string) {
	t.Helper()
	if json.Valid([]byte(out)) {
		return
	}
	// What stands inside strings may be spelled without their escapes.
	decoded := text
	for range 4 {
		decoded = unescape(decoded)
		text += decoded
	}
	said := leftOut.ReplaceAllString(out, "")
	for _, word := range strings.FieldsFunc(said, func(r rune) bool { return strings.ContainsRune(" \n=,\":", r) }) {
		if !strings.Contains(word, "…") && !strings.Contains(text, word) && strings.Trim(word, "0123456789") != "" {
			t.Fatalf("%q is not in the document:\n%s\n---\n%s", word, out, text)
		}
	}
}

// unescape takes away one level of escapes, wherever they are.
func unescape(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			b.WriteByte(s[i])
			continue
		}
		i++
		switch s[i] {
		case 'n', 'r', 't', 'b', 'f':
			b.WriteByte("\n\r\t\b\f"[strings.IndexByte("nrtbf", s[i])])
		case 'u':
			var r string
			end := min(len(s), i+11)
			if json.Unmarshal([]byte(`"\`+s[i:end]+`"`), &r) != nil || !strings.HasPrefix(s[i:end][5:], `\u`) {
				end = min(len(s), i+5)
				_ = json.Unmarshal([]byte(`"\`+s[i:end]+`"`), &r)
			}
			b.WriteString(r)
			i = end - 1
		default:
			b.WriteByte(s[i])
		}
	}
	return b.String()
}

// TestWhatSurvives says for each kind what must be there at a small size, and why.
func TestWhatSurvives(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		tokens     int
		want       []string
		because    string
	}{
		{"json", texts["json object"], 20, []string{"reservation_id=UM3OG5", "flight_number=HAT113"}, "ids come before names and amounts"},
		{"json list", texts["json list"], 22, []string{"ids=A1,B2", ",H8"}, "a list of ids is cheap and says what there is to ask for"},
		{"json in json", texts["json in json"], 22, []string{"id=A-17", "file=a/b.go"}, "servers answer with documents inside strings"},
		{"output in json", texts["output in json"], 32, []string{"cwd=/src/app", "stdout:\n", "--- FAIL: TestX", "x_test.go:41"}, "and with outputs inside strings"},
		{"log", texts["log"], 35, []string{"$ make", "b.c:17:3: error: expected ';'", "Error 1"}, "the command and its errors, not what repeats"},
		{"listing", texts["listing"], 20, []string{"AUTHORS.rst", "setup.py"}, "each line names a file"},
		{"code", texts["code"], 20, []string{"package a", "func F(x int) {", "type T struct {"}, "declarations without their bodies"},
		{"numbered code", texts["numbered code"], 30, []string{"3:class A(B):", "4:    def f(self, x):", "7:    def g(self):"}, "line numbers of a viewer do not hide declarations"},
		{"diff", texts["diff"], 30, []string{"diff --git a/x.go b/x.go", "@@ -1,7 +1,7 @@ func X", "-old1"}, "headers and what changes first"},
		{"prose", texts["prose"], 35, []string{"The roof leaks.…", "+49-30-1234"}, "the first sentence, and what names a way to ask on"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			out := cupelreduce.Reduce(tt.text, tt.tokens)
			for _, want := range tt.want {
				if !strings.Contains(out, want) {
					t.Errorf("%q is missing, although %s:\n%s", want, tt.because, out)
				}
			}
		})
	}
}

func TestDetect(t *testing.T) {
	for name, want := range map[string]cupelreduce.Kind{
		"empty": cupelreduce.KindLog, "json object": cupelreduce.KindJSON, "json array": cupelreduce.KindJSON, "not quite json": cupelreduce.KindLog,
		"log": cupelreduce.KindLog, "listing": cupelreduce.KindLog, "code": cupelreduce.KindCode, "numbered code": cupelreduce.KindCode,
		"diff": cupelreduce.KindDiff, "prose": cupelreduce.KindProse,
	} {
		if got := cupelreduce.Detect(texts[name]); got != want {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
	if got := cupelreduce.Detect("type of room\nnumber of beds\nview of the sea\nbalcony\nbreakfast\n"); got != cupelreduce.KindLog {
		t.Errorf("a line that begins with type makes a list %v", got)
	}
	if got := cupelreduce.Kind(99).String(); got != "unknown kind" {
		t.Errorf("Kind(99) is %q", got)
	}
}

// TestKnown says what a text makes known, and what it does not.
func TestKnown(t *testing.T) {
	for _, tt := range []struct {
		says, text string
		rank       int
		want, why  string
	}{
		{`{"cabin":"economy"}`, `{"cabin":"economy","class":"economy","seat":"aisle"}`, 2, "class=economy seat=aisle", "a word is known after its key alone"},
		{"see UM3OG5", `{"seat":"aisle","reservation_id":"UM3OG5"}`, 2, "seat=aisle", "a name is known anywhere"},
		{"see UM3OG5", `{"reservation_id":"UM3OG5","seat":"aisle"}`, 2, "reservation_id=UM3OG5 seat=aisle", "a new version needs the name of the old"},
		{"order #W2378156", `{"seat":"aisle","order_id":"#W2378156"}`, 2, "seat=aisle", "a sign in front is not part of it"},
		{"see UM3OG5", `{"reservation_id":"UM3OG5"}`, 2, "", "but alone it is not repeated"},
		{`"price": 117,`, `{"price":117,"tax":117,"name":"something"}`, 2, "tax=117 name=something", "so are numbers after their key"},
		{"open a/b.go\n", "open a/b.go\nopen a/c.go\n", 1, "…\nopen a/c.go", "a line is known"},
		{"it is in a/b.go", "found a/b.go\nfound a/c.go\n", 1, "…\nfound a/c.go", "so is a line whose names all are"},
	} {
		var known cupelreduce.Known
		known.Add(tt.says)
		if got := cupelreduce.Ranked(tt.text, tt.rank, cupelreduce.WithKnown(&known)); got != tt.want {
			t.Errorf("after %q: %q, want %q: %s", tt.says, got, tt.want, tt.why)
		}
	}
}

// TestCounters holds the limit for counters whose counts do not add up.
func TestCounters(t *testing.T) {
	for name, counter := range map[string]func(string) int{
		"runes":          utf8.RuneCountInString,
		"words":          func(s string) int { return len(strings.Fields(s)) },
		"with overhead":  func(s string) int { return len(s)/4 + 7 },
		"super-additive": func(s string) int { return len(s) * len(s) / 50 },
		"sub-additive":   func(s string) int { return min(len(s), 30) },
		"nothing":        func(string) int { return 0 },
	} {
		for text := range texts {
			for _, tokens := range []int{0, 3, 12, 31, 200} {
				out := cupelreduce.Reduce(texts[text], tokens, cupelreduce.WithCounter(counter))
				if got := counter(out); got > tokens && out != "" {
					t.Errorf("%s: %s in %d tokens has %d", name, text, tokens, got)
				}
				if len(out) > len(texts[text]) {
					t.Errorf("%s: %s in %d tokens is longer than before", name, text, tokens)
				}
			}
		}
	}
}

// TestLinear compares the time for eight texts with that for one of eight times
// the size. Quadratic work would take eight times as long; four leaves room for
// noise, and what takes less than four milliseconds is noise.
func TestLinear(t *testing.T) {
	if testing.Short() {
		t.Skip("measures time")
	}
	for name, piece := range map[string]string{
		"json":      `{"id":"A1","name":"b c","n":[1,2,3],"o":{"k":"v"}},`,
		"nested":    `[`,
		"string":    `\\u00e9\\\\`,
		"log":       "error at a/b.go:12: cannot x1\n",
		"code":      "func F1() {\n\treturn x\n}\n",
		"diff":      "@@ -1 +1 @@\n-a1\n+b1\n",
		"one line":  "a.b ",
		"equals":    "a=",
		"quotes":    `a:"`,
		"backslash": `\`,
		"spaces":    "a      ",
	} {
		text := func(n int) string {
			switch name {
			case "json":
				return "[" + strings.Repeat(piece, n) + "1]"
			case "nested":
				n = min(n, 9000)
				return strings.Repeat("[", n) + strings.Repeat("]", n)
			case "string":
				return `["` + strings.Repeat(`\u00e9\\`, n) + `"]`
			}
			return strings.Repeat(piece, n)
		}
		run := func(text string, times int) time.Duration {
			start := time.Now()
			for range times {
				var known cupelreduce.Known
				known.Add(text[:len(text)/2])
				cupelreduce.Reduce(text, len(text)/40)
				cupelreduce.Reduce(text, len(text)/8, cupelreduce.WithKnown(&known))
				cupelreduce.Forms(text, cupelreduce.WithKnown(&known))
			}
			return time.Since(start)
		}
		small, large := text(1000), text(8000)
		parts, whole := time.Hour, time.Hour // the least of rounds that take turns
		slow := func() bool { return whole > 4*max(parts, 4*time.Millisecond) }
		for round := 0; round < 3 || round < 20 && slow(); round++ {
			parts, whole = min(parts, run(small, 8)), min(whole, run(large, 1))
		}
		if slow() {
			t.Errorf("%s: 8 texts take %v, one of eight times the size %v", name, parts, whole)
		}
	}
}

// TestCounted counts how often the counter is called, and how much it reads:
// both are linear at any budget.
func TestCounted(t *testing.T) {
	for _, lines := range []int{100, 1000, 10000} {
		var b strings.Builder
		for i := range lines {
			fmt.Fprintf(&b, "file%d.go: line with some words\n", i)
		}
		calls, bytes := 0, 0
		counter := func(s string) int {
			calls++
			bytes += len(s)
			return len(s) / 4
		}
		cupelreduce.Reduce(b.String(), b.Len()/8, cupelreduce.WithCounter(counter))
		if calls > 2*lines+100 || bytes > 6*b.Len() {
			t.Errorf("Reduce of %d lines counts %d times, %d of %d bytes", lines, calls, bytes, b.Len())
		}
		calls, bytes = 0, 0
		cupelreduce.Forms(b.String(), cupelreduce.WithCounter(counter))
		if calls > 3*lines+100 || bytes > 8*b.Len() {
			t.Errorf("Forms of %d lines counts %d times, %d of %d bytes", lines, calls, bytes, b.Len())
		}
	}
}
