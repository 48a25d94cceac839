package near_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/wollax/cupel-go/cupel/internal/near"
)

// BenchmarkFind compares 10,000 texts of 100 words; half of them are near copies.
func BenchmarkFind(b *testing.B) {
	random := rand.New(rand.NewPCG(1, 2))
	texts := make([]string, 10_000)
	for i := range texts {
		words := strings.Fields(prose(random.IntN(2000), 100))
		if i%2 == 1 {
			words = strings.Fields(texts[i-1])
			words[random.IntN(100)] = "other"
		} else {
			random.Shuffle(100, func(i, j int) { words[i], words[j] = words[j], words[i] })
		}
		texts[i] = strings.Join(words, " ")
	}
	for b.Loop() {
		if _, err := near.Find(b.Context(), texts, 0.8, false); err != nil {
			b.Fatal(err)
		}
	}
}
