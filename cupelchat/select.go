package cupelchat

import (
	"context"
	"errors"
	"slices"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/internal/english"
)

// Chooser chooses a window. A [pipeline.Pipeline] is one. A chooser may replace the
// given items with its own, with other scores, forms or pins, if it keeps their
// number and order: the report's candidates and forms determine the window.
type Chooser interface {
	RunReport(ctx context.Context, items []*cupel.ContextItem, budget cupel.ContextBudget, opts ...pipeline.RunOption) ([]*cupel.ContextItem, *cupel.SelectionReport, error)
}

var _ Chooser = (*pipeline.Pipeline)(nil)

// Window is the chosen part of a conversation.
type Window struct {
	// Items are the window, in the order of the chooser.
	Items []*cupel.ContextItem
	// Report explains why each item is in or out. Its candidates are the positions
	// of the items in [Conversation.Items].
	Report *cupel.SelectionReport
	// Notes name the messages that were shortened to fit, those that were
	// restored, dropped or joined because the API requires it, and the faults
	// for which the API would refuse the result.
	Notes []string

	body   []byte
	whole  bool // the body of the conversation
	err    error
	pinned int // tokens of candidates that are always in

	refused  []int    // entries that the API refuses with what was chosen,
	required []int    // unless these are in
	dropped  []string // notes of them
	squeezed bool     // pinned texts were shortened
	beside   int      // the newest entry with a shorter text beside thinking or media, or none
	form     state    // of that entry
}

// Body returns the chosen messages, in the order and the shape of the
// conversation. If everything is in the window unchanged, the body is the same
// byte for byte. Otherwise chosen messages keep their bytes. A message in a
// smaller form differs only in its text. A form of a whole exchange becomes a
// message of the model. Body fails for formats that are only read, and for a
// report that does not determine the window.
func (w *Window) Body() ([]byte, error) {
	if w == nil {
		return nil, errNil
	}
	return w.body, w.err
}

// Select chooses a window. If the pinned items do not fit, it shortens those that are
// pinned by default, messages, results and arguments of calls, to equal shares of the
// room; small ones stay whole. If not everything fits, items before the latest
// compaction are not candidates, unless they are pinned. A note says so, and the report
// excludes them with the reason [Compacted].
//
// The written body is read again and counted. If it has more tokens than the
// budget, Select chooses again for less. It fails with a [TooLargeError] if the
// request cannot be made to fit, with an error of the chooser, and with a
// [cupel.InvalidConfigError] if the chooser is nil.
func (c *Conversation) Select(ctx context.Context, chooser Chooser, budget cupel.ContextBudget) (*Window, error) {
	if c.isMissing() {
		return nil, errNil
	}
	p, ok := chooser.(*pipeline.Pipeline)
	if chooser == nil || ok && p == nil {
		return nil, &cupel.InvalidConfigError{Component: "cupelchat.Select", Field: "chooser", Value: "nil", Reason: "a chooser is required, such as a *pipeline.Pipeline or agent.New(counter)"}
	}
	if ok && !p.Config().KeepDuplicates {
		config := p.Config()
		config.KeepDuplicates = true
		keeping, err := pipeline.New(config)
		if err != nil {
			return nil, err
		}
		chooser = keeping
	}
	chosen, err := c.toChoose(chooser)
	if err != nil {
		return nil, err
	}
	w, err := chosen.refill(ctx, chooser, budget)
	if _, ok := errors.AsType[*TooLargeError](err); !ok || chosen != c {
		return w, err
	}
	// A preset makes no forms of items that are sent with a pinned message. The
	// conversation's forms may fit.
	if formed, failed := c.withForms(); failed == nil {
		if fitting, failed := formed.refill(ctx, chooser, budget); failed == nil {
			return fitting, nil
		}
	}
	return w, err
}

// mostTries is the most times that a window is chosen.
const mostTries = 6

// refill fits windows until the API refuses nothing that was chosen. The next time it pins
// what the API requires beside that, or else leaves out what the API refused, so that
// something else takes its room. It returns the fullest window that has the newest message.
func (c *Conversation) refill(ctx context.Context, chooser Chooser, budget cupel.ContextBudget) (*Window, error) {
	best, err := c.fit(ctx, chooser, budget)
	if err != nil {
		return nil, err
	}
	var dropped []string
	for w, from := best, c; len(w.refused) > 0 && !slices.ContainsFunc(w.refused, c.held) && len(dropped) < mostTries; {
		dropped = append(dropped, w.dropped...)
		next, failed := w, error(nil)
		if len(w.required) > 0 {
			next, failed = from.pinning(w.required).fit(ctx, chooser, budget)
		}
		if failed != nil || !next.fullerThan(w) {
			from = from.without(w.refused)
			if next, failed = from.fit(ctx, chooser, budget); failed != nil {
				return best, nil //nolint:nilerr // the first window fits
			}
			next.Notes = slices.Concat(dropped, next.Notes)
		}
		if w = next; w.fullerThan(best) {
			best = w
		}
	}
	return best, nil
}

// fullerThan reports whether a window has more tokens than another one, and its newest
// message or a newer one.
func (w *Window) fullerThan(other *Window) bool {
	newest := func(w *Window) (at int) {
		for _, e := range w.Report.Included {
			at = max(at, e.Candidate)
		}
		return at
	}
	return w.err == nil && tokensOf(w.Items) > tokensOf(other.Items) && newest(w) >= newest(other)
}

// without returns the conversation with some entries as no candidates.
func (c *Conversation) without(refused []int) *Conversation {
	to := *c
	to.refused = slices.Grow(slices.Clone(c.refused), len(c.entries))[:len(c.entries)]
	for _, i := range refused {
		to.refused[i] = true
	}
	return &to
}

func (c *Conversation) isRefused(i int) bool { return len(c.refused) > i && c.refused[i] }

// pinning returns the conversation with some entries pinned.
func (c *Conversation) pinning(required []int) *Conversation {
	to := *c
	to.items = slices.Clone(c.items)
	for _, i := range required {
		to.items[i], _ = c.items[i].With(cupel.WithPinned())
	}
	return &to
}

func tokensOf(items []*cupel.ContextItem) (tokens int) {
	for _, item := range items {
		tokens = add(tokens, item.Tokens())
	}
	return tokens
}

// fit chooses windows for smaller and smaller targets until one is written in no
// more tokens than the budget has. The first target lacks what the window is over,
// later ones lack growing shares of the budget, and the last has room for pins alone.
func (c *Conversation) fit(ctx context.Context, chooser Chooser, budget cupel.ContextBudget) (*Window, error) {
	limit := limitOf(budget)
	smaller, tokens := budget, 0
	for try := range mostTries {
		w, err := c.choose(ctx, chooser, smaller)
		if errors.Is(err, errEmpty) {
			if newest := c.withNewest(); newest != nil {
				c = newest
				w, err = c.choose(ctx, chooser, smaller)
			}
		}
		switch {
		case errors.Is(err, pipeline.ErrPinnedExceedsBudget), errors.Is(err, pipeline.ErrOverflow), errors.Is(err, errEmpty):
			return nil, c.tooLarge(limit, tokens, err)
		case err != nil:
			return nil, err
		case w.err != nil, w.whole, w.Report.Overflow != nil: // the chooser exceeds the target knowingly
			return w, nil //nolint:nilerr // Body returns the error of writing
		}
		if tokens, err = c.size(w.body); err != nil {
			return nil, err
		}
		over := tokens - limit
		if over <= 0 {
			return c.fuller(ctx, chooser, smaller, w, tokens)
		}
		target := max(min(tokensOf(w.Items), smaller.TargetTokens())-max(over, try*limit/64), w.pinned)
		if try == mostTries-2 {
			target = w.pinned
		}
		if target >= smaller.TargetTokens() {
			break
		}
		if smaller, err = smaller.Resize(budget.MaxTokens(), target); err != nil {
			return nil, err
		}
	}
	return nil, c.tooLarge(limit, tokens, nil)
}

// withNewest returns the conversation with its newest message pinned, and with
// everything that the API requires with it, or nil if it is pinned already.
func (c *Conversation) withNewest() *Conversation {
	last := len(c.entries) - 1
	if c.held(last) {
		return nil
	}
	newest := *c
	newest.noPins, newest.first, newest.last = false, true, true
	pins, _ := newest.pins() // Read found the messages that are named
	pins[last] = true
	var required []int
	for i, pinned := range pins {
		if pinned && !isSystem(c.entries[i].role) {
			required = append(required, i)
		}
	}
	return newest.pinning(required)
}

// fuller returns a window like one of some tokens, in which texts take the room that is left:
// pinned ones, if they were shortened to leave room for others, or the newest one beside
// thinking or media, whose forms have only a few sizes. It returns the window itself if that
// has none of them or if no other one fits.
func (c *Conversation) fuller(ctx context.Context, chooser Chooser, budget cupel.ContextBudget, w *Window, tokens int) (*Window, error) {
	more := *c
	more.spare = budget.TargetTokens() - tokens
	if more.spare <= smallestForm || !w.squeezed && w.beside == none {
		return w, nil
	}
	if err := more.lengthen(w); err != nil {
		return nil, err
	}
	again, err := more.choose(ctx, chooser, budget)
	if errors.Is(err, pipeline.ErrPinnedExceedsBudget) || errors.Is(err, errEmpty) {
		return w, nil
	}
	if err != nil {
		return nil, err
	}
	size, err := c.size(again.body)
	if err != nil || size <= tokens || size > budget.TargetTokens() {
		return w, err
	}
	return again, nil
}

// lengthen gives the newest text beside thinking or media the spare room.
func (c *Conversation) lengthen(w *Window) error {
	if w.beside == none {
		return nil
	}
	e := &c.entries[w.beside]
	_, said := e.said()
	sizes := map[int]int{none: said - e.tokens + w.form.tokens + c.spare}
	for n := range e.saidBy(w.form.text).gone {
		sizes[n] = 0
		sizes[none] += e.parts[n].tokens
	}
	if sizes[none] >= said {
		return nil
	}
	s := &squeeze{*c, &notesOf{}, counting{counter: c.counter}}
	s.items = slices.Clone(c.items)
	err := s.shorten(w.beside, sizes)
	c.longer = map[int]*cupel.ContextItem{w.beside: s.items[w.beside]}
	return err
}

// choose chooses a window and writes it.
func (c *Conversation) choose(ctx context.Context, chooser Chooser, budget cupel.ContextBudget) (*Window, error) {
	n := &notesOf{}
	given, err := c.candidates(budget, n)
	if err != nil {
		return nil, err
	}
	w := &Window{}
	if w.Items, w.Report, err = chooser.RunReport(ctx, given.items, budget); err != nil {
		return nil, err
	}
	for n, item := range given.items {
		if c.held(given.at[n]) {
			w.pinned = add(w.pinned, item.Tokens())
		}
	}
	states, err := c.states(w.Report, given)
	if err != nil {
		w.err = err
		return w, nil //nolint:nilerr // Body returns it
	}
	total, err := c.price(states)
	if err != nil {
		return nil, err
	}
	w.beside = none
	for i, s := range states {
		_, fixed := c.entries[i].fixed()
		switch {
		case !s.short || s.note || c.forms != nil:
		case c.held(i):
			w.squeezed = true
		case fixed:
			w.beside, w.form = i, s
		}
	}
	out := &writer{Conversation: c, notesOf: n, states: states, room: limitOf(budget) - total}
	if w.body, err = out.finish(); errors.Is(err, errEmpty) {
		return nil, err
	}
	w.err, w.whole = err, out.whole()
	if err := out.settle(w, given); err != nil {
		return nil, err
	}
	c.addMissing(w.Report, given)
	w.Notes, w.dropped, w.required = n.notes(), out.dropped, out.required
	return w, nil
}

// candidates returns the items from which the chooser chooses for a budget.
func (c *Conversation) candidates(budget cupel.ContextBudget, n *notesOf) (candidates, error) {
	items, err := c.itemsFor(budget, n, none)
	if err != nil {
		return candidates{}, err
	}
	return c.sinceCompaction(items, budget, n), nil
}

// sinceCompaction returns the candidates, without those that were refused. If not
// everything fits, the items that the latest compaction replaces go first, unless they are
// pinned.
func (c *Conversation) sinceCompaction(items []*cupel.ContextItem, budget cupel.ContextBudget, n *notesOf) candidates {
	latest := c.compaction()
	older := !c.noPins && tokensOf(items) > limitOf(budget)
	given := candidates{}
	gone := 0
	for i, item := range items {
		needed := func(i int) bool { return i >= latest || c.items[i].Pinned() }
		if older && !slices.ContainsFunc(c.group(i), needed) {
			gone++
			continue
		}
		if c.isRefused(i) {
			continue
		}
		given.items, given.at = append(given.items, item), append(given.at, i)
	}
	if gone > 0 {
		n.note("left out %s before the latest compaction, which replaces them", english.Plural(gone, "item"))
	}
	return given
}

// The codes of reasons that only reports of [Conversation.Select] have.
const (
	Compacted cupel.ExclusionCode   = "Compacted" // comes before the latest compaction
	Refused   cupel.ExclusionCode   = "Refused"   // the API refuses what was chosen with it
	Required  cupel.InclusionReason = "Required"  // the API refuses what was chosen without it
)

// settle makes a report match the body: it moves items that the writer left out
// or restored, and gives each item its tokens as written and its position in the
// conversation.
func (w *writer) settle(window *Window, given candidates) (err error) {
	report := window.Report
	in, out := report.Included, report.Excluded
	report.Included, report.Excluded = nil, nil
	for _, e := range in {
		item := given.items[e.Candidate]
		e.Candidate = given.at[e.Candidate]
		s := w.states[e.Candidate]
		switch {
		case !s.in:
			window.refused = append(window.refused, e.Candidate)
			report.Excluded = append(report.Excluded, cupel.ExcludedItem{Item: item, Score: e.Score, Candidate: e.Candidate, Units: e.Units, Reason: cupel.ExclusionReason{Code: Refused}})
			continue
		case s.short && e.Item.Tokens() != s.tokens:
			if e.Item, err = e.Item.With(cupel.WithContent(e.Item.Content(), s.tokens)); err != nil {
				return err
			}
		}
		report.Included = append(report.Included, e)
	}
	for _, e := range out {
		n := e.Candidate
		known := n >= 0 && n < len(given.at)
		if known {
			e.Candidate = given.at[n]
		}
		if known && w.states[e.Candidate].in {
			report.Included = append(report.Included, cupel.IncludedItem{Item: given.items[n], Score: e.Score, Candidate: e.Candidate, Units: e.Units, Reason: Required})
		} else {
			report.Excluded = append(report.Excluded, e)
		}
	}
	window.Items = report.Window()
	return nil
}

// addMissing adds to a report the items that were not candidates.
func (c *Conversation) addMissing(report *cupel.SelectionReport, given candidates) {
	if report == nil || len(given.at) == len(c.items) {
		return
	}
	next := 0
	for i, item := range c.items {
		if next < len(given.at) && given.at[next] == i {
			next++
			continue
		}
		reason := cupel.ExclusionReason{Code: Compacted}
		if c.isRefused(i) {
			reason.Code = Refused
		}
		report.Excluded = append(report.Excluded, cupel.ExcludedItem{Item: item, Candidate: i, Reason: reason})
		report.TotalCandidates++
		report.TotalTokensConsidered = add(report.TotalTokensConsidered, item.Tokens())
	}
}

// held reports whether an entry is always in: it or another one of its exchange is
// pinned.
func (c *Conversation) held(i int) bool {
	return slices.ContainsFunc(c.group(i), func(i int) bool { return c.items[i].Pinned() })
}

// errEmpty is the error of a window without a message.
var errEmpty = errors.New("cupel: no message fits")

// errNoPositions is the error for a report that was decoded from JSON.
var errNoPositions = errors.New("cupel: the report does not say which candidates are in the window; use the report that the run returned")
