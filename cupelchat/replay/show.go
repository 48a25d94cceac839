package replay

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/wollax/cupel-go/cupel"
	observed "github.com/wollax/cupel-go/cupel/turn"
)

// Shown is the choice of a policy at one step, for package cupelinspect.
type Shown struct {
	Step   int      // of the assistant, from 0
	Missed []string // values of the step without grounded support
	Budget cupel.ContextBudget
	// Report is that of the chooser of [Choosing], in a session that of the turn. It has no times. Of
	// any other policy it says what is in the window and what is not, without scores:
	// they are NaN. Metadata "missed" of a message that is out, or there in a smaller form,
	// are the values that it would have had.
	Report *cupel.SelectionReport
}

// Show replays a policy on a conversation at a share, and returns the first of the
// steps at which it misses most values. It fails as [Measure.Sample] does, and if the
// policy is not of the plan or the conversation has no step.
func (m *Measure) Show(ctx context.Context, c *Conversation, policy string, mode Mode, share float64) (*Shown, error) {
	i := slices.IndexFunc(m.policies, func(p Policy) bool { return p.Name == policy && p.Mode == mode })
	if i < 0 {
		return nil, &cupel.InvalidConfigError{Component: "Measure.Show", Field: "policy", Value: policy, Reason: "it must be one of the plan"}
	}
	meter := newMeter(m.counter)
	rec, err := record(c, meter)
	if err != nil {
		return nil, err
	}
	r := run{Counts: new(Counts), chooser: m.policies[i].chooser(make(map[string]*chatMessage), nil), policy: &m.policies[i], limit: rec.limit(share)}
	var worst *turn
	var sent window
	shown := new(Shown)
	for n := range rec.steps {
		t := &turn{recording: rec, step: n, said: rec.steps[n].units, meter: meter, shared: &shared{shows: true}}
		if err := r.step(ctx, t); err != nil {
			return nil, err
		}
		var missed []string
		text := r.before.text()
		for k := range rec.steps[n].values {
			if v := &rec.steps[n].values[k]; !v.grounded(text) {
				missed = append(missed, v.text)
			}
		}
		if worst == nil || len(missed) > len(shown.Missed) {
			worst, sent = t, r.before
			shown.Step, shown.Missed = n, missed
		}
	}
	if worst == nil {
		return nil, fmt.Errorf("cupel: conversation %q has no step to show", c.ID)
	}
	budget := max(r.limit, worst.fixed(worst.said))
	if shown.Budget, err = cupel.NewContextBudget(budget, budget); err != nil {
		return nil, err
	}
	if shown.Report = worst.shared.report; shown.Report == nil {
		shown.Report, err = worst.report(sent, m.policies[i].units != nil)
	}
	if err == nil {
		err = worst.mark(shown.Report, shown.Missed)
	}
	return shown, err
}

// report says what a window has and what it does not have, message by message. of
// reports whether the pieces of the window are units.
func (t *turn) report(w window, units bool) (*cupel.SelectionReport, error) {
	said := t.request()
	there := make([]bool, len(said))
	places := make(map[string][]int) // of equal messages
	for at := range said {
		places[said[at].id] = append(places[said[at].id], at)
	}
	first := make([]int, t.said)                        // messages of units
	groups := make(map[int]cupel.ItemOption, len(said)) // of messages
	for i := range t.said {
		if i > 0 {
			first[i] = first[i-1] + len(t.units[i-1].pieces)
		}
		if n := len(t.units[i].pieces); n > 1 {
			for k := range n {
				groups[first[i]+k] = cupel.WithGroup(fmt.Sprintf("exchange %d", first[i]))
			}
		}
	}
	report := &cupel.SelectionReport{TotalCandidates: len(said), TotalTokensConsidered: said.tokens()}
	include := func(p *piece, o cupel.IncludedItem, opts ...cupel.ItemOption) error {
		if o.Candidate >= 0 {
			there[o.Candidate] = true
		}
		item, err := p.item(o.Candidate, append(opts, groups[o.Candidate])...)
		o.Item, o.Score, o.Reason, o.Units = item, math.NaN(), sentReason, true
		report.Included = append(report.Included, o)
		return err
	}
	for n := range w {
		p := &w[n]
		if !units {
			at := -1 // the policy's own
			if list := places[p.id]; len(list) > 0 {
				at, places[p.id] = list[0], list[1:]
			}
			if err := include(p, cupel.IncludedItem{Candidate: at}); err != nil {
				return nil, err
			}
			continue
		}
		number, _, _ := strings.Cut(p.id, "\x00")
		i, err := strconv.Atoi(number)
		if err != nil {
			return nil, err
		}
		u := &t.units[i]
		for k := range u.pieces {
			o := cupel.IncludedItem{Candidate: first[i] + k}
			if p.id == u.id {
				err = include(&u.pieces[k], o)
			} else { // results are cleared: the text stands for all messages of the unit
				shown := *p
				if o.Form, o.Shared = 1, k > 0; o.Shared {
					shown.tokens = 0
				}
				shown.role = u.pieces[k].role
				err = include(&shown, o, cupel.WithOriginalTokens(u.tokens))
			}
			if err != nil {
				return nil, err
			}
		}
	}
	for at := range said {
		if there[at] {
			continue
		}
		item, err := said[at].item(at, groups[at])
		if err != nil {
			return nil, err
		}
		out := cupel.ExcludedItem{Item: item, Score: math.NaN(), Reason: cupel.ExclusionReason{Code: cupel.ExcludeBudgetExceeded}, Candidate: at, Units: true}
		report.Excluded = append(report.Excluded, out)
	}
	return report, nil
}

// sentReason is the reason of what a policy without a report sends.
const sentReason cupel.InclusionReason = "Sent"

// mark says in a report which of the values each message has that are missed because
// of what became of it.
func (t *turn) mark(report *cupel.SelectionReport, values []string) error {
	// Times differ from run to run.
	report.Events = slices.DeleteFunc(report.Events, func(e cupel.TraceEvent) bool { return e.Stage != observed.Stage })
	said := t.request()
	mark := func(item *cupel.ContextItem, in bool) (*cupel.ContextItem, error) {
		at, ok := item.MetadataInt(indexKey)
		if !ok || at < 0 || at >= len(said) {
			return item, nil
		}
		var missed []string
		for _, v := range values {
			if strings.Contains(said[at].text, v) && !(in && strings.Contains(item.Content(), v)) {
				missed = append(missed, v)
			}
		}
		if missed == nil {
			return item, nil
		}
		metadata := item.Metadata()
		metadata["missed"] = strings.Join(missed, ", ")
		return item.With(cupel.WithMetadata(metadata))
	}
	var err error
	for i := range report.Included {
		if to := &report.Included[i]; err == nil {
			to.Item, err = mark(to.Item, true)
		}
	}
	for i := range report.Excluded {
		if to := &report.Excluded[i]; err == nil {
			to.Item, err = mark(to.Item, false)
		}
	}
	return err
}

// indexKey is the metadata key of package cupelchat for the place of a message.
const indexKey = "index"

// item returns a piece as an item. at is its message, or below 0.
func (p *piece) item(at int, opts ...cupel.ItemOption) (*cupel.ContextItem, error) {
	kind := cupel.KindMessage
	switch p.role {
	case "system":
		kind = cupel.KindSystemPrompt
	case "tool":
		kind = cupel.KindToolOutput
	}
	metadata := map[string]any{"role": p.role}
	if at >= 0 {
		metadata[indexKey] = at
	}
	return cupel.NewContextItem(cmp.Or(strings.TrimSpace(p.text), "(empty)"), p.tokens, append(opts, cupel.WithKind(kind), cupel.WithMetadata(metadata))...)
}
