package placer_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/placer"
	"github.com/wollax/cupel-go/cupel/strategy"
)

// A conversation reads from the oldest message to the newest; what has no time
// comes after it.
func ExampleChronological() {
	monday := time.Date(2025, 6, 2, 9, 0, 0, 0, time.UTC)
	question, err := cupel.NewContextItem("question", 10, cupel.WithTimestamp(monday))
	if err != nil {
		log.Fatal(err)
	}
	answer, err := cupel.NewContextItem("answer", 20, cupel.WithTimestamp(monday.Add(time.Minute)))
	if err != nil {
		log.Fatal(err)
	}
	manual, err := cupel.NewContextItem("manual", 30)
	if err != nil {
		log.Fatal(err)
	}

	items := []cupel.ScoredItem{{Item: manual, Score: 0.9}, {Item: answer, Score: 0.8}, {Item: question, Score: 0.1}}
	order := make([]int, len(items))
	if err := strategy.CallPlacer(context.Background(), placer.Chronological{}, items, order); err != nil {
		log.Fatal(err)
	}
	for _, i := range order {
		fmt.Println(items[i].Item.Content())
	}
	// Output:
	// question
	// answer
	// manual
}

// The best comes first, the second best last, and the worst in the middle.
func ExampleUShaped() {
	var items []cupel.ScoredItem
	for _, score := range []float64{0.9, 0.8, 0.7, 0.6, 0.5} {
		item, err := cupel.NewContextItem(fmt.Sprint("scored ", score), 10)
		if err != nil {
			log.Fatal(err)
		}
		items = append(items, cupel.ScoredItem{Item: item, Score: score})
	}

	order := make([]int, len(items))
	if err := strategy.CallPlacer(context.Background(), placer.UShaped{}, items, order); err != nil {
		log.Fatal(err)
	}
	for _, i := range order {
		fmt.Println(items[i].Item.Content())
	}
	// Output:
	// scored 0.9
	// scored 0.7
	// scored 0.5
	// scored 0.6
	// scored 0.8
}
