package cli

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"reflect"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/spf13/cobra"

	"github.com/wollax/cupel-go/cmd/cupel/internal/input"
	"github.com/wollax/cupel-go/cupel"
)

// mcpFlags are the flags of newMCP.
type mcpFlags struct {
	root, sessions string
	policy         string
	encoding       string
}

// maxRequest is the length of the longest request, which may hold a conversation.
const maxRequest = 64 << 20

// newMCP returns the command that serves the tools.
func newMCP(env *Environment) *cobra.Command {
	var flags mcpFlags
	command := &cobra.Command{
		Use:   "mcp",
		Short: "Serve the Model Context Protocol for agents",
		Long: `mcp serves tools to agents on standard input and output: pick_files, outline_file,
read_log and fit_messages for files below --root, and explain_session for sessions below
--sessions. The README describes them. Hidden files, files with keys, and links are never
read. An answer has at most 8,000 tokens, or max_tokens of a call; longer ones come in
pages.`,
		Example: `  cupel mcp
  cupel mcp --root src --sessions ~/.claude/projects`,
		Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			return flags.run(env, command)
		},
	}
	set := command.Flags()
	set.StringVar(&flags.root, "root", ".", "`folder` with the files that tools may read")
	set.StringVar(&flags.sessions, "sessions", "", "`folder` with sessions of Claude Code or Codex, for explain_session")
	set.StringVarP(&flags.policy, "policy", "p", agentPolicy, "policy for messages: a preset or a `file`")
	encodingFlag(command, &flags.encoding)
	return command
}

func (f *mcpFlags) run(env *Environment, command *cobra.Command) error {
	tools, err := f.tools(env)
	if err != nil {
		return err
	}
	defer tools.close()
	env.stdinTaken = true
	return tools.serve(command.Context(), env.Stdin, env.Stdout)
}

// mcpTools are the tools and their shared state.
type mcpTools struct {
	env            *Environment
	root, sessions *os.Root // sessions is nil without --sessions
	chooser        chooser  // from messages
	counter        cupel.TokenCounter
	list           []*mcpTool
	asked          string // the last call, without its page
	said           string // the answer to it, for other pages
}

// mcpTool is a tool, as its client sees it.
type mcpTool struct {
	Name        string             `json:"name"`
	Description string             `json:"description"`
	Inputs      *jsonschema.Schema `json:"inputSchema"`
	Annotations map[string]bool    `json:"annotations"`
	call        func(ctx context.Context, arguments json.RawMessage) *mcpResult
}

// mcpResult is the result of a call.
type mcpResult struct {
	Content []mcpText `json:"content"`
	IsError bool      `json:"isError"`
}

// mcpText is a text in a result.
type mcpText struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

// tools opens the folders and reads the policy, to fail before the first call.
func (f *mcpFlags) tools(env *Environment) (*mcpTools, error) {
	counter, err := counterNamed(f.encoding)
	if err != nil {
		return nil, err
	}
	chooser, err := new(question).chooser(env, f.policy, counter)
	if err != nil {
		return nil, err
	}
	t := &mcpTools{env: env, chooser: chooser, counter: counter}
	if t.root, err = os.OpenRoot(f.root); err != nil {
		return nil, usagef("--root: %w", err)
	}
	if f.sessions != "" {
		if t.sessions, err = os.OpenRoot(f.sessions); err != nil {
			t.close()
			return nil, usagef("--sessions: %w", err)
		}
	}
	t.addTools()
	return t, nil
}

// close closes the folders, in which nothing was written.
func (t *mcpTools) close() {
	for _, root := range []*os.Root{t.root, t.sessions} {
		if root != nil {
			_ = root.Close()
		}
	}
}

// addTools adds the tools that the folders allow.
func (t *mcpTools) addTools() {
	addTool(t, "pick_files", "Find the files of a repository that a task is about, with their best parts. Words and names of the task count.", t.pickFiles)
	addTool(t, "outline_file", "Reduce a file to a number of tokens: declarations, names, ids, paths and errors stay first.", t.outlineFile)
	addTool(t, "read_log", "Show the lines of a log or another file that answer a question, with their numbers.", t.readLog)
	addTool(t, "fit_messages", "Fit a conversation into a number of tokens. The answer is a line with a summary, and a request for the same API.", t.fitMessages)
	if t.sessions != nil {
		addTool(t, "explain_session", "Show what a window of some tokens keeps of a session, message by message, or only of messages with a text. Without a session, list the sessions.", t.explainSession)
	}
}

// addTool adds a tool that only reads. Its errors are results, with advice for the
// model.
func addTool[In interface{ page() mcpPage }](t *mcpTools, name, description string, call func(context.Context, *In) (string, error)) {
	inputs, err := jsonschema.For[In](&jsonschema.ForOptions{TypeSchemas: map[reflect.Type]*jsonschema.Schema{
		reflect.TypeFor[json.RawMessage](): {}, // anything
	}})
	must(err) // the types are those of this package
	tool := &mcpTool{Name: name, Description: description, Inputs: inputs, Annotations: map[string]bool{"readOnlyHint": true, "idempotentHint": true, "openWorldHint": false}}
	tool.call = func(ctx context.Context, arguments json.RawMessage) *mcpResult {
		in := new(In)
		err := readArguments(arguments, in)
		page := (*in).page()
		if err == nil {
			err = page.check()
		}
		asked := name + withoutPage(arguments)
		if err == nil && (page.Page < 2 || asked != t.asked) {
			t.asked = asked
			t.said, err = call(ctx, in)
		}
		text := ""
		if err == nil {
			text, err = t.paged(t.said, page)
		}
		if err != nil {
			t.asked = ""
			text = mcpNames.Replace(message(err))
			text = text[:t.fits(text, max(page.most(), leastAnswer))] // less would be useless
		}
		return &mcpResult{[]mcpText{{"text", text}}, err != nil}
	}
	t.list = append(t.list, tool)
}

// readArguments reads the arguments of a call. Unknown ones are errors that name them.
func readArguments(text json.RawMessage, in any) error {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	err := decoder.Decode(in)
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		want := map[reflect.Kind]string{reflect.Int: "a whole number", reflect.String: "a text", reflect.Struct: "an object"}[wrong.Type.Kind()]
		name := wrong.Field[strings.LastIndexByte(wrong.Field, '.')+1:]
		err = fmt.Errorf("%s must be %s, got %s", cmp.Or(name, "all together"), want, wrong.Value)
	}
	if err != nil && len(text) > 0 {
		return fmt.Errorf("the arguments cannot be read: %w", err)
	}
	return nil
}

// withoutPage returns the arguments of a call as a text that is the same for each page.
func withoutPage(arguments json.RawMessage) string {
	var given map[string]json.RawMessage
	_ = json.Unmarshal(arguments, &given) // readArguments reports the fault
	delete(given, "page")
	text, _ := json.Marshal(given) //nolint:errchkjson // it was decoded from JSON
	return string(text)
}

// mcpNames replaces the names of flags in errors with those of arguments.
var mcpNames = strings.NewReplacer(", or --no-pin, which pins the tool definitions alone", "", "Give a --budget of", "Give tokens of", "--budget", "tokens")

// readFile reads a file below a root.
func (t *mcpTools) readFile(root *os.Root, name string) (string, error) {
	text, _, err := input.ReadText(root, name, int64(t.env.mostInput(maxRequest)))
	if why, ok := errors.AsType[*os.PathError](err); ok {
		err = why.Err // the name of the call says nothing
	}
	if err != nil {
		return "", fmt.Errorf("%s: %w; give a path below the folder of the server, such as one that pick_files names", name, err)
	}
	return text, nil
}

// count returns the tokens of a text. If they cannot be counted, it returns the bytes,
// which are never fewer.
func (t *mcpTools) count(text string) int {
	tokens, err := t.counter.CountTokens(text)
	if err != nil {
		return len(text)
	}
	return tokens
}
