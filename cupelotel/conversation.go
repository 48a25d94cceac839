package cupelotel

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/baggage"
)

// passed are the attributes that come from the context of a run. Their positions are
// the keys of the context's values.
var passed = [...]struct {
	key    attribute.Key
	source TextSource
}{
	conversation: {conversationIDKey, TextConversation},
	agent:        {agentNameKey, TextAgent},
}

type passedKey uint8

const (
	conversation passedKey = iota
	agent
)

// ContextWithConversationID returns a context in which the spans of runs and turns
// have gen_ai.conversation.id, so that all of a conversation can be found together.
// It is not sent to other services; a baggage member of that name is, and is used
// where the context has no id of its own.
func ContextWithConversationID(ctx context.Context, id string) context.Context {
	return context.WithValue(ctx, conversation, id)
}

// ContextWithAgentName returns a context in which the spans of runs and turns have
// gen_ai.agent.name, as [ContextWithConversationID] does with the id.
func ContextWithAgentName(ctx context.Context, name string) context.Context {
	return context.WithValue(ctx, agent, name)
}

// appendPassed appends the id of the conversation and the name of the agent, if the
// context has them.
func (c *TraceCollector) appendPassed(ctx context.Context, attrs []attribute.KeyValue) []attribute.KeyValue {
	members := baggage.FromContext(ctx)
	for i, p := range passed {
		text, ok := ctx.Value(passedKey(i)).(string)
		if !ok {
			text = members.Member(string(p.key)).Value()
		}
		if text != "" {
			attrs = append(attrs, p.key.String(c.text(p.source, text)))
		}
	}
	return attrs
}
