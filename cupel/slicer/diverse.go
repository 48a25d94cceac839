package slicer

import (
	"cmp"
	"container/heap"
	"context"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/internal/order"
	"github.com/wollax/cupel-go/cupel/strategy"
)

// Diverse takes the highest score first, as [ScoreGreedy] does, but an item is worth
// less the more it resembles one already taken: ten versions of one paragraph take one
// place, and the rest of the budget goes to other things. A version comes in only when
// nothing else is left. It is maximal marginal relevance with a threshold: up to From,
// likeness costs nothing, and from there to 1 the score falls to 0 in a straight line.
// Scores below 0 stay as they are.
//
// Use it for retrieved passages, drafts and messages that repeat each other, in
// budgets too small for all of them. NearDuplicates of a pipeline's Config drops long
// texts that newer ones contain; Diverse needs no order in time, works on texts of
// eight words or more, and drops nothing that still fits. On meetings with many
// versions of some turns it finds more of the evidence than ScoreGreedy, and slightly
// less where nothing is repeated.
//
// Likeness is the share of adjacent pairs of words that two texts have in common; the
// Units chapter has the rules. The zero Diverse is ready to use. It compares items
// that come close to being taken with those that it has taken: in addition to the
// time of ScoreGreedy it takes time in proportion to the product of their numbers.
// Its choice is not monotonic in the budget, and it is not one of the specification's
// slicers.
type Diverse struct {
	// From is the likeness, in (0,1], from which an item is worth less. 0 means 0.3.
	From float64
}

// defaultFrom is the default of From. Texts that only share a subject have
// likenesses of words below 0.1, and two texts that each differ from a third
// one in one word of seven about 0.5.
const defaultFrom = 0.3

// Facts implements [strategy.Describer].
func (d Diverse) Facts() strategy.Facts {
	return strategy.Facts{Of: d, Invalid: d.invalid(), LeftOver: true}
}

// invalid returns what is wrong with From.
func (d Diverse) invalid() error {
	if !(d.From >= 0 && d.From <= 1) {
		return &cupel.InvalidConfigError{Component: "Diverse", Field: "from", Value: formatPercent(d.From), Reason: "must be at least 0 and at most 1"}
	}
	return nil
}

var diverseDescriptor = strategy.Descriptor{
	Name: "diverse", Component: "DiverseSlice",
	Doc: "Takes the highest score first, and what repeats the words of what it has taken later.",
	Fields: []strategy.Field{
		{Name: "from", Type: strategy.Number, Default: defaultFrom, Range: strategy.Unit, Doc: "The likeness to an item taken from which an item is worth less; 0 means the default."},
	},
	Build: func(a strategy.Args) (any, error) {
		d := Diverse{From: strategy.Get[float64](a, "from")}
		return d, d.invalid()
	},
	Settings: func(s any) (map[string]any, bool) {
		d, ok := valueOf[Diverse](s)
		return map[string]any{"from": cmp.Or(d.From, defaultFrom)}, ok
	},
}

// Slice implements [strategy.Slicer]. The positions come in the order in which they
// were taken. It fails if From is out of range, or if ctx is done.
func (d Diverse) Slice(ctx context.Context, items []cupel.ScoredItem, budget cupel.SliceBudget) (strategy.Selection, error) {
	if err := d.invalid(); err != nil {
		return strategy.Selection{}, err
	}
	if budget.TargetTokens <= 0 {
		return strategy.Selection{}, nil
	}
	taken, err := d.take(ctx, items, budget.TargetTokens, likenesses(items))
	return strategy.Selection{Indices: taken}, err
}

// take returns the positions taken, in order. alike returns how alike two items are.
func (d Diverse) take(ctx context.Context, items []cupel.ScoredItem, remaining int, alike func(i, j int) float64) ([]int, error) {
	from := cmp.Or(d.From, defaultFrom)
	queue := make(worthQueue, len(items))
	for i, it := range items {
		queue[i] = worth{worth: it.Score, at: i}
	}
	heap.Init(&queue)
	var taken []int
	for len(queue) > 0 {
		top := &queue[0]
		tokens := items[top.at].Item.Tokens()
		if tokens < 0 || tokens > remaining {
			heap.Pop(&queue)
			continue
		}
		if score := items[top.at].Score; top.compared < len(taken) && score > 0 {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			for _, other := range taken[top.compared:] {
				top.most = max(top.most, alike(top.at, other))
			}
			top.compared = len(taken)
			if top.most > from {
				// The worth only falls, so the others keep their bounds.
				top.worth = score * ((1 - top.most) / (1 - from))
				heap.Fix(&queue, 0)
				continue
			}
		}
		taken = append(taken, top.at)
		remaining -= tokens
		heap.Pop(&queue)
	}
	return taken, nil
}

// worth is an item in the queue. Its worth is a bound until it has been compared
// with all that was taken.
type worth struct {
	worth    float64
	most     float64 // the greatest likeness so far
	at       int
	compared int // items taken
}

// worthQueue is a heap, the greatest worth first, on a tie the first item.
// NaN comes last.
type worthQueue []worth

func (q worthQueue) Len() int      { return len(q) }
func (q worthQueue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }

func (q worthQueue) Less(i, j int) bool {
	a, b := order.Key(q[i].worth), order.Key(q[j].worth)
	return a > b || a == b && q[i].at < q[j].at
}

// Push implements [heap.Interface]. The queue only becomes shorter.
func (q *worthQueue) Push(any) {}

// Pop implements [heap.Interface].
func (q *worthQueue) Pop() any {
	*q = (*q)[:len(*q)-1]
	return nil
}
