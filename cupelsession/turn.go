package cupelsession

import (
	"errors"
	"fmt"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/turn"
)

// Turn is a window that a session proposes.
type Turn struct {
	// Window has the items to send: the stable part in the order of the
	// conversation, then the tail.
	Window []*cupel.ContextItem
	// Stable is how many items of Window belong to the stable part.
	Stable int
	// Entries name, for each item of Window, the items that it stands for.
	Entries []Entry
	// Break describes where and why the window differs from what was sent before.
	// It is nil at the first turn, and if everything is sent again.
	Break *Break
	// KeptTokens counts the tokens at the beginning of Window that are sent as
	// before, whether the cache has them or not.
	KeptTokens int
	// Cache is the cost of the turn.
	Cache CacheUse
	// Estimate is how many tokens the provider will count for Window, judging by
	// its earlier reports. Until there are three, it is the tokens of the items.
	Estimate int
	// Notes are remarks: a summary that failed, a cache that was lost.
	Notes []string

	limit   int // the most tokens that the provider should count
	session *Session
	before  *state
	after   *state
	report  *cupel.SelectionReport
	chosen  *choice     // by a break; nil between breaks
	reason  BreakReason // of choosing
	tail    quotations
	dropped []*cupel.ContextItem // for the first time
	leaving *leaving             // what a summary is to be made of, or nil

	committed func(turn.Commit) // informs the collector; nil if it does not follow the turn
}

// Entry is the origin of an item of the window.
type Entry struct {
	// Candidates are the positions of the items that it stands for: one, all members
	// of a group that a note replaces, or the items that a summary replaces.
	Candidates []int
	// Whole reports whether the item is in the window as it was given.
	Whole bool
}

// BreakReason is the reason why a window differs from what was sent before.
type BreakReason string

// The reasons.
const (
	// BreakChanged means that something that was sent is gone, was edited, or has
	// another place. The chooser did not choose again.
	BreakChanged BreakReason = "changed"
	// BreakForced means that the window no longer fits, or lacks something that
	// must be in it.
	BreakForced BreakReason = "forced"
	// BreakFree means a new choice while nothing of the conversation was in
	// the cache.
	BreakFree BreakReason = "free"
	// BreakWorth means a new choice that saves more than it costs.
	BreakWorth BreakReason = "worth it"
)

// Break is the place where a window begins to differ from what was sent
// before.
type Break struct {
	Reason BreakReason
	// At is the position of the first difference in the stable part.
	At int
}

type turnOptions struct {
	chooser Chooser
	model   string // "" is that of the turn before
	blocks  []int  // content blocks of each item, nil for one
	least   int    // tokens of the window that the first message was shortened for, or 0
}

// TurnOption is a setting of one turn.
type TurnOption func(*turnOptions)

// WithChooser sets another chooser for this turn, such as a pipeline that
// scores by the question. nil keeps the session's.
func WithChooser(chooser Chooser) TurnOption {
	return func(o *turnOptions) {
		if chooser != nil {
			o.chooser = chooser
		}
	}
}

// WithModel names the model that the turn is for. A model other than the
// previous turn's has nothing in its cache. An empty name means the model of the
// previous turn.
func WithModel(name string) TurnOption {
	return func(o *turnOptions) { o.model = name }
}

// Given returns the tokens of all items that the session was given.
func (t *Turn) Given() int {
	if t == nil || t.after == nil { // no session has proposed it
		return 0
	}
	return t.after.Sent.Everything
}

var errNoTurn = errors.New("cupelsession: the turn was not proposed by a session; commit what Next, Body or Fit returned")

// Commit makes the turn, once it was sent, the state from which the next one starts.
// usage is what the provider reported, or zero. Commit ignores impossible numbers,
// such as more tokens read than there are. It calls [Config.Dropped]. It fails with
// [ErrStale] or [ErrBusy].
func (t *Turn) Commit(usage Usage) error {
	if t == nil || t.session == nil {
		return errNoTurn
	}
	s := t.session
	if err := s.enter(); err != nil {
		return err
	}
	defer s.leave()
	if s.state.Load() != t.before {
		return ErrStale
	}
	after := *t.after
	usage = usage.possible()
	if usage.Input > 0 {
		estimated := t.Cache.Read + t.Cache.Written + t.Cache.Plain
		_, slope := after.Fit.line()
		expected := slope * float64(t.Cache.Read)
		after.Fit = after.Fit.with(report{estimated, usage.Input})
		if usage.Input > t.limit {
			t.Notes = append(t.Notes, fmt.Sprintf("the provider counted %d tokens, %d more than the budget has; %d were estimated", usage.Input, usage.Input-t.limit, t.Estimate))
		}
		if usage.Cached && float64(usage.Read) < float64(0.9*expected)-float64(s.config.Cache.Step) {
			t.Notes = append(t.Notes, fmt.Sprintf("the provider read %d tokens from its cache, %.0f were expected", usage.Read, expected))
			if usage.Written == 0 {
				after.Sent.Held = nil
			}
		}
	}
	if note := s.land(&after, t.chosen != nil, t.leaving); note != "" {
		t.Notes = append(t.Notes, note)
	}
	s.state.Store(&after)
	s.proposed = 0
	if t.committed != nil {
		t.committed(turn.Commit{Input: usage.Input, Output: usage.Output, CacheRead: usage.Read, CacheWritten: usage.Written, Cached: usage.Cached})
	}
	if s.config.Dropped != nil && len(t.dropped) > 0 {
		s.config.Dropped(t.dropped)
	}
	return nil
}
