package cli

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wollax/cupel-go/cupel/policy"
)

// questions has three turns; the latest is about something else, and
// policies that know relevance.
func questions(t *testing.T) {
	t.Helper()
	folder(t, map[string]string{
		"items.json": `[
			{"content": "The oven broke.", "tokens": 10, "timestamp": "2026-01-01T10:00:00Z"},
			{"content": "The kettle is fine.", "tokens": 10, "timestamp": "2026-01-02T10:00:00Z"},
			{"content": "Good night!", "tokens": 10, "timestamp": "2026-01-03T10:00:00Z"}]`,
		"open.toml":  "scorers = [{ type = \"relevance\", weight = 1 }]\nslicer = { type = \"greedy\" }\nplacer = { type = \"chronological\" }",
		"child.json": `{"scorers": [{"type": "relevance", "weight": 1, "children": [{"type": "recency"}]}], "slicer": {"type": "greedy"}, "placer": {"type": "chronological"}}`,
	})
}

func TestQuery(t *testing.T) {
	for _, row := range []struct {
		name string
		args []string
		want string
		why  string
	}{
		{"no question", []string{"-p", "chat"}, "Good night!\n", "the preset goes by recency"},
		{"added", []string{"-p", "chat", "-q", "ovens"}, "The oven broke.\n", "relevance counts many times as much"},
		{"the policy", []string{"-p", "Relevance", "-q", "ovens"}, "The oven broke.\n", "nothing but relevance, in any case"},
		{"open", []string{"-p", "open.toml", "-q", "kettles"}, "The kettle is fine.\n", "the file leaves it to the flag"},
	} {
		t.Run(row.name, func(t *testing.T) {
			questions(t)
			require.Equal(t, row.want, printed(t, append([]string{"run", "-i", "items.json", "-b", "10"}, row.args...)...), row.why)
		})
	}
	questions(t)
	refusals(t, "", []refusal{
		{"none", "run -i items.json -b 10 -p open.toml", exitUsage, "open.toml: invalid policy: scorers[0]: no question is given; give --query", "it has nothing to look for"},
		{"children", "run -i items.json -b 10 -p child.json", exitUsage, "scorers[0].children: is unknown; want one of type, weight", "it is no wrapper"},
	})
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
	require.Equal(t, want, got)
	require.Len(t, p.Scorers, before)
	for _, s := range map[string]policy.Strategy{
		"scoreGreedy": {Type: "scoreGreedy"},
		"custom":      {Type: "mine"},
		"counts":      {Type: "countConstrainedKnapsack"},
	} {
		p.Slicer = s
		require.Equal(t, s, ask(p).Slicer)
	}
	for name, s := range map[string]policy.Strategy{
		"plain":     added,
		"scaled":    {Type: "scaled", Settings: policy.Settings{"inner": added}},
		"composite": {Type: "composite", Settings: policy.Settings{"scorers": []policy.Weighted{{Scorer: policy.Strategy{Type: "recency"}, Weight: 1}, {Scorer: added, Weight: 1}}}},
	} {
		p := policy.Policy{Scorers: []policy.Weighted{{Scorer: policy.Strategy{Type: "recency"}, Weight: 1}, {Scorer: s, Weight: 1}}, Slicer: policy.Strategy{Type: "greedy"}, Placer: policy.Strategy{Type: "uShaped"}}
		require.Equal(t, p, ask(p), name)
	}
}
