package pipeline

import (
	"context"
	"fmt"
	"runtime/debug"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/internal/engine"
	"github.com/wollax/cupel-go/cupel/internal/exact"
	"github.com/wollax/cupel-go/cupel/internal/inside"
	"github.com/wollax/cupel-go/cupel/internal/value"
)

// data is what package cupel shares with this package.
var data = inside.Cupel.(interface {
	Columns(items []*cupel.ContextItem, to *engine.Columns, always bool) (invalid int)
	StandIn(first *cupel.ContextItem, kind cupel.ContextKind, tokens int, pinned bool, members []*cupel.ContextItem, forms, older []engine.Form) *cupel.ContextItem
	Smaller(whole *cupel.ContextItem, content string, tokens, full int) *cupel.ContextItem
	UnitField(it *cupel.ContextItem) string
	Reason(code cupel.ExclusionCode, tokens, available int, other *cupel.ContextItem) cupel.ExclusionReason
	AppendReason(b []byte, r *cupel.ExclusionReason) []byte
	AppendIncluded(b []byte, e *cupel.IncludedItem) []byte
})

// makeStandIns makes what strategies see of groups.
func (r *run) makeStandIns() {
	r.standIns = engine.Resize(r.standIns, r.set.NumUnits())
	clear(r.standIns)
	for i := range r.standIns {
		u := engine.Unit(i)
		if !r.set.IsGroup(u) || r.set.IsOut(u) {
			continue
		}
		candidates := r.set.Members(u)
		members := make([]*cupel.ContextItem, len(candidates))
		for n, c := range candidates {
			members[n] = r.items[c]
		}
		r.standIns[i] = data.StandIn(members[0], kindOf(members), r.set.TokensOf(u), r.set.IsPinned(u), members, r.set.Forms(u), nil)
	}
}

// seenAs returns what slicers see of a unit: with the older versions that may come
// back in its place.
func (r *run) seenAs(u engine.Unit) *cupel.ContextItem {
	if r.set.IsGroup(u) { // no older version comes back in its place
		return r.standIns[u]
	}
	item := r.items[r.set.Place(u)]
	older := r.ranking.Older(u)
	if len(older) == 0 {
		return item
	}
	forms := make([]engine.Form, len(older))
	for i, c := range older {
		forms[i] = engine.Form{Tokens: r.items[c].Tokens(), Worth: r.ranking.ScoreOfCandidate(c)}
	}
	return data.StandIn(item, item.Kind(), item.Tokens(), item.Pinned(), nil, r.set.Forms(u), forms)
}

// kindOf returns the kind of most of the tokens, on a tie the first.
func kindOf(members []*cupel.ContextItem) cupel.ContextKind {
	tokens := make(map[string]exact.Sum)
	for _, m := range members {
		tokens[m.Kind().Key()] = tokens[m.Kind().Key()].Plus(exact.Of(m.Tokens()))
	}
	best := members[0].Kind()
	for _, m := range members {
		if tokens[m.Kind().Key()].Minus(tokens[best.Key()]).Greater(0) {
			best = m.Kind()
		}
	}
	return best
}

// windowed is a group, or a smaller form, as it appears in the window.
type windowed struct {
	items []*cupel.ContextItem
	made  engine.Made
}

// makeWindowItems makes the items of the merged units, and what the placer sees of
// them. It returns the number of candidates that they stand for.
func (r *run) makeWindowItems(ctx context.Context) (candidates int, err error) {
	n := len(r.choice.Merged)
	merged, other := engine.Resize(r.merged, n), engine.Resize(r.windowed, n)
	r.merged, r.windowed = merged, other
	for i := range merged {
		m := &r.choice.Merged[i]
		candidates += len(r.set.Members(m.Unit))
		other[i], merged[i] = nil, cupel.ScoredItem{Item: r.items[r.set.Place(m.Unit)], Score: m.Score}
		if m.Form <= 0 && !r.set.IsGroup(m.Unit) {
			continue
		}
		item, w, err := r.materialise(ctx, m)
		if err != nil {
			return 0, err
		}
		merged[i].Item, other[i] = item, w
	}
	return candidates, nil
}

// appendWindow appends the items of a merged unit.
func (r *run) appendWindow(items []*cupel.ContextItem, at int) []*cupel.ContextItem {
	if w := r.windowed[at]; w != nil {
		return append(items, w.items...)
	}
	return append(items, r.items[r.set.Place(r.choice.Merged[at].Unit)]) // the placer may have changed what it saw
}

// materialise makes the items of a group, or of a smaller form, and returns what the
// placer sees of it as well.
func (r *run) materialise(ctx context.Context, m *engine.Chosen) (_ *cupel.ContextItem, to *windowed, err error) {
	candidates := r.set.Members(m.Unit)
	to = &windowed{make([]*cupel.ContextItem, len(candidates)), r.set.Make(m.Unit, m.Form)}
	made := &to.made
	var full exact.Sum
	for i, c := range candidates {
		to.items[i] = r.items[c]
		full.Add(r.items[c].Tokens())
		if n := made.FormOf(i); n > 0 && made.Group == 0 {
			if to.items[i], err = r.smaller(ctx, c, &r.items[c].Variants()[n-1], r.items[c].Tokens(), "variants", n); err != nil {
				return nil, nil, err
			}
		}
	}
	if made.Group > 0 {
		to.items = to.items[:1]
		variants := r.items[made.From].GroupVariants()
		if to.items[0], err = r.smaller(ctx, candidates[0], &variants[made.Group-1], full.Int(), "groupVariants", made.Group); err != nil {
			return nil, nil, err
		}
	}
	if !r.set.IsGroup(m.Unit) {
		return to.items[0], to, nil
	}
	whole := r.standIns[m.Unit]
	if to.made.Forms == nil {
		return whole, to, nil
	}
	return data.StandIn(to.items[0], whole.Kind(), m.Tokens, whole.Pinned(), whole.Members(), r.set.Forms(m.Unit), nil), to, nil
}

// smaller makes a smaller form of a candidate. full is the tokens of what the form
// stands for.
func (r *run) smaller(ctx context.Context, c engine.Candidate, v *cupel.Variant, full int, field string, n int32) (*cupel.ContextItem, error) {
	content := v.Content
	if v.Make != nil {
		var err error
		if content, err = makeContent(ctx, v.Make); err != nil || content == "" {
			return nil, &ContentError{Index: int(c), Field: fmt.Sprintf("%s[%d]", field, n-1), Err: err}
		}
	}
	return data.Smaller(r.items[c], content, v.Tokens, full), nil
}

// makeContent calls a Make function of the caller.
func makeContent(ctx context.Context, produce func(context.Context) (string, error)) (content string, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &cupel.PanicError{Value: v, Stack: debug.Stack()}
		}
	}()
	content, err = produce(ctx)
	if err != nil && value.IsNil(err) {
		err = fmt.Errorf("failed with a nil %T", err)
	}
	return content, err
}

// listIncluded lists what is in the window, in placed order.
func (r *run) listIncluded() []cupel.IncludedItem {
	list := make([]cupel.IncludedItem, 0, len(r.order))
	for _, at := range r.order {
		list = r.include(list, at)
	}
	return list
}

// include lists the members of a merged unit, each with its own entry.
func (r *run) include(list []cupel.IncludedItem, at int) []cupel.IncludedItem {
	var empty *cupel.ContextItem // the group form without tokens
	var made *engine.Made
	m := &r.choice.Merged[at]
	place := r.set.Place(m.Unit)
	items := r.items[place : place+1]
	if w := r.windowed[at]; w != nil {
		made, items = &w.made, w.items
	}
	for i, c := range r.set.Members(m.Unit) {
		e := cupel.IncludedItem{
			Score: m.Score, Reason: cupel.IncludeScored,
			Candidate: r.position(c), Form: r.formOf(made, i, c), Stale: r.set.IsStale(c), Units: r.columns.Links != nil,
		}
		switch {
		case r.set.IsPinned(r.set.UnitOf(c)): // before the tokens are checked (R26)
			e.Reason = cupel.IncludePinned
		case r.items[c].Tokens() == 0:
			e.Reason = cupel.IncludeZeroToken
		}
		if i < len(items) {
			e.Item = items[i]
		} else {
			if empty == nil {
				empty = data.Smaller(items[0], items[0].Content(), 0, 0)
			}
			e.Item, e.Shared = empty, true
		}
		list = append(list, e)
	}
	return list
}

// formOf returns the form of a member as reports count it.
func (r *run) formOf(made *engine.Made, member int, c engine.Candidate) int {
	if made != nil && made.Group > 0 {
		return len(r.items[c].Variants()) + int(made.Group)
	}
	return int(made.FormOf(member))
}

// position returns the number of a candidate in the report.
func (r *run) position(c engine.Candidate) int {
	if r.arrivals != nil {
		return r.arrivals[c]
	}
	return int(c)
}

// candidatesOf returns the positions of what the merged units stand for.
func (r *run) candidatesOf(merged []engine.Chosen) []int {
	positions := make([]int, 0, len(merged))
	for i := range merged {
		for _, c := range r.set.Members(merged[i].Unit) {
			positions = append(positions, int(c))
		}
	}
	return positions
}
