package cupelsession_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupelchat"
	"github.com/wollax/cupel-go/cupelchat/agent"
	"github.com/wollax/cupel-go/cupelsession"
)

// request is one of Chat Completions.
type request struct {
	Model    string           `json:"model"`
	Messages []map[string]any `json:"messages"`
}

// exchange is a call with a result of 20 lines.
func exchange(n int) []map[string]any {
	id := fmt.Sprint("call_", n)
	var result strings.Builder
	for line := range 20 {
		fmt.Fprintf(&result, "file%d.go:%d: value_%d = %d\n", n, line, line, n*line)
	}
	return []map[string]any{
		{"role": "assistant", "tool_calls": []any{map[string]any{"id": id, "type": "function", "function": map[string]any{"name": "read", "arguments": fmt.Sprintf(`{"path":"file%d.go"}`, n)}}}},
		{"role": "tool", "tool_call_id": id, "content": result.String()},
	}
}

// What a reader of an example may get wrong is refused, or harmless.
func TestMistakesOfLoops(t *testing.T) {
	type loop struct {
		t       *testing.T
		history request
		session *cupelsession.Session
	}
	fit := func(l *loop, params request) (cupelsession.Request[request], error) {
		return cupelsession.Fit(l.t.Context(), l.session, params, cupelchat.OpenAI, budget(l.t, 900), cupel.HeuristicCounter{})
	}
	answered := func(l *loop, params request) (cupelsession.Request[request], error) {
		r, err := fit(l, params)
		if err == nil {
			err = r.Commit(cupelsession.Usage{})
		}
		return r, err
	}
	for _, test := range []struct {
		name  string
		turn  func(l *loop, n int) (cupelsession.Request[request], error)
		err   string // "" if all turns are right
		notes string // of the last turn
		why   string
	}{
		{"history replaced", func(l *loop, n int) (cupelsession.Request[request], error) {
			r, err := answered(l, l.history)
			l.history = r.Params
			l.history.Messages = append(l.history.Messages, exchange(n)...)
			return r, err
		}, "the shortened forms that were sent", "", "what was sent takes the place of the history"},
		{"history shadowed", func(l *loop, n int) (cupelsession.Request[request], error) {
			params := l.history
			r, err := answered(l, params)
			params.Messages = append(params.Messages, exchange(n)...)
			return r, err
		}, "has not changed for 2 turns", "", "each turn begins with the same messages"},
		{"without commits", func(l *loop, n int) (cupelsession.Request[request], error) {
			r, err := fit(l, l.history)
			l.history.Messages = append(l.history.Messages, exchange(n)...)
			return r, err
		}, "", "turns were proposed since the last one was committed", "the session learns nothing"},
		{"results without calls", func(l *loop, n int) (cupelsession.Request[request], error) {
			r, err := answered(l, l.history)
			l.history.Messages = append(l.history.Messages, exchange(n)[1])
			return r, err
		}, "", "result-without-call", "the API would refuse it, and a note says so"},
	} {
		l := &loop{t, request{"m", []map[string]any{{"role": "user", "content": "Find the value that is wrong."}}}, session(t, agent.New(nil), cupelsession.Config{})}
		var r cupelsession.Request[request]
		var err error
		for n := range 12 {
			if r, err = test.turn(l, n); err != nil {
				break
			}
			body, err := json.Marshal(r.Params)
			require.NoError(t, err)
			require.JSONEq(t, string(r.Body), string(body), "%s: the body is not that of the parameters", test.name)
		}
		switch {
		case test.err == "" && err != nil, test.err != "" && (err == nil || !strings.Contains(err.Error(), test.err)):
			t.Errorf("%s: got the error %v, want %q (%s)", test.name, err, test.err, test.why)
		case test.err == "" && (test.notes == "") != (strings.Join(r.Notes, "") == "") || err == nil && !strings.Contains(strings.Join(r.Notes, "\n"), test.notes):
			t.Errorf("%s: got the notes %q, want %q (%s)", test.name, r.Notes, test.notes, test.why)
		}
	}
}

// Items may go: a summary of the caller's own stands for them, or old ones are cut. Only
// what the session has sent in their place must not come back as the conversation.
func TestVanishedItems(t *testing.T) {
	all := messages(8)
	for _, test := range []struct {
		name string
		next func(sent []*cupel.ContextItem) []*cupel.ContextItem
		note string
		why  string
	}{
		{"appended", func([]*cupel.ContextItem) []*cupel.ContextItem { return all }, "", "nothing is gone"},
		{"cut", func([]*cupel.ContextItem) []*cupel.ContextItem { return all[1:] }, "", "one that is out is gone, and another is not"},
		{"another end", func([]*cupel.ContextItem) []*cupel.ContextItem { return append(all[:1:1], numbered(t, 3)...) }, "", "its first message is the same"},
		{"another conversation", func([]*cupel.ContextItem) []*cupel.ContextItem { return numbered(t, 3) }, "use one session for each conversation", "one session serves two"},
		{"sent", func(sent []*cupel.ContextItem) []*cupel.ContextItem {
			return append(slices.Clip(sent), all[7])
		}, "exactly those that the previous window left out", "all that was out is gone; nothing was shortened, so that the caller may have cut it"},
	} {
		s := session(t, newest(t), cupelsession.Config{})
		turn := next(t, s, all[:7], 350)
		commit(t, turn)
		turn, err := s.Next(t.Context(), test.next(turn.Window), budget(t, 350))
		require.NoError(t, err, "%s (%s)", test.name, test.why)
		notes := strings.Join(turn.Notes, "\n")
		assert.Equal(t, test.note == "", notes == "", "%s (%s)", test.name, test.why)
		assert.Contains(t, notes, test.note, "%s (%s)", test.name, test.why)
	}
	form := cupel.WithVariants(cupel.Variant{Content: "the form of this", Tokens: 2, Worth: .5})
	long, quotes := item(t, "long", 90, form), item(t, "quotes the form of this", 9)
	for _, test := range []struct {
		items []*cupel.ContextItem
		lost  int
		why   string
	}{
		{[]*cupel.ContextItem{quotes, item(t, "new", 1)}, 0, "what was there may say anything"},
		{[]*cupel.ContextItem{quotes, item(t, "asks of the form of this", 1, cupel.WithSource(cupel.SourceRAG))}, 0, "a question may, too"},
		{[]*cupel.ContextItem{quotes, item(t, "the form of this", 1)}, 1, "it stands in the place of the item"},
	} {
		s := session(t, newest(t), cupelsession.Config{Tail: isRag})
		commit(t, next(t, s, []*cupel.ContextItem{quotes, long}, 50))
		_, err := s.Next(t.Context(), test.items, budget(t, 50))
		lost, _ := errors.AsType[*cupelsession.HistoryError](err)
		require.Equal(t, test.lost > 0, lost != nil && lost.Lost == test.lost, test.why)
	}
}
