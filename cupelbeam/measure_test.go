package cupelbeam

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/wollax/cupel-go/cupelsession/replay"
)

// TestNames: a conversation without an id is named by its line of the file, as package
// replay names it, though a worker sees this line alone.
func TestNames(t *testing.T) {
	const without = `{"messages": [{"role": "user", "content": "Hello!"}, {"role": "assistant", "content": "Hello!"}]}`
	f := &measureFn{Spec: Spec{Policies: []Policy{{Name: "newest"}}, Shares: []float64{0.5}}}
	if err := f.Setup(); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{without, strings.Replace(without, "{", `{"id": "a", `, 1)} {
		var want, got replay.Sample
		for c, err := range replay.Scan("talk.jsonl", strings.NewReader("{}\n{}\n"+text), func(_, line int) bool { return line == 3 }) {
			if err == nil {
				want, err = f.measure.Sample(t.Context(), &c)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		err := f.ProcessElement(t.Context(), Line{File: "talk.jsonl", Number: 3, Text: text}, func(sample string) {
			if err := json.Unmarshal([]byte(sample), &got); err != nil {
				t.Fatal(err)
			}
		})
		if err != nil || got.Conversation != want.Conversation || got.Line != want.Line || want.Line != 3 {
			t.Errorf("got %q at line %d, %v; want %q at line %d", got.Conversation, got.Line, err, want.Conversation, want.Line)
		}
	}
}

func TestLowWater(t *testing.T) {
	for _, low := range []float64{-1, math.NaN(), 1.5} {
		spec := Spec{Policies: []Policy{{Name: "newest", Low: low}}, Shares: []float64{0.5}}
		if _, err := spec.Measure(); err == nil || !strings.Contains(err.Error(), `policy "newest": the low-water mark must be`) {
			t.Errorf("a mark of %g: error %v, want one that says so", low, err)
		}
	}
}
