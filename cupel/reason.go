package cupel

// InclusionReason is the reason why an item is in the window. Reports of other
// implementations may have reasons that are not listed here.
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
// implementations may have codes that are not listed here.
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
	// ExcludeSuperseded: the candidates include a newer version of the same thing.
	// Data: SupersededBy, Survivor.
	ExcludeSuperseded ExclusionCode = "Superseded"
	// ExcludeNearDuplicate: a newer item has nearly the same text. Data: Of,
	// Similarity, Survivor.
	ExcludeNearDuplicate ExclusionCode = "NearDuplicate"
)

// Reserved reasons: defined, read and written, but never given by the
// strategies of this module. Custom strategies may give them.
const (
	// ExcludeScoredTooLow: below a threshold. Data: Score, Threshold.
	ExcludeScoredTooLow ExclusionCode = "ScoredTooLow"
	// ExcludeQuotaCapExceeded: the kind had its share. Data: Kind, Cap, Actual.
	ExcludeQuotaCapExceeded ExclusionCode = "QuotaCapExceeded"
	// ExcludeQuotaRequireDisplaced: displaced for another kind's requirement. Data:
	// DisplacedByKind.
	ExcludeQuotaRequireDisplaced ExclusionCode = "QuotaRequireDisplaced"
	// ExcludeFiltered: a predicate of the caller rejected the item. Data: FilterName.
	ExcludeFiltered ExclusionCode = "Filtered"
	// ExcludeCountRequireCandidatesExhausted: no candidates were left for a
	// requirement. Data: Kind, Required, Available.
	ExcludeCountRequireCandidatesExhausted ExclusionCode = "CountRequireCandidatesExhausted"
)

// ExclusionReason is the reason why an item is not in the window: a code, and the
// data of that code. Write a reason without data as ExclusionReason{Code: code};
// make one with data by [NewExclusionReason]. Compare reasons with
// [ExclusionReason.Equal]. A reason is immutable except for Code, which must not
// change once there are data.
//
// A report holds a reason for each excluded item, so a reason packs its data into
// little memory. [ExclusionReason.Data] unpacks them.
type ExclusionReason struct {
	_ [0]func() // data need Equal, not ==

	Code ExclusionCode

	tokens, available int          // BudgetExceeded; NegativeTokens has tokens; NearDuplicate: shared shingles of all
	other             *ContextItem // Deduplicated, Superseded, NearDuplicate: the survivor; PinnedOverride: whose content it is; BudgetExceeded: the group's stand-in
	all               *ReasonData  // all data, where they do not fit above; never changed
}

// ReasonData are the data of an [ExclusionReason]. JSON has the fields that the
// code names, even where they are zero, and all others that are not zero. Fields
// that hold the content of an item stay out of texts and logs.
type ReasonData struct {
	ItemTokens      int `json:"item_tokens"`      // BudgetExceeded: size of the item, in tokens
	AvailableTokens int `json:"available_tokens"` // BudgetExceeded: what was left, in tokens; may be negative

	Score     float64 `json:"score"`     // ScoredTooLow
	Threshold float64 `json:"threshold"` // ScoredTooLow

	DeduplicatedAgainst string `json:"deduplicated_against" holds:"content"` // Deduplicated: content of the item that stayed

	Kind            ContextKind `json:"kind"`              // CountCapExceeded, QuotaCapExceeded, CountRequireCandidatesExhausted
	Cap             int         `json:"cap"`               // CountCapExceeded, QuotaCapExceeded: the most that was allowed
	Actual          int         `json:"actual"`            // QuotaCapExceeded
	DisplacedByKind ContextKind `json:"displaced_by_kind"` // QuotaRequireDisplaced

	Tokens      int    `json:"tokens"`                       // NegativeTokens: the item's token count
	DisplacedBy string `json:"displaced_by" holds:"content"` // PinnedOverride: content of the first pinned item
	FilterName  string `json:"filter_name"`                  // Filtered

	Count     int `json:"count"`     // CountCapExceeded: items of the kind selected when this one was dropped
	Required  int `json:"required"`  // CountRequireCandidatesExhausted
	Available int `json:"available"` // CountRequireCandidatesExhausted

	GroupTokens  int     `json:"group_tokens"`                  // BudgetExceeded: size of the item's group, in tokens; 0 for one without
	SupersededBy string  `json:"superseded_by" holds:"content"` // Superseded: content of the newest version
	Of           string  `json:"of" holds:"content"`            // NearDuplicate: content of the newer item
	Similarity   float64 `json:"similarity"`                    // NearDuplicate: share of the item's four-word sequences that the newer item has, in (0,1]

	Survivor *ContextItem `json:"-"` // Deduplicated, Superseded, NearDuplicate: the item that stayed

	present uint32 // fields that were read although the code does not name them, zero or not
	extra   *extraFields
}

// NewExclusionReason returns a reason with its data. Custom strategies may use
// any code and any of the data: text, JSON and logs show all that are not zero.
func NewExclusionReason(code ExclusionCode, data ReasonData) ExclusionReason {
	return ExclusionReason{Code: code, all: &data}
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
	case r.Code == ExcludeNearDuplicate && r.other != nil:
		return ReasonData{Of: r.other.content, Similarity: float64(r.tokens) / float64(r.available), Survivor: r.other}
	case r.Code == ExcludePinnedOverride && r.other != nil:
		return ReasonData{DisplacedBy: r.other.content}
	}
	return ReasonData{}
}
