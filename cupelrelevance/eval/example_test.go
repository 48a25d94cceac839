package eval_test

import (
	"context"
	"fmt"
	"github.com/wollax/cupel-go/cupel/strategy"
	"github.com/wollax/cupel-go/cupelrelevance"
	"github.com/wollax/cupel-go/cupelrelevance/eval"
	"log"
	"strings"
)

// The last two turns are about lunch; the answer is in the first two.
func ExampleMeasure() {
	file := strings.NewReader(`{"id": "chat", "items": [{"content": "The roof of the terminal leaks."}, {"content": "Steel beams are cheaper."}, {"content": "Shall we have lunch now?"}, {"content": "There is soup for all."}], "questions": [{"query": "What leaks?", "evidence": [0, 1]}]}`)
	m, err := eval.NewMeasure([]eval.Policy{
		eval.Builtin()[0],
		eval.ByScore("mine", func(index *cupelrelevance.Index, query string) (strategy.Scorer, error) {
			return cupelrelevance.New(index, query)
		}),
	}, []int{12, 24})
	if err != nil {
		log.Fatal(err)
	}
	table := eval.NewTable(m.Plan())
	for sample, err := range m.Samples(context.Background(), eval.Scan("chat.jsonl", file, nil)) {
		if err != nil {
			log.Fatal(err)
		}
		if err := table.Add(&sample); err != nil {
			log.Fatal(err)
		}
	}
	for _, policy := range table.Result().Policies {
		for _, point := range policy.Points {
			fmt.Printf("%s within %d tokens: %.2f of the evidence\n", policy.Name, point.Budget, point.Recall)
		}
	}
	// Output:
	// recency within 12 tokens: 0.00 of the evidence
	// recency within 24 tokens: 0.00 of the evidence
	// mine within 12 tokens: 0.50 of the evidence
	// mine within 24 tokens: 1.00 of the evidence
}
