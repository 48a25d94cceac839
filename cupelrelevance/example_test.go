package cupelrelevance_test

import (
	"context"
	"fmt"
	"log"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/cupel/placer"
	"github.com/wollax/cupel-go/cupel/slicer"
	"github.com/wollax/cupel-go/cupel/strategy"
	"github.com/wollax/cupel-go/cupelrelevance"
)

// turn is an item of a chat.
func turn(session, speaker, text string) *cupel.ContextItem {
	item, err := cupel.NewContextItem(speaker+": "+text, 10,
		cupel.WithMetadata(map[string]any{"session": session, "speaker": speaker}))
	if err != nil {
		log.Fatal(err)
	}
	return item
}

func chat() []*cupel.ContextItem {
	return []*cupel.ContextItem{
		turn("May", "Ada", "How was the trip?"),
		turn("May", "Bo", "It rained for nine days, and we loved it."),
		turn("June", "Ada", "The oven broke down today."),
		turn("June", "Bo", "What does the repair cost?"),
		turn("June", "Ada", "900 euros."),
	}
}

// show prints scores with two digits.
func show(s strategy.Scorer, items []*cupel.ContextItem) {
	scores := make([]float64, len(items))
	if err := strategy.CallScorer(context.Background(), s, items, scores); err != nil {
		log.Fatal(err)
	}
	for i, item := range items {
		fmt.Printf("%.2f  %s\n", scores[i], item.Content())
	}
}

// The preset finds the answer next to the question, in the same session.
func ExampleNew() {
	index, err := cupelrelevance.NewIndex() // for as long as the conversation
	if err != nil {
		log.Fatal(err)
	}
	relevance, err := cupelrelevance.New(index, "repairing ovens")
	if err != nil {
		log.Fatal(err)
	}
	pipeline, err := pipeline.New(pipeline.Config{
		Scorer: relevance,
		Slicer: slicer.ScoreGreedy{},
		Placer: placer.Chronological{},
	})
	if err != nil {
		log.Fatal(err)
	}
	budget, err := cupel.NewContextBudget(30, 30)
	if err != nil {
		log.Fatal(err)
	}
	window, err := pipeline.Run(context.Background(), chat(), budget)
	if err != nil {
		log.Fatal(err)
	}
	for _, item := range window {
		fmt.Println(item.Content())
	}
	// Output:
	// Ada: The oven broke down today.
	// Bo: What does the repair cost?
	// Ada: 900 euros.
}

// Words are compared by their stems, and "repairing" is "repair".
func ExampleNewLexical() {
	index := cupelrelevance.Must(cupelrelevance.NewIndex())
	show(cupelrelevance.Must(cupelrelevance.NewLexical(index, "repairing ovens")), chat())
	// Output:
	// 0.00  Ada: How was the trip?
	// 0.00  Bo: It rained for nine days, and we loved it.
	// 1.39  Ada: The oven broke down today.
	// 1.39  Bo: What does the repair cost?
	// 0.00  Ada: 900 euros.
}
