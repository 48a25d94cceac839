package cli

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/policy"
	agentpreset "github.com/wollax/cupel-go/cupelchat/agent"
	"github.com/wollax/cupel-go/cupelsession"
	"github.com/wollax/cupel-go/cupelsession/replay"
)

// replayFlags are the flags of newReplay.
type replayFlags struct {
	measureFlags
	policies []string
	shares   []float64
	session  bool
	low      float64
	encoding string
	against  string
	caches   []string
}

// caches are the models of --cache, by their names.
var caches = cupelsession.Caches()

// characters names the token counts of the measure's reference.
const characters = "characters"

// newReplay returns the command that replays recorded conversations.
func newReplay(env *Environment) *cobra.Command {
	var flags replayFlags
	command := &cobra.Command{
		Use:   "replay",
		Short: "Replay recorded conversations of agents under a budget",
		Long: `replay chooses a window at each step of the assistant in recorded conversations,
and measures whether the window holds what the recorded step used, and what it
costs with a prompt cache. It needs no labels and no model.

The data are conversations, one per line:

  {"id": "bakery", "messages": [{"role": "user", "content": "Hello!"}]}

or requests of OpenAI, Anthropic, Gemini, Bedrock or Ollama, a list of messages,
one message per line, spans of OpenTelemetry, or a session file of Claude Code or
Codex. The id is optional.

A share of 0.25 is a budget of the system prompt plus a quarter of all the rest
of the conversation. Tokens are a quarter of the characters plus 4 a message, or
counted as --encoding says.

  support   of the values that the step uses and that only earlier messages
            have, the share in the window
  grounded  of these values, the share in the window with their key or with the
            text that stood next to them
  cost      as a share of sending everything each time: 0.1 a token for the
            prefix sent before, 1.25 for the rest
  breaks    of the steps, the share that changes what was sent before
  task      of the steps, the share with the user's first message whole
  recent    of the steps, the share with the newest three units whole
  fill      of the budget, the share that is used where not everything fits

A policy is one of everything, newest (the newest messages that fit), clear (clears
old results of calls), newest-blocks and clear-blocks (the same in a session); the
preset agent; another preset; or a file. NAME@0.5 is the policy in a session
with this low-water mark, to compare several. The exit code is 3 if a policy fails
at a step, or if its window is larger than the budget or not what the API takes.

With --cache, a column for each provider has the cost with its prompt cache: at its
prices, for prefixes of its minimum length that end at one of its breakpoints, if it
has breakpoints. No time passes between steps.

After the tables come the ten conversations in which each policy misses most values,
with --against those in which it misses more than the other policy.

With --against, each policy is compared with one of them: the difference in
grounded support, and its 95 % interval over conversations like these.

With --session, a policy appends to its last window while that fits. When it
does not, it chooses a window for --low-water times the room left by the system
prompt and the newest message, so that the prompt cache is lost less often.

With --shard i/n and --output, each of n processes measures its part, goes on where
it was interrupted, and cupel merge adds up the parts.`,
		Example: `  cupel replay --data agents.jsonl
  cupel replay --data agents.jsonl -p agent -p newest --share 0.15,0.25 --json
  cupel replay --data agents.jsonl -p agent -p mine.toml --session`,
		Args: takes(0, 0),
		RunE: func(command *cobra.Command, _ []string) error {
			return flags.run(env, command)
		},
	}
	var known []string
	for _, p := range replay.Baselines() {
		known = append(known, p.Name)
	}
	known = append(known, agentPolicy)
	flags.register(command, "recorded conversations", "")
	set := command.Flags()
	set.StringArrayVarP(&flags.policies, "policy", "p", known, "`policy` to measure; may be repeated")
	set.Float64SliceVar(&flags.shares, "share", []float64{0.15, 0.25, 0.5, 0.75}, "budgets as `shares` of a conversation; separated by commas")
	set.Lookup("share").DefValue = "[0.15,0.25,0.5,0.75]" // without the zeros of pflag
	set.BoolVar(&flags.session, "session", false, "measure each policy in a session")
	set.Float64Var(&flags.low, "low-water", replay.LowWater, "the `share` of the room that a session fills when it chooses")
	set.StringVar(&flags.encoding, "encoding", characters, "count tokens with this `encoding` or model; OpenAI's, heuristic for an estimate, or characters for a quarter of them")
	set.StringVar(&flags.against, "against", "", "compare the support of each policy with this `policy`")
	set.StringSliceVar(&flags.caches, "cache", nil, "report the cost by the caches of these `providers` too: "+strings.Join(slices.Sorted(maps.Keys(caches)), ", "))
	complete(command, "cache", slices.Sorted(maps.Keys(caches))...)
	complete(command, "against", known...)
	complete(command, "encoding", append([]string{characters}, encodings...)...)
	completePolicy(command, "policy", known...)
	return command
}

func (f *replayFlags) run(env *Environment, command *cobra.Command) error {
	if err := f.check(command); err != nil {
		return err
	}
	var counter cupel.TokenCounter = replay.Characters{}
	if f.encoding != characters {
		var err error
		if counter, err = counterNamed(f.encoding); err != nil {
			return err
		}
	}
	var policies []replay.Policy
	for i, name := range f.policies {
		if slices.Contains(f.policies[:i], name) {
			return usagef("--policy: %q is given twice", name)
		}
		p, err := inSession(env, name, counter)
		if err != nil {
			return err
		}
		if f.session {
			p = p.InSession(f.low)
		}
		policies = append(policies, p)
	}
	progress := newProgress(env, "windows")
	options := []replay.Option{replay.WithCounter(counter), replay.WithWorkers(f.jobs), replay.WithProgress(progress.update), replay.WithAgainst(f.against)}
	var models []cupelsession.CacheModel
	for _, name := range f.caches {
		models = append(models, caches[name])
	}
	options = append(options, replay.WithCache(models...))
	m, err := replay.NewMeasure(policies, f.shares, options...)
	if err != nil {
		return err
	}
	h, err := f.headerOf(replayFormat, replaySettings{f.encoding, f.low, fingerprints(f.policies)}, m.Plan())
	if err != nil {
		return err
	}
	table := replay.NewTable(m.Plan())
	corpus := measuring[replay.Conversation, replay.Sample]{measureFlags: &f.measureFlags, header: h, scan: replay.Scan, measure: m.Samples, add: table.Add, err: (*replay.Sample).Err}
	err = corpus.run(command.Context(), env)
	progress.end()
	switch {
	case err != nil:
		return measuringError[*replay.ReadError](err)
	case f.count > 1:
		return nil
	}
	return f.printReplay(env, table)
}

// replaySettings are what the figures depend on beyond the plan.
type replaySettings struct {
	Encoding string            `json:"encoding"`
	LowWater float64           `json:"lowWater"`
	Policies map[string]string `json:"policies,omitempty"`
}

func (f *measureFlags) printReplay(env *Environment, table *replay.Table) error {
	if table.Conversations == 0 {
		return f.nothing("conversations", "", table.Failed)
	}
	result := table.Result()
	err := f.write(env, result, struct {
		Part string `json:"part"`
		*replay.Result
	}{f.part, result})
	if err != nil {
		return err
	}
	return failures(result)
}

// failures returns an error that says where policies failed, or nil.
func failures(result *replay.Result) error {
	var lines []string
	for _, row := range result.Rows {
		if row.Failures > 0 {
			lines = append(lines, fmt.Sprintf("%s at %g: %d of %s failed; the first is step %d of conversation %q: %s", row.Policy, row.Share, row.Failures,
				plural(row.Steps, "step"), row.First.Step, row.First.Conversation, message(errors.New(row.First.Reason))))
		}
	}
	return failedAt(lines)
}

// check validates the flags and sorts the shares.
func (f *replayFlags) check(command *cobra.Command) error {
	slices.Sort(f.shares)
	f.shares = slices.Compact(f.shares)
	for _, share := range f.shares {
		if !(share > 0 && share <= 1) {
			return usagef("--share: must be above 0 and at most 1, got %g", share)
		}
	}
	for i, name := range f.caches {
		if _, known := caches[name]; !known {
			return usagef("--cache: %.40q is unknown; want some of %s", name, strings.Join(slices.Sorted(maps.Keys(caches)), ", "))
		}
		if slices.Contains(f.caches[:i], name) {
			return usagef("--cache: %q is given twice", name)
		}
	}
	switch {
	case f.against != "" && !slices.Contains(f.policies, f.against):
		return usagef("--against: %q is not measured; add -p %s", f.against, f.against)
	case f.against != "" && len(f.policies) == 1:
		return usagef("--against: there is no other policy than %q to compare; add one with -p", f.against)
	case !(f.low > 0 && f.low <= 1):
		return usagef("--low-water: must be above 0 and at most 1, got %g", f.low)
	case command.Flags().Changed("low-water") && !f.session:
		return usagef("--low-water is for a --session")
	}
	return f.measureFlags.check()
}

// inSession returns the policy that a --policy flag names. NAME@0.5 is the policy in
// a session with this low-water mark.
func inSession(env *Environment, name string, counter cupel.TokenCounter) (replay.Policy, error) {
	base, low, err := marked(name)
	if err != nil {
		return replay.Policy{}, err
	}
	p, err := replayed(env, base, counter)
	if err != nil || low == 0 {
		return p, err
	}
	p = p.InSession(low)
	p.Name, p.Title = name, fmt.Sprintf("%s, to %g", base, low)
	return p, nil
}

// marked cuts the low-water mark of a session from the name of a policy. It is 0
// without one.
func marked(name string) (base string, low float64, err error) {
	base, mark, found := cutLast(name, "@")
	if !found {
		return name, 0, nil
	}
	if low, err = strconv.ParseFloat(mark, 64); err != nil {
		return name, 0, nil //nolint:nilerr // a file with this name
	}
	if !(low > 0 && low <= 1) {
		return name, 0, usagef("--policy: %q: the low-water mark must be above 0 and at most 1, got %g", name, low)
	}
	return base, low, nil
}

// cutLast cuts a text at the last separator.
func cutLast(s, separator string) (before, after string, found bool) {
	if i := strings.LastIndex(s, separator); i >= 0 {
		return s[:i], s[i+len(separator):], true
	}
	return s, "", false
}

// agentPolicy is the name of the preset for conversations of agents.
const agentPolicy = "agent"

// agentDescription is what lists of policies say of it.
const agentDescription = "The newest exchanges whole, outlines of the others."

// replayed returns the policy that a --policy flag names.
func replayed(env *Environment, name string, counter cupel.TokenCounter) (replay.Policy, error) {
	for _, p := range replay.Baselines() {
		if p.Name == name {
			return p, nil
		}
	}
	if name == agentPolicy {
		return replay.Choosing(name, agentpreset.New(counter)), nil
	}
	registry := new(question).registry()
	p, err := findPolicy(env, registry, name)
	if err != nil {
		return replay.Policy{}, err
	}
	pipeline, err := p.Pipeline(policy.Environment{Registry: registry, Clock: env.Clock})
	if err != nil {
		return replay.Policy{}, usagef("%s: %w", shown(name), err)
	}
	return replay.Choosing(name, pipeline), nil
}
