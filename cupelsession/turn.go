package cupelsession

import (
	"context"
	"errors"
	"slices"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/cupel/turn"
)

// Turn is a window that a session proposes.
type Turn struct {
	// Window is what to send: the stable part in the order of the conversation,
	// then the tail.
	Window []*cupel.ContextItem
	// Stable is how many items of Window belong to the stable part.
	Stable int
	// Entries say, for each item of Window, which items it stands for.
	Entries []Entry
	// Break says where and why the window differs from what was sent before. It is
	// nil if all of that is sent again, and at the first turn.
	Break *Break
	// KeptTokens are those at the beginning of Window that are sent as they were
	// sent before, whether the cache has them or not.
	KeptTokens int
	// Cache says what the turn costs.
	Cache CacheUse
	// Estimate is how many tokens the provider will count for Window, by what it
	// reported before: those of the items, until there are three reports.
	Estimate int
	// Notes are remarks: a summary that failed, a cache that was lost.
	Notes []string

	options turnOptions
	limit   int // tokens that the provider should not count more of
	session *Session
	before  *state
	after   *state
	report  *cupel.SelectionReport
	chosen  *cupel.SelectionReport // by a break; nil between breaks
	reason  BreakReason            // of choosing
	tail    choice
	items   []*cupel.ContextItem
	dropped []*cupel.ContextItem // for the first time

	committed func(turn.Commit) // tells the collector; nil if that does not follow the turn
}

// Entry says where an item of the window comes from.
type Entry struct {
	// Candidates are the positions of the items that it stands for: one, all members
	// of a group that a note replaces, or the items that a summary replaces.
	Candidates []int
	// Whole reports whether it is the item as it was given.
	Whole bool
}

// BreakReason is why a window differs from what was sent before.
type BreakReason uint8

// The reasons.
const (
	// BreakChanged is a conversation in which something that was sent is gone, was
	// edited, or has another place.
	BreakChanged BreakReason = iota + 1
	// BreakForced is a window that no longer fits, or that lacks something that
	// must be in it.
	BreakForced
	// BreakFree is a new choice while nothing of the conversation was in the cache.
	BreakFree
	// BreakWorth is a new choice that saves more than it costs.
	BreakWorth
)

// String returns the reason in words.
func (r BreakReason) String() string {
	switch r {
	case BreakChanged:
		return "changed"
	case BreakForced:
		return "forced"
	case BreakFree:
		return "free"
	case BreakWorth:
		return "worth it"
	default:
		return "none"
	}
}

// MarshalText returns the reason in words.
func (r BreakReason) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// Break says where a window begins to differ from what was sent before.
type Break struct {
	Reason BreakReason
	// At is the position in the stable part of what differs first.
	At int
	// Chosen reports whether the chooser chose again.
	Chosen bool
}

type turnOptions struct {
	chooser Chooser
	model   string
	named   bool
	blocks  []int // content blocks of each item, nil for one
}

// TurnOption is a setting of one turn.
type TurnOption func(*turnOptions)

// WithChooser chooses with another chooser in this turn, such as a pipeline that
// scores by the question. nil keeps the session's.
func WithChooser(chooser Chooser) TurnOption {
	return func(o *turnOptions) {
		if chooser != nil {
			o.chooser = chooser
		}
	}
}

// WithModel names the model that the turn is for. Another model than in the turn
// before has nothing in its cache.
func WithModel(name string) TurnOption {
	return func(o *turnOptions) { o.model, o.named = name, true }
}

// limits are how many tokens the stable part may have.
type limits struct {
	raw    int // in all, by the budget
	most   int // in all, by what providers have reported
	pinned int // of them for pinned items
	low    int // after a break
}

func (p *proposal) limits() limits {
	fixed := p.sum.pinned + p.sum.tailPinned
	raw := fixed + p.budget.Effective(fixed).TargetTokens
	if over := min(p.budget.TargetTokens(), p.budget.MaxTokens()-p.budget.OutputReserve()); fixed > over {
		raw = over // the chooser says what does not fit
	}
	most := p.before.fit.most(raw, p.tokens+p.sum.tailPinned)
	l := limits{raw: raw - p.sum.tailPinned, most: most - p.sum.tailPinned}
	l.pin(p.sum.pinned, p.s.config.LowWater)
	return l
}

// pin sets the tokens of pinned items, and the low water mark above them.
func (l *limits) pin(tokens int, lowWater float64) {
	l.pinned = tokens
	l.low = tokens + min(integer(float64(max(0, l.most-tokens))*lowWater), max(0, l.most-tokens))
}

// fill chooses again if it must, or may.
func (p *proposal) fill(ctx context.Context) error {
	l := p.limits()
	switch {
	case p.tokens > l.most || p.split:
		p.reason = BreakForced
	case len(p.before.window) == 0 || !p.lacks():
		return nil
	case p.expired() || p.begins():
		p.reason = BreakFree
	case p.tokens > l.low && p.worth(l):
		p.reason = BreakWorth
	default:
		return nil
	}
	return p.choose(ctx, l)
}

// lacks reports whether anything is out or in a smaller form.
func (p *proposal) lacks() bool {
	for i := range p.window {
		if !p.window[i].whole() {
			return true
		}
	}
	return slices.Contains(p.at, out)
}

// choose fills the stable part up to the low water mark.
func (p *proposal) choose(ctx context.Context, l limits) error {
	l.pin(p.pinnedWithGroups(), p.s.config.LowWater)
	sent, at := p.window, slices.Clone(p.at)
	if err := p.chooseLow(ctx, l); err != nil {
		return err
	}
	p.laterBreak(l, sent, at)
	return nil
}

// chooseLow runs the chooser for the low water mark, or for more if that is too
// little for what is pinned.
func (p *proposal) chooseLow(ctx context.Context, l limits) error {
	for _, try := range []struct {
		keep   bool
		target int
	}{{true, l.low}, {false, l.low}, {false, l.most}, {false, l.raw}} {
		kept := 0
		if try.keep {
			if kept = p.keepable(l); kept == 0 {
				continue
			}
		}
		last := try.target == l.raw
		switch err := p.chooseFor(ctx, kept, max(0, try.target)); {
		case err == nil && (p.tokens <= l.most || last):
			return nil
		case err == nil, !last && (errors.Is(err, pipeline.ErrPinnedExceedsBudget) || errors.Is(err, pipeline.ErrOverflow)):
			continue
		default:
			return err
		}
	}
	return nil
}

// pinnedWithGroups is the tokens of pinned items and of their groups.
func (p *proposal) pinnedWithGroups() int {
	groups := map[string]bool{}
	for i, item := range p.items {
		if p.at[i] != inTail && item.Pinned() && item.Group() != "" {
			groups[item.Group()] = true
		}
	}
	tokens := 0
	for i, item := range p.items {
		if p.at[i] != inTail && (item.Pinned() || item.Group() != "" && groups[item.Group()]) {
			tokens += max(0, item.Tokens())
		}
	}
	return tokens
}

// Outlines stay as they are while they take this share of the low water mark.
const keepShare = 0.7

// Whole items of up to this many tokens stay between outlines.
const keepWhole = 40

// keepable returns how many entries at the beginning stay as they were sent: what
// is pinned, and outlines that an earlier break has made.
func (p *proposal) keepable(l limits) int {
	kept := p.head(samePrefix(p.window, p.before.window), l)
	if kept == 0 || p.reason != BreakForced {
		return 0
	}
	// What is pinned must be whole, and may not have to come in between these.
	for i, n := range p.at {
		if !p.items[i].Pinned() || n == inTail {
			continue
		}
		if n == out && i < p.window[kept-1].first || n >= 0 && int(n) < kept && !p.window[n].whole() {
			return 0
		}
	}
	// Nor may a group that is out have members on both sides.
	groups := map[string]bool{}
	for i, n := range p.at {
		group := p.items[i].Group()
		if n == inTail || group == "" {
			continue
		}
		if i < p.window[kept-1].first {
			groups[group] = groups[group] || n == out
		} else if groups[group] {
			return 0
		}
	}
	outlines := slices.ContainsFunc(p.window[:kept], func(e entry) bool { return !e.whole() })
	if !outlines {
		return 0
	}
	return kept
}

// head returns how many of the first entries of the window a break keeps.
func (p *proposal) head(most int, l limits) int {
	spent, kept := 0, 0
	for kept < most {
		e := &p.window[kept]
		if pinned := p.items[e.first].Pinned(); !pinned {
			if e.whole() && e.Tokens > keepWhole {
				break
			}
			if spent += e.Tokens; float64(spent) > keepShare*float64(l.low-l.pinned) {
				break
			}
		}
		kept++
	}
	// A group must not be cut.
	for kept > 0 && kept < len(p.window) {
		g := p.items[p.window[kept].first].Group()
		if g == "" || g != p.items[p.window[kept-1].first].Group() {
			break
		}
		kept--
	}
	return kept
}

// chooseFor runs the chooser for a target, on the first kept entries as they were
// sent and all items after them.
func (p *proposal) chooseFor(ctx context.Context, kept, target int) error {
	items := make([]*cupel.ContextItem, 0, kept+len(p.items))
	from := make([]int, 0, kept+len(p.items)) // candidates, or ^entry
	last := -1
	for n := range p.window[:kept] {
		e := &p.window[n]
		last = e.first
		held, err := p.given(e).With(cupel.WithPinned(), cupel.WithVariants(), cupel.WithGroupVariants())
		if err != nil {
			return err
		}
		items, from = append(items, held), append(from, ^n)
	}
	inKept := func(i int) bool { return p.at[i] >= 0 && int(p.at[i]) < kept }
	for i, item := range p.items {
		if i > last && p.at[i] != inTail && !inKept(i) {
			items, from = append(items, item), append(from, i)
		}
	}
	budget, err := p.budget.Resize(p.budget.MaxTokens(), min(p.budget.MaxTokens(), target))
	if err != nil {
		return err
	}
	_, report, err := p.turn.options.chooser.RunReport(ctx, items, budget, pipeline.WithTrace(p.s.config.Trace))
	if err != nil {
		return err
	}
	window := make([]entry, 0, len(report.Included))
	keys := make([]string, len(report.Included)) // not those of all candidates, which the window would keep
	for n, e := range report.Included {
		c := e.Candidate
		if c < 0 || c >= len(from) {
			return errNoPositions
		}
		if i := from[c]; i >= 0 {
			keys[n] = p.keys[i]
		}
		switch i := from[c]; {
		case i < 0:
			window = append(window, p.window[^i])
		case e.Form == 0:
			window = append(window, entry{Keys: keys[n : n+1 : n+1], Tokens: p.items[i].Tokens(), Held: p.items[i], first: i})
		default:
			window = append(window, entry{Keys: keys[n : n+1 : n+1], Form: e.Item.Content(), Tokens: e.Item.Tokens(), Held: e.Item, first: i})
		}
	}
	p.chose, p.chosen = report, from
	p.replace(merge(window, p.items))
	return nil
}

// replace makes entries the window.
func (p *proposal) replace(window []entry) {
	p.window, p.tokens = window, 0
	for i := range window {
		p.tokens += window[i].Tokens
	}
	for i := range p.at {
		if p.at[i] != inTail {
			p.at[i] = out
		}
	}
	p.number()
}

var errNoPositions = errors.New("cupelsession: the report of the chooser does not say which candidates are in the window; use the report that the run returned")

// given is an entry of the window as the chooser is given it. Of a summary the state
// has only the text, so that another process would give another kind and time.
func (p *proposal) given(e *entry) *cupel.ContextItem {
	if e.Summary {
		return formOf(p.items[e.first], e.Form, e.Tokens)
	}
	return e.Held
}
