package cli

import (
	"context"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/cupel/policy"
	"github.com/wollax/cupel-go/cupelrelevance"
	"github.com/wollax/cupel-go/cupelrelevance/eval"
)

// evalFlags are the flags of newEval.
type evalFlags struct {
	measureFlags
	budgets []int
}

// newEval returns the command that measures policies.
func newEval(env *Environment) *cobra.Command {
	var flags evalFlags
	command := &cobra.Command{
		Use:   "eval",
		Short: "Measure how much labeled evidence policies select",
		Long: `eval selects items for each question of labeled conversations, by each policy and budget,
and prints the share of the evidence that is selected (recall), the share of the
selection that is evidence (precision), and the share of the budget that is used.

The data are JSON Lines, one conversation per line (shown here on several):

  {"id": "meeting-1",
   "items": [{"speaker": "Ada", "content": "Shall we start?", "session": "morning",
              "time": "2025-03-01T09:00:00Z"}],
   "questions": [{"query": "Who opened the meeting?", "evidence": [0]}]}

A policy is one of recency, lexical and relevance, a preset, or a file. Ages are
measured from the latest time in the data.`,
		Example: `  cupel eval meetings.jsonl -p chat -p mine.toml -b 500,2000
  cupel eval meetings.jsonl -p relevance -p mine.toml --against relevance
  cupel eval meetings.jsonl --part held-out --json`,
		Args: filesBy("data"),
		RunE: func(command *cobra.Command, _ []string) error {
			return flags.run(command.Context(), env)
		},
	}
	var known []string
	for _, p := range eval.Builtin() {
		known = append(known, p.Name)
	}
	flags.register(command, "labeled", known)
	command.Flags().IntSliceVarP(&flags.budgets, "budgets", "b", []int{500, 1000, 2000, 4000, 8000}, "budgets in `tokens`, separated by commas")
	return command
}

func (f *evalFlags) run(ctx context.Context, env *Environment) error {
	slices.Sort(f.budgets)
	f.budgets = slices.Compact(f.budgets)
	if err := f.check(); err != nil {
		return err
	}
	env.stdinTaken = true // the data are read twice
	clock, err := f.latest(env)
	if err != nil {
		return err
	}
	var policies []eval.Policy
	for _, name := range f.policies {
		p, err := evaluated(env, name, clock)
		if err != nil {
			return err
		}
		policies = append(policies, p)
	}
	m, err := eval.NewMeasure(policies, f.budgets, eval.WithWorkers(f.jobs), eval.WithAgainst(f.against))
	if err != nil {
		return err
	}
	table := eval.NewTable(m.Plan())
	for s, err := range m.Samples(ctx, scanned(env, f.data, f.measures, eval.Scan)) {
		if err == nil {
			err = s.Err()
		}
		if err == nil {
			err = table.Add(&s)
		}
		if err != nil {
			return measuringError[*eval.ReadError](err)
		}
	}
	if table.Questions == 0 {
		return f.nothing("questions")
	}
	result := table.Result()
	return f.show(env, result.Text(), struct {
		Part string `json:"part"`
		*eval.Result
	}{f.part, result})
}

// latest reads the data once, and returns a clock that always returns the latest
// time in the measured part.
func (f *evalFlags) latest(env *Environment) (clock func() time.Time, err error) {
	var now time.Time
	for c, err := range scanned(env, f.data, f.measures, eval.Scan) {
		if err != nil {
			return nil, measuringError[*eval.ReadError](err)
		}
		if end := latest(&c); end.After(now) {
			now = end
		}
	}
	return func() time.Time { return now }, nil
}

// latest returns the latest time in a conversation.
func latest(c *eval.Conversation) time.Time {
	var now time.Time
	for _, turn := range c.Items {
		if turn.Time.After(now) {
			now = turn.Time.Time
		}
	}
	if now.IsZero() {
		return time.Unix(int64(len(c.Items)), 0) // turns without times are one second apart
	}
	return now
}

// evaluated returns the policy that a --policy flag names.
func evaluated(env *Environment, name string, clock func() time.Time) (eval.Policy, error) {
	for _, p := range eval.Builtin() {
		if p.Name == name {
			return p, nil
		}
	}
	p, err := findPolicy(env, asking("?").registry(), name) // any question will do
	if err != nil {
		return eval.Policy{}, err
	}
	p.KeepDuplicates = true // a duplicate turn that was dropped would count as lost evidence
	return eval.Policy{Name: name, New: func(index *cupelrelevance.Index, query string) (*pipeline.Pipeline, error) {
		q := &question{text: query, given: true, index: index}
		return p.Pipeline(policy.Environment{Registry: q.registry(), Clock: clock})
	}}, nil
}
