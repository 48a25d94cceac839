package near_test

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"testing"

	"github.com/wollax/cupel-go/cupel/internal/near"
)

// prose is n different words.
func prose(from, n int) string {
	var words []string
	for i := range n {
		words = append(words, "w"+strings.Repeat("a", (from+i)%7)+strings.Repeat("b", (from+i)/7%7)+strings.Repeat("c", (from+i)/49))
	}
	return strings.Join(words, " ")
}

func TestFind(t *testing.T) {
	base := prose(0, 100)
	lines := strings.ReplaceAll(prose(0, 80), " ", "\nline ")
	count := func(text string, from int) string {
		var b strings.Builder
		for i, line := range strings.Split(text, "\n") {
			b.WriteString("  " + strconv.Itoa(from+i) + "\t" + line + "\n")
		}
		return b.String()
	}
	for _, row := range []struct {
		name         string
		newer, older string
		threshold    float64
		shared       int // of the shingles of the older one; -1 for no copy
		why          string
	}{
		{"words at the end", base + " and more", base, 1, 97, "all of the older text is in the newer one"},
		{"words missing", prose(0, 90), base, 0.8, 87, "ten of 97 shingles are missing"},
		{"too many words missing", prose(0, 80), base, 0.8, -1, "20 of 97 shingles are missing, and 77 are less than 0.8"},
		{"at the threshold", prose(0, 100), prose(3, 100), 94.0 / 97, 94, "the share may be the threshold itself"},
		{"newer one short", prose(0, 60), base, 0.8, -1, "the older text has far more than the newer one"},
		{"total", "total 120 " + base, "total 210 " + base, 0.8, -1, "numbers differ"},
		{"sign", "total -12 " + base, "total 12 " + base, 0.8, -1, "a sign is part of a number"},
		{"minus sign", "total −12 " + base, "total 12 " + base, 0.8, -1, "however it is written"},
		{"dash in a word", base + " x-12 y", base + " x 12 y", 0.8, 100, "behind a word it is a dash"},
		{"digits in a word", "utf8 " + base, "utf16 " + base, 0.8, -1, "a word with digits is a number"},
		{"decimals", "total 1.5 " + base, "total 1.7 " + base, 0.8, -1, "7 is not 5"},
		{"number in one", base, "total 210 " + base, 0.8, 97, "there is no number that differs from it"},
		{"one number more", "total 120 " + base + " total 210", "total 120 " + base, 0.8, 99, "the newer text has all numbers of the older one"},
		{"number after other words", "grand sum 120 was it " + base, "full total 210 for us " + base, 0.8, 97, "the words on both sides changed as well: the line is another one"},
		{"number with words after it", "grand sum 120 " + base, "full total 210 " + base, 0.8, -1, "the words after it are the same"},
		{"numbers of other scripts", "total ١٢ " + base, "total ٢١ " + base, 0.8, -1, "digits are digits"},
		{"line numbers", count(lines, 1), count("line x\n"+lines, 30), 0.8, 156, "line numbers are not part of the text"},
		{"line numbers in one", count(lines, 1), lines, 1, 156, "line numbers are not part of the text"},
		{"numbers at the start of lines", strings.ReplaceAll(lines, "line", "120"), strings.ReplaceAll(lines, "line", "210"), 0.1, -1, "the lines are not counted"},
		{"quoted", "> " + strings.ReplaceAll(lines, "\n", "\n> ") + "\nThank you!", lines, 1, 156, "punctuation and line breaks do not count"},
		{"ideographs", strings.Repeat("天地玄黃宇宙洪荒", 8) + "日", strings.Repeat("天地玄黃宇宙洪荒", 8), 1, 8, "each is a word, and a shingle counts once"},
		{"bytes that are no text", base + "\xff\xfe", base + "\xff", 1, 97, "they separate words"},
	} {
		if !near.Long(row.newer) || !near.Long(row.older) {
			t.Fatalf("%s: not long", row.name)
		}
		copies, err := near.Find(t.Context(), []string{row.newer, row.older}, row.threshold)
		if err != nil {
			t.Fatal(err)
		}
		if copies[0].Of != -1 {
			t.Errorf("%s: the first text is a copy of %d", row.name, copies[0].Of)
		}
		if got := copies[1]; row.shared < 0 && got.Of != -1 || row.shared >= 0 && (got.Of != 0 || got.Shared != row.shared) {
			t.Errorf("%s: got %+v, want %d shared: %s", row.name, got, row.shared, row.why)
		}
	}
}

// TestNearest: of several, a text is a copy of the nearest, and what is a copy is
// nothing that others are copies of.
func TestNearest(t *testing.T) {
	texts := []string{prose(0, 95), prose(0, 99), prose(0, 100), prose(3, 100)}
	copies, err := near.Find(t.Context(), texts, 0.95)
	if err != nil {
		t.Fatal(err)
	}
	// The second has 92 of 96 shingles of its own in the first, the third 92 of
	// 97, below 0.95, so it stays, and the last has 94 of 97 in the third.
	want := []int{-1, 0, -1, 2}
	for i, c := range copies {
		if c.Of != want[i] {
			t.Errorf("text %d: got %+v, want a copy of %d", i, c, want[i])
		}
	}
}

func TestCanceled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := near.Find(ctx, []string{prose(0, 60)}, 0.8); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// FuzzFind: any texts, line numbers and bytes of any kind.
func FuzzFind(f *testing.F) {
	f.Add("1\ta\n2\tb -3 x", "9 9")
	f.Add("\xff−1 水", "１２")
	f.Fuzz(func(t *testing.T, a, b string) {
		a, b = strings.Repeat(a+" "+b+"\n", 20)+a, strings.Repeat(a+" "+b+"\n", 20)+b
		if a == b || !near.Long(a) || !near.Long(b) {
			return
		}
		copies, err := near.Find(t.Context(), []string{a, b}, 0.5)
		if err != nil || copies[0].Of != -1 || copies[1].Shared > copies[1].Total || copies[1].Total == 0 {
			t.Errorf("got %+v, %v", copies, err)
		}
	})
}
