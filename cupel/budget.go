package cupel

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/wollax/cupel-go/cupel/internal/exact"
)

// ContextBudget limits the tokens that a selection may use. Build it with
// [NewContextBudget], which validates it. A budget is immutable and may be shared
// and copied. The zero ContextBudget is a valid budget of 0 tokens.
//
// It implements the ContextBudget chapter of the specification.
type ContextBudget struct {
	maxTokens     int
	targetTokens  int
	outputReserve int
	marginPercent float64
	slots         []reservedSlot // ascending by folded kind; never written after construction
	extra         *extraFields
}

type reservedSlot struct {
	kind   ContextKind
	tokens int
}

// BudgetOption is an optional setting of a [ContextBudget].
type BudgetOption func(*budgetDraft)

// budgetDraft is a budget that is not checked yet. It is a type of its own so
// that an option cannot be applied to a budget that exists already.
type budgetDraft ContextBudget

// NewContextBudget returns a budget with a hard ceiling of maxTokens (the
// model's context window) and a soft goal of targetTokens, both at least 0 and
// the goal at most the ceiling. For each field that is wrong, the error has an
// [InvalidBudgetError] that names it; several are joined, as by [errors.Join].
func NewContextBudget(maxTokens, targetTokens int, opts ...BudgetOption) (ContextBudget, error) {
	draft := budgetDraft{maxTokens: maxTokens, targetTokens: targetTokens}
	for _, opt := range opts {
		if opt != nil {
			opt(&draft)
		}
	}
	b := ContextBudget(draft)
	if err := b.validate(); err != nil {
		return ContextBudget{}, err
	}
	return b, nil
}

// WithOutputReserve keeps tokens free for the model's answer; 0 to maxTokens,
// 0 by default.
func WithOutputReserve(tokens int) BudgetOption {
	return func(b *budgetDraft) { b.outputReserve = tokens }
}

// WithReservedSlots keeps tokens free for kinds; each at least 0, none by
// default. The sum is subtracted from the slicer's budget. The map is copied. A
// kind that occurs twice under ASCII case folding is an error.
func WithReservedSlots(tokensByKind map[ContextKind]int) BudgetOption {
	return func(b *budgetDraft) {
		slots := make([]reservedSlot, 0, len(tokensByKind))
		for kind, tokens := range tokensByKind {
			slots = append(slots, reservedSlot{kind.Canonical(), tokens})
		}
		b.setSlots(slots)
	}
}

// WithEstimationSafetyMargin reduces the slicer's budget by percent, to allow for
// inexact token counts; 0 to 100, 0 by default.
func WithEstimationSafetyMargin(percent float64) BudgetOption {
	return func(b *budgetDraft) { b.marginPercent = percent }
}

// setSlots takes ownership of slots, which may be in any order.
func (b *budgetDraft) setSlots(slots []reservedSlot) {
	slices.SortFunc(slots, func(x, y reservedSlot) int {
		return cmp.Or(cmp.Compare(x.kind.Key(), y.kind.Key()), cmp.Compare(x.kind, y.kind), cmp.Compare(x.tokens, y.tokens))
	})
	b.slots = slots
}

// Resize returns a budget with new totals and with the output reserve, reserved
// slots and safety margin of b. It fails as [NewContextBudget] does, for example
// if the reserve is above maxTokens.
func (b ContextBudget) Resize(maxTokens, targetTokens int) (ContextBudget, error) {
	b.maxTokens, b.targetTokens = maxTokens, targetTokens
	if err := b.validate(); err != nil {
		return ContextBudget{}, err
	}
	return b, nil
}

// validate reports each field that is wrong.
func (b *ContextBudget) validate() error {
	var problems []error
	invalid := func(field, format string, args ...any) {
		problems = append(problems, &InvalidBudgetError{field, fmt.Sprintf(format, args...)})
	}
	tokens := func(field string, n int) {
		switch {
		case n < 0:
			invalid(field, "must be at least 0, got %d", n)
		case n > b.maxTokens && b.maxTokens >= 0: // a negative ceiling is wrong itself
			invalid(field, "must be at most maxTokens (%d), got %d", b.maxTokens, n)
		}
	}
	tokens("maxTokens", b.maxTokens)
	tokens("targetTokens", b.targetTokens)
	tokens("outputReserve", b.outputReserve)
	for i, s := range b.slots {
		if s.kind.IsBlank() {
			invalid("reservedSlots", "must not have a blank kind")
			continue
		}
		field := fmt.Sprintf("reservedSlots[%q]", s.kind)
		if s.tokens < 0 {
			invalid(field, "must be at least 0, got %d", s.tokens)
		}
		if i > 0 && s.kind.Equal(b.slots[i-1].kind) {
			invalid(field, "is given twice; kinds are case-insensitive")
		}
	}
	if !(b.marginPercent >= 0 && b.marginPercent <= 100) { // written so that NaN fails
		invalid("estimationSafetyMarginPercent", "must be from 0 to 100, got %v", b.marginPercent)
	}
	return join(problems)
}

// MaxTokens returns the hard ceiling, in tokens.
func (b ContextBudget) MaxTokens() int { return b.maxTokens }

// TargetTokens returns the soft goal, in tokens.
func (b ContextBudget) TargetTokens() int { return b.targetTokens }

// OutputReserve returns the tokens kept free for the model's answer.
func (b ContextBudget) OutputReserve() int { return b.outputReserve }

// EstimationSafetyMarginPercent returns the safety margin, 0 to 100.
func (b ContextBudget) EstimationSafetyMarginPercent() float64 { return b.marginPercent }

// ReservedSlots returns a copy of the tokens reserved by kind, or nil.
func (b ContextBudget) ReservedSlots() map[ContextKind]int {
	if len(b.slots) == 0 {
		return nil
	}
	m := make(map[ContextKind]int, len(b.slots))
	for _, s := range b.slots {
		m[s.kind] = s.tokens
	}
	return m
}

// Effective returns a slicer's budget if the pinned items have the given number
// of tokens; a negative number counts as 0. It subtracts the pinned items, the
// reserve, the slots and the margin. It implements COMPUTE-EFFECTIVE-BUDGET of the
// Slice chapter.
func (b ContextBudget) Effective(pinnedTokens int) SliceBudget {
	taken := exact.Of(max(0, pinnedTokens))
	for _, s := range b.slots {
		taken.Add(s.tokens)
	}
	maxTokens := max(0, exact.Of(b.maxTokens, -b.outputReserve).Minus(taken).Int())
	target := min(max(0, exact.Of(b.targetTokens).Minus(taken).Int()), maxTokens)
	if b.marginPercent > 0 {
		multiplier := 1.0 - b.marginPercent/100.0
		maxTokens = floorTokens(float64(maxTokens) * multiplier)
		target = min(floorTokens(float64(target)*multiplier), maxTokens)
	}
	return SliceBudget{MaxTokens: maxTokens, TargetTokens: target}
}

// floorTokens rounds a product that is at least 0 down to whole tokens. The
// largest int is not a float64: it rounds up to 2^63, which must not wrap.
func floorTokens(f float64) int {
	if f >= math.MaxInt {
		return math.MaxInt
	}
	return int(math.Floor(f))
}
