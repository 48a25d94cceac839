package naive

// The faults of the chapter on units; they follow those of the other chapters.
const (
	FaultGroupsIgnored Fault = iota + FaultDeduplicateEventMissing + 1
	FaultPinnedMembersShrink
	FaultUnitScoreOfFirst
	FaultUnitScoreLeast
	FaultUnitKindOfFirst
	FaultUnitKindCountsMembers
	FaultUnitKindTieLast
	FaultNegativeMemberAlone
	FaultNegativeGroupOwnTokens
	FaultFitPinnedToCeiling
	FaultFitPinnedNever
	FaultFitPinnedUnweighted
	FaultFitPinnedTieFirst
	FaultVersionsIgnored
	FaultNewestIsFirst
	FaultVersionTimestampsMixed
	FaultVersionTimestampsIgnored
	FaultVersionTieFirst
	FaultStaleUnmarked
	FaultVersionsRemovePinned
	FaultVersionsRemoveMembers
	FaultStaleMemberStaysFull
	FaultNearShortTexts
	FaultNearAnyNumbers
	FaultNearLineNumbers
	FaultNearOldestStays
	FaultNearCopyOfCopy
	FaultNearMembersLeave
	FaultDedupLoneWithGroup
	FaultDedupGroupsByFirst
	FaultDedupGroupsNever
	FaultDedupAgainstFirstMember
	FaultOlderOfDuplicateLost
	FaultChainSharesEqual
	FaultChainByLoss
	FaultChainTieFirst
	FaultPinnedGroupVariant
	FaultGroupVariantIgnored
	FaultGroupVariantNotSmaller
	FaultUselessKept
	FaultChainUnsorted
	FaultLeftOverAlways
	FaultLeftOverNever
	FaultLeftOverZeroTarget
	FaultDropsReturn
	FaultInfinityNotClamped
	FaultValueIgnoresWorth
	FaultOlderHasNewestScore
	FaultOlderOfMembers
	FaultOlderWhereNewestFits
	FaultOlderFirst
	FaultOlderAtNewestPlace
	FaultFillTakesLosses
	FaultFillRefusesNoGain
	FaultHullEveryPoint
	FaultHullDropsEdge
	FaultFillByGain
	FaultFillByPosition
	FaultFillTieLast
	FaultFillNoSteps
	FaultFillStopsAtMisfit
	FaultFillNoSecondPass
	FaultMultipleChoiceNoSingle
	FaultGroupTokensMissing
	FaultItemTokensOfGroup
	FaultOverrideByMember
	FaultMembersOwnScore
	FaultGroupVariantTokensTwice
	FaultGroupVariantFormFromOne
	FaultFormIsOfUnit
	FaultPinnedReasonOwnOnly
	FaultZeroTokenOfForm
	FaultTruncateShrinksPinnedFirst
	FaultTruncateShrinksFromFront
	FaultTruncateDropsFirst
	FaultTruncateShrinksToSmallest
	FaultOriginalTokensReplaced
	FaultOriginalTokensMissing
	FaultDiverseFromUnchecked
	FaultDiverseNoDefault
	FaultDiverseFromIgnored
	FaultDiverseZeroTarget
	FaultDiverseMisfitsCount
	FaultDiverseTieLast
	FaultDiverseLastTaken
	FaultDiverseAtFrom
	FaultDiverseNegativeScores
	FaultDiverseIgnored
	FaultDiverseShortTexts
	FaultDiverseAnyLength
	FaultDiverseAnyLikeness
	FaultDiverseMatchesCase
	FaultDiverseUnderscores
	FaultDiversePairsRepeat
)

// unitRules describes the faults of the chapter on units.
var unitRules = []rule{
	{"GroupsIgnored", "Units", "items of a group are in or out together"},
	{"PinnedMembersShrink", "Units", "an item that the caller pinned never shrinks"},
	{"UnitScoreOfFirst", "Units", "the score of a unit is the greatest of its members' scores, not the first's"},
	{"UnitScoreLeast", "Units", "the score of a unit is not the least of its members' scores"},
	{"UnitKindOfFirst", "Units", "the kind of a unit is that of most of its tokens"},
	{"UnitKindCountsMembers", "Units", "the kind of a unit goes by tokens, not by the number of members"},
	{"UnitKindTieLast", "Units", "of kinds with equal tokens the first is the unit's"},
	{"NegativeMemberAlone", "Units", "a member with negative tokens puts its whole group out"},
	{"NegativeGroupOwnTokens", "Units", "the reason of each member has the tokens of the first negative one"},
	{"FitPinnedToCeiling", "Units", "pinned units shrink until they are within the target, not the ceiling"},
	{"FitPinnedNever", "Units", "pinned units shrink before they are too large"},
	{"FitPinnedUnweighted", "Units", "the pinned unit that shrinks is chosen by worth weighted by the unit's tokens"},
	{"FitPinnedTieFirst", "Units", "of pinned units that lose the same the later shrinks"},
	{"VersionsIgnored", "Units", "an older version is superseded"},
	{"NewestIsFirst", "Units", "the newest version is not the first"},
	{"VersionTimestampsMixed", "Units", "timestamps say which version is newest only where all have one"},
	{"VersionTimestampsIgnored", "Units", "timestamps say which version is newest where all have one"},
	{"VersionTieFirst", "Units", "of equal timestamps the last is the newest"},
	{"StaleUnmarked", "Units", "what has a newer version is marked stale"},
	{"VersionsRemovePinned", "Units", "a pinned item is never superseded"},
	{"VersionsRemoveMembers", "Units", "a member of a group is never superseded"},
	{"StaleMemberStaysFull", "Units", "a stale member starts at its smallest variant"},
	{"NearShortTexts", "Units", "texts of fewer than 50 words are no near copies"},
	{"NearAnyNumbers", "Units", "near copies have no numbers that differ"},
	{"NearLineNumbers", "Units", "line numbers are not part of the text"},
	{"NearOldestStays", "Units", "of near copies the newest stays"},
	{"NearCopyOfCopy", "Units", "a near copy is one of an item that stays"},
	{"NearMembersLeave", "Units", "a near copy in a group stays, stale"},
	{"DedupLoneWithGroup", "Units", "groups are compared with groups, in all of their contents"},
	{"DedupGroupsByFirst", "Units", "groups are the same when all of their contents are"},
	{"DedupGroupsNever", "Units", "groups are deduplicated"},
	{"DedupAgainstFirstMember", "Units", "each member is deduplicated against the member at its place"},
	{"OlderOfDuplicateLost", "Units", "the survivor stands for a newest version that is its duplicate"},
	{"ChainSharesEqual", "Units", "the members' shares go by tokens"},
	{"ChainByLoss", "Units", "the member shrinks that loses the least worth per token"},
	{"ChainTieFirst", "Units", "of members that lose the same the later shrinks"},
	{"PinnedGroupVariant", "Units", "group variants are no forms of a unit with a pinned member"},
	{"GroupVariantIgnored", "Units", "group variants are forms of the group"},
	{"GroupVariantNotSmaller", "Units", "a group variant that is not smaller than the group is not used"},
	{"UselessKept", "Units", "a form that another one makes useless is left out"},
	{"ChainUnsorted", "Units", "forms are in the order of their tokens"},
	{"LeftOverAlways", "Units", "the left-over pass follows no slicer that does not ask for it"},
	{"LeftOverNever", "Units", "the left-over pass follows the slicers of the chapter"},
	{"LeftOverZeroTarget", "Units", "a target of 0 selects no forms either"},
	{"DropsReturn", "Units", "what a slicer dropped does not return"},
	{"InfinityNotClamped", "Units", "a score of +Inf counts as the largest float64"},
	{"ValueIgnoresWorth", "Units", "the value of a form is its worth times the score"},
	{"OlderHasNewestScore", "Units", "an older version has its own score as its value"},
	{"OlderOfMembers", "Units", "older versions of a group's member stay out"},
	{"OlderWhereNewestFits", "Units", "an older version comes back only where the newest does not fit"},
	{"OlderFirst", "Units", "older versions come after all smaller forms"},
	{"OlderAtNewestPlace", "Units", "an older version that came back has its own score and place"},
	{"FillTakesLosses", "Units", "values below 0 are never taken"},
	{"FillRefusesNoGain", "Units", "forms that gain nothing are taken last, where they fit"},
	{"HullEveryPoint", "Units", "forms below the upper convex hull are no steps"},
	{"HullDropsEdge", "Units", "points on an edge of the hull are steps of their own"},
	{"FillByGain", "Units", "steps are taken by gain per token"},
	{"FillByPosition", "Units", "steps are taken in the order of their rates"},
	{"FillTieLast", "Units", "of steps with equal rates the first unit's comes first"},
	{"FillNoSteps", "Units", "the hull's steps come before what it left unused"},
	{"FillStopsAtMisfit", "Units", "a step that does not fit does not end the pass"},
	{"FillNoSecondPass", "Units", "what the hull left unused is filled by position"},
	{"MultipleChoiceNoSingle", "Units", "the best single form is taken where it is worth more than all steps"},
	{"GroupTokensMissing", "Units", "BudgetExceeded of a member has group_tokens"},
	{"ItemTokensOfGroup", "Units", "item_tokens are the member's own"},
	{"OverrideByMember", "Units", "PinnedOverride goes by the tokens of the unit"},
	{"MembersOwnScore", "Units", "members report the score of their unit"},
	{"GroupVariantTokensTwice", "Units", "a group variant counts its tokens once in the report"},
	{"GroupVariantFormFromOne", "Units", "a group variant counts after the variants of the member"},
	{"FormIsOfUnit", "Units", "the form of a member is its own variant"},
	{"PinnedReasonOwnOnly", "Units", "each member of a pinned unit has the reason Pinned"},
	{"ZeroTokenOfForm", "Units", "ZeroToken goes by the full form"},
	{"TruncateShrinksPinnedFirst", "Units", "Truncate shrinks pinned units last"},
	{"TruncateShrinksFromFront", "Units", "Truncate shrinks from the last unit on"},
	{"TruncateDropsFirst", "Units", "Truncate shrinks before it drops"},
	{"TruncateShrinksToSmallest", "Units", "Truncate shrinks one form at a time"},
	{"OriginalTokensReplaced", "Units", "a smaller form keeps the item's own originalTokens"},
	{"OriginalTokensMissing", "Units", "a smaller form has the full item's tokens as originalTokens"},
	{"DiverseFromUnchecked", "Units", "from is at most 1"},
	{"DiverseNoDefault", "Units", "from 0 is the default, 0.3"},
	{"DiverseFromIgnored", "Units", "likeness costs from the setting from on"},
	{"DiverseZeroTarget", "Units", "DiverseSlice selects nothing with a target of 0"},
	{"DiverseMisfitsCount", "Units", "what does not fit makes nothing worth less"},
	{"DiverseTieLast", "Units", "of equal worth the first by position is taken"},
	{"DiverseLastTaken", "Units", "the greatest likeness to anything taken counts"},
	{"DiverseAtFrom", "Units", "a likeness of exactly from costs nothing"},
	{"DiverseNegativeScores", "Units", "scores below 0 stay as they are"},
	{"DiverseIgnored", "Units", "what is like something taken is worth less"},
	{"DiverseShortTexts", "Units", "texts of fewer than eight words are not alike"},
	{"DiverseAnyLength", "Units", "texts are not alike where one has more than twice the pairs"},
	{"DiverseAnyLikeness", "Units", "a likeness below 0.25 counts as 0"},
	{"DiverseMatchesCase", "Units", "words are compared in small letters"},
	{"DiverseUnderscores", "Units", "underscores separate words"},
	{"DiversePairsRepeat", "Units", "a pair of words counts once"},
}
