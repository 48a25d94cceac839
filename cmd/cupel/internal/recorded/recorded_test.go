package recorded_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wollax/cupel-go/cmd/cupel/internal/recorded"
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
			require.ErrorContains(t, err, "line 2: the recording cannot be read: "+row.want, row.why)
			continue
		}
		require.NoError(t, err, row.name)
		require.Equal(t, []any{2, "5", "f"}, []any{run.Line, run.Trace, run.File}, row.why)
	}
}
