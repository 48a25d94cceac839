package replay_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/cupelchat"
	"github.com/wollax/cupel-go/cupelsession/replay"
)

var shares = []float64{0.15, 0.25, 0.5, 0.75}

func load(t testing.TB, name string) []replay.Conversation {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	require.NoError(t, err)
	return read(t, string(data))
}

func read(t testing.TB, text string) []replay.Conversation {
	t.Helper()
	conversations, err := scan(strings.NewReader(text))
	require.NoError(t, err)
	return conversations
}

// scan returns what Scan reads, or its first error.
func scan(r io.Reader) ([]replay.Conversation, error) {
	var all []replay.Conversation
	for c, err := range replay.Latest(replay.Scan("", r, nil)) {
		if err != nil {
			return nil, err
		}
		all = append(all, c)
	}
	return all, nil
}

func run(t testing.TB, conversations []replay.Conversation, policies []replay.Policy, shares []float64, opts ...replay.Option) *replay.Result {
	t.Helper()
	m := measure(t, policies, shares, opts...)
	table := replay.NewTable(m.Plan())
	for s, err := range m.Samples(t.Context(), each(conversations)) {
		require.NoError(t, err)
		require.NoError(t, table.Add(&s))
	}
	return table.Result()
}

func each(conversations []replay.Conversation) iter.Seq2[replay.Conversation, error] {
	return func(yield func(replay.Conversation, error) bool) {
		for _, c := range conversations {
			if !yield(c, nil) {
				return
			}
		}
	}
}

// TestReference compares every figure with those of the reference
// implementation, which is in Python. strange.jsonl is generated: numbers, keys,
// texts and calls of all kinds.
func TestReference(t *testing.T) {
	for _, name := range []string{"agents", "strange"} {
		result := run(t, load(t, name+".jsonl"), replay.Baselines(), shares)
		data, err := os.ReadFile(filepath.Join("testdata", name+".reference.jsonl"))
		require.NoError(t, err)
		i := 0
		for line := range bytes.Lines(data) {
			var want replay.Row
			require.NoError(t, json.Unmarshal(line, &want))
			got := result.Rows[i]
			i++
			require.InDelta(t, want.Cost, got.Cost, 1e-12, "%s: the cost of %s at %g", name, got.Policy, got.Share)
			want.Cost, want.Fill, want.Mode, want.Intervals = got.Cost, got.Fill, got.Mode, got.Intervals
			assert.Equal(t, plain(want), plain(got), name)
		}
		assert.Len(t, result.Rows, i, name)
	}
}

// plain returns a row without what only tables show.
func plain(row replay.Row) string {
	data, err := json.Marshal(row)
	if err != nil {
		return err.Error()
	}
	return string(data)
}

// talk is a conversation whose figures are easy to find by hand. Without the
// system prompt the units have 5, 28, 5 and 5 tokens: 8 characters and less are
// 1 or 2 tokens, plus 4.
const talk = `{"id": "talk", "messages": [
	{"role": "system", "content": "Be kind."},
	{"role": "user", "content": "Hi!"},
	{"role": "assistant", "content": "", "tool_calls": [{"id": "c", "type": "function", "function": {"name": "f", "arguments": "{\"q\":\"tea\"}"}}]},
	{"role": "tool", "tool_call_id": "c", "content": "{\"sku\": \"TEA-77\"}"},
	{"role": "assistant", "content": "Tea?"},
	{"role": "user", "content": "Yes."},
	{"role": "assistant", "content": "", "tool_calls": [{"id": "d", "type": "function", "function": {"name": "f", "arguments": "{\"sku\":\"TEA-77\"}"}}]}
]}`

// TestByHand finds every figure by hand.
//
// Tokens: the system prompt 8 characters, 6; the user 5; the first call has the
// text "\n[{…}]" of 93 characters, 24 + 4, and its result 17, 5 + 4: 37; the
// answer 5; "Yes." 5; the last call is never sent, and counts for the budget
// alone: 96 characters, 24 + 4 = 28. All: 6 + 80. At a share of one half the
// budget is 46.
//
// Steps: 1. said 11 of 46. 2. said 48: over the budget. Pinned are the system
// prompt and the call with its result, 43: the user's 5 do not fit. 3. said 58.
// Pinned are 6 and 5; of the 35 left, 5 go to the answer, none to the call, and
// 5 to the user's first message: 21.
func TestByHand(t *testing.T) {
	result := run(t, read(t, talk), replay.Baselines()[:2], []float64{0.5})
	everything := 1.25*11 + (0.1*11 + 1.25*37) + (0.1*48 + 1.25*10)
	newest := 1.25*11 + (0.1*6 + 1.25*37) + (0.1*6 + 1.25*15)
	want := []replay.Row{
		{Policy: "everything", Share: 0.5, Mode: replay.Stateless, Support: 1, Grounded: 1, Cost: 1, Task: 1, Recent: 1,
			Fill: (48 + 58) / 92.0, Values: 1, Steps: 3},
		{Policy: "newest", Share: 0.5, Mode: replay.Stateless, Cost: newest / everything,
			Breaks: 2 / 3.0, Task: 1, Recent: 1 / 3.0, Fill: (43 + 21) / 92.0, Values: 1, Steps: 3},
	}
	for i, row := range result.Rows {
		if math.Abs(row.Cost-want[i].Cost) < 1e-12 {
			row.Cost = want[i].Cost
		}
		assert.Equal(t, plain(want[i]), plain(row))
	}
	assert.Contains(t, result.Text(), "tokens  message  value\n    37        7  TEA-77 in talk\n")
	for _, row := range []struct {
		policy replay.Policy
		want   []replay.Followed
		err    error
	}{
		{replay.Baselines()[1], []replay.Followed{{Message: 5, Kept: true}, {Message: 7}}, nil},
		{failing(t), []replay.Followed{{Message: 3}}, errBroken},
	} {
		var followed []replay.Followed
		for step, err := range replay.Follow(t.Context(), &read(t, talk)[0], row.policy, 46, "TEA-77") {
			require.ErrorIs(t, err, row.err)
			followed = append(followed, step)
		}
		assert.Equal(t, row.want, followed)
	}
	for _, err := range replay.Follow(t.Context(), &read(t, talk)[0], replay.Baselines()[1], 46, "TEA-77") {
		require.NoError(t, err)
		break
	}
}

var errBroken = errors.New("broken")

type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, errBroken }

func TestRead(t *testing.T) {
	const message = `{"role": "user", "content": "Hi"}`
	for _, row := range []struct {
		name, text string
		ids        string // of the conversations
		reason     string // part of the error; none when empty
		why        string
	}{
		{"conversations", "{\"id\": \"a\", \"messages\": []}\n\n{\"id\": 7, \"messages\": [" + message + "]}\r\n", "a, 7", "", "the format of the reference, with ids of any type"},
		{"without ids", "{\"messages\": []}\n{\"messages\": [], \"id\": null}", "sha256:e3b0c44298fc1c14, sha256:e3b0c44298fc1c14", "", "a request has no id, and its messages name it"},
		{"one, on several lines", "{\n\"id\": \"a\",\n\"messages\": [\n" + message + "\n]\n}", "a", "", "pretty-printed"},
		{"list", "\ufeff[" + message + ",\n" + message + "]", "sha256:8fffeb56175d1fe6", "", "messages alone, and a byte order mark"},
		{"one message", message, "sha256:ad3d801606f34b4e", "", "a log with one line"},
		{"empty list", "[]", "sha256:e3b0c44298fc1c14", "", "nothing was said yet"},
		{"list of one conversation", `[{"id": "a", "messages": []}]`, "a", "", "not of messages"},
		{"parts", `[{"role": "user", "content": [{"type": "text", "text": "Hi"}]}]`, "sha256:8f18dc9e92d427f2", "", "they are as this API has them"},
		{"messages of a span", `[{"role": "user", "parts": [{"type": "text", "content": "Hi"}]}]`, "sha256:ad3d801606f34b4e", "", "as a list alone"},
		{"another API", `{"messages": [{"role": "user", "content": [{"type": "text", "text": "Hi"}, {"type": "image", "source": {}}]}]}`, "sha256:ad3d801606f34b4e", "", "no system prompt shows it"},
		{"another API, damaged", `{"contents": 5}`, "", "contents", "its own reason"},
		{"message per line", message + "\n" + message, "sha256:8fffeb56175d1fe6", "", "a log of the same"},
		{"joined", "{\"id\": \"a\", \"messages\": []}\n\ufeff{\"id\": \"b\", \"messages\": []}", "a, b", "", "each file has a byte order mark"},
		{"nothing", "", "", "", "no conversation is not a mistake of the reader"},
		{"not JSON", `{"id": `, "", "line 1: unexpected end of JSON input", "in the parser's own words"},
		{"mixed", "{\"messages\": []}\n" + message, "", "line 2: some lines are conversations and others are messages; use one kind", "whose message would it be"},
		{"no messages", "{\"id\": 1}\n{\"messages\": []}", "", `line 1: a conversation must be an object with "messages", or a list of messages`, "nothing to measure"},
		{"message of another type", `{"messages": [1]}`, "", "line 1: messages[0]: a message must be an object", "not a message"},
		{"no role", `{"messages": [{"content": "a"}]}`, "", "line 1: messages[0]: role is required", "who said it decides what it is"},
		{"a record without messages", `{"type": "session_meta", "timestamp": "2026-01-01T00:00:00Z", "payload": {"id": "s"}}` + "\n" + `{"type": "event_msg", "timestamp": "2026-01-01T00:00:00Z", "payload": {}}`, "", "line 1: no line has a message", "nothing to measure"},
		{"an unknown record", `{"type": "x"}`, "", "is not a message in a known format", "it is of no API"},
		{"another value in a list", `[{"messages": []}, 1]`, "", "line 1: a conversation must be an object", "each of them is one"},
		{"no role on a line", message + "\n{\"role\": 1}", "", "line 2: role is required", "which line"},
	} {
		conversations, err := scan(strings.NewReader(row.text))
		var ids []string
		for _, c := range conversations {
			ids = append(ids, c.ID)
		}
		if row.reason == "" {
			require.NoError(t, err, row.name)
			assert.Equal(t, row.ids, strings.Join(ids, ", "), "%s: %s", row.name, row.why)
			continue
		}
		var bad *replay.ReadError
		require.ErrorAs(t, err, &bad, row.name)
		assert.NotZero(t, bad.Line, row.name)
		assert.NotRegexp(t, "^:", err.Error(), "the file has no name")
		assert.ErrorContains(t, err, row.reason, "%s: %s", row.name, row.why)
	}
	_, err := scan(broken{})
	require.ErrorIs(t, err, errBroken)
}

func TestArguments(t *testing.T) {
	fine, nan := []float64{0.5}, math.NaN()
	all := replay.Baselines()[0]
	chosen := replay.Choosing("latest", latest(t))
	unmarked := all
	unmarked.Mode = replay.Session
	for _, row := range []struct {
		policies []replay.Policy
		shares   []float64
		opt      replay.Option
		field    string
		why      string
	}{
		{nil, fine, nil, "policies", "nothing to measure"},
		{[]replay.Policy{replay.Choosing("nil", nil)}, fine, nil, "policies[0]", "it cannot choose"},
		{[]replay.Policy{all, replay.Choosing("", latest(t))}, fine, nil, "policies[1]", "it has no name"},
		{[]replay.Policy{{Name: "x"}}, fine, nil, "policies[0]", "it was not made by this package"},
		{[]replay.Policy{all, all}, fine, nil, "policies[1]", "one row would be the other"},
		{[]replay.Policy{chosen.InSession(1.1)}, fine, nil, "policies[0]", "more than the room"},
		{[]replay.Policy{chosen.InSession(-0.1)}, fine, nil, "policies[0]", "less than nothing"},
		{[]replay.Policy{unmarked}, fine, nil, "policies[0]", "no room"},
		{[]replay.Policy{all}, nil, nil, "shares", "no budget"},
		{[]replay.Policy{all}, []float64{0}, nil, "shares[0]", "an empty budget"},
		{[]replay.Policy{all}, []float64{nan}, nil, "shares[0]", "no number"},
		{[]replay.Policy{all}, []float64{0.5, 0.5}, nil, "shares[1]", "a share twice"},
		{[]replay.Policy{all}, []float64{0.5, 1.5}, nil, "shares[1]", "more than the conversation"},
		{[]replay.Policy{all}, fine, replay.WithWorkers(-1), "workers", "no worker does anything"},
		{[]replay.Policy{all}, fine, replay.WithAgainst("newest"), "against", "it is not measured"},
	} {
		_, err := replay.NewMeasure(row.policies, row.shares, nil, row.opt)
		var bad *cupel.InvalidConfigError
		require.ErrorAs(t, err, &bad, row.why)
		assert.Equal(t, row.field, bad.Field, row.why)
	}
	measure(t, []replay.Policy{chosen.InSession(1), all}, []float64{1}, replay.WithAgainst("everything"))
	_, err := replay.NewMeasure([]replay.Policy{replay.Choosing("none", &pipeline.Pipeline{})}, fine)
	require.ErrorIs(t, err, cupel.ErrInvalidConfig)
	for _, err := range replay.Follow(t.Context(), &replay.Conversation{}, unmarked, 1, "") {
		require.ErrorIs(t, err, cupel.ErrInvalidConfig)
	}
	result := run(t, nil, []replay.Policy{all, chosen}, fine, replay.WithAgainst("everything"))
	require.Len(t, result.Rows, 2)
	require.Zero(t, result.Rows[0].Cost)
	require.NotRegexp(t, "NaN|±|against", result.Text())
}

func TestFailures(t *testing.T) {
	orphan := replay.Choosing("orphan", reportFunc{latest(t), func(report *cupel.SelectionReport) {
		report.Included = slices.DeleteFunc(report.Included, func(in cupel.IncludedItem) bool { return in.Candidate == 2 }) // the call
	}})
	result := run(t, read(t, talk), []replay.Policy{replay.Baselines()[0], orphan}, []float64{1})
	got := result.Rows[1]
	said := result.Failures()
	require.Len(t, said, 1)
	require.Regexp(t, `^orphan at 1: 2 of 3 steps failed; the first is step 1 of conversation "talk": the API refuses`, said[0])
	require.Equal(t, 2, got.Failures, "a result without its call: %+v", got.First)
	require.Equal(t, "talk", got.First.Conversation)
	require.Equal(t, 1, got.First.Step)
	require.Regexp(t, `^the API refuses the window: messages\[2\]`, got.First.Reason)
	// The whole request is 58 tokens at the third step; at the second what is pinned is
	// shortened.
	large := chooserFunc{latest(t), func([]*cupel.ContextItem, cupel.ContextBudget) (cupel.ContextBudget, error) {
		return cupel.NewContextBudget(1000, 1000)
	}}
	got = run(t, read(t, talk), []replay.Policy{replay.Choosing("large", large)}, []float64{0.5}).Rows[0]
	require.Equal(t, 1, got.Failures)
	require.Equal(t, (replay.Failure{Conversation: "talk", Step: 2, Reason: "the window has 58 tokens, 12 more than the budget"}), *got.First)
	const alone = `{"messages": [{"role": "user", "content": "a"}, {"role": "tool", "tool_call_id": "c", "content": "b"}, {"role": "assistant", "content": "c"}]}`
	media := replay.Choosing("media", latest(t), cupelchat.WithMediaTokens(-1))
	for _, row := range []struct {
		text   string
		policy replay.Policy
		want   []string
	}{
		{alone, orphan, nil}, // the API refuses the whole conversation
		{strings.Replace(alone, `"a"`, `5`, 1), orphan, []string{"messages[0].content"}},
		{talk, replay.Choosing("media", latest(t), cupelchat.WithMediaTokens(1)), nil},
		{talk, media, []string{"tokens must be at least 0"}},
	} {
		said := run(t, read(t, row.text), []replay.Policy{row.policy}, []float64{1}).Failures()
		require.Len(t, said, len(row.want))
		for i, want := range row.want {
			require.Contains(t, said[i], want)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := measure(t, replay.Baselines(), shares).Sample(ctx, &read(t, talk)[0])
	require.ErrorIs(t, err, context.Canceled)
	for _, err := range measure(t, replay.Baselines(), shares).Samples(ctx, each(read(t, talk))) {
		require.ErrorIs(t, err, context.Canceled)
	}
	unread := func(yield func(replay.Conversation, error) bool) { yield(replay.Conversation{}, errBroken) }
	for _, err := range measure(t, replay.Baselines(), shares).Samples(t.Context(), unread) {
		require.ErrorIs(t, err, errBroken)
	}
}

func ExampleMeasure() {
	file, err := os.Open("testdata/agents.jsonl")
	if err != nil {
		fmt.Println(err)
		return
	}
	measure, err := replay.NewMeasure(replay.Baselines()[:3], []float64{0.25, 0.5})
	if err != nil {
		fmt.Println(err)
		return
	}
	table := replay.NewTable(measure.Plan())
	for sample, err := range measure.Samples(context.Background(), replay.Scan("agents.jsonl", file, nil)) {
		if err == nil {
			err = table.Add(&sample)
		}
		if err != nil {
			fmt.Println(err)
			return
		}
	}
	for _, row := range table.Result().Rows {
		fmt.Printf("%s at %g: %.2f of the values at %.2f of the cost\n", row.Title(), row.Share, row.Grounded, row.Cost)
	}
	// Output:
	// everything at 0.25: 1.00 of the values at 1.00 of the cost
	// newest that fits at 0.25: 0.50 of the values at 1.35 of the cost
	// clear old results at 0.25: 0.44 of the values at 1.20 of the cost
	// everything at 0.5: 1.00 of the values at 1.00 of the cost
	// newest that fits at 0.5: 0.89 of the values at 2.34 of the cost
	// clear old results at 0.5: 0.67 of the values at 1.87 of the cost
}
