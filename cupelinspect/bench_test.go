package cupelinspect_test

import (
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/cupel/placer"
	"github.com/wollax/cupel-go/cupel/scorer"
	"github.com/wollax/cupel-go/cupelinspect"
)

// manyCandidates returns n candidates of 1 KiB and a pipeline with a composite.
func manyCandidates(t testing.TB, n int) (*pipeline.Pipeline, []*cupel.ContextItem, cupel.ContextBudget) {
	t.Helper()
	items := make([]*cupel.ContextItem, n)
	for i := range items {
		content := fmt.Sprintf("%d %s", i, strings.Repeat("some words and a line\n", 46))
		items[i] = newItem(t, content, 100+i*7919%300, cupel.WithFutureRelevanceHint(float64(i*7907%n)/float64(n)),
			cupel.WithPriority(i%7), cupel.WithMetadata(map[string]any{"turn": i}))
	}
	composite := scorer.Must(scorer.NewComposite(
		scorer.Weighted{Scorer: scorer.Reflexive{}, Weight: 1},
		scorer.Weighted{Scorer: scorer.Priority{}, Weight: 1},
		scorer.Weighted{Scorer: scorer.Frequency{}, Weight: 1},
	))
	p := newPipeline(t, func(c *pipeline.Config) { c.Scorer, c.Placer = composite, placer.UShaped{} })
	return p, items, newBudget(t, n*125, n*100)
}

// TestPageSize checks what the package says of pages of 10,000 candidates.
func TestPageSize(t *testing.T) {
	n, most := 10_000, 5_000_000
	if testing.Short() {
		n, most = 1000, 500_000
	}
	p, items, _ := manyCandidates(t, n)
	b := newBudget(t, n*20, n*20)
	r := rand.New(rand.NewPCG(1, 2))
	rows := []struct {
		text      func(i int) string
		cut, size bool
		why       string
	}{
		{func(int) string {
			text := make([]byte, 524)
			for n := range text {
				text[n] = byte(' ' + r.IntN(94))
			}
			return string(text)
		}, true, true, "5 MB that can hardly be compressed"},
		{func(i int) string {
			if i%10 == 0 { // nothing depends on what is usual
				return strings.Repeat("é", 200)
			}
			return items[i].Content()[:400]
		}, false, false, "4 MB"},
		{func(i int) string { return items[i].Content() }, true, false, "above 8 MiB"},
	}
	if testing.Short() {
		rows = rows[:2] // TestContentLimit has the other
	}
	for _, tt := range rows {
		given := make([]*cupel.ContextItem, n)
		for i, item := range items {
			given[i] = newItem(t, tt.text(i), item.Tokens(), cupel.WithFutureRelevanceHint(float64(i%1000)/1000), cupel.WithMetadata(item.Metadata()))
		}
		report, err := p.DryRun(t.Context(), given, b)
		require.NoError(t, err)
		s := fromReport(t, report, b, cupelinspect.WithCandidates(given, nil))
		if !testing.Short() {
			s = inspect(t, p, given, b)
		}
		var page strings.Builder
		require.NoError(t, cupelinspect.WriteWithin(most, &page, "", []*cupelinspect.Selection{s}))
		html := page.String()
		assert.LessOrEqual(t, len(html), most, tt.why)
		t.Logf("%s: %d bytes", tt.why, len(html))
		data := read(t, html)
		cut := 0
		kept := map[int]bool{}
		for _, at := range data.Selections[0].Window {
			kept[at] = true
		}
		for i, item := range data.Items {
			if item.Cut > 0 {
				cut++
			}
			if item.Cut > 0 && (!tt.cut || kept[i] && tt.size) || len(item.Content)+item.Cut != len(strings.ToValidUTF8(given[i].Content(), "")) {
				t.Fatalf("%s: content %d has %d bytes and lacks %d of %d", tt.why, i, len(item.Content), item.Cut, len(given[i].Content()))
			}
		}
		assert.Equal(t, tt.cut, cut > 0, "%s: %d contents are cut", tt.why, cut)
	}
}

func BenchmarkPage(b *testing.B) {
	for _, n := range []int{100, 10_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			p, items, budget := manyCandidates(b, n)
			bytes := 0
			for b.Loop() {
				s, err := cupelinspect.Inspect(b.Context(), p, items, budget)
				require.NoError(b, err)
				var w counter
				require.NoError(b, cupelinspect.WriteHTML(&w, "", s))
				bytes = int(w)
			}
			b.ReportMetric(float64(bytes), "page-bytes")
		})
	}
}

// counter counts what is written to it.
type counter int

func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return io.Discard.Write(p)
}
