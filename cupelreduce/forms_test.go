package cupelreduce_test

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/wollax/cupel-go/cupelreduce"
)

var update = flag.Bool("update", false, "write the forms that there are now")

// TestForms holds what is left of texts of each kind in a few sizes, to a reader who
// knows nothing and to one who knows the beginning, and what all sizes are worth.
func TestForms(t *testing.T) {
	var got strings.Builder
	for _, name := range []string{"json object", "json array", "json in json", "output in json", "log", "listing", "code", "numbered code", "diff", "prose", "wide characters", "html", "text inside", "minified"} {
		text := texts[name] + large[name]
		var known cupelreduce.Known
		known.Add(text[:len(text)/3])
		read, again := cupelreduce.Read(text), cupelreduce.Read(text, cupelreduce.WithKnown(&known))
		for _, tokens := range []int{10, 17, 28, 50} {
			if tokens >= read.Tokens() || len(text) > 1000 && tokens != 28 {
				continue
			}
			form := read.To(tokens)
			fmt.Fprintf(&got, "--- %s in %d of %d tokens\n%s\n", name, tokens, read.Tokens(), form)
			if other := again.To(tokens); other != form {
				fmt.Fprintf(&got, "--- if the beginning is known\n%s\n", other)
			}
		}
		if len(text) > 1000 {
			continue
		}
		got.WriteString("--- sizes and their worth:")
		for _, size := range read.Sizes() {
			fmt.Fprintf(&got, " %d %.3g,", size.Tokens, size.Worth)
		}
		got.WriteString("\n")
	}
	const file = "testdata/forms.txt"
	if *update {
		require.NoError(t, os.WriteFile(file, []byte(got.String()), 0o600))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, strings.ReplaceAll(string(want), "\r\n", "\n"), got.String())
}
