package main

import (
	"errors"
	"strings"
	"testing"
)

// The counts are those of version 1.0.22 of the npm package tiktoken, OpenAI's
// own tokenizer compiled to WebAssembly, for frame and content of each item:
// 75 for the system prompt, 8 for the question, 13 and 16 for the sections, 17
// and 18 for the declarations; o200k_base and cl100k_base agree on all of them.
func TestCountsAsModelsDo(t *testing.T) {
	root := shop(t)
	const want = `Candidates: 6 items, 147 tokens
  SystemPrompt  1  75 tokens
  Message       1   8 tokens
  Code          2  35 tokens
  Document      2  29 tokens
`
	for _, args := range [][]string{{}, {"-counter", "o200k_base"}, {"-counter", "cl100k_base"}, {"-counter", "gpt-4-0613"}} {
		code, stdout, stderr := start(t, append(args, "-root", root, "-question", "What is a Price?", "-vet", "0")...)
		if code != exitOK || !strings.Contains(stdout, want) {
			t.Errorf("%v: exit code %d, %s\noutput without\n%s\n%s", args, code, stderr, want, stdout)
		}
	}
	// An estimate is near.
	code, stdout, stderr := start(t, "-counter", "heuristic", "-root", root, "-question", "What is a Price?", "-vet", "0")
	if code != exitOK || !strings.Contains(stdout, "Candidates: 6 items, 1") {
		t.Errorf("heuristic: exit code %d, %s\n%s", code, stderr, stdout)
	}
}

// offline is a counter that fails, as one over the network may.
type offline struct{}

func (offline) CountTokens(string) (int, error) { return 0, errors.New("offline") }

func TestCounterThatFails(t *testing.T) {
	root := shop(t)
	var out strings.Builder
	s, err := parse([]string{"-root", root, "-vet", "0"}, &out)
	if err != nil {
		t.Fatal(err)
	}
	s.counter = offline{}
	if err := s.choose(t.Context(), &out, func(string) {}); err == nil || err.Error() != "offline" {
		t.Errorf("got %v", err)
	}
	if out.Len() > 0 {
		t.Errorf("output %q", out.String())
	}
}
