package naive

// Fault is a rule of the specification that the model breaks on purpose. A test
// sets each fault and expects a conformance vector to fail.
//
// The list leaves out rules that no vector can test: rules without an effect on
// results (the maximum that QuotaSlice gives to its inner slicer never binds),
// and rules that need the same pointer twice, a moving clock or a list without
// the item.
type Fault int

// FaultNone is the correct model.
const FaultNone Fault = 0

// Chapter returns the chapter of the specification that has the rule.
func (f Fault) Chapter() string { return f.described().chapter }

// Rule returns the rule that the fault breaks.
func (f Fault) Rule() string { return f.described().rule }

// String returns the name of the fault's constant without its prefix.
func (f Fault) String() string { return f.described().name }

func (f Fault) described() rule {
	if int(f) < len(rules) {
		return rules[f]
	}
	return unitRules[int(f)-len(rules)]
}

// Faults returns all faults, in the order of the chapters.
func Faults() []Fault {
	all := make([]Fault, 0, len(rules)+len(unitRules)-1)
	for f := FaultNone + 1; int(f) < len(rules)+len(unitRules); f++ {
		all = append(all, f)
	}
	return all
}

// The faults. Rule returns the rule that each breaks.
const (
	// Enumerations.
	FaultBlankKindAllowed Fault = iota + 1

	// ContextBudget.
	FaultTokenSumsWrap

	// Classify.
	FaultPinnedBeforeNegative
	FaultNegativeKept
	FaultNegativeReasonAbsolute
	FaultZeroTokensExcluded
	FaultPinnedIgnored
	FaultPinnedOrderReversed
	FaultScoreableOrderReversed
	FaultPinnedCheckUsesTarget
	FaultPinnedCheckIgnoresReserve
	FaultPinnedCheckUsesSlots
	FaultPinnedCheckUsesMargin
	FaultPinnedCheckMissing
	FaultPinnedCheckNonStrict

	// Score.
	FaultScoreSeesPinned
	FaultScoreClamped

	// Deduplicate.
	FaultDedupNever
	FaultDedupAlways
	FaultDedupKeepsLast
	FaultDedupKeepsFirst
	FaultDedupFoldsCase
	FaultDedupTrimsSpace
	FaultDedupComparesKind
	FaultDedupAgainstPinned
	FaultDedupReordersSurvivors
	FaultDedupScoreIsZero
	FaultDedupUnreported

	// Sort.
	FaultSortMissing
	FaultSortAscending
	FaultSortTieReversed
	FaultSortNaNFirst
	FaultSortNegativeZeroLower

	// Slice.
	FaultSlotsIgnored
	FaultSlotsCountItems
	FaultSlotsNotTakenFromTarget
	FaultPinnedNotSubtracted
	FaultReserveIgnored
	FaultReserveTakenFromTarget
	FaultEffectiveTargetNegative
	FaultEffectiveTargetNotClamped
	FaultMarginIgnored
	FaultMarginRounds
	FaultMarginIsFraction
	FaultMarginAppliedFirst
	FaultMergeInSlicerOrder

	// Place.
	FaultMergePinnedLast
	FaultPinnedScoreIsZero
	FaultOverflowUsesMax
	FaultOverflowUsesEffectiveTarget
	FaultOverflowNonStrict
	FaultOverflowIgnoresPinned
	FaultThrowProceeds
	FaultTruncateThrows
	FaultProceedThrows
	FaultProceedTruncates
	FaultTruncateFromFront
	FaultTruncateDropsPinned
	FaultTruncateStopsAtMisfit
	FaultTruncateStrict
	FaultTruncateToMax
	FaultTruncateKeepsZeroTokens

	// RecencyScorer.
	FaultRecencyAbsentIsHalf
	FaultRecencyNonStrict
	FaultRecencyOldestFirst
	FaultRecencyDenominatorAll
	FaultRecencyDenominatorWhole
	FaultRecencyLoneIsZero
	FaultRecencyNanosecondsWrap
	FaultRecencyWholeSeconds

	// PriorityScorer.
	FaultPriorityAbsentIsZero
	FaultPriorityNonStrict
	FaultPriorityLowestFirst
	FaultPriorityDenominatorAll
	FaultPriorityDenominatorWhole
	FaultPriorityLoneIsZero

	// KindScorer.
	FaultKindDefaultsFlat
	FaultKindEmptyIsDefault
	FaultKindUnknownIsHalf
	FaultKindClamped
	FaultKindCaseSensitive
	FaultKindFoldsUnicode
	FaultKindNegativeWeightAllowed
	FaultKindInfiniteWeightAllowed
	FaultKindTwiceAllowed

	// TagScorer.
	FaultTagFoldsCase
	FaultTagNotNormalised
	FaultTagUnclamped
	FaultTagDuplicatesOnce
	FaultTagFirstMatchOnly
	FaultTagNothingIsHalf
	FaultTagNegativeWeightAllowed
	FaultTagInfiniteWeightAllowed
	FaultTagInfiniteSumAllowed
	FaultTagTwiceAllowed

	// FrequencyScorer.
	FaultFrequencyCountsSelf
	FaultFrequencySelfByContent
	FaultFrequencyDenominatorWhole
	FaultFrequencyDenominatorTagged
	FaultFrequencyFirstTagOnly
	FaultFrequencyCaseSensitive
	FaultFrequencyFoldsUnicode

	// ReflexiveScorer.
	FaultReflexiveAbsentIsHalf
	FaultReflexiveInfinityClamped
	FaultReflexiveNotClampedAbove
	FaultReflexiveNotClampedBelow

	// CompositeScorer.
	FaultCompositeNotNormalised
	FaultCompositeUnweighted
	FaultCompositeMaximum
	FaultCompositeEmptyAllowed
	FaultCompositeZeroWeightAllowed
	FaultCompositeInfiniteWeightAllowed
	FaultCompositeInfiniteSumAllowed

	// ScaledScorer.
	FaultScaledEqualIsZero
	FaultScaledEqualIsOne
	FaultScaledFromZero
	FaultScaledInverted
	FaultScaledSelfByContent

	// MetadataTrustScorer.
	FaultTrustAbsentIsZero
	FaultTrustUnparseableIsZero
	FaultTrustInfinityClamped
	FaultTrustNotClampedAbove
	FaultTrustNotClampedBelow
	FaultTrustStringsIgnored
	FaultTrustNumbersIgnored
	FaultTrustReadsBooleans
	FaultTrustReadsHex
	FaultTrustTrimsSpace
	FaultTrustDefaultUnchecked

	// MetadataKeyScorer.
	FaultMetadataKeyNeutralIsZero
	FaultMetadataKeyPresenceSuffices
	FaultMetadataKeyFoldsCase
	FaultMetadataKeyStringsOnly
	FaultMetadataKeyClamped
	FaultMetadataKeyZeroBoostAllowed
	FaultMetadataKeyNegativeBoostAllowed
	FaultMetadataKeyInfiniteBoostAllowed

	// DecayScorer.
	FaultDecayAbsentIsZero
	FaultDecayAbsentIsHalf
	FaultDecayFutureNotClamped
	FaultDecayFutureIsOld
	FaultDecayAgeSaturates
	FaultDecayBaseE
	FaultDecayLinear
	FaultDecayStepInclusive
	FaultDecayStepBeyondIsZero
	FaultDecayWindowInclusive
	FaultDecayClockOptional
	FaultDecayNullScoreUnchecked
	FaultDecayHalfLifeUnchecked
	FaultDecayStepEmptyAllowed
	FaultDecayStepZeroAllowed
	FaultDecayStepOrderUnchecked
	FaultDecayStepScoreUnchecked
	FaultDecayWindowUnchecked

	// GreedySlice.
	FaultGreedyByScore
	FaultGreedyTieReversed
	FaultGreedyZeroTokenLast
	FaultGreedyZeroTokenByScore
	FaultGreedyZeroTokenDropped
	FaultGreedyZeroTarget
	FaultGreedyStopsAtMisfit
	FaultGreedyStrictFit
	FaultGreedyNeverFull
	FaultGreedyFillsMax

	// KnapsackSlice.
	FaultKnapsackDefaultBucketIsOne
	FaultKnapsackBucketIgnored
	FaultKnapsackBucketUnchecked
	FaultKnapsackFloorsWeights
	FaultKnapsackCeilsCapacity
	FaultKnapsackCapacityZeroIsEmpty
	FaultKnapsackZeroTokenDropped
	FaultKnapsackZeroTarget
	FaultKnapsackScoresRounded
	FaultKnapsackScoresCoarse
	FaultKnapsackScoresIgnored
	FaultKnapsackNonStrict
	FaultKnapsackForward
	FaultKnapsackReconstructsForward

	// QuotaSlice.
	FaultQuotaCaseSensitive
	FaultQuotaFoldsUnicode
	FaultQuotaRequireIgnored
	FaultQuotaCapIgnored
	FaultQuotaBudgetNotCapped
	FaultQuotaUnlistedKindsStarve
	FaultQuotaAbsentKindsReleased
	FaultQuotaUnassignedIsTarget
	FaultQuotaMassCountsItems
	FaultQuotaMassOfFixedKinds
	FaultQuotaNoProportionalShare
	FaultQuotaWholeBudgetForEach
	FaultQuotaPercentRounds
	FaultQuotaShareRounds
	FaultQuotaProductWraps
	FaultQuotaInnerNotNarrowed
	FaultQuotaRangeUnchecked
	FaultQuotaRequireAboveCapAllowed
	FaultQuotaRequireSumUnchecked
	FaultQuotaTwiceAllowed

	// Count slicers.
	FaultCountCaseSensitive
	FaultCountFoldsUnicode
	FaultCountRequireIgnored
	FaultCountCommitsLowest
	FaultCountCommitsUnsorted
	FaultCountCommitTieReversed
	FaultCountCommitsWithinBudget
	FaultCountResidualTargetWhole
	FaultCountSeedReset
	FaultCountCapIgnored
	FaultCountCapOneMore
	FaultCountUnlistedKindsCapped
	FaultCountQuotaResorts
	FaultCountRequiresOfNothing
	FaultCountShortfallMissing
	FaultCountAbsentKindNoShortfall
	FaultCountShortfallIsMissingCount
	FaultCountInnerShortfallsLost
	FaultCountNeverThrows
	FaultCountAlwaysThrows
	FaultCountCapReasonIsBudget
	FaultCountCapReasonCountsDropped
	FaultCountKnapsackAllowed
	FaultCountGuardStopsAtWrapper
	FaultCountNegativeAllowed
	FaultCountZeroCapRefused
	FaultCountRequireAboveCapAllowed
	FaultCountTwiceAllowed
	FaultConstrainedSeedReset
	FaultConstrainedNoResort
	FaultConstrainedResortAscending
	FaultConstrainedResortTieReversed

	// Placers.
	FaultChronologicalNewestFirst
	FaultChronologicalAbsentFirst
	FaultChronologicalTieReversed
	FaultChronologicalTieByScore
	FaultChronologicalNanosecondsWrap
	FaultChronologicalWholeSeconds
	FaultUShapedLowestAtEdges
	FaultUShapedTieReversed
	FaultUShapedUnsorted
	FaultUShapedSorted
	FaultUShapedOddLeft

	// Diagnostics.
	FaultAvailableIsTarget
	FaultAvailableIgnoresPinned
	FaultAvailableIsFromMax
	FaultAvailableNotNegative
	FaultTruncateAvailableIsTarget
	FaultOverrideNever
	FaultOverrideNeverAtSlice
	FaultOverrideNeverAtTruncate
	FaultOverrideOfWhatFits
	FaultOverrideOfWhatNeverFits
	FaultOverrideOfZeroTokens
	FaultOverrideNamesLast
	FaultOverrideNamesLargest
	FaultTotalsSkipNegative
	FaultTotalsSkipPinned
	FaultExcludedUnsorted
	FaultExcludedAscending
	FaultExcludedStageIgnored
	FaultExcludedTieReversed
	FaultIncludedBeforePlacing
	FaultPinnedZeroTokenReason
	FaultZeroTokenReasonIsScored
	FaultZeroTokenScoreIsZero
	FaultShortfallsUnreported
	FaultEventsCountIn
	FaultSliceEventCountsPinned
	FaultPlaceEventBeforeTruncation
	FaultDeduplicateEventMissing
)
