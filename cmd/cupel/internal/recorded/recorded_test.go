package recorded_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/wollax/cupel-go/cmd/cupel/internal/recorded"
	"github.com/wollax/cupel-go/cupel/policy"
)

// read reads one recording with these members, in line 2.
func read(t *testing.T, members string) (*recorded.Run, error) {
	t.Helper()
	body := strconv.Quote(`{"format": "cupel.recording.v1", "clock": "2026-01-02T03:04:05Z", "budget": {"maxTokens": 9, "targetTokens": 9}` + members + `}`)
	for run, err := range recorded.Read("f", strings.NewReader(fmt.Sprintf("\n"+`{"resourceLogs": [{"scopeLogs": [{"logRecords": [{"eventName": "cupel.recording", "traceId": "5", "body": {"stringValue": %s}}]}]}]}`, body))) {
		return run, err
	}
	t.Fatal("nothing was read")
	return nil, nil
}

// TestRead: what a body says does not change where the run is from, and nothing in it
// takes more than linear time.
func TestRead(t *testing.T) {
	const item = `{"tokens": 1, "kind": "Message", "source": "Chat"`
	for _, row := range []struct {
		name, members, want string
		why                 string
	}{
		{"a copy", `, "candidates": [` + item + `}, ` + item + `, "same": 0}]`, "", "contents were equal"},
		{"another place", `, "line": 7, "file": "x", "trace": "6"`, "", "the file says where the run is, not the run"},
		{"an item again", `, "candidates": [` + item + `}, ` + item + `, "again": 1}]`, "candidate 1 is the same as 1", "it is no other one"},
		{"itself", `, "candidates": [` + item + `, "same": 0}]`, "candidate 0 is the same as 0", "it is no other one"},
		{"a chain", `, "candidates": [` + item + `}, ` + item + `, "same": 0}, ` + item + `, "same": 1}]`, "candidate 2 is the same as 1", "copies are of the first one, and a chain would take the square of its length"},
		{"selected", `, "selected": [{"candidate": 0}]`, "it selects candidate 0, form 0", "there is none"},
	} {
		run, err := read(t, row.members)
		if row.want != "" {
			if err == nil || !strings.HasSuffix(err.Error(), "line 2: the recording cannot be read: "+row.want) {
				t.Errorf("%s: error %v, want %q: %s", row.name, err, row.want, row.why)
			}
			continue
		}
		if err != nil || run.Line != 2 || run.Trace != "5" || run.File != "f" {
			t.Errorf("%s: got %+v, %v: %s", row.name, run, err, row.why)
		}
	}
}

// TestNeeds: of several strategies, the error is about the same one each time.
func TestNeeds(t *testing.T) {
	run, err := read(t, `, "candidates": [{"tokens": 1, "kind": "Message", "source": "Chat"}]`)
	if err != nil {
		t.Fatal(err)
	}
	p := policy.Policy{
		Scorers: []policy.Weighted{{Scorer: policy.Strategy{Type: "relevance"}, Weight: 1}},
		Slicer:  policy.Strategy{Type: "diverse"},
		Placer:  policy.Strategy{Type: "chronological"},
	}
	for range 30 {
		if _, err := run.Try(t.Context(), p, policy.NewRegistry(), nil); err == nil || !strings.HasPrefix(err.Error(), "relevance reads contents") {
			t.Fatalf("error %v, want one that names relevance", err)
		}
	}
}
