package cupelotel

import (
	"go.opentelemetry.io/otel/attribute"

	"github.com/wollax/cupel-go/cupel"
)

// The comments of this file are the source of the table in docs/telemetry.md,
// which go test -run TestTelemetryTable -update writes.

// Attributes of the root span.
//
//	on:        cupel.pipeline
//	verbosity: all
//	cost:      0.1 µs each
const (
	// budgetMaxTokensKey is the pipeline's maximum token budget (int, tokens). Not set
	// on runs that prepare, which have no budget and no window.
	budgetMaxTokensKey attribute.Key = "cupel.budget.max_tokens"
	// verbosityKey is the name of the [Verbosity] (string).
	verbosityKey attribute.Key = "cupel.verbosity"
	// runModeKey is how the run was started (string): "run", "stream", "prepare" for a run
	// that makes a [pipeline.Prepared], "prepared" for a run that uses it, "session" for a
	// run that chooses for a turn, "dry_run", or "simulation" for a dry run of a Prepared.
	// Metrics have it too.
	runModeKey attribute.Key = "cupel.run.mode"
	// pipelineNameKey is the name of the pipeline (string), from its
	// [pipeline.Config], which a policy sets. Set only on pipelines with a
	// name. Metrics and spans of turns have it too.
	pipelineNameKey attribute.Key = "cupel.pipeline.name"
	// policyHashKey is the hash of the contents of the pipeline's policy (string). Set
	// only on pipelines made from a policy.
	policyHashKey attribute.Key = "cupel.policy.hash"
	// conversationIDKey is OpenTelemetry's id of the conversation (string), from
	// [ContextWithConversationID]. Set only if there is one. Spans of turns have it
	// too.
	conversationIDKey attribute.Key = "gen_ai.conversation.id"
	// budgetTargetTokensKey and budgetOutputReserveKey are the budget's target, and
	// its reserve for the answer (int, tokens).
	budgetTargetTokensKey  attribute.Key = "cupel.budget.target_tokens"
	budgetOutputReserveKey attribute.Key = "cupel.budget.output_reserve"
	// candidatesKey is the number of candidates (int). A streaming run sets it at its
	// end, so samplers do not see it.
	candidatesKey attribute.Key = "cupel.run.candidates"
	// includedKey and selectedTokensKey are the number of items in the window, and
	// their tokens (int). Not set on runs that failed.
	includedKey       attribute.Key = "cupel.run.included"
	selectedTokensKey attribute.Key = "cupel.run.selected_tokens"
	// utilizationKey and targetUtilizationKey are the tokens of the window as a
	// fraction of the budget's maximum, and of its target (double); 0 if the maximum
	// or target is 0. A value above 1 exceeds it. Not set on runs that failed.
	utilizationKey       attribute.Key = "cupel.budget.utilization"
	targetUtilizationKey attribute.Key = "cupel.budget.target_utilization"
	// shortfallCountKey is the number of kinds with too few candidates
	// (int). Set only when above 0.
	shortfallCountKey attribute.Key = "cupel.shortfall.count"
	// overflowTokensKey is the number of tokens by which the window exceeds the
	// target under [pipeline.OverflowProceed] (int). Set only when above 0.
	overflowTokensKey attribute.Key = "cupel.overflow.tokens"
)

// Attributes of the events of shortfalls, on the root span.
//
//	on:        event cupel.shortfall
//	verbosity: StageAndExclusions, Full
//	cost:      1 µs an event
const (
	// shortfallKindKey is the kind, as the slicer's configuration spells it (string).
	// Metrics have it too.
	shortfallKindKey attribute.Key = "cupel.shortfall.kind"
	// shortfallRequiredKey and shortfallSatisfiedKey are the number of items of the
	// kind that are required, and that are included (int).
	shortfallRequiredKey  attribute.Key = "cupel.shortfall.required"
	shortfallSatisfiedKey attribute.Key = "cupel.shortfall.satisfied"
)

// The values of [runModeKey].
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
	// stageNameKey is the name of the stage in lowercase (string). Metrics have it
	// too.
	stageNameKey attribute.Key = "cupel.stage.name"
	// stageItemCountInKey is the number of items entering the stage (int).
	stageItemCountInKey attribute.Key = "cupel.stage.item_count_in"
	// stageItemCountOutKey is the number of items leaving the stage (int); 0
	// for a stage that failed.
	stageItemCountOutKey attribute.Key = "cupel.stage.item_count_out"
	// stageBusyTimeKey is the time that a streaming run spent in the stage, by the
	// pipeline's clock (double, seconds). The span lasts from the first batch to the
	// last.
	stageBusyTimeKey attribute.Key = "cupel.stage.busy_time"
)

// Attributes of the stage spans about exclusions.
//
//	on:        cupel.stage.*
//	verbosity: StageAndExclusions, Full
//	cost:      0.1 µs each
const (
	// exclusionCountKey is the number of items that the stage left out (int).
	// It is exact even when the event limit drops events.
	exclusionCountKey attribute.Key = "cupel.exclusion.count"
	// exclusionReasonsKey and exclusionReasonCountsKey are the reasons for which the
	// stage left out items, by name, and the number for each (string[], int[]). All
	// reasons unknown to Cupel count as one, "_OTHER". Set only when the stage left
	// something out. The log record of a run has both for all stages, and so has the
	// root span with [WithConventions].
	exclusionReasonsKey      attribute.Key = "cupel.exclusion.reasons"
	exclusionReasonCountsKey attribute.Key = "cupel.exclusion.reason_counts"
	// exclusionDroppedCountKey is the number of exclusions without an event because
	// of the collector's limit (int). Set only when above 0.
	exclusionDroppedCountKey attribute.Key = "cupel.exclusion.dropped_count"
	// itemDroppedCountKey is the number of items of the window without an event
	// because of the limit (int). Set only on the place stage at
	// [VerbosityFull], and only when above 0.
	itemDroppedCountKey attribute.Key = "cupel.item.dropped_count"
)

// Attributes of the events of items that were left out, on the span of the stage.
//
//	on:        event cupel.exclusion
//	verbosity: StageAndExclusions, Full
//	cost:      1 µs an event
const (
	// exclusionReasonKey is the name of the reason (string), open-ended. Metrics have
	// it too, with "_OTHER" for all other reasons.
	exclusionReasonKey attribute.Key = "cupel.exclusion.reason"
	// exclusionItemKindKey is the kind of the item (string).
	exclusionItemKindKey attribute.Key = "cupel.exclusion.item_kind"
	// exclusionItemTokensKey is the size of the item (int, tokens).
	exclusionItemTokensKey attribute.Key = "cupel.exclusion.item_tokens"
	// exclusionItemScoreKey is the item's score (double); 0 for items left out before
	// they were scored.
	exclusionItemScoreKey attribute.Key = "cupel.exclusion.item_score"
	// exclusionItemGroupKey is the group of the item (string). Set only on items
	// with a group, if the policy of [WithRedaction] shows groups.
	exclusionItemGroupKey attribute.Key = "cupel.exclusion.item_group"
	// exclusionGroupTokensKey is the size of the item's group if the group did
	// not fit (int, tokens).
	exclusionGroupTokensKey attribute.Key = "cupel.exclusion.group_tokens"
	// exclusionItemStaleKey is true for an item that has a newer version among
	// the candidates (bool). Set only when true.
	exclusionItemStaleKey attribute.Key = "cupel.exclusion.item_stale"
	// exclusionDataPrefix is the prefix of the names of a reason's data (int, double
	// or string), such as cupel.exclusion.data.cap. Texts other than kinds are set
	// only if the policy of [WithRedaction] shows them. Only reasons of custom
	// strategies have data.
	exclusionDataPrefix = "cupel.exclusion.data."
)

// Attributes of the events of the items in the window, on cupel.stage.place.
//
//	on:        event cupel.item.included
//	verbosity: Full
//	cost:      1 µs an event
const (
	// itemKindKey is the kind of the item (string).
	itemKindKey attribute.Key = "cupel.item.kind"
	// itemTokensKey is the size of the item in the window (int, tokens).
	itemTokensKey attribute.Key = "cupel.item.tokens"
	// itemScoreKey is the item's final score (double); 1 for pinned items.
	itemScoreKey attribute.Key = "cupel.item.score"
	// itemGroupKey is the group of the item (string). Set only on items with a
	// group, if the policy of [WithRedaction] shows groups.
	itemGroupKey attribute.Key = "cupel.item.group"
	// itemFormKey is the number of the item's form in the window, as in
	// [cupel.IncludedItem.Form] (int). Set only on smaller forms, so it is
	// at least 1.
	itemFormKey attribute.Key = "cupel.item.form"
	// itemStaleKey is true for an item that has a newer version among the
	// candidates (bool). Set only when true.
	itemStaleKey attribute.Key = "cupel.item.stale"
)

// Attributes of the events of items, only if the policy of [WithRedaction]
// shows them.
//
//	on:        event cupel.exclusion, event cupel.item.included
//	verbosity: StageAndExclusions, Full; only where asked for
//	cost:      0.3 µs each
const (
	// itemIDKey is the id of the item (string): its metadata value under the
	// policy's key.
	itemIDKey attribute.Key = "cupel.item.id"
)

// Attributes of the root span, only with [WithConventions].
//
//	on:        cupel.pipeline
//	verbosity: all; only where asked for
//	cost:      50 µs a run
const (
	// operationNameKey is OpenTelemetry's name of the operation (string): "retrieval".
	operationNameKey attribute.Key = "gen_ai.operation.name"
	// retrievalDocumentsKey is OpenTelemetry's list of retrieved documents (string,
	// in JSON): the items of the window with the highest scores.
	retrievalDocumentsKey attribute.Key = "gen_ai.retrieval.documents"
	// openInferenceKindKey is OpenInference's kind of the span (string): "RERANKER", and
	// "CHAIN" on the spans of stages and turns.
	openInferenceKindKey attribute.Key = "openinference.span.kind"
	// sessionIDKey is OpenInference's id of the conversation (string). Set only if
	// there is one.
	sessionIDKey attribute.Key = "session.id"
	// inputDocumentsPrefix and outputDocumentsPrefix are the prefixes of the names for
	// the candidates and for the items of the window (string, or double), such as
	// reranker.input_documents.0.document.score.
	inputDocumentsPrefix  = "reranker.input_documents."
	outputDocumentsPrefix = "reranker.output_documents."
	// candidatesDroppedKey and documentsDroppedKey are the number of candidates, and of
	// items of the window, that the limit of documents left out (int). Set only when
	// above 0.
	candidatesDroppedKey attribute.Key = "cupel.candidate.dropped_count"
	documentsDroppedKey  attribute.Key = "cupel.document.dropped_count"
)

// Attributes of the log record of a run, only with [WithLoggerProvider]. The record
// has those of the root span too.
//
//	on:        log record cupel.selection
//	verbosity: all
//	cost:      20 µs
const (
	// excludedKey is the number of items that were left out (int). An older version that
	// makes room for the newest counts, even if it comes back.
	excludedKey attribute.Key = "cupel.run.excluded"
)

// Attributes of the two spans of a turn. Tokens are estimates, unless a name ends
// in reported. Costs are relative to the price of an uncached input token.
//
//	on:        cupel.session.turn, cupel.session.commit
//	verbosity: all
//	cost:      0.1 µs each
const (
	// sessionTurnKey is the number of the turn in its session, from 1 (int). A turn that
	// is proposed again has the same number.
	sessionTurnKey attribute.Key = "cupel.session.turn"
	// sessionCommittedKey tells the two spans apart (bool): false on a proposal,
	// true on its commit.
	sessionCommittedKey attribute.Key = "cupel.session.committed"
	// sessionCandidatesKey is the number of items of the conversation (int). Only
	// on the turn.
	sessionCandidatesKey attribute.Key = "cupel.session.candidates"
	// sessionItemsKey and sessionTokensKey are the size of the window (int).
	sessionItemsKey  attribute.Key = "cupel.session.items"
	sessionTokensKey attribute.Key = "cupel.session.tokens"
	// sessionKeptItemsKey and sessionKeptTokensKey are the size of the part at the
	// start of the window that is sent as before (int).
	sessionKeptItemsKey  attribute.Key = "cupel.session.kept_items"
	sessionKeptTokensKey attribute.Key = "cupel.session.kept_tokens"
	// sessionBreakReasonKey is the reason why the window differs from what was
	// sent before (string): "changed", "forced", "free" or "worth it". Set only
	// at a break; metrics of breaks have it too, with "_OTHER" for all other
	// reasons.
	sessionBreakReasonKey attribute.Key = "cupel.session.break_reason"
	// sessionBreakPositionKey is the position in the window of the first item that
	// differs, from 0 (int). Set only at a break.
	sessionBreakPositionKey attribute.Key = "cupel.session.break_position"
	// sessionDroppedItemsKey and sessionDroppedTokensKey are the number of
	// items that left the window at this turn, and their tokens (int).
	sessionDroppedItemsKey  attribute.Key = "cupel.session.dropped_items"
	sessionDroppedTokensKey attribute.Key = "cupel.session.dropped_tokens"
	// sessionQuotedItemsKey is the number of quotations of items that were
	// left out (int).
	sessionQuotedItemsKey attribute.Key = "cupel.session.quoted_items"
	// sessionSummarizedItemsKey is the number of items that summaries replace
	// (int).
	sessionSummarizedItemsKey attribute.Key = "cupel.session.summarized_items"
	// sessionCostKey and sessionCostWithoutKey are the cost of the window, and the
	// cost of sending everything (double).
	sessionCostKey        attribute.Key = "cupel.session.cost"
	sessionCostWithoutKey attribute.Key = "cupel.session.cost_without"
	// sessionReadPredictedKey and sessionWrittenPredictedKey are the tokens that the
	// session expects to read from the provider's cache, and to write to it (int).
	sessionReadPredictedKey    attribute.Key = "cupel.session.read_predicted"
	sessionWrittenPredictedKey attribute.Key = "cupel.session.written_predicted"
	// sessionReadReportedKey and sessionWrittenReportedKey are the tokens that
	// the provider reported as read from its cache and written to it (int). Set
	// only on the commit, if they were reported.
	sessionReadReportedKey    attribute.Key = "cupel.session.read_reported"
	sessionWrittenReportedKey attribute.Key = "cupel.session.written_reported"
	// sessionInputReportedKey and sessionOutputReportedKey are the tokens that
	// the provider counted for the request and the answer (int). Set only on the
	// commit, if they were reported.
	sessionInputReportedKey  attribute.Key = "cupel.session.input_reported"
	sessionOutputReportedKey attribute.Key = "cupel.session.output_reported"
)

// Attributes of failures.
//
//	on:        failed spans
//	verbosity: all
//	cost:      1 µs
const (
	// errorTypeKey is OpenTelemetry's error.type (string). Its values are Go type names
	// as in OpenTelemetry's semantic conventions for Go, such as
	// "*pipeline.OverflowError"; "context.Canceled" and "context.DeadlineExceeded" for the
	// end of the context. Metrics of failed runs and stages have it too.
	errorTypeKey attribute.Key = "error.type"
)

const (
	rootSpanName       = "cupel.pipeline"
	stageSpanPrefix    = "cupel.stage."
	turnSpanName       = "cupel.session.turn"
	commitSpanName     = "cupel.session.commit"
	exclusionEventName = "cupel.exclusion"
	includedEventName  = "cupel.item.included"
	shortfallEventName = "cupel.shortfall"
	selectionEventName = "cupel.selection"
)

// other is OpenTelemetry's value for anything without a name of its own.
const other = "_OTHER"

// stages are the stages of the specification, in order.
var stages = [...]cupel.PipelineStage{
	cupel.StageClassify, cupel.StageScore, cupel.StageDeduplicate, cupel.StageSlice, cupel.StagePlace,
}

// stageNames are their names on spans and metrics.
var stageNames = [len(stages)]string{"classify", "score", "deduplicate", "slice", "place"}

// stageSpanNames are made once: a stage starts its span within the run.
var stageSpanNames = [len(stages)]string{
	stageSpanPrefix + "classify", stageSpanPrefix + "score", stageSpanPrefix + "deduplicate", stageSpanPrefix + "slice", stageSpanPrefix + "place",
}

// reasons are the core's codes; their names contain no text from the caller.
var reasons = cupel.ExclusionCodes()
