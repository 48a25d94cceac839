package cupelbeam_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/wollax/cupel-go/cupelsession/replay"
)

// TestThroughput measures cupel replay, Prism and Flink on the same corpora, in turns,
// with CUPEL_LONG=1. What it logs is the table in docs/corpora.md: the least of three
// runs, since others may use the machine.
func TestThroughput(t *testing.T) {
	if why := withoutFlink(); why != "" || os.Getenv("CUPEL_LONG") == "" {
		t.Skip("measured with CUPEL_LONG=1 and Flink; ", why)
	}
	cupel, program := command(t, cupelCommand), command(t, beamCommand)
	f := startFlink(t, program)
	type contestant struct {
		name string
		run  func(data, policy string) (table string, used time.Duration)
	}
	replay := func(jobs string) contestant {
		return contestant{"cupel replay --jobs " + jobs, func(data, policy string) (string, time.Duration) {
			p := start(t, cupel, "replay", "--data", data, "-p", policy, "--share", "0.25,0.5", "--jobs", jobs)
			return p.wait(t, 0), p.used()
		}}
	}
	beam := func(name string, args ...string) contestant {
		return contestant{name, func(data, policy string) (string, time.Duration) {
			p := start(t, program, append([]string{"--data", data, "--policy", policy, "--share", "0.25,0.5", "--table", filepath.Join(t.TempDir(), "table")}, args...)...)
			return p.wait(t, 0), p.used()
		}}
	}
	contestants := []contestant{replay("1"), replay("2"), beam("Prism"), beam("Flink, 1 slot", f.args(1)...), beam("Flink, 2 slots", f.args(2)...)}
	lines, err := os.ReadFile("../cupelsession/replay/testdata/agents.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	for _, of := range []struct {
		policy string
		times  int // of three conversations
	}{{"newest", 1}, {"newest", 1000}, {"newest", 4000}, {"agent@0.6", 1}, {"agent@0.6", 400}} {
		data := filepath.Join(t.TempDir(), "corpus.jsonl")
		if err := os.WriteFile(data, []byte(strings.Repeat(string(lines), of.times)), 0o600); err != nil {
			t.Fatal(err)
		}
		wall, used := make([][]time.Duration, len(contestants)), make([][]time.Duration, len(contestants))
		var want string
		for range 3 {
			for i, c := range contestants {
				server, workers := f.serverTime(), f.workerTime()
				began := time.Now()
				table, own := c.run(data, of.policy)
				wall[i] = append(wall[i], time.Since(began))
				used[i] = append(used[i], own+f.workerTime()-workers+f.serverTime()-server)
				if want == "" {
					want = table
				}
				if table != want {
					t.Errorf("%s printed\n%s\nand %s\n%s", c.name, table, contestants[0].name, want)
				}
			}
		}
		for i, c := range contestants {
			t.Logf("| %s | %d | %s | %s | %s |", of.policy, 3*of.times, c.name, least(wall[i]), least(used[i]))
		}
	}
}

// TestManyConversations measures 200,000 conversations on Flink with CUPEL_LONG=1: the
// counters are right, and a worker holds buffers and not the corpus. The samples are in
// three of ten shards, since there are three ids.
func TestManyConversations(t *testing.T) {
	if why := withoutFlink(); why != "" || os.Getenv("CUPEL_LONG") == "" {
		t.Skip("measured with CUPEL_LONG=1 and Flink; ", why)
	}
	program, lines := command(t, beamCommand), string(readFile(t, agents(t)))
	f := startFlink(t, program)
	const files, most = 20, 200_000
	var peaks []int
	for _, n := range []int{most / 20, most} {
		folder := t.TempDir()
		each := n / files
		packed := zip(t, strings.Repeat(lines, each/3)+strings.Join(strings.SplitAfterN(lines, "\n", 3)[:each%3], ""))
		for i := range files {
			writeFile(t, filepath.Join(folder, fmt.Sprint(i, ".jsonl.gz")), packed)
		}
		table := filepath.Join(folder, "table.json")
		p := start(t, program, append(f.args(2), "--data", filepath.Join(folder, "*.gz"), "--policy=newest", "--share=0.5", "--table", table,
			"--samples", filepath.Join(folder, "samples"), "--shards=10")...)
		ended := make(chan int)
		go func() {
			peak := 0
			for p.Process.Signal(syscall.Signal(0)) == nil { // until it was waited for
				peak = max(peak, f.workerMemory())
				time.Sleep(200 * time.Millisecond)
			}
			ended <- peak
		}()
		p.wait(t, 0)
		peaks = append(peaks, <-ended)
		var got replay.Table
		if err := json.Unmarshal(readFile(t, table), &got); err != nil {
			t.Fatal(err)
		}
		counters := fmt.Sprintf("counters: conversations %d, failed_steps 0, steps %d, values %d\n", n, got.Cells[0].Steps, got.Cells[0].Values)
		if got.Conversations != n || !strings.Contains(p.log.String(), counters) {
			t.Errorf("%d conversations, want %d, and %sin\n%s", got.Conversations, n, counters, p.log.String())
		}
	}
	t.Logf("a worker has at most %d MB for %d conversations, and %d MB for %d", peaks[0], most/20, peaks[1], most)
	if peaks[0] == 0 || peaks[1] > 512 {
		t.Error("a worker has more than 512 MB")
	}
}

// least returns the least of some times, in seconds.
func least(all []time.Duration) string { return fmt.Sprintf("%.1f s", slices.Min(all).Seconds()) }
