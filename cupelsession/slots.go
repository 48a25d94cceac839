package cupelsession

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupelchat"
)

// slot is a session of a transport.
type slot struct {
	name    string
	owner   [sha256.Size]byte // credentials, API, model, and what the conversation begins with
	keys    []string          // of the messages that the session has seen
	session *Session
	bytes   []byte               // of the last conversation
	budget  *cupel.ContextBudget // in place of the transport's, or nil

	busy bool
	used int // when it was used last
}

// sessions finds the sessions of a transport.
type sessions struct {
	mu    sync.Mutex
	most  int
	slots []*slot
	uses  int
}

// mayDiffer is how many items at the end of a conversation may be gone or changed
// when it goes on: clients add reminders to the newest message and take them away.
const mayDiffer = 1

// find returns the session that the conversation of a request goes on in, or a new one.
// A session that another request uses is forked.
func (f *fitting) find() (*slot, error) {
	keys, owner, err := f.identity()
	if err != nil {
		return nil, err
	}
	s := &f.sessions
	s.mu.Lock()
	defer s.mu.Unlock()
	var best *slot
	longest := -1
	for _, at := range s.slots {
		same := 0
		for same < min(len(at.keys), len(keys)) && at.keys[same] == keys[same] {
			same++
		}
		if at.owner == owner && same >= len(at.keys)-mayDiffer && (same > longest || same == longest && best.busy) {
			best, longest = at, same
		}
	}
	switch {
	case best == nil:
		session, err := New(f.config.Chooser, f.sessionConfig())
		if err != nil {
			return nil, err
		}
		best = &slot{owner: owner, session: session}
		s.add(best)
	case best.busy:
		best = &slot{owner: owner, session: best.session.Fork(), budget: best.budget}
		s.add(best)
	}
	s.uses++
	best.keys, best.busy, best.used = keys, true, s.uses
	best.bytes = f.given
	s.evict(best)
	return best, nil
}

// earlier returns the conversation that a body seems to go on, so that it need not be
// read again: the one with which it shares the most bytes.
func (s *sessions) earlier(body []byte) (c *cupelchat.Conversation) {
	s.mu.Lock()
	defer s.mu.Unlock()
	longest := 0
	for _, at := range s.slots {
		if n := sharedPrefix(at.bytes, body); n > longest {
			c, longest = at.session.conversation.Load(), n
		}
	}
	return c
}

// sharedPrefix returns how many blocks of bytes two texts begin with alike.
func sharedPrefix(a, b []byte) (blocks int) {
	const size = 1 << 10
	for len(a) >= size && len(b) >= size && bytes.Equal(a[:size], b[:size]) {
		a, b, blocks = a[size:], b[size:], blocks+1
	}
	return blocks
}

// mostBytes is how many bytes of conversations are kept, beside those of requests that
// were not answered.
const mostBytes = 256 << 20

// add keeps a slot.
func (s *sessions) add(to *slot) {
	to.name = fmt.Sprintf("%x-%d", to.owner[:4], s.uses)
	s.slots = append(s.slots, to)
}

// evict lets slots go that were used least recently until the others are few and small
// enough. Those that are in use stay.
func (s *sessions) evict(but *slot) {
	for {
		oldest, total := -1, 0
		for i, at := range s.slots {
			total += len(at.bytes)
			if at != but && !at.busy && (oldest < 0 || at.used < s.slots[oldest].used) {
				oldest = i
			}
		}
		if len(s.slots) <= s.most && total <= mostBytes || oldest < 0 {
			return
		}
		s.slots[oldest].session.Close()
		s.slots = slices.Delete(s.slots, oldest, oldest+1)
	}
}

// narrow gives a session a smaller budget from now on.
func (s *sessions) narrow(at *slot, budget cupel.ContextBudget) {
	s.mu.Lock()
	defer s.mu.Unlock()
	at.budget = &budget
}

func (s *sessions) leave(at *slot) {
	s.mu.Lock()
	defer s.mu.Unlock()
	at.busy = false
}

// credentials are the headers, and the parameter, that say who asks.
var credentials = []string{"Authorization", "X-Api-Key", "Api-Key", "X-Goog-Api-Key", "Openai-Organization", "Openai-Project", "Anthropic-Workspace"}

// identity returns the keys of the messages, and a hash of whose conversation it is and
// of what it begins with: everything before the model first speaks.
func (f *fitting) identity() (keys []string, owner [sha256.Size]byte, err error) {
	unlimited, err := cupel.NewContextBudget(math.MaxInt/4, math.MaxInt/4)
	if err != nil {
		return nil, owner, err
	}
	items, _, err := f.conversation.ItemsFor(f.config.Chooser, unlimited)
	if err != nil {
		return nil, owner, err
	}
	h := sha256.New()
	h.Write(f.salt[:])
	add := func(text string) {
		sum := sha256.Sum256([]byte(text))
		h.Write(sum[:])
	}
	for _, name := range credentials {
		add(f.request.Header.Get(name))
	}
	add(f.request.URL.Query().Get("key"))
	path, _, _ := strings.Cut(f.request.URL.Path, ":") // Gemini's has the model, and the verb at its end
	add(f.request.URL.Host + path)
	add(f.conversation.Model())
	begins := true
	for _, item := range items {
		key := baseKey(item)
		keys = append(keys, key)
		role, _ := item.MetadataText("role")
		if begins = begins && role != "assistant" && role != "model"; begins {
			add(key)
		}
	}
	return keys, [sha256.Size]byte(h.Sum(nil)), nil
}

// sessionConfig returns the configuration of a session for the request's provider.
func (f *fitting) sessionConfig() Config {
	config := f.config.Session
	if config.Cache.Name == "" && config.Cache.Likely == 0 {
		config.Cache = CacheFor(f.format)
	}
	return config
}
