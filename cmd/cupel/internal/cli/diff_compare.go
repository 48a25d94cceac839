package cli

import (
	"cmp"
	"slices"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/analysis"
)

// side is one of the selections that are compared.
type side struct {
	label  string
	budget *cupel.ContextBudget // nil: not known
	report *cupel.SelectionReport
}

// difference is what two selections do not have in common. Its JSON is what
// diff --json prints.
type difference struct {
	A      measures `json:"a"`
	B      measures `json:"b"`
	Swings []swing  `json:"swings"` // in order of first appearance among the candidates
	Moved  []move   `json:"moved"`  // in the order of A
}

// measures are the figures of one selection.
type measures struct {
	Label             string         `json:"label"`
	Budget            *int           `json:"budget,omitempty"`
	Items             int            `json:"items"`
	Tokens            int            `json:"tokens"`
	Utilization       *float64       `json:"utilization,omitempty"` // tokens as a share of the budget
	KindDiversity     int            `json:"kind_diversity"`
	TimestampCoverage float64        `json:"timestamp_coverage"`
	TokensByKind      map[string]int `json:"tokens_by_kind"`
}

// swing is a content that one selection includes and the other does not.
type swing struct {
	Content string  `json:"content"`
	Kind    string  `json:"kind"`
	Tokens  int     `json:"tokens"`
	A       outcome `json:"a"`
	B       outcome `json:"b"`
}

// outcome is what a selection did with a content.
type outcome struct {
	Included bool       `json:"included"`
	Place    int        `json:"place,omitempty"` // in the prompt, from 1
	Score    *jsonScore `json:"score,omitempty"` // none where it is not a candidate
	Reason   string     `json:"reason"`
	Why      string     `json:"why"` // the reason with its data

	item *cupel.ContextItem
	data cupel.ReasonData
}

// move is a content that both include, and whose place among those that both
// include differs.
type move struct {
	Content string `json:"content"`
	A       int    `json:"a"` // place in the prompt, from 1
	B       int    `json:"b"`
}

// notCandidate is the reason of a content that a report does not know.
const notCandidate = "NotACandidate"

// compare compares two selections. items are the candidates, or nil for those
// that the reports name.
func compare(items []*cupel.ContextItem, sides [2]side) *difference {
	if items == nil {
		for _, s := range sides {
			for _, i := range s.report.Included {
				items = append(items, i.Item)
			}
			for _, e := range s.report.Excluded {
				items = append(items, e.Item)
			}
		}
	}
	a, b := outcomes(sides[0].report), outcomes(sides[1].report)
	d := &difference{
		A: measure(sides[0]), B: measure(sides[1]),
		Swings: []swing{}, Moved: moved(sides[0].report, sides[1].report),
	}
	seen := make(map[string]bool, len(items))
	for _, item := range items {
		content := item.Content()
		if seen[content] {
			continue
		}
		seen[content] = true
		inA, inB := outcomeOf(a, content), outcomeOf(b, content)
		if inA.Included == inB.Included {
			continue
		}
		item = inA.item
		if inB.Included {
			item = inB.item
		}
		d.Swings = append(d.Swings, swing{content, string(item.Kind()), item.Tokens(), inA, inB})
	}
	return d
}

func outcomeOf(outcomes map[string]outcome, content string) outcome {
	if o, ok := outcomes[content]; ok {
		return o
	}
	return outcome{Reason: notCandidate, Why: notCandidate + ": the report does not know it"}
}

// outcomes returns what a report says about each content: of several copies
// about one that is in, or else about one that is not out as a duplicate.
func outcomes(report *cupel.SelectionReport) map[string]outcome {
	all := make(map[string]outcome, len(report.Included)+len(report.Excluded))
	for place, i := range report.Included {
		if _, ok := all[i.Item.Content()]; !ok {
			score := jsonScore(i.Score)
			all[i.Item.Content()] = outcome{true, place + 1, &score, string(i.Reason), string(i.Reason), i.Item, cupel.ReasonData{}}
		}
	}
	for _, e := range report.Excluded {
		known, ok := all[e.Item.Content()]
		if ok && (known.Included || known.Reason != string(cupel.Deduplicated)) {
			continue
		}
		score := jsonScore(e.Score)
		all[e.Item.Content()] = outcome{false, 0, &score, string(e.Reason.Code), e.Reason.String(), e.Item, e.Reason.Data()}
	}
	return all
}

func measure(s side) measures {
	m := measures{
		Label: s.label, Items: len(s.report.Included),
		KindDiversity: analysis.KindDiversity(s.report), TimestampCoverage: analysis.TimestampCoverage(s.report),
		TokensByKind: make(map[string]int),
	}
	spelled := make(map[string]string) // the first spelling of each kind
	for _, i := range s.report.Included {
		tokens := max(i.Item.Tokens(), 0) // a report from elsewhere may say anything
		m.Tokens = addTokens(m.Tokens, tokens)
		kind, ok := spelled[i.Item.Kind().Key()]
		if !ok {
			kind = string(i.Item.Kind())
			spelled[i.Item.Kind().Key()] = kind
		}
		m.TokensByKind[kind] = addTokens(m.TokensByKind[kind], tokens)
	}
	if s.budget != nil {
		tokens, share := s.budget.MaxTokens(), analysis.BudgetUtilization(s.report, *s.budget)
		m.Budget, m.Utilization = &tokens, &share
	}
	return m
}

// moved returns the fewest items without which those that both selections
// include are in the same order.
func moved(a, b *cupel.SelectionReport) []move {
	type copyOf struct {
		content string
		n       int // the first copy of a content in one matches the first in the other
	}
	places := func(r *cupel.SelectionReport) ([]copyOf, map[copyOf]int) {
		counts := make(map[string]int)
		order, place := make([]copyOf, len(r.Included)), make(map[copyOf]int, len(r.Included))
		for i, entry := range r.Included {
			content := entry.Item.Content()
			order[i] = copyOf{content, counts[content]}
			counts[content]++
			place[order[i]] = i + 1
		}
		return order, place
	}
	order, inA := places(a)
	_, inB := places(b)
	var common []move
	var sequence []int
	for _, c := range order {
		if at, ok := inB[c]; ok {
			common = append(common, move{c.content, inA[c], at})
			sequence = append(sequence, at)
		}
	}
	stays := longestRising(sequence)
	list := []move{}
	for i, m := range common {
		if !stays[i] {
			list = append(list, m)
		}
	}
	return list
}

// longestRising marks the positions of a longest rising part of numbers that all
// differ.
func longestRising(numbers []int) []bool {
	var ends []int // the position of the least end of a rising part of each length
	before := make([]int, len(numbers))
	for i, n := range numbers {
		at, _ := slices.BinarySearchFunc(ends, n, func(end, n int) int { return cmp.Compare(numbers[end], n) })
		before[i] = -1
		if at > 0 {
			before[i] = ends[at-1]
		}
		if at == len(ends) {
			ends = append(ends, i)
		} else {
			ends[at] = i
		}
	}
	marks := make([]bool, len(numbers))
	if len(ends) > 0 {
		for i := ends[len(ends)-1]; i >= 0; i = before[i] {
			marks[i] = true
		}
	}
	return marks
}
