package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// recordings puts the runs that cupelotel recorded into the working folder: three, of
// the preset chat.
func recordings(t *testing.T) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", "..", "..", "cupelotel", "testdata", "recordings.jsonl"))
	if err != nil {
		t.Skip("the rest of the repository is not there: ", err)
	}
	var contents strings.Builder
	for _, id := range []string{"system", "question", "again", "call", "result", "report", "message 0", "message 1"} {
		fmt.Fprintf(&contents, `{"id": %q, "content": "the words of %s"}`+"\n", id, strings.ReplaceAll(id, "again", "question"))
	}
	const rest = "scorers = [{ type = \"recency\", weight = 1 }]\nslicer = { type = \"scoreGreedy\" }\nplacer = { type = \"chronological\" }"
	folder(t, map[string]string{
		"runs.jsonl":     string(data),
		"damaged.jsonl":  "{\n" + string(data) + `{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"eventName":"cupel.recording","body":{"stringValue":"{}"}}]}]}]}` + "\n",
		"contents.jsonl": contents.String() + `{"id": "memory", "content": "no candidate has this id"}`,
		"near.toml":      "nearDuplicates = 0.9\n" + rest,
		"groups.toml":    strings.Replace(rest, "[{", "[{ type = \"relevance\", weight = 1, settings = { groups = [\"session\"] } }, {", 1),
		"needs.toml":     strings.Replace(rest, "\"scoreGreedy\"", "\"countQuota\", inner = { type = \"greedy\" }, entries = [{ kind = \"Message\", requireCount = 2 }], scarcity = \"Throw\"", 1),
		"trust.toml":     strings.Replace(rest, "[{", "[{ type = \"metadataTrust\", weight = 1, defaultScore = 0 }, {", 1),
		"key.toml":       strings.Replace(rest, "[{", "[{ type = \"metadataKey\", weight = 1, key = \"trust\", value = \"0.5\", boost = 2 }, {", 1),
	})
}

// TestDiffRecordings: the policy that was recorded decides the same again, and another
// one differs where it should.
func TestDiffRecordings(t *testing.T) {
	recordings(t)
	code, stdout, stderr := fed(t, "", "diff", "recorded", "chat", "--recordings", "runs.jsonl")
	if code != exitOK || stderr != "" || !strings.Contains(stdout, "differs in 0 of 3 runs (0.0%), which have 24 candidates") {
		t.Errorf("got %d, %q\n%s\nwant no difference", code, stderr, stdout)
	}
	code, stdout, stderr = fed(t, "", "diff", "recorded", "rag", "--recordings", "damaged.jsonl", "--json")
	if code != exitOK || !strings.Contains(stderr, "damaged.jsonl: line 1 is not OTLP in JSON") || !strings.Contains(stderr, "damaged.jsonl: line 5: the recording cannot be read: its format is") {
		t.Fatalf("got %d, %q; want the lines that are damaged", code, stderr)
	}
	var d corpusDifference
	if err := json.Unmarshal([]byte(stdout), &d); err != nil {
		t.Fatal(err)
	}
	// The question is there twice, and the presets keep other copies.
	if d.Runs != 3 || d.Changed != 3 || d.LeftOut != 2 || d.Kinds[0].Kind != "Message" || d.Kinds[0].Came != 3 || d.Kinds[0].Went != 3 || len(d.Examples) != 6 {
		t.Errorf("got %s", stdout)
	}
	if e := d.Examples[1]; e != (example{File: "damaged.jsonl", Line: 2, Trace: "00000000000000000000000000000001", Candidate: 2, ID: "again", Kind: "Message", Tokens: 12, A: "full", B: "out"}) {
		t.Errorf("the second example is %+v", e)
	}
	if code, stdout, _ = fed(t, "", "diff", "recorded", "rag", "--recordings", "runs.jsonl", "-n", "2"); code != exitOK || !strings.Contains(stdout, "… and 4 more") {
		t.Errorf("got %d, %s", code, stdout)
	}
	// Another form of the report: without its contents it has the recorded sizes.
	if code, stdout, stderr = fed(t, "", "diff", "chat", "key.toml", "--recordings", "runs.jsonl"); code != exitOK {
		t.Errorf("metadata that was recorded: %d, %s%s", code, stdout, stderr)
	}
}

// TestDiffRecordingsFailures: a run at which a policy fails, or that cannot be, costs
// nothing else.
func TestDiffRecordingsFailures(t *testing.T) {
	recordings(t)
	code, stdout, stderr := fed(t, "", "diff", "recorded", "needs.toml", "--recordings", "runs.jsonl", "--json")
	const want = "cupel: a policy failed at 1 of 3 runs; the first is needs.toml: the run in runs.jsonl:1: CountQuotaSlice: candidate pool for kind 'Message' has 1 items but RequireCount is 2.\n"
	var d corpusDifference
	if err := json.Unmarshal([]byte(stdout), &d); err != nil || code != exitSelection || stderr != want || d.Runs != 2 || d.Failed != 1 {
		t.Errorf("got %d, %q, %+v, %v; want two runs, and %q", code, stderr, d, err, want)
	}
	data, err := os.ReadFile("runs.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	for old, next := range map[string]string{
		`\"kind\":\"Document\"`: `\"kind\":\" \"`,
		`\"tokens\":80`:         `\"tokens\":-80`,
		`\"budget\":`:           `\"other\":`,
		`\"clock\":`:            `\"other\":`,
	} {
		if !strings.Contains(string(data), old) {
			t.Fatalf("no %s in %s", old, data)
		}
		if err := os.WriteFile("changed.jsonl", []byte(strings.Replace(string(data), old, next, 1)), 0o600); err != nil {
			t.Fatal(err)
		}
		code, stdout, stderr := fed(t, "", "diff", "recorded", "chat", "--recordings", "changed.jsonl")
		leftOut := code == exitOK && strings.HasPrefix(stderr, "cupel: note: changed.jsonl: line 1: the recording cannot be read: ") && strings.Contains(stdout, "differs in 0 of 2 runs")
		if !leftOut {
			t.Errorf("%s: got %d, %q\n%s\nwant that the run is left out", next, code, stderr, stdout)
		}
	}
}

func TestDiffRecordingsMistakes(t *testing.T) {
	recordings(t)
	runs := []string{"--recordings", "runs.jsonl"}
	for _, row := range []misuse{
		{"the same", append([]string{"chat", "chat"}, runs...), "A and B are both chat: give two different policies, or recorded for what was decided then", "nothing would differ"},
		{"items", append([]string{"chat", "rag", "-i", "x.jsonl"}, runs...), "if any flags in the group [recordings items] are set none of the others can be; [items recordings] were all set", "the candidates are those of the runs"},
		{"no runs", []string{"chat", "rag", "--recordings", "contents.jsonl"}, "no recorded runs in contents.jsonl", "all figures would be 0"},
		{"contents alone", []string{"a.json", "b.json", "--contents", "contents.jsonl"}, "--contents is for --recordings", "it would do nothing"},
		{"no policy", append([]string{"recorded", "none.toml"}, runs...), "open none.toml: no such file or directory", "it is not there"},
		{"no ids", append([]string{"recorded", "chat", "--contents", "runs.jsonl"}, runs...), "runs.jsonl: content 1 has no id", "nothing could be joined"},
	} {
		row.check(t, "diff")
	}
	for _, row := range []struct {
		name string
		args []string
		want string
		why  string
	}{
		{"contents", []string{"near.toml"}, `near.toml: nearDuplicates reads contents, and that of candidate 0 (SystemPrompt, "system") of the run in runs.jsonl:1 is missing`, "no contents are recorded"},
		{"one content", []string{"near.toml", "--contents", "contents.jsonl"}, `near.toml: nearDuplicates reads contents, and that of candidate 6 (Memory, without an id) of the run in runs.jsonl:1 is missing`, "it has no id to join by"},
		{"relevance", []string{"relevance", "-q", "words", "--contents", "contents.jsonl"}, `relevance: relevance reads contents, and that of candidate 6 (Memory, without an id) of the run in runs.jsonl:1 is missing`, "a scorer reads it too"},
		{"groups", []string{"groups.toml", "-q", "words"}, `groups.toml: relevance reads the metadata "session", which was not recorded: give it to WithRecording`, "all items would be of one group"},
		{"metadata", []string{"trust.toml"}, `trust.toml: metadataTrust reads the metadata "cupel:trust", which was not recorded: give it to WithRecording`, "every item would have the default"},
	} {
		code, stdout, stderr := fed(t, "", append(append([]string{"diff", "recorded"}, row.args...), runs...)...)
		if code != exitSelection || stdout != "" || stderr != "cupel: "+row.want+"\n" {
			t.Errorf("%s: got %d, %q, %q; want %q: %s", row.name, code, stdout, stderr, row.want, row.why)
		}
	}
}
