package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
)

// turns returns a conversation after so many exchanges, for Anthropic's API.
func turns(n int) string {
	var b strings.Builder
	b.WriteString(`{"model":"claude-sonnet-4-5","max_tokens":100,"system":"You bake.","messages":[{"role":"user","content":"Bake the loaves."}`)
	for i := range n {
		fmt.Fprintf(&b, `,{"role":"assistant","content":[{"type":"tool_use","id":"c%d","name":"oven","input":{"id":%d}}]}`, i, i)
		fmt.Fprintf(&b, `,{"role":"user","content":[{"type":"tool_result","tool_use_id":"c%d","content":%q}]}`, i, strings.Repeat(fmt.Sprintf("loaf %d is brown. ", i), 60))
	}
	b.WriteString("]}")
	return b.String()
}

// sentBlocks returns the messages of a body without marks of the cache.
func sentBlocks(t *testing.T, body string) []string {
	t.Helper()
	var request struct{ Messages []json.RawMessage }
	if err := json.Unmarshal([]byte(strings.ReplaceAll(body, `, "cache_control": {"type": "ephemeral"}`, "")), &request); err != nil {
		t.Fatalf("%v: %s", err, body)
	}
	var list []string
	for _, m := range request.Messages {
		var value any
		if err := json.Unmarshal(m, &value); err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(value)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, string(text))
	}
	return list
}

// TestRunInSession: what was sent is sent again in another process until there is no
// room for it, and the window is what the API takes.
func TestRunInSession(t *testing.T) {
	t.Chdir(t.TempDir())
	args := []string{"-i", "-", "-p", "agent", "-b", "1600", "--encoding", "heuristic", "--as", "transcript", "--session", "s.json", "--check-format"}
	var before []string
	kept := 0
	for n := 1; n < 9; n++ {
		code, stdout, stderr := ran(t, turns(n), args...)
		if code != exitOK || !strings.Contains(stderr, fmt.Sprintf("cupel: note: turn %d: ", n)) {
			t.Fatalf("turn %d: exit code %d: %s", n, code, stderr)
		}
		now := sentBlocks(t, stdout)
		same := 0
		for same < min(len(before), len(now)) && before[same] == now[same] {
			same++
		}
		if same == len(before) && n > 1 {
			kept++
		}
		before = now
	}
	if kept < 3 || kept == 7 {
		t.Errorf("%d of 7 turns keep all that was sent, want most, and breaks", kept)
	}
	if info, err := os.Stat("s.json"); err != nil || info.Mode().Perm()&0o077 != 0 {
		t.Errorf("the state is readable by others: %v, %v", info.Mode(), err)
	}
	if entries, err := os.ReadDir("."); err != nil || len(entries) != 1 {
		t.Errorf("there are %v, %v, want the state alone", entries, err)
	}
}

func TestSessionFiles(t *testing.T) {
	folder(t, map[string]string{"broken.json": "{\"version\":", "chat.json": turns(1), "items.json": `[{"content":"a"}]`, "busy.json": "", "out": "precious"})
	if err := os.Mkdir("dir", 0o700); err != nil {
		t.Fatal(err)
	}
	unlock, err := lock("busy.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		args []string
		code int
		want string
		why  string
	}{
		{[]string{"--session", "broken.json"}, exitUsage, "cupel: --session: broken.json is not the state of a session, and is left as it is: ", "a state that was cut"},
		{[]string{"--session", "chat.json"}, exitUsage, "cupel: --session: chat.json is not the state of a session, and is left as it is: ", "the files were mixed up"},
		{[]string{"--session", "dir"}, exitUsage, "cupel: --session: dir is not a file", "a folder"},
		{[]string{"--session", "busy.json"}, exitUsage, "cupel: --session: another cupel is using this file: try again when that is done", "two at the same time"},
		{[]string{"--session", "no/s.json"}, exitUsage, "cupel: --session: ", "no such folder"},
		{[]string{"--session", "new.json", "-i", "items.json"}, exitUsage, "cupel: --session requires a transcript as input, and these are items (json)", "items are no conversation"},
		{[]string{"--session", "new.json", "--cache", "antropic"}, exitUsage, `cupel: --cache: "antropic" is unknown (did you mean anthropic?)`, "a slip"},
		{[]string{"--cache", "openai"}, exitUsage, "cupel: --cache is for a --session", "no session"},
		{[]string{"--session", "new.json", "-b", "5"}, exitSelection, "cupel: Pinned items require ", "a window that cannot be chosen is not saved"},
		{[]string{"--session", "new.json", "-o", "./new.json"}, exitUsage, "cupel: --session and --output are the same file: new.json", "one would replace the other"},
		{[]string{"--session", "chat.json", "-o", "chat.json", "--force"}, exitUsage, "cupel: --session and --output are the same file: chat.json", "though it is there"},
		{[]string{"--session", "new.json", "-o", "out"}, exitUsage, "cupel: out already exists; --force overwrites it", "nor is one that was not written"},
	} {
		args := tt.args
		if !strings.Contains(strings.Join(args, " "), "-i ") {
			args = append([]string{"-i", "chat.json"}, args...)
		}
		if !strings.Contains(strings.Join(args, " "), "-b ") {
			args = append(args, "-b", "1200")
		}
		before, _ := os.ReadFile(tt.args[1])
		code, stdout, stderr := ran(t, "", append(args, "-p", "agent", "--encoding", "heuristic")...)
		if code != tt.code || stdout != "" || !strings.HasPrefix(stderr, tt.want) {
			t.Errorf("%q: exit code %d, %q, %q, want %d, %q: %s", tt.args, code, stdout, stderr, tt.code, tt.want, tt.why)
		}
		if after, _ := os.ReadFile(tt.args[1]); string(after) != string(before) {
			t.Errorf("%q: the file says %q", tt.args, after)
		}
		if _, err := os.Stat("new.json"); err == nil {
			t.Errorf("%q: there is a state", tt.args)
		}
	}
	if err := unlock(); err != nil {
		t.Fatal(err)
	}
	for range 2 { // a link stays one
		if _, err := os.Lstat("link.json"); err != nil {
			if err := os.Symlink("real.json", "link.json"); err != nil {
				t.Skip("no links: ", err)
			}
			if err := os.WriteFile("real.json", nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if code, _, stderr := ran(t, "", "-i", "chat.json", "-p", "agent", "-b", "1200", "--encoding", "heuristic", "--session", "link.json"); code != exitOK {
			t.Fatalf("exit code %d: %s", code, stderr)
		}
	}
	if info, err := os.Lstat("link.json"); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is %v, %v", info, err)
	}
}

func TestCheckFormat(t *testing.T) {
	const lost = `[{"role":"user","content":"x"},{"role":"tool","tool_call_id":"c9","content":"y"},{"role":"user","content":"z"}]`
	args := []string{"-i", "-", "-p", "chat", "-b", "1000", "--as", "transcript", "--format", "openai"}
	if code, stdout, _ := ran(t, lost, args...); code != exitOK || stdout == "" {
		t.Errorf("without the flag: exit code %d, %q", code, stdout)
	}
	code, stdout, stderr := ran(t, lost, append(args, "--check-format")...)
	if code != exitCheck || stdout != "" || !strings.Contains(stderr, "cupel: the API (openai) would refuse the window, and nothing is written:\n  messages[1].role: ") {
		t.Errorf("exit code %d, %q, %q", code, stdout, stderr)
	}
	if code, _, stderr := ran(t, lost, "-i", "-", "-p", "chat", "-b", "1000", "--check-format"); code != exitUsage || stderr != "cupel: --check-format requires --as transcript\n" {
		t.Errorf("as text: exit code %d, %q", code, stderr)
	}
}
