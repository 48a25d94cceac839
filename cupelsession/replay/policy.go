package replay

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/cupelchat"
	"github.com/wollax/cupel-go/cupelsession"
)

// Policy is a way of choosing windows, to be measured: one of [Baselines] or of
// [Choosing].
type Policy struct {
	Name  string // in results, unique in a run
	Title string // in tables; the name if it is empty
	Mode  Mode

	units   baseline           // of the reference's strategies
	over    bool               // the policy ignores the budget
	chooses cupelchat.Chooser  // of [Choosing]
	err     error              // of the chooser
	low     float64            // the low-water mark of a session
	options []cupelchat.Option // of reading
}

// Mode tells whether a policy remembers what it sent before.
type Mode string

// The modes.
const (
	Stateless Mode = "stateless" // chooses each window by itself
	Session   Mode = "session"   // keeps what it sent before, as long as it fits
)

// Choosing returns a policy that chooses windows with a chooser, such as a
// pipeline or a preset of package cupelchat: each request is read, selected from
// and written. Messages and their smaller forms have their tokens by the
// measure. If a window exceeds the budget, because something was restored or
// joined, it is chosen again for less.
//
// A pipeline does not leave out equal messages. The chooser is used from several
// goroutines. If it is nil, [NewMeasure] fails. The options are used to read requests;
// they may contain rules, for example.
func Choosing(name string, chooser cupelchat.Chooser, opts ...cupelchat.Option) Policy {
	chooser, err := keepingDuplicates(chooser)
	return Policy{Name: name, Mode: Stateless, chooses: chooser, err: err, options: opts}
}

// keepingDuplicates makes a pipeline keep equal messages, as package cupelchat
// does, which does not see the pipeline here.
func keepingDuplicates(chooser cupelchat.Chooser) (cupelchat.Chooser, error) {
	p, ok := chooser.(*pipeline.Pipeline)
	if !ok || p.Config().KeepDuplicates {
		return chooser, nil
	}
	config := p.Config()
	config.KeepDuplicates = true
	return pipeline.New(config)
}

// Baselines returns the strategies of the reference implementation: everything,
// the newest units that fit, old results of calls cleared, and the last two in
// a session with a low-water mark of 0.6.
func Baselines() []Policy {
	fitting := Policy{Name: "newest", Title: "newest that fits", Mode: Stateless, units: newest}
	clearing := Policy{Name: "clear", Title: "clear old results", Mode: Stateless, units: clearOld}
	return []Policy{
		{Name: "everything", Title: "everything", Mode: Stateless, units: everything, over: true},
		fitting, clearing,
		fitting.inBlocks("newest-blocks", "newest, in blocks to 0.6"),
		clearing.inBlocks("clear-blocks", "clear, in blocks to 0.6"),
	}
}

// LowWater is the low-water mark of the sessions of [Baselines].
const LowWater = 0.6

func (p Policy) inBlocks(name, title string) Policy {
	p = p.InSession(LowWater)
	p.Name, p.Title = name, title
	return p
}

// InSession returns the policy in a session. For a policy of [Choosing], it is a
// session of package cupelsession with the low-water mark low, in (0,1], or 0 for a
// session without one. Any other policy appends messages to its last window while that fits. Then
// it chooses a window for the share low, or [LowWater] if low is 0, of the room that
// system prompts and the newest unit leave. A policy whose mode is Session already is
// not changed.
func (p Policy) InSession(low float64) Policy {
	if p.Mode == Session {
		return p
	}
	if low == 0 && p.chooses == nil {
		low = LowWater
	}
	p.Mode, p.low = Session, low
	return p
}

// Named returns the policy with a name: one of [Baselines], or else the policy that
// find returns. NAME@0.5 is the policy NAME in a session with this low-water mark.
func Named(name string, find func(base string) (Policy, error)) (Policy, error) {
	base, low, err := Marked(name)
	if err != nil {
		return Policy{}, err
	}
	var p Policy
	known := Baselines()
	if i := slices.IndexFunc(known, func(b Policy) bool { return b.Name == base }); i >= 0 {
		p = known[i]
	} else if p, err = find(base); err != nil {
		return Policy{}, err
	}
	if low > 0 {
		p = p.InSession(low)
		p.Name, p.Title = name, fmt.Sprintf("%s, to %g", base, low)
	}
	return p, nil
}

// Marked splits the name of a policy, such as NAME@0.5, into the name and the
// low-water mark of a session. Without a mark, it returns 0.
func Marked(name string) (base string, low float64, err error) {
	at := strings.LastIndexByte(name, '@')
	if at < 0 {
		return name, 0, nil
	}
	if low, err = strconv.ParseFloat(name[at+1:], 64); err != nil {
		return name, 0, nil //nolint:nilerr // a file with this name
	}
	if !(low > 0 && low <= 1) {
		return name, 0, fmt.Errorf("cupel: policy %q: the low-water mark must be above 0 and at most 1, got %g", name, low)
	}
	return name[:at], low, nil
}

// chooser returns the chooser of the windows of one conversation. messages are the
// messages read so far, by their JSON.
func (p *Policy) chooser(messages map[string]*chatMessage, caches []cupelsession.CacheModel) chooser {
	switch {
	case p.chooses != nil && p.Mode == Session:
		return newInSession(requests{p.chooses, messages, p.options}, p.low, caches)
	case p.chooses != nil:
		return &requests{p.chooses, messages, p.options}
	case p.Mode == Session:
		return &blocks{baseline: p.units, low: p.low}
	}
	return p.units
}
