package near_test

import (
	"fmt"
	"go/build"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"github.com/wollax/cupel-go/cupel/internal/near"
)

// pieces returns pieces of real text: of Go's standard library and of the
// documentation of this repository, 10 to 60 lines each.
func pieces(t *testing.T) []string {
	t.Helper()
	var files []string
	for _, pkg := range []string{"net/http", "encoding/json", "go/types", "database/sql", "strings", "text/template", "os", "crypto/tls"} {
		found, err := filepath.Glob(filepath.Join(build.Default.GOROOT, "src", filepath.FromSlash(pkg), "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, found...)
	}
	_ = filepath.WalkDir(filepath.Join("..", "..", "..", "docs"), func(path string, _ fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, ".md") {
			files = append(files, path)
		}
		return nil
	})
	random := rand.New(rand.NewPCG(1, 2))
	var list []string
	seen := make(map[string]bool)
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(string(data), "\n")
		if strings.HasSuffix(file, ".go") && len(lines) > 3 {
			lines = lines[3:] // without the licence, which all files share
		}
		for len(lines) > 10 {
			n := min(len(lines), 10+random.IntN(50))
			if text := strings.Join(lines[:n], "\n"); near.Long(text) && !seen[text] {
				seen[text] = true
				list = append(list, text)
			}
			lines = lines[n:]
		}
	}
	if len(list) < 500 {
		t.Skipf("%d pieces: the sources of Go are not there", len(list))
	}
	random.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	return list
}

// editor makes edits with the lines of all pieces.
type editor struct {
	random *rand.Rand
	lines  []string // with words
}

func (e *editor) line() string { return e.lines[e.random.IntN(len(e.lines))] }

// replace replaces n lines that have words.
func (e *editor) replace(text string, n int) string {
	lines := strings.Split(text, "\n")
	for _, i := range e.random.Perm(len(lines)) {
		if n > 0 && strings.IndexFunc(lines[i], unicode.IsLetter) >= 0 {
			lines[i] = e.line()
			n--
		}
	}
	return strings.Join(lines, "\n")
}

// few is the number of lines that a copy may have changed: up to three, and at
// most a twelfth.
func (e *editor) few(text string) int {
	return 1 + e.random.IntN(min(3, max(1, strings.Count(text, "\n")/12)))
}

// copyEdits make near copies: each returns the older and the newer text.
var copyEdits = []struct {
	name string
	edit func(e *editor, text string) (older, newer string)
}{
	{"lines changed", func(e *editor, text string) (string, string) { return text, e.replace(text, e.few(text)) }},
	{"lines inserted", func(e *editor, text string) (string, string) {
		lines := strings.Split(text, "\n")
		for range 1 + e.random.IntN(6) {
			at := e.random.IntN(len(lines) + 1)
			lines = append(lines[:at:at], append([]string{e.line()}, lines[at:]...)...)
		}
		return text, strings.Join(lines, "\n")
	}},
	{"lines deleted", func(e *editor, text string) (string, string) {
		lines := strings.Split(text, "\n")
		for range e.few(text) {
			at := e.random.IntN(len(lines))
			lines = append(lines[:at:at], lines[at+1:]...)
		}
		return text, strings.Join(lines, "\n")
	}},
	{"mail quoted", func(e *editor, text string) (string, string) {
		return text, e.line() + "\n" + e.line() + "\n\nOn Monday she wrote:\n> " + strings.ReplaceAll(text, "\n", "\n> ")
	}},
	{"lines numbered, one inserted", func(e *editor, text string) (string, string) {
		lines := strings.Split(text, "\n")
		at := e.random.IntN(len(lines))
		return numbered(lines, 1), numbered(append(lines[:at:at], append([]string{e.line()}, lines[at:]...)...), 1+e.random.IntN(40))
	}},
	{"wrapped elsewhere", func(_ *editor, text string) (string, string) { return text, strings.Join(strings.Fields(text), "\n") }},
}

func numbered(lines []string, from int) string {
	var b strings.Builder
	for i, line := range lines {
		fmt.Fprintf(&b, "%6d\t%s\n", from+i, line)
	}
	return b.String()
}

// otherEdits make texts that are no near copies. They return "" for a text in
// which they find nothing to change.
var otherEdits = []struct {
	name string
	edit func(e *editor, text string) string
}{
	{"one number changed", func(e *editor, text string) string {
		var at []int
		for i := 1; i < len(text)-1; i++ {
			isDigit := func(c byte) bool { return '0' <= c && c <= '9' }
			if isDigit(text[i]) && !isDigit(text[i-1]) && !isDigit(text[i+1]) && text[i-1] != '\n' {
				at = append(at, i)
			}
		}
		if len(at) == 0 {
			return ""
		}
		i := at[e.random.IntN(len(at))]
		return text[:i] + strconv.Itoa(int(text[i]-'0'+1)) + text[i+1:]
	}},
	{"half of the lines changed", func(e *editor, text string) string { return e.replace(text, strings.Count(text, "\n")/2) }},
	{"a third of the lines changed", func(e *editor, text string) string { return e.replace(text, strings.Count(text, "\n")/3) }},
	{"one half of another text", func(e *editor, text string) string {
		lines := strings.Split(text, "\n")
		for i := range lines[:len(lines)/2] {
			lines[i] = e.line()
		}
		return strings.Join(lines, "\n")
	}},
}

// TestMeasure makes edits of real text, half of them near copies, and holds
// precision and recall to 0.95 at the threshold that the documentation
// recommends. With -v it prints the curve that is there.
func TestMeasure(t *testing.T) {
	list := pieces(t)
	e := &editor{random: rand.New(rand.NewPCG(3, 4))}
	for _, text := range list {
		for line := range strings.SplitSeq(text, "\n") {
			if strings.IndexFunc(line, unicode.IsLetter) >= 0 {
				e.lines = append(e.lines, line)
			}
		}
	}
	var newer, older, kinds []string
	var isCopy []bool
	for i, text := range list {
		var o, n, kind string
		if i%2 == 0 {
			edit := copyEdits[i/2%len(copyEdits)]
			o, n = edit.edit(e, text)
			kind = edit.name
		} else {
			edit := otherEdits[i/2%len(otherEdits)]
			o, n = text, edit.edit(e, text)
			kind = edit.name
		}
		if near.Long(o) && near.Long(n) && o != n {
			newer, older, kinds, isCopy = append(newer, n), append(older, o), append(kinds, kind), append(isCopy, i%2 == 0)
		}
	}
	t.Logf("%d pairs", len(older))
	thresholds := []float64{0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95, 1}
	if testing.Short() {
		thresholds = []float64{0.8}
	}
	for _, threshold := range thresholds {
		copies, err := near.Find(t.Context(), slices.Concat(newer, older), threshold)
		if err != nil {
			t.Fatal(err)
		}
		found, wrong, there := 0, 0, 0
		byKind, ofKind := make(map[string]int), make(map[string]int)
		for i := range older {
			c := copies[len(newer)+i]
			ofKind[kinds[i]]++
			if isCopy[i] {
				there++
			}
			switch {
			case c.Of < 0:
			case isCopy[i] && c.Of == i:
				found++
				byKind[kinds[i]]++
			default:
				wrong++
				byKind[kinds[i]]++
			}
			if copies[i].Of >= 0 { // the newer texts are no copies of one another
				wrong++
			}
		}
		precision, recall := float64(found)/float64(found+wrong), float64(found)/float64(there)
		t.Logf("threshold %.2f: precision %.3f, recall %.3f", threshold, precision, recall)
		if threshold == 0.8 {
			for kind, n := range ofKind {
				t.Logf("  %s: %d of %d found", kind, byKind[kind], n)
			}
			if precision < 0.95 || recall < 0.95 {
				t.Errorf("precision is %.3f and recall %.3f at %.2f", precision, recall, threshold)
			}
		}
	}
}
