package cupelinspect_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupelchat"
	"github.com/wollax/cupel-go/cupelchat/agent"
	"github.com/wollax/cupel-go/cupelinspect"
)

// recorded returns the messages of recorded conversations.
func recorded(t testing.TB) [][]map[string]any {
	t.Helper()
	lines, err := os.ReadFile(filepath.Join("..", "cupelsession", "replay", "testdata", "agents.jsonl"))
	require.NoError(t, err)
	var all [][]map[string]any
	for line := range bytes.Lines(lines) {
		var conversation struct {
			Messages []map[string]any `json:"messages"`
		}
		require.NoError(t, json.Unmarshal(line, &conversation))
		all = append(all, conversation.Messages)
	}
	return all
}

// edited changes messages: some go, some come twice, some are long, and some begin
// with what outlines have.
func edited(r *rand.Rand, messages []map[string]any) []map[string]any {
	var list []map[string]any
	for _, message := range messages {
		text, _ := message["content"].(string)
		if text != "" && r.IntN(3) == 0 {
			message = map[string]any{"role": message["role"], "content": text, "tool_call_id": message["tool_call_id"], "tool_calls": message["tool_calls"]}
			for key, value := range message {
				if value == nil {
					delete(message, key)
				}
			}
			lines := []string{text, "… +12", "[earlier] ", "error: exit 1 in 🥐/señal.go:12", `{"path": "a.go", "status": 5}`, strings.Repeat("word ", r.IntN(200))}
			r.Shuffle(len(lines), func(i, j int) { lines[i], lines[j] = lines[j], lines[i] })
			message["content"] = strings.Join(lines[:1+r.IntN(len(lines))], "\n") + text
		}
		list = append(list, message)
		if message["role"] == "user" && r.IntN(4) == 0 {
			list = append(list, message)
		}
	}
	if n := len(list); n > 6 && r.IntN(2) == 0 {
		list = list[:n-1-r.IntN(3)]
	}
	return list
}

// TestSentTextOfConversations checks for recorded conversations and edits of them
// that the page has, of each message, exactly the text that was sent of it, at the
// budget of the run and at others, and that its numbers add up.
func TestSentTextOfConversations(t *testing.T) {
	conversations, preset := recorded(t), agent.New(nil)
	cut, kept := 0, 0
	for seed := range uint64(24) {
		r := rand.New(rand.NewPCG(seed, 31))
		body, err := json.Marshal(map[string]any{"messages": edited(r, conversations[r.IntN(len(conversations))])})
		require.NoError(t, err)
		conversation, err := cupelchat.Read(body, cupelchat.OpenAI, cupel.HeuristicCounter{})
		require.NoError(t, err)
		items := conversation.Items()
		all := 0
		for _, item := range items {
			all += item.Tokens()
		}
		reports := map[int]*cupel.SelectionReport{}
		choose := func(budget cupel.ContextBudget, pinned int) (*cupel.SelectionReport, error) {
			if pinned >= 0 {
				return nil, cupel.ErrStrategy
			}
			window, err := conversation.Select(t.Context(), preset, budget)
			if err != nil {
				return nil, err
			}
			reports[budget.MaxTokens()] = window.Report
			return window.Report, nil
		}
		most := all * (30 + r.IntN(70)) / 100
		b := newBudget(t, most, most)
		report, err := choose(b, -1)
		if err != nil {
			continue // this budget is too small
		}
		s := fromReport(t, report, b, cupelinspect.WithCandidates(items, choose), cupelinspect.WithSweep(all/3, all, 7))
		p, got := shown(t, s)
		check := func(where string, report *cupel.SelectionReport, window []int, forms map[int]int) {
			t.Helper()
			require.Len(t, window, len(report.Included), "seed %d, %s", seed, where)
			shared := map[string][]string{}
			for i, e := range report.Included {
				at, content := window[i], p.Items[got.Candidates[window[i]]].Content
				sent := content
				if n := forms[at]; n > 0 {
					sent = got.Forms[at][n-1].sent(t, content)
					cut++
					if slices.ContainsFunc(got.Forms[at][n-1].Edits, func(edit any) bool { _, ok := edit.(float64); return ok }) {
						kept++
					}
				}
				group := items[at].Group()
				note := group != "" && slices.ContainsFunc(report.Included, func(e cupel.IncludedItem) bool { return e.Shared && e.Item.Group() == group })
				switch {
				case at != e.Candidate:
					t.Errorf("seed %d, %s: place %d has candidate %d; want %d", seed, where, i, at, e.Candidate)
				case note:
					shared[group] = append(shared[group], sent)
					if len(shared[group]) == len(slices.DeleteFunc(slices.Clone(items), func(item *cupel.ContextItem) bool { return item.Group() != group })) {
						assert.Equal(t, e.Item.Content(), strings.Join(shared[group], ""), "seed %d, %s: of an exchange", seed, where)
					}
				case sent != e.Item.Content():
					t.Errorf("seed %d, %s: the page has %q of candidate %d; %q was sent", seed, where, sent, at, e.Item.Content())
				}
				if isCut := e.Item.Content() != items[at].Content(); isCut && forms[at] == 0 {
					t.Errorf("seed %d, %s: candidate %d counts as whole; %q was sent of %q", seed, where, at, e.Item.Content(), items[at].Content())
				}
			}
		}
		check("the run", report, got.Window, got.Form)
		for _, stop := range got.Sweep.Stops {
			if stop.Error == "" {
				check(fmt.Sprint("at ", stop.Budget), reports[stop.Budget], stop.Window, stop.Form)
			}
		}
	}
	assert.Greater(t, cut, 100, "messages were cut")
	assert.Greater(t, kept, cut/2, "a part of it stays")
}

// TestSummary: a page says without scripts what became of each message.
func TestSummary(t *testing.T) {
	body, err := json.Marshal(map[string]any{"messages": recorded(t)[0]})
	require.NoError(t, err)
	conversation, err := cupelchat.Read(body, cupelchat.OpenAI, cupel.HeuristicCounter{})
	require.NoError(t, err)
	b := newBudget(t, 440, 440)
	window, err := conversation.Select(t.Context(), agent.New(nil), b)
	require.NoError(t, err)
	items := conversation.Items()
	text := between(t, write(t, "the <bakery>", fromReport(t, window.Report, b, cupelinspect.WithCandidates(items, nil))), "<noscript>", "</noscript>")
	all, after, counts := 0, 0, map[string]int{}
	for _, item := range items {
		all += item.Tokens()
	}
	for _, e := range window.Report.Included {
		after += e.Item.Tokens()
	}
	for _, state := range []string{"whole", "cut", "out"} {
		counts[state] = strings.Count(text, "<td>"+state+"\n")
	}
	want := fmt.Sprintf("%d → %d tokens of a budget of 440. %d candidates: %d whole, %d cut, %d out. </p>\n<table class=\"plain\"><tr><th>Number<th>Who<th>What<th>Tokens<th>State\n<tr><td>%d<td>", all, after, len(items), counts["whole"], counts["cut"], counts["out"], len(items))
	require.Contains(t, text, want)
	require.Contains(t, text, "<h1>the &lt;bakery&gt;</h1>")
	require.Equal(t, len(window.Report.Included), counts["whole"]+counts["cut"])
	require.NotZero(t, counts["cut"])
}
