package cli

import (
	"io"

	"github.com/spf13/cobra"

	"github.com/wollax/cupel-go/cmd/cupel/internal/terminal"
)

// newPolicies returns the command that lists the presets.
func newPolicies(env *Environment) *cobra.Command {
	return &cobra.Command{
		Use:     "policies",
		Short:   "List the presets that --policy names",
		Example: "  cupel policies",
		Args:    takes(0, 0),
		RunE: func(*cobra.Command, []string) error {
			rows := [][]terminal.Text{{terminal.Plain(agentPolicy), terminal.Plain(agentDescription)}}
			for intent, p := range new(question).registry().All() {
				rows = append(rows, []terminal.Text{terminal.Plain(intent), terminal.Plain(p.Description)})
			}
			return writeOutput(env, "-", false, func(w io.Writer) error {
				p := env.screen.Printer(w, terminal.ColourAuto)
				p.Table([]terminal.Column{{}, {Flexible: true}}, rows)
				return p.Err()
			})
		},
	}
}
