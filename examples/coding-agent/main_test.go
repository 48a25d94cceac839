package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/wollax/cupel-go/cupel"
)

// shop is a small repository, without git.
func shop(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"README.md":        "# Shop\n\nSells tea.\n\n```\n# no heading\n```\n\n## Prices\n\nPrices are cents.\n",
		"shop.go":          "package shop\n\nimport \"fmt\"\n\n// Price is in cents.\ntype Price int\n\n// String prints euros.\nfunc (p *Price) String() string { return fmt.Sprint(*p) }\n\nvar _ fmt.Stringer = (*Price)(nil)\n",
		"shop_test.go":     "package shop\n\nconst tea = 250\n",
		"broken.go":        "package shop\n\n// Sell is not finished.\nfunc (s *Shop) Sell( {\n\n\tconst (\n",
		"wrap.go":          "package shop\n\n// Wrap is long.\nfunc Wrap() {\n" + strings.Repeat("\twork()\n", 150) + "}\n",
		"vendor/v/v.go":    "package v\n\nconst Vendored = 1\n",
		".hidden/notes.md": "# Hidden\n",
		"logo.svg":         "<svg/>",
	} {
		name = filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("GIT_CEILING_DIRECTORIES", filepath.Dir(dir))
	return dir
}

func TestCollect(t *testing.T) {
	items, skipped, err := collect(t.Context(), shop(t))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, item := range items {
		got = append(got, string(item.Kind())+" "+from(item))
	}
	want := []string{
		"Document README.md:1 Shop", "Document README.md:9 Prices",
		"Code broken.go:3 Shop.Sell", "Code shop.go:5 Price", "Test shop_test.go:3 tea",
		"Code wrap.go:3 Wrap", "Rest wrap.go:79 Wrap",
	}
	if !slices.Equal(got, want) || len(skipped) != 1 || skipped[".svg"] != 1 {
		t.Errorf("got %q, without %v, want %q", got, skipped, want)
	}
	if text := items[3].Content(); text != "shop.go:5 Price\n// Price is in cents.\ntype Price int\n\nshop.go:8 Price.String\n// String prints euros.\nfunc (p *Price) String() string { return fmt.Sprint(*p) }\n\nvar _ fmt.Stringer = (*Price)(nil)" {
		t.Errorf("two declarations are %q", text)
	}
}

func TestRun(t *testing.T) {
	page := filepath.Join(t.TempDir(), "page.html")
	var out strings.Builder
	err := run(t.Context(), []string{"-dir", shop(t), "-budget", "200", "-page", page, "How", "is", "a", "Price", "printed?"}, &out)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"Question: How is a Price printed?\n", "\nCandidates: 9, ", "Window: ", " of 150 tokens\n",
		"  Code          shop.go:5 Price\n", "Skipped files: 1 .svg\n", "Dropped: ",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the output has no %q:\n%s", want, out.String())
		}
	}
	html, err := os.ReadFile(page)
	if err != nil || !strings.Contains(string(html), "shop.go:5 Price") {
		t.Errorf("the page has %d bytes, %v", len(html), err)
	}
	for _, tt := range []struct {
		args []string
		want string
		why  string
	}{
		{nil, "ask a question", "without a question nothing is relevant"},
		{[]string{"-budget", "20", "-dir", shop(t), "Why?"}, "Pinned items require", "the question and the system prompt are in every window"},
		{[]string{"-dir", filepath.Join(t.TempDir(), "none"), "Why?"}, "none", "there is no such folder"},
	} {
		if err := run(t.Context(), tt.args, &out); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%q: %v, want %q: %s", tt.args, err, tt.want, tt.why)
		}
	}
}

// TestLog reads the history of this repository, where it is there.
func TestLog(t *testing.T) {
	root := repository(t)
	if _, err := os.Stat(filepath.Join(root, ".git")); err != nil {
		t.Skip("this is no clone: ", err)
	}
	items, err := log(t.Context(), root)
	if err != nil || len(items) == 0 {
		t.Fatalf("%d commits, %v", len(items), err)
	}
	if !strings.HasPrefix(items[0].Content(), "commit ") {
		t.Errorf("the latest commit is %q", items[0].Content())
	}
}

// repository returns the root of this repository. A module alone is not all of it.
func repository(t *testing.T) string {
	t.Helper()
	root := filepath.Join("..", "..")
	if _, err := os.Stat(filepath.Join(root, "cupel", "budget.go")); err != nil {
		t.Skip("the rest of the repository is not there: ", err)
	}
	return root
}

// asked is a question about a repository, with the declarations that hold the answer.
type asked struct {
	question string
	answers  []string // file and symbol
}

// find returns how many of the answers that the repository has are in windows of the
// 4,000 tokens that are the default, and how many it has.
func find(t *testing.T, candidates []*cupel.ContextItem, questions []asked) (found, there int) {
	t.Helper()
	is := func(answer string) func(*cupel.ContextItem) bool {
		return func(item *cupel.ContextItem) bool {
			path, _ := item.MetadataValue("path")
			symbol, _ := item.MetadataValue("symbol")
			file, name, _ := strings.Cut(answer, " ")
			symbols, _ := symbol.(string)
			return item.Kind() != kindRest && path == file && slices.Contains(strings.Fields(symbols), name)
		}
	}
	budget, err := cupel.NewContextBudget(4000, 3000, cupel.WithOutputReserve(1000))
	if err != nil {
		t.Fatal(err)
	}
	for _, q := range questions {
		pipeline, err := newPipeline(q.question)
		if err != nil {
			t.Fatal(err)
		}
		window, err := pipeline.Run(t.Context(), candidates, budget)
		if err != nil {
			t.Fatal(err)
		}
		for _, answer := range q.answers {
			switch {
			case !slices.ContainsFunc(candidates, is(answer)):
				t.Logf("%s is gone", answer)
				continue
			case slices.ContainsFunc(window, is(answer)):
				found++
			default:
				t.Logf("%s: %s is not in the window", q.question, answer)
			}
			there++
		}
	}
	t.Logf("%d of %d answers are in windows of 4,000 tokens", found, there)
	return found, there
}

// TestAnswers asks about this repository and counts how many of the declarations that
// hold the answers are in the window.
func TestAnswers(t *testing.T) {
	candidates, _, err := collect(t.Context(), repository(t))
	if err != nil {
		t.Fatal(err)
	}
	found, there := find(t, candidates, []asked{
		{"Where is a budget validated?", []string{"cupel/budget.go ContextBudget.validate", "cupel/budget.go NewContextBudget"}},
		{"How does a QuotaSlice share the budget between kinds?", []string{"cupel/slicer/quota.go Quota.distribute", "cupel/slicer/quota.go Quota.Slice", "cupel/slicer/quota.go Quota"}},
		{"How are items with the same content removed?", []string{"cupel/internal/engine/ranking.go Ranking.Deduplicate"}},
		{"What happens when the pinned items do not fit?", []string{"cupel/pipeline/errors.go PinnedExceedsBudgetError", "cupel/pipeline/run.go run.fitPinned", "cupel/pipeline/run.go checkPinned"}},
		{"Which scorer needs a clock, and how old is an item with a half-life?", []string{"cupel/scorer/decay.go Decay", "cupel/scorer/decay.go NewDecay", "cupel/scorer/decay.go Decay.Score"}},
		{"How is a report written as JSON?", []string{"cupel/json_report.go SelectionReport.MarshalJSON", "cupel/json_report.go SelectionReport.wire"}},
		{"When does RunStream stop pulling from its source?", []string{"cupel/pipeline/stream.go Pipeline.RunStream", "cupel/pipeline/stream.go stream.pull"}},
		{"How many exclusions does a span get as events?", []string{"cupelotel/events.go choose", "cupelotel/options.go WithEventLimit"}},
		{"Where do the best items stand after UShaped placed them?", []string{"cupel/placer/ushaped.go UShaped", "cupel/placer/ushaped.go UShaped.Place"}},
		{"What becomes of a strategy that panics?", []string{"cupel/errors.go PanicError", "cupel/errors.go StrategyError"}},
		{"How is the smallest budget found that an item needs to be selected?", []string{"cupel/analysis/simulate.go FindMinBudgetFor", "cupel/analysis/simulate.go FindMinBudgetForExhaustive"}},
		{"How does the token estimate treat Chinese text?", []string{"cupel/tokens_estimate.go classOf", "cupel/tokens.go HeuristicCounter"}},
	})
	if there < 24 || 7*found < 6*there {
		t.Errorf("%d of %d answers are in the windows, want six of seven of at least 24", found, there)
	}
}

// TestOtherRepositories asks about modules that other modules of this repository require.
// The questions were written before the example first answered them.
func TestOtherRepositories(t *testing.T) {
	found, there := 0, 0
	for module, questions := range map[string][]asked{
		"github.com/spf13/cobra": {
			{"Where does a command fail because a required flag is not set?", []string{"command.go Command.ValidateRequiredFlags"}},
			{"How does it find suggestions for a subcommand that was mistyped?", []string{"command.go Command.SuggestionsFor", "command.go Command.findSuggestions"}},
			{"In which order do the pre-run and post-run hooks of a command and its parents run?", []string{"command.go Command.execute"}},
			{"How are flags checked that exclude each other?", []string{"flag_groups.go Command.MarkFlagsMutuallyExclusive", "flag_groups.go validateExclusiveFlagGroups"}},
			{"How do I limit the number of positional arguments?", []string{"args.go MaximumNArgs", "args.go RangeArgs", "args.go ExactArgs"}},
			{"How do I register completions for the values of a flag?", []string{"completions.go Command.RegisterFlagCompletionFunc"}},
			{"Where is the version flag added to a command?", []string{"command.go Command.InitDefaultVersionFlag"}},
			{"Which function removes a subcommand?", []string{"command.go Command.RemoveCommand"}},
		},
		"github.com/BurntSushi/toml": {
			{"Where does the parser read a date and time?", []string{"parse.go parser.valueDatetime"}},
			{"How is an array decoded into a Go slice?", []string{"decode.go MetaData.unifySlice", "decode.go MetaData.unifySliceArray"}},
			{"Which keys of a document were not decoded?", []string{"meta.go MetaData.Undecoded"}},
			{"How is a struct written as a table?", []string{"encode.go Encoder.eStruct", "encode.go Encoder.eTable"}},
			{"When is a field left out because of omitempty?", []string{"encode.go isEmpty"}},
			{"How does an error show the line where parsing failed?", []string{"error.go ParseError.ErrorWithPosition"}},
			{"Are underscores allowed in numbers?", []string{"parse.go numUnderscoresOK"}},
			{"What happens when a key is defined twice?", []string{"parse.go parser.setValue"}},
		},
		"github.com/chromedp/chromedp": {
			{"Where is the executable of the browser found?", []string{"allocate.go findExecPath", "allocate.go execLocations"}},
			{"How does a query wait until a node is visible?", []string{"query.go NodeVisible", "query.go WaitVisible"}},
			{"How is a screenshot of the whole page taken?", []string{"screenshot.go FullScreenshot"}},
			{"How do I go back to the previous page in the history?", []string{"nav.go NavigateBack"}},
			{"How is the address of the websocket read from the output of the browser?", []string{"allocate.go readOutputTo"}},
			{"How is JavaScript evaluated, and its result turned into a Go value?", []string{"eval.go Evaluate", "eval.go parseRemoteObject"}},
			{"Which option sets a proxy?", []string{"allocate.go ProxyServer"}},
			{"How is an attribute of an element set?", []string{"query.go SetAttributeValue", "query.go SetAttributes"}},
		},
		"github.com/golang-jwt/jwt/v5": {
			{"How is an expired token rejected?", []string{"validator.go Validator.verifyExpiresAt"}},
			{"How do I allow for clocks that differ between machines?", []string{"parser_option.go WithLeeway"}},
			{"Where is the token string cut into its three parts?", []string{"parser.go splitToken"}},
			{"Which option restricts the signing algorithms that are accepted?", []string{"parser_option.go WithValidMethods"}},
			{"How is the audience of a token checked?", []string{"validator.go Validator.verifyAudience"}},
			{"How is a token signed and encoded as a string?", []string{"token.go Token.SignedString"}},
			{"How do I read an RSA private key that is protected by a password?", []string{"rsa_utils.go ParseRSAPrivateKeyFromPEMWithPassword"}},
			{"Where is the token taken from the Authorization header of a request?", []string{"request/extractor.go BearerExtractor.ExtractToken"}},
			{"When does the none algorithm refuse a token?", []string{"none.go signingMethodNone.Verify"}},
			{"How is a date in the claims written as JSON, and how precise is it?", []string{"types.go NumericDate.MarshalJSON"}},
			{"Is a single string accepted where a list of strings is expected?", []string{"types.go ClaimStrings.UnmarshalJSON"}},
			{"How can I look at a token without checking its signature?", []string{"parser.go Parser.ParseUnverified"}},
			{"How do I add a signing method of my own?", []string{"signing_method.go RegisterSigningMethod"}},
		},
		"github.com/google/go-cmp": {
			{"How do I treat floats as equal that differ a little?", []string{"cmp/cmpopts/equate.go EquateApprox"}},
			{"How are cycles of pointers detected?", []string{"cmp/path.go pointerPath.Push"}},
			{"Why does a comparison panic on unexported fields?", []string{"cmp/options.go validator.apply"}},
			{"How can an empty slice equal a nil slice?", []string{"cmp/cmpopts/equate.go EquateEmpty"}},
			{"Where is the edit script between two lists computed?", []string{"cmp/internal/diff/diff.go Difference"}},
			{"How do I ignore some fields of a struct?", []string{"cmp/cmpopts/ignore.go IgnoreFields"}},
			{"How do I compare slices if the order of their elements does not matter?", []string{"cmp/cmpopts/sort.go SortSlices"}},
			{"When is a long string shown as a diff of its lines?", []string{"cmp/report_slices.go formatOptions.CanFormatDiffSlice"}},
			{"How do I compare errors as errors.Is does?", []string{"cmp/cmpopts/equate.go EquateErrors"}},
			{"What makes sure that a function for comparing is symmetric and deterministic?", []string{"cmp/compare.go state.callTTBFunc"}},
			{"How is a transformer kept from being applied to its own output?", []string{"cmp/cmpopts/xform.go AcyclicTransformer"}},
			{"Where are the keys of a map sorted?", []string{"cmp/internal/value/sort.go SortKeys"}},
			{"How is a path written in the syntax of Go?", []string{"cmp/path.go Path.GoString"}},
		},
		"github.com/modelcontextprotocol/go-sdk": {
			{"How long does the client wait before it connects again?", []string{"mcp/streamable.go calculateReconnectDelay"}},
			{"Which characters may the name of a tool have?", []string{"mcp/tool.go validateToolName"}},
			{"How is the process of a server stopped?", []string{"mcp/cmd.go pipeRWC.Close"}},
			{"Where is a JSON schema made of the Go type of a tool's input?", []string{"mcp/server.go setSchema"}},
			{"What does the cursor of the next page contain?", []string{"mcp/server.go encodeCursor"}},
			{"How is a file outside of the roots refused?", []string{"mcp/resource.go computeURIFilepath"}},
			{"How is the other side told that a call was cancelled?", []string{"mcp/transport.go cancelCall"}},
			{"When is a log message too low in level to be sent?", []string{"mcp/logging.go LoggingHandler.Enabled"}},
			{"How is the bearer token of a request verified?", []string{"auth/auth.go verify"}},
			{"Which events are dropped when the store in memory is full?", []string{"mcp/event.go MemoryEventStore.purge"}},
			{"Where is the schema of an elicitation checked?", []string{"mcp/client.go validateElicitSchema"}},
			{"What closes a session that no longer answers pings?", []string{"mcp/shared.go startKeepalive"}},
			{"How are middlewares added that see what a client sends?", []string{"mcp/client.go Client.AddSendingMiddleware"}},
		},
	} {
		out, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", module).Output()
		dir := strings.TrimSpace(string(out))
		if err != nil || dir == "" {
			t.Skipf("NOT TESTED: %s is not there: %v", module, err)
		}
		t.Setenv("GIT_CEILING_DIRECTORIES", filepath.Dir(dir))
		candidates, _, err := collect(t.Context(), dir)
		if err != nil {
			t.Fatal(err)
		}
		t.Log(module)
		more, of := find(t, candidates, questions)
		found, there = found+more, there+of
	}
	if there < 70 || 10*found < 9*there {
		t.Errorf("%d of %d answers are in the windows, want 9 of 10 of at least 70", found, there)
	}
}
