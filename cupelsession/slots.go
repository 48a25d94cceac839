package cupelsession

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupelchat"
)

// slot is a session of a transport.
type slot struct {
	name    string
	caller  [sha256.Size]byte    // hash of the credentials
	owner   [sha256.Size]byte    // hash of the caller, API, model and beginning of the conversation
	items   []*cupel.ContextItem // of the last conversation
	keys    []string             // of the items
	session *Session
	bytes   []byte               // of the last conversation
	budget  *cupel.ContextBudget // in place of the transport's, or nil

	busy bool
	used int // when it was used last
}

// sessions holds the sessions of a transport.
type sessions struct {
	mu    sync.Mutex
	most  int
	slots []*slot
	uses  int

	evicted atomic.Int64
}

// mayDiffer is how many items at the end of a conversation may be gone or changed
// when it continues: clients add reminders to the newest message, and remove them
// again.
const mayDiffer = 1

// find returns the session that a request's conversation continues, or a new one. It
// forks a session that another request is using.
func (f *fitting) find() (*slot, error) {
	items, keys, owner, err := f.identity()
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
		session, _ := New(f.config.Chooser, f.sessionConfig()) // it is valid for a transport
		best = &slot{caller: f.caller, owner: owner, session: session}
		s.add(best)
	case best.busy:
		best = &slot{caller: f.caller, owner: owner, session: best.session.Fork(), budget: best.budget}
		s.add(best)
	}
	s.uses++
	best.items, best.keys, best.busy, best.used = items, keys, true, s.uses
	best.bytes = f.given
	s.evict()
	return best, nil
}

// earlier returns the conversation of the same caller that a request seems to continue,
// so that it need not be read again. It is the one that shares the longest beginning.
func (s *sessions) earlier(f *fitting) (c *cupelchat.Conversation, items []*cupel.ContextItem, keys []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	longest := 0
	for _, at := range s.slots {
		known := at.session.conversation.Load()
		if at.caller != f.caller || known.Format() != f.format {
			continue // not even how long a request takes says what other callers ask
		}
		if n := sharedPrefix(at.bytes, f.given); n > longest {
			c, items, keys, longest = known, at.items, at.keys, n
		}
	}
	return c, items, keys
}

// sharedPrefix returns how many blocks of bytes at the beginnings of two texts
// are equal.
func sharedPrefix(a, b []byte) (blocks int) {
	const size = 1 << 10
	for len(a) >= size && len(b) >= size && bytes.Equal(a[:size], b[:size]) {
		a, b, blocks = a[size:], b[size:], blocks+1
	}
	return blocks
}

// mostBytes is how many bytes of conversations are kept, not counting requests that
// were not answered yet.
var mostBytes = 256 << 20

// add keeps a slot.
func (s *sessions) add(to *slot) {
	to.name = fmt.Sprintf("%x-%d", to.owner[:4], s.uses)
	s.slots = append(s.slots, to)
}

// evict drops the least recently used slots until the others are few and small enough.
// It keeps slots in use.
func (s *sessions) evict() {
	for {
		oldest, total := -1, 0
		for i, at := range s.slots {
			total += len(at.bytes)
			if !at.busy && (oldest < 0 || at.used < s.slots[oldest].used) {
				oldest = i
			}
		}
		if len(s.slots) <= s.most && total <= mostBytes || oldest < 0 {
			return
		}
		s.slots[oldest].session.Close()
		s.slots = slices.Delete(s.slots, oldest, oldest+1)
		s.evicted.Add(1)
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

// credentials are the headers, and the parameter, that identify the caller.
var credentials = []string{"Authorization", "X-Api-Key", "Api-Key", "X-Goog-Api-Key", "Openai-Organization", "Openai-Project", "Anthropic-Workspace"}

// hashOfCaller returns a hash of who sends the request.
func (f *fitting) hashOfCaller() [sha256.Size]byte {
	h := sha256.New()
	h.Write(f.salt[:])
	for _, name := range credentials {
		h.Write(fmt.Appendf(nil, "%q", f.request.Header.Values(name)))
	}
	h.Write(fmt.Appendf(nil, "%q", f.request.URL.Query()["key"]))
	return [sha256.Size]byte(h.Sum(nil))
}

// identity returns the items with their keys, and a hash of the caller and of everything
// before the model's first message.
func (f *fitting) identity() (items []*cupel.ContextItem, keys []string, owner [sha256.Size]byte, err error) {
	unlimited, _ := cupel.NewContextBudget(math.MaxInt/4, math.MaxInt/4)
	if items, _, err = f.conversation.ItemsFor(f.config.Chooser, unlimited); err != nil {
		return nil, nil, owner, err
	}
	h := sha256.New()
	h.Write(f.caller[:])
	path, _, _ := strings.Cut(f.request.URL.Path, ":") // Gemini's path has the model, and ends with the verb
	h.Write(fmt.Appendf(nil, "%q%q%q", f.request.URL.Host, path, f.conversation.Model()))
	begins := true
	for i, item := range items {
		var key string
		if i < len(f.known) && f.known[i] == item {
			key = f.keys[i]
		} else {
			key = baseKey(item)
		}
		keys = append(keys, key)
		role, _ := item.MetadataText("role")
		if begins = begins && role != "assistant" && role != "model"; begins {
			h.Write(fmt.Appendf(nil, "%q", key))
		}
	}
	return items, keys, [sha256.Size]byte(h.Sum(nil)), nil
}

// sessionConfig returns the configuration of a session for the request's provider.
func (f *fitting) sessionConfig() Config {
	config := f.config.Session
	if config.Cache.Name == "" && config.Cache.Likely == 0 {
		config.Cache = CacheFor(f.format)
	}
	return config
}
