package cupelbeam_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/wollax/cupel-go/cupelbeam"
	"github.com/wollax/cupel-go/cupelsession/replay"
)

var spec = cupelbeam.Spec{
	Policies: []cupelbeam.Policy{{Name: "newest"}, {Name: "agent", Low: 0.6}, {Name: "chat"}},
	Shares:   []float64{0.25, 0.5},
	Against:  "newest",
	Caches:   []string{"anthropic", "openai"},
}

// corpus writes files with n copies of the conversations of package replay, and a line
// that is damaged.
func corpus(t *testing.T, n int) string {
	t.Helper()
	data, err := os.ReadFile("../cupelsession/replay/testdata/agents.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	for i, text := range []string{strings.Repeat(string(data), n) + "{\"id\": \n", strings.Repeat(string(data), n/2+1)} {
		if err := os.WriteFile(filepath.Join(folder, fmt.Sprintf("%d.jsonl", i)), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

// plain returns the table of the same measure in a loop.
func plain(t *testing.T, folder string) string {
	t.Helper()
	m, err := spec.Measure()
	if err != nil {
		t.Fatal(err)
	}
	table := replay.NewTable(m.Plan())
	files, err := filepath.Glob(filepath.Join(folder, "*.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		file, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		for s, err := range m.Samples(t.Context(), replay.Scan(name, file, nil)) {
			if err != nil {
				t.Fatal(err)
			}
			if err := table.Add(&s); err != nil {
				t.Fatal(err)
			}
		}
		if err := file.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return bits(t, table)
}

// bits writes every bit of a result.
func bits(t *testing.T, table *replay.Table) string {
	t.Helper()
	result := table.Result()
	data, err := json.Marshal(result)
	if err != nil {
		t.Fatal(err)
	}
	return string(data) + result.Text()
}

// command builds a command of the repository.
func command(t *testing.T, folder string) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), filepath.Base(folder))
	build := exec.CommandContext(t.Context(), "go", "build", "-o", program, ".")
	build.Dir = folder
	if folder != beamCommand { // it is of another module
		work, err := filepath.Abs("../go.work")
		if err != nil {
			t.Fatal(err)
		}
		build.Env = append(os.Environ(), "GOWORK="+work)
	}
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return program
}

// The folders of the commands.
const (
	beamCommand  = "./cmd/cupel-beam"
	cupelCommand = "../cmd/cupel"
)

// start starts a command, and returns what waits for its end and returns what it
// printed, and its processor time.
func start(t *testing.T, program string, args ...string) func() (string, time.Duration) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 8*time.Minute)
	cmd := exec.CommandContext(ctx, program, args...)
	var out, log bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return func() (string, time.Duration) {
		t.Helper()
		defer cancel()
		if err := cmd.Wait(); err != nil {
			t.Fatalf("%v\n%s", err, log.String())
		}
		return out.String(), cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	}
}

// beamed starts cupel-beam on the files of a folder, and returns what waits for the
// bits of its table, and what it printed.
func beamed(t *testing.T, program, folder string, args ...string) func() (bits, printed string) {
	t.Helper()
	table, samples := filepath.Join(folder, "table.json"), filepath.Join(folder, "samples")
	wait := start(t, program, append([]string{
		"--data", filepath.Join(folder, "*.jsonl"), "--policy", "newest,agent@0.6,chat", "--share", "0.25,0.5", "--against", "newest",
		"--cache", "anthropic,openai", "--table", table, "--samples", samples,
	}, args...)...)
	return func() (string, string) {
		t.Helper()
		printed, _ := wait()
		data, err := os.ReadFile(table)
		if err != nil {
			t.Fatal(err)
		}
		var got replay.Table
		if err := json.Unmarshal(data, &got); err != nil {
			t.Fatal(err)
		}
		rows, err := os.ReadFile(samples)
		if err != nil {
			t.Fatal(err)
		}
		if n := bytes.Count(rows, []byte("\n")); n != got.Conversations+got.Failed || got.Failed != 1 {
			t.Errorf("%d samples of %d conversations and %d lines that cannot be read; want one such line", n, got.Conversations, got.Failed)
		}
		return bits(t, &got), printed
	}
}

// TestPrism: the pipeline in one process gives the bits of the plain loop, and the
// command the table of cupel replay.
func TestPrism(t *testing.T) {
	folder := corpus(t, 5)
	got, printed := beamed(t, command(t, beamCommand), folder)()
	if want := plain(t, folder); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	want, _ := start(t, command(t, cupelCommand), "replay", "--data", filepath.Join(folder, "0.jsonl"), "--data", filepath.Join(folder, "1.jsonl"),
		"-p", "newest", "-p", "agent@0.6", "-p", "chat", "--share", "0.25,0.5", "--against", "newest", "--cache", "anthropic,openai",
		"--dead-letters", filepath.Join(folder, "dead"))()
	if printed != want {
		t.Errorf("cupel-beam printed\n%s\nand cupel replay\n%s", printed, want)
	}
}

// TestUnknownCache: what is unknown is named, with what is known.
func TestUnknownCache(t *testing.T) {
	bad := spec
	bad.Caches = []string{"openai", "opanai"}
	if _, err := bad.Measure(); err == nil || err.Error() != `cupelbeam: cache "opanai" is unknown; want some of anthropic, anthropic-1h, gemini, none, openai, openai-breakpoints` {
		t.Errorf("got error %v", err)
	}
}
