package cli

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/spf13/cobra"

	"github.com/wollax/cupel-go/cmd/cupel/internal/input"
	"github.com/wollax/cupel-go/internal/corpus"
)

// mcpFlags are the flags of newMCP.
type mcpFlags struct {
	root     string
	policy   string
	encoding string
}

// maxRequest is the length of the longest request, which may hold a conversation.
const maxRequest = 64 << 20

// newMCP returns the command that serves the tools.
func newMCP(env *Environment) *cobra.Command {
	var flags mcpFlags
	command := &cobra.Command{
		Use:   "mcp",
		Short: "Serve the Model Context Protocol for agents",
		Long: `mcp serves the Model Context Protocol on standard input and output, until its
input ends. Programs in any language start it and call these tools:

  select      choose a window of a conversation or of items within a budget
  outline     reduce a text to a number of tokens`,
		Example: `  cupel mcp
  cupel mcp --policy mine.toml --root transcripts`,
		Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			return flags.run(env, command)
		},
	}
	set := command.Flags()
	set.StringVar(&flags.root, "root", ".", "`folder` with the files that tools may read")
	set.StringVarP(&flags.policy, "policy", "p", agentPolicy, "policy of calls without one: a preset or a `file`")
	encodingFlag(command, &flags.encoding)
	completePolicy(command, "policy")
	return command
}

func (f *mcpFlags) run(env *Environment, command *cobra.Command) error {
	tools, err := f.tools(env)
	if err != nil {
		return err
	}
	defer func() { _ = tools.root.Close() }() // nothing was written
	env.stdinTaken = true
	err = tools.server().Run(command.Context(), stdio{env.Stdin, env.Stdout})
	if err == nil || errors.Is(err, io.EOF) {
		return command.Context().Err() // an interrupt counts also where the input ended first
	}
	return err
}

// mcpTools are the tools and what they share.
type mcpTools struct {
	mcpFlags
	env  *Environment
	root *os.Root
}

func (f *mcpFlags) tools(env *Environment) (*mcpTools, error) {
	root, err := os.OpenRoot(f.root)
	if err != nil {
		return nil, usagef("--root: %w", err)
	}
	t := &mcpTools{*f, env, root}
	// Fail at the start, not at the first call. The policy may ask for a question.
	if f.policy == agentPolicy {
		_, err = counterNamed(f.encoding)
	} else {
		_, err = asking("?").chooser(env, f.policy, f.encoding)
	}
	if err != nil {
		return nil, errors.Join(err, root.Close())
	}
	return t, nil
}

// server returns a server with the tools.
func (t *mcpTools) server() *mcp.Server {
	server := mcp.NewServer(&mcp.Implementation{Name: "cupel", Title: "Cupel", Version: version()}, &mcp.ServerOptions{
		Instructions: "Fits conversations and other candidates into the context window of a language model, and says why each is in or out.",
		Capabilities: &mcp.ServerCapabilities{}, // no log
	})
	addTool(server, "select", "Choose the window of a conversation or of items within a budget of tokens. A conversation comes back as a request for the same API.", t.choosing)
	addTool(server, "outline", "Reduce a text, such as the result of a tool, to a number of tokens: names, ids, paths, errors and declarations stay first.", t.outline)
	return server
}

// addTool adds a tool that only reads. Its errors are results, with advice for the
// model.
func addTool[In, Out any](server *mcp.Server, name, description string, call func(context.Context, *In) (*Out, error)) {
	no := false
	inputs, err := jsonschema.For[In](&jsonschema.ForOptions{TypeSchemas: map[reflect.Type]*jsonschema.Schema{
		reflect.TypeFor[json.RawMessage](): {}, // anything
	}})
	must(err) // the types are those of this package
	tool := &mcp.Tool{
		Name: name, Description: description, InputSchema: inputs,
		Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true, IdempotentHint: true, OpenWorldHint: &no},
	}
	mcp.AddTool(server, tool, func(ctx context.Context, request *mcp.CallToolRequest, _ In) (*mcp.CallToolResult, any, error) {
		// The SDK has read numbers as float64, and the candidates have others.
		in := new(In)
		err := json.Unmarshal(request.Params.Arguments, in)
		var out *Out
		if err == nil {
			out, err = call(ctx, in)
		}
		if err != nil {
			return nil, nil, errors.New(mcpNames.Replace(message(err)))
		}
		return nil, out, nil
	})
}

// mcpNames replaces the names of flags in errors by those of arguments.
var mcpNames = strings.NewReplacer(", or --no-pin, which pins the tool definitions alone", "",
	"--budget", "budget", "--reserve", "reserve", "--format", "format", "--encoding", "encoding", "--query", "query", "--skip-invalid", "skip_invalid")

// mcpSelect are the arguments of select.
type mcpSelect struct {
	Budget      int             `json:"budget" jsonschema:"tokens of the window, with the answer"`
	Candidates  json.RawMessage `json:"candidates,omitempty" jsonschema:"the candidates: a list of messages or a request of OpenAI, Anthropic, Gemini, Bedrock or Ollama; a list of items with content; or JSON Lines as a text"`
	File        string          `json:"file,omitempty" jsonschema:"a file with the candidates in place of them, below the folder that the server may read"`
	Format      string          `json:"format,omitempty" jsonschema:"the format of the candidates, such as anthropic; found out by default"`
	Policy      string          `json:"policy,omitempty" jsonschema:"the preset to choose by, such as agent, chat, rag or relevance"`
	Query       string          `json:"query,omitempty" jsonschema:"the question that the window should help answer"`
	Reserve     int             `json:"reserve,omitzero" jsonschema:"tokens to reserve for the answer"`
	SkipInvalid bool            `json:"skip_invalid,omitempty" jsonschema:"leave out items that are not valid"`
}

// read reads the candidates of a call.
func (t *mcpTools) read(in *mcpSelect) (*input.Candidates, error) {
	if (len(in.Candidates) > 0) == (in.File != "") {
		return nil, errors.New("give either candidates or file: a list of messages, a request, or a list of items")
	}
	counter, err := counterNamed(t.encoding)
	if err != nil {
		return nil, err
	}
	options := input.Options{Format: input.Format(in.Format), Counter: counter, SkipInvalid: in.SkipInvalid}
	text := []byte(in.Candidates)
	switch {
	case in.File != "":
		if text, err = t.readText(in.File); err != nil {
			return nil, err
		}
	case text[0] == '"':
		var lines string
		if err := json.Unmarshal(text, &lines); err != nil {
			return nil, err
		}
		text = []byte(lines)
	}
	candidates, err := input.Read(bytes.NewReader(text), options)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", cmp.Or(in.File, "candidates"), err)
	}
	return candidates, nil
}

// readText reads a file below the root.
func (t *mcpTools) readText(name string) ([]byte, error) {
	info, err := t.root.Stat(name)
	if err == nil && (!info.Mode().IsRegular() || info.Size() > maxRequest) {
		err = fmt.Errorf("it is not a file of at most %d MiB", maxRequest>>20) // opening a pipe would wait for its writer
	}
	var text []byte
	if err == nil {
		text, err = t.root.ReadFile(name)
	}
	if why, ok := errors.AsType[*os.PathError](err); ok {
		err = why.Err // the name of the call says nothing
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w; the server reads files below %s", name, err, t.mcpFlags.root)
	}
	text, err = io.ReadAll(io.LimitReader(corpus.Uncompressed(bytes.NewReader(text)), maxRequest))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return text, nil
}

// selection reads the candidates and prepares them.
func (t *mcpTools) selection(ctx context.Context, in *mcpSelect) (*selection, error) {
	if in.Policy != t.policy && (isPolicyFile(in.Policy) || in.Policy == "-") {
		return nil, fmt.Errorf("the policy %q is a file: give a preset, or start the server with that file", in.Policy)
	}
	c, err := asking(in.Query).chooser(t.env, cmp.Or(in.Policy, t.policy), t.encoding)
	if err != nil {
		return nil, err
	}
	candidates, err := t.read(in)
	if err != nil {
		return nil, err
	}
	flags := budgetFlags{budget: amount{tokens: in.Budget}, reserve: in.Reserve}
	budget, err := flags.make(candidates.Items)
	if err != nil {
		return nil, err
	}
	return c.selection(ctx, candidates, budget)
}
