package cupelsession_test

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupelchat"
	"github.com/wollax/cupel-go/cupelchat/agent"
	"github.com/wollax/cupel-go/cupelsession"
)

var anyMark = regexp.MustCompile(`\[r(\d+)\]`)

// chat is a conversation in the form of OpenAI's Chat Completions.
type chat struct {
	messages []any
	results  []string // by number from 1, and of long messages
	calls    int
}

func newChat(task string) *chat {
	return &chat{messages: []any{object{"role": "user", "content": task}}}
}

// call adds a call and what it returns.
func (c *chat) call(tool, arguments, result string) {
	c.calls++
	id := fmt.Sprint("c", c.calls)
	c.messages = append(c.messages,
		object{"role": "assistant", "tool_calls": []any{object{"id": id, "type": "function", "function": object{"name": tool, "arguments": arguments}}}},
		object{"role": "tool", "tool_call_id": id, "content": result})
	if tool != "recall" {
		c.results = append(c.results, result)
	}
}

// twenty is a conversation with twenty results.
func twenty() *chat {
	c := newChat("go")
	for n := range 20 {
		c.call("read", fmt.Sprintf(`{"path": "f%d"}`, n), strings.Repeat(fmt.Sprintf("func f%d() {}\n", n), 20))
	}
	return c
}

func (c *chat) request() object { return object{"model": "m", "messages": c.messages} }

// someText is a result of a tool of one of a few kinds.
func someText(rng *rand.Rand, n int) string {
	var b strings.Builder
	switch rng.IntN(4) {
	case 0:
		for i := range 1 + rng.IntN(60) {
			fmt.Fprintf(&b, "file%d.go:%d: error E%d in function f%d\r\n", n, i, n*100+i, i)
		}
	case 1:
		fmt.Fprintf(&b, `{"user_id": "u_%d", "orders": [`, n)
		for i := range 1 + rng.IntN(40) {
			fmt.Fprintf(&b, `{"order_id": "W%d%d", "total": %d},`, n, i, i)
		}
		b.WriteString(`{}]}`)
	case 2:
		b.WriteString(strings.Repeat(fmt.Sprintf("語 %d — [r1] ünï ", n), 1+rng.IntN(80)))
	default:
		fmt.Fprintf(&b, "ok %d", n)
	}
	return b.String()
}

func storing(t testing.TB, chooser cupelsession.Chooser, store cupelsession.Store, name string) *cupelsession.Session {
	t.Helper()
	return session(t, chooser, cupelsession.Config{Store: store, Name: name, Clock: func() time.Time { return time.Unix(1e9, 0) }})
}

// whole asks for a text by ranges of lines until it has everything.
func whole(t *testing.T, s *cupelsession.Session, id int, budget cupel.ContextBudget, counter cupel.TokenCounter) string {
	t.Helper()
	var b strings.Builder
	rest := regexp.MustCompile(`\n\[(\d+) of (\d+) lines fit; .*\]$`)
	for line := 1; ; {
		arguments := fmt.Sprintf(`{"id": %d, "lines": "%d-1000000"}`, id, line)
		answer, err := s.Recall(t.Context(), []byte(arguments), budget, counter)
		require.NoError(t, err)
		n, err := counter.CountTokens(answer)
		require.NoError(t, err)
		require.LessOrEqual(t, n, min(2000, budget.TargetTokens()/10))
		found := rest.FindStringSubmatch(answer)
		if found == nil {
			b.WriteString(answer)
			return b.String()
		}
		b.WriteString(strings.TrimSuffix(answer, found[0]))
		var some int
		_, err = fmt.Sscan(found[1], &some)
		require.NoError(t, err)
		require.Positive(t, some, answer)
		line += some
	}
}

// Every mark of every request is answered with the text that it stands for, byte for byte,
// with any chooser and budget, here and in another process, which proposes the same.
func TestEveryMarkIsAnswered(t *testing.T) {
	counter := cupel.HeuristicCounter{}
	seeds := uint64(24)
	if testing.Short() {
		seeds = 4
	}
	marks := 0
	for seed := range seeds {
		rng := rand.New(rand.NewPCG(seed, 29))
		choosers := []cupelsession.Chooser{agent.New(counter), newest(t)}
		folder, err := cupelsession.NewFolderStore(t.TempDir(), 1<<20, time.Hour)
		require.NoError(t, err)
		stores := []cupelsession.Store{new(cupelsession.MemoryStore), folder}
		chooser, store := choosers[seed%2], stores[seed/2%2]
		s := storing(t, chooser, store, "a")
		budget := budget(t, 1200+rng.IntN(2500))
		task := "Fix the orders of u_7." + strings.Repeat(" And then these.", int(seed%4%2)*300) // what is pinned may be shortened
		c, texts := newChat(task), map[string]bool{task: true}
		for n := range 25 {
			text := someText(rng, n)
			texts[text] = true
			c.call([]string{"get_orders", "read"}[rng.IntN(2)], fmt.Sprintf(`{"id": "u_%d"}`, n), text)
			if rng.IntN(5) == 0 {
				long := fmt.Sprint("Note ", n, strings.Repeat(" and then some more words", rng.IntN(80)))
				texts[long] = true
				c.messages = append(c.messages, object{"role": "assistant", "content": "Done."}, object{"role": "user", "content": long})
			}
			if rng.IntN(4) == 0 {
				again := storing(t, chooser, store, "a")
				require.NoError(t, again.UnmarshalJSON([]byte(state(t, s))))
				s = again
			}
			r, err := cupelsession.Fit(t.Context(), s, c.request(), cupelchat.OpenAI, budget, counter)
			require.NoError(t, err)
			other := storing(t, chooser, store, "a") // which has the store alone
			require.NoError(t, other.UnmarshalJSON([]byte(state(t, s))))
			var sent struct{ Messages []struct{ Content string } }
			require.NoError(t, json.Unmarshal(r.Body, &sent))
			for at := range sent.Messages {
				content := sent.Messages[at].Content
				if texts[content] { // as it is, and may say anything
					continue
				}
				for _, mark := range anyMark.FindAllStringSubmatch(content, -1) {
					var id int
					_, err := fmt.Sscan(mark[1], &id)
					require.NoError(t, err)
					if strings.Contains(content, "ünï") && id == 1 {
						continue // what the tool has said
					}
					marks++
					assert.True(t, texts[whole(t, []*cupelsession.Session{s, other}[marks%2], id, budget, counter)], "seed %d, step %d: the text of %s is no result", seed, n, mark[0])
				}
			}
			if n%3 == 0 {
				copied := storing(t, chooser, store, "a")
				require.NoError(t, copied.UnmarshalJSON([]byte(state(t, s))))
				same, err := cupelsession.Fit(t.Context(), copied, c.request(), cupelchat.OpenAI, budget, counter)
				require.NoError(t, err)
				require.Equal(t, string(r.Body), string(same.Body), "seed %d, step %d: another process", seed, n)
			}
			commit(t, r.Turn)
			require.Equal(t, state(t, s), state(t, s.Fork()))
			if other := storing(t, chooser, store, "b"); n == 24 {
				answer, err := other.Recall(t.Context(), []byte(`{"id": 1}`), budget, counter)
				require.NoError(t, err)
				assert.Contains(t, answer, "no text with this id", "another session")
				require.NoError(t, other.UnmarshalJSON([]byte(state(t, s))))
				answer, err = other.Recall(t.Context(), []byte(`{"id": 1}`), budget, counter)
				require.NoError(t, err)
				assert.Contains(t, answer, "no longer stored", "a session of another name")
			}
		}
	}
	assert.Greater(t, marks, 100)
}

// An answer stands whole in the next request, or a note says why it does not; later it is
// the first to go. It has no mark of its own.
func TestAnswersStandWhole(t *testing.T) {
	counter := cupel.HeuristicCounter{}
	noted := 0
	seeds := uint64(12)
	if testing.Short() {
		seeds = 6
	}
	for seed := range seeds {
		rng := rand.New(rand.NewPCG(seed, 30))
		s := storing(t, agent.New(counter), new(cupelsession.MemoryStore), "a")
		budget := budget(t, 900+rng.IntN(2000))
		c := newChat("Fix the orders of u_7.")
		for n := range 20 {
			c.call("read", fmt.Sprintf(`{"path": "f%d"}`, n), someText(rng, n)+strings.Repeat(" x", rng.IntN(3)*400*int(seed%2)))
			asked := rng.IntN(3) == 0
			answer := ""
			if asked {
				var err error
				id := 1 + rng.IntN(n+1)
				answer, err = s.Recall(t.Context(), fmt.Appendf(nil, `{"id": %d}`, id), budget, counter)
				require.NoError(t, err)
				require.True(t, id > n || strings.HasPrefix(answer, c.results[id-1][:4]), "ids count results alone")
				c.call("recall", fmt.Sprintf(`{"id": %d}`, id), answer)
			}
			r, err := cupelsession.Fit(t.Context(), s, c.request(), cupelchat.OpenAI, budget, counter)
			if _, large := errors.AsType[*cupelchat.TooLargeError](err); large {
				break
			}
			require.NoError(t, err)
			if quoted, err := json.Marshal(answer); asked && !strings.Contains(string(r.Body), string(quoted)) {
				require.NoError(t, err)
				noted++
				assert.Contains(t, strings.Join(r.Notes, "\n"), fmt.Sprintf("messages[%d]", len(c.messages)-1), "seed %d, step %d", seed, n)
			}
			commit(t, r.Turn)
		}
	}
	t.Logf("%d answers were shortened, with a note", noted)

	// The oldest is not the first to go, the answer is.
	s := session(t, agent.New(counter), cupelsession.Config{Store: new(cupelsession.MemoryStore), Name: "a", LowWater: 0.95})
	c := newChat("Fix the orders.")
	c.call("read", `{"path": "first.go"}`, "the oldest result\n"+strings.Repeat("func a() {}\n", 20))
	c.call("recall", `{"id": 7}`, strings.Repeat("the answer has words\n", 20))
	for n := range 6 {
		c.call("read", fmt.Sprintf(`{"path": "f%d.go"}`, n), strings.Repeat(fmt.Sprintf("func f%d() {}\n", n), 20))
	}
	r, err := cupelsession.Fit(t.Context(), s, c.request(), cupelchat.OpenAI, budget(t, 700), counter)
	require.NoError(t, err)
	assert.NotContains(t, string(r.Body), "the answer has words")
	assert.Contains(t, string(r.Body), "the oldest result")
	assert.NotContains(t, state(t, s), "the answer")
}

// Answers to wrong arguments.
const (
	unknown = "There is no text with this id. Give that of a mark in this conversation, such as r3 of [r3]."
	ranges  = "The text has 3 lines. Give a range of them, such as 1-3."
)

// Any id, range and words that a model writes get a text.
func TestRecallsOfAnyKind(t *testing.T) {
	counter := cupel.HeuristicCounter{}
	s := storing(t, newest(t), new(cupelsession.MemoryStore), "a")
	text := "alpha 1000000\nBeta two\nbeta alpha three\n"
	_, err := cupelchat.Read([]byte(`{"messages": [{"role": "user", "content": "go"}, {"role": "assistant", "tool_calls": [{"id": "a", "function": {"name": "f", "arguments": "{}"}}]}, {"role": "tool", "tool_call_id": "a", "content": "alpha 1000000\nBeta two\nbeta alpha three\n"}]}`),
		cupelchat.OpenAI, counter, s.Reading()...)
	require.NoError(t, err)
	for _, row := range []struct{ arguments, want, why string }{
		{`{"id": 1}`, text, "the whole"},
		{`{"id": "1"}`, text, "a string"},
		{`{"id": "[r1]"}`, text, "the mark"},
		{`{"id": " #r1 ", "lines": null, "words": []}`, text, "nothing else"},
		{`{"id": 1, "lines": "2-3"}`, "Beta two\nbeta alpha three\n", "a range"},
		{`{"id": 1, "lines": 2}`, "Beta two\n", "one line"},
		{`{"id": 1, "lines": "2 - 3"}`, "Beta two\nbeta alpha three\n", "blanks around the dash"},
		{`{"id": 1, "lines": [2, 3]}`, "Beta two\nbeta alpha three\n", "a list of two lines"},
		{`{"id": 1, "lines": "3-99999999999999999999"}`, "beta alpha three\n", "more than a number"},
		{`{"id": 1, "lines": "3-9"}`, "beta alpha three\n", "more than there are"},
		{`{"id": 1, "words": "BETA alpha"}`, "3: beta alpha three\n", "all words, in any case"},
		{`{"id": 1, "words": ["two", "bet"]}`, "2: Beta two\n", "a list"},
		{`{"id": 1, "words": 1000000}`, "1: alpha 1000000\n", "a number that a float writes with an exponent"},
		{`{"id": 1, "lines": "1-2", "words": "beta"}`, "2: Beta two\n", "in a range"},
		{`{"id": 1, "words": "b.*"}`, "No line has all of these words.", "no pattern"},
		{`{"id": 1, "words": "gamma"}`, "No line has all of these words.", "nothing"},
		{`{"id": 1, "lines": "4-5"}`, ranges, "after the end"},
		{`{"id": 1, "lines": 1000000}`, ranges, "more than there are"},
		{`{"id": 1, "lines": "2-1"}`, ranges, "backwards"},
		{`{"id": 1, "lines": "0-1"}`, ranges, "lines begin with 1"},
		{`{"id": 1, "lines": {"from": 1}}`, ranges, "another shape"},
		{`{"id": 2}`, unknown, "unknown"},
		{`{"id": -1}`, unknown, "negative"},
		{`{}`, unknown, "none"},
		{`[1]`, `The arguments must be an object, such as {"id": "r3"}.`, "no object"},
		{`{"id": 1`, `The arguments must be an object, such as {"id": "r3"}.`, "cut"},
	} {
		got, err := s.Recall(t.Context(), []byte(row.arguments), budget(t, 1000), counter)
		require.NoError(t, err)
		assert.Equal(t, row.want, got, "%s (%s)", row.arguments, row.why)
	}
	for n, row := range [][2]int{{130, 0}, {129, 0}, {1000, 870}, {1000, 871}} { // the text has 13 tokens
		budget, err := cupel.NewContextBudget(1000, row[0], cupel.WithOutputReserve(row[1]))
		require.NoError(t, err)
		got, err := s.Recall(t.Context(), []byte(`{"id": 1}`), budget, nil)
		require.NoError(t, err)
		assert.Equal(t, n%2 == 0, got == text, "a tenth of a target and without a reserve of %v tokens, without a counter", row)
	}
	_, err = session(t, newest(t), cupelsession.Config{}).Recall(t.Context(), nil, budget(t, 1), counter)
	require.ErrorContains(t, err, "Store is required")
}

// A word of a long line is found wherever the line is cut into rows.
func TestWordsAcrossRows(t *testing.T) {
	counter := cupel.HeuristicCounter{}
	for before := 100; before < 180; before++ {
		s := storing(t, newest(t), new(cupelsession.MemoryStore), "a")
		c := newChat("go")
		c.call("f", "{}", strings.Repeat("x", before)+"Order-4711"+strings.Repeat("y", 200)+"\n4711\n")
		body, err := json.Marshal(c.request())
		require.NoError(t, err)
		_, err = cupelchat.Read(body, cupelchat.OpenAI, counter, s.Reading()...)
		require.NoError(t, err)
		answer, err := s.Recall(t.Context(), []byte(`{"id": 1, "words": "order-4711"}`), budget(t, 4000), counter)
		require.NoError(t, err)
		assert.Contains(t, []string{"1", "2"}, answer[:1], "%d bytes before it: %s", before, answer)
		assert.Equal(t, 1, strings.Count(answer, "\n"), "one row: %s", answer)
	}
}

// FuzzRecall asks in any way: there is no panic, no error, and no answer that is too long.
func FuzzRecall(f *testing.F) {
	for _, seed := range []string{`{"id": 1}`, `{"id": 1, "lines": "1-2", "words": "a b"}`, `{"id": [[1]], "lines": {}, "words": 1e9}`, `{"id":1,"lines":"9223372036854775807-"}`} {
		f.Add(seed, "a\nb "+strings.Repeat("語", 300), 500)
	}
	f.Add(`{"id": 1}`, strings.Repeat("a long text\n", 1000), 500)
	counter := cupel.HeuristicCounter{}
	f.Fuzz(func(t *testing.T, arguments, text string, tokens int) {
		b, err := cupel.NewContextBudget(max(400, tokens), max(400, tokens))
		if err != nil {
			t.Skip("no budget has these tokens")
		}
		s := storing(t, newest(t), new(cupelsession.MemoryStore), "a")
		c := newChat("go")
		c.call("f", "{}", text)
		body, err := json.Marshal(c.request())
		require.NoError(t, err)
		if _, err := cupelchat.Read(body, cupelchat.OpenAI, counter, s.Reading()...); err != nil {
			t.Skip("the text makes no conversation")
		}
		most, counted := min(2000, b.TargetTokens()/10), newPasses()
		answer, err := s.Recall(t.Context(), []byte(arguments), b, counted)
		require.NoError(t, err)
		n, err := counter.CountTokens(answer)
		require.NoError(t, err)
		assert.LessOrEqual(t, n, max(40, most), answer)
		assert.True(t, utf8.ValidString(answer), "no character is cut")
		for text := range counted.counted {
			assert.LessOrEqual(t, len(text), 64*most, "what is too long by far is not counted")
		}
	})
}

// The definition of the tool is one that the format takes.
func TestRecallTool(t *testing.T) {
	const said = `"messages": [{"role": "user", "content": "go"}]`
	for f, body := range map[cupelchat.Format]string{
		cupelchat.OpenAI:    `{"model": "m", ` + said + `, "tools": [%s]}`,
		cupelchat.Ollama:    `{"model": "m", ` + said + `, "tools": [%s]}`,
		cupelchat.Anthropic: `{"model": "m", "max_tokens": 9, ` + said + `, "tools": [%s]}`,
		cupelchat.Responses: `{"model": "m", "input": "go", "tools": [%s]}`,
		cupelchat.Gemini:    `{"contents": [{"role": "user", "parts": [{"text": "go"}]}], "tools": [%s]}`,
		cupelchat.Bedrock:   `{"messages": [{"role": "user", "content": [{"text": "go"}]}], "toolConfig": {"tools": [%s]}}`,
	} {
		tool, err := cupelsession.RecallTool(f)
		require.NoError(t, err)
		body := fmt.Appendf(nil, body, tool)
		assert.Empty(t, cupelchat.Check(body, f), "%s: %s", f, body)
		c, err := cupelchat.Read(body, f, cupel.HeuristicCounter{})
		require.NoError(t, err)
		named, _ := c.Items()[0].MetadataValue("tools")
		assert.Contains(t, named, "recall", f)
	}
	_, err := cupelsession.RecallTool(cupelchat.Codex)
	require.ErrorContains(t, err, "has no tools")
}

// fullStore is a store whose disk is full.
type fullStore struct{ cupelsession.MemoryStore }

var errFull = errors.New("no space left on device")

func (*fullStore) Put(context.Context, string, string, string) error   { return errFull }
func (*fullStore) Get(context.Context, string, string) (string, error) { return "", errFull }

// callingStore is a store that calls the session, as one that saves it with its texts.
type callingStore struct {
	cupelsession.MemoryStore
	call func()
}

func (c *callingStore) Put(ctx context.Context, session, key, text string) error {
	c.call()
	return c.MemoryStore.Put(ctx, session, key, text)
}

func (c *callingStore) Get(ctx context.Context, session, key string) (string, error) {
	c.call()
	return c.MemoryStore.Get(ctx, session, key)
}

// No lock is held while a store works.
func TestStoresThatCallTheSession(t *testing.T) {
	counter := cupel.HeuristicCounter{}
	calls := 0
	store := &callingStore{}
	s := storing(t, agent.New(nil), store, "a")
	store.call = func() {
		calls++
		state(t, s)
		answer, err := s.Recall(t.Context(), []byte(`{"id": 20, "words": "func"}`), budget(t, 600), counter)
		require.NoError(t, err)
		assert.Contains(t, answer, "func f19()", "the newest result is whole, and not stored")
	}
	r, err := cupelsession.Fit(t.Context(), s, twenty().request(), cupelchat.OpenAI, budget(t, 600), counter)
	require.NoError(t, err)
	put := calls
	require.Positive(t, put)
	mark := anyMark.FindStringSubmatch(string(r.Body))
	require.NotNil(t, mark)
	_, err = s.Recall(t.Context(), []byte(`{"id": `+mark[1]+`}`), budget(t, 600), counter)
	require.NoError(t, err)
	assert.Equal(t, put+1, calls)
	for _, text := range twenty().results {
		require.NoError(t, store.MemoryStore.Put(t.Context(), "a", fmt.Sprintf("%x", sha256.Sum256([]byte(text))), text[1:]))
	}
	answer, err := s.Recall(t.Context(), []byte(`{"id": `+mark[1]+`}`), budget(t, 600), counter)
	require.NoError(t, err)
	assert.Contains(t, answer, "no longer stored", "it was cut")
}

// A request whose marks could not be answered is not made.
func TestStoresThatFail(t *testing.T) {
	s := storing(t, agent.New(nil), &fullStore{}, "a")
	_, err := cupelsession.Fit(t.Context(), s, twenty().request(), cupelchat.OpenAI, budget(t, 600), cupel.HeuristicCounter{})
	require.ErrorIs(t, err, errFull)
	data := strings.Replace(state(t, s), `"recalls":[`, `"recalls":["00",`, 1)
	require.NoError(t, s.UnmarshalJSON([]byte(data)))
	_, err = s.Recall(t.Context(), []byte(`{"id": 1}`), budget(t, 600), cupel.HeuristicCounter{})
	require.ErrorIs(t, err, errFull)
	s = storing(t, newest(t), new(cupelsession.MemoryStore), "a")
	_, err = cupelsession.Fit(t.Context(), s, twenty().request(), cupelchat.OpenAI, budget(t, 6000), cupel.HeuristicCounter{})
	require.NoError(t, err)
	_, err = s.Recall(t.Context(), []byte(`{"id": 1}`), budget(t, 6000), &failsAt{at: 1})
	require.ErrorIs(t, err, errOnce)
	_, err = cupelsession.NewTransport(cupelsession.TransportConfig{Budget: budget(t, 600), Session: cupelsession.Config{Store: &fullStore{}, Name: "a"}})
	require.ErrorContains(t, err, "Session.Store cannot be used")
}

// Calls of a model come at once, and while the next request is made.
func TestRecallsAtOnce(t *testing.T) {
	counter := cupel.HeuristicCounter{}
	folder, err := cupelsession.NewFolderStore(t.TempDir(), 1<<20, time.Hour)
	require.NoError(t, err)
	s := storing(t, agent.New(nil), folder, "a")
	c := newChat("go")
	stop := make(chan bool)
	var callers sync.WaitGroup
	for id := range 4 {
		callers.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				_, err := s.Recall(context.WithoutCancel(t.Context()), fmt.Appendf(nil, `{"id": %d, "words": "func"}`, id), budget(t, 1000), counter)
				if !assert.NoError(t, err) {
					return
				}
				_, err = s.Fork().MarshalJSON()
				assert.NoError(t, err)
			}
		})
	}
	for n := range 8 {
		c.call("read", fmt.Sprintf(`{"path": "f%d"}`, n), strings.Repeat(fmt.Sprintf("func f%d() {}\n", n), 40))
		r, err := cupelsession.Fit(t.Context(), s, c.request(), cupelchat.OpenAI, budget(t, 800), counter)
		require.NoError(t, err)
		commit(t, r.Turn)
	}
	close(stop)
	callers.Wait()
}
