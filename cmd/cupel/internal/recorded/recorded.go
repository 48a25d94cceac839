// Package recorded tries policies on the runs that package cupelrecord recorded.
package recorded

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/wollax/cupel-go/cupel/observe"
	"github.com/wollax/cupel-go/cupel/policy"
	"github.com/wollax/cupel-go/cupelrecord"
)

// Run is a recorded run that was read from a file.
type Run struct {
	*cupelrecord.Run
	File string
}

// String identifies the run.
func (r *Run) String() string { return fmt.Sprintf("the run %s:%d", r.File, r.Number) }

// Recorded returns the recorded decision about each candidate, as [Run.Try]
// does.
func (r *Run) Recorded() []string {
	decided := slices.Repeat([]string{"out"}, len(r.Decisions))
	for i, d := range r.Decisions {
		if d.Place > 0 {
			decided[i] = form(int(d.Form))
		}
	}
	return decided
}

// form returns the name of a form.
func form(number int) string {
	if number == 0 {
		return "full"
	}
	return fmt.Sprintf("form %d", number)
}

// NameOf returns the id of a candidate, or its position if it has none.
func (r *Run) NameOf(i int) string {
	if id, ok := r.Items[i].MetadataValue(r.ID); ok {
		return fmt.Sprint(id)
	}
	return fmt.Sprintf("candidate %d", i)
}

// FailedError is the error for a run at which a policy failed.
type FailedError struct {
	Run *Run
	Err error
}

func (e *FailedError) Error() string { return fmt.Sprintf("%v: %v", e.Run, e.Err) }

// Unwrap returns the cause.
func (e *FailedError) Unwrap() error { return e.Err }

// Try returns a policy's decision about each candidate, "out", "full" or the number of its form, with the clock and the
// budget of the run. It returns a FailedError if the policy cannot decide, and another error if the policy reads data
// that was not recorded.
func (r *Run) Try(ctx context.Context, p policy.Policy, registry *policy.Registry) ([]string, error) {
	if err := r.shows(p); err != nil {
		return nil, err
	}
	pipeline, err := p.Pipeline(policy.Environment{Registry: registry, Clock: func() time.Time { return r.Clock }})
	if err != nil {
		return nil, err
	}
	report, err := pipeline.DryRun(ctx, r.Items, r.Budget)
	if err != nil && ctx.Err() == nil {
		err = &FailedError{r, err}
	}
	if err != nil {
		return nil, err
	}
	decided := slices.Repeat([]string{"out"}, len(r.Items))
	for _, in := range report.Included {
		decided[in.Candidate] = form(in.Form)
	}
	return decided, nil
}

// readers are the types of strategies that read data that a record may lack.
var readers = []struct {
	kind, reads string
	part        observe.Part
}{
	{"tag", "tags", observe.PartTags},
	{"frequency", "tags", observe.PartTags},
	{"metadataTrust", "metadata", observe.PartMetadata},
	{"metadataKey", "metadata", observe.PartMetadata},
	{"relevance", "contents", observe.PartContent},
	{"diverse", "contents", observe.PartContent},
}

// shows fails for a policy that reads a part of the candidates that was not recorded.
func (r *Run) shows(p policy.Policy) error {
	if r.Shows&observe.PartFields == 0 {
		return fmt.Errorf("%v has only kinds, tokens and scores: record observe.PartFields to try a policy", r)
	}
	if p.NearDuplicates > 0 && r.Shows&observe.PartContent == 0 {
		return fmt.Errorf("nearDuplicates reads contents, and %v has none", r)
	}
	for _, reader := range readers {
		has, err := Uses(p, reader.kind)
		if err != nil {
			return err
		}
		if has && r.Shows&reader.part == 0 {
			return fmt.Errorf("%s reads %s, and %v has none", reader.kind, reader.reads, r)
		}
	}
	return nil
}

// Uses reports whether a policy uses a type of strategy. Policies nest.
func Uses(p policy.Policy, kind string) (bool, error) {
	text, err := json.Marshal(p)
	return strings.Contains(string(text), `"type":"`+kind+`"`), err // strings of JSON have no bare quotes
}
