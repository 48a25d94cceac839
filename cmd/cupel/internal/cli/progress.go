package cli

import (
	"fmt"
	"io"
	"time"

	"github.com/wollax/cupel-go/cmd/cupel/internal/terminal"
)

// progress reports progress on standard error: in place on a terminal, and in
// occasional lines elsewhere. Short work reports nothing. It is not safe for
// concurrent use.
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

// update reports how much is done, if enough time has passed.
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

// end clears the progress from a terminal.
func (p *progress) end() {
	if p.place && p.shown {
		fmt.Fprint(p.w, "\r\x1b[K")
	}
}
