package cupelbeam_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
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

// least returns the least of some times, in seconds.
func least(all []time.Duration) string { return fmt.Sprintf("%.1f s", slices.Min(all).Seconds()) }
