package terminal_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wollax/cupel-go/cmd/cupel/internal/terminal"
)

func TestTable(t *testing.T) {
	var b strings.Builder
	p := terminal.Screen{Width: 40}.Printer(&b)
	p.Table([]string{"N", "NAME", "NONE", "SHARE", "TEXT"}, [][]any{
		{1, "東京", "", "5.0%", "a first line\nand more"},
		{10, "naïve", "", "-", "\x1b[31mred, and so long that it is cut"},
		{"", strings.Repeat("x", 50), "", "1e-07", ""},
	})
	p.Table([]string{"", ""}, [][]any{{"a", 1}})
	p.Table([]string{"NOTHING"}, nil)
	p.Line("%s\u202e", "one\ntwo")
	require.NoError(t, p.Err())
	name := strings.Repeat("x", 39) + "…"
	require.Equal(t, ` N  NAME                                      SHARE  TEXT
 1  東京                                       5.0%  a first line …
10  naïve                                         -  \x1b[31mred, an…
    `+name+`  1e-07
a  1
one\ntwo\u202e
`, b.String())
}

func TestLines(t *testing.T) {
	var b strings.Builder
	p := terminal.Screen{Width: 40}.Printer(&b)
	p.Paragraph("%s  ", "a")
	p.Lines("%s\n\nc\x1b", "b")
	require.Equal(t, "\na\nb\n\nc\\x1b\n", b.String())
	require.Equal(t, "a b", terminal.FirstLine(" \n\t a b \n c"))
	require.Equal(t, " \n ", terminal.FirstLine(" \n "))
	require.Equal(t, 6, terminal.Width("e\u0301東京\u200da"))
	require.Equal(t, "東…", terminal.Cut("東京の", 4))
	require.Equal(t, "東京", terminal.Cut("東京", 4))
}

// TestFigures: columns of figures are aligned to the right, others to the left.
func TestFigures(t *testing.T) {
	for cell, right := range map[string]bool{
		"": true, "1": true, "-1": true, "+0.5": true, "#3": true, "5.0%": true, "1e-07": true, "1e+20": true, "NaN": true, "-Inf": true, "-": true,
		"a": false, "1a": false, "a1": false, "1e5": false, "1%%": false, "--1": false,
	} {
		var b strings.Builder
		terminal.Screen{Width: 40}.Printer(&b).Table([]string{"HEADING", "LAST"}, [][]any{{cell, "x"}, {7, "y"}})
		want := "HEADING  LAST\n" + cell + strings.Repeat(" ", 7-len(cell)) + "  x\n7        y\n"
		if right {
			want = "HEADING  LAST\n" + strings.Repeat(" ", 7-len(cell)) + cell + "  x\n      7  y\n"
		}
		require.Equal(t, want, b.String())
	}
}

// TestNarrow: the last column has some room on any screen, and what there is on others.
func TestNarrow(t *testing.T) {
	for width, want := range map[int]int{1: 16, 22: 16, 23: 17, 30: 24} {
		var b strings.Builder
		terminal.Screen{Width: width}.Printer(&b).Table([]string{"A", "", "TEXT"}, [][]any{{"four", "", strings.Repeat("x", 300)}})
		require.Equal(t, "A     TEXT\nfour  "+strings.Repeat("x", want-1)+"…\n", b.String(), "%d columns", width)
	}
	var b strings.Builder
	terminal.Screen{Width: 1000}.Printer(&b).Table([]string{"A", "TEXT"}, [][]any{{strings.Repeat("y", 41), strings.Repeat("x", 300)}})
	require.Equal(t, "A"+strings.Repeat(" ", 41)+"TEXT\n"+strings.Repeat("y", 39)+"…  "+strings.Repeat("x", 199)+"…\n", b.String())
}

// TestErrors: after the first error nothing is written.
func TestErrors(t *testing.T) {
	full := errors.New("no space left")
	w := &failing{err: full}
	p := terminal.Screen{Width: 40}.Printer(w)
	p.Line("a")
	p.Table([]string{"A"}, [][]any{{1}})
	require.ErrorIs(t, p.Err(), full)
	require.Equal(t, 1, w.calls)
}

// failing fails to write.
type failing struct {
	err   error
	calls int
}

func (f *failing) Write([]byte) (int, error) {
	f.calls++
	return 0, f.err
}

func TestSafe(t *testing.T) {
	for text, want := range map[string]string{
		"plain: ü, 東, é\u0301, 👩\u200d🚀": "plain: ü, 東, é\u0301, 👩\u200d🚀",
		"\x1b]0;title\a\r\n\t\x7f":       `\x1b]0;title\a\r\n\t\x7f`,
		"\u202e\u009b\u2028\ufeff":       `\u202e\u009b\u2028\ufeff`,
		"\xff":                           "\ufffd",
	} {
		require.Equal(t, want, terminal.Safe(text))
		require.Equal(t, want, terminal.Safe(want), "it is idempotent")
	}
	require.Equal(t, "a\n\\tb", terminal.SafeLines("a\n\tb"))
}

func TestEscapeJSON(t *testing.T) {
	for text, want := range map[string]string{
		"{\n \"a\": \"ü\"\n}":            "{\n \"a\": \"ü\"\n}",
		"\"a\tb\nc\"":                    "\"a\tb\nc\"",
		"\"\uffff\U0010fffe\U0001f600\"": `"\uffff\udbff\udffe😀"`,
		"\"\u009b\u202e\U000e0001\"":     `"\u009b\u202e\udb40\udc01"`,
	} {
		require.Equal(t, want, string(terminal.EscapeJSON([]byte(text))))
	}
}

func TestExcerpt(t *testing.T) {
	for _, tt := range []struct {
		content string
		columns int
		want    string
	}{
		{"short", 10, "short"},
		{"  \n first \nsecond", 10, "first …"},
		{"exactly ten", 10, "exactly t…"},
		{"東京の天気", 6, "東京…"},
		{"a\tb", 10, "a b"},
		{" ", 10, " "},
		{strings.Repeat("é", 1000), 4, "ééé…"},
		{"ab" + strings.Repeat("\u0301", 15), 4, "ab" + strings.Repeat("\u0301", 15)}, // 32 bytes are looked at
		{"abc" + strings.Repeat("\u0301", 15), 4, "abc" + strings.Repeat("\u0301", 14) + "…"},
		{"", 10, ""},
	} {
		require.Equal(t, tt.want, terminal.Excerpt(tt.content, tt.columns), tt.content)
	}
}

func TestDetect(t *testing.T) {
	none := func(string) string { return "" }
	require.Equal(t, terminal.Screen{Width: terminal.DefaultWidth}, terminal.Detect(nowhere{}, nowhere{}, none))
	file, err := os.Create(filepath.Join(t.TempDir(), "out"))
	require.NoError(t, err)
	require.Equal(t, terminal.Screen{Width: terminal.DefaultWidth}, terminal.Detect(file, file, none), "a file is no terminal")
	require.NoError(t, file.Close())
	for columns, want := range map[string]int{"60": 60, "1": 1, "0": terminal.DefaultWidth, "-60": terminal.DefaultWidth, "wide": terminal.DefaultWidth, "99999999999999999999": terminal.DefaultWidth} {
		got := terminal.Detect(nowhere{}, nowhere{}, func(name string) string { return map[string]string{"COLUMNS": columns}[name] })
		require.Equal(t, want, got.Width)
	}
}

// nowhere is no terminal.
type nowhere struct{}

func (nowhere) Write(p []byte) (int, error) { return len(p), nil }
