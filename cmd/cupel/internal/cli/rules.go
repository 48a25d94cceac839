package cli

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/BurntSushi/toml"
	"github.com/wollax/cupel-go/cmd/cupel/internal/input"
	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/policy"
	"github.com/wollax/cupel-go/cupelchat"
	"github.com/wollax/cupel-go/cupelsession"
)

// agentFile is a policy file of the preset agent. It has rules for some
// messages, and the settings of a session.
type agentFile struct {
	Preset       string           `toml:"preset"`
	Rules        []cupelchat.Rule `toml:"rules"`
	LowWater     float64          `toml:"lowWater"`
	ClearAtLeast int              `toml:"clearAtLeast"`
}

// withRules returns candidates with rules for their messages.
func withRules(candidates *input.Candidates, rules []cupelchat.Rule) (*input.Candidates, error) {
	if len(rules) == 0 {
		return candidates, nil
	}
	if candidates.Conversation == nil {
		return nil, usagef("rules are for the messages of a conversation, and these are items (%s)", candidates.Format)
	}
	c, err := candidates.Conversation.With(cupelchat.WithRules(rules...))
	if wrong, ok := errors.AsType[*cupel.InvalidConfigError](err); ok {
		return nil, usagef("the rule %s: %s", wrong.Value, wrong.Reason)
	}
	if err != nil {
		return nil, codedError{err, exitUsage}
	}
	ruled := *candidates
	ruled.Conversation, ruled.Items = c, c.Items()
	return &ruled, nil
}

// config returns the configuration of a session. A nil file has the defaults.
func (f *agentFile) config() cupelsession.Config {
	if f == nil {
		return cupelsession.Config{}
	}
	return cupelsession.Config{LowWater: f.LowWater, ClearAtLeast: f.ClearAtLeast}
}

// findAgentFile reads a policy file in TOML that names the preset agent. It returns nil for
// other files and for names of presets.
func findAgentFile(env *Environment, name string) (*agentFile, error) {
	if !strings.HasSuffix(strings.ToLower(name), ".toml") {
		return nil, nil
	}
	data, err := readFile(env, name, policy.MaxBytes)
	if err != nil {
		return nil, err
	}
	var head struct{ Preset string }
	_, _ = toml.Decode(string(data), &head) // the reader of policies reports the fault
	if head.Preset == "" {
		return nil, nil
	}
	if head.Preset != agentPolicy {
		return nil, usagef("%s: preset: want agent, got %.40q; other presets are written out: see cupel policies", shown(name), head.Preset)
	}
	var file agentFile
	if err := decodeTOML(data, &file); err != nil {
		return nil, usagef("%s: %w", shown(name), err)
	}
	return &file, nil
}

// decodeTOML reads a text. Members that the value does not have are errors.
func decodeTOML(text []byte, into any) error {
	known, err := toml.Decode(string(text), into)
	if err == nil && len(known.Undecoded()) > 0 {
		err = fmt.Errorf("%s is unknown", known.Undecoded()[0])
	}
	return err
}

// parseRules reads rules of the command line.
func parseRules(texts []string) (rules []cupelchat.Rule, err error) {
	for _, text := range texts {
		rule, err := parseRule(text)
		if err != nil {
			return nil, err
		}
		rules = append(rules, rule)
	}
	return rules, nil
}

// parseRule reads a rule of the command line: words such as tool=bash, the treatment
// of the messages, and text= with everything after it.
func parseRule(rule string) (r cupelchat.Rule, err error) {
	selecting, text, _ := strings.Cut(rule, "text=")
	r.Text = text
	for word := range strings.FieldsSeq(selecting) {
		name, value, _ := strings.Cut(word, "=")
		switch name {
		case "role":
			r.Role = value
		case "tool":
			r.Tool = value
		case "keep":
			r.Keep = true
		case "never":
			r.Never = true
		case "latest":
			r.Latest, err = strconv.Atoi(value)
		default:
			err = fmt.Errorf("%q is unknown", name)
		}
		if err != nil {
			return r, usagef("--rule %q: %w; want keep, never or latest=3, and role=, tool= or text= at the end", rule, err)
		}
	}
	return r, nil
}
