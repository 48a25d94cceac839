package replay

import (
	"fmt"

	"github.com/wollax/cupel-go/cupel"
)

// Join puts conversations together in their order, until each has so many tokens or
// more, and leaves out the rest if it has less. A system prompt that an earlier one
// of the same conversation equals is left out. The counter is that of
// [WithCounter]; nil is [Characters]. Join fails with an error of the counter.
func Join(conversations []Conversation, tokens int, counter cupel.TokenCounter) ([]Conversation, error) {
	if counter == nil {
		counter = Characters{}
	}
	m := newMeter(counter)
	var joined []Conversation
	var next Conversation
	size, parts := 0, 0
	prompts := make(map[string]bool)
	for i := range conversations {
		c := &conversations[i]
		if parts++; parts == 1 {
			next.ID = c.ID
		}
		for _, message := range c.messages {
			if message.role == "system" {
				if prompts[message.id] {
					continue
				}
				prompts[message.id] = true
			}
			n, err := m.tokens(message.text)
			if err != nil {
				return nil, err
			}
			size += n
			next.messages = append(next.messages, message)
		}
		if size < tokens {
			continue
		}
		if parts > 1 {
			next.ID += fmt.Sprintf(" and %d more", parts-1)
		}
		joined = append(joined, next)
		next, size, parts = Conversation{}, 0, 0
		clear(prompts)
	}
	return joined, nil
}
