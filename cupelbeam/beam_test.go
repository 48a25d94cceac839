package cupelbeam

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/wollax/cupel-go/cupelsession/replay"
	"github.com/wollax/cupel-go/internal/corpus"
)

var spec = Spec{
	Policies: []Policy{{Name: "newest"}, {Name: "agent@0.6"}, {Name: "chat"}},
	Shares:   []float64{0.25, 0.5},
}

// cupel replay and cupel-beam take the same of them.
var measure = []string{"--share", "0.25,0.5"}

// compressedCorpus writes 20 files that gzip compressed, each with n copies of the
// conversations of package replay. One has a damaged line, and another one is cut.
func compressedCorpus(t *testing.T, n int) string {
	t.Helper()
	data, folder := string(readFile(t, agents(t))), t.TempDir()
	for i := range 20 {
		text := strings.Repeat(data, n)
		if i == 7 {
			text += "{\"id\": \n"
		}
		packed := zip(t, text)
		if i == 13 {
			packed = packed[:len(packed)*2/3]
		}
		save(t, filepath.Join(folder, fmt.Sprintf("%02d.jsonl.gz", i)), packed)
	}
	return folder
}

func zip(t *testing.T, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	require.NoError(t, w.Close())
	return b.Bytes()
}

func save(t *testing.T, name string, text []byte) {
	t.Helper()
	require.NoError(t, os.WriteFile(name, text, 0o600))
}

// plain returns the table of the same measure in a loop over the files, as if they were
// in a folder or a bucket.
func plain(t *testing.T, files []string, as string) *replay.Table {
	t.Helper()
	m, err := spec.Measure()
	require.NoError(t, err)
	table := replay.NewTable(m.Plan())
	for _, name := range files {
		file := corpus.Uncompressed(bytes.NewReader(readFile(t, name)))
		for s, err := range m.Samples(t.Context(), replay.Latest(replay.Scan(as+filepath.Base(name), file, nil))) {
			require.NoError(t, err)
			if !Compressed(name) {
				s.Line = 0 // a file that is split has no numbers of lines
			}
			require.NoError(t, table.Add(&s))
		}
	}
	return table
}

// in returns the files of a folder, sorted, as patterns would.
func in(t *testing.T, folder string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%v: no file in %s", err, folder)
	}
	return files
}

// bits writes every bit of a result.
func bits(t *testing.T, table *replay.Table) string {
	t.Helper()
	result := table.Result()
	data, err := json.Marshal(result)
	require.NoError(t, err)
	return string(data) + result.Text()
}

// command builds cupel-beam.
func command(t *testing.T) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "cupel-beam")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", program, "./cmd/cupel-beam")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return program
}

// process is a command that runs.
type process struct {
	*exec.Cmd
	out, log bytes.Buffer
}

// start starts a command.
func start(t *testing.T, program string, args ...string) *process {
	t.Helper()
	p := &process{Cmd: exec.CommandContext(t.Context(), program, args...)}
	p.Stdout, p.Stderr = &p.out, &p.log
	require.NoError(t, p.Start())
	return p
}

// wait returns what the command printed, and fails unless it ends with an exit code.
func (p *process) wait(t *testing.T, code int) string {
	t.Helper()
	if err := p.Wait(); p.ProcessState.ExitCode() != code {
		t.Fatalf("%v, want the exit code %d\n%s", err, code, p.log.String())
	}
	return p.out.String()
}

// beamed starts cupel-beam on the compressed files of a folder or bucket, and returns what waits
// for the bits of its table, and what it printed. It checks the samples and counters.
func beamed(t *testing.T, program, folder string, args ...string) func() (bits, printed string) {
	t.Helper()
	out := t.TempDir()
	table, samples := filepath.Join(out, "table.json"), filepath.Join(out, "samples.jsonl")
	p := start(t, program, slices.Concat([]string{
		"--data", folder + "/*.jsonl.gz", "--policy", "newest,agent@0.6,chat", "--table", table,
		"--samples", samples, "--shards", "3", "--dead-letters", filepath.Join(out, "dead"), "--max-bad", "50%",
	}, measure, args)...)
	return func() (string, string) {
		t.Helper()
		printed := p.wait(t, 0)
		var got replay.Table
		require.NoError(t, json.Unmarshal(readFile(t, table), &got))
		rows := 0
		for i := range 3 {
			rows += bytes.Count(readFile(t, Shard(samples, i, 3)), []byte("\n"))
		}
		dead := string(readFile(t, filepath.Join(out, "dead")))
		if rows != got.Conversations || got.Failed != 2 || strings.Count(dead, "\n") != 2 ||
			!strings.Contains(dead, `07.jsonl.gz","line":`) || !strings.Contains(dead, `"kind":"json"`) || !strings.Contains(dead, `"kind":"file"`) {
			t.Errorf("%d samples of %d conversations, and %d lines that cannot be read; want two of them in\n%s", rows, got.Conversations, got.Failed, dead)
		}
		counters := fmt.Sprintf(`counters: {"bad_file":1,"bad_json":1,"conversations":%d,"failed_steps":0,"steps":%d,"values":%d}`,
			got.Conversations, got.Cells[0].Steps, got.Cells[0].Values)
		if len(args) == 0 && !strings.Contains(p.log.String(), counters) { // a worker that is killed may count twice
			t.Errorf("%s\nis not in\n%s", counters, p.log.String())
		}
		return bits(t, &got), printed
	}
}

func readFile(t *testing.T, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(name)
	require.NoError(t, err)
	return text
}

// TestPrism: the pipeline in one process gives the bits of the plain loop, and the
// command prints its table.
func TestPrism(t *testing.T) {
	folder := compressedCorpus(t, 2)
	got, printed := beamed(t, command(t), folder)()
	table := plain(t, in(t, folder), folder+"/")
	if want := bits(t, table); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if want := table.Result().Text(); printed != want {
		t.Errorf("cupel-beam printed\n%s\nwant\n%s", printed, want)
	}
}
