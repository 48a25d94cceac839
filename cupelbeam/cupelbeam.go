// Package cupelbeam measures policies on corpora of conversations with Apache Beam: it
// is package replay's measure as a pipeline, and gives the same table, bit for bit.
//
// A pipeline reads JSON Lines, measures each conversation, and adds the samples up.
// The runner decides where: Prism, which is in the process, or a cluster such as Flink.
// If a worker fails, the runner repeats what it needs; Flink repeats the stage.
//
// Beam's SDK does not compile for Linux on 32-bit processors.
package cupelbeam

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"github.com/wollax/cupel-go/cupel/policy"
	"github.com/wollax/cupel-go/cupelchat/agent"
	"github.com/wollax/cupel-go/cupelsession"
	"github.com/wollax/cupel-go/cupelsession/replay"
)

// Spec says what to measure. Workers build it again, so it is data.
type Spec struct {
	Policies []Policy
	Shares   []float64 // budgets as shares of a conversation, as [replay.NewMeasure] takes them
	Against  string    // compares all policies with this one; "" disables it
	Caches   []string  // counts what windows cost by these of [cupelsession.Caches]
}

// Policy names a policy of package replay, the preset agent, or a policy in JSON.
type Policy struct {
	Name string
	JSON string  // of a [policy.Policy]; "" for a name that is known
	Low  float64 // above 0: in a session with this low-water mark
}

// Measure builds the measure.
func (s *Spec) Measure() (*replay.Measure, error) {
	policies := make([]replay.Policy, len(s.Policies))
	for i, p := range s.Policies {
		if !(p.Low >= 0 && p.Low <= 1) {
			return nil, fmt.Errorf("cupelbeam: policy %q: the low-water mark must be above 0 and at most 1, or 0 without a session, got %g", p.Name, p.Low)
		}
		built, err := p.build()
		if err != nil {
			return nil, fmt.Errorf("cupelbeam: policy %q: %w", p.Name, err)
		}
		if p.Low > 0 {
			built = built.InSession(p.Low)
			built.Name, built.Title = fmt.Sprintf("%s@%g", p.Name, p.Low), fmt.Sprintf("%s, to %g", p.Name, p.Low)
		}
		policies[i] = built
	}
	known := cupelsession.Caches()
	caches := make([]cupelsession.CacheModel, len(s.Caches))
	for i, name := range s.Caches {
		var ok bool
		if caches[i], ok = known[name]; !ok {
			return nil, fmt.Errorf("cupelbeam: cache %q is unknown; want some of %s", name, strings.Join(slices.Sorted(maps.Keys(known)), ", "))
		}
	}
	return replay.NewMeasure(policies, s.Shares, replay.WithAgainst(s.Against), replay.WithCache(caches...))
}

func (p *Policy) build() (replay.Policy, error) {
	all := replay.Baselines()
	if i := slices.IndexFunc(all, func(b replay.Policy) bool { return b.Name == p.Name }); i >= 0 && p.JSON == "" {
		return all[i], nil
	}
	if p.Name == "agent" && p.JSON == "" {
		return replay.Choosing(p.Name, agent.New(replay.Characters{})), nil
	}
	registry := policy.NewRegistry()
	var found policy.Policy
	var err error
	if p.JSON != "" {
		found, err = policy.Decode(registry, []byte(p.JSON))
	} else {
		found, err = registry.Lookup(p.Name)
	}
	if err != nil {
		return replay.Policy{}, err
	}
	pipeline, err := found.Pipeline(policy.Environment{Registry: registry, Clock: func() time.Time { return time.Unix(0, 0) }})
	if err != nil {
		return replay.Policy{}, err
	}
	return replay.Choosing(p.Name, pipeline), nil
}

// Line is a line of a file.
type Line struct {
	File   string
	Number int // from 1
	Text   string
}

func init() { //nolint:gochecknoinits // workers find functions by what their program registered
	register.DoFn3x1[context.Context, string, func(Line), error](&readFn{})
	register.DoFn3x1[context.Context, Line, func(string), error](&measureFn{})
	register.Emitter1[Line]()
	register.Emitter1[string]()
	register.Combiner3[*replay.Table, string, string](&tableFn{})
	beam.RegisterType(reflect.TypeFor[Line]())
	beam.RegisterCoder(reflect.TypeFor[*replay.Table](), encodeTable, decodeTable)
}

// Replay measures the conversations in the named files: JSON Lines with a conversation
// on each. It returns the samples as JSON, one for each conversation and each line that
// cannot be read, and one string, the JSON of a [replay.Table]. The order of the
// samples depends on the runner, and the table does not.
func Replay(s beam.Scope, spec Spec, files []string) (samples, table beam.PCollection, err error) {
	m, err := spec.Measure()
	if err != nil {
		return beam.PCollection{}, beam.PCollection{}, err
	}
	if len(files) == 0 {
		return beam.PCollection{}, beam.PCollection{}, errors.New("cupelbeam: there are no files to read")
	}
	s = s.Scope("cupelbeam.Replay")
	lines := beam.ParDo(s, &readFn{}, beam.CreateList(s, files))
	// Workers share the lines of a file.
	samples = beam.ParDo(s, &measureFn{Spec: spec}, beam.Reshuffle(s, lines))
	return samples, beam.Combine(s, &tableFn{Plan: m.Plan()}, samples), nil
}

// readFn reads the lines of a file.
type readFn struct{}

// ProcessElement emits the lines that are not blank.
func (*readFn) ProcessElement(_ context.Context, file string, emit func(Line)) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close() //nolint:errcheck // it was only read
	in := bufio.NewReaderSize(f, 1<<16)
	for n := 1; ; n++ {
		text, err := in.ReadString('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		if len(bytes.TrimSpace([]byte(text))) > 0 {
			emit(Line{file, n, text})
		}
		if err != nil {
			return nil
		}
	}
}

// measureFn measures the conversation on a line.
type measureFn struct {
	Spec    Spec
	measure *replay.Measure
}

// Setup builds the policies.
func (f *measureFn) Setup() (err error) {
	f.measure, err = f.Spec.Measure()
	return err
}

// ProcessElement emits the JSON of the sample. A line that cannot be read has one too.
func (f *measureFn) ProcessElement(ctx context.Context, line Line, emit func(string)) error {
	for c, err := range replay.Scan(line.File, bytes.NewReader([]byte(line.Text)), nil) {
		var s replay.Sample
		if bad, ok := errors.AsType[*replay.ReadError](err); ok {
			s = replay.Sample{File: line.File, Line: line.Number, Error: bad.Err.Error()}
		} else if err != nil {
			return err
		} else {
			c.Line = line.Number
			if c.ID == "line 1" { // it has no id, and is named by the only line that Scan sees
				c.ID = fmt.Sprintf("line %d", line.Number)
			}
			if s, err = f.measure.Sample(ctx, &c); err != nil {
				return err
			}
		}
		text, err := json.Marshal(s)
		if err != nil {
			return err
		}
		emit(string(text))
	}
	return nil
}

// tableFn adds up samples.
type tableFn struct{ Plan replay.Plan }

// CreateAccumulator returns an empty table.
func (f *tableFn) CreateAccumulator() *replay.Table { return replay.NewTable(f.Plan) }

// AddInput adds a sample.
func (*tableFn) AddInput(t *replay.Table, sample string) *replay.Table {
	var s replay.Sample
	err := json.Unmarshal([]byte(sample), &s)
	if err == nil {
		err = t.Add(&s)
	}
	if err != nil {
		panic(err) //nolint:forbidigo // Beam makes it the failure of the bundle, and has no other way
	}
	return t
}

// MergeAccumulators adds the samples of another table.
func (*tableFn) MergeAccumulators(a, b *replay.Table) *replay.Table {
	if err := a.Merge(b); err != nil {
		panic(err) //nolint:forbidigo // as in AddInput
	}
	return a
}

// ExtractOutput returns the JSON of the table.
func (*tableFn) ExtractOutput(t *replay.Table) string {
	data, err := encodeTable(t)
	if err != nil {
		panic(err) //nolint:forbidigo // as in AddInput
	}
	return string(data)
}

func encodeTable(t *replay.Table) ([]byte, error) { return json.Marshal(t) }

func decodeTable(data []byte) (*replay.Table, error) {
	t := new(replay.Table)
	return t, json.Unmarshal(data, t)
}
