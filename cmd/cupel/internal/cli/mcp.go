package cli

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/wollax/cupel-go/cmd/cupel/internal/input"
	"github.com/wollax/cupel-go/cupeltiktoken"
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
  why_not     say why one candidate is out, and what would bring it in
  min_budget  find the budget that all, the pinned, or one candidate needs
  outline     reduce a text to a number of tokens

Tools take the candidates in the call, or the name of a file below --root. Their
errors say what to do.`,
		Example: `  cupel mcp
  cupel mcp --policy mine.toml --root transcripts`,
		Args: takes(0, 0),
		RunE: func(command *cobra.Command, _ []string) error {
			return flags.run(env, command)
		},
	}
	set := command.Flags()
	set.StringVar(&flags.root, "root", ".", "`folder` with the files that tools may read")
	set.StringVarP(&flags.policy, "policy", "p", agentPolicy, "policy of calls without one: a preset or a `file`")
	encodingFlag(command, &flags.encoding, "count tokens")
	must(command.MarkFlagDirname("root"))
	completePolicy(command, "policy", agentPolicy)
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
	_, err = t.choose(&mcpCandidates{Query: "?"})
	if f.policy == agentPolicy {
		_, err = counterNamed(f.encoding)
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
	addTool(server, "why_not", "Say why one candidate is out of the window, what was chosen instead, and which budget would include it.", t.whyNot)
	addTool(server, "min_budget", "Find the smallest budget that the pinned candidates, all candidates, or one candidate need.", t.minBudget)
	addTool(server, "outline", "Reduce a text, such as the result of a tool, to a number of tokens: names, ids, paths, errors and declarations stay first.", t.outline)
	return server
}

// addTool adds a tool that only reads. Its errors are results, with advice for the
// model. Arguments and results are passed on as they are written, since the SDK's
// own function for this reads numbers as float64.
func addTool[In, Out any](server *mcp.Server, name, description string, call func(context.Context, *In) (*Out, error)) {
	no := false
	inputs := schemaOf[In]()
	resolved, err := inputs.Resolve(nil)
	must(err) // the schema refers to nothing
	tool := &mcp.Tool{
		Name: name, Description: description, InputSchema: inputs, OutputSchema: schemaOf[Out](),
		Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true, IdempotentHint: true, OpenWorldHint: &no},
	}
	server.AddTool(tool, func(ctx context.Context, request *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		result := new(mcp.CallToolResult)
		in := new(In)
		err := decodeArguments(request.Params.Arguments, resolved, in)
		var text []byte
		if err == nil {
			var out *Out
			if out, err = call(ctx, in); err == nil {
				text, err = json.Marshal(out)
			}
		}
		if err != nil {
			result.SetError(errors.New(mcpNames.Replace(message(err))))
			return result, nil
		}
		result.StructuredContent = json.RawMessage(text)
		result.Content = []mcp.Content{&mcp.TextContent{Text: string(text)}} // for clients that read this alone
		return result, nil
	})
}

// decodeArguments reads the arguments of a call.
func decodeArguments(data []byte, schema *jsonschema.Resolved, in any) error {
	if len(data) == 0 {
		data = []byte("{}")
	}
	var given map[string]any
	if err := json.Unmarshal(data, &given); err != nil {
		return fmt.Errorf("the arguments must be an object: %w", err)
	}
	for name := range given {
		properties := schema.Schema().Properties
		if properties[name] == nil {
			return fmt.Errorf("no argument is named %q%s; there are %s", name, didYouMean(name, slices.Sorted(maps.Keys(properties))), strings.Join(slices.Sorted(maps.Keys(properties)), ", "))
		}
	}
	var texts map[string]json.RawMessage
	if err := json.Unmarshal(data, &texts); err != nil {
		return err
	}
	for _, argument := range []struct { // encoding/json names no argument
		name  string
		value json.Unmarshaler
	}{{"budget", new(amount)}, {"reserve", new(intValue)}, {"tokens", new(intValue)}} {
		if text, ok := texts[argument.name]; ok {
			if err := argument.value.UnmarshalJSON(text); err != nil {
				return fmt.Errorf("%s: %w", argument.name, err)
			}
		}
	}
	if err := schema.Validate(given); err != nil {
		return fmt.Errorf("the arguments do not fit their schema: %w", err)
	}
	return json.Unmarshal(data, in)
}

// mcpNames replaces the names of flags in errors by those of arguments.
var mcpNames = strings.NewReplacer(", or --no-pin, which pins the tool definitions alone", "", "; cupel explain --rows 0 lists them all", "",
	"--budget", "budget", "--reserve", "reserve", "--format", "format", "--encoding", "encoding", "--query or --query-file", "query",
	"--query", "query", "--why-not", "candidate", "--skip-invalid", "skip_invalid")

// schemaOf returns the schema of an input or an output. Each type in it is a single
// one, which is what most clients support.
func schemaOf[T any]() *jsonschema.Schema {
	objects := &jsonschema.Schema{Type: "array", Items: &jsonschema.Schema{Type: "object"}}
	object, text := &jsonschema.Schema{Type: "object"}, &jsonschema.Schema{Type: "string"}
	either := func(branches ...*jsonschema.Schema) *jsonschema.Schema { return &jsonschema.Schema{AnyOf: branches} }
	schema, err := jsonschema.For[T](&jsonschema.ForOptions{TypeSchemas: map[reflect.Type]*jsonschema.Schema{
		reflect.TypeFor[json.RawMessage](): either(objects, object, text),
		reflect.TypeFor[amount]():          either(&jsonschema.Schema{Type: "integer"}, text),
		reflect.TypeFor[intValue]():        either(&jsonschema.Schema{Type: "integer"}, text),
		reflect.TypeFor[jsonScore]():       either(&jsonschema.Schema{Type: "number"}, text),
	}})
	must(err) // the types are those of this package
	notNull(schema)
	return schema
}

// notNull takes null from the types: no result has one.
func notNull(schema *jsonschema.Schema) {
	if len(schema.Types) == 2 && schema.Types[0] == "null" {
		schema.Type, schema.Types = schema.Types[1], nil
	}
	if schema.Items != nil {
		notNull(schema.Items)
	}
	for _, property := range schema.Properties {
		notNull(property)
	}
}

// UnmarshalJSON reads a number of tokens, or a text as parseAmount does.
func (a *amount) UnmarshalJSON(data []byte) error { return setJSON(a, data) }

// UnmarshalJSON reads a number, or a text as parseNumber does.
func (v *intValue) UnmarshalJSON(data []byte) error { return setJSON(v, data) }

// setJSON sets a value to a number or a text.
func setJSON(value pflag.Value, data []byte) error {
	text := string(data)
	if data[0] == '"' {
		if err := json.Unmarshal(data, &text); err != nil {
			return err
		}
	}
	return value.Set(text)
}

// mcpCandidates are the arguments that name candidates and how to choose.
type mcpCandidates struct {
	Candidates  json.RawMessage `json:"candidates,omitempty" jsonschema:"the candidates: a list of messages or a request of OpenAI, Anthropic, Gemini, Bedrock or Ollama; a list of items with content; or JSON Lines as a text"`
	File        string          `json:"file,omitempty" jsonschema:"a file with the candidates in place of them, below the folder that the server may read"`
	Format      string          `json:"format,omitempty" jsonschema:"the format of the candidates, such as anthropic; found out by default"`
	Policy      string          `json:"policy,omitempty" jsonschema:"the preset to choose by, such as agent, chat, rag or relevance"`
	Query       string          `json:"query,omitempty" jsonschema:"the question that the window should help answer"`
	Reserve     intValue        `json:"reserve,omitzero" jsonschema:"tokens to reserve for the answer"`
	SkipInvalid bool            `json:"skip_invalid,omitempty" jsonschema:"leave out items that are not valid"`
}

// mcpSelect are the arguments of select.
type mcpSelect struct {
	mcpCandidates
	Budget amount `json:"budget" jsonschema:"tokens of the window: a number, 8k, 50% of the candidates, or the name of a model"`
}

// choose finds the policy.
func (t *mcpTools) choose(in *mcpCandidates) (chooser, error) {
	name := t.policy
	if in.Policy != "" && in.Policy != name {
		if name = in.Policy; isPolicyFile(name) || name == "-" {
			return chooser{}, fmt.Errorf("the policy %q is a file: give a preset, or start the server with that file", name)
		}
	}
	q := &queryFlags{asked: &question{in.Query, strings.TrimSpace(in.Query) != "", new(indexes)}}
	return q.readChooser(t.env, name, t.encoding)
}

// read reads the candidates of a call.
func (t *mcpTools) read(in *mcpCandidates) (*input.Candidates, error) {
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
		return nil, fmt.Errorf("%s: %w", cmp.Or(in.File, "candidates"), advised(err))
	}
	return candidates, nil
}

// readText reads a file below the root.
func (t *mcpTools) readText(name string) ([]byte, error) {
	info, err := t.root.Stat(name)
	if err == nil && !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a file", name) // opening a pipe would wait for its writer
	}
	var file *os.File
	if err == nil {
		file, err = t.root.Open(name)
	}
	if why, ok := errors.AsType[*os.PathError](err); ok {
		err = fmt.Errorf("%s: %w", name, why.Err) // the name of the call says nothing
	}
	if err != nil {
		return nil, fmt.Errorf("%w; the server reads files below %s", err, t.mcpFlags.root)
	}
	defer func() { _ = file.Close() }() // nothing was written
	r, err := uncompressed(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	text, err := io.ReadAll(io.LimitReader(r, maxRequest+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s: %w", name, err)
	case len(text) > maxRequest:
		return nil, fmt.Errorf("%s has more than %d MiB", name, maxRequest>>20)
	}
	return text, nil
}

// selection reads the candidates and prepares them.
func (t *mcpTools) selection(ctx context.Context, in *mcpSelect) (*selection, error) {
	c, err := t.choose(&in.mcpCandidates)
	if err != nil {
		return nil, err
	}
	candidates, err := t.read(&in.mcpCandidates)
	if err != nil {
		return nil, err
	}
	flags := in.budget(in.Budget)
	budget, err := flags.make(false, candidates.Items)
	if err != nil {
		return nil, err
	}
	return c.selection(ctx, candidates, budget)
}

// budget returns the flags of a budget.
func (in *mcpCandidates) budget(total amount) budgetFlags {
	return budgetFlags{budget: total, reserve: int(in.Reserve)}
}

// encodingFlag registers the flag that says how tokens are counted.
func encodingFlag(command *cobra.Command, encoding *string, what string) {
	command.Flags().StringVar(encoding, "encoding", string(cupeltiktoken.EncodingO200kBase), what+" with this `encoding` or model; OpenAI's, or heuristic for an estimate")
	complete(command, "encoding", encodings...)
}
