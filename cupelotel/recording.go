package cupelotel

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.opentelemetry.io/otel"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/observe"
)

// recordingEventName is the name of the log record of a recorded run.
const recordingEventName = "cupel.recording"

// recordingFormat is the format of its body.
const recordingFormat = "cupel.recording.v1"

// WithRecording writes each run as a log record that another policy can be tried on:
// cupel.recording, at severity INFO, whose body is JSON with all candidates in their
// order, the budget, the policy, the clock and what was selected. It needs
// [WithLoggerProvider]. It is off by default, as a record grows with the candidates:
// about 100 bytes for each.
//
// A record has no content of an item, but every other field that strategies read:
// tokens, kind, source, pins, tags, priority, times, groups, versions, and the sizes
// of smaller forms. Times that JSON does not have are left out. Tags are
// as they are. A [Redactor] sees kinds and groups. Of the metadata it has the keys
// that are given here, where values are texts, numbers or booleans. The value of idKey
// is the id, by which contents are found again; "" records none.
//
// Runs that failed, and streaming runs, which do not have all candidates at once, are
// not recorded.
func WithRecording(idKey string, metadata ...string) TraceOption {
	metadata = slices.Clone(metadata)
	return func(c *TraceCollector) { c.recording = &recordingConfig{idKey, metadata} }
}

// recordingConfig is what [WithRecording] was given.
type recordingConfig struct {
	idKey    string
	metadata []string
}

// recording is the body of a record.
type recording struct {
	Format     string              `json:"format"`
	Clock      time.Time           `json:"clock"` // of the pipeline, when it scored the candidates
	Pipeline   string              `json:"pipeline,omitempty"`
	PolicyHash string              `json:"policyHash,omitempty"`
	Budget     cupel.ContextBudget `json:"budget"`
	Metadata   []string            `json:"metadata,omitempty"` // the keys that are recorded
	Candidates []*recordedItem     `json:"candidates"`
	Selected   []recordedChoice    `json:"selected"` // the window, in its order
}

// recordedItem is a candidate without its content.
type recordedItem struct {
	ID string `json:"id,omitempty"`
	// Same is the position of the first candidate with the same content, if it is
	// another one.
	Same *int `json:"same,omitempty"`
	// Again is the position of the first candidate that is the very same item, if it
	// is another one: some strategies tell an item from its copies.
	Again               *int           `json:"again,omitempty"`
	Tokens              int            `json:"tokens"`
	Kind                string         `json:"kind"`
	Source              string         `json:"source"`
	Priority            *int           `json:"priority,omitempty"`
	Tags                []string       `json:"tags,omitempty"`
	Metadata            map[string]any `json:"metadata,omitempty"`
	Timestamp           *time.Time     `json:"timestamp,omitempty"`
	FutureRelevanceHint any            `json:"futureRelevanceHint,omitempty"` // as number returns it
	Pinned              bool           `json:"pinned,omitempty"`
	OriginalTokens      *int           `json:"originalTokens,omitempty"`
	Group               string         `json:"group,omitempty"`
	VersionOf           string         `json:"versionOf,omitempty"`
	Variants            []recordedForm `json:"variants,omitempty"`
	GroupVariants       []recordedForm `json:"groupVariants,omitempty"`
}

// recordedForm is a smaller form.
type recordedForm struct {
	Tokens int     `json:"tokens"`
	Worth  float64 `json:"worth"`
}

// recordedChoice is an item of the window.
type recordedChoice struct {
	Candidate int `json:"candidate"`
	Form      int `json:"form,omitempty"` // 0 is the full one
}

// recordedRun keeps what the record of a run needs.
type recordedRun struct {
	info     observe.RunInfo
	items    []*cupel.ContextItem
	selected []recordedChoice
}

// scoredKey is where the context of a run that prepared has the time of the scores.
type scoredKey struct{}

// scoredAt returns when the candidates of a run were scored.
func scoredAt(info observe.RunInfo) time.Time {
	if info.Preparation != nil {
		if scored, ok := info.Preparation.Value(scoredKey{}).(time.Time); ok {
			return scored
		}
	}
	return info.Start
}

// end makes the record of the run.
func (r *recordedRun) end(ctx context.Context, l *runLog, e observe.RunEnd) {
	if e.Err != nil {
		return
	}
	c := l.collector
	body := recording{
		Format: recordingFormat, Clock: scoredAt(r.info).UTC(), PolicyHash: r.info.PolicyHash, Budget: r.info.Budget,
		Metadata: c.recording.metadata, Selected: r.selected, Candidates: make([]*recordedItem, len(r.items)),
	}
	if name := r.info.Pipeline; name != "" {
		body.Pipeline = c.text(TextPipeline, name)
	}
	first := make(map[string]int, len(r.items))
	again := make(map[*cupel.ContextItem]int) // of those with the content of another one
	for i, item := range r.items {
		recorded := c.recorded(item)
		if at, twice := first[item.Content()]; twice {
			recorded.Same = &at
			if r.items[at] == item {
				recorded.Again = &at
			} else if at, twice := again[item]; twice {
				recorded.Again = &at
			} else {
				again[item] = i
			}
		} else {
			first[item.Content()] = i
		}
		body.Candidates[i] = recorded
	}
	text, err := json.Marshal(body)
	if err != nil {
		otel.Handle(fmt.Errorf("cupelotel: a run is not recorded: %w", err))
		return
	}
	l.emit(ctx, runSeverity, recordingEventName, e.End, string(text))
}

// recorded returns an item without its content.
func (c *TraceCollector) recorded(item *cupel.ContextItem) *recordedItem {
	r := &recordedItem{
		Tokens: item.Tokens(), Kind: c.text(TextKind, string(item.Kind())), Source: string(item.Source()), Pinned: item.Pinned(),
		Variants: forms(item.Variants()), GroupVariants: forms(item.GroupVariants()), VersionOf: item.VersionOf(),
	}
	for _, attr := range ItemID(c.recording.idKey)(item) {
		r.ID = attr.Value.String()
	}
	if group := item.Group(); group != "" {
		r.Group = c.text(TextGroup, group)
	}
	for _, tag := range item.Tags() {
		r.Tags = append(r.Tags, strings.ToValidUTF8(tag, "\uFFFD"))
	}
	if n, ok := item.Priority(); ok {
		r.Priority = &n
	}
	if t, ok := item.Timestamp(); ok && inJSON(t) {
		r.Timestamp = &t
	}
	if hint, ok := item.FutureRelevanceHint(); ok {
		r.FutureRelevanceHint = number(hint, 64)
	}
	if n, ok := item.OriginalTokens(); ok {
		r.OriginalTokens = &n
	}
	for _, key := range c.recording.metadata {
		raw, _ := item.MetadataValue(key)
		if value := recordedValue(raw); value != nil {
			if r.Metadata == nil {
				r.Metadata = make(map[string]any)
			}
			r.Metadata[key] = value
		}
	}
	return r
}

// inJSON reports whether JSON has a value: it has no year 10000, and one such item
// must not cost the record of the run.
func inJSON(value any) bool {
	_, err := json.Marshal(value)
	return err == nil
}

// recordedValue returns a text, number or boolean as JSON has it, so that strategies read
// the same from it, or nil for another value.
func recordedValue(raw any) any {
	if n, ok := raw.(json.Number); ok && n != "" && inJSON(n) {
		return n
	}
	switch v := reflect.ValueOf(raw); {
	case v.Kind() == reflect.Bool:
		return v.Bool()
	case v.Kind() == reflect.String:
		return strings.ToValidUTF8(v.String(), "\uFFFD")
	case v.CanInt():
		return v.Int()
	case v.CanUint():
		return v.Uint()
	case v.CanFloat():
		return number(v.Float(), v.Type().Bits())
	}
	return nil
}

// number returns a number in its canonical text, which a strategy may compare. JSON
// has no infinities and no NaN: they are texts.
func number(x float64, bits int) any {
	text := strconv.FormatFloat(x, 'g', -1, bits)
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return text
	}
	return json.Number(text)
}

func forms(variants []cupel.Variant) []recordedForm {
	var all []recordedForm
	for _, v := range variants {
		all = append(all, recordedForm{v.Tokens, v.Worth})
	}
	return all
}
