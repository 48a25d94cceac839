package cli

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/wollax/cupel-go/cmd/cupel/internal/terminal"
	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupelchat"
)

// newRun returns the command that selects.
func newRun(env *Environment) *cobra.Command {
	var (
		flags   selectionFlags
		printer windowPrinter
		force   bool
		session string
		cache   string
	)
	command := &cobra.Command{
		Use:   "run",
		Short: "Choose the window and print it",
		Long: `Choose the window and print it.

Candidates are items in JSON or JSON Lines; a chat transcript for the OpenAI or
Anthropic API (a list of messages, or a whole request); or a folder, whose files
are split into declarations, sections and paragraphs. With --as transcript the
window is printed as a transcript for the same API: tool calls stay with their
results, messages keep their order, and everything else is unchanged.

With --session, what was sent before is sent again as long as it fits, so that the
provider's prompt cache finds it: FILE keeps the state from turn to turn. Use one
file for one conversation.

Notes on standard error say what was estimated, dropped or restored.`,
		Example: `  cupel run --items chat.json --policy chat --budget 8k --reserve 1k
  cupel run -i request.json -p agent -b 50% --as transcript --session state.json
  cupel run -i . -p relevance -b 4000 -q "Where are prices rounded?"
  cat items.jsonl | cupel run -i - -p rag -b 4000 --as json | jq length`,
		Args: takes(0, 0),
		RunE: func(command *cobra.Command, _ []string) (failed error) {
			if err := printer.check(); err != nil {
				return err
			}
			if command.Flags().Changed("cache") && session == "" {
				return usagef("--cache is for a --session")
			}
			if session != "" && sameFile(session, printer.output) {
				return usagef("--session and --output are the same file: %s", session)
			}
			s, err := flags.read(env, command)
			if err != nil {
				return err
			}
			if printer.as == "transcript" && s.Conversation == nil {
				return usagef("%s: --as transcript requires a transcript as input, and these are items (%s); use --as json", flags.source(), s.Format)
			}
			var window *chosen
			if session == "" {
				window, err = s.once(command.Context())
			} else {
				var file *sessionFile
				if file, err = s.openSession(session, cache); err != nil {
					return err
				}
				defer func() { failed = errors.Join(failed, file.close()) }()
				window, err = s.inSession(command.Context(), env, file)
			}
			if err != nil {
				return err
			}
			text, err := printer.text(env, s, window)
			if err != nil {
				return err
			}
			err = writeOutput(env, printer.output, force, func(w io.Writer) error {
				_, err := w.Write(text)
				return err
			})
			if err != nil || window.sent == nil {
				return err
			}
			return window.sent()
		},
	}
	flags.register(command)
	command.Flags().StringVar(&printer.as, "as", "text", "`form` of the output: text, json or transcript")
	command.Flags().BoolVar(&printer.headers, "headers", false, "print a line above each item; with --as text: position, kind, tokens, group, and role and tool of a message")
	command.Flags().StringVarP(&printer.output, "output", "o", "-", "`file` to write, or - for standard output")
	command.Flags().BoolVar(&force, "force", false, "overwrite the --output file")
	command.Flags().BoolVar(&printer.checkFormat, "check-format", false, "fail if the API would refuse the window; with --as transcript")
	command.Flags().StringVar(&session, "session", "", "`file` that keeps the window from turn to turn")
	cacheFlag(command, &cache, "with --session, the cache of this `provider` (default: that of the transcript's API)")
	complete(command, "as", "text", "json", "transcript")
	return command
}

// run chooses the window: of a conversation with what the API requires.
func (s *selection) run(ctx context.Context) (*cupelchat.Window, error) {
	if s.Conversation != nil {
		if s.preset != nil {
			return s.Conversation.Select(ctx, s.preset, s.budget)
		}
		return s.Conversation.Select(ctx, s.pipeline, s.budget)
	}
	items, report, err := s.pipeline.RunReport(ctx, s.items, s.budget)
	return &cupelchat.Window{Items: items, Report: report}, err
}

// windowPrinter prints a window.
type windowPrinter struct {
	as          string
	headers     bool
	checkFormat bool
	output      string
}

// check validates the flags before anything is read.
func (p *windowPrinter) check() error {
	if !slices.Contains([]string{"text", "json", "transcript"}, p.as) {
		return usagef("--as: %q is not one of text, json, transcript", p.as)
	}
	if p.headers && p.as != "text" {
		return usagef("--headers requires --as text")
	}
	if p.checkFormat && p.as != "transcript" {
		return usagef("--check-format requires --as transcript")
	}
	return nil
}

// text returns what is to be printed.
func (p *windowPrinter) text(env *Environment, s *selection, window *chosen) ([]byte, error) {
	// Only a terminal obeys control characters.
	safe := p.output == "-" && env.screen.Terminal
	var text bytes.Buffer
	switch p.as {
	case "transcript":
		out, notes, err := window.body()
		if err != nil {
			return nil, err
		}
		note(env.Stderr, notes)
		if p.checkFormat {
			if err := checkFormat(env, out, s.Conversation.Format()); err != nil {
				return nil, err
			}
		}
		if !bytes.HasSuffix(out, []byte("\n")) {
			out = append(slices.Clip(out), '\n')
		}
		if safe {
			// Tabs and carriage returns here separate values; strings have none.
			out = terminal.EscapeJSON(bytes.ReplaceAll(bytes.ReplaceAll(out, []byte("\r"), nil), []byte("\t"), []byte("  ")))
		}
		return out, nil
	case "json":
		err := writeJSON(&text, window.items)
		return text.Bytes(), err
	default:
		err := p.writeText(&text, window.items, safe)
		return text.Bytes(), err
	}
}

// writeText prints contents with a blank line between them.
func (p *windowPrinter) writeText(w io.Writer, window []*cupel.ContextItem, safe bool) error {
	out := bufio.NewWriter(w)
	for i, item := range window {
		if i > 0 {
			fmt.Fprintln(out)
		}
		if p.headers {
			fmt.Fprintln(out, header(i, item))
		}
		content := item.Content()
		if safe {
			content = terminal.SafeLines(content)
		}
		fmt.Fprintln(out, content)
	}
	return out.Flush()
}

// header returns the line above one item.
func header(i int, item *cupel.ContextItem) string {
	var b strings.Builder
	fmt.Fprintf(&b, "--- %d: %s, ", i+1, item.Kind())
	if full, ok := item.OriginalTokens(); ok && full > item.Tokens() { // a smaller form
		fmt.Fprintf(&b, "%d of %d tokens", item.Tokens(), full)
	} else {
		fmt.Fprintf(&b, "%d tokens", item.Tokens())
	}
	if group := item.Group(); group != "" {
		fmt.Fprintf(&b, ", group %s", group)
	}
	for _, key := range []string{"role", "tool"} {
		if value, ok := item.MetadataText(key); ok {
			fmt.Fprintf(&b, ", %s %s", key, value)
		}
	}
	index, _ := item.MetadataValue("index")
	if index, ok := index.(int); ok {
		fmt.Fprintf(&b, ", message %d", index)
	}
	return terminal.Safe(b.String())
}
