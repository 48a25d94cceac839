package cupelsession_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupelchat"
	"github.com/wollax/cupel-go/cupelchat/agent"
	"github.com/wollax/cupel-go/cupelsession"
)

// passes counts how often each text is encoded, decoded and counted.
type passes struct{ encoded, decoded, counted map[string]int }

func newPasses() *passes { return &passes{map[string]int{}, map[string]int{}, map[string]int{}} }

func (p *passes) CountTokens(text string) (int, error) {
	p.counted[text]++
	return cupel.HeuristicCounter{}.CountTokens(text)
}

// seen is where the messages of the test count.
var seen *passes

type seenMessage struct{ Role, Content string }

func (m seenMessage) MarshalJSON() ([]byte, error) {
	seen.encoded[m.Content]++
	return json.Marshal(map[string]string{"role": m.Role, "content": m.Content})
}

func (m *seenMessage) UnmarshalJSON(data []byte) error {
	var said struct{ Role, Content string }
	err := json.Unmarshal(data, &said)
	*m = said
	seen.decoded[m.Content]++
	return err
}

// A message is read in the turn in which it comes, and in later ones no more; and of a
// value it is encoded once, and once again if it changed.
func TestPassesOverMessages(t *testing.T) {
	type params struct {
		Messages []seenMessage `json:"messages"`
	}
	var p params
	say := func(n int) {
		for range n {
			i := len(p.Messages)
			p.Messages = append(p.Messages, seenMessage{"user", fmt.Sprintf("What of %d?", i)}, seenMessage{"assistant", strings.Repeat(fmt.Sprintf("This is said of %d. ", i), 20)})
		}
	}
	say(100)
	counter := newPasses()
	s := session(t, agent.New(nil), cupelsession.Config{})
	for turn := range 6 {
		seen, counter.counted = newPasses(), map[string]int{}
		proposed, err := cupelsession.Fit(t.Context(), s, p, cupelchat.OpenAI, budget(t, 4000), counter)
		require.NoError(t, err)
		require.NoError(t, proposed.Commit(cupelsession.Usage{}))
		require.Less(t, len(proposed.Params.Messages), len(p.Messages))
		for i, m := range p.Messages {
			assert.Equal(t, 1, seen.encoded[m.Content], "turn %d, message %d", turn, i)
			assert.Zero(t, seen.decoded[m.Content], "turn %d, message %d", turn, i)
			if turn > 0 && proposed.Break == nil && i < len(p.Messages)-5 {
				assert.Zero(t, counter.counted[m.Content], "turn %d, message %d", turn, i)
			}
		}
		for text, n := range seen.decoded {
			assert.Equal(t, 1, n, text)
			assert.Equal(t, 1, seen.encoded[text], text)
		}
		say(1)
	}
}

// A transport counts a message of a caller once, and the same message of another again.
// A session has the cache of its configuration.
func TestTransportPasses(t *testing.T) {
	counter := newPasses()
	for f, row := range map[cupelchat.Format]struct {
		cache  cupelsession.CacheModel
		writes bool
		why    string
	}{
		cupelchat.OpenAI: {cupelsession.CacheModel{Name: "none"}, false, "none is one"},
		cupelchat.Gemini: {cupelsession.CacheModel{Likely: time.Hour}, true, "it needs no name"},
	} {
		_, client, url := transport(t, &provider{}, func(c *cupelsession.TransportConfig) {
			c.Budget, c.Counter, c.Session.Cache = budget(t, 100_000), counter, row.cache
			c.Exchanged = func(e cupelsession.Exchange) { require.Equal(t, row.writes, e.Turn.Cache.Written > 0, row.why) }
		})
		for n, step := range []struct {
			task, key string
			counted   bool
		}{{"a", "other", true}, {"a", "k", true}, {"b", "k", true}, {"a", "k", false}, {"b", "k", false}} {
			clear(counter.counted)
			post(t, client, url+paths[f], requestOf(f, step.task, 3+n), step.key)
			counted := false
			for text := range counter.counted {
				counted = counted || strings.HasPrefix(text, "finding 1 of ")
			}
			require.Equal(t, step.counted, counted, "%s: step %d", f, n)
		}
	}
}
