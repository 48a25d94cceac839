package main

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupeltiktoken"
	"github.com/wollax/cupel-go/examples/coding-agent/repocontext"
)

// isFrom reports whether an item is the declaration "file name".
func isFrom(item *cupel.ContextItem, declaration string) bool {
	path, _ := item.MetadataValue("path")
	symbol, _ := item.MetadataValue("symbol")
	file, name, _ := strings.Cut(declaration, " ")
	return path == file && symbol == name
}

// TestAnswers asks about this repository, and counts how many of the declarations
// that hold the answers are in the window, with relevance and without. A
// declaration that is no longer there is not missed.
func TestAnswers(t *testing.T) {
	var questions []struct {
		Question string   `json:"question"`
		Answers  []string `json:"answers"`
	}
	data, err := os.ReadFile("testdata/questions.json")
	if err == nil {
		err = json.Unmarshal(data, &questions)
	}
	if err != nil {
		t.Fatal(err)
	}
	counter, err := cupeltiktoken.ForEncoding(cupeltiktoken.O200kBase)
	if err != nil {
		t.Fatal(err)
	}
	tokens := &counting{counter: counter}
	candidates, err := repocontext.Collect(t.Context(), repocontext.FindRoot("."), repocontext.Options{CountTokens: tokens.count})
	if err != nil {
		t.Fatal(err)
	}
	there := 0
	for _, q := range questions {
		for _, answer := range q.Answers {
			if slices.ContainsFunc(candidates.Items, func(it *cupel.ContextItem) bool { return isFrom(it, answer) }) {
				there++
			} else {
				t.Logf("%s is gone", answer)
			}
		}
	}
	windows := []int{4000, 8000, 16000}
	// found counts the answers within each window; without relevance the question
	// is in the window, and counts for nothing.
	found := func(relevance bool) (found [3]int) {
		for _, q := range questions {
			items, err := repocontext.Conversation(q.Question, tokens.count)
			if err != nil {
				t.Fatal(err)
			}
			items = append(items, candidates.Items...)
			question := ""
			if relevance {
				question = q.Question
			}
			pipeline, err := repocontext.NewPipeline(question, items)
			if err != nil {
				t.Fatal(err)
			}
			prepared, err := pipeline.Prepare(t.Context(), items)
			if err != nil {
				t.Fatal(err)
			}
			for i, window := range windows {
				budget, err := cupel.NewContextBudget(window, window*3/4, cupel.WithOutputReserve(window/4))
				if err != nil {
					t.Fatal(err)
				}
				chosen, err := prepared.Run(t.Context(), budget)
				if err != nil {
					t.Fatal(err)
				}
				var missed []string
				for _, answer := range q.Answers {
					if slices.ContainsFunc(chosen, func(it *cupel.ContextItem) bool { return isFrom(it, answer) }) {
						found[i]++
					} else {
						missed = append(missed, answer)
					}
				}
				if relevance {
					t.Logf("%6d tokens: %d of %d: %s %q", window, len(q.Answers)-len(missed), len(q.Answers), q.Question, missed)
				}
			}
		}
		return found
	}
	with, without := found(true), found(false)
	for i, window := range windows {
		t.Logf("%6d tokens: %d of %d answers, %d without relevance", window, with[i], there, without[i])
		if window == 16000 && with[i] < there/2 || with[i] < 2*without[i] {
			t.Errorf("%6d tokens hold %d of %d answers, and %d without relevance", window, with[i], there, without[i])
		}
	}
}
