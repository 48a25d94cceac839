package cli

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupelchat"
	agentpreset "github.com/wollax/cupel-go/cupelchat/agent"
	"github.com/wollax/cupel-go/cupelsession"
	"github.com/wollax/cupel-go/cupelsession/replay"
)

// replayFlags are the flags of newReplay.
type replayFlags struct {
	measureFlags
	shares  []float64
	session bool
	caches  []string
}

// newReplay returns the command that replays recorded conversations.
func newReplay(env *Environment) *cobra.Command {
	var flags replayFlags
	command := &cobra.Command{
		Use:   "replay",
		Short: "Replay recorded conversations of agents under a budget",
		Long: `replay chooses a window at each step of the assistant in recorded conversations, and
measures whether the window holds the values that the step used, and its cost with a
prompt cache. It needs no labels. The README explains the columns.

The data are conversations, one per line: {"id": …, "messages": […]} or requests; a list
of messages; one message per line; spans of OpenTelemetry; a session file of Claude
Code or Codex; or recordings. Files may be compressed by gzip.

A policy is one of everything, newest, clear, newest-blocks and clear-blocks, the
preset agent, another preset, or a file. NAME@0.5 is the policy in a session that
fills this share of the room when it chooses. cupel-beam measures on a cluster.`,
		Example: `  cupel replay agents.jsonl
  cupel replay agents.jsonl -p agent -p newest --share 0.15,0.25 --json
  cupel replay agents.jsonl -p agent -p mine.toml --session`,
		Args: filesBy("data"),
		RunE: func(command *cobra.Command, _ []string) error {
			return flags.run(command.Context(), env)
		},
	}
	var known []string
	for _, p := range replay.Baselines() {
		known = append(known, p.Name)
	}
	flags.register(command, "recorded", append(known, agentPolicy))
	set := command.Flags()
	set.Float64SliceVar(&flags.shares, "share", []float64{0.15, 0.25, 0.5, 0.75}, "budgets as `shares` of a conversation; separated by commas")
	set.Lookup("share").DefValue = "[0.15,0.25,0.5,0.75]" // without the zeros of pflag
	set.BoolVar(&flags.session, "session", false, fmt.Sprintf("measure each policy in a session; the baselines take @%g", replay.LowWater))
	set.StringSliceVar(&flags.caches, "cache", nil, "report the cost by the caches of these `providers` too: "+strings.Join(slices.Sorted(maps.Keys(cupelsession.Caches())), ", "))
	return command
}

func (f *replayFlags) run(ctx context.Context, env *Environment) error {
	slices.Sort(f.shares)
	f.shares = slices.Compact(f.shares)
	if err := f.check(); err != nil {
		return err
	}
	m, err := f.measure(env)
	if err != nil {
		return err
	}
	table := replay.NewTable(m.Plan())
	for s, err := range m.Samples(ctx, replay.Latest(scanned(env, f.data, f.measures, replay.Scan))) {
		if err == nil {
			err = s.Err()
		}
		if err == nil {
			err = table.Add(&s)
		}
		if err != nil {
			return measuringError[*replay.ReadError](err)
		}
	}
	if table.Conversations == 0 {
		return f.nothing("conversations")
	}
	result := table.Result()
	if result.Rows[0].Steps == 0 {
		return f.nothing("steps")
	}
	err = f.show(env, result.Text(), struct {
		Part string `json:"part"`
		*replay.Result
	}{f.part, result})
	if failures := result.Failures(); err == nil && failures != nil {
		return codedError{errors.New(strings.Join(failures, "\n")), exitSelection}
	}
	return err
}

// measure returns the measure of the policies.
func (f *replayFlags) measure(env *Environment) (*replay.Measure, error) {
	var policies []replay.Policy
	for _, name := range f.policies {
		p, err := replay.Named(name, func(base string) (replay.Policy, error) { return replayed(env, base, false) })
		if err != nil {
			return nil, err
		}
		if f.session {
			p = p.InSession(0)
		}
		policies = append(policies, p)
	}
	var models []cupelsession.CacheModel
	for _, name := range f.caches {
		model, err := cupelsession.CacheNamed(name)
		if err != nil {
			return nil, usagef("--cache: %w", err)
		}
		models = append(models, model)
	}
	return replay.NewMeasure(policies, f.shares, replay.WithWorkers(f.jobs),
		replay.WithAgainst(f.against), replay.WithCache(models...))
}

// replayed returns the policy of a preset or a file, in a session or by itself.
func replayed(env *Environment, name string, session bool) (p replay.Policy, err error) {
	c, err := new(question).chooser(env, name, cupel.HeuristicCounter{})
	if err != nil {
		return p, err
	}
	p = replay.Choosing(name, c.pipeline)
	if c.preset != nil {
		var opts []cupelchat.Option
		if c.file != nil {
			opts = append(opts, cupelchat.WithRules(c.file.Rules...))
		}
		p = replay.Choosing(name, agentpreset.New(replay.Characters{}), opts...)
	}
	if session {
		p = p.InSession(0)
	}
	return p, nil
}
