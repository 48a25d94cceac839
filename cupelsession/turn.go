package cupelsession

import (
	"errors"
	"fmt"

	"github.com/wollax/cupel-go/cupel"
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

	limit   int // tokens that the provider should not count more of
	session *Session
	before  *state
	after   *state
	report  *cupel.SelectionReport
	chosen  *choice     // by a break; nil between breaks
	reason  BreakReason // of choosing
	tail    quotations
	dropped []*cupel.ContextItem // for the first time
	leaving *leaving             // what a summary is to be made of, or nil

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
type BreakReason string

// The reasons.
const (
	// BreakChanged is a conversation in which something that was sent is gone, was
	// edited, or has another place. The chooser did not choose again.
	BreakChanged BreakReason = "changed"
	// BreakForced is a window that no longer fits, or that lacks something that
	// must be in it.
	BreakForced BreakReason = "forced"
	// BreakFree is a new choice while nothing of the conversation was in the cache.
	BreakFree BreakReason = "free"
	// BreakWorth is a new choice that saves more than it costs.
	BreakWorth BreakReason = "worth it"
)

// Break says where a window begins to differ from what was sent before.
type Break struct {
	Reason BreakReason
	// At is the position in the stable part of what differs first.
	At int
}

type turnOptions struct {
	chooser Chooser
	model   string // "" is that of the turn before
	blocks  []int  // content blocks of each item, nil for one
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
// before has nothing in its cache. An empty name is that of the turn before.
func WithModel(name string) TurnOption {
	return func(o *turnOptions) { o.model = name }
}

// Given returns the tokens of all items that the session was given.
func (t *Turn) Given() int {
	if t.after == nil { // no session has proposed it
		return 0
	}
	return t.after.Sent.Everything
}

var errNoTurn = errors.New("cupelsession: the turn was not proposed by a session; commit what Next, Body or Fit returned")

// Commit makes the turn the state from which the next one starts, after it was
// sent. usage is what the provider reported, or zero; of impossible numbers, such as
// more tokens read than there are, the parts that say so are left out. It calls
// [Config.Dropped]. It fails with [ErrStale] or [ErrBusy].
func (t *Turn) Commit(usage Usage) error {
	s := t.session
	if s == nil {
		return errNoTurn
	}
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
