package cupel

import (
	"iter"
	"maps"
	"slices"
	"time"
)

// ContextItem is one piece of context: a message, a document, the output of a
// tool. Build it with [NewContextItem]. An item is immutable and may be shared
// between goroutines and runs. It is identified by its pointer, not its content.
//
// Accessors return copies of mutable values; on a nil item they return zero
// values.
//
// It implements the ContextItem chapter of the specification.
type ContextItem struct {
	// What is read in the order of the scores comes first: it never crosses a line of
	// the processor's cache. The other fields are read in the order of the list.
	kind   ContextKind
	tokens int
	units  *itemUnits // groups, smaller forms and versions; nil for most items

	content        string
	has            fields
	pinned         bool
	hint           float64
	source         ContextSource
	tags           []string
	metadata       map[string]any
	timestamp      time.Time // UTC, without a monotonic reading
	priority       int
	originalTokens int
	extra          *extraFields
}

// fields says which optional fields an item has: absent is not zero.
type fields uint8

const (
	hasPriority fields = 1 << iota
	hasTimestamp
	hasHint
	hasOriginalTokens
)

// ItemOption is an optional setting of a [ContextItem].
type ItemOption func(*itemDraft) error

// itemDraft is an item that is not finished yet. It is a type of its own so
// that an option cannot be applied to an item that exists already.
type itemDraft ContextItem

// NewContextItem returns an item with the given content, which must not be
// empty, and its size in tokens as the caller counts them. A negative size is
// allowed here; the pipeline excludes such an item with reason
// [ExcludeNegativeTokens]. For each field that is wrong, the error has an
// [InvalidItemError] that names it; several are joined, as by [errors.Join].
func NewContextItem(content string, tokens int, opts ...ItemOption) (*ContextItem, error) {
	return newItem(itemDraft{content: content, tokens: tokens, kind: KindMessage, source: SourceChat}, opts)
}

// With returns a copy of the item with some fields changed. Reports and pipelines
// treat the copy as a different item. The copy keeps the fields that no option
// sets, and unknown JSON fields.
//
// It fails as [NewContextItem] does, and if the item is nil or was not built by
// this package.
func (it *ContextItem) With(opts ...ItemOption) (*ContextItem, error) {
	if it == nil || it.content == "" {
		return nil, &InvalidItemError{-1, "", "must be an item that NewContextItem made"}
	}
	draft := itemDraft(*it)
	draft.units = draft.units.copy()
	return newItem(draft, opts) // options replace lists and maps and never write into them
}

func newItem(it itemDraft, opts []ItemOption) (*ContextItem, error) {
	if problems := append(it.apply(opts), it.finish(true)...); len(problems) > 0 {
		return nil, join(problems)
	}
	return (*ContextItem)(&it), nil
}

// apply returns what is wrong with the options and the content.
func (it *itemDraft) apply(opts []ItemOption) (problems []error) {
	if it.content == "" {
		problems = append(problems, &InvalidItemError{-1, "content", "must not be empty"})
	}
	for _, opt := range opts {
		if opt == nil {
			continue
		}
		if err := opt(it); err != nil {
			problems = append(problems, err)
		}
	}
	return problems
}

// WithContent sets the content, which must not be empty, and its size in
// tokens, in place of those given before. Use it with [ContextItem.With].
func WithContent(content string, tokens int) ItemOption {
	return func(it *itemDraft) error {
		if content == "" {
			return &InvalidItemError{-1, "content", "must not be empty"}
		}
		it.content, it.tokens = content, tokens
		return nil
	}
}

// WithKind sets the kind, [KindMessage] by default. A blank kind is an error.
func WithKind(kind ContextKind) ItemOption {
	return func(it *itemDraft) error {
		if kind.IsBlank() {
			return &InvalidItemError{-1, "kind", "must not be blank"}
		}
		it.kind = kind.Canonical()
		return nil
	}
}

// WithSource sets the source, [SourceChat] by default. A blank source is an
// error.
func WithSource(source ContextSource) ItemOption {
	return func(it *itemDraft) error {
		if source.IsBlank() {
			return &InvalidItemError{-1, "source", "must not be blank"}
		}
		it.source = source.Canonical()
		return nil
	}
}

// WithPriority sets the priority; higher is more important. Absent by default.
func WithPriority(priority int) ItemOption {
	return func(it *itemDraft) error {
		it.priority = priority
		it.has |= hasPriority
		return nil
	}
}

// WithTags sets the tags, none by default. The list is copied.
func WithTags(tags ...string) ItemOption {
	return func(it *itemDraft) error {
		it.tags = slices.Clone(tags)
		return nil
	}
}

// WithMetadata sets the metadata, none by default. The map is copied one level
// deep; its values are passed through untouched.
func WithMetadata(metadata map[string]any) ItemOption {
	return func(it *itemDraft) error {
		it.metadata = maps.Clone(metadata)
		return nil
	}
}

// WithTimestamp sets the time at which the item was created; it is stored in UTC
// with nanoseconds. Absent by default; the zero [time.Time] is a valid time, in
// the year 1.
func WithTimestamp(t time.Time) ItemOption {
	return func(it *itemDraft) error {
		it.timestamp = t.UTC().Round(0) // Round strips the monotonic reading
		it.has |= hasTimestamp
		return nil
	}
}

// WithFutureRelevanceHint sets the caller's estimate of how relevant the item
// will be, conventionally in [0,1]. Absent by default.
func WithFutureRelevanceHint(hint float64) ItemOption {
	return func(it *itemDraft) error {
		it.hint = hint
		it.has |= hasHint
		return nil
	}
}

// WithPinned pins the item: it is always selected, without being scored, unless
// its token count is negative. Pinned items that cannot fit fail the run.
func WithPinned() ItemOption {
	return func(it *itemDraft) error {
		it.pinned = true
		return nil
	}
}

// WithOriginalTokens records the size in tokens before the content was
// shortened by the caller. No stage reads it. Absent by default.
func WithOriginalTokens(tokens int) ItemOption {
	return func(it *itemDraft) error {
		it.originalTokens = tokens
		it.has |= hasOriginalTokens
		return nil
	}
}

var noItem ContextItem

// orNone returns the item, or one whose fields are zero in place of nil.
func (it *ContextItem) orNone() *ContextItem {
	if it == nil {
		return &noItem
	}
	return it
}

// Content returns the text, never empty.
func (it *ContextItem) Content() string { return it.orNone().content }

// Tokens returns the size in tokens as the caller counted them; it may be
// negative.
func (it *ContextItem) Tokens() int { return it.orNone().tokens }

// Kind returns the kind; well-known kinds are spelled as the constants are.
func (it *ContextItem) Kind() ContextKind { return it.orNone().kind }

// Source returns the source; well-known sources are spelled as the constants
// are.
func (it *ContextItem) Source() ContextSource { return it.orNone().source }

// Priority returns the priority, and false when the item has none.
func (it *ContextItem) Priority() (int, bool) {
	it = it.orNone()
	return it.priority, it.has&hasPriority != 0
}

// Tags returns a copy of the tags. [ContextItem.AllTags] does not copy.
func (it *ContextItem) Tags() []string { return slices.Clone(it.orNone().tags) }

// AllTags returns an iterator over the tags with their positions, in order.
func (it *ContextItem) AllTags() iter.Seq2[int, string] { return slices.All(it.orNone().tags) }

// NumTags returns the number of tags.
func (it *ContextItem) NumTags() int { return len(it.orNone().tags) }

// Timestamp returns when the item was created, in UTC, and false if the item has
// no timestamp.
func (it *ContextItem) Timestamp() (time.Time, bool) {
	it = it.orNone()
	return it.timestamp, it.has&hasTimestamp != 0
}

// FutureRelevanceHint returns the hint, and false if there is none. It may be any
// float64.
func (it *ContextItem) FutureRelevanceHint() (float64, bool) {
	it = it.orNone()
	return it.hint, it.has&hasHint != 0
}

// Pinned reports whether the item is to be selected without being scored.
func (it *ContextItem) Pinned() bool { return it.orNone().pinned }

// OriginalTokens returns the size in tokens before the content was shortened,
// and false when that is not known.
func (it *ContextItem) OriginalTokens() (int, bool) {
	it = it.orNone()
	return it.originalTokens, it.has&hasOriginalTokens != 0
}

// ScoredItem is an item with its relevance, conventionally in [0,1] where
// higher is more relevant.
//
// It implements the ScoredItem section of the Enumerations chapter.
type ScoredItem struct {
	Item  *ContextItem
	Score float64
}

// SliceBudget is a slicer's budget: the budget of the run minus pinned items,
// output reserve, reserved slots and safety margin.
type SliceBudget struct {
	MaxTokens    int // the ceiling in tokens, at least 0
	TargetTokens int // the goal in tokens, at least 0 and at most the ceiling
}
