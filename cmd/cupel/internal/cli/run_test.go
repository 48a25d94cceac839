package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/wollax/cupel-go/cmd/cupel/internal/input"
	"github.com/wollax/cupel-go/cupel"
)

// ran runs cupel run with a text on standard input, which is the file "-".
func ran(t *testing.T, stdin string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	return fed(t, stdin, append([]string{"run"}, args...)...)
}

// everything takes all items that there is room for, in the given order of
// time.
const everything = `{"name": "All", "deduplicate": false, "scorers": [{"type": "recency", "weight": 1}], "slicer": {"type": "greedy"}, "placer": {"type": "PLACER"}}`

func policyFile(t *testing.T, placer string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "policy.json")
	if err := os.WriteFile(path, []byte(strings.Replace(everything, "PLACER", placer, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestRunTakesTranscriptsThrough(t *testing.T) {
	paths, err := filepath.Glob("../../../../cupelchat/testdata/*.json")
	if err != nil || len(paths) < 6 {
		t.Fatalf("the transcripts are not where they should be: %q, %v", paths, err)
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, policy := range []string{policyFile(t, "chronological"), policyFile(t, "uShaped"), "chat", "rag"} {
			code, stdout, stderr := ran(t, string(text), "-i", "-", "-p", policy, "-b", "1000000", "--as", "transcript")
			if code != exitOK {
				t.Errorf("%s: exit code %d: %s", path, code, stderr)
			}
			var got, want any
			if err := json.Unmarshal(text, &want); err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal([]byte(stdout), &got); err != nil || !reflect.DeepEqual(got, want) {
				t.Errorf("%s, %s: %v\n%s", path, policy, err, stdout)
			}
		}
	}
}

const agent = `{
 "model": "claude-x", "system": "Be brief.",
 "messages": [
  {"role": "user", "content": "List the files."},
  {"role": "assistant", "content": [{"type": "tool_use", "id": "t1", "name": "ls", "input": {"path": "."}}]},
  {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "a.go b.go"}]},
  {"role": "assistant", "content": "There are two."},
  {"role": "user", "content": "Thanks."}
 ]
}
`

func TestRunDropsExchangesWhole(t *testing.T) {
	code, stdout, stderr := ran(t, agent, "-i", "-", "-p", "chat", "-b", "29", "--as", "transcript")
	// 7 tokens of the system prompt, 8 of the first message, 6 of the last one and 8 of the answer before
	// it leave no room for the exchange.
	want := `{
 "model": "claude-x", "system": "Be brief.",
 "messages": [
  {"role": "user", "content": "List the files."},
  {"role": "assistant", "content": "There are two."},
  {"role": "user", "content": "Thanks."}
 ]
}
`
	if code != exitOK || stdout != want || stderr != "" {
		t.Errorf("exit code %d, %q, got\n%s\nwant\n%s", code, stderr, stdout, want)
	}
	code, stdout, stderr = ran(t, agent, "-i", "-", "-p", "chat", "-b", "28", "--as", "transcript")
	if code != exitOK || strings.Contains(stdout, "There are two.") ||
		stderr != "cupel: note: joined 1 message with the one before, because the messages between were dropped\n" {
		t.Errorf("with one token less: exit code %d\n%s%s", code, stdout, stderr)
	}
	// Without pins the answer is first, and cannot be.
	code, stdout, stderr = ran(t, agent, "-i", "-", "-p", "chat", "-b", "14", "--as", "transcript", "--no-pin")
	if code != exitOK || !strings.Contains(stdout, `"messages": [
  {"role": "user", "content": "Thanks."}`) || !strings.HasPrefix(stderr, "cupel: note: dropped 1 item from messages[3] on (8 tokens), because the API requires that the user speaks first") {
		t.Errorf("without pins: exit code %d\n%s%s", code, stdout, stderr)
	}
}

func TestRunText(t *testing.T) {
	code, stdout, stderr := ran(t, agent, "-i", "-", "-p", "chat", "-b", "1000", "--headers", "--encoding", "heuristic")
	want := `--- 1: SystemPrompt, 7 tokens, role system
Be brief.

--- 2: Message, 8 tokens, role user, message 0
List the files.

--- 3: ToolOutput, 14 tokens, group exchange 2, role assistant, tool ls, message 1
ls({"path":"."})

--- 4: ToolOutput, 12 tokens, group exchange 2, role tool, tool ls, message 2
a.go b.go

--- 5: Message, 8 tokens, role assistant, message 3
There are two.

--- 6: Message, 6 tokens, role user, message 4
Thanks.
`
	if code != exitOK || stdout != want || stderr != "" {
		t.Errorf("exit code %d, %q, got\n%s\nwant\n%s", code, stderr, stdout, want)
	}
	_, plain, _ := ran(t, agent, "-i", "-", "-p", "chat", "-b", "1000")
	for line := range strings.Lines(want) {
		if strings.HasPrefix(line, "---") {
			want = strings.Replace(want, line, "", 1)
		}
	}
	if plain != want {
		t.Errorf("got\n%s\nwant\n%s", plain, want)
	}
}

// TestRunJSON reads back what it wrote.
func TestRunJSON(t *testing.T) {
	code, stdout, _ := ran(t, agent, "-i", "-", "-p", "chat", "-b", "1000", "--as", "json")
	var items []*cupel.ContextItem
	if err := json.Unmarshal([]byte(stdout), &items); code != exitOK || err != nil || len(items) != 6 {
		t.Fatalf("exit code %d, %d items, %v", code, len(items), err)
	}
	code, again, stderr := ran(t, stdout, "-i", "-", "-p", "chat", "-b", "1000", "--as", "json")
	if code != exitOK || again != stdout || stderr != "" {
		t.Errorf("exit code %d, %q, got\n%s\nwant\n%s", code, stderr, again, stdout)
	}
	if _, none, _ := ran(t, "[]", "-i", "-", "-p", "chat", "-b", "1000", "--as", "json"); none != "[]\n" {
		t.Errorf("an empty window is %q", none)
	}
}

func TestRunNoPin(t *testing.T) {
	code, stdout, stderr := ran(t, agent, "-i", "-", "-p", "chat", "-b", "5", "--as", "transcript", "--no-pin")
	want := "{\n \"model\": \"claude-x\",\n \"messages\": []\n}\n"
	if code != exitOK || stdout != want || stderr != "cupel: note: no message is left; the API refuses a request without one\n" {
		t.Errorf("exit code %d, %q, got %q, want %q", code, stderr, stdout, want)
	}
}

func TestRunMediaTokens(t *testing.T) {
	const picture = `[{"role":"user","content":[{"type":"image_url","image_url":{"url":"https://e.org/a"}}]}]`
	for tokens, want := range map[string]string{"": "769 tokens", "0": "4 tokens", "10": "14 tokens"} {
		args := []string{"-i", "-", "-p", "chat", "-b", "1000", "--headers"}
		if tokens != "" {
			args = append(args, "--media-tokens", tokens)
		}
		code, stdout, stderr := ran(t, picture, args...)
		if code != exitOK || !strings.Contains(stdout, want) || !strings.Contains(stderr, "cupel: note: estimated the tokens of media: 1 image of ") {
			t.Errorf("exit code %d, %q, got %s, want %s", code, stderr, stdout, want)
		}
	}
}

// TestRunHelp holds the usage to what it says of defaults: the one of
// --media-tokens is no number, and was shown as nothing.
func TestRunHelp(t *testing.T) {
	if _, help, _ := start(t, "help", "run"); strings.Contains(help, "(default )") || !strings.Contains(help, "(default: an estimate for the API)\n") {
		t.Errorf("got\n%s", help)
	}
}

// TestRunKeepsRepetitions has a message twice, and a policy that would leave out
// items with equal content.
func TestRunKeepsRepetitions(t *testing.T) {
	const text = `[{"role":"assistant","content":"go on"},{"role":"assistant","content":"go on"},{"role":"user","content":"x"}]`
	code, stdout, stderr := ran(t, text, "-i", "-", "-p", "chat", "-b", "100", "--as", "transcript", "--format", "openai")
	if code != exitOK || stdout != text+"\n" || stderr != "" {
		t.Errorf("exit code %d, got %s%s", code, stdout, stderr)
	}
}

func TestRunOutput(t *testing.T) {
	path := filepath.Join(t.TempDir(), "smaller.json")
	args := []string{"-i", "-", "-p", "chat", "-b", "1000", "--as", "transcript", "-o", path}
	if code, stdout, stderr := ran(t, agent, args...); code != exitOK || stdout != "" {
		t.Fatalf("exit code %d: %q %q", code, stdout, stderr)
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != agent {
		t.Errorf("got %s, %v", got, err)
	}
	if code, _, stderr := ran(t, agent, args...); code != exitUsage || stderr != "cupel: "+path+" already exists; --force overwrites it\n" {
		t.Errorf("exit code %d: %q", code, stderr)
	}
	if code, _, stderr := ran(t, agent, append(args, "--force")...); code != exitOK {
		t.Errorf("exit code %d: %q", code, stderr)
	}
}

func TestRunFailures(t *testing.T) {
	item := `[{"content":"x","tokens":5,"pinned":true}]`
	tests := []struct {
		name, why, stdin string
		args             []string
		code             int
		want             string
	}{
		{"as", "known forms are listed", item, []string{"--as", "xml"}, exitUsage, `--as: "xml" is not one of text, json, transcript`},
		{"headers", "JSON has no headers", item, []string{"--as", "json", "--headers"}, exitUsage, "--headers requires --as text"},
		{"items as transcript", "items never were one", item, []string{"--as", "transcript"}, exitUsage,
			"standard input: --as transcript requires a transcript as input, and these are items (json); use --as json"},
		{"format", "known formats are listed", item, []string{"--format", "antropic"}, exitUsage, `--format: "antropic" is unknown (did you mean anthropic?); want one of ` + strings.Join(input.Formats(), ", ")},
		{"encoding", "so are the encodings", item, []string{"--encoding", "base1"}, exitUsage, ""},
		{"media", "tokens are not negative", item, []string{"--media-tokens", "-5"}, exitUsage, "--media-tokens: must be at least 0, got -5"},
		{"media less one", "no number stands for the estimate", item, []string{"--media-tokens", "-1"}, exitUsage, "--media-tokens: must be at least 0, got -1"},
		{"comma", "the line and the column are named", "[\n" + item[1:len(item)-1] + ",\n]", nil, exitUsage, "standard input: line 3: JSON allows no comma before a closing ] (column 1)"},
		{"message", "and so is the message", `{"system":"s","messages":[{"role":"user","content":"x"},{"role":"tool"}]}`, []string{"--format", "anthropic"}, exitUsage,
			`standard input: line 1: messages[1].role must be one of system, user, assistant, got "tool"`},
		{"hostile name", "what a file says does not reach the terminal as it is", `[{"role":"\u001b[31m"}]`, []string{"--format", "openai"}, exitUsage,
			`standard input: line 1: messages[0].role must be one of system, developer, user, assistant, tool, function, got "\x1b[31m"`},
		{"pinned", "what cannot be selected has an exit code of its own", item, []string{"-b", "4"}, exitSelection, "Pinned items require 5 tokens, but only 4 are available\n        5  x\n  Give a --budget of at least 5, or pin less: remove \"pinned\" from items."},
		{"no file", "a file may be missing", "", []string{"-i", "missing.json"}, exitUsage, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			code, stdout, stderr := ran(t, tt.stdin, append([]string{"-i", "-", "-p", "chat", "-b", "1000"}, tt.args...)...)
			if code != tt.code || stdout != "" || strings.Count(stderr, "\n") != 1+strings.Count(tt.want, "\n") {
				t.Errorf("%s: exit code %d, want %d, %q %q", tt.why, code, tt.code, stdout, stderr)
			}
			if tt.want != "" && stderr != "cupel: "+tt.want+"\n" {
				t.Errorf("%s:\ngot  %swant cupel: %s", tt.why, stderr, tt.want)
			}
		})
	}
}

// The preset agent writes a smaller conversation, in which an older exchange is a
// note, and explains it.
func TestRunForAgent(t *testing.T) {
	var b strings.Builder
	b.WriteString(`[{"role":"user","content":"Fix the oven test."}`)
	for i := range 6 {
		fmt.Fprintf(&b, `,{"role":"assistant","tool_calls":[{"id":"c%d","type":"function","function":{"name":"read","arguments":"{\"path\":\"oven%d.go\"}"}}]},{"role":"tool","tool_call_id":"c%d","content":%q}`,
			i, i, i, strings.Repeat(fmt.Sprintf("func oven%d() error { return nil }\n", i), 20))
	}
	b.WriteString(`,{"role":"user","content":"Go on."}]`)
	code, stdout, stderr := ran(t, b.String(), "-i", "-", "-p", "agent", "-b", "900", "--as", "transcript")
	if code != 0 || !strings.Contains(stdout, "[earlier] read(") || !strings.Contains(stdout, "Fix the oven test.") {
		t.Errorf("exit code %d, output %s, %s; want a note of an earlier call, and the task", code, stdout, stderr)
	}
	code, stdout, stderr = ran(t, b.String(), "-i", "-", "-p", "agent", "-b", "900", "--query", "ovens?")
	if code != 2 || !strings.Contains(stderr, "the policy agent takes no question") {
		t.Errorf("exit code %d, output %s, %s; want that it takes no question", code, stdout, stderr)
	}
}

// Every command selects what run does, where the task does not fit too.
func TestOneSelection(t *testing.T) {
	body, err := json.Marshal([]map[string]string{
		{"role": "system", "content": "You are a baker."},
		{"role": "user", "content": strings.Repeat("Look at oven.go and bake the bread.\n", 60)},
		{"role": "assistant", "content": strings.Repeat("The loaf42 is in.\n", 30)},
		{"role": "user", "content": strings.Repeat("Is it done? ", 20)},
	})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "chat.json")
	if err := os.WriteFile(path, body, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, policy := range []string{"agent", "chat"} {
		common := []string{"-i", path, "--encoding", "heuristic"}
		command := func(name string, args ...string) (stdout, stderr string) {
			t.Helper()
			code, stdout, stderr := fed(t, "", append(append([]string{name}, common...), args...)...)
			if code != exitOK {
				t.Errorf("%s with %s: exit code %d: %s", name, policy, code, stderr)
			}
			return stdout, stderr
		}
		window, _ := command("run", "-p", policy, "-b", "200", "--as", "json")
		var items []struct{ Content string }
		if err := json.Unmarshal([]byte(window), &items); err != nil {
			t.Fatal(err)
		}
		var report struct {
			Included []struct{ Item struct{ Content string } }
		}
		out, notes := command("explain", "-p", policy, "-b", "200", "--json")
		if err := json.Unmarshal([]byte(out), &report); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(notes, "the first message of the user was reduced from") {
			t.Errorf("explain with %s: standard error %q, want that the task was reduced", policy, notes)
		}
		var ran, explained []string
		for _, item := range items {
			ran = append(ran, item.Content)
		}
		for _, in := range report.Included {
			explained = append(explained, in.Item.Content)
		}
		slices.Sort(ran)
		slices.Sort(explained)
		if len(ran) < 3 || !slices.Equal(ran, explained) {
			t.Errorf("%s: run has %q, explain has %q", policy, ran, explained)
		}
		command("explain", "-p", policy, "-b", "200", "--why-not", "The loaf42*")
		command("diff", "-p", policy, "200", "400")
		command("diff", "-b", "200", policy, "rag")
		command("inspect", "-p", policy, "-b", "200", "-o", "-", "--against-budget", "400")
		command("inspect", "-p", "rag", "-b", "200", "-o", "-", "--against", policy)
		var sweep struct {
			Steps []struct {
				Budget, Included int
				Error            string
			}
		}
		out, _ = command("sweep", "-p", policy, "--from", "200", "--to", "700", "--stride", "100", "--json")
		if err := json.Unmarshal([]byte(out), &sweep); err != nil {
			t.Fatal(err)
		}
		if len(sweep.Steps) < 2 || sweep.Steps[0].Included != len(ran) || sweep.Steps[0].Error != "" {
			t.Errorf("sweep with %s: %+v, want %d items at 200, and changes", policy, sweep.Steps, len(ran))
		}
	}
}
