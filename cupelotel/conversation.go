package cupelotel

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
)

type conversationKey struct{}

// ContextWithConversationID returns a context in which the spans of runs and turns
// have gen_ai.conversation.id, so that all of a conversation can be found together.
// It is not sent to other services.
func ContextWithConversationID(ctx context.Context, id string) context.Context {
	return context.WithValue(ctx, conversationKey{}, id)
}

// appendConversation appends the id of the conversation, if the context has one.
func (c *TraceCollector) appendConversation(ctx context.Context, attrs []attribute.KeyValue) []attribute.KeyValue {
	id, _ := ctx.Value(conversationKey{}).(string)
	if id == "" {
		return attrs
	}
	return append(attrs, ConversationIDKey.String(c.text(TextConversation, id)))
}
