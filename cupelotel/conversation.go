package cupelotel

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/baggage"
)

type conversationKey struct{}

// ContextWithConversationID returns a context in which the spans of runs and turns
// have gen_ai.conversation.id, so that all of a conversation can be found together.
// It is not sent to other services; a baggage member of that name is, and is used
// where the context has no id of its own.
func ContextWithConversationID(ctx context.Context, id string) context.Context {
	return context.WithValue(ctx, conversationKey{}, id)
}

// appendConversation appends the id of the conversation, if the context has one.
func (c *TraceCollector) appendConversation(ctx context.Context, attrs []attribute.KeyValue) []attribute.KeyValue {
	id, ok := ctx.Value(conversationKey{}).(string)
	if !ok {
		id = baggage.FromContext(ctx).Member(string(conversationIDKey)).Value()
	}
	if id == "" {
		return attrs
	}
	return append(attrs, conversationIDKey.String(c.text(TextConversation, id)))
}
