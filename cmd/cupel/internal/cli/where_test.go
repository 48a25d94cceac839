package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupelchat"
	"github.com/wollax/cupel-go/cupelreduce"
	"github.com/wollax/cupel-go/cupelsession/replay"
	"github.com/wollax/cupel-go/cupeltest"
)

// recordedMessages are the messages of recorded conversations.
func recordedMessages(t *testing.T) [][]map[string]any {
	t.Helper()
	data, err := os.ReadFile(agents)
	require.NoError(t, err)
	var all [][]map[string]any
	for line := range bytes.Lines(data) {
		var conversation struct{ Messages []map[string]any }
		require.NoError(t, json.Unmarshal(line, &conversation))
		all = append(all, conversation.Messages)
	}
	return all
}

// edit returns messages with changes: exchanges or messages less, again, or in another
// place, and texts that are longer.
func edit(rng *rand.Rand, messages []map[string]any) []map[string]any {
	var units [][]map[string]any // a call with its results
	for _, m := range messages {
		if m["role"] == "tool" && len(units) > 0 {
			units[len(units)-1] = append(units[len(units)-1], m)
		} else {
			units = append(units, []map[string]any{m})
		}
	}
	for range rng.IntN(5) {
		i, j := rng.IntN(len(units)), rng.IntN(len(units))
		switch rng.IntN(4) {
		case 0:
			units[i], units[j] = units[j], units[i]
		case 1:
			units = slices.Insert(units, i, units[j])
		case 2:
			if len(units) > 3 {
				units = slices.Delete(units, i, i+1)
			}
		default:
			longer := map[string]any{"role": "user", "content": strings.Repeat(fmt.Sprint("See dir/file", i, ".go, status: ", 100+j, ". "), 1+rng.IntN(20))}
			units = slices.Insert(units, i, []map[string]any{longer})
		}
	}
	return slices.Concat(units...)
}

// chosen returns the selection of messages by flags.
func chosen(t *testing.T, messages []map[string]any, policy string, tokens int) *selection {
	t.Helper()
	body, err := json.Marshal(map[string]any{"messages": messages})
	require.NoError(t, err)
	flags := selectionFlags{policy: policy}
	flags.items, flags.format, flags.encoding, flags.budget = "-", "openai", "heuristic", tokens
	s, err := flags.read(t.Context(), &Environment{Stdin: bytes.NewReader(body), Stderr: new(bytes.Buffer), Clock: time.Now})
	require.NoError(t, err)
	return s
}

// textsSent returns what the messages of a body say, without the marks for what is left
// out.
func textsSent(t *testing.T, s *selection) (texts []string) {
	t.Helper()
	window, err := s.choose(t.Context(), s.budget)
	require.NoError(t, err)
	body, err := window.Body()
	require.NoError(t, err)
	sent, err := cupelchat.Read(body, cupelchat.OpenAI, cupel.HeuristicCounter{})
	require.NoError(t, err)
	for _, item := range sent.Items() {
		texts = append(texts, marks.ReplaceAllString(item.Content(), ellipsis))
	}
	return texts
}

// TestWhereAgrees: what where says of each value in conversations is what is sent, and of
// two budgets that differ by a token one sends the value and the other does not.
func TestWhereAgrees(t *testing.T) {
	cases := 1000
	if testing.Short() {
		cases = 35
	}
	recorded := recordedMessages(t)
	kept, lost, proven := 0, 0, 0
	for seed := range uint64(cases) {
		rng := rand.New(rand.NewPCG(seed, 31))
		messages := edit(rng, recorded[rng.IntN(len(recorded))])
		s := chosen(t, messages, []string{"agent", "chat"}[seed%2], 40+rng.IntN(700))
		now, err := s.ledger(t.Context(), s.budget)
		if err != nil {
			continue // the task alone does not fit
		}
		var values []string
		for _, item := range s.Items {
			for value := range cupelreduce.Facts(item.Content()) {
				if says(item.Content(), value) {
					values = append(values, value)
				}
			}
		}
		sent := textsSent(t, s)
		for _, value := range values {
			has := slices.ContainsFunc(sent, func(text string) bool { return says(text, value) })
			places := s.placesOf(now, value, exchangesOf(now))
			require.Equal(t, has, s.sends(now, value), "seed %d: %q in %+v", seed, value, places)
			for _, p := range places {
				require.LessOrEqual(t, p.Tokens, p.Full, "seed %d: %q in %+v", seed, value, p)
			}
		}
		found := fact{Value: values[rng.IntN(len(values))]}
		found.Sent, found.Places = s.sends(now, found.Value), s.placesOf(now, found.Value, nil)
		require.NoError(t, s.remedies(t.Context(), now, &found))
		sends := func(tokens int) bool {
			at, err := s.ledger(t.Context(), cupeltest.Budget(max(tokens, 0), max(tokens, 0)))
			return err == nil && s.sends(at, found.Value)
		}
		require.True(t, found.Smallest.Found, "seed %d", seed)
		require.True(t, sends(found.Smallest.Tokens) && !sends(found.Smallest.Tokens-1), "seed %d: %+v", seed, found.Smallest)
		for tokens := range found.Smallest.Tokens {
			if found.Smallest.Exact {
				require.False(t, sends(tokens), "seed %d: %d tokens send %q, which is said to need %d", seed, tokens, found.Value, found.Smallest.Tokens)
			}
		}
		if found.Smallest.Exact {
			proven++
		}
		if found.Sent {
			kept++
			continue
		}
		lost++
		if found.Pin > 0 {
			candidates, err := withPins(s.Candidates, found.Pin)
			require.NoError(t, err)
			pinned := &selection{candidates, s.chooser, s.budget}
			then, err := pinned.ledger(t.Context(), s.budget)
			require.NoError(t, err)
			require.True(t, pinned.sends(then, found.Value), "seed %d: --pin %d", seed, found.Pin)
		}
	}
	require.GreaterOrEqual(t, kept, cases/10, "the conversations say little")
	require.GreaterOrEqual(t, lost, cases/10, "the conversations say little")
}

func TestSearchBudget(t *testing.T) {
	for seed := range uint64(1000) {
		rng := rand.New(rand.NewPCG(seed, 5))
		keeps := make([]bool, 2+rng.IntN(60))
		for i := range keeps {
			keeps[i] = rng.IntN(len(keeps)) < i
		}
		tokens, found, exact, err := searchBudget(0, len(keeps)-1, func(tokens int) (bool, error) { return keeps[tokens], nil })
		require.NoError(t, err)
		require.Equal(t, keeps[len(keeps)-1], found)
		if !found {
			continue
		}
		require.True(t, keeps[tokens] && (tokens == 0 || !keeps[tokens-1]), "%d of %v", tokens, keeps)
		require.Equal(t, tokens <= mostProven, exact)
		if exact {
			require.Equal(t, slices.Index(keeps, true), tokens)
		}
	}
	for answers := range 3 {
		asked := 0
		tokens, found, exact, err := searchBudget(0, 9, func(int) (bool, error) {
			if asked++; asked > answers {
				return false, context.Canceled
			}
			return true, nil
		})
		require.ErrorIs(t, err, context.Canceled)
		require.True(t, tokens == 0 && !found && !exact, "an error is no answer")
	}
}

// TestWhereItWent: the steps are those after a message has the value.
func TestWhereItWent(t *testing.T) {
	chat := filepath.Join("..", "..", "..", "..", "examples", "data", "chat.json")
	for flag, want := range map[string][]replay.Followed{
		"--steps":   {{Message: 7, Kept: true}, {Message: 9, Kept: true}, {Message: 11, Kept: true}},
		"--session": {{Message: 7, Kept: true}, {Message: 9, Kept: true}, {Message: 11}},
	} {
		var answer whereAnswer
		decodeJSON(t, printed(t, "where", "-i", chat, "-p", "agent", "-b", "230", flag, "--json", "05:10"), &answer)
		require.Equal(t, want, answer.Facts[0].Steps, flag)
	}
	folder(t, map[string]string{"a.json": `{"system": "Help.", "messages": [{"role": "user", "content": "The van comes at 05:10."}, {"role": "assistant", "content": "Yes."}, {"role": "user", "content": "Go on."}]}`})
	var answer whereAnswer
	decodeJSON(t, printed(t, "where", "-i", "a.json", "-p", "agent", "-b", "230", "--format", "anthropic", "--steps", "--json", "05:10"), &answer)
	require.Equal(t, []replay.Followed{{Message: 2, Kept: true}}, answer.Facts[0].Steps, "the system prompt is no message of Anthropic's")
}

// TestFormsAreCompared: a message that two selections send in different forms is one
// message that changed, for policies and for budgets.
func TestFormsAreCompared(t *testing.T) {
	repair := filepath.Join("..", "..", "..", "..", "examples", "data", "repair.json")
	var d difference
	decodeJSON(t, printed(t, "diff", "-i", repair, "-b", "300", "--json", "agent", "chat"), &d)
	forms := 0
	for _, c := range d.Changes {
		require.NotContains(t, []string{c.A.Reason, c.B.Reason}, notCandidate, "%s: both chose from the same messages", c.Title)
		if c.What == "form" {
			forms++
		}
	}
	require.Positive(t, forms)
	var r sweepResult
	decodeJSON(t, printed(t, "sweep", repair, "--json"), &r)
	changed := 0
	for _, step := range r.Steps {
		changed += len(step.Changed)
		for _, title := range step.Went {
			require.NotContains(t, step.Came, title, "at %d: it changed", step.Budget)
		}
	}
	require.Positive(t, changed)
}
