package assertions_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wollax/cupel-go/cmd/cupel/internal/assertions"
)

func TestDecode(t *testing.T) {
	file, err := assertions.Decode([]byte(`
[selection]
items = "items.jsonl"
format = "jsonl"
encoding = "heuristic"
policy = "chat"
query = "Where is the oven?"
budget = 100
reserve = 20
margin = 5

[[checks]]
assert = "include_exactly_n_items_with_kind"
n = 2
kind = "Message"
why = "a question and an answer"

[[checks]]
assert = "IncludeItemMatching"
item = { metadata = { session = "june" }, kind = "Message" }
`), plain)
	require.NoError(t, err)
	want := assertions.Selection{
		Items: "items.jsonl", Format: "jsonl", Encoding: "heuristic", Policy: "chat", Query: "Where is the oven?",
		Budget: 100, Reserve: 20, Margin: 5,
	}
	require.Equal(t, want, file.Selection)
	require.Len(t, file.Checks, 2)
	first, second := file.Checks[0], file.Checks[1]
	require.Equal(t, []string{"checks[0]", "IncludeExactlyNItemsWithKind", "a question and an answer", `IncludeExactlyNItemsWithKind kind="Message" n=2`},
		[]string{first.Path, first.Name, first.Why, first.Text})
	require.Equal(t, []string{"checks[1]", `IncludeItemMatching item={"kind":"Message","metadata":{"session":"june"}}`}, []string{second.Path, second.Text})
}

func TestProblems(t *testing.T) {
	check := func(text string) string { return "[[checks]]\n" + text }
	for _, row := range []struct {
		name string
		file string
		want string
		why  string
	}{
		{"empty", "", "checks: is required: a file without checks cannot fail; add [[checks]] with an assert", "a test that cannot fail is useless"},
		{"checks of another type", "checks = [1]", "expected table but found int64", "a number has no assert"},
		{"several", "[selection]\nitem = \"x\"\n" + check("assert = \"x\"") + "\n" + check("assert = \"include_item_with_kind\""),
			"3 problems\n\tselection.item: is unknown\n\tchecks[0].assert: \"x\" is unknown; want one of include_item_with_kind, ", "all at once"},
		{"a table", "[selection]\nbudget = 1.5\n" + check(`assert = "have_no_exclusions"`), "selection.budget", "tokens have no parts"},
		{"unknown in an item", check("assert = \"include_item_matching\"\nitem = { contents = \"x\" }"), "checks.item.contents: is unknown", "it would not be looked at"},
		{"no assert", check(`kind = "Message"`), `checks[0].assert: "" is unknown; want one of `, "there is nothing to check"},
		{"blank", check("assert = \"include_item_with_kind\"\nkind = \" \""), "checks[0].kind: must not be blank", "no item has such a kind"},
		{"argument of another", check("assert = \"include_item_with_kind\"\nkind = \"A\"\nn = 1"), `checks[0].n: does not belong to IncludeItemWithKind, which takes ["kind"]`, "it would not be looked at"},
		{"no argument", check(`assert = "include_exactly_n_items_with_kind"`), "2 problems\n\tchecks[0].kind: is required here\n\tchecks[0].n: is required here", "there is no default"},
		{"negative", check("assert = \"include_exactly_n_items_with_kind\"\nkind = \"A\"\nn = -1"), `checks[0]: kind="A" n=-1 is out of range`, "it would never hold"},
		{"always", check("assert = \"have_at_least_n_exclusions\"\nn = 0"), "checks[0]: n=0 is out of range, or would always hold", "nothing could fail"},
		{"always used", check("assert = \"have_budget_utilization_above\"\nthreshold = 0"), "threshold=0 is out of range, or would always hold", "nothing could fail"},
		{"no number", check("assert = \"have_budget_utilization_above\"\nthreshold = nan"), "threshold=NaN is out of range", "nothing is above it"},
		{"empty among contents", check("assert = \"include_in_order\"\ncontents = [\"a\", \"\"]"), "checks[0].contents: must be texts that are not empty", "it could never hold"},
		{"no contents", check("assert = \"include_in_order\"\ncontents = []"), "checks[0].contents: must be texts that are not empty", "nothing could fail"},
		{"empty predicate", check("assert = \"place_item_at_edge\"\nitem = {}"), "checks[0].item: must not be empty: it would match every item", "nothing could fail"},
		{"exclusion reason", check("assert = \"exclude_item_with_reason\"\nreason = \"Scored\""), `checks[0].reason: "Scored" is unknown; want one of [BudgetExceeded `, "nothing is excluded for that"},
		{"metadata", check("assert = \"include_item_matching\"\nitem = { metadata = { a = [] } }"), "checks[0].item.metadata.a: must be text, a number or a boolean", "lists are not compared"},
		{"unknown at the top", "check = 1\n" + check(`assert = "have_no_exclusions"`), "check: is unknown", "the check would never run"},
		{"no TOML", "a = 1\na = 2", "Key 'a' has already been defined.", "the library says where"},
		{"deep", "a = " + strings.Repeat("[", 600_000), "is nested more than 500 deep", "the library calls itself"},
		{"long", strings.Repeat("#", assertions.MaxBytes+1), "is longer than 1048576 bytes", "no file of checks is"},
	} {
		_, err := assertions.Decode([]byte(row.file), plain)
		require.ErrorContains(t, err, row.want, "%s: %s", row.name, row.why)
	}
}

// FuzzDecode: for any file, there is an error with at least one problem,
// or something that can fail.
func FuzzDecode(f *testing.F) {
	f.Add("[selection]\nbudget = 3\n[[checks]]\nassert = \"include_item_matching\"\nitem = { kind = \"A\", metadata = { a = 1 } }")
	f.Add("checks = [{ assert = \"have_no_exclusions\", why = \"\" }, 3]")
	f.Fuzz(func(t *testing.T, text string) {
		file, err := assertions.Decode([]byte(text), plain)
		if err != nil {
			require.Nil(t, file)
			require.NotEmpty(t, err.Error())
			return
		}
		require.NotEmpty(t, file.Checks)
		for _, c := range file.Checks {
			require.NotEmpty(t, c.Name)
			require.NotEmpty(t, c.Path)
			require.True(t, strings.HasPrefix(c.Text, c.Name), c.Text)
		}
	})
}
