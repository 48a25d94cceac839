package cli

import (
	"strings"
	"testing"

	"github.com/wollax/cupel-go/cupel"
)

func TestNumbersOfFlags(t *testing.T) {
	const budgets = ": write 8000, 3,000, 8k, 50% (of the candidates) or a model such as gpt-4o"
	for _, tt := range []struct {
		args []string
		want string // on standard error, or "" for success
		why  string
	}{
		{[]string{"-b", "1e9"}, `--budget: "1e9" is not a number: 1 was understood, "e9" after it was not` + budgets, "what was understood is named"},
		{[]string{"-b", "NaN"}, `--budget: "NaN" is neither a number nor a model of the table` + budgets, "it is none, though a float64 may be one"},
		{[]string{"-b", "0%"}, `--budget: "0%" is not a share of the candidates above 0%` + budgets, "nothing has room in it"},
		{[]string{"-b", "NaN%"}, `--budget: "NaN%" is not a share of the candidates above 0%` + budgets, "it is no share"},
		{[]string{"-b", "gpt-4p"}, `--budget: "gpt-4p" is neither a number nor a model of the table (did you mean gpt-4o?)` + budgets, "a model that is not in the table"},
		{[]string{"-b", "99999999999999999999"}, "--budget: 99999999999999999999 is out of range" + budgets, "it is an integer"},
		{[]string{"-b", "99999999999999999k"}, "--budget: 99999999999999999k is out of range" + budgets, "it is not, once it is multiplied"},
		{[]string{"-b", "1.0001k"}, "--budget: 1.0001k is not a whole number" + budgets, "tokens have no parts"},
		{[]string{"-b", "3e3"}, `--budget: "3e3" is not a number: 3 was understood, "e3" after it was not` + budgets, "it is no slip of the model o3"},
		{[]string{"-b", "-5"}, "--budget must be at least 0, got -5", "the flag is named, not the field"},
		{[]string{"-b", "9", "--reserve", "10"}, "--reserve must be at most --budget (9), got 10", "both flags are"},
		{[]string{"-b", "9", "--reserve", "5%"}, `--reserve: "5%" is not a number: 5 was understood, "%" after it was not: write 8000, 3,000 or 8k`, "a share of what?"},
		{[]string{"-b", "9", "--margin", "ten"}, `--margin: must be a number, got "ten"`, "it need not be an integer"},
		{[]string{"-b", "9", "--reserve-kind", "Tool=x"}, `--reserve-kind: "x" is not a number: write kind=tokens, such as ToolOutput=2k`, "the number in a pair"},
		{[]string{"-b", "9", "--reserve-kind", "Tool"}, `--reserve-kind: "Tool" is not of the form kind=tokens, such as ToolOutput=2k`, "half of a pair"},
		{[]string{"-b", "9", "--headers=x"}, `--headers: must be true or false, got "x"`, "flags without a value may have one"},
		{[]string{"-b", "9", "--budgt", "1"}, "unknown flag: --budgt (did you mean --budget?)", "a slip of the finger"},
		{[]string{"-b", "9", "--encoding", "o200kbase"}, `--encoding: "o200kbase" is unknown (did you mean o200k_base?); want one of o200k_base, cl100k_base, p50k_base, r50k_base or a model of OpenAI's; ` +
			"heuristic gives an estimate for any model", "encodings have names"},
		{[]string{"-b", "9", "--encoding", "foo"}, `--encoding: "foo" is unknown; want one of o200k_base, cl100k_base, p50k_base, r50k_base or a model of OpenAI's; ` +
			"heuristic gives an estimate for any model", "o3 has none of its letters in place"},
		{[]string{"-b", "9", "--colour"}, "unknown flag: --colour", "nothing is near: run prints no colours"},
		{[]string{"-b", "9", "-p", "rga"}, `no policy is named "rga" (did you mean rag?); the presets are chat, code-review, debugging, document-qa, long-running, rag, relevance, tool-use, agent; ` +
			"a policy file ends in .json or .toml", "presets have names too"},
		{[]string{"-b", "010"}, "", "10 tokens: zeros in front do not make a number octal"},
		{[]string{"-b", "9", "--reserve-kind", "Tool=2,Memory=1"}, "", "pairs may be separated by commas"},
	} {
		code, _, stderr := ran(t, `[{"content":"ten","tokens":10}]`, append([]string{"-i", "-", "-p", "chat"}, tt.args...)...)
		if want := "cupel: " + tt.want + "\n"; tt.want != "" && stderr != want || (code == exitUsage) != (tt.want != "") {
			t.Errorf("%s: exit code %d, got %s, want %s: %s", tt.args, code, stderr, want, tt.why)
		}
	}
	if _, stdout, stderr := ran(t, `[{"content":"ten","tokens":10}]`, "-i", "-", "-p", "chat", "-b", "010"); !strings.Contains(stdout, "ten") {
		t.Errorf("a budget of 010 does not hold 10 tokens: %s%s", stdout, stderr)
	}
}

func TestRequiredFlags(t *testing.T) {
	_, _, stderr := start(t, "run", "-i", "items.jsonl", "-p", "rag")
	if want := "cupel: required flag(s) \"budget\" not set; for example: cupel run --items chat.json --policy chat --budget 8k --reserve 1k\n"; stderr != want {
		t.Errorf("got %s, want %s", stderr, want)
	}
}

func TestAmounts(t *testing.T) {
	var items []*cupel.ContextItem
	for _, tokens := range []int{100, 201, -5} {
		item, err := cupel.NewContextItem("x", tokens)
		if err != nil {
			t.Fatal(err)
		}
		items = append(items, item)
	}
	for _, tt := range []struct {
		text string
		want int // -1 for an error
		why  string
	}{
		{"8000", 8000, "plain"},
		{" 8000 ", 8000, "with spaces"},
		{"3,000", 3000, "a group of three digits"},
		{"1_234_567", 1234567, "groups as Go has them"},
		{"8k", 8000, "thousands, not 8,192"},
		{"8K", 8000, "in capitals"},
		{"1.5k", 1500, "a part of a thousand"},
		{"16.1k", 16100, "16.1 times 1,000 is no whole number in float64"},
		{"1.001k", 1001, "nor is 1.001"},
		{"1.50000k", 1500, "zeros at the end are no parts"},
		{"1M", 1_000_000, "millions"},
		{"50%", 150, "of 301 tokens, rounded down; an item that counts less than nothing counts nothing"},
		{"150%", 451, "more than all"},
		{"gpt-4o", 128_000, "a model"},
		{"gpt-4o-2024-11-20", 128_000, "with a date"},
		{"openai/GPT-4o-mini", 128_000, "with a provider, in capitals"},
		{"anthropic.claude-sonnet-4-5-20250929-v1:0", 200_000, "as Bedrock spells it"},
		{"us.anthropic.claude-opus-4-6-v1:0", 1_000_000, "in a region of Bedrock"},
		{"claude-opus-5-5", 1_000_000, "not an opus 5 with a version"},
		{"anthropic/claude-haiku-5.5", 1_000_000, "as gateways spell it"},
		{"claude-haiku-4-5@20251001", 200_000, "as Vertex spells it"},
		{"gpt-4o-audio", -1, "a variant that the table does not have"},
		{"gpt-5.9", -1, "a version that the table does not have"},
		{"3.000", -1, "three, or three thousand"},
		{"3,00", -1, "no group of three digits"},
		{",300", -1, "nothing before the separator"},
		{"3,", -1, "nothing behind it"},
		{"1.0001k", -1, "not a whole number"},
		{"1._5k", -1, "a separator among the decimals"},
		{"1.2.3k", -1, "two points"},
		{"k", -1, "thousands of nothing"},
		{".k", -1, "of nothing again"},
		{"", -1, "empty"},
		{"%", -1, "a share of nothing"},
		{"+Inf%", -1, "all that there is"},
		{"0x10", -1, "numbers are decimal"},
	} {
		a, err := parseAmount(tt.text)
		if got := a.of(items); (err != nil) != (tt.want < 0) || err == nil && got != tt.want {
			t.Errorf("%q is %d, %v, want %d: %s", tt.text, got, err, tt.want, tt.why)
		}
	}
}

// A name finds itself, and each is there once.
func TestModels(t *testing.T) {
	known := make(map[string]bool)
	for _, m := range models {
		if found, ok := findModel(m.name); !ok || found != m || known[m.name] || m.context < 1000 {
			t.Errorf("%v finds %v", m, found)
		}
		known[m.name] = true
	}
}

func TestDistance(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"", "abc", 3}, {"abc", "", 3}, {"kitten", "sitting", 3}, {"rag", "rga", 2}, {"é", "e", 1}} {
		if got := distance(tt.a, tt.b); got != tt.want || distance(tt.b, tt.a) != got {
			t.Errorf("from %q to %q are %d letters, want %d", tt.a, tt.b, got, tt.want)
		}
	}
}

func TestPolicies(t *testing.T) {
	code, stdout, stderr := start(t, "policies")
	if code != exitOK || stderr != "" {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	for _, name := range []string{"agent", "chat", "rag", "relevance"} {
		if !strings.Contains("\n"+stdout, "\n"+name+"  ") {
			t.Errorf("no %s in\n%s", name, stdout)
		}
	}
}
