package cli

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// newMan returns the command that writes the man pages, from what help says.
func newMan(env *Environment) *cobra.Command {
	var force bool
	command := &cobra.Command{
		Use:   "man DIR",
		Short: "Write the man pages to a folder",
		Example: `  cupel man ~/.local/share/man/man1
  cupel man pages && man -l pages/cupel-run.1`,
		Args: takes(1, 1),
		RunE: func(command *cobra.Command, args []string) error {
			if err := os.MkdirAll(args[0], 0o755); err != nil {
				return usageError{err}
			}
			root := command.Root()
			for _, c := range append(commandsOf(root), root) {
				name := filepath.Join(args[0], manName(c)+".1")
				err := writeOutput(env, name, force, func(w io.Writer) error {
					_, err := io.WriteString(w, manPage(c))
					return err
				})
				if err != nil {
					return err
				}
			}
			return nil
		},
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return nil, cobra.ShellCompDirectiveFilterDirs
		},
	}
	command.Flags().BoolVar(&force, "force", false, "overwrite pages")
	return command
}

func manName(command *cobra.Command) string {
	return strings.ReplaceAll(command.CommandPath(), " ", "-")
}

// manPage returns the page of a command.
func manPage(command *cobra.Command) string {
	command.InitDefaultHelpFlag()
	var b strings.Builder
	name := manName(command)
	fmt.Fprintf(&b, ".TH %s 1 \"\" \"cupel %s\" \"Cupel\"\n", strings.ToUpper(name), version())
	fmt.Fprintf(&b, ".SH NAME\n%s \\- %s\n.SH SYNOPSIS\n.B %s\n", roff(name), roff(command.Short), roff(command.UseLine()))
	if command.Long != "" {
		b.WriteString(".SH DESCRIPTION\n")
		manText(&b, command.Long)
	}
	if commands := commandsOf(command); len(commands) > 0 {
		b.WriteString(".SH COMMANDS\n")
		for _, c := range commands {
			fmt.Fprintf(&b, ".TP\n.B %s\n%s\n", roff(c.Name()), roff(c.Short))
		}
	}
	if flags := command.LocalFlags(); flags.HasAvailableFlags() {
		b.WriteString(".SH OPTIONS\n")
		flags.VisitAll(func(f *pflag.Flag) {
			value, usage := pflag.UnquoteUsage(f)
			b.WriteString(".TP\n")
			if f.Shorthand != "" {
				fmt.Fprintf(&b, "\\fB%s\\fR, ", roff("-"+f.Shorthand))
			}
			fmt.Fprintf(&b, "\\fB%s\\fR", roff("--"+f.Name))
			if value != "" {
				fmt.Fprintf(&b, " \\fI%s\\fR", roff(value))
			}
			fmt.Fprintf(&b, "\n%s\n", roff(usage))
		})
	}
	if command.Example != "" {
		b.WriteString(".SH EXAMPLES\n")
		manText(&b, command.Example)
	}
	if command.HasParent() {
		fmt.Fprintf(&b, ".SH SEE ALSO\n.BR %s (1)\n", roff(manName(command.Root())))
	}
	return b.String()
}

// manText writes text whose paragraphs are filled and whose indented lines are kept.
func manText(b *strings.Builder, text string) {
	kept := false
	keep := func(now bool) {
		switch {
		case now && !kept:
			b.WriteString(".PP\n.nf\n")
		case !now && kept:
			b.WriteString(".fi\n")
		}
		kept = now
	}
	for line := range strings.SplitSeq(strings.TrimRight(text, "\n"), "\n") {
		keep(strings.HasPrefix(line, "  "))
		if line == "" {
			line = ".PP"
		} else {
			line = roff(line)
		}
		b.WriteString(line + "\n")
	}
	keep(false)
}

// roff escapes a line of text.
func roff(line string) string {
	line = strings.NewReplacer(`\`, `\e`, "-", `\-`, "'", `\(aq`, "`", `\(ga`, "^", `\(ha`, "~", `\(ti`).Replace(line)
	var b strings.Builder
	if strings.HasPrefix(line, ".") {
		b.WriteString(`\&`)
	}
	for _, r := range line {
		if r < utf8.RuneSelf {
			b.WriteRune(r)
		} else {
			fmt.Fprintf(&b, `\[u%04X]`, r)
		}
	}
	return b.String()
}
