package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/wollax/cupel-go/cmd/cupel/internal/terminal"
	"github.com/wollax/cupel-go/cupel/observe"
	"github.com/wollax/cupel-go/cupel/policy"
	"github.com/wollax/cupel-go/cupelrecord"
	"github.com/wollax/cupel-go/internal/english"
)

// recordedName is A or B for the recorded decisions.
const recordedName = "recorded"

// corpusDifference describes how two policies differ over recorded runs.
type corpusDifference struct {
	A          string     `json:"a"`
	B          string     `json:"b"`
	Runs       int        `json:"runs"`
	Changed    int        `json:"changed"` // runs with another decision
	Candidates int        `json:"candidates"`
	Decisions  []decision `json:"decisions"`
	LeftOut    int        `json:"leftOut,omitempty"` // segments that are damaged, with their remaining frames
	Missing    uint64     `json:"missing,omitempty"` // runs that were not recorded, between those that were
	Failed     int        `json:"failed,omitempty"`  // runs at which a policy failed, which are not compared

	failure error // the first
}

// decision is one that differs.
type decision struct {
	File   string `json:"file"`
	Run    uint64 `json:"run"` // its number
	Trace  string `json:"trace,omitempty"`
	Item   string `json:"item"` // its id, or its position in the run
	Kind   string `json:"kind"`
	Tokens int    `json:"tokens"`
	A      string `json:"a"` // "out", "full" or the number of a form
	B      string `json:"b"`
}

// decides returns the decision about each candidate of a run: 0 if it is out, 1 if it is
// in, and one more than the number of its form.
type decides func(*cupelrecord.Run) ([]int, error)

// recordings compares two policies on recorded runs.
func (f *diffFlags) recordings(ctx context.Context, env *Environment, args [2]string) error {
	var two [2]decides
	var err error
	for i, name := range args {
		if two[i], err = f.decides(ctx, env, name); err != nil {
			return err
		}
	}
	d := &corpusDifference{A: shown(args[0]), B: shown(args[1]), Decisions: []decision{}}
	if err := d.read(env, f.runs, two); err != nil {
		return err
	}
	if d.Runs+d.Failed == 0 {
		return usagef("no recorded runs in %s", shown(f.runs[0]))
	}
	err = f.print(env, d, func(p *terminal.Printer) { d.print(p, f.rows) })
	if err == nil && d.failure != nil {
		err = codedError{fmt.Errorf("a policy failed at %d of %s; the first is %w", d.Failed, english.Plural(d.Runs+d.Failed, "run"), d.failure), exitSelection}
	}
	return err
}

// read compares the decisions about the runs of files and folders.
func (d *corpusDifference) read(env *Environment, names []string, two [2]decides) error {
	var reader cupelrecord.Reader
	for _, name := range filesIn(cupelrecord.Extension, names...) {
		r, done, err := open(env, name)
		if err != nil {
			return err
		}
		defer done() //nolint:gocritic // a few files of one command
		for run, err := range reader.Read(r) {
			if err != nil {
				d.LeftOut++
				note(env, fmt.Sprintf("%s: %s", shown(name), strings.TrimPrefix(err.Error(), "cupelrecord: ")))
			} else if err := d.add(shown(name), run, two); err != nil {
				return err
			}
		}
	}
	if d.Missing = reader.Missing; d.Missing > 0 {
		note(env, fmt.Sprintf("%d runs are missing between those that were recorded", d.Missing))
	}
	for _, process := range reader.Open() {
		note(env, fmt.Sprintf("process %s did not close its recorder: its last runs may be missing", process))
	}
	return nil
}

// recordedDecisions are the decisions at the time of a run.
func recordedDecisions(run *cupelrecord.Run) ([]int, error) {
	decided := make([]int, len(run.Items))
	for i, d := range run.Decisions {
		if d.Place > 0 {
			decided[i] = 1 + int(d.Form)
		}
	}
	return decided, nil
}

// decides returns the function that decides about the candidates of a run. A policy has
// the clock and the budget of the run.
func (f *diffFlags) decides(ctx context.Context, env *Environment, name string) (decides, error) {
	if name == recordedName {
		return recordedDecisions, nil
	}
	registry := asking(f.query).registry()
	p, err := findPolicy(env, registry, name)
	if err != nil {
		return nil, err
	}
	var now time.Time
	pipeline, err := p.Pipeline(policy.Environment{Registry: registry, Clock: func() time.Time { return now }})
	if err != nil {
		return nil, usagef("%s: %w", shown(name), err)
	}
	readers := readersOf(p)
	return func(run *cupelrecord.Run) ([]int, error) {
		for _, r := range readers {
			if run.Shows&r.part == 0 {
				return nil, selecting(fmt.Errorf("%s: %s reads %s, which were not recorded", shown(name), r.kind, r.reads))
			}
		}
		now = run.Clock
		report, err := pipeline.DryRun(ctx, run.Items, run.Budget)
		if err != nil {
			return nil, cmp.Or(ctx.Err(), fmt.Errorf("%s: %w", shown(name), err))
		}
		decided := make([]int, len(run.Items))
		for _, in := range report.Included {
			decided[in.Candidate] = 1 + in.Form
		}
		return decided, nil
	}, nil
}

// reader is a type of strategy that reads data which a record may lack.
type reader struct {
	kind, reads string
	part        observe.Part
}

// readersOf returns the readers in a policy. Every policy reads fields.
func readersOf(p policy.Policy) []reader {
	all := []reader{
		{"tag", "tags", observe.PartTags},
		{"frequency", "tags", observe.PartTags},
		{"metadataTrust", "metadata", observe.PartMetadata},
		{"metadataKey", "metadata", observe.PartMetadata},
		{"relevance", "contents", observe.PartContent},
		{"diverse", "contents", observe.PartContent},
	}
	all = slices.DeleteFunc(all, func(r reader) bool { return !uses(p, r.kind) })
	if p.NearDuplicates > 0 {
		all = append(all, reader{"nearDuplicates", "contents", observe.PartContent})
	}
	return append(all, reader{"the policy", "pins, times and other fields (observe.PartFields)", observe.PartFields})
}

// uses reports whether a policy uses a type of strategy. Policies nest.
func uses(p policy.Policy, kind string) bool {
	text, _ := json.Marshal(p) //nolint:errchkjson // it was decoded, or is a preset
	return strings.Contains(string(text), `"type":"`+kind+`"`)
}

// add compares the decisions about one run of a file.
func (d *corpusDifference) add(file string, run *cupelrecord.Run, two [2]decides) error {
	a, errA := two[0](run)
	b, errB := two[1](run)
	if err := cmp.Or(errA, errB); err != nil {
		err = fmt.Errorf("the run %s:%d: %w", file, run.Number, err)
		if _, refused := errors.AsType[codedError](err); refused || errors.Is(err, context.Canceled) {
			return err
		}
		d.Failed++
		d.failure = cmp.Or(d.failure, err)
		return nil
	}
	d.Runs++
	d.Candidates += len(run.Items)
	if !slices.Equal(a, b) {
		d.Changed++
	}
	for i, item := range run.Items {
		if a[i] == b[i] {
			continue
		}
		name := fmt.Sprintf("candidate %d", i)
		if id, ok := item.MetadataValue(run.ID); ok {
			name = fmt.Sprint(id)
		}
		d.Decisions = append(d.Decisions, decision{file, run.Number, run.Trace, name, string(item.Kind()), item.Tokens(), decisionText(a[i]), decisionText(b[i])})
	}
	return nil
}

// decisionText returns a decision for people.
func decisionText(decided int) string {
	switch decided {
	case 0:
		return "out"
	case 1:
		return "full"
	}
	return fmt.Sprintf("form %d", decided-1)
}

// print writes it for people.
func (d *corpusDifference) print(p *terminal.Printer, rows int) {
	p.Line("The decision of %s and %s differs in %d of %s (%s), which have %s.", d.A, d.B, d.Changed,
		english.Plural(d.Runs, "run"), percent(d.Changed, d.Runs), english.Plural(d.Candidates, "candidate"))
	p.Paragraph("Decisions that differ (%d)", len(d.Decisions))
	var table [][]any
	for _, c := range d.Decisions {
		table = append(table, []any{fmt.Sprintf("%s:%d", c.File, c.Run), c.A, c.B, c.Tokens, c.Kind, c.Trace, c.Item})
	}
	printSome(p, []string{"RUN", "A", "B", "TOKENS", "KIND", "TRACE", "ITEM"}, table, rows)
}
