package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/wollax/cupel-go/cmd/cupel/internal/terminal"
)

// helpColumns is the width of the help on every screen.
const helpColumns = 80

// shortExamples is how many lines of examples --help shows.
const shortExamples = 2

// useHelp makes --help short enough for a screen. The help command says everything,
// as the man pages do.
func useHelp(root *cobra.Command) {
	root.SetHelpFunc(func(command *cobra.Command, _ []string) {
		topic := !command.Runnable() && !command.HasSubCommands()
		writeHelp(command.OutOrStdout(), command, topic)
	})
	root.SetHelpCommand(&cobra.Command{
		Use:   "help [COMMAND]",
		Short: "Show everything about a command",
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			var names []string
			for _, c := range commandsOf(root) {
				if len(args) == 0 {
					names = append(names, c.Name()+"\t"+c.Short)
				}
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(command *cobra.Command, args []string) error {
			of, rest, err := root.Find(args)
			if err != nil || len(rest) > 0 {
				var names []string
				for _, c := range commandsOf(root) {
					names = append(names, c.Name())
				}
				name := strings.Join(args, " ")
				return usagef("no command is named %q%s; cupel --help lists them", name, didYouMean(name, names))
			}
			of.InitDefaultHelpFlag()
			writeHelp(command.OutOrStdout(), of, true)
			return nil
		},
	})
}

// commandsOf returns the commands of a command that help lists.
func commandsOf(command *cobra.Command) []*cobra.Command {
	return slices.DeleteFunc(slices.Clone(command.Commands()), func(c *cobra.Command) bool { return c.Hidden || c.Name() == "help" })
}

// writeFlags writes those flags that have a letter or are in the examples, and the
// names of the others. If there are few flags, it writes all.
func writeFlags(b *strings.Builder, flags *pflag.FlagSet, examples string) {
	const few = 12
	var all, also []*pflag.Flag
	flags.VisitAll(func(f *pflag.Flag) { all = append(all, f) })
	for _, f := range all {
		if len(all) <= few || f.Shorthand != "" || strings.Contains(examples, "--"+f.Name+" ") {
			writeFlag(b, f)
		} else {
			also = append(also, f)
		}
	}
	column := helpColumns // so that the first name begins a line
	for _, f := range also {
		name := "--" + f.Name
		if column+1+len(name) > helpColumns {
			b.WriteString("\n     ")
			column = 5
		}
		b.WriteString(" " + name)
		column += 1 + len(name)
	}
	if len(also) > 0 {
		b.WriteString("\n")
	}
}

// writeFlag writes a flag on one line: its usage up to the first detail.
func writeFlag(b *strings.Builder, f *pflag.Flag) {
	const left = 24
	value, usage := pflag.UnquoteUsage(f)
	name := "    --" + f.Name
	if f.Shorthand != "" {
		name = "-" + f.Shorthand + ", --" + f.Name
	}
	if value != "" {
		name += " " + value
	}
	usage, _, _ = strings.Cut(usage, " (")
	usage, _, _ = strings.Cut(usage, "; ")
	fmt.Fprintf(b, "  %-*s  %s\n", left, name, terminal.Cut(usage, helpColumns-4-max(left, len(name))))
}

// writeHelp writes the help of a command: what fits on a screen, or everything.
func writeHelp(w io.Writer, command *cobra.Command, everything bool) {
	var b strings.Builder
	root := !command.HasParent()
	if (everything || root) && command.Long != "" {
		fmt.Fprintf(&b, "%s\n", strings.TrimRight(command.Long, "\n"))
	} else {
		fmt.Fprintf(&b, "%s.\n", command.Short)
	}
	if commands := commandsOf(command); len(commands) > 0 {
		fmt.Fprintf(&b, "\nUsage: %s COMMAND [flags]\n", command.CommandPath())
		for _, c := range commands {
			fmt.Fprintf(&b, "  %-10s  %s\n", c.Name(), c.Short)
		}
	} else if command.Runnable() {
		fmt.Fprintf(&b, "\nUsage: %s\n", command.UseLine())
	}
	examples := strings.Split(strings.TrimRight(command.Example, "\n"), "\n")
	if command.Example != "" {
		if !everything && !root {
			examples = examples[:min(len(examples), shortExamples)]
		}
		fmt.Fprintf(&b, "\nExamples:\n%s\n", strings.Join(examples, "\n"))
	}
	flags := command.LocalFlags()
	switch {
	case root || !flags.HasAvailableFlags():
	case everything:
		fmt.Fprintf(&b, "\nFlags:\n%s", flags.FlagUsagesWrapped(helpColumns))
	default:
		name := strings.TrimPrefix(command.CommandPath(), "cupel ")
		fmt.Fprintf(&b, "\nFlags (cupel help %s says more):\n", name)
		writeFlags(&b, flags, strings.Join(examples, " ")+" ")
	}
	_, _ = io.WriteString(w, b.String()) // into a buffer: flushing it reports the error
}
