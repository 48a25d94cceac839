package cupel

import "strconv"

// InclusionReason says why an item is in the window. Reports of other
// implementations may carry reasons that are not listed here.
//
// It implements the Exclusion Reasons chapter of the specification.
type InclusionReason string

// The reasons for which the pipeline includes an item.
const (
	Scored    InclusionReason = "Scored"    // by its score, within the budget
	Pinned    InclusionReason = "Pinned"    // pinned by the caller
	ZeroToken InclusionReason = "ZeroToken" // at no cost: it has zero tokens
)

// ExclusionCode names a reason for leaving an item out. Reports of other
// implementations may carry codes that are not listed here.
//
// It implements the Exclusion Reasons chapter of the specification.
type ExclusionCode string

// The reasons that the pipeline and its slicers give.
const (
	// BudgetExceeded: the item did not fit. Data: ItemTokens, AvailableTokens.
	BudgetExceeded ExclusionCode = "BudgetExceeded"
	// Deduplicated: another item has the same bytes and a better score, or the
	// same score and an earlier place. Data: DeduplicatedAgainst, Survivor.
	Deduplicated ExclusionCode = "Deduplicated"
	// NegativeTokens: the item's token count is negative. Data: Tokens.
	NegativeTokens ExclusionCode = "NegativeTokens"
	// PinnedOverride: the item would have fitted, had nothing been pinned.
	// Data: DisplacedBy.
	PinnedOverride ExclusionCode = "PinnedOverride"
	// CountCapExceeded: a count slicer had enough items of the kind. Data:
	// Kind, Cap, Count.
	CountCapExceeded ExclusionCode = "CountCapExceeded"
)

// Reasons that are reserved: defined, read and written, but never given by
// the strategies of this module. Custom ones may give them.
const (
	// ScoredTooLow: below a threshold. Data: Score, Threshold.
	ScoredTooLow ExclusionCode = "ScoredTooLow"
	// QuotaCapExceeded: the kind had its share. Data: Kind, Cap, Actual.
	QuotaCapExceeded ExclusionCode = "QuotaCapExceeded"
	// QuotaRequireDisplaced: displaced for another kind's requirement. Data:
	// DisplacedByKind.
	QuotaRequireDisplaced ExclusionCode = "QuotaRequireDisplaced"
	// Filtered: a predicate of the user's. Data: FilterName.
	Filtered ExclusionCode = "Filtered"
	// CountRequireCandidatesExhausted: no candidates were left for a
	// requirement (R31). Data: Kind, Required, Available.
	CountRequireCandidatesExhausted ExclusionCode = "CountRequireCandidatesExhausted"
)

// ExclusionReason says why an item is not in the window: a code, and beside it
// the data of that code. Fields that the code does not name are zero.
type ExclusionReason struct {
	Code ExclusionCode

	ItemTokens      int // BudgetExceeded: size of the item, in tokens
	AvailableTokens int // BudgetExceeded: what was left, in tokens; may be negative (R29)

	DeduplicatedAgainst string       // Deduplicated: content of the item that stayed
	Survivor            *ContextItem // Deduplicated: the item that stayed; not in JSON

	Tokens      int    // NegativeTokens: the item's token count
	DisplacedBy string // PinnedOverride: content of the first pinned item

	Kind      ContextKind // CountCapExceeded, QuotaCapExceeded, CountRequireCandidatesExhausted
	Cap       int         // CountCapExceeded, QuotaCapExceeded: the most that was allowed
	Count     int         // CountCapExceeded: items of the kind selected when this one was dropped
	Actual    int         // QuotaCapExceeded
	Required  int         // CountRequireCandidatesExhausted
	Available int         // CountRequireCandidatesExhausted

	DisplacedByKind ContextKind // QuotaRequireDisplaced
	Score           float64     // ScoredTooLow
	Threshold       float64     // ScoredTooLow
	FilterName      string      // Filtered

	extra *extraFields
}

// String returns the code and its data as one line without the content of any
// item, such as "BudgetExceeded: 2048 tokens requested, 512 available".
func (r ExclusionReason) String() string { return string(r.append(nil)) }

func (r *ExclusionReason) append(b []byte) []byte {
	num := func(n int, text string) {
		b = strconv.AppendInt(b, int64(n), 10)
		b = append(b, text...)
	}
	b = append(b, r.Code...)
	switch r.Code {
	case BudgetExceeded:
		b = append(b, ": "...)
		num(r.ItemTokens, " tokens requested, ")
		num(r.AvailableTokens, " available")
	case Deduplicated:
		b = append(b, ": the same content is in as another item"...)
	case NegativeTokens:
		b = append(b, ": "...)
		num(r.Tokens, " tokens")
	case PinnedOverride:
		b = append(b, ": pinned items took its place"...)
	case CountCapExceeded:
		b = append(append(append(b, ": "...), r.Kind...), " has "...)
		num(r.Count, " items, cap ")
		num(r.Cap, "")
	case ScoredTooLow:
		b = strconv.AppendFloat(append(b, ": score "...), r.Score, 'g', -1, 64)
		b = strconv.AppendFloat(append(b, " below "...), r.Threshold, 'g', -1, 64)
	case QuotaCapExceeded:
		b = append(append(append(b, ": "...), r.Kind...), " has "...)
		num(r.Actual, ", cap ")
		num(r.Cap, "")
	case QuotaRequireDisplaced:
		b = append(append(b, ": displaced by "...), r.DisplacedByKind...)
	case Filtered:
		b = append(append(b, ": "...), r.FilterName...)
	case CountRequireCandidatesExhausted:
		b = append(append(append(b, ": "...), r.Kind...), " requires "...)
		num(r.Required, ", available ")
		num(r.Available, "")
	}
	return b
}

// OverflowStrategy says what happens when pinned and sliced items together
// exceed the target.
//
// It implements the Enumerations chapter of the specification.
type OverflowStrategy uint8

// The overflow strategies. The zero value is the specification's default.
const (
	OverflowThrow    OverflowStrategy = iota // fail with an [OverflowError]
	OverflowTruncate                         // drop the lowest scored items that are not pinned
	OverflowProceed                          // keep everything and tell the observer
)

// String returns the specification's name: "Throw", "Truncate" or "Proceed".
func (s OverflowStrategy) String() string {
	switch s {
	case OverflowThrow:
		return "Throw"
	case OverflowTruncate:
		return "Truncate"
	case OverflowProceed:
		return "Proceed"
	}
	return "OverflowStrategy(" + strconv.Itoa(int(s)) + ")"
}
