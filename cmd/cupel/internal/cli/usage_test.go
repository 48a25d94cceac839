package cli

import (
	"maps"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// TestUsage: what a command line lacks or mixes up is named.
func TestUsage(t *testing.T) {
	files := maps.Clone(selectable)
	files["ask.json"] = `{"system": "y", "messages": [{"role": "user", "content": "x"}]}`
	files["long.json"] = `{"model": "claude-opus-4-5", "max_tokens": 200000, "messages": [{"role": "user", "content": "x"}]}`
	folder(t, files)
	const item = `[{"content":"x","tokens":5,"pinned":true}]`
	const run = "run -i - -p chat "
	refusals(t, item, []refusal{
		{"two files", run + "-b 9 items.jsonl", exitUsage, "cupel: cupel run takes one file: items.jsonl is one too many\n", "which of them?"},
		{"two arguments", "explain items.jsonl items.jsonl -b 9", exitUsage, "cupel: cupel explain takes one file: items.jsonl is one too many\n", "which of them?"},
		{"required", "run -i - -p chat", exitUsage, "give a --budget, such as -b 20k: the input names no model", "items name no model"},
		{"input twice", "run -i - -p - -b 9", exitUsage, "standard input can be read once", "the items took it"},
		{"flag", run + "-b 9 --budgt 1", exitUsage, "unknown flag: --budgt", "a slip"},
		{"as", run + "-b 9 --as xml", exitUsage, `--as: "xml" is not one of text, json, transcript`, "known forms are listed"},
		{"items as transcript", run + "-b 9 --as transcript", exitUsage, "requires a transcript as input, and these are items (json); use --as json", "items never were one"},
		{"format", run + "-b 9 --format antropic", exitUsage, `the format "antropic" is unknown; want one of auto, json, `, "known formats are listed"},
		{"encoding", run + "-b 9 --encoding o200kbase", exitUsage, `--encoding: "o200kbase" is unknown; want one of o200k_base, `, "encodings have names"},
		{"policy", "run -i - -p rga -b 9", exitUsage, `no policy is named "rga"; the presets are agent, relevance, chat, `, "presets have names too"},
		{"no file", "run -i missing.json -p chat -b 9", exitUsage, "open missing.json: ", "it is not there"},
		{"pinned", run + "-b 4", exitSelection, "Pinned items require 5 tokens, but only 4 are available\n  Give a --budget of at least 5, or pin less: remove \"pinned\" from items. cupel explain lists them.\n", "what is in the way, and what to do"},
		{"output", run + "-b 9 -o none/x", exitUsage, "cupel: open none/x: ", "there is no such folder"},
		{"budget", run + "-b 1e9", exitUsage, `"1e9" is not an amount: write 8000, 3,000, 8k, or a model such as gpt-4o`, "how budgets are written"},
		{"a budget for reports", "diff a.json b.json -b 50", exitUsage, "[items budget] are set they must all be set; missing [items]", "reports have one"},
		{"reserve", run + "-b 9 --reserve 10", exitUsage, "--reserve must be at most --budget (9), got 10", "flags are named, not fields"},
		{"reserve share", run + "-b 9 --reserve 5%", exitUsage, `"5%" is not an amount: write 8000, 3,000, 8k`, "a share of what?"},
		{"why-not", "explain -i items.jsonl -p greedy.json -b 9 --why-not zucchini", exitUsage, "--why-not: none of 7 candidates matches", "it is not there"},
		{"why-not 0", "explain -i ask.json -p chat -b 50 --why-not 0", exitUsage, "the candidates have the numbers 1 to 1, got 0", "a prompt apart has none"},
		{"rows", "explain -i items.jsonl -p agent -b 9 -n -5", exitUsage, `invalid argument "-5" for "-n, --rows" flag`, "less than none"},
		{"diff without a budget", "diff -i items.jsonl chat rag", exitUsage, "missing [budget]", "there is no default"},
		{"diff of one", "diff chat", exitUsage, "accepts 2 arg(s), received 1", "nothing to compare with"},
		{"two presets", "policies rag chat", exitUsage, "accepts at most 1 arg(s), received 2", "one is written out"},
		{"diff of the same", "diff -i items.jsonl -b 5 rag rag", exitUsage, "A and B are both rag", "nothing would differ"},
		{"policies as reports", "diff greedy.json sack.json", exitUsage, "greedy.json is not a report of cupel explain --json", "any object looks like one"},
		{"lists as reports", "diff names.json few.json", exitUsage, "names.json is not a report of cupel explain --json: invalid JSON: value must be an object, got an array", "why it is none"},
		{"a policy and a report", "diff rag greedy.json", exitUsage, "rag is not a report: give --items", "it needs candidates"},
		{"a report from standard input", "diff - greedy.json", exitUsage, "standard input", "it is read first"},
		{"diff that fails", "diff -i items.jsonl -b 5 greedy.json sack.json", exitSelection, "greedy.json: Pinned items require 10 tokens", "which of the two"},
		{"misspelt command", "explan -i items.jsonl", exitUsage, "explan is neither a command nor a file; did you mean cupel explain?", "the flag is not the mistake"},
		{"misspelt command with its flag", "explan --rows 3", exitUsage, "explan is neither a command nor a file; did you mean cupel explain?", "the flag is not the mistake"},
		{"misspelt command with arguments", "explian a b", exitUsage, "explian is neither a command nor a file; did you mean cupel explain?", "their number is not the mistake"},
		{"flag of no command", "ask.json --rows 3", exitUsage, "unknown flag: --rows", "the flag is the mistake"},
		{"flag of no command alone", "--rows 3", exitUsage, "unknown flag: --rows", "no word is misspelt"},
		{"long answer", "long.json", exitUsage, "200,000 tokens are for the answer, and the window of claude-opus-4-5 has 200,000: give a smaller --reserve", "nothing would fit"},
		{"rule", "explain -i ask.json -b 90 --rule role=usr", exitUsage, `cupel: the rule {"role":"usr"}: the role must be system, user, assistant or tool`, "with its mistake, without Go's names"},
		{"sweep from nothing", "sweep -i items.jsonl -p rag --from 0", exitUsage, `invalid argument "0" for "--from" flag: must be at least 1`, "it is not the default"},
		{"replay without steps", "replay --data ask.json", exitUsage, "no steps to measure in ask.json", "all figures would be 0"},
		{"sweep backwards", "sweep -i items.jsonl -p rag --from 9 --to 5", exitUsage, "--to: must be at least --from (9), got 5", "no budgets"},
		{"inspect without a policy", "inspect -b 25 -i items.jsonl", exitUsage, "give a question with -q, or a --policy", "items have no default"},
		{"where nowhere", "where -i items.jsonl -p greedy.json -b 100 nowhere-is-it", exitUsage, `no candidate has "nowhere-is-it"`, "a value that is not there has no fate"},
		{"where steps", "where -i items.jsonl -p greedy.json -b 100 --steps cherry", exitUsage, "are for conversations", "items have no steps"},
		{"where session", "where -i items.jsonl -p greedy.json -b 100 --session cherry", exitUsage, "are for conversations", "nor a session"},
		{"where pin", "where -i items.jsonl -p greedy.json -b 100 --pin 8 cherry", exitUsage, "--pin: there are items 1 to 7, got 8", "there is no such item"},
		{"where nothing", "where -i ask.json", exitUsage, "give a value, such as a path or a number", "nothing is asked"},
		{"where of two files", "where ask.json b.json a.go", exitUsage, "cupel where takes one file: b.json is one too many", "which of them?"},
		{"where without a budget", "where -i ask.json x", exitUsage, "give a --budget, such as -b 20k: the input names no model", "where it went depends on it"},
		{"mcp root", "mcp --root nowhere", exitUsage, "--root: ", "no such folder"},
		{"mcp sessions", "mcp --sessions nowhere", exitUsage, "--sessions: ", "no such folder"},
		{"mcp policy", "mcp -p caht", exitUsage, `no policy is named "caht"`, "at the start, not at the first call"},
		{"replay share", "replay --data items.jsonl --share 25", exitUsage, "shares must be above 0, at most 1", "a share is not a percentage"},
		{"replay low water", "replay --data items.jsonl -p agent@2", exitUsage, `cupel: policy "agent@2": the low-water mark must be above 0 and at most 1, got 2`, "more than the room"},
		{"replay against", "replay --data items.jsonl -p newest --against clear", exitUsage, "clear", "it is not measured"},
		{"replay cache", "replay --data items.jsonl --cache x", exitUsage, `--cache: "x" is unknown; want one of anthropic, `, "which there are"},
		{"eval budget", "eval --data items.jsonl --budgets 100,0", exitUsage, "budgets", "it selects nothing"},
		{"eval input", "eval --data -", exitUsage, "standard input can be read once", "the times come first"},
		{"eval part", "eval --data items.jsonl --part test", exitUsage, `--part: "test" is not one of all, tune, held-out`, "names are exact"},
		{"eval policy twice", "eval --data items.jsonl -p chat -p chat", exitUsage, "chat", "one line would be the other"},
	})
	_, err := findFacts(nil, "\n ")
	require.ErrorContains(t, err, "give a value")
	for _, command := range []string{"run", "explain", "where x", "sweep", "inspect", "eval", "replay"} {
		code, _, stderr := fed(t, "", strings.Fields(command)...)
		require.Equal(t, exitUsage, code)
		require.Contains(t, stderr, "required flag(s)", "%s: there is no file by default", command)
	}
}

func TestAmounts(t *testing.T) {
	for _, tt := range []struct {
		text string
		want int // -1 for an error
		why  string
	}{
		{"8000", 8000, "plain"},
		{" 8000 ", 8000, "with spaces"},
		{"010", 10, "zeros in front do not make a number octal"},
		{"3,000", 3000, "a group of three digits"},
		{"1_234_567", 1234567, "groups as Go has them"},
		{"8K", 8000, "thousands, not 8,192, in capitals"},
		{"16.1k", 16100, "16.1 times 1,000 is no whole number in float64"},
		{"1.50000k", 1500, "zeros at the end are no parts"},
		{"1M", 1_000_000, "millions"},
		{"gpt-4o", 128_000, "a model"},
		{"gpt-4o-2024-11-20", 128_000, "with a date"},
		{"openai/GPT-4o-mini", 128_000, "with a provider, in capitals"},
		{"us.anthropic.claude-opus-4-6-v1:0", 1_000_000, "as Bedrock spells it in a region"},
		{"anthropic/claude-haiku-5.5", 1_000_000, "as gateways spell it"},
		{"claude-haiku-4-5@20251001", 200_000, "as Vertex spells it"},
		{"claude-sonnet-4-5-latest", 200_000, "the latest of a line"},
		{"gpt-420", -1, "another number"},
		{"gpt-4o-audio", -1, "a variant that the table does not have"},
		{"3.000", -1, "three, or three thousand"},
		{"3,00", -1, "no group of three digits"},
		{",300", -1, "nothing before the separator"},
		{"1.0001k", -1, "not a whole number"},
		{"1.2.3k", -1, "two points"},
		{"k", -1, "thousands of nothing"},
		{"", -1, "empty"},
		{"0", -1, "nothing to choose in"},
		{"-5", -1, "less than nothing"},
		{"50%", -1, "a share of what?"},
		{"0x10", -1, "numbers are decimal"},
		{"99999999999999999999", -1, "more than an int holds"},
		{"999999999999999999M", -1, "nor does it, once it is multiplied"},
	} {
		tokens, err := parseBudget(tt.text)
		require.Equal(t, tt.want < 0, err != nil, "%q: %s", tt.text, tt.why)
		if err == nil {
			require.Equal(t, tt.want, tokens, "%q: %s", tt.text, tt.why)
		}
	}
}

// TestModels: a name finds itself.
func TestModels(t *testing.T) {
	for model, context := range contexts {
		require.Equal(t, model, findModel(model))
		require.Greater(t, context, 1000)
	}
}

func TestHelp(t *testing.T) {
	_, _, stderr := fed(t, "", "__complete", "ex")
	require.Contains(t, stderr, "Completion ended", "a shell shows it apart from the words")
	for _, name := range []string{"", " --help", "check --help", "diff --help", "eval --help", "explain --help", "inspect --help", "mcp --help", "policies --help", "replay --help", "run --help", "sweep --help"} {
		code, help, stderr := fed(t, "", strings.Fields(name)...)
		require.Zero(t, code, stderr)
		require.Contains(t, help, "\nExamples:\n  c", name)
		require.Contains(t, help, "cupel "+strings.TrimSuffix(name, " --help"))
		require.NotContains(t, help, "0000", "a default has the digits that it needs")
		for line := range strings.Lines(help) {
			require.LessOrEqual(t, utf8.RuneCountInString(line), 90, line)
		}
	}
}
