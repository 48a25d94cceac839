package cupel

import (
	"errors"
	"fmt"
	"math"

	"github.com/wollax/cupel-go/cupel/internal/jsonwire"
)

// MarshalJSON returns the budget as an object with the field names of the
// ContextBudget chapter. maxTokens and targetTokens are always there, other
// fields when they are not 0 or empty. Reserved slots come in the order of
// their kinds under ASCII case folding.
func (b ContextBudget) MarshalJSON() ([]byte, error) {
	return marshal(b.write)
}

func (b ContextBudget) write(w *jsonwire.Writer) {
	w.Object(func() {
		w.Field("maxTokens").Int(b.maxTokens)
		w.Field("targetTokens").Int(b.targetTokens)
		if b.outputReserve != 0 {
			w.Field("outputReserve").Int(b.outputReserve)
		}
		if len(b.slots) > 0 {
			kinds := make([]string, len(b.slots))
			for i, s := range b.slots {
				kinds[i] = string(s.kind)
			}
			w.Field("reservedSlots").Map(kinds, func(i int) { w.Int(b.slots[i].tokens) })
		}
		if math.Float64bits(b.marginPercent) != 0 { // -0.0 is written too
			w.Field("estimationSafetyMarginPercent").Float(b.marginPercent)
		}
		b.extra.write(w)
	})
}

// UnmarshalJSON reads a budget that [ContextBudget.MarshalJSON] or another
// implementation wrote, and checks it as [NewContextBudget] does. It fails with
// a [DecodeError].
func (b *ContextBudget) UnmarshalJSON(data []byte) error {
	return unmarshal(data, b, readBudget)
}

func readBudget(raw []byte) (ContextBudget, error) {
	o := readObject(raw)
	maxTokens := required(o, "maxTokens", jsonwire.Int)
	targetTokens := required(o, "targetTokens", jsonwire.Int)
	reserve, _ := optional(o, "outputReserve", jsonwire.Int)
	slots, _ := optional(o, "reservedSlots", readSlots)
	margin, _ := optional(o, "estimationSafetyMarginPercent", jsonwire.Float)
	extra := o.extra()
	if err := o.err; err != nil {
		if err.Path == "" { // no object at all
			return ContextBudget{}, err
		}
		return ContextBudget{}, &DecodeError{err.Path, err.Reason, &InvalidBudgetError{err.Path, err.Reason}}
	}
	b, err := NewContextBudget(maxTokens, targetTokens,
		WithOutputReserve(reserve),
		func(b *budgetDraft) error { return b.setSlots(slots) }, // a map would hide kinds that are given twice
		WithEstimationSafetyMargin(margin))
	if invalid, ok := errors.AsType[*InvalidBudgetError](err); ok {
		return ContextBudget{}, &DecodeError{invalid.Field, invalid.Reason, invalid}
	}
	b.extra = extra
	return b, nil
}

// readSlots leaves it to the budget to find kinds that are given twice.
func readSlots(raw []byte) ([]reservedSlot, error) {
	members, err := jsonwire.Members(raw)
	if err != nil {
		return nil, err
	}
	var slots []reservedSlot
	for _, m := range members {
		tokens, err := jsonwire.Int(m.Value)
		if err != nil {
			return nil, within(fmt.Sprintf("[%q]", m.Name), err)
		}
		slots = append(slots, reservedSlot{ContextKind(m.Name).Canonical(), tokens})
	}
	return slots, nil
}
