package input

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"runtime/debug"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/wollax/cupel-go/cupel"
)

// plainItem has the shape of an item: encoding/json reads it by itself.
type plainItem struct {
	Content        string         `json:"content"`
	Tokens         int            `json:"tokens"`
	Kind           string         `json:"kind"`
	Source         string         `json:"source"`
	Priority       *int           `json:"priority"`
	Tags           []string       `json:"tags"`
	Metadata       map[string]any `json:"metadata"`
	Timestamp      *time.Time     `json:"timestamp"`
	Hint           *float64       `json:"futureRelevanceHint"`
	Pinned         bool           `json:"pinned"`
	OriginalTokens *int           `json:"originalTokens"`
}

// manyItems is the text of n items of a few hundred bytes each.
func manyItems(tb testing.TB, n int) []byte {
	tb.Helper()
	r := rand.New(rand.NewPCG(uint64(n), 1))
	kinds := []cupel.ContextKind{cupel.KindMessage, cupel.KindDocument, cupel.KindToolOutput, "ticket"}
	words := []string{"the ", "report ", "of ", "a ", "selection ", "\n", "\"quoted\" ", "and ", "naïve ", "tokens ", "budget ", "line ", "tail "}
	start := time.Date(2025, 1, 2, 3, 4, 5, 0, time.UTC)
	items := make([]*cupel.ContextItem, n)
	for i := range items {
		var content []byte
		for length := 100 + r.IntN(600); len(content) < length; {
			content = append(content, words[r.IntN(len(words))]...)
		}
		var err error
		items[i], err = cupel.NewContextItem(string(content), len(content)/4, cupel.WithKind(kinds[r.IntN(len(kinds))]), cupel.WithPriority(r.IntN(10)),
			cupel.WithTags("alpha", fmt.Sprintf("tag-%d", r.IntN(50))), cupel.WithTimestamp(start.Add(time.Duration(i)*time.Second)),
			cupel.WithMetadata(map[string]any{"path": fmt.Sprintf("src/file%d.go", i)}))
		require.NoError(tb, err)
	}
	text, err := json.Marshal(items)
	require.NoError(tb, err)
	return text
}

func readMany(text []byte) error {
	_, err := Read(bytes.NewReader(text), Options{Counter: bytesCounter{}})
	return err
}

func readPlain(text []byte) error {
	var items []plainItem
	return json.Unmarshal(text, &items)
}

// BenchmarkTarget measures the command's row of the table in
// docs/benchmarks.md, next to what the row compares it with.
func BenchmarkTarget(b *testing.B) {
	text := manyItems(b, 180_000) // 106 MB
	for _, side := range []struct {
		name string
		read func([]byte) error
	}{{"cupel", readMany}, {"plain", readPlain}} {
		b.Run("items/"+side.name, func(b *testing.B) {
			runtime.GC() // what the side before has left is not this one's to clean up
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				require.NoError(b, side.read(text))
			}
		})
	}
}

// TestBenchGuard fails when items take much longer to read than plain structs
// do in the same process. make bench-guard runs it.
func TestBenchGuard(t *testing.T) {
	if os.Getenv("CUPEL_BENCH_GUARD") == "" {
		t.Skip("make bench-guard runs this: it measures time")
	}
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // on a busy machine a collection takes the time of the side that it falls into
	const most = 3.0                                 // a third more than it takes without collections
	text := manyItems(t, 5_000)
	fastest := [2]time.Duration{time.Hour, time.Hour}
	ratio := 0.0
	for round := 0; round < 30 || round < 90 && ratio > most; round++ { // in turns; the least of each is what is left when nothing disturbs
		for i, read := range []func([]byte) error{readMany, readPlain} {
			runtime.GC() // what the other side has left is not this one's to clean up
			start := time.Now()
			require.NoError(t, read(text))
			fastest[i] = min(fastest[i], time.Since(start))
		}
		ratio = float64(fastest[0]) / float64(fastest[1])
	}
	t.Logf("items %v, plain structs %v: %.3g times, at most %v", fastest[0], fastest[1], ratio, most)
	require.LessOrEqual(t, ratio, most, "each byte is looked at a few times")
}
