package cli

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/wollax/cupel-go/cupel"
)

// newRun returns the command that selects.
func newRun(env *Environment) *cobra.Command {
	var (
		flags  selectionFlags
		as     string
		output string
		force  bool
	)
	command := &cobra.Command{
		Use:   "run",
		Short: "Choose the window and print it",
		Example: `  cupel run --items chat.json --policy chat --budget 8000 --reserve 1000
  cat items.jsonl | cupel run -i - -p rag -b 4000 --as json | jq length`,
		Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			s, err := flags.read(env, command)
			if err != nil {
				return err
			}
			window, err := s.pipeline.Run(command.Context(), s.Items, s.budget)
			if err != nil {
				return selecting(err)
			}
			return writeOutput(env, output, force, func(w io.Writer) error {
				return writeWindow(w, as, window)
			})
		},
	}
	flags.register(command)
	command.Flags().StringVar(&as, "as", "text", "what to print: text, json or transcript")
	command.Flags().StringVarP(&output, "output", "o", "-", "`file` to write, or - for standard output")
	command.Flags().BoolVar(&force, "force", false, "write over the file of --output")
	complete(command, "as", "text", "json", "transcript")
	return command
}

func writeWindow(w io.Writer, as string, window []*cupel.ContextItem) error {
	switch as {
	case "json":
		encoder := json.NewEncoder(w)
		encoder.SetEscapeHTML(false)
		encoder.SetIndent("", "  ")
		return encoder.Encode(window)
	case "text":
		for i, item := range window {
			if i > 0 {
				if _, err := fmt.Fprintln(w); err != nil {
					return err
				}
			}
			if _, err := fmt.Fprintln(w, item.Content()); err != nil {
				return err
			}
		}
		return nil
	default:
		return usagef("--as: %q is not one of text, json, transcript", as)
	}
}
