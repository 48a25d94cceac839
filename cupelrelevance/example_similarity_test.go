package cupelrelevance_test

import (
	"encoding/json"
	"log"
	"os"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupelrelevance"
)

// The vectors are in a file, by text. The answer shares no word with the
// question.
func ExampleWithSimilarity() {
	data, err := os.ReadFile("testdata/vectors.json")
	if err != nil {
		log.Fatal(err)
	}
	var vectors map[string][]float32
	if err := json.Unmarshal(data, &vectors); err != nil {
		log.Fatal(err)
	}
	items := []*cupel.ContextItem{
		turn("May", "Ada", "The man for the pipes was here."),
		turn("May", "Bo", "And?"),
		turn("May", "Ada", "All of them are to be replaced."),
		turn("June", "Ada", "The choir sings on Sunday."),
		turn("June", "Bo", "Shall I get tickets?"),
	}
	const question = "What did the plumber say?"
	similarity, err := cupelrelevance.NewSimilarity(vectors[question], func(item *cupel.ContextItem) ([]float32, bool) {
		vector, ok := vectors[item.Content()]
		return vector, ok
	})
	if err != nil {
		log.Fatal(err)
	}
	index, err := cupelrelevance.NewIndex()
	if err != nil {
		log.Fatal(err)
	}
	relevance, err := cupelrelevance.New(index, question, cupelrelevance.WithSimilarity(similarity, 1))
	if err != nil {
		log.Fatal(err)
	}
	show(relevance, items)
	// Output:
	// 0.44  Ada: The man for the pipes was here.
	// 0.31  Bo: And?
	// 0.42  Ada: All of them are to be replaced.
	// 0.02  Ada: The choir sings on Sunday.
	// 0.03  Bo: Shall I get tickets?
}
