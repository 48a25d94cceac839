package cupelsession

import (
	"encoding/json"
	"fmt"
)

// stateVersion changes when the wire format does.
const stateVersion = 1

// StateError says why a state cannot be read.
type StateError struct {
	Reason string
	Err    error // what encoding/json said, or nil
}

func (e *StateError) Error() string {
	if e.Err != nil {
		return "cupelsession: cannot read the state: " + e.Reason + ": " + e.Err.Error()
	}
	return "cupelsession: cannot read the state: " + e.Reason
}

// Unwrap returns what encoding/json said.
func (e *StateError) Unwrap() error { return e.Err }

// wire is a state as JSON. It holds no content but that of smaller forms and
// summaries.
type wire struct {
	Version int         `json:"version"`
	Turns   int         `json:"turns"`
	Window  []entry     `json:"window"`
	Out     []string    `json:"out,omitempty"` // keys of what the last turn had and left out
	Sent    sent        `json:"sent"`
	Fit     calibration `json:"calibration"`
	Growth  float64     `json:"growth"`
}

// MarshalJSON returns the committed state, without the items: another process
// that reads it with [Session.UnmarshalJSON], and is given the same items, goes on
// with the same next window. Contents are in it only of smaller forms and of
// summaries.
func (s *Session) MarshalJSON() ([]byte, error) {
	st := s.committed()
	w := wire{Version: stateVersion, Turns: st.turns, Sent: st.sent, Fit: st.fit, Growth: st.growth}
	w.Window = append([]entry{}, st.window...)
	for i := range w.Window {
		if e := &w.Window[i]; e.whole() && e.Held != nil {
			e.Hash = baseKey(e.Held)
		}
	}
	if st.all == nil {
		inWindow := map[string]bool{}
		for i := range st.window {
			for _, key := range st.window[i].Keys {
				inWindow[key] = true
			}
		}
		for _, key := range st.outKeys {
			if !inWindow[key] {
				w.Out = append(w.Out, key)
			}
		}
	} else {
		for i, key := range st.all.keys {
			if st.at[i] == out {
				w.Out = append(w.Out, key)
			}
		}
	}
	return json.Marshal(w)
}

// UnmarshalJSON replaces the state of a session that [New] made. It fails with a
// [StateError] and leaves the session as it is if the state is cut short, of
// another version, or makes no sense.
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
	st := &state{turns: w.Turns, window: w.Window, sent: w.Sent, fit: w.Fit, growth: w.Growth, keys: map[string]bool{}, outKeys: w.Out}
	for i := range w.Window {
		e := &w.Window[i]
		if len(e.Keys) == 0 || e.Tokens < 0 {
			return &StateError{fmt.Sprintf("window[%d] has no keys, or negative tokens", i), nil}
		}
		if e.Tokens > maxTokens-st.tokens {
			return &StateError{fmt.Sprintf("window[%d] has %d tokens, more than there are", i, e.Tokens), nil}
		}
		if e.Summary && e.Form == "" || len(e.Keys) > 1 && e.Form == "" {
			return &StateError{fmt.Sprintf("window[%d] stands for %d items and says nothing", i, len(e.Keys)), nil}
		}
		if e.Form == "" && e.Hash == "" {
			return &StateError{fmt.Sprintf("window[%d] has neither a hash nor a form", i), nil}
		}
		for _, key := range e.Keys {
			if st.keys[key] {
				return &StateError{fmt.Sprintf("window[%d] repeats the key %.40q", i, key), nil}
			}
			st.keys[key] = true
		}
		st.tokens += e.Tokens
	}
	for _, key := range w.Out {
		st.keys[key] = true
	}
	for i, h := range w.Sent.Held {
		if h.Items < 1 || h.Items > len(w.Window) || i > 0 && h.Items <= w.Sent.Held[i-1].Items {
			return &StateError{fmt.Sprintf("sent.held[%d] has %d items, want from 1 to %d, ascending", i, h.Items, len(w.Window)), nil}
		}
	}
	for i, r := range w.Fit.Reports {
		if r.Estimated < 0 || r.Counted <= 0 {
			return &StateError{fmt.Sprintf("calibration.reports[%d] has no tokens", i), nil}
		}
	}
	if w.Turns < 0 || len(w.Fit.Reports) > keptReports || len(w.Sent.Held) > mostHeld || !(w.Growth >= 0) || w.Sent.Everything < 0 {
		return &StateError{"it has impossible numbers", nil}
	}
	s.state.Store(st)
	return nil
}
