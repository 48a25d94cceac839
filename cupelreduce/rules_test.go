package cupelreduce_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/wollax/cupel-go/cupelreduce"
)

// numbered repeats a line with its number.
func numbered(format string, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, format, i+1)
	}
	return b.String()
}

// TestRules has a row for each rule that says which parts of a text come in up to a
// rank, and what the reader loses without it.
func TestRules(t *testing.T) {
	const head, names, detail = 1, 2, 3
	for _, tt := range []struct {
		name  string
		kind  cupelreduce.Kind
		rank  int
		knows string
		text  string
		want  string
		why   string
	}{
		{"a list writes its key again", cupelreduce.KindJSON, head, "",
			`{"orders":["W1000001","W1000002","W1000003","W1000004","W1000005","W1000006","W1000007"]}`,
			"orders=W1000001,W1000002,W1000003,W1000004\norders=W1000005,W1000006,W1000007",
			"far behind its key a value belongs to nothing"},
		{"a list that is just long enough", cupelreduce.KindJSON, head, "",
			`{"k":["A1234567890","B1234567890","C12345678901","D1234567890"]}`, "k=A1234567890,B1234567890,C12345678901\nk=D1234567890", "the limit is a length that is reached"},
		{"a long key", cupelreduce.KindJSON, head, "", `{"` + strings.Repeat("k", 80) + `":"A-17"}`, strings.Repeat("k", 64) + "=A-17", "its value counts more"},
		{"a key that is cut at an escape", cupelreduce.KindJSON, head, "", `{"` + strings.Repeat("k", 60) + `\u00e9s of more":"A-17"}`, strings.Repeat("k", 59) + "=A-17", "half of an escape is no text"},
		{"a key of escapes", cupelreduce.KindJSON, head, "", `{"` + strings.Repeat(`\u00e9`, 12) + `":"A-17"}`, "=A-17", "each may be half of a character"},
		{"a key that is cut at a character", cupelreduce.KindJSON, head, "", `{"` + strings.Repeat("日", 30) + `":"A-17"}`, strings.Repeat("日", 21) + "=A-17", "half of one is no text"},
		{"signs in a list", cupelreduce.KindJSON, detail, "", `[["-","+"],["a","b"],{"name":"x"}]`, "a,b\nname=x\n… +2", "signs say nothing"},
		{"sentences in a log", cupelreduce.KindLog, names, "", "First thing. Then other words\nmore\n", "First thing. Then other words\nmore", "its lines are whole"},
		{"a long word", cupelreduce.KindLog, names, "", strings.Repeat("x", 120) + " and more of this\nmore\n", strings.Repeat("x", 120) + " …\nmore", "a word is not cut if it ends soon"},
		{"short sentences", cupelreduce.KindProse, names, "", "Abcd. And so on.\n\nmore\n", "Abcd. …\n… +1", "four letters are enough"},
		{"titles", cupelreduce.KindProse, names, "", "Mrs. Moe is in. And so on.\n\nmore\n", "Mrs. Moe is in. …\n… +1", "they end no sentence"},
		{"a list of words is one of codes", cupelreduce.KindJSON, head, "",
			`{"airports":["JFK","SEA"],"city":"JFK","town":"Oslo"}`, "airports=JFK,SEA\n… +2",
			"what is listed is there to choose from"},
		{"an object whose key is its id", cupelreduce.KindJSON, head, "",
			`{"cards":{"card_17":{"id":"card_17","brand":"visa"}}}`, "id=card_17\n… +1", "once is enough"},
		{"an object whose key is all it has", cupelreduce.KindJSON, detail, "",
			`{"cards":{"card_17":{"brand":"visa"}},"more":{}}`, "card_17: brand=visa", "the key is its id"},
		{"long numbers are ids", cupelreduce.KindJSON, head, "",
			`{"zip":"78750","floor":"12"}`, "zip=78750\n… +1", "zip codes and phone numbers are asked for as they are"},
		{"keys say what is asked by", cupelreduce.KindJSON, head, "",
			`{"page_number":3,"number_of_pages":9}`, "page_number=3\n… +1", "the next page follows from this one"},
		{"addresses are no ids", cupelreduce.KindJSON, head, "",
			`{"user":"mia_17","mail":"mia17@example.com"}`, "user=mia_17\n… +1", "people are looked up by id"},
		{"a name beyond the cut", cupelreduce.KindLog, head, "",
			strings.Repeat("many words ", 8) + "a/b.go and so on and on and on", strings.Repeat("many words ", 8) + "a/b.go …",
			"the name is why the line is there"},
		{"a name far beyond the cut", cupelreduce.KindLog, names, "",
			"one\ntwo\n" + strings.Repeat("many words ", 40) + "a/b.go\n" + numbered("more %d\n", 20), "one\n… +2\n… " + strings.Repeat("many words ", 6) + "a/b.go\n… +20", "the piece that has it comes before the rest of the line"},
		{"a gap between names", cupelreduce.KindLog, names, "",
			"look at a/a.go " + strings.Repeat("many words ", 15) + "dir/b/bb.go and so on", "look at a/a.go " + strings.Repeat("many words ", 7) + "… +88 bytes… dir/b/bb.go and so on", "the mark says how much is gone"},
		{"errors about what is known", cupelreduce.KindLog, head, "open a/b.go",
			"start of it\nerror in a/b.go\nlook at a/b.go\nend\n", "… +1\nerror in a/b.go\n… +2", "the file is known, and the error is not"},
		{"names that came before", cupelreduce.KindLog, head, "",
			"a/a1\na/b2\na/c3\na/d4\na/e5\nso a/a1\nand a/b2\nand a/c3\nand a/d4\nand a/e5\n", "a/a1\na/b2\na/c3\na/d4\na/e5\n… +5", "only the first line is about a name"},
		{"short lines are never known", cupelreduce.KindLog, names, "}\nfunc\n",
			"}\nfunc\nmore than that\nok\n", "… +3\nok", "a bracket is part of the text around it"},
		{"a sentence is", cupelreduce.KindLog, names, "nothing was found\n", "nothing was found\nmore\n", "… +1\nmore", "the reader has seen it"},
		{"lines that begin alike", cupelreduce.KindLog, head, "",
			numbered("Downloading file a%d.gz\n", 6), "Downloading file a1.gz\nDownloading file a2.gz\nDownloading file a3.gz\n… +3", "progress says the same each time"},
		{"the ends of a log", cupelreduce.KindLog, detail, "",
			"a b\nc d\ne f\ng h and so on\ni j\nk l\nm n\no p\n", "a b\nc d\ne f\n… +2\nk l\nm n\no p", "the run is at one end, and its outcome at the other"},
		{"words and names", cupelreduce.KindLog, head, "",
			"well-known\nAnna\nAVERYLONG\nab\nA1\niPhone\nfooBar\na_b\nsrc/main\n2024-05-20\na-1\n100\nEUR\nme@home\nv1.2\n/etc\nC3PO\nend\n",
			"… +5\niPhone\nfooBar\na_b\nsrc/main\n2024-05-20\na-1\n100\nEUR\nme@home\nv1.2\n/etc\nC3PO\nend", "names are written as they stand, words are not"},
		{"an empty id", cupelreduce.KindJSON, head, "", `{"id":"","file":"main"}`, "file=main\n… +1", "an empty id names nothing"},
		{"null is no id", cupelreduce.KindJSON, head, "", `{"id":null,"path":false,"number":true,"file":"main"}`, "file=main\n… +3", "nor is a yes or no"},
		{"a number that is too long", cupelreduce.KindJSON, head, "", `{"number":` + strings.Repeat("7", 49) + `,"file":` + strings.Repeat("7", 48) + `}`, "file=" + strings.Repeat("7", 48) + "\n… +1", "nobody asks by it"},
		{"quotes", cupelreduce.KindJSON, head, "", `[{"id":"a b"},{"id":"a,b"},{"id":"a;b"},{"id":"a=b"},{"id":"a\\b"},{"id":"a:b"},["",""]]`,
			`id="a b"` + "\n" + `id="a,b"` + "\n" + `id="a;b"` + "\n" + `id="a=b"` + "\n" + `id="a\\b"` + "\nid=a:b\n… +2", "a value must not look like two"},
		{"decorators", cupelreduce.KindCode, names, "",
			"@dataclass\nclass A:\n    x = 1\n@property\ndef f(self):\n    return x\n", "@dataclass\nclass A:\n… +1\n@property\ndef f(self):\n… +1", "they belong to what they stand before"},
		{"changes of a hunk", cupelreduce.KindDiff, names, "",
			"@@ -1 +1 @@\n-one\n-two\n-three\n-four of them\n@@ -9 +9 @@\n+five\n", "@@ -1 +1 @@\n-one\n-two\n-three\n… +1\n@@ -9 +9 @@\n+five", "each hunk shows what it is about"},
		{"paragraphs", cupelreduce.KindProse, detail, "",
			"It begins here. And on.\nsecond line of it\n\nIt goes on. And on.\nfourth line of it\n", "It begins here. …\n… +1\nIt goes on. …\n… +1", "the first sentence says what a paragraph is about"},
		{"outer code", cupelreduce.KindCode, names, "",
			"import os\nx = 1 + 2 + 3\nclass A:\n    y = 2 + 3\n    def f(self):\n        return 3\n", "import os\n… +1\nclass A:\n… +1\n    def f(self):\n… +1", "declarations, not what they do"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var known cupelreduce.Known
			known.Add(tt.knows)
			options := []cupelreduce.Option{cupelreduce.WithKind(tt.kind)}
			if tt.knows != "" {
				options = append(options, cupelreduce.WithKnown(&known))
			}
			require.Equal(t, tt.want, cupelreduce.Ranked(tt.text, tt.rank, options...), tt.why)
		})
	}
}

// TestErrorsFirst: of a text without an error nothing has the rank of one.
func TestErrorsFirst(t *testing.T) {
	wrong := regexp.MustCompile(`(?i)error|fail`)
	for name, text := range texts {
		if !wrong.MatchString(text) {
			assert.Empty(t, cupelreduce.Ranked(text, 0), name)
		}
	}
}
