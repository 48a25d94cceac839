package cupelotel

import (
	"fmt"
	"strconv"
	"strings"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/observe"
)

// appendItem appends the id of an item, if the policy shows it.
func (c *TraceCollector) appendItem(attrs []attribute.KeyValue, item *cupel.ContextItem) []attribute.KeyValue {
	if key := c.redaction.ID; key != "" {
		if id := c.redaction.text(observe.PartID, idOf(item, key)); id != "" {
			attrs = append(attrs, itemIDKey.String(id))
		}
	}
	return attrs
}

// idOf returns the metadata value of a key, if it is a text or a whole number.
func idOf(item *cupel.ContextItem, key string) string {
	if id, ok := item.MetadataText(key); ok {
		return id
	}
	if id, ok := item.MetadataInt(key); ok {
		return strconv.Itoa(id)
	}
	return ""
}

// valid returns an attribute of the caller's in valid UTF-8: an exporter refuses the
// whole batch otherwise, with the spans of others.
func valid(kv attribute.KeyValue) attribute.KeyValue {
	return attribute.KeyValue{Key: attribute.Key(validText(string(kv.Key))), Value: validValue(kv.Value)}
}

func validValue(v attribute.Value) attribute.Value {
	switch v.Type() {
	case attribute.STRING:
		return attribute.StringValue(validText(v.AsString()))
	case attribute.STRINGSLICE:
		return attribute.StringSliceValue(each(v.AsStringSlice(), validText))
	case attribute.SLICE:
		return attribute.SliceValue(each(v.AsSlice(), validValue)...)
	case attribute.MAP:
		return attribute.MapValue(each(v.AsMap(), valid)...)
	default:
		return v
	}
}

func validText(text string) string { return strings.ToValidUTF8(text, "\uFFFD") }

// each changes the elements of a list.
func each[T any](list []T, change func(T) T) []T {
	for i := range list {
		list[i] = change(list[i])
	}
	return list
}

// recovered, when deferred, reports a panic of a function of the caller's.
func recovered(what, who string) {
	if v := recover(); v != nil {
		// Without the value, which may quote an item.
		otel.Handle(fmt.Errorf("cupelotel: left out %s: the %s panicked with a %T", what, who, v))
	}
}
