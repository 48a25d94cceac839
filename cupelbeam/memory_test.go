package cupelbeam

import (
	"encoding/json"
	"maps"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem/local"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem/memfs"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners/direct" //nolint:staticcheck // Prism's workers are other processes, without the memory of this one
	"github.com/stretchr/testify/require"

	"github.com/wollax/cupel-go/cupelsession/replay"
)

// TestMemory: the direct runner reads and writes files in memory, and gives the bits of the
// plain loop. Of the runs of a recorded conversation only the longest counts.
func TestMemory(t *testing.T) {
	folder := compressedCorpus(t, 1)
	save(t, filepath.Join(folder, "split.jsonl"), readFile(t, agents(t)))
	memfs.Write("memfs://corpus/b.cupelrec", readFile(t, "testdata/b.cupelrec"))
	for _, row := range []struct{ patterns, files, samples []string }{
		{[]string{"memfs://corpus/*.jsonl", "memfs://corpus/*.gz"}, in(t, folder), []string{"memfs://out/s-00000-of-00002.jsonl", "memfs://out/s-00001-of-00002.jsonl"}},
		{[]string{"memfs://corpus/*.cupelrec", "memfs://corpus/split.jsonl"}, []string{"testdata/a.cupelrec", filepath.Join(folder, "split.jsonl")}, []string{"memfs://out/s.jsonl"}},
	} {
		for _, name := range row.files {
			memfs.Write("memfs://corpus/"+filepath.Base(name), readFile(t, name))
		}
		p, s := beam.NewPipelineWithRoot()
		out, err := Replay(s, spec, row.patterns)
		require.NoError(t, err)
		Write(s, "memfs://out/table.json", 1, out.Table)
		Write(s, "memfs://out/s.jsonl", len(row.samples), out.Samples)
		job, err := direct.Execute(t.Context(), p)
		require.NoError(t, err)
		var got replay.Table
		require.NoError(t, json.Unmarshal(readObject(t, "memfs://out/table.json"), &got))
		if got, want := bits(t, &got), bits(t, plain(t, row.files, "memfs://corpus/")); got != want {
			t.Errorf("%s: got\n%s\nwant\n%s", row.patterns, got, want)
		}
		samples := ""
		for _, name := range row.samples {
			samples += string(readObject(t, name))
		}
		if strings.Count(samples, "\n") != got.Conversations || strings.Contains(samples, `split.jsonl","line"`) {
			t.Errorf("%s: want %d samples, and no lines of a file that is split, got\n%s", row.patterns, got.Conversations, samples)
		}
		counted, all := map[string]int{}, got.Cells[0]
		for _, c := range job.Metrics().AllMetrics().Counters() {
			counted[c.Name()] = int(c.Result())
		}
		want := map[string]int{"conversations": got.Conversations, "failed_steps": 0, "steps": all.Steps, "values": all.Values}
		if got.Failed > 0 {
			want["bad_json"], want["bad_file"] = 1, 1
		}
		if !maps.Equal(counted, want) {
			t.Errorf("%s: counted %v, want %v", row.patterns, counted, want)
		}
	}
}
