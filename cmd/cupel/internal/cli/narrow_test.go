package cli

import (
	"strings"
	"testing"

	"github.com/wollax/cupel-go/cmd/cupel/internal/terminal"
)

// TestNarrowTables: on 60 columns no line of a table is longer than that, and roles
// and titles stay.
func TestNarrowTables(t *testing.T) {
	folder(t, map[string]string{"chat.json": strings.Replace(baked, "LOAVES", strings.Repeat("45 rye loaves, id r-17. ", 40), 1)})
	for _, tt := range []struct {
		args []string
		has  []string
	}{
		{[]string{"explain", "-p", "chat", "-b", "120"}, []string{"ROLE ", "  assistant  ", "orders(day=1)", "FORM "}},
		{[]string{"explain", "-p", "chat", "-b", "120", "--why-not", "They are*"}, []string{"\nrole    assistant\n"}},
		{[]string{"diff", "-p", "chat", "60", "120"}, []string{"ROLE ", "orders(day=1)"}},
		{[]string{"diff", "-b", "60", "chat", "agent"}, nil},
		{[]string{"sweep", "-p", "chat"}, []string{"+orders(day=1)"}},
		{[]string{"sweep", "-p", "agent"}, []string{"orders(day=1)"}},
	} {
		code, stdout, stderr := onColumns(t, 60, append(tt.args, "-i", "chat.json", "--encoding", "heuristic")...)
		if code != exitOK {
			t.Errorf("%q: exit code %d: %s", tt.args, code, stderr)
		}
		for line := range strings.Lines(stdout) {
			if w := terminal.Width(strings.TrimSuffix(line, "\n")); w > 60 {
				t.Errorf("%q: %d columns: %s", tt.args, w, line)
			}
		}
		for _, text := range tt.has {
			if !strings.Contains(stdout, text) {
				t.Errorf("%q: no %q in\n%s", tt.args, text, stdout)
			}
		}
	}
}
