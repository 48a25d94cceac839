package cli

import (
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/cupel/policy"
	agentpreset "github.com/wollax/cupel-go/cupelchat/agent"
	"github.com/wollax/cupel-go/cupelsession"
	"github.com/wollax/cupel-go/cupeltoml"
)

// agentPolicy is the name of the preset for conversations of agents.
const agentPolicy = "agent"

// presets returns the names of the presets, each with what it is for.
func presets() (names, descriptions []string) {
	names, descriptions = []string{agentPolicy, relevance}, []string{"The newest exchanges whole, outlines of the others.", relevancePolicy().Description}
	for intent, p := range policy.NewRegistry().All() {
		names, descriptions = append(names, intent), append(descriptions, p.Description)
	}
	return names, descriptions
}

// newPolicies returns the command that lists the presets, or writes one out.
func newPolicies(env *Environment) *cobra.Command {
	return &cobra.Command{
		Use:     "policies [NAME]",
		Short:   "List the presets that --policy names, or write one out as a file to change",
		Example: "  cupel policies\n  cupel policies agent > mine.toml\n  cupel policies rag > mine.json",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return writePreset(env, args[0])
			}
			var rows [][]any
			names, descriptions := presets()
			for i := range names {
				rows = append(rows, []any{names[i], descriptions[i]})
			}
			p := env.screen.Printer(env.Stdout)
			p.Table([]string{"", ""}, rows)
			return p.Err()
		},
	}
}

// agentExample is a policy file of the preset agent.
const agentExample = `preset = "agent"
lowWater = 0.6        # in sessions: fall to this share of the budget when it is full
clearAtLeast = 4000   # in sessions: clear at least so many tokens at once

[[rules]]             # the newest three results of this tool stay whole
tool = "read_*"
latest = 3

[[rules]]             # what has this text is left out first
text = "DEBUG"
never = true
`

// writePreset writes a preset as a policy file.
func writePreset(env *Environment, name string) error {
	if strings.EqualFold(name, agentPolicy) {
		_, err := io.WriteString(env.Stdout, agentExample)
		return err
	}
	p, err := findPolicy(env, new(question).registry(), name)
	if err != nil {
		return err
	}
	return writeJSON(env.Stdout, p)
}

func policyFlag(command *cobra.Command, policy *string) {
	command.Flags().StringVarP(policy, "policy", "p", "", "`name` of a preset or of a policy file (.json, .toml); see cupel policies")
}

// chooser is the means by which a policy chooses.
type chooser struct {
	name     string
	pipeline *pipeline.Pipeline
	preset   *agentpreset.Preset // prepares items for the pipeline, or nil
	file     *agentFile          // with rules for the preset, or nil
}

// ofMessages returns the chooser for a conversation.
func (c chooser) ofMessages() cupelsession.Chooser {
	if c.preset != nil {
		return c.preset
	}
	return c.pipeline
}

// chooser finds the policy that a flag or an argument names. A question adds relevance
// to it.
func (q *question) chooser(env *Environment, name string, counter cupel.TokenCounter) (chooser, error) {
	file, err := findAgentFile(env, name)
	if err != nil {
		return chooser{}, err
	}
	if name == agentPolicy || file != nil {
		preset := agentpreset.New(counter)
		if q.given {
			scorer, err := q.scorer()
			if err != nil {
				return chooser{}, err
			}
			preset = preset.About(scorer)
		}
		return chooser{shown(name), preset.Pipeline(), preset, file}, nil
	}
	registry := q.registry()
	p, err := findPolicy(env, registry, name)
	if err != nil {
		return chooser{}, err
	}
	if q.given {
		p = ask(p)
	}
	p.KeepDuplicates = p.KeepDuplicates || q.ofMessages
	made, err := p.Pipeline(policy.Environment{Registry: registry, Clock: env.Clock})
	if err != nil {
		return chooser{}, usagef("%s: %w", name, err)
	}
	title := p.Name
	if strings.TrimSpace(title) == "" {
		title = shown(name)
	}
	return chooser{title, made, nil, nil}, nil
}

func findPolicy(env *Environment, registry *policy.Registry, name string) (policy.Policy, error) {
	if strings.EqualFold(name, relevance) {
		return relevancePolicy(), nil
	}
	if !isPolicyFile(name) && name != "-" {
		p, err := registry.Lookup(name)
		if err != nil {
			names, _ := presets()
			return p, usagef("no policy is named %q; the presets are %s; a policy file ends in .json or .toml", name, strings.Join(names, ", "))
		}
		return p, nil
	}
	data, err := readFile(env, name, policy.MaxBytes)
	if err != nil {
		return policy.Policy{}, err
	}
	var p policy.Policy
	if strings.HasSuffix(strings.ToLower(name), ".toml") {
		p, err = cupeltoml.DecodePolicy(registry, data)
	} else {
		p, err = policy.Decode(registry, data)
	}
	if err != nil {
		return p, usagef("%s: %w", shown(name), err)
	}
	return p, nil
}
