package cupeltest

import (
	"fmt"
	"time"

	"github.com/wollax/cupel-go/cupel"
)

// A Turn is a message of a [Conversation], or a call of a tool with its result.
type Turn func(at time.Time, n int) []*cupel.ContextItem

// Conversation returns the items of turns, oldest first and a minute apart, from
// noon of 1 January 2026 in UTC. Each has a token for every 4 bytes of its
// content, rounded up.
//
//	items := cupeltest.Conversation(
//		cupeltest.System("Answer briefly."),
//		cupeltest.User("Why is the build red?"),
//		cupeltest.Tool("go build ./...", "undefined: x"),
//		cupeltest.Assistant("x is missing."),
//	)
func Conversation(turns ...Turn) []*cupel.ContextItem {
	var items []*cupel.ContextItem
	start := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	for i, turn := range turns {
		items = append(items, turn(start.Add(time.Duration(i)*time.Minute), i+1)...)
	}
	return items
}

// System is a system prompt, pinned.
func System(content string, opts ...cupel.ItemOption) Turn {
	return message(content, "system", append([]cupel.ItemOption{cupel.WithKind(cupel.KindSystemPrompt), cupel.WithPinned()}, opts...))
}

// User is a message of the user.
func User(content string, opts ...cupel.ItemOption) Turn { return message(content, "user", opts) }

// Assistant is an answer of the model.
func Assistant(content string, opts ...cupel.ItemOption) Turn {
	return message(content, "assistant", opts)
}

// Tool is a call of a tool and its result: a group of two items, "call N" in the
// N-th turn. The options apply to both.
func Tool(call, result string, opts ...cupel.ItemOption) Turn {
	return func(at time.Time, n int) []*cupel.ContextItem {
		tool := append([]cupel.ItemOption{
			cupel.WithKind(cupel.KindToolOutput), cupel.WithSource(cupel.SourceTool), cupel.WithGroup(fmt.Sprintf("call %d", n)),
		}, opts...)
		return append(message(call, "assistant", tool)(at, n), message(result, "tool", tool)(at, n)...)
	}
}

func message(content, role string, opts []cupel.ItemOption) Turn {
	return func(at time.Time, _ int) []*cupel.ContextItem {
		given := []cupel.ItemOption{cupel.WithTimestamp(at), cupel.WithMetadata(map[string]any{"role": role})}
		return []*cupel.ContextItem{Item(content, (len(content)+3)/4, append(given, opts...)...)}
	}
}
