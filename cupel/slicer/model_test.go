package slicer_test

import (
	"fmt"
	"math"
	"math/big"
	"slices"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/slicer"
)

// The chapters' pseudocode, line by line, with big integers and nothing clever.
// Negative token counts are left out of it as the package documents.

// model is a slicer of the specification.
type model interface {
	slice(items []cupel.ScoredItem, budget cupel.SliceBudget) outcome
	forKind(kind string) model
}

// outcome is what a slicer decided, in positions of its list.
type outcome struct {
	selected   []int
	capped     []cupel.Drop
	shortfalls []cupel.CountRequirementShortfall
	scarcity   string // text of the error, or ""
}

// moreThan is the order of R8.
func moreThan(a, b float64) bool {
	if math.IsNaN(a) || math.IsNaN(b) {
		return !math.IsNaN(a) && math.IsNaN(b)
	}
	return a > b
}

// byScore sorts positions by score descending, stably, by insertion.
func byScore(positions []int, score func(i int) float64) []int {
	var sorted []int
	for _, p := range positions {
		at := len(sorted)
		for at > 0 && moreThan(score(p), score(sorted[at-1])) {
			at--
		}
		sorted = slices.Insert(sorted, at, p)
	}
	return sorted
}

// upTo returns 0 to n - 1.
func upTo(n int) (all []int) {
	for i := range n {
		all = append(all, i)
	}
	return all
}

// fold is the key of a kind: ASCII letters without their case.
func fold[S ~string](s S) string {
	b := []byte(s)
	for i, c := range b {
		if c >= 'A' && c <= 'Z' {
			b[i] = c - 'A' + 'a'
		}
	}
	return string(b)
}

func big64(n int) *big.Int { return big.NewInt(int64(n)) }

// clampInt is n as an int, at the limits of the type where it is beyond them.
func clampInt(n *big.Int) int {
	switch {
	case n.Cmp(big64(math.MaxInt)) > 0:
		return math.MaxInt
	case n.Cmp(big64(math.MinInt)) < 0:
		return math.MinInt
	}
	return int(n.Int64())
}

type modelGreedy struct{}

func (m modelGreedy) forKind(string) model { return m }

func (modelGreedy) slice(items []cupel.ScoredItem, budget cupel.SliceBudget) (out outcome) {
	if len(items) == 0 || budget.TargetTokens <= 0 {
		return outcome{}
	}
	densities := make([]float64, len(items))
	for i := range items {
		tokens := items[i].Item.Tokens()
		if tokens == 0 {
			densities[i] = math.MaxFloat64
		} else {
			densities[i] = items[i].Score / float64(tokens)
		}
	}
	remaining := budget.TargetTokens
	for _, i := range byScore(upTo(len(items)), func(i int) float64 { return densities[i] }) {
		switch tokens := items[i].Item.Tokens(); {
		case tokens < 0: // not a candidate
		case tokens == 0:
			out.selected = append(out.selected, i)
		case tokens <= remaining:
			out.selected = append(out.selected, i)
			remaining -= tokens
		}
	}
	return out
}

type modelKnapsack struct{ bucket int }

func (m modelKnapsack) forKind(string) model { return m }

func (m modelKnapsack) slice(items []cupel.ScoredItem, budget cupel.SliceBudget) (out outcome) {
	if len(items) == 0 || budget.TargetTokens <= 0 {
		return outcome{}
	}
	var candidates []int
	for i := range items {
		if tokens := items[i].Item.Tokens(); tokens == 0 {
			out.selected = append(out.selected, i)
		} else if tokens > 0 {
			candidates = append(candidates, i)
		}
	}
	capacity := budget.TargetTokens / m.bucket
	if len(candidates) == 0 || capacity == 0 {
		return out
	}
	n := len(candidates)
	values, weights := make([]int64, n), make([]int, n)
	for i, c := range candidates {
		scaled := math.Floor(items[c].Score * 10000)
		switch {
		case !(scaled > 0):
		case scaled > 1<<40:
			values[i] = 1 << 40
		default:
			values[i] = int64(scaled)
		}
		ceil, rest := new(big.Int).QuoRem(big64(items[c].Item.Tokens()), big64(m.bucket), new(big.Int))
		if rest.Sign() > 0 {
			ceil.Add(ceil, big64(1))
		}
		weights[i] = int(ceil.Int64())
	}
	dp := make([]int64, capacity+1)
	keep := make([][]bool, n)
	for i := range n {
		keep[i] = make([]bool, capacity+1)
		for w := capacity; w >= weights[i]; w-- {
			if withItem := dp[w-weights[i]] + values[i]; withItem > dp[w] {
				dp[w] = withItem
				keep[i][w] = true
			}
		}
	}
	remaining := capacity
	for i := n - 1; i >= 0; i-- {
		if keep[i][remaining] {
			out.selected = append(out.selected, candidates[i])
			remaining -= weights[i]
		}
	}
	return out
}

// share is an entry of a QuotaSet.
type share struct {
	kind         string
	require, cap float64
}

type modelQuota struct {
	inner  model
	quotas []share
}

func (m modelQuota) forKind(kind string) model { return modelQuota{m.inner.forKind(kind), m.quotas} }

func (m modelQuota) configured(kind string) (share, bool) {
	for _, q := range m.quotas {
		if fold(q.kind) == fold(kind) {
			return q, true
		}
	}
	return share{kind, 0, 100}, false
}

// floorPercent is floor(percent / 100.0 * target), in the range of int.
func floorPercent(percent float64, target int) int {
	f, _ := big.NewFloat(math.Floor(percent / 100.0 * float64(target))).Int(nil)
	return clampInt(f)
}

func (m modelQuota) slice(items []cupel.ScoredItem, budget cupel.SliceBudget) (out outcome) {
	if len(items) == 0 || budget.TargetTokens <= 0 {
		return outcome{}
	}
	var kinds []string
	partitions := make(map[string][]int)
	mass := make(map[string]*big.Int)
	for i := range items {
		kind := fold(items[i].Item.Kind())
		if partitions[kind] == nil {
			kinds = append(kinds, kind)
			mass[kind] = new(big.Int)
		}
		partitions[kind] = append(partitions[kind], i)
		mass[kind].Add(mass[kind], big64(max(0, items[i].Item.Tokens())))
	}
	unassigned := big64(budget.TargetTokens)
	for _, q := range m.quotas {
		unassigned.Sub(unassigned, big64(floorPercent(q.require, budget.TargetTokens)))
	}
	if unassigned.Sign() < 0 {
		unassigned.SetInt64(0)
	}
	require, limit := make(map[string]int), make(map[string]int)
	total := new(big.Int)
	for _, kind := range kinds {
		limit[kind] = budget.TargetTokens
		if q, ok := m.configured(kind); ok {
			require[kind], limit[kind] = floorPercent(q.require, budget.TargetTokens), floorPercent(q.cap, budget.TargetTokens)
		}
		if limit[kind] > require[kind] {
			total.Add(total, mass[kind])
		}
	}
	for _, kind := range kinds {
		kindBudget := big64(require[kind])
		if total.Sign() > 0 && limit[kind] > require[kind] {
			proportional := new(big.Int).Mul(unassigned, mass[kind])
			kindBudget.Add(kindBudget, proportional.Quo(proportional, total))
		}
		if kindBudget.Cmp(big64(limit[kind])) > 0 {
			kindBudget = big64(limit[kind])
		}
		if kindBudget.Sign() <= 0 {
			continue
		}
		q, _ := m.configured(kind)
		sub := cupel.SliceBudget{MaxTokens: floorPercent(q.cap, budget.TargetTokens), TargetTokens: clampInt(kindBudget)}
		sub.MaxTokens = max(sub.MaxTokens, sub.TargetTokens)
		inner := m.inner.forKind(kind).slice(pick(items, partitions[kind]), sub)
		if inner.scarcity != "" {
			return inner
		}
		out.append(inner, partitions[kind])
	}
	return out
}

func pick(items []cupel.ScoredItem, positions []int) (picked []cupel.ScoredItem) {
	for _, p := range positions {
		picked = append(picked, items[p])
	}
	return picked
}

// append adds what an inner slicer decided about the items at positions.
func (out *outcome) append(inner outcome, positions []int) {
	for _, i := range inner.selected {
		out.selected = append(out.selected, positions[i])
	}
	for _, d := range inner.capped {
		out.capped = append(out.capped, cupel.Drop{Index: positions[d.Index], Reason: d.Reason})
	}
	out.shortfalls = append(out.shortfalls, inner.shortfalls...)
}

// modelCounts is CountQuotaSlice, and CountConstrainedKnapsackSlice with resort.
type modelCounts struct {
	name    string
	inner   model
	entries []slicer.CountQuotaEntry
	throw   bool
	resort  bool
}

func (m modelCounts) forKind(kind string) model {
	var own []slicer.CountQuotaEntry
	for _, e := range m.entries {
		if fold(e.Kind) == fold(kind) {
			own = append(own, e)
		}
	}
	m.inner, m.entries = m.inner.forKind(kind), own
	return m
}

func (m modelCounts) slice(items []cupel.ScoredItem, budget cupel.SliceBudget) (out outcome) {
	if len(items) == 0 || budget.TargetTokens <= 0 {
		return outcome{}
	}
	score := func(i int) float64 { return items[i].Score }
	partitions := make(map[string][]int)
	for i := range items {
		if items[i].Item.Tokens() >= 0 {
			kind := fold(items[i].Item.Kind())
			partitions[kind] = append(partitions[kind], i)
		}
	}
	committed := make(map[int]bool)
	selectedCount := make(map[string]int)
	preAllocated := new(big.Int)
	for _, e := range m.entries {
		if e.RequireCount <= 0 {
			continue
		}
		kind := fold(e.Kind)
		satisfied := 0
		for _, i := range byScore(partitions[kind], score) {
			if satisfied >= e.RequireCount {
				break
			}
			out.selected = append(out.selected, i)
			committed[i] = true
			preAllocated.Add(preAllocated, big64(items[i].Item.Tokens()))
			satisfied++
		}
		selectedCount[kind] = satisfied
		if satisfied < e.RequireCount {
			if m.throw {
				return outcome{scarcity: fmt.Sprintf("cupel: %s: candidate pool for kind '%s' has %d items but RequireCount is %d.", m.name, e.Kind, satisfied, e.RequireCount)}
			}
			out.shortfalls = append(out.shortfalls, cupel.CountRequirementShortfall{Kind: e.Kind, RequiredCount: e.RequireCount, SatisfiedCount: satisfied})
		}
	}

	var residual []int
	for i := range items {
		if !committed[i] {
			residual = append(residual, i)
		}
	}
	residualTarget := max(0, clampInt(new(big.Int).Sub(big64(budget.TargetTokens), preAllocated)))
	inner := m.inner.slice(pick(items, residual), cupel.SliceBudget{MaxTokens: budget.MaxTokens, TargetTokens: min(residualTarget, budget.MaxTokens)})
	if inner.scarcity != "" {
		return inner
	}
	if m.resort {
		slices.Sort(inner.selected)
		inner.selected = byScore(inner.selected, func(i int) float64 { return score(residual[i]) })
	}
	var kept outcome
	kept.capped, kept.shortfalls = inner.capped, inner.shortfalls
	for _, i := range inner.selected {
		kind := fold(items[residual[i]].Item.Kind())
		count := selectedCount[kind]
		at := slices.IndexFunc(m.entries, func(e slicer.CountQuotaEntry) bool { return fold(e.Kind) == kind })
		if at >= 0 && count >= m.entries[at].CapCount {
			e := m.entries[at]
			kept.capped = append(kept.capped, cupel.Drop{Index: i, Reason: cupel.NewExclusionReason(cupel.CountCapExceeded, cupel.ReasonData{Kind: e.Kind, Cap: e.CapCount, Count: count})})
			continue
		}
		kept.selected = append(kept.selected, i)
		selectedCount[kind] = count + 1
	}
	out.append(kept, residual)
	return out
}
