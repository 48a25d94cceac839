// Package recorded tries policies on the runs that package cupelrecord recorded.
package recorded

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/observe"
	"github.com/wollax/cupel-go/cupel/policy"
	"github.com/wollax/cupel-go/cupelrecord"
)

// Run is a recorded run that was read from a file.
type Run struct {
	*cupelrecord.Run
	File string
}

// String says which run it is.
func (r *Run) String() string { return fmt.Sprintf("the run %s:%d", r.File, r.Number) }

// Out is the decision about a candidate that is not in the window. Others are the
// number of its form, from 0, the full one.
const Out = -1

// Recorded returns what was decided about each candidate.
func (r *Run) Recorded() []int {
	decided := slices.Repeat([]int{Out}, len(r.Decisions))
	for i, d := range r.Decisions {
		if d.Place > 0 {
			decided[i] = int(d.Form)
		}
	}
	return decided
}

// IDOf returns the id of a candidate, or "" if it has none.
func (r *Run) IDOf(i int) string {
	if id, ok := r.Items[i].MetadataText(r.ID); ok {
		return id
	}
	if id, ok := r.Items[i].MetadataInt(r.ID); ok {
		return strconv.Itoa(id)
	}
	return ""
}

// withContents returns the candidates with their contents, if they are not recorded.
// Contents are found by the ids of the candidates; if one is missing, the candidate keeps
// the made-up one, unless needed says what reads it: then that is an error.
func (r *Run) withContents(contents map[string]string, needed string) ([]*cupel.ContextItem, error) {
	if r.Shows&observe.PartContent != 0 {
		return r.Items, nil
	}
	found := make(map[string]string) // by the made-up one, which copies share
	for i, item := range r.Items {
		if content := contents[r.IDOf(i)]; content != "" && found[item.Content()] == "" {
			found[item.Content()] = content
		}
	}
	items := slices.Clone(r.Items)
	for i, item := range r.Items {
		content, ok := found[item.Content()]
		if !ok && needed != "" {
			return nil, fmt.Errorf("%s reads contents, and that of %s is missing", needed, r.name(i))
		}
		if ok {
			var err error
			if items[i], err = item.With(cupel.WithContent(content, item.Tokens())); err != nil {
				return nil, err
			}
		}
	}
	return items, nil
}

// name says which candidate of which run.
func (r *Run) name(i int) string {
	id := "without an id"
	if text := r.IDOf(i); text != "" {
		id = strconv.Quote(text)
	}
	return fmt.Sprintf("candidate %d (%s, %s) of %v", i, r.Items[i].Kind(), id, r)
}

// FailedError says at which run a policy failed.
type FailedError struct {
	Run *Run
	Err error
}

func (e *FailedError) Error() string { return fmt.Sprintf("%v: %v", e.Run, e.Err) }

// Unwrap returns the cause.
func (e *FailedError) Unwrap() error { return e.Err }

// Try returns what a policy decides about each candidate, at the clock and in the
// budget of the run. A policy that cannot decide has a FailedError; one that reads what
// was not recorded another error.
func (r *Run) Try(ctx context.Context, p policy.Policy, registry *policy.Registry, contents map[string]string) ([]int, error) {
	needed, err := r.needs(p)
	if err != nil {
		return nil, err
	}
	items, err := r.withContents(contents, needed)
	if err != nil {
		return nil, err
	}
	pipeline, err := p.Pipeline(policy.Environment{Registry: registry, Clock: func() time.Time { return r.Clock }})
	if err != nil {
		return nil, err
	}
	report, err := pipeline.DryRun(ctx, items, r.Budget)
	if err != nil && ctx.Err() == nil {
		err = &FailedError{r, err}
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

// readers are the types of strategies that read what a record may not have.
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

// needs returns what of a policy reads contents, or "". It is an error if the policy
// reads another part that the run does not show.
func (r *Run) needs(p policy.Policy) (contents string, err error) {
	if r.Shows&observe.PartFields == 0 {
		return "", fmt.Errorf("%v has only kinds, tokens and scores: record observe.PartFields to try a policy", r)
	}
	if p.NearDuplicates > 0 {
		contents = "nearDuplicates"
	}
	for _, reader := range readers {
		has, err := Uses(p, reader.kind)
		switch {
		case err != nil:
			return "", err
		case !has || r.Shows&reader.part != 0:
		case reader.part == observe.PartContent:
			contents = reader.kind
		default:
			return "", fmt.Errorf("%s reads %s, and %v has none", reader.kind, reader.reads, r)
		}
	}
	return contents, nil
}

// Uses reports whether a policy uses a type of strategy. Policies nest.
func Uses(p policy.Policy, kind string) (bool, error) {
	text, err := json.Marshal(p)
	return strings.Contains(string(text), `"type":"`+kind+`"`), err // strings of JSON have no bare quotes
}
