package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// corpora are what is measured in shards: the command, and its data on lines.
func corpora(t *testing.T) map[string][]string {
	t.Helper()
	recorded, err := os.ReadFile(agents)
	if err != nil {
		t.Skip("the rest of the repository is not there: ", err)
	}
	folder(t, map[string]string{"agents.jsonl": strings.Repeat(string(recorded), 3), "more.jsonl": string(recorded), "talk.jsonl": strings.Repeat(talkFile(), 4)})
	return map[string][]string{
		"replay": {"replay", "--data", "agents.jsonl", "--data", "more.jsonl", "--share", "0.25,0.5", "-p", "newest", "-p", "agent@0.5", "--against", "newest"},
		"eval":   {"eval", "--data", "talk.jsonl", "--budgets", "6,12", "-p", "recency", "-p", "relevance", "--against", "recency"},
	}
}

// TestShards: the table of shards, merged in any order, is that of one run, and so it
// is when a shard was interrupted at any place.
func TestShards(t *testing.T) {
	for name, args := range corpora(t) {
		for _, format := range []string{"--json", "--force"} {
			code, want, stderr := fed(t, "", append(args, format)...)
			if code != exitOK || stderr != "" {
				t.Fatalf("%s: exit code %d: %s", name, code, stderr)
			}
			const n = 3
			files := make([]string, 0, n)
			for _, i := range []int{2, 0, 1} {
				file := fmt.Sprintf("%s-%d.jsonl", name, i)
				files = append(files, file)
				shard := append(args, "--shard", fmt.Sprintf("%d/%d", i, n), "-o", file)
				if code, stdout, stderr := fed(t, "", shard...); code != exitOK || stdout+stderr != "" {
					t.Fatalf("%s: shard %d: exit code %d: %s%s", name, i, code, stdout, stderr)
				}
			}
			merged := func(when string) {
				t.Helper()
				if code, got, stderr := fed(t, "", append([]string{"merge", format}, files...)...); code != exitOK || got != want || stderr != "" {
					t.Errorf("%s %s: got %d, %s\n%s\nwant\n%s", name, when, code, stderr, got, want)
				}
			}
			merged("in shards")
			whole, err := os.ReadFile(files[0])
			if err != nil {
				t.Fatal(err)
			}
			for cut := 0; cut < len(whole); cut += 1 + len(whole)/9 {
				if err := os.WriteFile(files[0], whole[:cut], 0o644); err != nil {
					t.Fatal(err)
				}
				if code, _, stderr := fed(t, "", append([]string{"merge"}, files...)...); code != exitUsage || cut > 300 && !strings.Contains(stderr, "go on") && !strings.Contains(stderr, "goes on") {
					t.Errorf("%s: merging a shard that was interrupted gives %d, %q", name, code, stderr)
				}
				if code, _, stderr := fed(t, "", append(args, "--shard", "2/3", "-o", files[0])...); code != exitOK {
					t.Fatalf("%s: going on gives %d: %s", name, code, stderr)
				}
				merged(fmt.Sprintf("after an interruption at %d of %d bytes", cut, len(whole)))
			}
		}
	}
}

// TestDeadLetters: a damaged line is named, and costs nothing else.
func TestDeadLetters(t *testing.T) {
	for name, args := range corpora(t) {
		_, want, _ := fed(t, "", args...)
		data := args[2]
		whole, err := os.ReadFile(data)
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.SplitAfter(string(whole), "\n")
		damaged := lines[0] + "{\"id\": \"x\", \"mess\n" + strings.Join(lines[1:], "") + "{\"id\": 1, \"messages\": 7, \"items\": 7}\n"
		if err := os.WriteFile(data, []byte(damaged), 0o644); err != nil {
			t.Fatal(err)
		}
		if code, stdout, stderr := fed(t, "", args...); code != exitUsage || stdout != "" || !strings.Contains(stderr, data+": line 2") {
			t.Errorf("%s: got %d, %q, %q; want an error about line 2", name, code, stdout, stderr)
		}
		code, stdout, stderr := fed(t, "", append(args, "--dead-letters", name+"-dead.jsonl")...)
		if code != exitOK || withoutFailed(stdout) != withoutFailed(want) || !strings.Contains(stderr, "2 of ") || !strings.Contains(stderr, "the first is "+data+": line 2: ") {
			t.Errorf("%s: got %d, %q\n%s\nwant\n%s", name, code, stderr, stdout, want)
		}
		for _, i := range []int{0, 1} {
			if code, _, stderr := fed(t, "", append(args, "--shard", fmt.Sprintf("%d/2", i), "-o", fmt.Sprintf("%s-%d.jsonl", name, i))...); code != exitOK {
				t.Fatalf("%s: shard %d: %d, %s", name, i, code, stderr)
			}
		}
		code, merged, stderr := fed(t, "", "merge", name+"-1.jsonl", name+"-0.jsonl", "--dead-letters", name+"-merged.jsonl")
		if code != exitOK || merged != stdout || !strings.Contains(stderr, "2 of ") {
			t.Errorf("%s: merged, got %d, %q\n%s\nwant\n%s", name, code, stderr, merged, stdout)
		}
		for _, file := range []string{name + "-dead.jsonl", name + "-merged.jsonl"} {
			letters, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			places := map[int]bool{}
			for line := range strings.Lines(string(letters)) {
				var p place
				if err := json.Unmarshal([]byte(line), &p); err != nil || p.File != data || p.Error == "" {
					t.Errorf("%s: %q is no dead letter of %s", file, line, data)
				}
				places[p.Line] = true
			}
			if last := strings.Count(damaged, "\n"); len(places) != 2 || !places[2] || !places[last] {
				t.Errorf("%s names lines %v, want 2 and %d", file, places, last)
			}
		}
	}
}

// withoutFailed returns a table without its count of what could not be measured, and
// without lines, which such lines move.
func withoutFailed(table string) string {
	return regexp.MustCompile(`, 2 left out|\.jsonl:\d+`).ReplaceAllString(table, "")
}

// TestResumedLog: a file with a message on each line, which is one conversation, goes
// on behind its damaged lines.
func TestResumedLog(t *testing.T) {
	folder(t, map[string]string{"log.jsonl": `{"role": "user", "content": "Which order? {\"id\": \"TEA-77\"}"}
{"role": "us
{"role": "assistant", "content": "Wait."}
{"role": "us
{"role": "user", "content": "Please."}
{"role": "assistant", "content": "It is TEA-77."}
`})
	args := []string{"replay", "--data", "log.jsonl", "-p", "newest", "--share", "0.5", "-o", "samples.jsonl"}
	code, want, stderr := fed(t, "", args...)
	if code != exitOK || !strings.HasPrefix(want, "1 conversation, 2 steps, ") {
		t.Fatalf("exit code %d: %s%s", code, want, stderr)
	}
	whole, err := os.ReadFile("samples.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	for cut := range whole {
		if cut%20 != 0 && whole[cut] != '\n' && whole[cut-1] != '\n' {
			continue
		}
		if err := os.WriteFile("samples.jsonl", whole[:cut], 0o644); err != nil {
			t.Fatal(err)
		}
		if code, got, stderr := fed(t, "", args...); code != exitOK || got != want {
			t.Errorf("after %d of %d bytes: exit code %d, %s\n%s\nwant\n%s", cut, len(whole), code, stderr, got, want)
		}
		if got, err := os.ReadFile("samples.jsonl"); err != nil || !bytes.Equal(got, whole) {
			t.Errorf("after %d of %d bytes: error %v, the samples are\n%s\nwant\n%s", cut, len(whole), err, got, whole)
		}
	}
}

// TestSameCommand: the command that was complete says the same again.
func TestSameCommand(t *testing.T) {
	for name, args := range corpora(t) {
		file, err := os.OpenFile(args[2], os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := file.WriteString("{\n"); err != nil {
			t.Fatal(err)
		}
		if err := file.Close(); err != nil {
			t.Fatal(err)
		}
		args = append(args, "-o", name+".out", "--dead-letters", name+".dead")
		first, want, warned := fed(t, "", args...)
		again, got, stderr := fed(t, "", args...)
		if first != exitOK || again != first || got != want || stderr != warned || !strings.Contains(warned, "1 of ") {
			t.Errorf("%s: got %d, %s\n%s\nwant %d, %s\n%s", name, again, stderr, got, first, warned, want)
		}
		if err := os.WriteFile(name+".dead", []byte("mine"), 0o644); err != nil {
			t.Fatal(err)
		}
		if code, _, stderr := fed(t, "", args...); code != exitUsage || !strings.Contains(stderr, name+".dead already exists") {
			t.Errorf("%s: got %d, %q; want that another file is kept", name, code, stderr)
		}
	}
}

func TestShardMistakes(t *testing.T) {
	corpora(t)
	measure := func(file string, more ...string) {
		t.Helper()
		if code, _, stderr := fed(t, "", append([]string{"replay", "--data", "more.jsonl", "--share", "0.5", "-p", "newest", "-o", file}, more...)...); code != exitOK {
			t.Fatalf("%s: %s", file, stderr)
		}
	}
	measure("one.jsonl", "--shard", "0/2")
	measure("two.jsonl", "--shard", "1/2", "--encoding", "heuristic")
	measure("all.jsonl")
	for name, text := range map[string]string{
		"notes.txt":  "what somebody wrote",
		"huge.jsonl": `{"format":"cupel.replay.v1","shards":4611686018427387904,"data":["more.jsonl"],"plan":{}}` + "\n" + `{"end":0}` + "\n",
	} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	measure("third.jsonl", "--shard", "0/3")
	unlock, err := lock("one.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	write := func(name, content string) {
		t.Helper()
		if err := os.WriteFile(name, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("broken.jsonl", "{\n")
	whole, err := os.ReadFile("all.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	changed := func(name string, pairs ...string) {
		t.Helper()
		text := string(whole)
		for i := 0; i < len(pairs); i += 2 {
			if !strings.Contains(text, pairs[i]) {
				t.Fatalf("no %s in\n%s", pairs[i], whole)
			}
			text = strings.Replace(text, pairs[i], pairs[i+1], 1)
		}
		write(name, text)
	}
	changed("shorter.jsonl", `"shard":0,"shards":1`, `"shard":1,"shards":3`, `,"of":`, `,"of":1`)
	changed("older.jsonl", `"version":"`, `"version":"before `)
	changed("cut.jsonl", `"counts":`, `"counts":}`)
	data := []string{"--data", "more.jsonl"}
	for _, row := range []misuse{
		{"another file", append(data, "-o", "notes.txt"), "notes.txt has samples of another measurement; --force overwrites it", "a line without an end is no header that was cut"},
		{"no number", append(data, "--shard", "1"), `--shard: want i/n, such as 0/8 to 7/8, got "1"`, "of how many"},
		{"from one", append(data, "--shard", "2/2"), `--shard: want i/n, such as 0/8 to 7/8, got "2/2"`, "shards begin at 0, as indexed Jobs do"},
		{"no output", append(data, "--shard", "0/2"), "--shard: the samples of a shard are for cupel merge: give --output", "a table of one shard says little"},
		{"standard input", []string{"--data", "-", "-o", "x.jsonl"}, "--output: what is measured must be there again after an interruption: give --data a file in place of standard input", "it cannot be read again"},
		{"twice", append(data, "--data", "more.jsonl", "-o", "x.jsonl"), "--data: more.jsonl is given twice", "a place would not say which"},
		{"another measurement", append(data, "--share", "0.25", "-o", "all.jsonl"), "all.jsonl has samples of another measurement; --force overwrites it", "figures would be mixed"},
		{"a damaged sample", append(data, "--share", "0.5", "-p", "newest", "-o", "cut.jsonl"), "cut.jsonl: line 2: invalid character '}' looking for beginning of value; --force overwrites it", "it cannot go on"},
		{"two at a time", append(data, "--share", "0.5", "-p", "newest", "--shard", "0/2", "-o", "one.jsonl"), "--output: one.jsonl: another cupel is using this file: try again when that is done", "both would write"},
		{"a device", append(data, "-o", os.DevNull), "--output: " + os.DevNull + " is not a file", "it cannot go on"},
		{"onto the data", append(data, "-o", "./more.jsonl", "--force"), "--output: ./more.jsonl is read: give another file", "the data would be lost"},
		{"dead letters onto the data", append(data, "--dead-letters", "more.jsonl", "--force"), "--dead-letters: more.jsonl is read: give another file", "the data would be lost"},
		{"one for two", append(data, "-o", "x.jsonl", "--dead-letters", "x.jsonl"), "--dead-letters: x.jsonl is the file of --output too: give another file", "the samples would be lost"},
		{"the same twice", append(data, "--data", "./more.jsonl", "-o", "x.jsonl"), "--data: ./more.jsonl is given twice", "its conversations would count twice"},
		{"nothing left", []string{"--data", "broken.jsonl", "--dead-letters", os.DevNull}, "no conversations to measure in broken.jsonl (part all, 1 could not be read or measured)", "all figures would be 0"},
		{"dead letters", append(data, "--dead-letters", "all.jsonl"), "all.jsonl already exists; --force overwrites it", "nothing is overwritten"},
	} {
		row.check(t, "replay")
	}
	if err := unlock(); err != nil {
		t.Fatal(err)
	}
	for _, row := range []misuse{
		{"a shard is missing", []string{"one.jsonl"}, "shard 1/2 is missing: more.jsonl in 2 shards", "the table would be of half of the conversations"},
		{"many shards", []string{"huge.jsonl"}, "shard 1/4611686018427387904 is missing: more.jsonl in 4611686018427387904 shards", "a number in a file must not take memory"},
		{"twice", []string{"one.jsonl", "one.jsonl"}, "one.jsonl: shard 0/2 of more.jsonl is given twice", "they would count twice"},
		{"other shards", []string{"all.jsonl", "third.jsonl"}, "third.jsonl: more.jsonl was measured in all.jsonl too, and its conversations would count twice", "a conversation is in a shard of each"},
		{"changed data", []string{"third.jsonl", "shorter.jsonl"}, "", "the shards are not of one corpus"},
		{"onto a shard", []string{"all.jsonl", "--dead-letters", "all.jsonl", "--force"}, "--dead-letters: all.jsonl is read: give another file", "the samples would be lost"},
		{"other version", []string{"all.jsonl", "older.jsonl"}, fmt.Sprintf("older.jsonl: it was written by cupel %q, and all.jsonl by %q: measure all shards with one version", "before "+version(), version()), "its presets may choose otherwise"},
		{"other settings", []string{"one.jsonl", "two.jsonl"}, "two.jsonl: it has samples of another measurement than one.jsonl: policies, budgets and settings must be the same", "tokens are counted by others"},
		{"no samples", []string{"more.jsonl"}, "more.jsonl: it is not a file that cupel replay or cupel eval wrote with --output", "not a file of samples"},
		{"no file", []string{"none.jsonl"}, "open none.jsonl: no such file or directory", "it is not there"},
	} {
		row.check(t, "merge")
	}
	if text, err := os.ReadFile("notes.txt"); string(text) != "what somebody wrote" {
		t.Errorf("notes.txt has %q, %v", text, err)
	}
	if matches, _ := filepath.Glob("x.jsonl"); matches != nil {
		t.Error("a mistake left a file")
	}
}
