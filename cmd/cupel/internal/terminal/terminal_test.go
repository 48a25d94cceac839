package terminal_test

import (
	"errors"
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
		"{\n \"a\": \"ü\"\n}":        "{\n \"a\": \"ü\"\n}",
		"\"\u009b\u202e\U000e0001\"": `"\u009b\u202e\udb40\udc01"`,
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
	} {
		require.Equal(t, tt.want, terminal.Excerpt(tt.content, tt.columns), tt.content)
	}
}

func TestDetect(t *testing.T) {
	none := func(string) string { return "" }
	require.Equal(t, terminal.Screen{Width: terminal.DefaultWidth}, terminal.Detect(nowhere{}, none))
	for columns, want := range map[string]int{"60": 60, "0": terminal.DefaultWidth, "wide": terminal.DefaultWidth} {
		got := terminal.Detect(nowhere{}, func(name string) string { return map[string]string{"COLUMNS": columns}[name] })
		require.Equal(t, want, got.Width)
	}
}

// nowhere is no terminal.
type nowhere struct{}

func (nowhere) Write(p []byte) (int, error) { return len(p), nil }
