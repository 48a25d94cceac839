package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/wollax/cupel-go/cupel/policy"
	"github.com/wollax/cupel-go/cupel/strategy"
)

// fed runs a command with something on standard input.
func fed(t *testing.T, stdin string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	code = Main(t.Context(), args, Environment{
		Stdin: strings.NewReader(stdin), Stdout: &out, Stderr: &errs,
		Getenv: func(string) string { return "" },
		Clock:  func() time.Time { return time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC) },
	})
	return code, out.String(), errs.String()
}

// misuse is a command line that a command refuses, with the end of what it says.
type misuse struct {
	name string
	args []string
	want string
	why  string
}

func (m misuse) check(t *testing.T, command string) {
	t.Helper()
	code, stdout, stderr := fed(t, "", append([]string{command}, m.args...)...)
	if code != exitUsage || stdout != "" || !strings.HasPrefix(stderr, "cupel: ") || !strings.HasSuffix(stderr, m.want+"\n") {
		t.Errorf("%s: got %d, %q, %q; want an end of %q: %s", m.name, code, stdout, stderr, m.want, m.why)
	}
}

// folder makes a folder of files, and goes there.
func folder(t *testing.T, files map[string]string) {
	t.Helper()
	dir := t.TempDir()
	t.Chdir(dir)
	for name, content := range files {
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// questions has three turns; the latest is about something else, and
// policies that know relevance.
func questions(t *testing.T) {
	t.Helper()
	folder(t, map[string]string{
		"items.json": `[
			{"content": "The oven broke.", "tokens": 10, "timestamp": "2026-01-01T10:00:00Z"},
			{"content": "The kettle is fine.", "tokens": 10, "timestamp": "2026-01-02T10:00:00Z"},
			{"content": "Good night!", "tokens": 10, "timestamp": "2026-01-03T10:00:00Z"}]`,
		"asks.json":  `{"scorers": [{"type": "relevance", "weight": 1, "settings": {"query": "kettle", "language": "none"}}], "slicer": {"type": "scoreGreedy"}, "placer": {"type": "chronological"}}`,
		"open.toml":  "scorers = [{ type = \"relevance\", weight = 1 }]\nslicer = { type = \"greedy\" }\nplacer = { type = \"chronological\" }",
		"wrong.json": `{"scorers": [{"type": "relevance", "weight": 1, "settings": {"query": "x", "language": "klingon", "fields": ["body"], "groups": [""], "names": ["a", "a"], "gap": "soon", "querry": ""}}], "slicer": {"type": "greedy"}, "placer": {"type": "chronological"}}`,
		"child.json": `{"scorers": [{"type": "relevance", "weight": 1, "settings": {"query": "x"}, "children": [{"type": "recency"}]}], "slicer": {"type": "greedy"}, "placer": {"type": "chronological"}}`,
		"q.txt":      "\n  which oven?  \n",
		"blank.txt":  " \n",
		"long.txt":   strings.Repeat("oven ", maxQueryBytes/5+1),
	})
}

func TestQuery(t *testing.T) {
	for _, row := range []struct {
		name  string
		args  []string
		stdin string
		want  string
		why   string
	}{
		{name: "no question", args: []string{"-p", "chat"}, want: "Good night!\n", why: "the preset goes by recency"},
		{name: "added", args: []string{"-p", "chat", "-q", "ovens"}, want: "The oven broke.\n", why: "relevance counts many times as much"},
		{name: "the policy", args: []string{"-p", "relevance", "-q", "ovens"}, want: "The oven broke.\n", why: "nothing but relevance"},
		{name: "by another case", args: []string{"-p", "Relevance", "-q", "ovens"}, want: "The oven broke.\n", why: "intents have no case"},
		{name: "from a file", args: []string{"-p", "relevance", "--query-file", "q.txt"}, want: "The oven broke.\n", why: "space around it does not count"},
		{name: "from standard input", args: []string{"-p", "relevance", "--query-file", "-"}, stdin: "kettles", want: "The kettle is fine.\n", why: "as for all files"},
		{name: "in the settings", args: []string{"-p", "asks.json"}, want: "The kettle is fine.\n", why: "the file asks itself"},
		{name: "before the settings", args: []string{"-p", "asks.json", "-q", "oven"}, want: "The oven broke.\n", why: "who asks now wins"},
		{name: "with the language of the settings", args: []string{"-p", "asks.json", "-q", "kettles"}, want: "The oven broke.\n",
			why: "without stems nothing is relevant, and of equals the first is taken"},
		{name: "open", args: []string{"-p", "open.toml", "-q", "kettles"}, want: "The kettle is fine.\n", why: "the file leaves it to the flag"},
	} {
		t.Run(row.name, func(t *testing.T) {
			questions(t)
			code, stdout, stderr := fed(t, row.stdin, append([]string{"run", "-i", "items.json", "-b", "10"}, row.args...)...)
			if code != exitOK || stdout != row.want || stderr != "" {
				t.Errorf("got %d, %q, %q; want %q: %s", code, stdout, stderr, row.want, row.why)
			}
		})
	}
}

func TestQueryMistakes(t *testing.T) {
	for _, row := range []struct {
		name string
		args []string
		want string
		why  string
	}{
		{"none", []string{"-p", "relevance"},
			"cupel: relevance: invalid policy: scorers[0].settings.query: no question is given; give --query or --query-file, or set one here\n", "it has nothing to look for"},
		{"none for a file", []string{"-p", "open.toml"},
			"cupel: open.toml: invalid policy: scorers[0].settings.query: no question is given; give --query or --query-file, or set one here\n", "the same"},
		{"empty", []string{"-p", "chat", "-q", ""}, "cupel: --query: the question is blank\n", "a variable of the shell was not set"},
		{"blank file", []string{"-p", "chat", "--query-file", "blank.txt"}, "cupel: blank.txt: the question is blank\n", "there is no question"},
		{"long file", []string{"-p", "chat", "--query-file", "long.txt"}, "cupel: long.txt: a question may have at most 1048576 bytes\n", "no question"},
		{"no file", []string{"-p", "chat", "--query-file", "none.txt"}, "cupel: open none.txt: no such file or directory\n", "it is not there"},
		{"both", []string{"-p", "chat", "-q", "a", "--query-file", "q.txt"},
			"cupel: if any flags in the group [query query-file] are set none of the others can be; [query query-file] were all set\n", "which one?"},
		{"two from standard input", []string{"-p", "chat", "-i", "-", "--query-file", "-"}, "cupel: standard input can be read once: give a file for the other input\n", "each would read a part of it"},
		{"children", []string{"-p", "child.json"}, "cupel: child.json: invalid policy: scorers[0].children: is unknown; want one of type, weight, settings\n", "it is no wrapper"},
		{"settings", []string{"-p", "wrong.json"}, "cupel: wrong.json: invalid policy: 6 problems\n" +
			"  scorers[0].settings.fields[0]: field must be content, tags or metadata:KEY, got \"body\"\n" +
			"  scorers[0].settings.gap: must be a duration such as \"90s\", \"1h30m\" or \"24h\", of at most 292 years, got \"soon\"\n" +
			"  scorers[0].settings.groups[0]: metadata key must not be empty\n" +
			"  scorers[0].settings.language: \"klingon\" is unknown; want one of none, english, french, hungarian, norwegian, russian, spanish, swedish\n" +
			"  scorers[0].settings.names[1]: metadata key is given twice, got \"a\"\n" +
			"  scorers[0].settings.querry: is unknown; want one of query, language, fields, groups, names, gap\n", "no mistake hides another"},
	} {
		t.Run(row.name, func(t *testing.T) {
			questions(t)
			code, stdout, stderr := fed(t, "oven", append([]string{"run", "-i", "items.json", "-b", "10"}, row.args...)...)
			if code != exitUsage || stdout != "" || stderr != row.want {
				t.Errorf("got %d, %q,\n\t%swant\n\t%s: %s", code, stdout, stderr, row.want, row.why)
			}
		})
	}
}

// TestRelevanceSettings: every wrong value is reported, at its path.
func TestRelevanceSettings(t *testing.T) {
	q := &question{text: "oven", given: true, indexes: new(indexes)}
	_, err := policy.Decode(q.registry(), []byte(`{
		"scorers": [{"type": "relevance", "weight": 1, "settings": {"language": "klingon", "fields": ["body"], "groups": [""], "names": ["a", "a"], "gap": "soon"}}],
		"slicer": {"type": "greedy"}, "placer": {"type": "chronological"}}`))
	const want = `cupel: invalid policy: 5 problems
	scorers[0].settings.fields[0]: field must be content, tags or metadata:KEY, got "body"
	scorers[0].settings.gap: must be a duration such as "90s", "1h30m" or "24h", of at most 292 years, got "soon"
	scorers[0].settings.groups[0]: metadata key must not be empty
	scorers[0].settings.language: "klingon" is unknown; want one of none, english, french, hungarian, norwegian, russian, spanish, swedish
	scorers[0].settings.names[1]: metadata key is given twice, got "a"`
	if err == nil || err.Error() != want {
		t.Errorf("got\n%v\nwant\n%s", err, want)
	}
	_, err = policy.Decode(q.registry(), []byte(`{
		"scorers": [{"type": "relevance", "weight": 1, "settings": {"language": "french", "fields": ["content", "metadata:title"], "groups": [], "names": ["who"], "gap": "90m"}}],
		"slicer": {"type": "greedy"}, "placer": {"type": "chronological"}}`))
	if err != nil {
		t.Error(err)
	}
}

// TestIndexes: equal settings share an index for all questions.
func TestIndexes(t *testing.T) {
	x := new(indexes)
	index := func(given map[string]any) any {
		got, err := x.index(strategy.Args{Given: given})
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	first := index(map[string]any{"query": "a"})
	if index(map[string]any{"query": "b"}) != first {
		t.Error("another question has another index")
	}
	if index(map[string]any{"groups": []string(nil)}) == first {
		t.Error("other settings have the same index")
	}
}

// TestAsk: a policy without relevance gets 32 times as much of it as of all
// others, and takes the highest score first; another is left as it is.
func TestAsk(t *testing.T) {
	added := policy.Strategy{Type: relevance}
	p := policy.Policy{
		Scorers: []policy.Weighted{{Scorer: policy.Strategy{Type: "recency"}, Weight: 3}, {Scorer: policy.Strategy{Type: "scaled", Settings: policy.Settings{"inner": policy.Strategy{Type: "kind"}}}, Weight: 1.5}},
		Slicer:  policy.Strategy{Type: "quota", Settings: policy.Settings{"inner": policy.Strategy{Type: "countQuota", Settings: policy.Settings{"inner": policy.Strategy{Type: "knapsack"}}}}},
		Placer:  policy.Strategy{Type: "uShaped"},
	}
	before := len(p.Scorers)
	got := ask(p)
	want := p
	want.Scorers = []policy.Weighted{p.Scorers[0], p.Scorers[1], {Scorer: added, Weight: 144}}
	want.Slicer = policy.Strategy{Type: "quota", Settings: policy.Settings{"inner": policy.Strategy{Type: "countQuota", Settings: policy.Settings{"inner": policy.Strategy{Type: "scoreGreedy"}}}}}
	if !reflect.DeepEqual(got, want) || len(p.Scorers) != before {
		t.Errorf("got %+v, want %+v", got, want)
	}
	for name, s := range map[string]policy.Strategy{
		"scoreGreedy": {Type: "scoreGreedy"},
		"custom":      {Type: "mine"},
		"counts":      {Type: "countConstrainedKnapsack"},
	} {
		p.Slicer = s
		if got := ask(p).Slicer; !reflect.DeepEqual(got, s) {
			t.Errorf("%s became %+v", name, got)
		}
	}
	for name, s := range map[string]policy.Strategy{
		"plain":     added,
		"scaled":    {Type: "scaled", Settings: policy.Settings{"inner": added}},
		"composite": {Type: "composite", Settings: policy.Settings{"scorers": []policy.Weighted{{Scorer: policy.Strategy{Type: "recency"}, Weight: 1}, {Scorer: added, Weight: 1}}}},
	} {
		p := policy.Policy{Scorers: []policy.Weighted{{Scorer: policy.Strategy{Type: "recency"}, Weight: 1}, {Scorer: s, Weight: 1}}, Slicer: policy.Strategy{Type: "greedy"}, Placer: policy.Strategy{Type: "uShaped"}}
		if got := ask(p); !reflect.DeepEqual(got, p) {
			t.Errorf("%s: got %+v, want the policy as it was", name, got)
		}
	}
	// Weights that cannot be added up to 32 times as much keep their shares.
	heavy := policy.Policy{
		Scorers: []policy.Weighted{{Scorer: policy.Strategy{Type: "recency"}, Weight: 0x1p1023}, {Scorer: policy.Strategy{Type: "priority"}, Weight: 0x1p1020}},
		Slicer:  policy.Strategy{Type: "greedy"}, Placer: policy.Strategy{Type: "uShaped"},
	}
	q := &question{text: "oven", given: true, indexes: new(indexes)}
	asked := ask(heavy)
	if got := asked.Scorers; got[0].Weight != 0x1p1017 || got[1].Weight != 0x1p1014 || got[2].Weight != 32*(0x1p1017+0x1p1014) || heavy.Scorers[0].Weight != 0x1p1023 {
		t.Errorf("got the weights %v, %v and %v; want a 64th of each, and 32 times their sum", got[0].Weight, got[1].Weight, got[2].Weight)
	}
	if _, err := asked.Pipeline(policy.Environment{Registry: q.registry()}); err != nil {
		t.Error(err)
	}
}
