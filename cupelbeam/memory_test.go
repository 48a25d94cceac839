package cupelbeam

import (
	"encoding/json"
	"path/filepath"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem/memfs"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners/direct" //nolint:staticcheck // Prism's workers are other processes, without the memory of this one

	"github.com/wollax/cupel-go/cupelsession/replay"
)

// TestMemory: the direct runner reads and writes files in memory, and gives the bits of the
// plain loop.
func TestMemory(t *testing.T) {
	folder := compressedCorpus(t, 1)
	save(t, filepath.Join(folder, "split.jsonl"), readFile(t, agents(t)))
	files := in(t, folder)
	for _, name := range files {
		memfs.Write("memfs://corpus/"+filepath.Base(name), readFile(t, name))
	}
	p, s := beam.NewPipelineWithRoot()
	out, err := Replay(s, spec, []string{"memfs://corpus/*.gz", "memfs://corpus/*.jsonl"})
	if err != nil {
		t.Fatal(err)
	}
	Write(s, "memfs://out/table.json", 1, out.Table)
	if _, err := direct.Execute(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	var got replay.Table
	if err := json.Unmarshal(readObject(t, "memfs://out/table.json"), &got); err != nil {
		t.Fatal(err)
	}
	if got, want := bits(t, &got), bits(t, plain(t, files, "memfs://corpus/")); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
