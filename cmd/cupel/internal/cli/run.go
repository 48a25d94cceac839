package cli

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/wollax/cupel-go/cmd/cupel/internal/terminal"
	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupelchat"
	"github.com/wollax/cupel-go/cupelsession"
)

// runFlags are the flags of newRun.
type runFlags struct {
	selectionFlags
	outputFlags
	as             string
	checkFormat    bool
	session, cache string
	isQuick        bool // the form of the output is that of the input
	silent         bool // nothing is printed
}

// newRun returns the command that selects.
func newRun(env *Environment) (*cobra.Command, *runFlags) {
	flags := new(runFlags)
	command := &cobra.Command{
		Use:   "run",
		Short: "Choose the window and print it",
		Long: `Candidates are items in JSON or JSON Lines; a chat transcript for the API of a
provider; or a folder, whose files are split into declarations, sections and
paragraphs. With --as transcript the window is a transcript for the same API.

Without --policy, a conversation is chosen by agent, and anything else by its relevance
to --query. Without --budget, it is the window of the model that a request names.

With --session, what was sent before is sent again as long as it fits, so that the
provider's prompt cache finds it. Notes on standard error say what was estimated,
dropped or restored.`,
		Example: `  cupel run --items chat.json --policy chat --budget 8k --reserve 1k
  cupel run -i request.json -p agent -b 50% --as transcript --session state.json
  cupel run -i . -p relevance -b 4000 -q "Where are prices rounded?"
  cat items.jsonl | cupel run -i - -p rag -b 4000 --as json | jq length`,
		Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			return flags.run(command.Context(), env)
		},
	}
	flags.selectionFlags.register(command)
	flags.outputFlags.register(command, "-")
	requireFlags(command, "items")
	set := command.Flags()
	set.StringVar(&flags.as, "as", "text", "`form` of the output: text, json or transcript")
	set.BoolVar(&flags.checkFormat, "check-format", false, "with --as transcript, fail if the API would refuse the window")
	set.StringVar(&flags.session, "session", "", "`file` that keeps the window from turn to turn")
	set.StringVar(&flags.cache, "cache", "", "with --session, the cache of this `provider` (default: that of the transcript's API); one of "+strings.Join(cacheNames(), ", "))
	return command, flags
}

// quick chooses the window of files, whose form is that of the input. A terminal shows
// what was done alone.
func (f *runFlags) quick(command *cobra.Command, env *Environment, files []string) error {
	for _, name := range files {
		if _, err := os.Stat(name); err != nil && name != "-" {
			hint := ""
			if likely := command.SuggestionsFor(name); len(likely) > 0 {
				hint = "; did you mean cupel " + likely[0] + "?"
			}
			return usagef("%s is neither a command nor a file%s", name, hint)
		}
	}
	f.items = files
	f.isQuick = !command.Flags().Changed("as")
	f.silent = env.screen.Terminal && !command.Flags().Changed("output")
	return f.run(command.Context(), env)
}

// check validates the flags before anything is read.
func (f *runFlags) check() error {
	switch {
	case f.checkFormat && f.as != "transcript":
		return usagef("--check-format requires --as transcript")
	case f.cache != "" && f.session == "":
		return usagef("--cache is for a --session")
	case f.session != "" && f.session == f.output:
		return usagef("--session and --output are the same file: %s", f.session)
	}
	return oneOf("as", f.as, "text", "json", "transcript")
}

func (f *runFlags) run(ctx context.Context, env *Environment) error {
	if err := f.check(); err != nil {
		return err
	}
	s, err := f.read(ctx, env)
	if err != nil {
		return err
	}
	if s.Conversation == nil && (f.as == "transcript" || f.session != "") {
		return usagef("%s: --as transcript and --session require a transcript as input, and these are items (%s); use --as json", strings.Join(f.items, ", "), s.Format)
	}
	if f.session != "" {
		return f.inSession(ctx, env, s)
	}
	if f.isQuick && s.Conversation != nil && s.Conversation.Format() < cupelchat.ClaudeCode { // these are only read
		f.as = "transcript"
	}
	window, err := s.choose(ctx, s.budget, -1)
	if err != nil {
		return s.selecting(err)
	}
	env.summary = s.summary(window.Report)
	if f.silent {
		note(env, "nothing is printed on a terminal: -o FILE writes the window")
		return nil
	}
	body := func() ([]byte, []string, error) {
		text, err := window.Body()
		return text, window.Notes, err // some notes are of the body
	}
	return f.print(env, s, window.Items, body)
}

// inSession chooses the next window of a session. Its file is written once the window
// is printed.
func (f *runFlags) inSession(ctx context.Context, env *Environment, s *selection) error {
	session, err := s.openSession(env, f.session, f.cache)
	if err != nil {
		return err
	}
	text, turn, err := session.Body(ctx, s.Conversation, s.budget, cupelsession.WithModel(s.Model))
	if err != nil {
		return s.selecting(err)
	}
	body := func() ([]byte, []string, error) { return text, turn.Notes, nil }
	if err := f.print(env, s, turn.Window, body); err != nil {
		return err
	}
	if err := turn.Commit(cupelsession.Usage{}); err != nil {
		return err
	}
	env.summary = turn.String()
	return saveSession(session, f.session)
}

// print prints a window. body returns the body of a conversation, and notes on it.
func (f *runFlags) print(env *Environment, s *selection, window []*cupel.ContextItem, body func() ([]byte, []string, error)) error {
	// Only a terminal obeys control characters.
	safe := f.output == "-" && env.screen.Terminal
	var out bytes.Buffer
	switch f.as {
	case "transcript":
		text, notes, err := body()
		if err != nil {
			return err
		}
		note(env, notes...)
		if f.checkFormat {
			if err := checkFormat(env, text, s.Conversation.Format()); err != nil {
				return err
			}
		}
		if safe {
			text = terminal.EscapeJSON(bytes.ReplaceAll(text, []byte("\r"), nil)) // strings have none
		}
		fmt.Fprintf(&out, "%s\n", bytes.TrimSuffix(text, []byte("\n")))
	case "json":
		if err := writeJSON(&out, window); err != nil {
			return err
		}
	default:
		writeText(&out, window, safe)
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

// checkFormat fails if the API of a conversation would refuse a body.
func checkFormat(env *Environment, body []byte, f cupelchat.Format) error {
	violations := cupelchat.Check(body, f)
	if len(violations) == 0 {
		return nil
	}
	fmt.Fprintf(env.Stderr, "cupel: the API (%v) would refuse the window, and nothing is written:\n", f)
	for _, v := range violations {
		fmt.Fprintf(env.Stderr, "  %s\n", terminal.Safe(v.String()))
	}
	return errCheck
}
