package eval_test

import (
	"bytes"
	"os"
	"testing"

	"github.com/wollax/cupel-go/cupelrelevance/eval"
)

// TestMeasure measures labelled conversations of one's own: CUPEL_EVIDENCE is
// the path of a file in the package's format. Conversations at even places, with
// which settings may be tuned, are shown apart from the others, which are held
// out.
func TestMeasure(t *testing.T) {
	path := os.Getenv("CUPEL_EVIDENCE")
	if path == "" {
		t.Skip("CUPEL_EVIDENCE names no file")
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	conversations, err := eval.Read(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	var even, odd []eval.Conversation
	for i, c := range conversations {
		if i%2 == 0 {
			even = append(even, c)
		} else {
			odd = append(odd, c)
		}
	}
	for _, part := range []struct {
		name          string
		conversations []eval.Conversation
	}{{"all", conversations}, {"at even places", even}, {"at odd places, held out", odd}} {
		result, err := eval.Run(t.Context(), part.conversations, eval.Config{
			Policies: eval.Builtin(),
			Budgets:  []int{500, 1000, 2000, 4000, 8000},
		})
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%s: %s", part.name, result.Text())
	}
}
