package cupeltest

import (
	"crypto/sha256"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/wollax/cupel-go/cupel"
)

// digits matches more digits than people read in the first line of a failure, and hash
// matches the hashes that distinguish long contents.
var (
	digits = regexp.MustCompile(`((?:score=|scores |then )-?\d*\.\d{4})\d{5,}`)
	hash   = regexp.MustCompile(`(\d+ bytes), sha256 [0-9a-f]+…`)
)

// plainLine shortens scores in a line, and leaves out hashes.
func plainLine(line string) string {
	return hash.ReplaceAllString(digits.ReplaceAllString(line, "$1…"), "$1")
}

// diff returns the lines between the first and the last that differ, with - for those
// of want and + for those of got.
func diff(want, got string) string {
	a, b := strings.Split(want, "\n"), strings.Split(got, "\n")
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	lines := cutAt(mostListed, a, func(line string) string { return "- " + line })
	return strings.Join(append(lines, cutAt(mostListed, b, func(line string) string { return "+ " + line })...), "\n")
}

// score returns the shortest decimal form of a score or threshold (R43).
func score(f float64) string { return strconv.FormatFloat(f, 'g', -1, 64) }

// distinct joins the names of entries, each named once, in order of first
// appearance. Names with equal keys count as one name.
func distinct[E any](entries []E, name func(E) (name, key string)) (text string, count int) {
	var names []string
	seen := make(map[string]bool)
	for _, entry := range entries {
		if name, key := name(entry); !seen[key] {
			seen[key] = true
			names = append(names, name)
		}
	}
	return joined(names), len(names)
}

func includedKinds(entries []cupel.IncludedItem) (text string, count int) {
	return distinct(entries, func(entry cupel.IncludedItem) (name, key string) {
		kind := entry.Item.Kind()
		return string(kind), kind.Key()
	})
}

func reasonNames(entries []cupel.ExcludedItem) string {
	text, _ := distinct(entries, func(entry cupel.ExcludedItem) (name, key string) {
		return string(entry.Reason.Code), string(entry.Reason.Code)
	})
	return text
}

// includedTokens returns the sum of the included tokens, at most the largest int (R5).
func includedTokens(r *cupel.SelectionReport) (sum int) {
	for _, entry := range r.Included {
		sum += min(entry.Item.Tokens(), math.MaxInt-max(sum, 0))
	}
	return sum
}

// longestQuote is how much of a content messages and golden files show, in
// runes.
const longestQuote = 60

// quote returns a content in quotes. Long ones are cut, and identified by
// length and hash.
func quote(content string) string {
	runes := 0
	for at := range content {
		if runes++; runes > longestQuote {
			hash := sha256.Sum256([]byte(content))
			return fmt.Sprintf("%s… (%d bytes, sha256 %x…)", strconv.Quote(content[:at]), len(content), hash[:6])
		}
	}
	return strconv.Quote(content)
}

// oneLine returns text with unprintable characters escaped: ends of lines, terminal controls, and marks that reverse
// text. Contents are quoted already; kinds and other names are not.
func oneLine(text string) string {
	var b strings.Builder
	for i, r := range text {
		_, size := utf8.DecodeRuneInString(text[i:])
		if char := text[i : i+size]; !strconv.IsPrint(r) || r == utf8.RuneError {
			b.WriteString(strings.Trim(strconv.Quote(char), `"`))
		} else {
			b.WriteString(char)
		}
	}
	return b.String()
}

func (c *SelectionReportAssertionChain) quoteAll(contents []string) string {
	quoted := make([]string, len(contents))
	for i, content := range contents {
		quoted[i] = c.quote(content)
	}
	return joined(quoted)
}
