package cli

import (
	"fmt"
	"io"
	"time"

	"github.com/wollax/cupel-go/cmd/cupel/internal/terminal"
)

// progress tells on standard error how far long work is: in place on a
// terminal, and in a line now and then elsewhere. Work that is done soon is not
// mentioned. It is for one goroutine at a time.
type progress struct {
	w     io.Writer
	clock func() time.Time
	what  string // "questions"
	every time.Duration
	place bool // on a terminal
	shown bool
	last  time.Time
}

// How often progress is shown.
const (
	progressInPlace = 100 * time.Millisecond
	progressInLines = 5 * time.Second
)

func newProgress(env *Environment, what string) *progress {
	p := &progress{w: env.Stderr, clock: env.Clock, what: what, every: progressInLines, last: env.Clock()}
	if terminal.Detect(env.Stderr, env.Getenv).Terminal {
		p.place, p.every = true, progressInPlace
	}
	return p
}

// update says how much is done, if it is time to.
func (p *progress) update(done, total int) {
	now := p.clock()
	if now.Sub(p.last) < p.every {
		return
	}
	p.last, p.shown = now, true
	if p.place {
		fmt.Fprintf(p.w, "\r%d of %d %s", done, total, p.what)
		return
	}
	fmt.Fprintf(p.w, "%d of %d %s\n", done, total, p.what)
}

// end leaves nothing of it on a terminal.
func (p *progress) end() {
	if p.place && p.shown {
		fmt.Fprint(p.w, "\r\x1b[K")
	}
}
