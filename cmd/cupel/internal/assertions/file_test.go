package assertions_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"

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
target = 80
reserve = 0
margin = 5
reserve_kind = { "Tool Output" = 7, Memory = 0 }

[[checks]]
assert = "include_exactly_n_items_with_kind"
n = 2
kind = "Message"
why = "a question and an answer"

[[checks]]
assert = "IncludeItemMatching"
item = { metadata = { session = "june" }, kind = "Message", min_score = 0.5 }
`), plain)
	if err != nil {
		t.Fatal(err)
	}
	want := assertions.Selection{
		Items: "items.jsonl", Format: "jsonl", Encoding: "heuristic", Policy: "chat", Query: "Where is the oven?",
		Budget: new(100), Target: new(80), Reserve: new(0), Margin: new(5.0), Slots: map[string]int{"Tool Output": 7, "Memory": 0},
	}
	if !reflect.DeepEqual(file.Selection, want) {
		t.Errorf("got %+v, want %+v", file.Selection, want)
	}
	if len(file.Checks) != 2 {
		t.Fatalf("got %d checks, want 2", len(file.Checks))
	}
	first, second := file.Checks[0], file.Checks[1]
	if first.Path != "checks[0]" || first.Name != "IncludeExactlyNItemsWithKind" || first.Why != "a question and an answer" ||
		first.Text != `IncludeExactlyNItemsWithKind kind="Message" n=2` {
		t.Errorf("got %+v", first)
	}
	if second.Path != "checks[1]" || second.Why != "" || second.Text != `IncludeItemMatching item={kind="Message", metadata={session="june"}, min_score=0.5}` {
		t.Errorf("got %+v", second)
	}
}

// TestExpectedError: a file may expect the selection to fail, and then needs no
// checks.
func TestExpectedError(t *testing.T) {
	for name := range assertions.Errors {
		file, err := assertions.Decode([]byte("[selection]\nerror = \""+name+"\""), plain)
		if err != nil || file.Selection.Error != name || len(file.Checks) != 0 {
			t.Errorf("%s: got %+v, %v", name, file, err)
		}
	}
}

func TestProblems(t *testing.T) {
	const (
		items   = "content, content_prefix, content_contains, content_glob, tag, group, version_of, kind, source, pinned, min_tokens, max_tokens, metadata"
		reasons = "BudgetExceeded, ScoredTooLow, Deduplicated, QuotaCapExceeded, QuotaRequireDisplaced, NegativeTokens, PinnedOverride, Filtered, CountCapExceeded, CountRequireCandidatesExhausted, Superseded, NearDuplicate"
	)
	check := func(text string) string { return "[[checks]]\n" + text }
	for _, row := range []struct {
		name string
		file string
		want string
		why  string
	}{
		{"empty", "", "checks: is required: a file without checks cannot fail; add [[checks]] with an assert", "a test that cannot fail is useless"},
		{"no checks", "checks = []", "checks: is required: a file without checks cannot fail; add [[checks]] with an assert", "the same"},
		{"checks of another type", "checks = 1", "checks: must be a list of tables, got an integer", "a number has no assert"},
		{"a check of another type", "checks = [1]", "checks[0]: must be a table, got an integer", "neither has it here"},
		{"error and checks", "[selection]\nerror = \"Overflow\"\n" + check(`assert = "have_no_exclusions"`),
			"checks: must be absent if selection.error is set: a failed selection has nothing to check", "both cannot hold"},
		{"unknown error", "[selection]\nerror = \"overflow\"\n" + check(`assert = "have_no_exclusions"`),
			"2 problems\n\tselection.error: \"overflow\" is unknown; want one of Overflow, PinnedExceedsBudget, Scarcity\n\tchecks: must be absent if selection.error is set: a failed selection has nothing to check", "names are exact"},
		{"unknown in selection", "[selection]\nitem = \"x\"\n" + check(`assert = "have_no_exclusions"`),
			"selection.item: is unknown; want one of items, format, encoding, policy, query, budget, target, reserve, margin, reserve_kind, error", "items"},
		{"types in selection", "[selection]\nitems = 1\nbudget = 1.5\nmargin = \"5\"\nreserve_kind = 3\n" + check(`assert = "have_no_exclusions"`),
			"4 problems\n\tselection.items: must be text, got an integer\n\tselection.budget: must be an integer, got a number\n\tselection.margin: must be a number, got text\n\tselection.reserve_kind: must be a table, got an integer", "all at once"},
		{"slots", "[selection.reserve_kind]\n\"a b\" = true\n" + check(`assert = "have_no_exclusions"`),
			`selection.reserve_kind["a b"]: must be an integer, got a boolean`, "kinds are any text"},
		{"margin", "[selection]\nmargin = nan\n" + check(`assert = "have_no_exclusions"`), "selection.margin: must be a finite number, got NaN", "it is no share"},
		{"no assert", check(`kind = "Message"`), "checks[0].assert: is required here", "nothing else is looked at"},
		{"blank", check("assert = \"include_item_with_kind\"\nkind = \" \""), "checks[0].kind: must not be blank", "no item has such a kind"},
		{"argument of another", check("assert = \"include_item_with_kind\"\nkind = \"A\"\nn = 1"), "checks[0].n: is unknown; want one of assert, why, kind", "it would not be looked at"},
		{"no argument", check(`assert = "include_exactly_n_items_with_kind"`), "2 problems\n\tchecks[0].kind: is required here\n\tchecks[0].n: is required here", "there is no default"},
		{"negative", check("assert = \"include_exactly_n_items_with_kind\"\nkind = \"A\"\nn = -1"), "checks[0].n: must be at least 0, got -1", "it would never hold"},
		{"always", check("assert = \"have_at_least_n_exclusions\"\nn = 0"), "checks[0].n: must be at least 1, got 0: it would always hold", "nothing could fail"},
		{"always covered", check("assert = \"have_kind_coverage_count\"\nn = 0"), "checks[0].n: must be at least 1, got 0: it would always hold", "nothing could fail"},
		{"always at edges", check("assert = \"place_top_n_scored_at_edges\"\nn = 0"), "checks[0].n: must be at least 1, got 0: it would always hold", "nothing could fail"},
		{"always used", check("assert = \"have_budget_utilization_above\"\nthreshold = 0"), "checks[0].threshold: must be above 0, got 0: it would always hold", "nothing could fail"},
		{"one run", check("assert = \"deterministic\"\nruns = 1"), "checks[0].runs: must be at least 2, got 1: it takes two to compare", "nothing could fail"},
		{"too many runs", check("assert = \"deterministic\"\nruns = 1_000_000_000"), "checks[0].runs: must be at most 1000, got 1000000000", "somebody waits for it"},
		{"empty content", check("assert = \"include_item_matching\"\nitem = { content_prefix = \"\" }"), "checks[0].item.content_prefix: must not be empty", "every content begins so"},
		{"content of another type", check("assert = \"include_item_matching\"\nitem = { content = 1 }"), "checks[0].item.content: must be text, got an integer", "contents are text"},
		{"empty among contents", check("assert = \"include_in_order\"\ncontents = [\"a\", \"\"]"), "checks[0].contents[1]: must not be empty: every item has content", "it could never hold"},
		{"no contents", check("assert = \"include_in_order\"\ncontents = []"), "checks[0].contents: must not be empty: nothing could fail", "nothing could fail"},
		{"contents of another type", check("assert = \"include_in_order\"\ncontents = [\"a\", 1]"), "checks[0].contents[1]: must be text, got an integer", "contents are text"},
		{"one content", check("assert = \"include_in_order\"\ncontents = \"a\""), "checks[0].contents: must be a list of texts, got text", "a list of one is a list"},
		{"empty predicate", check("assert = \"place_item_at_edge\"\nitem = {}"), "checks[0].item: must not be empty; known names are " + items + ", reason, min_score, max_score", "every item would match"},
		{"no predicate", check("assert = \"place_item_at_edge\"\nitem = \"a\""), "checks[0].item: must be a table, got text", "what of the item is a?"},
		{"score of an item", check("assert = \"exclude_item_matching_with_reason\"\nreason = \"Filtered\"\nitem = { min_score = 1 }"),
			"checks[0].item.min_score: is unknown; want one of " + items, "here the predicate is about the item alone (R43)"},
		{"inclusion reason", check("assert = \"include_item_matching\"\nitem = { reason = \"BudgetExceeded\" }"),
			`checks[0].item.reason: "BudgetExceeded" is unknown; want one of Scored, Pinned, ZeroToken`, "nothing is included for that"},
		{"exclusion reason", check("assert = \"exclude_item_with_reason\"\nreason = \"Scored\""), `checks[0].reason: "Scored" is unknown; want one of ` + reasons, "nothing is excluded for that"},
		{"pinned", check("assert = \"include_item_matching\"\nitem = { pinned = 1 }"), "checks[0].item.pinned: must be a boolean, got an integer", "yes or no"},
		{"glob", check("assert = \"include_item_matching\"\nitem = { content_glob = \"[\" }"), "checks[0].item.content_glob: the pattern ends too early", "the words of the patterns"},
		{"metadata", check("assert = \"include_item_matching\"\nitem = { metadata = { a = [] } }"), "checks[0].item.metadata.a: must be text, a number or a boolean, got a list", "lists are not compared"},
		{"no metadata", check("assert = \"include_item_matching\"\nitem = { metadata = {} }"), "checks[0].item.metadata: must name at least one key", "every item would match"},
		{"no data", check("assert = \"exclude_item_with_reason_data\"\nreason = \"Filtered\""), "checks[0].data: is required here", "without data the assertion is another"},
		{"data", check("assert = \"exclude_item_with_reason_data\"\nreason = \"CountCapExceeded\"\ndata = { kind = 1, cap = 1.5, kinds = 1 }"),
			"4 problems\n\tchecks[0].data.kind: must be text, got an integer\n\tchecks[0].data.cap: must be an integer, got a number\n\tchecks[0].data.count: is required here\n\tchecks[0].data.kinds: is unknown; want one of kind, cap, count", "the data of the reason"},
		{"unknown at the top", "check = 1\n" + check(`assert = "have_no_exclusions"`), "check: is unknown; want one of selection, checks", "the check would never run"},
		{"date", check("assert = \"have_tokens_at_most\"\nn = 2025-01-01"), "checks[0].n: must be an integer, got a date or time", "every type has a name"},
		{"no TOML", "a = 1\na = 2", "is not TOML: toml: line 2 (last key \"a\"): Key 'a' has already been defined.", "the library says where"},
		{"deep", "a = " + strings.Repeat("[", 600_000), "is nested more than 500 deep", "the library calls itself"},
		{"deep behind a text", "a = [\"\"\"\n\"\"\", " + strings.Repeat("[", 600_000), "is nested more than 500 deep", "a text of several lines hides nothing that follows"},
		{"long key", "a" + strings.Repeat(".a", 600) + " = 1", "is nested more than 500 deep", "the library takes the square of it"},
		{"long name", "[" + strings.Repeat("a", 500_000) + "]\n" + strings.Repeat("b = 1\n", 80_000), "has keys whose paths have more than 4194304 bytes together", "the library writes it out for each key"},
		{"unknown long name", strings.Repeat("a", 100_000) + " = 1\n" + check(`assert = "have_no_exclusions"`), "[\"" + strings.Repeat("a", 60) + "…\"]: is unknown; want one of selection, checks", "an error is to be read"},
		{"long", strings.Repeat("#", assertions.MaxBytes+1), "is longer than 1048576 bytes", "no file of checks is"},
	} {
		_, err := assertions.Decode([]byte(row.file), plain)
		if wrong, ok := errors.AsType[*assertions.FileError](err); !ok || wrong.Error() != row.want {
			t.Errorf("%s: got\n\t%v\nwant\n\t%s\nsince %s", row.name, err, row.want, row.why)
		}
	}
}

// TestQuotes: brackets and dots within quotes and comments are no nesting.
func TestQuotes(t *testing.T) {
	many := strings.Repeat("[.", 600)
	for _, quoted := range []string{`"` + many + `"`, `'` + many + `'`, `"\"` + many + `"`, `"""` + "\n\n" + many + `"""`} {
		file, err := assertions.Decode([]byte("# "+many+"\n[[checks]]\nassert = \"include_in_order\"\ncontents = ["+quoted+"]"), plain)
		if err != nil || !strings.HasSuffix(file.Checks[0].Text, `…"]`) {
			t.Errorf("%.20s: got %v, %v; want a check whose text is cut", quoted, file, err)
		}
	}
}

// FuzzDecode: for any file, there is an error with at least one problem,
// or something that can fail.
func FuzzDecode(f *testing.F) {
	f.Add("[selection]\nbudget = 3\n[[checks]]\nassert = \"include_item_matching\"\nitem = { kind = \"A\", metadata = { a = 1 } }")
	f.Add("[[checks]]\nassert = \"exclude_item_with_reason_data\"\nreason = \"ScoredTooLow\"\ndata = { score = 1, threshold = 2 }")
	f.Add("[selection]\nerror = \"Scarcity\"")
	f.Add("checks = [{ assert = \"have_no_exclusions\", why = \"\" }, 3]")
	f.Fuzz(func(t *testing.T, text string) {
		file, err := assertions.Decode([]byte(text), plain)
		if err != nil {
			if wrong, ok := errors.AsType[*assertions.FileError](err); !ok || len(wrong.Problems) == 0 || wrong.Error() == "" {
				t.Fatalf("got %v (%T)", err, err)
			}
			return
		}
		if len(file.Checks) == 0 && file.Selection.Error == "" {
			t.Fatal("nothing can fail")
		}
		for _, c := range file.Checks {
			if c.Name == "" || c.Path == "" || !strings.HasPrefix(c.Text, c.Name) {
				t.Fatalf("got %+v", c)
			}
		}
	})
}
