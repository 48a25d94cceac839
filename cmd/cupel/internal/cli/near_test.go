package cli

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestNearDuplicates: the account names what a near copy is a copy of, and no
// budget brings it back.
func TestNearDuplicates(t *testing.T) {
	report := strings.Repeat("It was opened, cleaned, oiled and closed again by the morning shift. ", 2) +
		"Nobody found any damage to the housing, the belts, the motor or the wiring, and the noise that was heard last week is gone. The next inspection is due when the holidays are over."
	items, err := json.Marshal([]map[string]any{
		{"content": "Hall A. " + report, "tokens": 60, "futureRelevanceHint": 0.9},
		{"content": "Hall B. " + report, "tokens": 61, "futureRelevanceHint": 0.5},
	})
	if err != nil {
		t.Fatal(err)
	}
	folder(t, map[string]string{
		"items.json": string(items),
		"near.toml":  "nearDuplicates = 0.8\nscorers = [{ type = \"reflexive\", weight = 1 }]\nslicer = { type = \"greedy\" }\nplacer = { type = \"chronological\" }",
	})
	for _, row := range []struct {
		args []string
		want string
		why  string
	}{
		{nil, "NearDuplicate of #1", "the newer one is first in the window"},
		{[]string{"--why-not", "Hall A*"}, "Of items with nearly the same text, the newest counts.", "the rule"},
		{[]string{"--why-not", "Hall A*"}, "No budget includes it.", "it does not come back"},
	} {
		code, stdout, stderr := fed(t, "", append([]string{"explain", "-i", "items.json", "-p", "near.toml", "-b", "1000"}, row.args...)...)
		if code != exitOK || stderr != "" || !strings.Contains(stdout, row.want) {
			t.Errorf("%q: got %d, %q,\n%s\nwant %q: %s", row.args, code, stderr, stdout, row.want, row.why)
		}
	}
}
