package e2e

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// targetTokens is what the example's windows may have.
const targetTokens = 3450

// record is a turn of the example: the spans that its -json prints, the last one
// that of the turn, and what they say.
type record struct {
	Turn, Candidates                     int
	Selected, SelectedTokens, KeptTokens int
	Break                                string
	Excluded                             map[string]map[string]int // by stage and reason
	Spans                                []span
}

func newRecord(t *testing.T, spans []span) record {
	t.Helper()
	r := record{Excluded: make(map[string]map[string]int), Spans: spans}
	for _, s := range spans {
		attrs := attributesOf(s.Attributes)
		count := func(key string) int {
			text, ok := strings.CutPrefix(attrs[key], "int ")
			if !ok {
				return 0
			}
			return number(t, text)
		}
		if s.Name == "agent.turn" {
			r.Turn, r.Candidates = count("agent.turn.number"), count("agent.turn.candidates")
		}
		if s.Name == "cupel.session.turn" {
			r.Selected, r.SelectedTokens, r.KeptTokens = count("cupel.session.items"), count("cupel.session.tokens"), count("cupel.session.kept_tokens")
			r.Break = strings.Trim(strings.TrimPrefix(attrs["cupel.session.break_reason"], "string "), `"`)
		}
		stage := strings.TrimPrefix(s.Name, "cupel.stage.")
		for _, event := range s.Events {
			if event.Name != "cupel.exclusion" {
				continue
			}
			if r.Excluded[stage] == nil {
				r.Excluded[stage] = make(map[string]int)
			}
			r.Excluded[stage][strings.Trim(strings.TrimPrefix(attributesOf(event.Attributes)["cupel.exclusion.reason"], "string "), `"`)]++
		}
	}
	return r
}

// printed is a span as the exporter stdouttrace prints it.
type printed struct {
	Name                 string
	SpanContext, Parent  struct{ TraceID, SpanID string }
	StartTime, EndTime   time.Time
	Attributes, Resource []printedAttribute
	Events               []struct {
		Name       string
		Time       time.Time
		Attributes []printedAttribute
	}
	Status               struct{ Code, Description string }
	InstrumentationScope struct{ Name, Version string }
}

type printedAttribute struct {
	Key   string
	Value struct {
		Type  string
		Value any
	}
}

// span returns it as Jaeger has it.
func (p printed) span() span {
	s := span{
		TraceID: p.SpanContext.TraceID, SpanID: p.SpanContext.SpanID, Name: p.Name,
		Scope: p.InstrumentationScope.Name, ScopeVersion: p.InstrumentationScope.Version,
		StartTimeUnixNano: strconv.FormatInt(p.StartTime.UnixNano(), 10), EndTimeUnixNano: strconv.FormatInt(p.EndTime.UnixNano(), 10),
		Attributes: keyValues(p.Attributes),
	}
	if strings.Trim(p.Parent.SpanID, "0") != "" {
		s.ParentSpanID = p.Parent.SpanID
	}
	for _, a := range p.Resource {
		if a.Key == "service.name" {
			s.Service = fmt.Sprint(a.Value.Value)
		}
	}
	for _, e := range p.Events {
		s.Events = append(s.Events, event{strconv.FormatInt(e.Time.UnixNano(), 10), e.Name, keyValues(e.Attributes)})
	}
	if p.Status.Code == "Error" {
		s.Status.Code, s.Status.Message = 2, p.Status.Description
	}
	return s
}

func keyValues(list []printedAttribute) []keyValue {
	var out []keyValue
	for _, a := range list {
		out = append(out, keyValue{a.Key, valueOf(a.Value.Value, strings.HasPrefix(a.Value.Type, "INT64"))})
	}
	return out
}

func valueOf(from any, integer bool) (v value) {
	text := fmt.Sprint(from)
	switch x := from.(type) {
	case json.Number:
		if integer {
			v.IntValue = &text
		} else if f, err := x.Float64(); err == nil {
			v.DoubleValue = &f
		}
	case bool:
		v.BoolValue = &x
	case []any:
		v.ArrayValue = &struct{ Values []value }{}
		for _, one := range x {
			v.ArrayValue.Values = append(v.ArrayValue.Values, valueOf(one, integer))
		}
	default:
		v.StringValue = &text
	}
	return v
}

// readSpan reads a line of stdouttrace.
func readSpan(line []byte) (span, error) {
	var p printed
	decoder := json.NewDecoder(bytes.NewReader(line))
	decoder.UseNumber()
	err := decoder.Decode(&p)
	return p.span(), err
}

var built struct {
	once sync.Once
	dir  string
	err  error
}

// buildExample builds examples/otel-jaeger, once.
func buildExample(t *testing.T) string {
	t.Helper()
	built.once.Do(func() {
		built.dir, built.err = os.MkdirTemp("", "otel-jaeger") //nolint:usetesting // it outlives the test that builds it first
		if built.err != nil {
			return
		}
		cmd := exec.Command("go", "build", "-o", built.dir, ".")
		cmd.Dir = filepath.Join("..", "examples", "otel-jaeger")
		if out, err := cmd.CombinedOutput(); err != nil {
			built.err = errors.Join(err, errors.New(string(out)))
		}
	})
	require.NoError(t, built.err)
	return filepath.Join(built.dir, "otel-jaeger")
}

func TestMain(m *testing.M) {
	code := m.Run()
	if built.dir != "" {
		_ = os.RemoveAll(built.dir) // a folder of the system's for such things
	}
	os.Exit(code)
}

// example is a running example.
type example struct {
	cmd    *exec.Cmd
	lines  *bufio.Reader
	stderr *logBuffer
}

// startExample starts the example as a user would, with an environment.
func startExample(t *testing.T, environment ...string) *example {
	t.Helper()
	e := &example{stderr: &logBuffer{}}
	e.cmd = exec.CommandContext(t.Context(), buildExample(t), "-json")
	e.cmd.Stderr = e.stderr
	for _, variable := range os.Environ() {
		if !strings.HasPrefix(variable, "OTEL_") { // the caller may trace elsewhere
			e.cmd.Env = append(e.cmd.Env, variable)
		}
	}
	e.cmd.Env = append(e.cmd.Env, environment...)
	stdout, err := e.cmd.StdoutPipe()
	require.NoError(t, err)
	e.lines = bufio.NewReader(stdout)
	require.NoError(t, e.cmd.Start())
	return e
}

// next returns the next turn.
func (e *example) next(t *testing.T) record {
	t.Helper()
	var spans []span
	for len(spans) == 0 || spans[len(spans)-1].Name != "agent.turn" {
		line, err := e.lines.ReadBytes('\n')
		require.NoError(t, err, "%s", e.stderr)
		s, err := readSpan(line)
		require.NoError(t, err, "%s", line)
		spans = append(spans, s)
	}
	return newRecord(t, spans)
}

// end waits until the example has ended by itself and returns its exit code and
// what it said on standard error.
func (e *example) end(t *testing.T) (code int, stderr string) {
	t.Helper()
	rest, err := io.ReadAll(e.lines)
	require.NoError(t, err)
	assert.Empty(t, string(rest), "after the last turn")
	err = e.cmd.Wait()
	if err != nil {
		require.ErrorAs(t, err, new(*exec.ExitError))
	}
	return e.cmd.ProcessState.ExitCode(), e.stderr.String()
}
