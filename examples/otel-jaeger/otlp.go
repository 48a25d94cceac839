package main

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

// record is what -json prints of a turn, in one line. Spans have the field
// names of OTLP's JSON form, so that they can be held against what a collector
// or Jaeger says it has received.
type record struct {
	Turn           int    `json:"turn"`
	Title          string `json:"title"`
	Candidates     int    `json:"candidates"`
	Selected       int    `json:"selected"`
	SelectedTokens int    `json:"selectedTokens"`
	TargetTokens   int    `json:"targetTokens"`
	KeptTokens     int    `json:"keptTokens"`
	Break          string `json:"break,omitempty"` // why the window differs from what was sent before
	Error          string `json:"error,omitempty"`
	Excluded       any    `json:"excluded"` // by stage and reason
	Spans          []span `json:"spans"`
}

type span struct {
	TraceID      string     `json:"traceId"`
	SpanID       string     `json:"spanId"`
	ParentSpanID string     `json:"parentSpanId,omitempty"`
	Service      string     `json:"service"`
	Scope        string     `json:"scope"`
	ScopeVersion string     `json:"scopeVersion,omitempty"`
	Name         string     `json:"name"`
	Start        string     `json:"startTimeUnixNano"`
	End          string     `json:"endTimeUnixNano"`
	Attributes   []keyValue `json:"attributes,omitempty"`
	Events       []event    `json:"events,omitempty"`
	Status       status     `json:"status"`
}

type event struct {
	Time       string     `json:"timeUnixNano"`
	Name       string     `json:"name"`
	Attributes []keyValue `json:"attributes,omitempty"`
}

type status struct {
	Code    int    `json:"code,omitempty"` // 2: error
	Message string `json:"message,omitempty"`
}

type keyValue struct {
	Key   string `json:"key"`
	Value value  `json:"value"`
}

// value has one field set. OTLP writes integers of 64 bits as strings.
type value struct {
	String *string  `json:"stringValue,omitempty"`
	Int    *string  `json:"intValue,omitempty"`
	Double *float64 `json:"doubleValue,omitempty"`
	Bool   *bool    `json:"boolValue,omitempty"`
}

// newSpans describes spans in the order of their starts.
func newSpans(recorded []sdktrace.ReadOnlySpan) []span {
	recorded = slices.Clone(recorded)
	slices.SortStableFunc(recorded, func(a, b sdktrace.ReadOnlySpan) int {
		return cmp.Or(a.StartTime().Compare(b.StartTime()), b.EndTime().Compare(a.EndTime()))
	})
	spans := make([]span, 0, len(recorded))
	for _, s := range recorded {
		service, _ := s.Resource().Set().Value("service.name")
		described := span{
			TraceID:      s.SpanContext().TraceID().String(),
			SpanID:       s.SpanContext().SpanID().String(),
			Service:      service.AsString(),
			Scope:        s.InstrumentationScope().Name,
			ScopeVersion: s.InstrumentationScope().Version,
			Name:         s.Name(),
			Start:        nano(s.StartTime()),
			End:          nano(s.EndTime()),
			Attributes:   newKeyValues(s.Attributes()),
		}
		if s.Parent().IsValid() {
			described.ParentSpanID = s.Parent().SpanID().String()
		}
		if s.Status().Code == codes.Error {
			described.Status = status{2, s.Status().Description}
		}
		for _, e := range s.Events() {
			described.Events = append(described.Events, event{nano(e.Time), e.Name, newKeyValues(e.Attributes)})
		}
		spans = append(spans, described)
	}
	return spans
}

func newKeyValues(attrs []attribute.KeyValue) []keyValue {
	list := make([]keyValue, 0, len(attrs))
	for _, a := range attrs {
		var v value
		switch a.Value.Type() {
		case attribute.INT64:
			text := strconv.FormatInt(a.Value.AsInt64(), 10)
			v.Int = &text
		case attribute.FLOAT64:
			number := a.Value.AsFloat64()
			v.Double = &number
		case attribute.BOOL:
			yes := a.Value.AsBool()
			v.Bool = &yes
		default:
			text := a.Value.String()
			v.String = &text
		}
		list = append(list, keyValue{string(a.Key), v})
	}
	return list
}

func nano(t time.Time) string { return strconv.FormatInt(t.UnixNano(), 10) }
