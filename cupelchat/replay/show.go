package replay

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/wollax/cupel-go/cupel"
)

// Shown is the choice of a policy at one step, for package cupelinspect.
type Shown struct {
	Step   int      // of the assistant, from 0
	Missed []string // values of the step without grounded support
	Budget cupel.ContextBudget
	// Report has the window, and then the messages that are not in it as they were.
	// Metadata "missed" of these are the values that only they have.
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
	r := run{Counts: new(Counts), chooser: m.policies[i].chooser(make(map[string]*Message), nil), policy: &m.policies[i], limit: rec.limit(share)}
	var worst *turn
	var sent window
	shown := new(Shown)
	for n := range rec.steps {
		t := &turn{recording: rec, step: n, said: rec.steps[n].units, meter: meter, shared: new(shared)}
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
	shown.Report, err = worst.report(sent, shown.Missed)
	return shown, err
}

// report returns what a window has, and which messages it does not have as they were.
func (t *turn) report(w window, missed []string) (*cupel.SelectionReport, error) {
	report := new(cupel.SelectionReport)
	there := make(map[string]int)
	for i := range w {
		there[w[i].id]++
		item, err := w[i].item(nil)
		if err != nil {
			return nil, err
		}
		report.Included = append(report.Included, cupel.IncludedItem{Item: item, Reason: cupel.IncludeScored})
	}
	for i := range t.said {
		u := &t.units[i]
		if there[u.id] > 0 {
			there[u.id]--
			continue
		}
		for k := range u.pieces {
			if p := &u.pieces[k]; there[p.id] > 0 {
				there[p.id]--
			} else {
				item, err := p.item(missed)
				if err != nil {
					return nil, err
				}
				report.Excluded = append(report.Excluded, cupel.ExcludedItem{Item: item, Reason: cupel.ExclusionReason{Code: cupel.ExcludeBudgetExceeded}})
			}
		}
	}
	report.TotalCandidates = len(report.Included) + len(report.Excluded)
	for _, in := range report.Included {
		report.TotalTokensConsidered += in.Item.Tokens()
	}
	for _, out := range report.Excluded {
		report.TotalTokensConsidered += out.Item.Tokens()
	}
	return report, nil
}

// item returns a piece as an item that says which of the values it has.
func (p *piece) item(values []string) (*cupel.ContextItem, error) {
	kind := cupel.KindMessage
	switch p.role {
	case "system":
		kind = cupel.KindSystemPrompt
	case "tool":
		kind = cupel.KindToolOutput
	}
	metadata := map[string]any{"role": p.role}
	var missed []string
	for _, v := range values {
		if strings.Contains(p.text, v) {
			missed = append(missed, v)
		}
	}
	if missed != nil {
		metadata["missed"] = strings.Join(missed, ", ")
	}
	return cupel.NewContextItem(cmp.Or(strings.TrimSpace(p.text), "(empty)"), p.tokens, cupel.WithKind(kind), cupel.WithMetadata(metadata))
}
