package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/slicer"
)

// whyNotAnswer is all that is known of one candidate.
type whyNotAnswer struct {
	a      *account
	e      *entry
	copies int // other candidates with its content

	targetGiven bool // --target was; the search for a budget does without
	bucket      int  // of the knapsack, if there is one

	rule    string // how what came before it was chosen
	instead []int  // candidates: what came before it
	ifIn    *exchange
	minimum smallest
	at      *exchange // at the smallest budget, against the window as it is
}

// exchange is how another selection differs from the one explained.
type exchange struct {
	came, went []int // candidates, best first
	failed     error // why there is no other selection
}

// whyNot answers for one candidate.
func (f *searchFlags) whyNot(ctx context.Context, env *Environment, s *selection, a *account, of int, targetGiven bool) (*whyNotAnswer, error) {
	switch {
	case f.probes < 0:
		return nil, usagef("--max-probes: must be at least 0, got %d", f.probes)
	case f.upTo < 0:
		return nil, usagef("--up-to: must be at least 0, got %d", f.upTo)
	}
	answer := &whyNotAnswer{a: a, targetGiven: targetGiven, bucket: bucketOf(s.policy.Slicer)}
	answer.e, answer.copies = a.bestCopy(a.items[of].Content())
	e := answer.e
	if e.place == 0 {
		if err := answer.findInstead(ctx, s); err != nil {
			return nil, err
		}
	}
	never := e.reason == string(cupel.Deduplicated) || e.reason == string(cupel.NegativeTokens)
	if never {
		answer.minimum = smallest{Exact: true}
		return answer, nil
	}
	if e.place == 0 {
		var err error
		if answer.ifIn, err = a.ifPinned(ctx, s, e); err != nil {
			return nil, err
		}
	}
	var err error
	if answer.minimum, err = f.find(ctx, env, s, e.item); err != nil {
		if ctx.Err() != nil {
			return nil, err
		}
		answer.minimum.Error = bare(err) // another budget's problem, not this one's
	}
	if answer.minimum.Found {
		tokens := answer.minimum.Tokens
		budget, err := s.budget.Resize(tokens, tokens-s.budget.OutputReserve())
		if err != nil {
			return nil, err
		}
		if answer.at, err = a.exchangeWith(ctx, s.pipeline, a.items, budget); err != nil {
			return nil, err
		}
	}
	return answer, nil
}

// bestCopy returns, of the candidates with a content, the one that is in, or
// else the one that is not out as a duplicate; and how many others there are.
func (a *account) bestCopy(content string) (best *entry, others int) {
	order := func(e *entry) int {
		switch {
		case e.place > 0:
			return 0
		case e.reason != string(cupel.Deduplicated):
			return 1
		}
		return 2
	}
	for i := range a.entries {
		e := &a.entries[i]
		if e.item.Content() != content {
			continue
		}
		if best == nil {
			best = e
			continue
		}
		others++
		if order(e) < order(best) {
			best = e
		}
	}
	return best, others
}

// findInstead finds what is in where the candidate could have been.
func (w *whyNotAnswer) findInstead(ctx context.Context, s *selection) error {
	a, e := w.a, w.e
	switch cupel.ExclusionCode(e.reason) {
	case cupel.NegativeTokens:
		return nil
	case cupel.Deduplicated:
		if stays := a.survivor(e); stays != nil {
			w.rule = "The candidate with the same content that stays:"
			w.instead = []int{stays.position}
		}
		return nil
	case cupel.PinnedOverride:
		w.rule = "Pinned items take their tokens before anything is chosen:"
		for _, i := range a.window {
			if a.items[i].Pinned() && a.items[i].Tokens() > 0 {
				w.instead = append(w.instead, i)
			}
		}
		return nil
	case cupel.CountCapExceeded:
		if e.data.Cap == 0 {
			w.rule = fmt.Sprintf("No item of the kind %s may be in unless it is pinned.", e.item.Kind())
			return nil
		}
		w.rule = fmt.Sprintf("Of the kind %s %s may be in, and others came first. These are in:", e.item.Kind(), plural(e.data.Cap, "item"))
		for _, i := range a.window {
			if !a.items[i].Pinned() && a.items[i].Kind().Equal(e.item.Kind()) {
				w.instead = append(w.instead, i)
			}
		}
		return nil
	default:
		return w.watchSlicer(ctx, s)
	}
}

// watchSlicer selects once more and looks at the slicer's decision.
func (w *whyNotAnswer) watchSlicer(ctx context.Context, s *selection) error {
	a, e := w.a, w.e
	var calls []sliceCall
	config := s.pipeline.Config()
	config.Slicer = watched(config.Slicer, &calls)
	pipeline, err := cupel.New(config)
	if err != nil {
		return err
	}
	if change, err := a.exchangeWith(ctx, pipeline, a.items, a.budget); err != nil || change.failed != nil ||
		len(change.came)+len(change.went) > 0 {
		return err // it does not select as it did: it tells nothing about the selection
	}
	if a.budget.Effective(a.pinnedTokens()).TargetTokens <= 0 {
		w.rule = "Pinned items and what is kept leave no tokens to choose with:"
		w.instead = slices.DeleteFunc(slices.Clone(a.window), func(i int) bool { return !a.items[i].Pinned() })
		return nil
	}
	for _, call := range calls {
		at := slices.IndexFunc(call.items, func(i cupel.ScoredItem) bool { return i.Item == e.item })
		if at >= 0 {
			w.explainCall(call, at, config.Slicer)
			w.addRequired(calls, config.Slicer)
			return nil
		}
	}
	// Nobody was asked about it: it was required, or its kind has no share.
	if !hasQuota(config.Slicer) || slices.ContainsFunc(calls, func(c sliceCall) bool {
		return slices.ContainsFunc(c.items, func(i cupel.ScoredItem) bool { return i.Item.Kind().Equal(e.item.Kind()) })
	}) {
		w.explainTruncation()
		return nil
	}
	w.rule = fmt.Sprintf("The quota leaves no tokens for the kind %s.", e.item.Kind())
	return nil
}

func (a *account) pinnedTokens() int {
	pinned := 0
	for _, i := range a.window {
		if a.items[i].Pinned() {
			pinned = addTokens(pinned, a.items[i].Tokens())
		}
	}
	return pinned
}

// explainCall tells from a call of a slicer why the item at a position was not
// chosen, and what was.
func (w *whyNotAnswer) explainCall(call sliceCall, at int, whole cupel.Slicer) {
	a := w.a
	if slices.Contains(call.chosen, at) {
		w.explainTruncation()
		return
	}
	scope := ""
	if hasQuota(whole) {
		scope = fmt.Sprintf(" for the kind %s", w.e.item.Kind())
	}
	before := call.chosen
	inTurn := func(first string, value func(cupel.ScoredItem) float64) {
		var left int
		left, before = call.before(at, value)
		if len(before) == 0 {
			w.rule = fmt.Sprintf("Nothing comes before it, but there are only %d tokens%s.", left, scope)
			return
		}
		w.rule = fmt.Sprintf("%s comes first. When its turn came, %d of %d tokens%s were left, after these:", first, left, call.budget.TargetTokens, scope)
	}
	switch call.slicer.(type) {
	case slicer.Greedy, *slicer.Greedy:
		inTurn("With GreedySlice the highest score per token", density)
	case slicer.ScoreGreedy, *slicer.ScoreGreedy:
		inTurn("With ScoreGreedySlice the highest score", func(i cupel.ScoredItem) float64 { return i.Score })
	case slicer.Knapsack, *slicer.Knapsack:
		w.rule = fmt.Sprintf("KnapsackSlice takes the items whose scores have the highest sum, within %d tokens%s%s:", call.budget.TargetTokens, scope, w.buckets())
		if call.items[at].Score < leastKnapsackScore {
			w.rule = fmt.Sprintf("KnapsackSlice takes nothing with a score below %v. It took:", leastKnapsackScore)
		}
	case *slicer.CountConstrainedKnapsack:
		w.rule = fmt.Sprintf("CountConstrainedKnapsackSlice takes what is required of each kind, then the items whose scores have the highest sum, within %d tokens together%s%s, and of these as many of each kind as may be:",
			call.budget.TargetTokens, scope, w.buckets())
	default:
		w.rule = fmt.Sprintf("%s chose these with %d tokens%s:", typeName(call.slicer), call.budget.TargetTokens, scope)
	}
	for _, i := range before {
		w.instead = append(w.instead, a.at[call.items[i].Item])
	}
}

// leastKnapsackScore is the least that counts: scores count in steps of it.
const leastKnapsackScore = 0.0001

// buckets tells how a knapsack counts tokens: an item may fit, and its buckets
// not.
func (w *whyNotAnswer) buckets() string {
	switch w.bucket {
	case 1:
		return ""
	case 0:
		return ", the tokens of each rounded up to buckets"
	}
	return fmt.Sprintf(", the tokens of each rounded up to buckets of %d", w.bucket)
}

// explainTruncation is for what was chosen and left out again.
func (w *whyNotAnswer) explainTruncation() {
	w.rule = "It was chosen, but what was chosen is more than the target, and the policy truncates: what is pinned stays, then the best that fits. These come first:"
	w.instead = slices.DeleteFunc(slices.Clone(w.a.window), func(i int) bool { return w.a.entries[i].rank > w.e.rank })
}

// addRequired puts what a count slicer had to take before what was chosen: in a
// quota, of the item's kind alone, since other kinds have tokens of their own.
func (w *whyNotAnswer) addRequired(calls []sliceCall, whole cupel.Slicer) {
	_, byKind := whole.(*slicer.Quota)
	asked := make(map[*cupel.ContextItem]bool)
	for _, call := range calls {
		for _, i := range call.items {
			asked[i.Item] = true
		}
	}
	var required []int
	for _, i := range w.a.window {
		item := w.a.items[i]
		if !item.Pinned() && !asked[item] && (!byKind || item.Kind().Equal(w.e.item.Kind())) {
			required = append(required, i)
		}
	}
	if len(required) > 0 {
		w.rule = fmt.Sprintf("Required numbers of a kind come first, here %s. %s", plural(len(required), "item"),
			strings.Replace(w.rule, "Nothing comes", "Nothing else comes", 1))
		w.instead = append(required, w.instead...)
	}
}

// hasQuota reports whether kinds have shares of their own.
func hasQuota(s cupel.Slicer) bool {
	for each := range cupel.AllSlicers(s) {
		if _, ok := each.(*slicer.Quota); ok {
			return true
		}
	}
	return false
}

// density is what GreedySlice sorts by.
func density(i cupel.ScoredItem) float64 {
	if i.Item.Tokens() == 0 {
		return math.MaxFloat64
	}
	return i.Score / float64(i.Item.Tokens())
}

// before returns what was chosen before the item at a position had its turn, in
// that order, and the tokens that were left then.
func (c sliceCall) before(at int, value func(cupel.ScoredItem) float64) (left int, earlier []int) {
	left = c.budget.TargetTokens
	for _, i := range c.chosen {
		// NaN is last here as in the slicers.
		if cmp.Or(cmp.Compare(value(c.items[at]), value(c.items[i])), cmp.Compare(i, at)) < 0 {
			earlier = append(earlier, i)
			left -= c.items[i].Item.Tokens()
		}
	}
	return left, earlier
}

// exchangeWith selects with another pipeline, from other candidates at the same
// positions, or with another budget.
func (a *account) exchangeWith(ctx context.Context, pipeline *cupel.Pipeline, items []*cupel.ContextItem, budget cupel.ContextBudget) (*exchange, error) {
	report, err := pipeline.DryRun(ctx, items, budget)
	if err != nil {
		if ctx.Err() != nil || errors.Is(err, cupel.ErrStrategy) {
			return nil, selecting(err)
		}
		return &exchange{failed: err}, nil
	}
	in := make(map[*cupel.ContextItem]bool, len(report.Included))
	for _, i := range report.Included {
		in[i.Item] = true
	}
	var change exchange
	for i, item := range items {
		switch was := a.entries[i].place > 0; {
		case in[item] && !was:
			change.came = append(change.came, i)
		case !in[item] && was:
			change.went = append(change.went, i)
		}
	}
	for _, list := range [][]int{change.came, change.went} {
		slices.SortStableFunc(list, func(i, j int) int { return cmp.Compare(a.entries[i].rank, a.entries[j].rank) })
	}
	return &change, nil
}

// ifPinned selects with the candidate pinned.
func (a *account) ifPinned(ctx context.Context, s *selection, e *entry) (*exchange, error) {
	pinned, err := pinnedCopy(e.item)
	if err != nil {
		return nil, err
	}
	items := slices.Clone(a.items)
	items[e.position] = pinned
	return a.exchangeWith(ctx, s.pipeline, items, a.budget)
}

func pinnedCopy(item *cupel.ContextItem) (*cupel.ContextItem, error) {
	opts := []cupel.ItemOption{
		cupel.WithPinned(), cupel.WithKind(item.Kind()), cupel.WithSource(item.Source()),
		cupel.WithTags(item.Tags()...), cupel.WithMetadata(item.Metadata()),
	}
	if priority, ok := item.Priority(); ok {
		opts = append(opts, cupel.WithPriority(priority))
	}
	if t, ok := item.Timestamp(); ok {
		opts = append(opts, cupel.WithTimestamp(t))
	}
	if hint, ok := item.FutureRelevanceHint(); ok {
		opts = append(opts, cupel.WithFutureRelevanceHint(hint))
	}
	if tokens, ok := item.OriginalTokens(); ok {
		opts = append(opts, cupel.WithOriginalTokens(tokens))
	}
	return cupel.NewContextItem(item.Content(), item.Tokens(), opts...)
}
