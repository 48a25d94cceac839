package cupelotel

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"

	"go.opentelemetry.io/otel/attribute"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/observe"
)

// Convention is a vocabulary of tools for traces of language models.
type Convention uint8

// The conventions. To tools that know both, a span with both is a reranker.
const (
	// GenAI is OpenTelemetry's convention: a run is a retrieval, whose documents are
	// the items of the window.
	GenAI Convention = 1 << iota
	// OpenInference is the convention of Phoenix and others: a run is a
	// reranker, of the candidates to the items of the window. Its session is
	// the conversation.
	OpenInference
)

// WithConventions makes root spans readable for tools that know these conventions. The
// spans get the kind of the operation and, at their end, the exclusions and the
// documents: at most 30 of each list, those with the highest scores. A document has a
// score, and as its id the position among the candidates, or the id that the policy of
// [WithRedaction] shows. It has its content if the policy shows contents. A streaming
// run has no documents.
func WithConventions(conventions ...Convention) TraceOption {
	var all Convention
	for _, convention := range conventions {
		all |= convention
	}
	return func(c *TraceCollector) { c.conventions = all }
}

// WithReportAttributes adds the attributes that get returns for the report of a run to
// its root span. The report costs more than the run; for a failed run, it has the
// results of the earlier stages. Given several times, all are called; nil adds none. The
// result of get leaves the process unchanged, except for invalid UTF-8. If it panics,
// its attributes are left out and the OpenTelemetry error handler receives an error.
func WithReportAttributes(get func(report *cupel.SelectionReport) []attribute.KeyValue) TraceOption {
	return func(c *TraceCollector) {
		if get != nil {
			c.reportAttrs = append(c.reportAttrs, get)
		}
	}
}

// appendReport appends the caller's attributes of a run.
func (c *TraceCollector) appendReport(attrs []attribute.KeyValue, report *cupel.SelectionReport) []attribute.KeyValue {
	for _, get := range c.reportAttrs {
		func() {
			defer recovered("the attributes of a report", "function of WithReportAttributes")
			attrs = append(attrs, each(slices.Clone(get(report)), valid)...) // runs at once may get one list
		}()
	}
	return attrs
}

// appendKinds appends the kind of a run in the collector's conventions.
func (c *TraceCollector) appendKinds(ctx context.Context, attrs []attribute.KeyValue) []attribute.KeyValue {
	if c.conventions&GenAI != 0 {
		attrs = append(attrs, operationNameKey.String("retrieval"))
	}
	if c.conventions&OpenInference != 0 {
		attrs = append(attrs, openInferenceKindKey.String("RERANKER"))
		if id, _ := ctx.Value(conversationKey{}).(string); id != "" {
			attrs = append(attrs, sessionIDKey.String(c.redaction.text(observe.PartConversation, id)))
		}
	}
	return attrs
}

// appendChain appends the kind of a stage or a turn in the collector's
// conventions.
func (c *TraceCollector) appendChain(attrs []attribute.KeyValue) []attribute.KeyValue {
	if c.conventions&OpenInference != 0 {
		attrs = append(attrs, openInferenceKindKey.String("CHAIN"))
	}
	return attrs
}

// The SDK keeps 128 attributes of a span, and the specification's come first.
const (
	mostDocuments    = 30
	roomForDocuments = 100 // attributes
)

// document is an item of a list.
type document struct {
	ID      string   `json:"id"`
	Score   *float64 `json:"score,omitempty"` // nil if JSON cannot express it
	Content string   `json:"content,omitempty"`
}

// appendDocuments appends the exclusions and the documents of a run.
func (r *traceRun) appendDocuments(attrs []attribute.KeyValue, decisions []observe.Decision) []attribute.KeyValue {
	attrs = appendReasons(attrs, r.reasons)
	candidates := make([]int, len(decisions))
	for i := range candidates {
		candidates[i] = i
	}
	slices.SortStableFunc(candidates, func(a, b int) int { return cmp.Compare(decisions[b].Score, decisions[a].Score) })
	window := slices.DeleteFunc(slices.Clone(candidates), func(at int) bool { return decisions[at].Place == 0 })
	c, most := r.collector, mostDocuments
	if c.conventions&OpenInference != 0 {
		most = roomForDocuments / 4
		if c.redaction.Show&observe.PartContent != 0 {
			most = roomForDocuments / 6
		}
	}
	if n := len(candidates) - most; n > 0 {
		attrs = append(attrs, candidatesDroppedKey.Int(n))
	}
	if n := len(window) - most; n > 0 {
		attrs = append(attrs, documentsDroppedKey.Int(n))
	}
	input := r.documents(candidates[:min(most, len(candidates))], decisions)
	output := r.documents(window[:min(most, len(window))], decisions)
	if c.conventions&GenAI != 0 {
		if text, err := json.Marshal(output); err == nil { // texts and finite numbers
			attrs = append(attrs, retrievalDocumentsKey.String(string(text)))
		}
	}
	if c.conventions&OpenInference != 0 {
		attrs = appendReranked(appendReranked(attrs, inputDocumentsPrefix, input), outputDocumentsPrefix, output)
	}
	return attrs
}

// documents returns the documents at positions among the candidates.
func (r *traceRun) documents(positions []int, decisions []observe.Decision) []document {
	redaction := &r.collector.redaction
	list := make([]document, len(positions))
	for i, at := range positions {
		item, score := r.items[at], decisions[at].Score
		list[i].ID = cmp.Or(redaction.text(observe.PartID, idOf(item, redaction.ID)), strconv.Itoa(at))
		list[i].Content = redaction.text(observe.PartContent, item.Content())
		if !math.IsNaN(score) && !math.IsInf(score, 0) {
			list[i].Score = &score
		}
	}
	return list
}

// appendReranked appends documents in OpenInference's form.
func appendReranked(attrs []attribute.KeyValue, prefix string, list []document) []attribute.KeyValue {
	for i, d := range list {
		name := fmt.Sprint(prefix, i, ".document.")
		attrs = append(attrs, attribute.String(name+"id", d.ID))
		if d.Score != nil {
			attrs = append(attrs, attribute.Float64(name+"score", *d.Score))
		}
		if d.Content != "" {
			attrs = append(attrs, attribute.String(name+"content", d.Content))
		}
	}
	return attrs
}
