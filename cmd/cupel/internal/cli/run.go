package cli

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/wollax/cupel-go/cmd/cupel/internal/terminal"
	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupelchat"
)

// runFlags are the flags of newRun.
type runFlags struct {
	selectionFlags
	outputFlags
	as      string
	isQuick bool // the form of the output is that of the input
	silent  bool // nothing is printed
}

// newRun returns the command that selects, for scripts.
func newRun(env *Environment) *cobra.Command {
	flags := new(runFlags)
	command := &cobra.Command{
		Use:   "run FILE",
		Short: "Choose the window and print it as text",
		Long:  `run is cupel FILE for scripts: it prints the window on a terminal too, as text.`,
		Example: `  cupel run chat.json --policy chat --budget 8k --reserve 1k
  cat items.jsonl | cupel run - -p rag -b 4000 --as json | jq length`,
		Args: filesBy("items"),
		RunE: func(command *cobra.Command, _ []string) error {
			return flags.run(command.Context(), env)
		},
	}
	flags.register(command)
	requireFlag(command, "items")
	return command
}

func (f *runFlags) register(command *cobra.Command) {
	f.selectionFlags.register(command)
	f.outputFlags.register(command, "-")
	command.Flags().StringVar(&f.as, "as", "text", "`form` of the output: text, json or transcript")
}

// quick chooses the window of a file, and writes it in the form of the input. On a
// terminal it prints only the summary, unless a flag says where or how to print.
func (f *runFlags) quick(command *cobra.Command, env *Environment) error {
	f.isQuick = !command.Flags().Changed("as")
	f.silent = f.isQuick && env.screen.Terminal && !command.Flags().Changed("output")
	return f.run(command.Context(), env)
}

// isFile fails for a first argument that is neither a file nor a command.
func isFile(root *cobra.Command, name string) error {
	_, err := os.Stat(name)
	if err == nil || name == "-" {
		return nil
	}
	hint := ""
	if likely := root.SuggestionsFor(name); len(likely) > 0 {
		hint = "; did you mean cupel " + likely[0] + "?"
	}
	return usagef("%s is neither a command nor a file%s", name, hint)
}

func (f *runFlags) run(ctx context.Context, env *Environment) error {
	if err := oneOf("as", f.as, "text", "json", "transcript"); err != nil {
		return err
	}
	s, err := f.read(ctx, env)
	if err != nil {
		return err
	}
	if s.Conversation == nil && f.as == "transcript" {
		return usagef("%s: --as transcript requires a transcript as input, and these are items (%s); use --as json", f.items, s.Format)
	}
	if f.isQuick && s.Conversation != nil && s.Conversation.Format() < cupelchat.ClaudeCode { // these are only read
		f.as = "transcript"
	}
	window, err := s.choose(ctx, s.budget)
	if err != nil {
		return s.selecting(ctx, err)
	}
	env.summary = s.summary(window.Report)
	if f.silent {
		note(env, "nothing is printed on a terminal: -o FILE writes the window")
		return nil
	}
	return f.print(env, window)
}

// print prints a window.
func (f *runFlags) print(env *Environment, window *cupelchat.Window) error {
	// Only a terminal obeys control characters.
	safe := f.output == "-" && env.screen.Terminal
	var out bytes.Buffer
	switch f.as {
	case "transcript":
		text, err := window.Body()
		if err != nil {
			return err
		}
		note(env, window.Notes...) // some are of the body
		if safe {
			text = terminal.EscapeJSON(bytes.ReplaceAll(text, []byte("\r"), nil)) // strings have none
		}
		fmt.Fprintf(&out, "%s\n", bytes.TrimSuffix(text, []byte("\n")))
	case "json":
		if err := writeJSON(&out, window.Items); err != nil {
			return err
		}
	default:
		writeText(&out, window.Items, safe)
	}
	return f.write(env, func(w io.Writer) error {
		_, err := out.WriteTo(w)
		return err
	})
}

// writeText prints contents with a blank line between them.
func writeText(out *bytes.Buffer, window []*cupel.ContextItem, safe bool) {
	for i, item := range window {
		if i > 0 {
			out.WriteByte('\n')
		}
		content := item.Content()
		if safe {
			content = terminal.SafeLines(content)
		}
		fmt.Fprintln(out, content)
	}
}
