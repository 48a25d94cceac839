package cupelinspect

import (
	"math"
	"strconv"
)

// The page's data, as compressed JSON in the element with the id "data". Only the
// page's script reads it.

type wirePage struct {
	Title      string           `json:"title"`
	Items      []wireItem       `json:"items"`
	Selections []*wireSelection `json:"selections"`
}

// wireItem is an item that is a candidate of some selection.
type wireItem struct {
	Content   string            `json:"content"`
	Cut       int               `json:"cut,omitempty"` // bytes of the content that were left out
	Tokens    int               `json:"tokens"`
	Kind      string            `json:"kind"`
	Source    string            `json:"source"`
	Tags      []string          `json:"tags,omitempty"`
	Pinned    bool              `json:"pinned,omitempty"`
	Priority  *int              `json:"priority,omitempty"`
	Timestamp string            `json:"timestamp,omitempty"` // RFC 3339
	Hint      *float64          `json:"hint,omitempty"`
	Metadata  map[string]string `json:"metadata,omitempty"`
	Group     string            `json:"group,omitempty"`
	VersionOf string            `json:"versionOf,omitempty"`
}

// wireSelection is a run. Candidates are identified by their position in
// Candidates, since an item may occur twice.
type wireSelection struct {
	Name        string      `json:"name"`
	Scorer      string      `json:"scorer"` // "" if unknown, like the next two
	Slicer      string      `json:"slicer"`
	Placer      string      `json:"placer"`
	Deduplicate bool        `json:"deduplicate"`
	Overflow    string      `json:"overflow"` // "" if unknown
	Budget      wireBudget  `json:"budget"`
	Error       string      `json:"error,omitempty"` // why the run failed
	Candidates  []int       `json:"candidates"`      // positions in the page's items
	Scores      scoreList   `json:"scores"`          // by candidate
	Parts       []wirePart  `json:"parts"`
	Window      []int       `json:"window"`   // candidates, in prompt order
	Codes       []string    `json:"codes"`    // legend of Code and of the sweep's codes
	Meanings    []string    `json:"meanings"` // of Codes that leave an item out, in plain words
	Code        []int       `json:"code"`     // by candidate
	Why         []string    `json:"why"`      // by candidate
	Survivor    map[int]int `json:"survivor,omitempty"`
	Stages      []wireStage `json:"stages"`
	Total       int64       `json:"total"` // ns
	Shortfalls  []string    `json:"shortfalls,omitempty"`
	Overflowed  string      `json:"overflowed,omitempty"`
	Session     string      `json:"session,omitempty"` // what a session did at the turn of the report
	Sweep       *wireSweep  `json:"sweep"`

	Rivals  map[int][]int `json:"rivals,omitempty"`  // by candidate that is not whole: the candidates that lose something if it stays; [-1] if it cannot
	Request string        `json:"request,omitempty"` // the body that was sent

	// Only with groups, smaller forms or versions.
	Form   map[int]int        `json:"form,omitempty"`   // by candidate in a smaller form: which of its forms, from 1
	Forms  map[int][]wireForm `json:"forms,omitempty"`  // by candidate, of the run and of the sweep
	Stale  []int              `json:"stale,omitempty"`  // candidates that have a newer version
	Pinned *int               `json:"pinned,omitempty"` // tokens of pinned items, in their forms
	Origin []int              `json:"origin,omitempty"` // of a report: the positions in the run, or -1
	Full   map[int]int        `json:"full,omitempty"`   // of a report: the tokens in full of each smaller form
}

// wireForm is a text that some window has in place of a content. Edits make it from
// the content: a positive number keeps so many UTF-16 units, a negative one leaves
// them out, and a string is inserted. The rest of the content is left out.
type wireForm struct {
	Edits  []any `json:"edits"`
	Tokens int   `json:"tokens"`
}

type wireBudget struct {
	Max           int            `json:"max"`
	Target        int            `json:"target"`
	OutputReserve int            `json:"outputReserve"`
	ReservedSlots map[string]int `json:"reservedSlots,omitempty"`
	Margin        float64        `json:"margin"`    // percent
	Effective     int            `json:"effective"` // the slicer's budget
}

// wirePart is a part of a composite scorer.
type wirePart struct {
	Name   string    `json:"name"`
	Weight float64   `json:"weight"`
	Scores scoreList `json:"scores"` // by candidate
}

type wireStage struct {
	Name     string `json:"name"`
	Start    int64  `json:"start"` // ns since the run's start
	Duration int64  `json:"duration"`
	In       int    `json:"in"`
	Out      int    `json:"out"`
}

type wireSweep struct {
	Stops []wireStop `json:"stops"` // budgets rise
}

type wireStop struct {
	Budget    int    `json:"budget"` // the ceiling
	Target    int    `json:"target"`
	Effective int    `json:"effective"` // the slicer's budget
	Tokens    int    `json:"tokens"`    // of the window
	Window    []int  `json:"window"`
	Codes     []int  `json:"codes"` // the differences from the stop before: candidate, position in the legend, and so on
	Error     string `json:"error,omitempty"`

	Form   map[int]int `json:"form,omitempty"` // as in wireSelection
	Pinned *int        `json:"pinned,omitempty"`
}

// scoreList is a list of scores; NaN means no score. JSON has no infinite
// numbers, so the page shows infinite scores as no score.
type scoreList []float64

// MarshalJSON implements json.Marshaler.
func (l scoreList) MarshalJSON() ([]byte, error) {
	b := make([]byte, 0, 2+8*len(l))
	b = append(b, '[')
	for i, score := range l {
		if i > 0 {
			b = append(b, ',')
		}
		if math.IsNaN(score) || math.IsInf(score, 0) {
			b = append(b, "null"...)
			continue
		}
		b = strconv.AppendFloat(b, score, 'g', -1, 64)
	}
	return append(b, ']'), nil
}
