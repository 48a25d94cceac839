package cli

import (
	"fmt"
	"time"

	"github.com/wollax/cupel-go/cmd/cupel/internal/terminal"
)

// progress shows on a terminal how much of some work is done. It is not safe for
// concurrent use.
type progress struct {
	env  *Environment
	what string // "questions"
	last time.Time
}

func newProgress(env *Environment, what string) *progress {
	return &progress{env: env, what: what, last: env.Clock()}
}

// update shows how much is done, ten times a second.
func (p *progress) update(done int) {
	now := p.env.Clock()
	if now.Sub(p.last) < 100*time.Millisecond || !terminal.Detect(p.env.Stderr, p.env.Getenv).Terminal {
		return
	}
	p.last = now
	fmt.Fprintf(p.env.Stderr, "\r%d %s\x1b[K\r", done, p.what)
}
