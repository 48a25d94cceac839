package cli

import (
	"strings"
	"testing"
)

// TestFolder asks about a folder.
func TestFolder(t *testing.T) {
	folder(t, map[string]string{
		"shop/price.go":  "package shop\n\n// Round rounds a price to five cents.\nfunc Round(cents int) int { return cents / 5 * 5 }\n",
		"shop/README.md": "# Shop\n\nSells tea.\n\n## Opening hours\n\nFrom nine to six.\n",
		"check.toml":     "[selection]\nitems = \"shop\"\npolicy = \"relevance\"\nquery = \"How is a price rounded?\"\nbudget = 50\nencoding = \"heuristic\"\n\n[[checks]]\nassert = \"include_item_with_kind\"\nkind = \"Code\"\n",
	})
	ask := []string{"-i", "shop", "-p", "relevance", "-b", "50", "-q", "How is a price rounded?", "--encoding", "heuristic"}
	tests := []struct {
		name string
		args []string
		code int
		want string
		why  string
	}{
		{"run", append([]string{"run"}, ask...), exitOK, "price.go:3 Round\n// Round rounds a price to five cents.\nfunc Round(cents int) int { return cents / 5 * 5 }\n", "what is relevant fits alone"},
		{"explain", append([]string{"explain", "--why-not", "README*hours*"}, ask...), exitOK, "It is out: BudgetExceeded", "the first line of an item can be asked for"},
		{"check", []string{"check", "check.toml"}, exitOK, "1 ok", "a check file names a folder as it does a file"},
		{"sweep", append([]string{"sweep", "--from", "20", "--to", "50", "--stride", "1"}, append(ask[:4:4], ask[6:]...)...), exitOK, "README.md:5 Opening hours", "each command that takes candidates takes a folder"},
		{"format", append([]string{"run", "--format", "json"}, ask...), exitUsage, "--format does not apply to a folder: shop", "the format would have no effect"},
		{"transcript", append([]string{"run", "--as", "transcript"}, ask...), exitUsage, "these are items (folder)", "there is no transcript to write"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			code, stdout, stderr := start(t, tt.args...)
			if code != tt.code || !strings.Contains(stdout+stderr, tt.want) {
				t.Errorf("exit code %d, want %d and %q: %s\n%s%s", code, tt.code, tt.want, tt.why, stdout, stderr)
			}
		})
	}
}
