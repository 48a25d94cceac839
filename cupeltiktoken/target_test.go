package cupeltiktoken

import (
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// BenchmarkTarget measures the rows of the table in docs/benchmarks.md that are
// about exact counting: what a hostile word costs compared with prose of the
// same size.
func BenchmarkTarget(b *testing.B) {
	if testing.Short() {
		b.Skip("50 MB take a minute")
	}
	const size = 50 << 20
	c, err := ForEncoding(EncodingO200kBase)
	require.NoError(b, err)
	const line = "The quick brown fox jumps over it. "
	for _, side := range []struct{ name, text string }{
		{"word", randomWord(size)},
		{"prose", strings.Repeat(line, size/len(line))},
	} {
		b.Run("tokens-50MB/"+side.name, func(b *testing.B) {
			for b.Loop() {
				_, err := c.CountTokens(side.text)
				require.NoError(b, err)
			}
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			b.ReportMetric(float64(m.HeapSys)/float64(size), "heap/text")
		})
	}
}
