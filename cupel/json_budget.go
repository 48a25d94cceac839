package cupel

import (
	"math"

	"github.com/wollax/cupel-go/cupel/internal/compat"
	"github.com/wollax/cupel-go/cupel/internal/jsonwire"
)

// MarshalJSON returns the budget as an object with the field names of the
// ContextBudget chapter. It always writes maxTokens and targetTokens, and other
// fields if they are not 0 or empty. Reserved slots come in the order of their
// kinds under ASCII case folding.
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

// The fields of a budget, in the order of budgetShape.
const (
	budgetMax = iota
	budgetTarget
	budgetReserve
	budgetSlots
	budgetMargin
)

var budgetShape = jsonwire.NewShape(2, "maxTokens", "targetTokens", "outputReserve", "reservedSlots", "estimationSafetyMarginPercent")

func readBudget(r *jsonwire.Reader, to *ContextBudget) {
	var maxTokens, targetTokens, reserve int
	var slots []reservedSlot
	var margin float64
	o := r.Object(budgetShape)
	for o.Next() {
		switch o.Field {
		case budgetMax:
			maxTokens = r.Int()
		case budgetTarget:
			targetTokens = r.Int()
		case budgetReserve:
			reserve = r.Int()
		case budgetSlots:
			slots = readSlots(r)
		case budgetMargin:
			margin = r.Float()
		}
	}
	if err := r.Err(); err != nil {
		if err.Path != "" {
			err.Err = &InvalidBudgetError{err.Path, err.Reason}
		}
		return
	}
	b, err := NewContextBudget(maxTokens, targetTokens,
		WithOutputReserve(reserve),
		func(b *budgetDraft) { b.setSlots(slots) }, // a map would hide kinds that are given twice
		WithEstimationSafetyMargin(margin))
	if invalid, ok := compat.AsType[*InvalidBudgetError](err); ok {
		r.Fail(invalid.Field, invalid.Reason, invalid)
		return
	}
	b.extra = extraOf(&o)
	*to = b
}

// readSlots leaves kinds that are given twice for the budget to find.
func readSlots(r *jsonwire.Reader) []reservedSlot {
	var slots []reservedSlot
	for o := r.Object(nil); o.Next(); {
		slots = append(slots, reservedSlot{ContextKind(o.Name).Canonical(), r.Int()})
	}
	return slots
}
