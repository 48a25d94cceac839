package agent_test

import (
	"context"
	"fmt"
	"log"
	"strings"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupelchat/agent"
)

// An old exchange becomes a note when the conversation exceeds the budget.
func ExampleNew() {
	item := func(role, content string, opts ...cupel.ItemOption) *cupel.ContextItem {
		opts = append(opts, cupel.WithMetadata(map[string]any{"role": role, "tool": "read_file"}))
		made, err := cupel.NewItemFrom(cupel.HeuristicCounter{}, content, opts...)
		if err != nil {
			log.Fatal(err)
		}
		return made
	}
	items := []*cupel.ContextItem{
		item("user", "Fix the panic in cupel/item.go.", cupel.WithPinned()),
		item("assistant", `read_file({"path":"cupel/item.go"})`, cupel.WithGroup("call_1"),
			cupel.WithGroupVariants(cupel.Variant{Content: "a call", Tokens: 6, Worth: .1})), // a note may stand for the call
		item("tool", "package cupel\n\nfunc NewItem(text string) *Item {\n"+strings.Repeat("\ttext = trim(text)\n", 30)+"\treturn &Item{text}\n}\n", cupel.WithGroup("call_1")),
		item("user", "Is it done?"),
	}
	budget, err := cupel.NewContextBudget(63, 63)
	if err != nil {
		log.Fatal(err)
	}
	window, _, err := agent.New(nil).RunReport(context.Background(), items, budget)
	if err != nil {
		log.Fatal(err)
	}
	for _, item := range window {
		fmt.Println(item.Content())
	}
	// Output:
	// Fix the panic in cupel/item.go.
	// [earlier] read_file({"path":"cupel/item.go"})
	// package cupel
	//
	// func NewItem(text string) *Item {
	// 	text = trim(text)
	// 	text = trim…
	// … +28
	// 	return &Item{text}
	// }
	// Is it done?
}
