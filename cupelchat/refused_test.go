package cupelchat

import (
	"fmt"
	"slices"
	"strings"
)

// refused says why an API would refuse messages, by rules that are written down
// here a second time. Those of the list in forgiven are the fixture's own.
func refused(f Format, messages []object) []string {
	switch f {
	case OpenAI:
		return refusedByChat(messages)
	case Responses:
		return refusedByResponses(messages)
	default:
		return refusedByAnthropic(messages)
	}
}

func refusedByChat(messages []object) (reasons []string) {
	var open []string // ids of calls that wait
	for i, m := range messages {
		if m["role"] == "tool" || m["role"] == "function" {
			id := fmt.Sprint(m["tool_call_id"], m["name"])
			at := slices.Index(open, id)
			if at < 0 {
				reasons = append(reasons, fmt.Sprintf("message %d returns what has no call", i))
				continue
			}
			open = slices.Delete(open, at, at+1)
			continue
		}
		if len(open) > 0 {
			reasons = append(reasons, fmt.Sprintf("message %d comes before the results of %v", i, open))
		}
		open = nil
		calls, _ := m["tool_calls"].([]any)
		for _, c := range calls {
			open = append(open, fmt.Sprint(c.(object)["id"], nil))
		}
		if f, ok := m["function_call"].(object); ok {
			open = append(open, fmt.Sprint(nil, f["name"]))
		}
	}
	if len(open) > 0 {
		reasons = append(reasons, fmt.Sprintf("no results of %v", open))
	}
	return reasons
}

func refusedByResponses(messages []object) (reasons []string) {
	calls := map[any]bool{} // whether there was a result
	for i, m := range messages {
		kind, _ := m["type"].(string)
		if kind == "reasoning" {
			if i+1 == len(messages) || messages[i+1]["role"] == "user" || strings.HasSuffix(fmt.Sprint(messages[i+1]["type"]), "_output") {
				reasons = append(reasons, fmt.Sprintf("reasoning %d without what follows from it", i))
			}
		}
		id, paired := m["call_id"]
		switch {
		case !paired:
		case strings.HasSuffix(kind, "_output"):
			if _, ok := calls[id]; !ok {
				reasons = append(reasons, fmt.Sprintf("item %d returns what has no call", i))
			}
			calls[id] = true
		default:
			calls[id] = false
		}
	}
	for id, answered := range calls {
		if !answered {
			reasons = append(reasons, fmt.Sprintf("no result of %v", id))
		}
	}
	return reasons
}

func refusedByAnthropic(messages []object) (reasons []string) {
	blocks := func(m object, kind, id string) (ids []any) {
		list, _ := m["content"].([]any)
		for _, block := range list {
			if b := block.(object); b["type"] == kind {
				ids = append(ids, b[id])
			}
		}
		return ids
	}
	var calls []any
	for i, m := range messages {
		want := []string{"user", "assistant"}[i%2]
		if m["role"] != want {
			reasons = append(reasons, fmt.Sprintf("message %d has the role %v, want %s", i, m["role"], want))
		}
		if list, ok := m["content"].([]any); ok && len(list) == 0 || m["content"] == "" {
			reasons = append(reasons, fmt.Sprintf("message %d is empty", i))
		}
		results := blocks(m, "tool_result", "tool_use_id")
		if !slices.Equal(results, calls) {
			reasons = append(reasons, fmt.Sprintf("message %d has the results %v, want %v", i, results, calls))
		}
		calls = blocks(m, "tool_use", "id")
	}
	if len(calls) > 0 {
		reasons = append(reasons, fmt.Sprintf("no results of %v", calls))
	}
	return reasons
}
