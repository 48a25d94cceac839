package cli

import (
	"slices"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/analysis"
)

// side is one of the compared selections.
type side struct {
	label  string
	budget *cupel.ContextBudget // nil if unknown
	report *cupel.SelectionReport
}

// difference is how two selections differ. diff --json prints it.
type difference struct {
	A      measures `json:"a"`
	B      measures `json:"b"`
	Swings []swing  `json:"swings"` // in order of first appearance among the candidates
	Moved  []move   `json:"moved"`  // in the order of A
	// Forms are items that both include in different forms, in the order of A. JSON
	// has them where there are any.
	Forms []reshaped `json:"forms,omitempty"`
}

// reshaped is an item that both selections include in different forms.
type reshaped struct {
	label
	Content string `json:"content"`
	Kind    string `json:"kind"`
	A       shape  `json:"a"`
	B       shape  `json:"b"`
}

// shape is the form of an item in a window: 0 is the full one.
type shape struct {
	Form   int `json:"form"`
	Tokens int `json:"tokens"`
}

// measures are the figures of one selection.
type measures struct {
	Label             string         `json:"label"`
	Budget            *int           `json:"budget,omitempty"`
	Items             int            `json:"items"`
	Tokens            int            `json:"tokens"`
	Utilization       *float64       `json:"utilization,omitempty"` // tokens / budget
	KindDiversity     int            `json:"kind_diversity"`
	TimestampCoverage float64        `json:"timestamp_coverage"`
	TokensByKind      map[string]int `json:"tokens_by_kind"`
}

// swing is a content that one selection includes and the other does not.
type swing struct {
	label
	Content string  `json:"content"`
	Kind    string  `json:"kind"`
	Tokens  int     `json:"tokens"`
	A       outcome `json:"a"`
	B       outcome `json:"b"`
}

// outcome is what a selection decided about a content.
type outcome struct {
	Included bool       `json:"included"`
	Place    int        `json:"place,omitempty"` // in the prompt, from 1
	Score    *jsonScore `json:"score,omitempty"` // none where it is not a candidate
	Reason   string     `json:"reason"`
	Why      string     `json:"why"` // the reason with its data

	entry *analysis.Entry // nil where it is not a candidate
}

// move is a content that both selections include, at different places among
// the contents they share.
type move struct {
	label
	Content string `json:"content"`
	A       int    `json:"a"` // place in the prompt, from 1
	B       int    `json:"b"`
}

// notCandidate is the reason for a content that a report does not have.
const notCandidate = "NotACandidate"

// compare compares two selections. items are the candidates; nil takes them from
// the reports.
func compare(items []*cupel.ContextItem, sides [2]side) *difference {
	diff := analysis.DiffReports(sides[0].report, sides[1].report)
	d := &difference{A: measure(sides[0]), B: measure(sides[1]), Swings: []swing{}, Moved: []move{}}
	for _, c := range diff.Moved {
		d.Moved = append(d.Moved, move{labelOf(c.A.Item), c.Content, c.A.Place, c.B.Place})
	}
	for _, c := range diff.Forms {
		d.Forms = append(d.Forms, reshaped{labelOf(c.A.Item), c.Content, string(c.A.Item.Kind()), shape{c.A.Form, c.A.Tokens}, shape{c.B.Form, c.B.Tokens}})
	}
	if items == nil {
		for _, s := range sides {
			for _, e := range analysis.NewLedger(s.report, nil).Entries {
				items = append(items, e.Item)
			}
		}
	}
	swings := make(map[string]analysis.ReportChange)
	for i, changes := range [][]analysis.ReportChange{diff.Came, diff.Went} {
		has := make(map[string]bool) // what the other side includes: content counts as included if one copy is
		for _, in := range sides[i].report.Included {
			has[in.Item.Content()] = true
		}
		for _, c := range slices.Backward(changes) { // so that the first one wins
			if !has[c.Content] {
				swings[c.Content] = c
			}
		}
	}
	for _, item := range items {
		c, ok := swings[item.Content()]
		if !ok {
			continue
		}
		delete(swings, c.Content) // once, where it appears first
		in := c.B
		if in == nil || in.Place == 0 {
			in = c.A
		}
		d.Swings = append(d.Swings, swing{labelOf(in.Item), c.Content, string(in.Item.Kind()), in.Item.Tokens(), outcomeOf(c.A), outcomeOf(c.B)})
	}
	return d
}

func outcomeOf(e *analysis.Entry) outcome {
	if e == nil {
		return outcome{Reason: notCandidate, Why: notCandidate + ": it is not in the report"}
	}
	score := jsonScore(e.Score)
	return outcome{e.Place > 0, e.Place, &score, e.Code, e.Why(), e}
}

func measure(s side) measures {
	m := measures{
		Label: s.label, Items: len(s.report.Included),
		KindDiversity: analysis.KindDiversity(s.report), TimestampCoverage: analysis.TimestampCoverage(s.report),
		TokensByKind: make(map[string]int),
	}
	spelled := make(map[string]string) // the first spelling of each kind
	for _, i := range s.report.Included {
		tokens := max(i.Item.Tokens(), 0) // a foreign report may have negative counts
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
