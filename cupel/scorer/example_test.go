package scorer_test

import (
	"context"
	"fmt"
	"time"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/scorer"
	"github.com/wollax/cupel-go/cupel/strategy"
)

// note makes an item whose content is its name.
func note(name string, opts ...cupel.ItemOption) *cupel.ContextItem {
	return scorer.Must(cupel.NewContextItem(name, 10, opts...))
}

// printScores scores all items in one pass.
func printScores(s strategy.Scorer, all ...*cupel.ContextItem) {
	scores := make([]float64, len(all))
	if err := strategy.CallScorer(context.Background(), s, all, scores); err != nil {
		fmt.Println(err)
		return
	}
	for i, item := range all {
		fmt.Printf("%.2f %s\n", scores[i], item.Content())
	}
}

func ExampleRecency() {
	monday := time.Date(2025, time.March, 3, 9, 0, 0, 0, time.UTC)
	printScores(scorer.Recency{},
		note("monday", cupel.WithTimestamp(monday)),
		note("wednesday", cupel.WithTimestamp(monday.AddDate(0, 0, 2))),
		note("tuesday", cupel.WithTimestamp(monday.AddDate(0, 0, 1))),
		note("undated"))
	// Output:
	// 0.00 monday
	// 1.00 wednesday
	// 0.50 tuesday
	// 0.00 undated
}

func ExamplePriority() {
	printScores(scorer.Priority{},
		note("urgent", cupel.WithPriority(100)),
		note("normal", cupel.WithPriority(5)),
		note("low", cupel.WithPriority(-1)),
		note("unset"))
	// Output:
	// 1.00 urgent
	// 0.50 normal
	// 0.00 low
	// 0.00 unset
}

func ExampleFrequency() {
	printScores(scorer.Frequency{},
		note("schema", cupel.WithTags("db", "billing")),
		note("invoice", cupel.WithTags("Billing")),
		note("index", cupel.WithTags("DB")),
		note("logo", cupel.WithTags("design")),
		note("untagged"))
	// Output:
	// 0.50 schema
	// 0.25 invoice
	// 0.25 index
	// 0.00 logo
	// 0.00 untagged
}

func ExampleReflexive() {
	printScores(scorer.Reflexive{},
		note("likely", cupel.WithFutureRelevanceHint(0.8)),
		note("beyond doubt", cupel.WithFutureRelevanceHint(1.7)),
		note("unknown"))
	// Output:
	// 0.80 likely
	// 1.00 beyond doubt
	// 0.00 unknown
}

func ExampleKind() {
	printScores(scorer.Kind{},
		note("rules", cupel.WithKind(cupel.KindSystemPrompt)),
		note("fact", cupel.WithKind(cupel.KindMemory)),
		note("hello"))
	// Output:
	// 1.00 rules
	// 0.80 fact
	// 0.20 hello
}

func ExampleNewKind() {
	s, err := scorer.NewKind(map[cupel.ContextKind]float64{
		cupel.KindToolOutput: 1,
		"Ticket":             0.5,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	printScores(s,
		note("build log", cupel.WithKind("tooloutput")),
		note("bug 7", cupel.WithKind("ticket")),
		note("hello"))
	// Output:
	// 1.00 build log
	// 0.50 bug 7
	// 0.00 hello
}

func ExampleNewTag() {
	s, err := scorer.NewTag(map[string]float64{"billing": 3, "db": 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	printScores(s,
		note("schema", cupel.WithTags("db", "billing")),
		note("invoice", cupel.WithTags("billing", "pdf")),
		note("index", cupel.WithTags("DB")))
	// Output:
	// 1.00 schema
	// 0.75 invoice
	// 0.00 index
}

func ExampleWithCaseInsensitiveTags() {
	s, err := scorer.NewTag(map[string]float64{"billing": 3, "db": 1}, scorer.WithCaseInsensitiveTags())
	if err != nil {
		fmt.Println(err)
		return
	}
	printScores(s, note("index", cupel.WithTags("DB")))
	// Output: 0.25 index
}

func ExampleNewComposite() {
	_, err := scorer.NewComposite(
		scorer.Weighted{Scorer: scorer.Recency{}, Weight: 0.6},
		scorer.Weighted{Scorer: scorer.Priority{}, Weight: -0.4},
	)
	fmt.Println(err)
	// Output: cupel: Weight must be positive (CompositeScorer, entries[1].weight = -0.4)
}

func ExampleNewScaled() {
	s, err := scorer.NewScaled(scorer.Reflexive{})
	if err != nil {
		fmt.Println(err)
		return
	}
	printScores(s,
		note("low", cupel.WithFutureRelevanceHint(0.3)),
		note("middle", cupel.WithFutureRelevanceHint(0.4)),
		note("high", cupel.WithFutureRelevanceHint(0.5)))
	// Output:
	// 0.00 low
	// 0.50 middle
	// 1.00 high
}

func ExampleNewMetadataTrust() {
	s, err := scorer.NewMetadataTrust(0.5)
	if err != nil {
		fmt.Println(err)
		return
	}
	trust := func(value any) cupel.ItemOption {
		return cupel.WithMetadata(map[string]any{cupel.MetadataTrust: value})
	}
	printScores(s,
		note("text", trust("0.85")),
		note("number", trust(0.25)),
		note("unreadable", trust("high")),
		note("absent"))
	// Output:
	// 0.85 text
	// 0.25 number
	// 0.50 unreadable
	// 0.50 absent
}

func ExampleNewMetadataKey() {
	s, err := scorer.NewMetadataKey(cupel.MetadataPriority, "high", 1.5)
	if err != nil {
		fmt.Println(err)
		return
	}
	printScores(s,
		note("urgent", cupel.WithMetadata(map[string]any{cupel.MetadataPriority: "high"})),
		note("usual"))
	// Output:
	// 1.50 urgent
	// 1.00 usual
}

// now stands for time.Now, so that the examples do not depend on the day.
func now() time.Time { return time.Date(2025, time.January, 1, 12, 0, 0, 0, time.UTC) }

func aged(name string, age time.Duration) *cupel.ContextItem {
	return note(name, cupel.WithTimestamp(now().Add(-age)))
}

func ExampleNewDecay() {
	curve, err := scorer.Exponential(24 * time.Hour)
	if err != nil {
		fmt.Println(err)
		return
	}
	s, err := scorer.NewDecay(now, curve, scorer.WithNullTimestampScore(0.1))
	if err != nil {
		fmt.Println(err)
		return
	}
	printScores(s, aged("today", 0), aged("yesterday", 24*time.Hour), aged("tomorrow", -24*time.Hour), note("undated"))
	// Output:
	// 1.00 today
	// 0.50 yesterday
	// 1.00 tomorrow
	// 0.10 undated
}

func ExampleWithNullTimestampScore() {
	s := scorer.Must(scorer.NewDecay(now, scorer.Must(scorer.Window(time.Hour)), scorer.WithNullTimestampScore(0)))
	printScores(s, note("undated"))
	// Output: 0.00 undated
}

func ExampleMust() {
	s := scorer.Must(scorer.NewScaled(scorer.Must(scorer.NewKind(map[cupel.ContextKind]float64{"Ticket": 3}))))
	printScores(s, note("bug 7", cupel.WithKind("Ticket")), note("hello"))
	// Output:
	// 1.00 bug 7
	// 0.00 hello
}
