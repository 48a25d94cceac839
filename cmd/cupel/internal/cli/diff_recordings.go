package cli

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"

	"github.com/wollax/cupel-go/cmd/cupel/internal/recorded"
	"github.com/wollax/cupel-go/cmd/cupel/internal/terminal"
	"github.com/wollax/cupel-go/cupel/policy"
)

// recordedName is A or B for what was decided when the runs were recorded.
const recordedName = "recorded"

// corpusDifference is how two policies differ over recorded runs.
type corpusDifference struct {
	A          string            `json:"a"`
	B          string            `json:"b"`
	Runs       int               `json:"runs"`
	Changed    int               `json:"changed"` // runs with another decision
	Candidates int               `json:"candidates"`
	Kinds      []*kindDifference `json:"kinds"` // those with the most decisions that differ first
	Examples   []example         `json:"examples"`
	LeftOut    int               `json:"leftOut,omitempty"` // lines that cannot be read
	Failed     int               `json:"failed,omitempty"`  // runs at which a policy failed, which are not compared

	more    int   // examples that are not kept
	failure error // the first
}

// kindDifference counts decisions that differ for candidates of a kind.
type kindDifference struct {
	Kind       string `json:"kind"`
	Candidates int    `json:"candidates"`
	Came       int    `json:"came"`   // in B alone
	Went       int    `json:"went"`   // in A alone
	Forms      int    `json:"forms"`  // in both, but in another form
	Tokens     int    `json:"tokens"` // of the full forms that came, less those that went
}

func (k *kindDifference) changed() int { return k.Came + k.Went + k.Forms }

// example is a decision that differs.
type example struct {
	File      string `json:"file"`
	Line      int    `json:"line"`
	Trace     string `json:"trace,omitempty"`
	Candidate int    `json:"candidate"`
	ID        string `json:"id,omitempty"`
	Kind      string `json:"kind"`
	Tokens    int    `json:"tokens"`
	A         string `json:"a"` // "out", "full" or the number of a form
	B         string `json:"b"`
}

// recordings compares two policies on recorded runs.
func (f *diffFlags) recordings(ctx context.Context, env *Environment, args [2]string) (*corpusDifference, error) {
	if args[0] == args[1] {
		return nil, usagef("A and B are both %s: give two different policies, or %s for what was decided then", args[0], recordedName)
	}
	asked, err := f.question(env)
	if err != nil {
		return nil, err
	}
	registry := asked.registry()
	var decide [2]func(*recorded.Run) ([]int, error)
	contents, err := readContents(env, f.contents)
	if err != nil {
		return nil, err
	}
	for i, name := range args {
		if name == recordedName {
			decide[i] = func(r *recorded.Run) ([]int, error) { return r.Recorded(), nil }
			continue
		}
		p, err := findPolicy(env, registry, name)
		if err != nil {
			return nil, err
		}
		if err := p.Validate(registry); err != nil {
			return nil, usagef("%s: %w", shown(name), err)
		}
		decide[i] = func(r *recorded.Run) ([]int, error) { return try(ctx, r, name, p, registry, contents) }
	}
	d := &corpusDifference{A: shown(args[0]), B: shown(args[1]), Examples: []example{}}
	kinds := make(map[string]*kindDifference)
	for _, name := range f.runs {
		r, done, err := open(env, name)
		if err != nil {
			return nil, err
		}
		for run, err := range recorded.Read(shown(name), r) {
			if err != nil {
				d.LeftOut++
				note(env.Stderr, []string{fmt.Sprintf("%s: %s", shown(name), message(err))})
				continue
			}
			if err := d.add(run, decide, kinds, f.rows); err != nil {
				done()
				return nil, err
			}
		}
		done()
	}
	switch {
	case d.Runs > 0:
	case d.failure != nil:
		return nil, d.failed()
	default:
		return nil, usagef("no recorded runs in %s", shown(f.runs[0]))
	}
	d.Kinds = slices.SortedFunc(maps.Values(kinds), func(a, b *kindDifference) int {
		return cmp.Or(cmp.Compare(b.changed(), a.changed()), cmp.Compare(a.Kind, b.Kind))
	})
	return d, nil
}

func try(ctx context.Context, r *recorded.Run, name string, p policy.Policy, registry *policy.Registry, contents map[string]string) ([]int, error) {
	decided, err := r.Try(ctx, p, registry, contents)
	if err != nil {
		return nil, selecting(fmt.Errorf("%s: %w", shown(name), err))
	}
	return decided, nil
}

// add compares the decisions about one run.
func (d *corpusDifference) add(run *recorded.Run, decide [2]func(*recorded.Run) ([]int, error), kinds map[string]*kindDifference, rows int) error {
	a, errA := decide[0](run)
	b, errB := decide[1](run)
	if err := cmp.Or(errA, errB); err != nil {
		if _, failed := errors.AsType[*recorded.FailedError](err); !failed {
			return err
		}
		d.Failed++
		d.failure = cmp.Or(d.failure, err)
		return nil
	}
	d.Runs++
	d.Candidates += len(run.Candidates)
	changed := false
	for i := range run.Candidates {
		c := &run.Candidates[i]
		key := c.Kind.Key()
		if kinds[key] == nil {
			kinds[key] = &kindDifference{Kind: string(c.Kind)}
		}
		k := kinds[key]
		k.Candidates++
		if a[i] == b[i] {
			continue
		}
		changed = true
		switch {
		case a[i] == recorded.Out:
			k.Came++
			k.Tokens += c.Tokens
		case b[i] == recorded.Out:
			k.Went++
			k.Tokens -= c.Tokens
		default:
			k.Forms++
		}
		if rows > 0 && len(d.Examples) == rows {
			d.more++
			continue
		}
		d.Examples = append(d.Examples, example{run.File, run.Line, run.Trace, i, c.ID, string(c.Kind), c.Tokens, decision(a[i]), decision(b[i])})
	}
	if changed {
		d.Changed++
	}
	return nil
}

// failed returns an error that says where a policy failed, or nil.
func (d *corpusDifference) failed() error {
	if d.failure == nil {
		return nil
	}
	return selectionError{fmt.Errorf("a policy failed at %d of %s; the first is %s", d.Failed, plural(d.Runs+d.Failed, "run"), message(d.failure))}
}

func decision(form int) string {
	switch form {
	case recorded.Out:
		return "out"
	case 0:
		return "full"
	}
	return "form " + strconv.Itoa(form)
}

// readContents reads contents by their ids: {"id": …, "content": …} on each line.
func readContents(env *Environment, name string) (map[string]string, error) {
	if name == "" {
		return nil, nil //nolint:nilnil // there are none
	}
	r, done, err := open(env, name)
	if err != nil {
		return nil, err
	}
	defer done()
	contents := make(map[string]string)
	d := json.NewDecoder(bufio.NewReader(r))
	for {
		var c struct{ ID, Content string }
		switch err := d.Decode(&c); {
		case errors.Is(err, io.EOF):
			return contents, nil
		case err != nil:
			return nil, usagef("%s: content %d: %w", shown(name), len(contents)+1, err)
		case c.ID == "":
			return nil, usagef("%s: content %d has no id", shown(name), len(contents)+1)
		}
		contents[c.ID] = c.Content
	}
}

// print writes it for people.
func (d *corpusDifference) print(p *terminal.Printer) {
	p.Line(terminal.Text{Text: "A", Style: terminal.Bold}, terminal.Plain(": "+d.A))
	p.Line(terminal.Text{Text: "B", Style: terminal.Bold}, terminal.Plain(": "+d.B))
	p.Line()
	p.Line(terminal.Plain(fmt.Sprintf("The decision differs in %d of %s (%.1f%%), which have %s.",
		d.Changed, plural(d.Runs, "run"), 100*float64(d.Changed)/float64(max(1, d.Runs)), plural(d.Candidates, "candidate"))))
	p.Line()
	var table [][]terminal.Text
	for _, k := range d.Kinds {
		table = append(table, texts(k.Kind, k.Candidates, k.Went, k.Came, k.Forms, fmt.Sprintf("%+d", k.Tokens)))
	}
	p.Table([]terminal.Column{{Head: "KIND"}, {Head: "CANDIDATES", Right: true}, {Head: "A ONLY", Right: true}, {Head: "B ONLY", Right: true},
		{Head: "OTHER FORM", Right: true}, {Head: "TOKENS", Right: true}}, table)
	if len(d.Examples) == 0 {
		return
	}
	table = nil
	for _, e := range d.Examples {
		table = append(table, texts(fmt.Sprintf("%s:%d", e.File, e.Line), e.A, e.B, e.Tokens, e.Kind, cmp.Or(e.ID, "candidate "+strconv.Itoa(e.Candidate)), e.Trace))
	}
	p.Line()
	p.Line(terminal.Text{Text: "Decisions that differ", Style: terminal.Bold})
	p.Table([]terminal.Column{{Head: "RUN"}, {Head: "A"}, {Head: "B"}, {Head: "TOKENS", Right: true}, {Head: "KIND"},
		{Head: "ITEM", Flexible: true}, {Head: "TRACE"}}, table)
	if d.more > 0 {
		p.Line(terminal.Text{Text: fmt.Sprintf("… and %d more; --rows 0 shows all", d.more), Style: terminal.Dim})
	}
}

// texts returns a row of a table.
func texts(cells ...any) []terminal.Text {
	row := make([]terminal.Text, len(cells))
	for i, cell := range cells {
		row[i] = terminal.Plain(fmt.Sprint(cell))
	}
	return row
}
