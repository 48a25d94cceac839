// Package engine decides which candidates a run selects, in which form, and why
// the others are left out. It works on columns of numbers and strings and returns
// decisions by position. It knows no item, no strategy and no observer: the caller
// fills the columns, calls the strategies between the stages, and says in its own
// words what the decisions mean.
//
// A lone candidate is a unit of one, so every stage has one path. The state is
// split by what it depends on:
//
//   - [Set]: the candidates as units, with their forms and versions.
//   - [Ranking]: the units that are left after deduplication, by score.
//   - [Choice]: what a budget buys.
//
// A Set and a Ranking do not change once they are made, and any number of Choices
// may share them.
//
// It implements the stages of the Pipeline chapters of the specification, with
// those of the Units chapter.
package engine

import "time"

// Candidate is a position among the candidates, as the caller gave them.
type Candidate int32

// Unit is the number of a unit: a group, or a candidate without one. Units are
// numbered by the place of their first members.
type Unit int32

// Rank is a position in the sorted list that a slicer sees.
type Rank int32

// None stands for no candidate and no unit.
const None = -1

// Form is the size and the worth of a smaller form.
type Form struct {
	Tokens int     // at least 0
	Worth  float64 // in [0,1): the share of the full form's value that it keeps
}

// Link is what a candidate has in addition to its own tokens and text. Most have nothing.
type Link struct {
	Group      string    // "" for none
	Version    string    // the key of what it is a version of; "" for none
	Time       time.Time // valid if Timed is set
	Timed      bool
	Forms      []Form // smaller forms of the candidate, largest first
	GroupForms []Form // smaller forms of its whole group, largest first
}

// Columns are the candidates, one entry for each in every column.
type Columns struct {
	Tokens   []int
	Pinned   []bool
	Contents []string
	Links    []Link // nil where no candidate has a link and near copies stay
}

// Code is why a candidate is left out.
type Code uint8

// The codes. The comments name the fields of a [Decision] that they use.
const (
	NegativeTokens Code = iota // Tokens: the count
	Superseded                 // Other: the newest version
	NearCopy                   // Other: the newer text; Tokens of Available shingles are shared
	Duplicate                  // Other: the candidate that stays
	OverBudget                 // Tokens: of the candidate; Available: what is left; Unit: its group, or None
	PinnedFirst                // Other: the first pinned candidate
	Dropped                    // Tokens: the position among the slicer's drops
)

// Decision leaves out one candidate.
type Decision struct {
	Candidate         Candidate
	Other             Candidate
	Unit              Unit
	Code              Code
	Score             float64
	Tokens, Available int
}

// Resize returns s with length n and undefined content, reusing its memory.
func Resize[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}

// filled returns s with length n and v in each place, reusing its memory.
func filled[T any](s []T, n int, v T) []T {
	s = Resize(s, n)
	for i := range s {
		s[i] = v
	}
	return s
}
