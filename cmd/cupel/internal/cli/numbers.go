package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/wollax/cupel-go/cmd/cupel/internal/input"
	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupelchat"
)

// messageNumber returns the number of a message in its conversation, from 1. It is
// 0 for other members of a request, and for other items.
func messageNumber(item *cupel.ContextItem) int {
	index, ok := item.MetadataInt("index")
	if !ok || textOf(item, "role") == "" {
		return 0
	}
	return index + 1
}

// named returns a candidate's name for people: message 17, result of open; or
// item 3.
func named(item *cupel.ContextItem, candidate int) string {
	role, tool, number := textOf(item, "role"), textOf(item, "tool"), messageNumber(item)
	switch {
	case role == "":
		return fmt.Sprintf("item %d", candidate+1)
	case number == 0:
		return role
	case tool == "":
		return fmt.Sprintf("message %d", number)
	case role == "assistant":
		return fmt.Sprintf("message %d (call of %s)", number, tool)
	}
	return fmt.Sprintf("message %d (result of %s)", number, tool)
}

// namesOf returns the names of some candidates for people.
func namesOf(items []*cupel.ContextItem, candidates []int) []string {
	names := make([]string, len(candidates))
	for n, i := range candidates {
		names[n] = named(items[i], i)
	}
	return names
}

// listed joins names: all of four, or three of more.
func listed(names []string) string {
	const most = 4
	if more := len(names) - most + 1; more > 1 {
		names = append(slices.Clone(names[:most-1]), fmt.Sprintf("%d more", more))
	}
	last := len(names) - 1
	if last < 1 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:last], ", ") + " and " + names[last]
}

// withPins returns candidates with more pins, by the numbers of messages or items.
func withPins(candidates *input.Candidates, numbers ...int) (*input.Candidates, error) {
	if len(numbers) == 0 {
		return candidates, nil
	}
	pinned := *candidates
	if c := candidates.Conversation; c != nil {
		pinned.Pins = slices.Clone(candidates.Pins)
		for _, n := range numbers {
			pinned.Pins = append(pinned.Pins, n-1)
		}
		with, err := c.With(cupelchat.WithPins(true, true, pinned.Pins...))
		if err != nil {
			return nil, usagef("--pin: the conversation does not have all of the messages %v", numbers)
		}
		pinned.Conversation, pinned.Items = with, with.Items()
		return &pinned, nil
	}
	pinned.Items = slices.Clone(candidates.Items)
	for _, n := range numbers {
		if n < 1 || n > len(pinned.Items) {
			return nil, usagef("--pin: there are items 1 to %d, got %d", len(pinned.Items), n)
		}
		item, err := pinned.Items[n-1].With(cupel.WithPinned())
		if err != nil {
			return nil, usagef("--pin: %w", err)
		}
		pinned.Items[n-1] = item
	}
	return &pinned, nil
}
