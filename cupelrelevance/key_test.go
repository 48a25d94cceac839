package cupelrelevance

import (
	"encoding/binary"
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wollax/cupel-go/cupel"
)

// counted returns how often an index has each term of a text.
func counted(t testing.TB, text string) map[string]int {
	t.Helper()
	terms := make([]uint32, 1)
	w, err := newSegment(t.Context(), []*cupel.ContextItem{item(t, text)}, 0, newHashing(), terms)
	require.NoError(t, err)
	counts := make(map[string]int)
	for id := range uint32(len(w.ends)) {
		term := string(w.at(id))
		if found, ok := w.find(term); !ok || found != id {
			t.Fatalf("%q: the term %q is number %d, and is found at %d, %t", text, term, id, found, ok)
		}
		from, to := w.of(id)
		counts[term] += to - from
	}
	total := 0
	for _, n := range counts {
		total += n
	}
	if total != int(terms[0]) {
		t.Fatalf("%q: %d terms are counted, the length is %d", text, total, terms[0])
	}
	return counts
}

// terms is the same by way of the tokenizer alone.
func terms(text string) map[string]int {
	counts := make(map[string]int)
	newTokenizer(func(term []byte, _ bool) { counts[string(term)]++ }).text(text)
	return counts
}

// TestRead looks at words of every length, at the end of the text and before
// it, with every byte behind them.
func TestRead(t *testing.T) {
	letters := "Zabcdefghijklm0123456789nopqrstuvwxy"
	for length := 1; length <= len(letters); length++ {
		for from := range 2 { // with a capital and without one
			word := letters[from:max(length, from+1)]
			if _, end := plainWord(word, 0, classes[word[0]]); len(word) < shortTerm {
				assert.Equal(t, len(word), end, "%q is read the short way", word)
			}
			for _, text := range []string{word, "x " + word, word + " " + word + ".", word + word[:1] + " " + word} {
				if got, want := counted(t, text), terms(text); !maps.Equal(got, want) {
					t.Errorf("%q has %v, want %v", text, got, want)
				}
			}
		}
	}
	assert.Equal(t, binary.LittleEndian.Uint64([]byte(letters)), eightBytes(letters))
	for after := range 256 {
		c := string([]byte{byte(after)})
		for _, text := range []string{"a Word" + c + "x and more than that " + c, "a longword" + c + "x"} { // the ninth byte is read apart
			assert.Equal(t, terms(text), counted(t, text), "%q", text)
		}
	}
}

// FuzzRead checks of every text that the short way of reading it counts what the
// tokenizer finds.
func FuzzRead(f *testing.F) {
	for _, seed := range []string{"Shall we start?", "getUserName max_upload 会議室です e\u0301\xff", "0123456789abcdef 0123456789abcde Fedcba9876543210f", "a\x00b\x80c"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if text == "" || len(text) > 500 {
			t.Skip("no item has no content, and a longer text may have more of a word than is counted")
		}
		want := terms(text)
		if got := counted(t, text); !maps.Equal(got, want) {
			t.Errorf("%q has %v, want %v", text, got, want)
		}
	})
}

// TestKeys: short terms have keys of their own, and the hash spreads them.
func TestKeys(t *testing.T) {
	w := newHashing()
	keys := make(map[key]string)
	low := make(map[uint32]int)
	for i := range 1 << 16 {
		term := fmt.Sprintf("%o", i)
		if i%2 == 1 {
			term = "w000000000" + term
		}
		k := keyOf(w.seed, []byte(term))
		if keys[k] != "" {
			t.Fatalf("%q and %q have one key", term, keys[k])
		}
		keys[k] = term
		low[w.hash(k)&(1<<10-1)]++
	}
	// 64 of 65,536 in each of 1,024 places, give or take ten deviations.
	for place := range uint32(1 << 10) {
		if n := low[place]; n > 64+80 {
			t.Errorf("%d of 65,536 keys have the place %d of 1,024", n, place)
		}
	}
	long := []byte(strings.Repeat("x", 17))
	if keyOf(w.seed, long).high != longTerm || keyOf(w.seed, long[:16]).high == longTerm {
		t.Error("terms of more than 16 bytes have no key of their own, and shorter ones have")
	}
}
