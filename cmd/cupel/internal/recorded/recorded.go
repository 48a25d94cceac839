// Package recorded reads the runs that cupelotel.WithRecording wrote, and tries
// policies on them.
package recorded

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/policy"
	"github.com/wollax/cupel-go/internal/corpus"
)

// format is that of the body of a record.
const format = "cupel.recording.v1"

// Run is a recorded run.
type Run struct {
	Trace string `json:"-"` // the id of its trace, or ""
	File  string `json:"-"` // that it was read from
	Line  int    `json:"-"` // of the file, from 1

	Format     string
	Clock      time.Time
	Budget     *cupel.ContextBudget
	Metadata   []string // the keys that were recorded
	Candidates []Candidate
	Selected   []struct{ Candidate, Form int }
}

// Candidate is a candidate: an item without contents.
type Candidate struct {
	ID          string
	Same, Again *int
	Tokens      int
	Kind        cupel.ContextKind

	fields map[string]any // all of them, as the JSON of an item has them
}

// UnmarshalJSON implements [json.Unmarshaler].
func (c *Candidate) UnmarshalJSON(text []byte) error {
	type plain Candidate
	numbers := json.NewDecoder(bytes.NewReader(text))
	numbers.UseNumber()
	return cmp.Or(json.Unmarshal(text, (*plain)(c)), numbers.Decode(&c.fields))
}

// Out is the decision about a candidate that is not in the window. Others are the
// number of its form, from 0, the full one.
const Out = -1

// Recorded returns what was decided about each candidate.
func (r *Run) Recorded() []int {
	decided := slices.Repeat([]int{Out}, len(r.Candidates))
	for _, s := range r.Selected {
		decided[s.Candidate] = s.Form
	}
	return decided
}

// line is what this package reads of a line of OTLP in JSON, as the collector's file
// exporter writes it.
type line struct {
	ResourceLogs []struct {
		ScopeLogs []struct {
			LogRecords []struct {
				EventName string
				TraceID   string `json:"traceId"`
				Body      struct{ StringValue string }
			}
		}
	}
}

// Read yields the recorded runs of OTLP in JSON Lines, and skips other records. file is
// the name that runs have. An error names the line that it is about; the lines behind it
// are read, unless it is that of r.
func Read(file string, r io.Reader) iter.Seq2[*Run, error] {
	return func(yield func(*Run, error) bool) {
		for line, err := range corpus.Lines(r) {
			if err != nil {
				yield(nil, err)
				return
			}
			if !readLine(file, line, yield) {
				return
			}
		}
	}
}

func readLine(file string, in corpus.Line, yield func(*Run, error) bool) bool {
	var l line
	if err := json.Unmarshal(in.Text, &l); err != nil {
		return yield(nil, fmt.Errorf("line %d is not OTLP in JSON: %w", in.Number, err))
	}
	for _, resource := range l.ResourceLogs {
		for _, scope := range resource.ScopeLogs {
			for _, record := range scope.LogRecords {
				if record.EventName != "cupel.recording" {
					continue
				}
				run := new(Run)
				err := json.Unmarshal([]byte(record.Body.StringValue), run)
				run.Trace, run.File, run.Line = record.TraceID, file, in.Number
				if err == nil {
					err = run.check()
				}
				if err != nil {
					run, err = nil, fmt.Errorf("line %d: the recording cannot be read: %w", in.Number, err)
				}
				if !yield(run, err) {
					return false
				}
			}
		}
	}
	return true
}

func (r *Run) check() error {
	switch {
	case r.Format != format:
		return fmt.Errorf("its format is %.40q, and not %s", r.Format, format)
	case r.Budget == nil || r.Clock.IsZero():
		return errors.New("it has no budget or no clock")
	}
	for i := range r.Candidates {
		for _, same := range []*int{r.Candidates[i].Same, r.Candidates[i].Again} {
			if same != nil && (*same < 0 || *same >= i) {
				return fmt.Errorf("candidate %d is the same as %d", i, *same)
			}
		}
		if same := r.Candidates[i].Same; same != nil && r.Candidates[*same].Same != nil {
			return fmt.Errorf("candidate %d is the same as %d", i, *same)
		}
		if _, err := r.Candidates[i].item("content"); err != nil {
			return fmt.Errorf("candidate %d: %w", i, err)
		}
	}
	for _, s := range r.Selected {
		if s.Candidate < 0 || s.Candidate >= len(r.Candidates) || s.Form < 0 {
			return fmt.Errorf("it selects candidate %d, form %d", s.Candidate, s.Form)
		}
	}
	return nil
}

// Items returns the candidates as items. Contents are found by their ids; one that is
// missing is a text that no other candidate has, unless needed says what reads it:
// then that is an error.
func (r *Run) Items(contents map[string]string, needed string) ([]*cupel.ContextItem, error) {
	items := make([]*cupel.ContextItem, len(r.Candidates))
	for i := range r.Candidates {
		c := &r.Candidates[i]
		if c.Again != nil {
			items[i] = items[*c.Again]
			continue
		}
		at := i
		if c.Same != nil {
			at = *c.Same
		}
		content, ok := contents[c.ID]
		if ok = ok && c.ID != ""; !ok {
			content, ok = contents[r.Candidates[at].ID]
			ok = ok && r.Candidates[at].ID != ""
		}
		if !ok || content == "" {
			if needed != "" {
				return nil, fmt.Errorf("%s reads contents, and that of %s is missing", needed, r.name(i))
			}
			content = "candidate " + strconv.Itoa(at)
		}
		item, err := c.item(content)
		if err != nil {
			return nil, err // check has built it before
		}
		items[i] = item
	}
	return items, nil
}

// name says which candidate of which run.
func (r *Run) name(i int) string {
	c := &r.Candidates[i]
	id := "without an id"
	if c.ID != "" {
		id = strconv.Quote(c.ID)
	}
	return fmt.Sprintf("candidate %d (%s, %s) of the run in %s:%d", i, c.Kind, id, r.File, r.Line)
}

// FailedError says at which run a policy failed.
type FailedError struct {
	File string
	Line int
	Err  error
}

func (e *FailedError) Error() string {
	return fmt.Sprintf("the run in %s:%d: %v", e.File, e.Line, e.Err)
}

// Unwrap returns the cause.
func (e *FailedError) Unwrap() error { return e.Err }

// item returns the item with a content; smaller forms have made-up ones.
func (c *Candidate) item(content string) (*cupel.ContextItem, error) {
	c.fields["content"] = content
	for _, name := range []string{"variants", "groupVariants"} {
		forms, _ := c.fields[name].([]any)
		for i := range forms {
			if form, ok := forms[i].(map[string]any); ok {
				form["content"] = "form " + strconv.Itoa(i+1)
			}
		}
	}
	text, err := json.Marshal(c.fields)
	if err != nil {
		return nil, err
	}
	item := new(cupel.ContextItem)
	err = item.UnmarshalJSON(text)
	return item, err
}

// Try returns what a policy decides about each candidate, at the clock and in the
// budget of the run. A policy that cannot decide has a FailedError; one that reads what
// was not recorded another error.
func (r *Run) Try(ctx context.Context, p policy.Policy, registry *policy.Registry, contents map[string]string) ([]int, error) {
	needed, err := needs(p)
	if err != nil {
		return nil, err
	}
	items, err := r.Items(contents, needed)
	if err != nil {
		return nil, err
	}
	pipeline, err := p.Pipeline(policy.Environment{Registry: registry, Clock: func() time.Time { return r.Clock }})
	if err != nil {
		return nil, err
	}
	report, err := pipeline.DryRun(ctx, items, *r.Budget)
	if err != nil && ctx.Err() == nil {
		err = &FailedError{r.File, r.Line, err}
	}
	if err != nil {
		return nil, err
	}
	decided := slices.Repeat([]int{Out}, len(items))
	for _, in := range report.Included {
		decided[in.Candidate] = in.Form
	}
	return decided, nil
}

// needs returns what of a policy reads contents, or "".
func needs(p policy.Policy) (string, error) {
	if p.NearDuplicates > 0 {
		return "nearDuplicates", nil
	}
	for _, kind := range []string{"relevance", "diverse"} {
		if has, err := Uses(p, kind); has || err != nil {
			return kind, err
		}
	}
	return "", nil
}

// Uses reports whether a policy uses a type of strategy. Policies nest.
func Uses(p policy.Policy, kind string) (bool, error) {
	text, err := json.Marshal(p)
	return strings.Contains(string(text), `"type":"`+kind+`"`), err // strings of JSON have no bare quotes
}
