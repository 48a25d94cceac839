package cupelsession

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/observe"
	"github.com/wollax/cupel-go/cupelchat"
)

// Config configures a session. The zero Config is ready to use: it has no cache,
// and defaults for the rest.
type Config struct {
	// Cache is the prompt cache of the provider. The zero model is [NoCache].
	Cache CacheModel
	// LowWater is the share of the room left by pinned items that a break fills,
	// in (0,1]. A lower mark breaks less often and keeps less. 0 means [DefaultLowWater].
	// With the preset of package cupelchat/agent and a cache, 0 means the mark from .25
	// to .75 at which the window is worth most for what it costs until the next break.
	LowWater float64
	// ClearAtLeast is the least number of tokens that a forced break leaves free, so
	// that a break is worth its cost. 0 applies LowWater alone.
	ClearAtLeast int
	// Horizon is the number of turns within which a rewrite must pay for itself
	// before the session breaks although everything fits. 0 estimates it from the
	// growth of the conversation. A negative number disables such breaks.
	Horizon int
	// Key identifies an item from turn to turn. Items with equal keys are matched
	// in order: the first with the first of the previous turn, and so on. nil
	// uses a hash of kind and content.
	Key func(*cupel.ContextItem) string
	// Tail reports whether an item belongs to the tail, which follows the stable
	// part, may change at each turn, and is never written to the cache: retrieved
	// documents, the question. It must give the same answer for an item each time.
	// nil means that no item does.
	Tail func(*cupel.ContextItem) bool
	// Summarize summarizes the items that will leave the window at the next break. It is
	// called in the background when the window nears its mark, at most once from one break
	// to the next and never while a call has not returned, so that no turn waits. Its
	// context ends with [Session.Close]. If it fails or is late, the window is made without
	// a summary, and the turn has a note. In place of items that were summarized before, it
	// gets their summary. The window shows a summary as the model's own words, which rank
	// no higher than a result. nil disables summaries.
	Summarize func(ctx context.Context, leaving []*cupel.ContextItem) (Summary, error)
	// Dropped is called once by Commit with the items that left the window at a
	// break, so that a memory can keep them. nil disables it.
	Dropped func(items []*cupel.ContextItem)
	// Store keeps texts that requests leave out, so that a model can ask for them with the
	// tool of [RecallTool], and [Session.Recall] can answer. Smaller forms then have marks,
	// if the conversation is read with [Session.Reading], as [Fit] does. nil disables both.
	Store Store
	// Name names the session in Store, for [Store.Delete]. A Store requires it.
	Name string
	// Trace follows the runs of the chooser and, if it is a [turn.Observer] such
	// as the collectors of package cupelotel, the turns. nil disables it.
	Trace observe.TraceCollector
	// Clock returns the time. nil means [time.Now].
	Clock func() time.Time
}

// DefaultLowWater is used if [Config.LowWater] is 0.
const DefaultLowWater = 0.5

// ErrBusy is the error for calling a session during another call.
var ErrBusy = errors.New("cupelsession: the session is in use by another call; use one session for one conversation, or Fork")

// ErrStale is the error for committing a turn twice, after another turn, or after
// another state was read.
var ErrStale = errors.New("cupelsession: another turn was committed since this one was proposed; call Next again")

// ConfigError is the error for an invalid field of a [Config].
type ConfigError struct {
	Field  string
	Reason string
}

func (e *ConfigError) Error() string { return "cupelsession: " + e.Field + " " + e.Reason }

// Session keeps the window of one conversation. Only one goroutine may use it
// at a time; a call during another one fails with [ErrBusy]. [Session.Fork]
// makes another session that continues from the same state.
type Session struct {
	chooser Chooser
	config  Config

	busy         atomic.Bool
	state        atomic.Pointer[state]                     // committed
	proposed     int                                       // turns since the last one that was committed
	alive        context.Context                           // of summaries, until Close
	end          context.CancelFunc                        // of alive
	flight       *flight                                   // the summary that is being made, or nil
	recalls      *recalls                                  // nil without a store
	conversation atomic.Pointer[cupelchat.Conversation]    // of the last turn
	bare         map[*cupel.ContextItem]*cupel.ContextItem // items of the last tail that have forms, without these
}

// New returns a session without a window. It fails with a [ConfigError].
func New(chooser Chooser, config Config) (*Session, error) {
	if chooser == nil {
		return nil, &ConfigError{"chooser", "is required: a pipeline, or the preset of package cupelchat/agent"}
	}
	if !(config.LowWater >= 0 && config.LowWater <= 1) {
		return nil, &ConfigError{"LowWater", fmt.Sprintf("must be in (0,1], got %v", config.LowWater)}
	}
	if config.ClearAtLeast < 0 {
		return nil, &ConfigError{"ClearAtLeast", fmt.Sprintf("must be at least 0 tokens, got %d", config.ClearAtLeast)}
	}
	if err := config.Cache.Validate(); err != nil {
		return nil, err
	}
	if config.Store != nil && config.Name == "" {
		return nil, &ConfigError{"Name", "is required with a Store: it names the session there"}
	}
	if config.Clock == nil {
		config.Clock = time.Now //nolint:forbidigo // whether the cache is still there depends on the time
	}
	return begin(chooser, config, newState()), nil
}

func begin(chooser Chooser, config Config, st *state) *Session {
	s := &Session{chooser: chooser, config: config}
	s.alive, s.end = context.WithCancel(context.Background())
	if config.Store != nil {
		s.recalls = new(recalls)
		s.recalls.reset(nil)
	}
	s.state.Store(st)
	return s
}

// Fork returns a session that continues from the committed state. The two
// sessions do not affect each other. It takes constant time.
func (s *Session) Fork() *Session {
	if !s.isMade() {
		return new(Session)
	}
	other := begin(s.chooser, s.config, s.committed())
	if s.recalls != nil {
		other.recalls.reset(s.recalls.known())
		return other // the conversation has the marks of this session
	}
	other.conversation.Store(s.conversation.Load())
	return other
}

// Turns returns how many turns were committed.
func (s *Session) Turns() int { return s.committed().Turns }

var errNotMade = &ConfigError{"chooser", "is missing: make sessions with New"}

// isMade reports whether New made a session. The methods of others fail, or return
// nothing.
func (s *Session) isMade() bool { return s != nil && s.chooser != nil }

// committed returns the state, which a session that New did not make lacks.
func (s *Session) committed() *state {
	if s.isMade() {
		return s.state.Load()
	}
	return newState()
}

// enter fails if another call is using the session. Callbacks run while it is in
// use, but no lock is held.
func (s *Session) enter() error {
	if !s.isMade() {
		return errNotMade
	}
	if !s.busy.CompareAndSwap(false, true) {
		return ErrBusy
	}
	return nil
}

func (s *Session) leave() { s.busy.Store(false) }
