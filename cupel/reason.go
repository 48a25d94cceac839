package cupel

import "strconv"

// InclusionReason says why an item is in the window. Reports of other
// implementations may carry reasons that are not listed here.
//
// It implements the Exclusion Reasons chapter of the specification.
type InclusionReason string

// The reasons for which the pipeline includes an item.
const (
	IncludeScored    InclusionReason = "Scored"    // by its score, within the budget
	IncludePinned    InclusionReason = "Pinned"    // pinned by the caller
	IncludeZeroToken InclusionReason = "ZeroToken" // at no cost: it has zero tokens
)

// ExclusionCode names a reason for leaving an item out. Reports of other
// implementations may carry codes that are not listed here.
//
// It implements the Exclusion Reasons chapter of the specification.
type ExclusionCode string

// The reasons that the pipeline and its slicers give.
const (
	// ExcludeBudgetExceeded: the item did not fit. Data: ItemTokens, AvailableTokens, and
	// GroupTokens when the item is in a group.
	ExcludeBudgetExceeded ExclusionCode = "BudgetExceeded"
	// ExcludeDeduplicated: another item has the same bytes and a better score, or the
	// same score and an earlier place. Data: DeduplicatedAgainst, Survivor.
	ExcludeDeduplicated ExclusionCode = "Deduplicated"
	// ExcludeNegativeTokens: the item's token count is negative. Data: Tokens.
	ExcludeNegativeTokens ExclusionCode = "NegativeTokens"
	// ExcludePinnedOverride: the item would have fitted, had nothing been pinned.
	// Data: DisplacedBy.
	ExcludePinnedOverride ExclusionCode = "PinnedOverride"
	// ExcludeCountCapExceeded: a count slicer had enough items of the kind. Data:
	// Kind, Cap, Count.
	ExcludeCountCapExceeded ExclusionCode = "CountCapExceeded"
	// ExcludeSuperseded: a newer version of the same thing is among the candidates.
	// Data: SupersededBy, Survivor.
	ExcludeSuperseded ExclusionCode = "Superseded"
)

// Reasons that are reserved: defined, read and written, but never given by
// the strategies of this module. Custom ones may give them.
const (
	// ExcludeScoredTooLow: below a threshold. Data: Score, Threshold.
	ExcludeScoredTooLow ExclusionCode = "ScoredTooLow"
	// ExcludeQuotaCapExceeded: the kind had its share. Data: Kind, Cap, Actual.
	ExcludeQuotaCapExceeded ExclusionCode = "QuotaCapExceeded"
	// ExcludeQuotaRequireDisplaced: displaced for another kind's requirement. Data:
	// DisplacedByKind.
	ExcludeQuotaRequireDisplaced ExclusionCode = "QuotaRequireDisplaced"
	// ExcludeFiltered: a predicate of the user's. Data: FilterName.
	ExcludeFiltered ExclusionCode = "Filtered"
	// ExcludeCountRequireCandidatesExhausted: no candidates were left for a
	// requirement. Data: Kind, Required, Available.
	ExcludeCountRequireCandidatesExhausted ExclusionCode = "CountRequireCandidatesExhausted"
)

// ExclusionReason says why an item is not in the window: a code, and with it
// the data of that code. A reason without data is ExclusionReason{Code: code};
// one with data comes from [NewExclusionReason]. It is immutable but for Code,
// which is not to be changed when there are data. [ExclusionReason.Equal]
// compares.
//
// A report holds one for each item that was left out, and so the data are kept
// in a few words: [ExclusionReason.Data] spreads them out.
type ExclusionReason struct {
	_ [0]func() // == would compare where data are kept

	Code ExclusionCode

	tokens, available int          // BudgetExceeded; NegativeTokens has tokens
	other             *ContextItem // Deduplicated, Superseded: the survivor; PinnedOverride: whose content it is; BudgetExceeded: the group's stand-in
	all               *ReasonData  // all data instead, where they do not fit above; never changed
}

// ReasonData are the data of an [ExclusionReason]. JSON has the fields that its
// code names, and of all others those that are not zero.
type ReasonData struct {
	ItemTokens      int // BudgetExceeded: size of the item, in tokens
	AvailableTokens int // BudgetExceeded: what was left, in tokens; may be negative
	GroupTokens     int // BudgetExceeded: size of the item's group, in tokens; 0 for one without

	DeduplicatedAgainst string       // Deduplicated: content of the item that stayed
	SupersededBy        string       // Superseded: content of the newest version
	Survivor            *ContextItem // Deduplicated, Superseded: the item that stayed; not in JSON

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

	present uint32 // fields that were read though the code does not name them, zero or not
	extra   *extraFields
}

// NewExclusionReason returns a reason with its data. Strategies of your own may
// use any code and any of the data: text, JSON and logs have all that is not
// zero.
func NewExclusionReason(code ExclusionCode, data ReasonData) ExclusionReason {
	r := ExclusionReason{Code: code}
	switch code {
	case ExcludeBudgetExceeded:
		r = budgetExceeded(data.ItemTokens, data.AvailableTokens)
	case ExcludeDeduplicated, ExcludeSuperseded:
		r.other = data.Survivor
	case ExcludeNegativeTokens:
		r = negativeTokens(data.Tokens)
	default: // they have memory of their own
	}
	if r.Data() != data { // there is more to keep
		all := data
		return ExclusionReason{Code: code, all: &all}
	}
	return r
}

func budgetExceeded(tokens, available int) ExclusionReason {
	return ExclusionReason{Code: ExcludeBudgetExceeded, tokens: tokens, available: available}
}

func deduplicated(survivor *ContextItem) ExclusionReason {
	return ExclusionReason{Code: ExcludeDeduplicated, other: survivor}
}

func superseded(newest *ContextItem) ExclusionReason {
	return ExclusionReason{Code: ExcludeSuperseded, other: newest}
}

func negativeTokens(tokens int) ExclusionReason {
	return ExclusionReason{Code: ExcludeNegativeTokens, tokens: tokens}
}

func pinnedOverride(pinned *ContextItem) ExclusionReason {
	return ExclusionReason{Code: ExcludePinnedOverride, other: pinned}
}

// Data returns the data of the reason.
func (r ExclusionReason) Data() ReasonData {
	if r.all != nil {
		return *r.all
	}
	switch {
	case r.Code == ExcludeBudgetExceeded:
		return ReasonData{ItemTokens: r.tokens, AvailableTokens: r.available, GroupTokens: r.other.Tokens()}
	case r.Code == ExcludeNegativeTokens:
		return ReasonData{Tokens: r.tokens}
	case r.Code == ExcludeDeduplicated && r.other != nil:
		return ReasonData{DeduplicatedAgainst: r.other.content, Survivor: r.other}
	case r.Code == ExcludeSuperseded && r.other != nil:
		return ReasonData{SupersededBy: r.other.content, Survivor: r.other}
	case r.Code == ExcludePinnedOverride && r.other != nil:
		return ReasonData{DisplacedBy: r.other.content}
	}
	return ReasonData{}
}

// String returns the code and its data as one line without the content of any
// item, such as "BudgetExceeded: 2048 tokens requested, 512 available".
func (r ExclusionReason) String() string { return string(r.append(nil)) }

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
