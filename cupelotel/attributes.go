package cupelotel

import (
	"strings"

	"go.opentelemetry.io/otel/attribute"

	"github.com/wollax/cupel-go/cupel"
)

// Attributes of the root span, cupel.pipeline, at every verbosity.
const (
	// BudgetMaxTokensKey is the pipeline's maximum token budget (int, tokens).
	BudgetMaxTokensKey = attribute.Key("cupel.budget.max_tokens")
	// VerbosityKey is the name of the [Verbosity] (string).
	VerbosityKey = attribute.Key("cupel.verbosity")
)

// Attributes of the stage spans, cupel.stage.*, at every verbosity. Metrics
// have StageNameKey too.
const (
	// StageNameKey is the name of the stage in lowercase (string).
	StageNameKey = attribute.Key("cupel.stage.name")
	// StageItemCountInKey is the number of items entering the stage (int).
	StageItemCountInKey = attribute.Key("cupel.stage.item_count_in")
	// StageItemCountOutKey is the number of items leaving the stage (int); 0
	// for a stage that failed.
	StageItemCountOutKey = attribute.Key("cupel.stage.item_count_out")
)

// Attributes of the stage spans from [VerbosityStageAndExclusions] on.
const (
	// ExclusionCountKey is the number of items that the stage left out (int).
	// It is exact even when the event limit drops events.
	ExclusionCountKey = attribute.Key("cupel.exclusion.count")
	// ExclusionDroppedCountKey is the number of exclusions without an event
	// because of the limit (int). Set only when above 0.
	ExclusionDroppedCountKey = attribute.Key("cupel.exclusion.dropped_count")
	// ItemDroppedCountKey is the number of items of the window without an event
	// because of the limit (int). Set only on the place stage at
	// [VerbosityFull], and only when above 0.
	ItemDroppedCountKey = attribute.Key("cupel.item.dropped_count")
)

// Attributes of the events cupel.exclusion, from [VerbosityStageAndExclusions] on.
// Metrics have ExclusionReasonKey too.
const (
	// ExclusionReasonKey is the name of the reason (string), open-ended.
	ExclusionReasonKey = attribute.Key("cupel.exclusion.reason")
	// ExclusionItemKindKey is the kind of the item (string).
	ExclusionItemKindKey = attribute.Key("cupel.exclusion.item_kind")
	// ExclusionItemTokensKey is the size of the item (int, tokens).
	ExclusionItemTokensKey = attribute.Key("cupel.exclusion.item_tokens")
	// ExclusionItemGroupKey is the group of the item (string). Set only on items
	// with a group.
	ExclusionItemGroupKey = attribute.Key("cupel.exclusion.item_group")
	// ExclusionGroupTokensKey is the size of the item's group where the group did
	// not fit (int, tokens).
	ExclusionGroupTokensKey = attribute.Key("cupel.exclusion.group_tokens")
	// ExclusionItemStaleKey is true for an item that has a newer version among
	// the candidates (bool). Set only when true.
	ExclusionItemStaleKey = attribute.Key("cupel.exclusion.item_stale")
	// ExclusionDataPrefix is the prefix of the attributes that hold a reason's
	// data, such as cupel.exclusion.data.cap (int, double or string). Only
	// reasons of custom strategies have them.
	ExclusionDataPrefix = "cupel.exclusion.data."
)

// Attributes of the events cupel.item.included, at [VerbosityFull].
const (
	// ItemKindKey is the kind of the item (string).
	ItemKindKey = attribute.Key("cupel.item.kind")
	// ItemTokensKey is the size of the item in the window (int, tokens).
	ItemTokensKey = attribute.Key("cupel.item.tokens")
	// ItemScoreKey is the item's final score (float64); 1 for pinned items.
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

// ErrorTypeKey is OpenTelemetry's error.type (string), set on the spans and
// metrics of failed runs and stages. Its values are Go type names as in
// OpenTelemetry's semantic conventions for Go, such as "*cupel.OverflowError".
// There are few: among them "*cupel.PanicError" for a strategy that panicked,
// "context.Canceled" and "context.DeadlineExceeded" for the end of the context,
// "*cupel.ContractError" for a strategy that broke its contract,
// "*cupel.StrategyError" for one that failed, and "_OTHER" for errors of
// unknown types.
const ErrorTypeKey = attribute.Key("error.type")

const (
	rootSpanName       = "cupel.pipeline"
	stageSpanPrefix    = "cupel.stage."
	exclusionEventName = "cupel.exclusion"
	includedEventName  = "cupel.item.included"
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
