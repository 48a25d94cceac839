package cupelsession

import (
	"cmp"
	"encoding/json"
	"fmt"

	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/cupelchat/agent"
)

// state is the state of a session between two turns. It is immutable.
type state struct {
	layout // of the last turn; without items after reading from JSON
	lasting
	last    map[string]outcome // of the last choice, by key
	repeats int                // turns before with the same conversation
}

// lasting is the part of a state that its JSON has besides the layout.
type lasting struct {
	Turns     int         `json:"turns"`
	Sent      sent        `json:"sent"`
	Fit       calibration `json:"calibration"`
	Growth    float64     `json:"growth"`          // tokens that a turn appends, on average
	Least     int         `json:"least,omitempty"` // tokens of the window that the first message was shortened for, or 0
	Summaries summaries   `json:"summaries,omitzero"`
}

// newState returns the state before the first turn.
func newState() *state {
	return &state{layout: layout{candidates: new(candidates)}}
}

// stateVersion changes when the wire format does.
const stateVersion = 1

// StateError is the error for a state that cannot be read.
type StateError struct {
	Reason string
	Err    error // the error of encoding/json, or nil
}

func (e *StateError) Error() string {
	if e.Err != nil {
		return "cupelsession: cannot read the state: " + e.Reason + ": " + e.Err.Error()
	}
	return "cupelsession: cannot read the state: " + e.Reason
}

// Unwrap returns the error of encoding/json, or nil.
func (e *StateError) Unwrap() error { return e.Err }

// wire is a state as JSON. Its only contents are smaller forms and summaries.
type wire struct {
	Version int      `json:"version"`
	Kept    keeping  `json:"kept"`
	Window  []entry  `json:"window"`
	Out     []string `json:"out,omitempty"` // keys of the items that the last turn had and left out
	lasting
	Recalls []string `json:"recalls,omitempty"` // keys of the texts that have marks
}

// keeping names how a session keeps its window.
type keeping struct {
	Chooser  string  `json:"chooser"`
	Cache    string  `json:"cache"`
	LowWater float64 `json:"lowWater,omitempty"` // 0 if it is not given
}

func (k keeping) String() string {
	mark := "no low water mark"
	if k.LowWater > 0 {
		mark = fmt.Sprintf("a low water mark of %v", k.LowWater)
	}
	return fmt.Sprintf("the chooser %q, the cache %q and %s", k.Chooser, k.Cache, mark)
}

func (s *Session) keeping() keeping {
	k := keeping{fmt.Sprintf("%T", s.chooser), s.config.Cache.Name, s.config.LowWater}
	switch chooser := s.chooser.(type) {
	case *agent.Preset:
		k.Chooser = "agent"
	case *pipeline.Pipeline:
		k.Chooser = cmp.Or(chooser.Config().Name, "pipeline")
	}
	return k
}

// MarshalJSON returns the committed state, without the items. Another process that
// reads it with [Session.UnmarshalJSON], and gets the same items, makes the same
// next window. The only contents in it are smaller forms and summaries.
func (s *Session) MarshalJSON() ([]byte, error) {
	if !s.isMade() {
		return nil, errNotMade
	}
	st := s.committed()
	w := wire{Version: stateVersion, Kept: s.keeping(), lasting: st.lasting}
	if s.recalls != nil {
		w.Recalls = s.recalls.known()
	}
	w.Window = append([]entry{}, st.window...)
	for i := range w.Window {
		if e := &w.Window[i]; e.whole() && e.Held != nil {
			e.Hash = baseKey(e.Held)
		}
	}
	for i, key := range st.keys {
		if st.at[i] == out {
			w.Out = append(w.Out, key)
		}
	}
	return json.Marshal(w)
}

// UnmarshalJSON replaces the state of a session that [New] made. It fails with a
// [StateError] and leaves the session as it is if the state is truncated, invalid,
// of another version, or of a session with another chooser, cache or low water
// mark.
func (s *Session) UnmarshalJSON(data []byte) error {
	if err := s.enter(); err != nil {
		return err
	}
	defer s.leave()
	var w wire
	if err := json.Unmarshal(data, &w); err != nil {
		return &StateError{"it is not the JSON of a session", err}
	}
	if w.Version != stateVersion {
		return &StateError{fmt.Sprintf("its version is %d, want %d", w.Version, stateVersion), nil}
	}
	st, err := w.state()
	if err != nil {
		return err
	}
	if is := s.keeping(); w.Kept != is {
		return &StateError{fmt.Sprintf("it was kept with %s, and this session has %s: give New what made the state, or begin a new session", w.Kept, is), nil}
	}
	if s.flight != nil {
		s.flight.late = true
	}
	if s.recalls != nil {
		s.recalls.reset(w.Recalls)
		s.conversation.Store(nil)
	}
	s.state.Store(st)
	return nil
}

// state returns the state, if it is valid.
func (w *wire) state() (*state, error) {
	st := newState()
	st.lasting, st.window = w.lasting, w.Window
	known := map[string]bool{}
	add := func(key string, at int32) {
		known[key] = true
		st.keys, st.tail, st.at = append(st.keys, key), append(st.tail, false), append(st.at, at)
	}
	for i := range w.Window {
		e := &w.Window[i]
		if reason := e.damage(st.tokens); reason != "" {
			return nil, &StateError{fmt.Sprintf("window[%d] %s", i, reason), nil}
		}
		for _, key := range e.Keys {
			if known[key] {
				return nil, &StateError{fmt.Sprintf("window[%d] repeats the key %.40q", i, key), nil}
			}
			add(key, int32(i))
		}
		st.tokens += e.Tokens
	}
	for _, key := range w.Out {
		if !known[key] {
			add(key, out)
		}
	}
	for i, h := range w.Sent.Held {
		if h.Items < 1 || h.Items > len(w.Window) || i > 0 && h.Items <= w.Sent.Held[i-1].Items {
			return nil, &StateError{fmt.Sprintf("sent.held[%d] has %d items, want from 1 to %d, ascending", i, h.Items, len(w.Window)), nil}
		}
	}
	for i, r := range w.Fit.Reports {
		if r.Estimated < 0 || r.Counted <= 0 {
			return nil, &StateError{fmt.Sprintf("calibration.reports[%d] has no tokens", i), nil}
		}
	}
	if w.Turns < 0 || len(w.Fit.Reports) > keptReports || len(w.Sent.Held) > mostHeld || !(w.Growth >= 0) || w.Sent.Everything < 0 || w.Least < 0 ||
		w.Summaries.Ready.Tokens < 0 || w.Summaries.Ready.Tokens > maxTokens {
		return nil, &StateError{"it has impossible numbers", nil}
	}
	return st, nil
}

// damage describes the fault of an entry, or returns "". tokens is the sum of
// the entries before it.
func (e *entry) damage(tokens int) string {
	switch {
	case len(e.Keys) == 0:
		return "has no keys"
	case e.Tokens < 0 || e.Tokens > maxTokens-tokens:
		return fmt.Sprintf("has an impossible number of tokens, %d", e.Tokens)
	case e.whole() && (e.Summary || len(e.Keys) > 1):
		return fmt.Sprintf("stands for %d items and has no text", len(e.Keys))
	case e.whole() && e.Hash == "":
		return "has neither a hash nor a form"
	}
	return ""
}
