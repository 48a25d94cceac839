package cupelotel

import (
	"strings"

	"go.opentelemetry.io/otel/attribute"

	"github.com/wollax/cupel-go/cupel"
)

// The comments of this file are the table of docs/telemetry.md, which
// go test -run TestTelemetryTable -update writes.

// Attributes of the root span.
//
//	on:        cupel.pipeline
//	verbosity: all
//	cost:      0.1 µs each
const (
	// BudgetMaxTokensKey is the pipeline's maximum token budget (int, tokens). Not set
	// on runs that prepare, which have no budget and no window.
	BudgetMaxTokensKey = attribute.Key("cupel.budget.max_tokens")
	// VerbosityKey is the name of the [Verbosity] (string).
	VerbosityKey = attribute.Key("cupel.verbosity")
	// RunModeKey is how the run was started (string): "run", "stream", "prepare" for
	// one that makes a [pipeline.Prepared], "prepared" for one that uses it, "session" for
	// a run that chooses for a turn, "dry_run", or "simulation" for a dry run of a
	// Prepared. Metrics have it too.
	RunModeKey = attribute.Key("cupel.run.mode")
	// PipelineNameKey is the name of the pipeline (string): that of
	// [WithPipelineName], else that of the [pipeline.Config], which a policy sets. Set
	// only on pipelines with a name. Metrics and spans of turns have it too.
	PipelineNameKey = attribute.Key("cupel.pipeline.name")
	// PolicyNameKey and PolicyHashKey are the name of the policy that the pipeline was
	// made from, and the hash of its contents (string). Set only on such pipelines, the
	// name only if it has one.
	PolicyNameKey = attribute.Key("cupel.policy.name")
	PolicyHashKey = attribute.Key("cupel.policy.hash")
	// ConversationIDKey is OpenTelemetry's id of the conversation (string): that of
	// [ContextWithConversationID], or of the baggage. Set only where there is one. Spans
	// of turns have it too.
	ConversationIDKey = attribute.Key("gen_ai.conversation.id")
	// AgentNameKey is OpenTelemetry's name of the agent (string): that of
	// [ContextWithAgentName], or of the baggage. Set only where there is one. Spans of
	// turns have it too.
	AgentNameKey = attribute.Key("gen_ai.agent.name")
	// BudgetTargetTokensKey and BudgetOutputReserveKey are the budget's target, and
	// what it keeps for the answer (int, tokens).
	BudgetTargetTokensKey  = attribute.Key("cupel.budget.target_tokens")
	BudgetOutputReserveKey = attribute.Key("cupel.budget.output_reserve")
	// CandidatesKey is the number of candidates (int). A streaming run sets it at its
	// end, so that samplers do not see it.
	CandidatesKey = attribute.Key("cupel.run.candidates")
	// IncludedKey and SelectedTokensKey are the number of items in the window, and
	// their tokens (int). Not set on runs that failed.
	IncludedKey       = attribute.Key("cupel.run.included")
	SelectedTokensKey = attribute.Key("cupel.run.selected_tokens")
	// UtilizationKey and TargetUtilizationKey are the tokens of the window as a
	// fraction of the budget's maximum, and of its target (double); 0 where that is 0.
	// Above 1 the window has more. Not set on runs that failed.
	UtilizationKey       = attribute.Key("cupel.budget.utilization")
	TargetUtilizationKey = attribute.Key("cupel.budget.target_utilization")
	// ShortfallCountKey is the number of kinds with too few candidates
	// (int). Set only when above 0.
	ShortfallCountKey = attribute.Key("cupel.shortfall.count")
	// OverflowTokensKey is by how many tokens the window exceeds the target under
	// [pipeline.OverflowProceed] (int). Set only when above 0. From
	// StageAndExclusions on, the event cupel.overflow has it too.
	OverflowTokensKey = attribute.Key("cupel.overflow.tokens")
)

// Attributes of the events of shortfalls, on the root span.
//
//	on:        event cupel.shortfall
//	verbosity: StageAndExclusions, Full
//	cost:      1 µs an event
const (
	// ShortfallKindKey is the kind, as the slicer's configuration spells it (string).
	// Metrics have it too.
	ShortfallKindKey = attribute.Key("cupel.shortfall.kind")
	// ShortfallRequiredKey and ShortfallSatisfiedKey are the number of items of the
	// kind that are required, and that are in (int).
	ShortfallRequiredKey  = attribute.Key("cupel.shortfall.required")
	ShortfallSatisfiedKey = attribute.Key("cupel.shortfall.satisfied")
)

// The values of [RunModeKey].
const (
	modeRun        = "run"
	modeStream     = "stream"
	modePrepare    = "prepare"
	modePrepared   = "prepared"
	modeSession    = "session"
	modeDryRun     = "dry_run"
	modeSimulation = "simulation"
)

// Attributes of the stage spans.
//
//	on:        cupel.stage.*
//	verbosity: all
//	cost:      0.1 µs each
const (
	// StageNameKey is the name of the stage in lowercase (string). Metrics have it
	// too.
	StageNameKey = attribute.Key("cupel.stage.name")
	// StageItemCountInKey is the number of items entering the stage (int).
	StageItemCountInKey = attribute.Key("cupel.stage.item_count_in")
	// StageItemCountOutKey is the number of items leaving the stage (int); 0
	// for a stage that failed.
	StageItemCountOutKey = attribute.Key("cupel.stage.item_count_out")
)

// Attributes of the stage spans about times. With [WithPipelineClock], only
// StageBusyTimeKey is set.
//
//	on:        cupel.stage.*
//	verbosity: all
//	cost:      1 µs for each strategy
const (
	// StageBusyTimeKey is the time that a streaming run spent in the stage (double,
	// seconds). The span lasts from the first batch to the last.
	StageBusyTimeKey = attribute.Key("cupel.stage.busy_time")
	// StrategyTimePrefix is what the names of the times of strategies begin with
	// (double, seconds); the types of the strategies follow, from the pipeline's own
	// down, such as cupel.strategy.time.Composite.Recency. The second Tag of a
	// Composite is Tag.2; equal ones, such as two scorer.Recency{}, are one. The time
	// of a strategy includes its parts, and all calls. Set on score, slice and place,
	// for up to 64 strategies.
	StrategyTimePrefix = "cupel.strategy.time."
)

// Attributes of the spans of strategies, which [WithStrategySpans] adds.
//
//	on:        cupel.strategy.*
//	verbosity: all, with WithStrategySpans
//	cost:      2 µs a span
const (
	// StrategyTypeKey is the Go type of the strategy (string), such as "*scorer.Tag".
	StrategyTypeKey = attribute.Key("cupel.strategy.type")
	// StrategyCallsKey is the number of calls (int). A streaming run calls a scorer for
	// each batch, and some slicers call others for each kind.
	StrategyCallsKey = attribute.Key("cupel.strategy.calls")
	// StrategyBusyTimeKey is the time of all calls (double, seconds). The span lasts
	// from the start of the first call to the end of the last.
	StrategyBusyTimeKey = attribute.Key("cupel.strategy.busy_time")
)

// Attributes of the stage spans about what was left out.
//
//	on:        cupel.stage.*
//	verbosity: StageAndExclusions, Full
//	cost:      0.1 µs each
const (
	// ExclusionCountKey is the number of items that the stage left out (int).
	// It is exact even when the event limit drops events.
	ExclusionCountKey = attribute.Key("cupel.exclusion.count")
	// ExclusionReasonsKey is the number of items that the stage left out by reason
	// (string), such as "BudgetExceeded=12 Deduplicated=3", sorted by name. Reasons
	// that Cupel does not have are counted as "_OTHER". Set only when the stage left
	// something out.
	ExclusionReasonsKey = attribute.Key("cupel.exclusion.reasons")
	// ExclusionDroppedCountKey is the number of exclusions without an event because
	// of the collector's limit or, where the span tells, the SDK's (int). Set only
	// when above 0.
	ExclusionDroppedCountKey = attribute.Key("cupel.exclusion.dropped_count")
	// ItemDroppedCountKey is the number of items of the window without an event
	// because of either limit (int). Set only on the place stage at
	// [VerbosityFull], and only when above 0.
	ItemDroppedCountKey = attribute.Key("cupel.item.dropped_count")
)

// Attributes of the events of items that were left out, on the span of the stage.
//
//	on:        event cupel.exclusion
//	verbosity: StageAndExclusions, Full
//	cost:      1 µs an event
const (
	// ExclusionReasonKey is the name of the reason (string), open-ended. Metrics have
	// it too, with "_OTHER" for all other reasons.
	ExclusionReasonKey = attribute.Key("cupel.exclusion.reason")
	// ExclusionItemKindKey is the kind of the item (string).
	ExclusionItemKindKey = attribute.Key("cupel.exclusion.item_kind")
	// ExclusionItemTokensKey is the size of the item (int, tokens).
	ExclusionItemTokensKey = attribute.Key("cupel.exclusion.item_tokens")
	// ExclusionItemScoreKey is the item's score (double); 0 for items left out before
	// they were scored.
	ExclusionItemScoreKey = attribute.Key("cupel.exclusion.item_score")
	// ExclusionItemGroupKey is the group of the item (string). Set only on items
	// with a group.
	ExclusionItemGroupKey = attribute.Key("cupel.exclusion.item_group")
	// ExclusionGroupTokensKey is the size of the item's group where the group did
	// not fit (int, tokens).
	ExclusionGroupTokensKey = attribute.Key("cupel.exclusion.group_tokens")
	// ExclusionItemStaleKey is true for an item that has a newer version among
	// the candidates (bool). Set only when true.
	ExclusionItemStaleKey = attribute.Key("cupel.exclusion.item_stale")
	// ExclusionDataPrefix is what the names of a reason's data begin with (int, double
	// or string), such as cupel.exclusion.data.cap. Only reasons of custom strategies
	// have them.
	ExclusionDataPrefix = "cupel.exclusion.data."
)

// Attributes of the events of the items in the window, on cupel.stage.place.
//
//	on:        event cupel.item.included
//	verbosity: Full
//	cost:      1 µs an event
const (
	// ItemKindKey is the kind of the item (string).
	ItemKindKey = attribute.Key("cupel.item.kind")
	// ItemTokensKey is the size of the item in the window (int, tokens).
	ItemTokensKey = attribute.Key("cupel.item.tokens")
	// ItemScoreKey is the item's final score (double); 1 for pinned items.
	ItemScoreKey = attribute.Key("cupel.item.score")
	// ItemGroupKey is the group of the item (string). Set only on items with a
	// group.
	ItemGroupKey = attribute.Key("cupel.item.group")
	// ItemFormKey is the form of the item in the window, as
	// [cupel.IncludedItem.Form] counts (int). Set only on smaller forms, so that
	// it is at least 1.
	ItemFormKey = attribute.Key("cupel.item.form")
	// ItemStaleKey is true for an item that has a newer version among the
	// candidates (bool). Set only when true.
	ItemStaleKey = attribute.Key("cupel.item.stale")
)

// Attributes of the events of items, only by [WithItemAttributes].
//
//	on:        event cupel.exclusion, event cupel.item.included
//	verbosity: StageAndExclusions, Full; only where asked for
//	cost:      0.3 µs each; a hash 1 µs, and 1 ms for 1 MB of content
const (
	// ItemIDKey is the id of the item (string): that of [ItemID].
	ItemIDKey = attribute.Key("cupel.item.id")
	// ItemSourceKey is the source of the item (string): that of [ItemSource].
	ItemSourceKey = attribute.Key("cupel.item.source")
	// ItemHashKey is a keyed hash of the content (string): that of [ItemHash].
	ItemHashKey = attribute.Key("cupel.item.hash")
)

// Attributes of the log record of a run, only by [WithLoggerProvider]. It has those of
// the root span too.
//
//	on:        log record cupel.selection
//	verbosity: all
//	cost:      20 µs, and 0.15 µs an item
const (
	// ExcludedKey is the number of items that were left out (int). An older version that
	// makes room for the newest counts, also if it comes back.
	ExcludedKey = attribute.Key("cupel.run.excluded")
	// SelectionExcludedByReasonKey is the number of items that were left out, and their
	// tokens, by reason (map): for each one a map of items and tokens. Reasons that Cupel
	// does not have are counted as "_OTHER". Set only when something was left out.
	SelectionExcludedByReasonKey = attribute.Key("cupel.selection.excluded_by_reason")
	// SelectionExcludedByKindKey is the same by kind (map). The 32 kinds with the most
	// items have their names; all others are counted as "_OTHER".
	SelectionExcludedByKindKey = attribute.Key("cupel.selection.excluded_by_kind")
	// SelectionIncludedByKindKey is the number of items of the window, and their tokens, by
	// kind (map), as above. Not set on runs that failed.
	SelectionIncludedByKindKey = attribute.Key("cupel.selection.included_by_kind")
)

// Attributes of the two spans of a turn. Tokens are those of the items, as they are
// estimated, unless a name ends in reported. Costs are in units of the price of a
// token of plain input.
//
//	on:        cupel.session.turn, cupel.session.commit
//	verbosity: all
//	cost:      0.1 µs each
const (
	// SessionTurnKey is the number of the turn in its session, from 1 (int). A turn that
	// is proposed again has the same.
	SessionTurnKey = attribute.Key("cupel.session.turn")
	// SessionCommittedKey tells the two spans apart (bool): false on a proposal,
	// true on its commit.
	SessionCommittedKey = attribute.Key("cupel.session.committed")
	// SessionCandidatesKey is the number of items of the conversation (int). Only
	// on the turn.
	SessionCandidatesKey = attribute.Key("cupel.session.candidates")
	// SessionItemsKey and SessionTokensKey are the size of the window (int).
	SessionItemsKey  = attribute.Key("cupel.session.items")
	SessionTokensKey = attribute.Key("cupel.session.tokens")
	// SessionKeptItemsKey and SessionKeptTokensKey are the part at the beginning of
	// the window that is sent as it was sent before (int).
	SessionKeptItemsKey  = attribute.Key("cupel.session.kept_items")
	SessionKeptTokensKey = attribute.Key("cupel.session.kept_tokens")
	// SessionBreakReasonKey is why the window differs from what was sent before
	// (string): "changed", "forced", "free" or "worth it". Set only at a break;
	// metrics of breaks have it too, with "_OTHER" for all other reasons.
	SessionBreakReasonKey = attribute.Key("cupel.session.break_reason")
	// SessionBreakPositionKey is the position in the window of the first item that
	// differs, from 0 (int). Set only at a break.
	SessionBreakPositionKey = attribute.Key("cupel.session.break_position")
	// SessionDroppedItemsKey and SessionDroppedTokensKey are what left the window
	// at this turn (int).
	SessionDroppedItemsKey  = attribute.Key("cupel.session.dropped_items")
	SessionDroppedTokensKey = attribute.Key("cupel.session.dropped_tokens")
	// SessionQuotedItemsKey is the number of quotations of what was left out (int).
	SessionQuotedItemsKey = attribute.Key("cupel.session.quoted_items")
	// SessionSummarizedItemsKey is the number of items for which summaries stand (int).
	SessionSummarizedItemsKey = attribute.Key("cupel.session.summarized_items")
	// SessionCostKey and SessionCostWithoutKey are what the window costs, and what
	// sending everything would (double).
	SessionCostKey        = attribute.Key("cupel.session.cost")
	SessionCostWithoutKey = attribute.Key("cupel.session.cost_without")
	// SessionReadPredictedKey and SessionWrittenPredictedKey are what the provider's
	// cache is expected to have, and to get (int).
	SessionReadPredictedKey    = attribute.Key("cupel.session.read_predicted")
	SessionWrittenPredictedKey = attribute.Key("cupel.session.written_predicted")
	// SessionReadReportedKey and SessionWrittenReportedKey are what the provider
	// said that it read from its cache and wrote to it (int). Set only on the
	// commit, if it was reported.
	SessionReadReportedKey    = attribute.Key("cupel.session.read_reported")
	SessionWrittenReportedKey = attribute.Key("cupel.session.written_reported")
	// SessionInputReportedKey and SessionOutputReportedKey are what the provider
	// counted for the request and the answer (int). Set only on the commit, if it
	// was reported.
	SessionInputReportedKey  = attribute.Key("cupel.session.input_reported")
	SessionOutputReportedKey = attribute.Key("cupel.session.output_reported")
)

// Attributes of what failed.
//
//	on:        failed spans
//	verbosity: all
//	cost:      1 µs
const (
	// ErrorTypeKey is OpenTelemetry's error.type (string). Its values are Go type names
	// as in OpenTelemetry's semantic conventions for Go, such as
	// "*pipeline.OverflowError"; "context.Canceled" and "context.DeadlineExceeded" for the
	// end of the context; and "_OTHER" for errors of unknown types. Metrics of failed
	// runs and stages have it too.
	ErrorTypeKey = attribute.Key("error.type")
)

const (
	rootSpanName       = "cupel.pipeline"
	stageSpanPrefix    = "cupel.stage."
	strategySpanPrefix = "cupel.strategy."
	turnSpanName       = "cupel.session.turn"
	commitSpanName     = "cupel.session.commit"
	exclusionEventName = "cupel.exclusion"
	includedEventName  = "cupel.item.included"
	shortfallEventName = "cupel.shortfall"
	overflowEventName  = "cupel.overflow"
	selectionEventName = "cupel.selection" // by default
)

// other is OpenTelemetry's value for anything without a name of its own.
const other = "_OTHER"

// stages are those of the specification, in their order.
var stages = [...]cupel.PipelineStage{
	cupel.StageClassify, cupel.StageScore, cupel.StageDeduplicate, cupel.StageSlice, cupel.StagePlace,
}

// stageSpanName returns the name of the stage's span; the part after
// stageSpanPrefix is the name of the stage.
func stageSpanName(stage cupel.PipelineStage) string {
	switch stage { // without building a string
	case cupel.StageClassify:
		return stageSpanPrefix + "classify"
	case cupel.StageScore:
		return stageSpanPrefix + "score"
	case cupel.StageDeduplicate:
		return stageSpanPrefix + "deduplicate"
	case cupel.StageSlice:
		return stageSpanPrefix + "slice"
	case cupel.StagePlace:
		return stageSpanPrefix + "place"
	default:
		return stageSpanPrefix + strings.ToLower(string(stage))
	}
}

// reasons are the core's codes; their names contain no text from the caller.
var reasons = cupel.ExclusionCodes()
