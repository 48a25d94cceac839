package main

import (
	"crypto/sha256"
	"fmt"
	"hash"
	"time"

	"github.com/wollax/cupel-go/cupelsession"
)

// model stands in for the API of a provider, so that the example needs no key. It
// answers nothing, but it counts tokens and keeps a cache as Anthropic's does, and
// knows nothing of what the session expects: it finds a prefix by what it says.
type model struct {
	cached map[[sha256.Size]byte]time.Time // prefixes that end at a breakpoint
}

const (
	cacheLasts    = 5 * time.Minute
	cachedAtLeast = 1024 // tokens
)

// answer returns the JSON of a response to a window.
func (m *model) answer(turn *cupelsession.Turn, now time.Time) []byte {
	if m.cached == nil {
		m.cached = make(map[[sha256.Size]byte]time.Time)
	}
	var prefixes []prefix
	h := sha256.New()
	total := 0
	for _, it := range turn.Window {
		total += tokens(it.Content())
		prefixes = append(prefixes, newPrefix(h, it.Content(), total))
	}
	read, written := 0, 0
	for _, end := range turn.Cache.Breakpoints {
		p := prefixes[end-1]
		if p.tokens < cachedAtLeast {
			continue
		}
		written = p.tokens
		for _, sent := range prefixes[:end] {
			if at, ok := m.cached[sent.sum]; ok && now.Sub(at) <= cacheLasts {
				read = max(read, sent.tokens)
				m.cached[sent.sum] = now
			}
		}
	}
	for _, end := range turn.Cache.Breakpoints {
		if p := prefixes[end-1]; p.tokens >= cachedAtLeast {
			m.cached[p.sum] = now
		}
	}
	written = max(written, read)
	return fmt.Appendf(nil, `{"type": "message", "usage": {"input_tokens": %d, "cache_read_input_tokens": %d, "cache_creation_input_tokens": %d, "output_tokens": 12}}`,
		total-written, read, written-read)
}

// prefix is the beginning of a request.
type prefix struct {
	sum    [sha256.Size]byte
	tokens int
}

func newPrefix(h hash.Hash, content string, tokens int) prefix {
	fmt.Fprintf(h, "%d %s", len(content), content)
	return prefix{[sha256.Size]byte(h.Sum(nil)), tokens}
}

// tokens is how many the model counts, a few more than are estimated.
func tokens(content string) int { return len(content)*10/37 + 4 }
