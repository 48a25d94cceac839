package cupeltest

import (
	"strconv"

	"github.com/wollax/cupel-go/cupel"
)

// Item returns a new item as [cupel.NewContextItem] does. It panics if that
// fails, since such a failure is a mistake in the test.
func Item(content string, tokens int, opts ...cupel.ItemOption) *cupel.ContextItem {
	return must(cupel.NewContextItem(content, tokens, opts...))
}

// Items returns new items of the given sizes in tokens, with the contents
// "item 1", "item 2" and so on.
func Items(tokens ...int) []*cupel.ContextItem {
	items := make([]*cupel.ContextItem, len(tokens))
	for i, n := range tokens {
		items[i] = Item("item "+strconv.Itoa(i+1), n)
	}
	return items
}

// Budget returns a budget, in tokens, as [cupel.NewContextBudget] does. It
// panics if that fails.
func Budget(maxTokens, targetTokens int, opts ...cupel.BudgetOption) cupel.ContextBudget {
	return must(cupel.NewContextBudget(maxTokens, targetTokens, opts...))
}

func must[V any](v V, err error) V {
	if err != nil {
		panic(err)
	}
	return v
}
