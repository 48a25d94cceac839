package replay

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupelchat/agent"
	"github.com/wollax/cupel-go/cupelsession"
)

var anyMark = regexp.MustCompile(`\[r(\d+)\]`)

// recallCounts is what the values of the next steps need of the windows of a policy, and
// of answers to recalls.
type recallCounts struct{ values, grounded, recalled, marks, marked, tokens, steps int }

func (c recallCounts) String() string {
	share := func(n, of int) float64 { return float64(n) / float64(max(1, of)) }
	return fmt.Sprintf("grounded %.3f, or in one recall %.3f; %.1f marks in a window, %.3f of its tokens",
		share(c.grounded, c.values), share(c.recalled, c.values), share(c.marks, c.steps), share(c.marked, c.tokens))
}

// asks reports whether one recall has a value: its mark stands where the window names
// the tool, and the key of the value or, for one without, what the tool was called with.
func (v *value) asks(ctx context.Context, t *testing.T, s *cupelsession.Session, w window, budget int) bool {
	t.Helper()
	limit, err := cupel.NewContextBudget(budget, budget)
	require.NoError(t, err)
	called := regexp.MustCompile(`\w+\([^()]`)
	for i := range w {
		text := w[i].text
		marks := anyMark.FindAllStringSubmatch(text, -1)
		if len(marks) == 0 || !called.MatchString(text) {
			continue
		}
		words := []string{""}
		if len(v.keys) > 0 {
			words = words[:0]
		}
		for _, key := range v.keys {
			if strings.Contains(text, key) {
				words = append(words, key, "")
			}
		}
		for _, mark := range marks {
			for _, word := range words {
				answer, err := s.Recall(ctx, fmt.Appendf(nil, `{"id": %s, "words": %q}`, mark[1], word), limit, Characters{})
				require.NoError(t, err)
				if v.grounded(answer) {
					return true
				}
			}
		}
	}
	return false
}

// countRecalls measures the preset in sessions or without, with marks or without.
func countRecalls(t *testing.T, conversations []Conversation, share float64, inSession, marks bool) (c recallCounts) {
	t.Helper()
	preset := agent.New(Characters{})
	s, err := cupelsession.New(preset, cupelsession.Config{Store: new(cupelsession.MemoryStore), Name: "measure"})
	require.NoError(t, err)
	p := Choosing("agent", preset)
	if marks {
		p = Choosing("agent", preset, s.Reading()...)
	}
	if inSession {
		p = p.InSession(cupelsession.DefaultLowWater)
	}
	for n := range conversations {
		r := record(&conversations[n])
		chooser := p.chooser(map[string]*chatMessage{}, nil)
		for i := range r.steps {
			at := &turn{recording: r, step: i, said: r.steps[i].units, shared: new(shared)}
			budget := max(r.limit(share), at.fixed(at.said))
			w, err := chooser.choose(t.Context(), at, budget)
			if err != nil {
				w = nil // what is pinned does not fit, as in the measure
			}
			text := w.text()
			c.steps++
			c.tokens += w.tokens()
			for _, mark := range anyMark.FindAllString(text, -1) {
				c.marks++
				c.marked += (len(mark) + 4) / 4
			}
			for k := range r.steps[i].values {
				v := &r.steps[i].values[k]
				in := v.grounded(text)
				c.values++
				c.grounded += btoi(in)
				c.recalled += btoi(in || v.asks(t.Context(), t, s, w, budget))
			}
		}
	}
	return c
}

func readAgents(t *testing.T, name string) (all []Conversation) {
	t.Helper()
	file, err := os.Open(name)
	require.NoError(t, err)
	defer func() { assert.NoError(t, file.Close()) }()
	for c, err := range Scan(name, file, nil) {
		require.NoError(t, err)
		all = append(all, c)
	}
	return all
}

// TestRecallFigures logs which share of what the next steps use is in the windows, and in
// the windows or in the answer to one recall, with the conversations in the folder
// CUPEL_AGENTS; without it those of this package.
func TestRecallFigures(t *testing.T) {
	files := []string{filepath.Join("testdata", "agents.jsonl")}
	if folder := os.Getenv("CUPEL_AGENTS"); folder != "" {
		files = nil
		for _, name := range []string{"tau-airline", "swe-agent", "bfcl-base", "bfcl-long"} {
			files = append(files, filepath.Join(folder, name+".jsonl"))
		}
	}
	for _, name := range files {
		all := readAgents(t, name)
		for _, share := range []float64{0.15, 0.25, 0.5} {
			for _, inSession := range []bool{false, true} {
				plain, marked := countRecalls(t, all, share, inSession, false), countRecalls(t, all, share, inSession, true)
				t.Logf("%s at %v, session %t: without marks %v; with marks %v", filepath.Base(name), share, inSession, plain, marked)
				assert.Zero(t, plain.marks)
				assert.GreaterOrEqual(t, marked.recalled, marked.grounded)
			}
		}
	}
}
