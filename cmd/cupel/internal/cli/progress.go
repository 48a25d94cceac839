package cli

import (
	"fmt"
	"io"
	"sync"
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

// update reports how much is done, if enough time has passed. A total of 0 is unknown.
func (p *progress) update(done, total int) {
	now := p.clock()
	if now.Sub(p.last) < p.every {
		return
	}
	p.last, p.shown = now, true
	text := fmt.Sprintf("%d of %d %s", done, total, p.what)
	if total == 0 {
		text = fmt.Sprintf("%d %s", done, p.what)
	}
	if p.place {
		fmt.Fprint(p.w, "\r"+text)
		return
	}
	fmt.Fprintln(p.w, text)
}

// end clears the progress from a terminal.
func (p *progress) end() {
	if p.place && p.shown {
		fmt.Fprint(p.w, "\r\x1b[K")
	}
}

// busy shows on a terminal for how long something has been going on, from the first
// second on, until the function that it returns is called.
func (env *Environment) busy(what string) (done func()) {
	if !terminal.Detect(env.Stderr, env.Getenv).Terminal {
		return func() {}
	}
	stop := make(chan struct{})
	var ended sync.WaitGroup
	ended.Go(func() {
		ticker := time.NewTicker(time.Second)
		defer ticker.Stop()
		for seconds := 1; ; seconds++ {
			select {
			case <-stop:
				if seconds > 1 {
					fmt.Fprint(env.Stderr, "\r\x1b[K")
				}
				return
			case <-ticker.C:
				fmt.Fprintf(env.Stderr, "\r%s: %d s", terminal.Safe(what), seconds)
			}
		}
	})
	return func() {
		close(stop)
		ended.Wait()
	}
}
