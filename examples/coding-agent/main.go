// Command coding-agent chooses the context window of a coding agent from the
// source tree that it is run in, and shows what is in it, what is not, and why.
//
//	go run ./examples/coding-agent -question "Where is … ?"
//
// See its README for the flags.
package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"time"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/policy"
	"github.com/wollax/cupel-go/cupeltiktoken"
	"github.com/wollax/cupel-go/examples/coding-agent/repocontext"
)

const defaultQuestion = "How does a QuotaSlice share the budget between kinds?"

// The exit codes.
const (
	exitOK      = 0
	exitFailure = 1 // the tree cannot be read, or the pinned items do not fit
	exitUsage   = 2 // the flags make no sense
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// settings are what the command line says.
type settings struct {
	root       string
	question   string
	budget     cupel.ContextBudget
	rows       int
	width      int
	json, full bool
	relevance  bool   // whether the question counts
	itemsFile  string // where the candidates are written, or ""
	page       string // file of the inspector's page, or ""
	force      bool   // even over a file that is there
	whatIf     string // intent of a preset to compare with, or ""
	vetTimeout time.Duration
	counter    cupel.TokenCounter
}

// run is the program without its process: what main does, for tests.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	s, err := parse(args, stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return exitOK
	case err != nil:
		fmt.Fprintf(stderr, "coding-agent: %v\n", err)
		return exitUsage
	}
	out := bufio.NewWriter(stdout)
	err = s.choose(ctx, out, func(note string) { fmt.Fprintf(stderr, "coding-agent: %s\n", visible(note)) })
	if flushErr := out.Flush(); err == nil {
		err = flushErr
	}
	if err != nil {
		fmt.Fprintf(stderr, "coding-agent: %s\n", visible(err.Error()))
		return exitFailure
	}
	return exitOK
}

// parse reads the flags, and explains itself on stderr when it is asked to.
func parse(args []string, stderr io.Writer) (settings, error) {
	var s settings
	flags := flag.NewFlagSet("coding-agent", flag.ContinueOnError)
	flags.SetOutput(io.Discard) // errors are printed once, by run
	maximum := flags.Int("budget", 16_000, "context window of the model, in `tokens`")
	reserve := flags.Int("reserve", 0, "`tokens` of the budget that are kept for the answer (default a quarter of the budget)")
	target := flags.Int("target", 0, "`tokens` that the window may use (default what the reserve leaves)")
	flags.StringVar(&s.question, "question", defaultQuestion, "what the agent is `asked`")
	flags.StringVar(&s.root, "root", "", "`folder` to read (default the repository around the current one)")
	flags.IntVar(&s.rows, "n", 20, "`rows` of the table of what is left out; -1 for all")
	flags.IntVar(&s.width, "width", 0, "`columns` of the output (default $COLUMNS, or 120)")
	flags.DurationVar(&s.vetTimeout, "vet", 30*time.Second, "the most `time` that go vet may take; 0 to leave it out")
	flags.StringVar(&s.whatIf, "what-if", "", "compare with the `preset` of this intent, such as code-review")
	counter := flags.String("counter", string(cupeltiktoken.O200kBase), "how tokens are counted: an `encoding` or a model of OpenAI's, heuristic for an estimate without a vocabulary, or bytes for four bytes a token")
	flags.BoolVar(&s.relevance, "relevance", true, "choose by what the question is about; false to see what comes in without")
	flags.StringVar(&s.itemsFile, "items", "", "write the candidates as a JSON array to this `file`; - prints them, and nothing else")
	flags.StringVar(&s.page, "inspect", "", "write a page for the browser to this `file`, which shows the window and the reasons")
	flags.BoolVar(&s.force, "force", false, "let -items and -inspect replace a file that is there")
	flags.BoolVar(&s.json, "json", false, "print the selection report as JSON")
	flags.BoolVar(&s.full, "full", false, "print the window in full, as a prompt")
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			fmt.Fprintln(stderr, "Usage: coding-agent [flags]\n\nChooses the context window of a coding agent from a source tree.")
			flags.SetOutput(stderr)
			flags.PrintDefaults()
		}
		return s, err
	}
	if flags.NArg() > 0 {
		return s, fmt.Errorf("unexpected argument %q; the question goes after -question, in quotes", flags.Arg(0))
	}
	if s.whatIf != "" {
		if s.json || s.full {
			return s, errors.New("-what-if goes with neither -json nor -full")
		}
		if _, err := policy.NewRegistry().Lookup(s.whatIf); err != nil {
			return s, err
		}
	}
	if s.json && s.full {
		return s, errors.New("-json and -full exclude each other")
	}
	if s.itemsFile == standardOutput && (s.json || s.full || s.whatIf != "" || s.page != "") {
		return s, errors.New("-items - prints the candidates alone, and goes with none of -json, -full, -what-if and -inspect")
	}
	if s.force && (s.itemsFile == "" || s.itemsFile == standardOutput) && s.page == "" {
		return s, errors.New("-force is for the files of -items and -inspect, and there is none")
	}
	if s.page == standardOutput {
		return s, errors.New("-inspect writes a file, and - is none; give it a name such as context.html")
	}
	if s.page != "" && s.itemsFile != "" && filepath.Clean(s.page) == filepath.Clean(s.itemsFile) {
		return s, errors.New("-items and -inspect name the same file, and one would replace the other")
	}
	given := make(map[string]bool)
	flags.Visit(func(f *flag.Flag) { given[f.Name] = true })
	if !given["reserve"] {
		*reserve = max(*maximum, 0) / 4
	}
	if !given["target"] {
		*target = max(*maximum-*reserve, 0)
	}
	var err error
	if s.counter, err = counterNamed(*counter); err != nil {
		return s, err
	}
	s.budget, err = cupel.NewContextBudget(*maximum, *target, cupel.WithOutputReserve(*reserve))
	if err != nil {
		return s, err
	}
	s.width = lineWidth(s.width, os.Getenv("COLUMNS"))
	return s, nil
}

// counterNamed returns the counter that the flag asks for.
func counterNamed(name string) (cupel.TokenCounter, error) {
	switch name {
	case "heuristic":
		return cupel.HeuristicCounter{}, nil
	case "bytes":
		return fourBytes{}, nil
	}
	if counter, err := cupeltiktoken.ForEncoding(cupeltiktoken.Encoding(name)); err == nil {
		return counter, nil
	}
	counter, err := cupeltiktoken.ForModel(name)
	if err != nil {
		return nil, fmt.Errorf("unknown counter %q; it is heuristic, bytes, an encoding such as o200k_base, or a model such as gpt-4o", name)
	}
	return counter, nil
}

// fourBytes counts a token for every four bytes, rounded up: what everybody can
// check by hand.
type fourBytes struct{}

func (fourBytes) CountTokens(text string) (int, error) { return (len(text) + 3) / 4, nil }

// counting is a counter for many texts, whose first error is looked at once.
type counting struct {
	counter cupel.TokenCounter
	err     error
}

func (c *counting) count(text string) int {
	n, err := c.counter.CountTokens(text)
	if err != nil && c.err == nil {
		c.err = err
	}
	return n
}

// lineWidth returns the columns to print in: what the flag says, else what the
// environment does, else 120; never too few for a table.
func lineWidth(width int, columns string) int {
	if width <= 0 {
		width, _ = strconv.Atoi(columns)
	}
	if width <= 0 {
		width = 120
	}
	return min(max(width, 60), 1000)
}

// choose collects the candidates, asks for a window and prints it.
func (s settings) choose(ctx context.Context, out io.Writer, tell func(note string)) error {
	root := s.root
	if root == "" {
		root = repocontext.FindRoot(".")
	}
	tokens := &counting{counter: s.counter}
	candidates, err := repocontext.Collect(ctx, root, repocontext.Options{CountTokens: tokens.count, VetTimeout: s.vetTimeout, Progress: tell})
	if err != nil {
		return err
	}
	for _, note := range candidates.Notes {
		tell(note)
	}
	items, err := repocontext.Conversation(s.question, tokens.count)
	if err == nil {
		err = tokens.err
	}
	if err != nil {
		return err
	}
	items = append(items, candidates.Items...)

	if s.itemsFile != "" {
		if err := s.writeItems(out, items); err != nil || s.itemsFile == standardOutput {
			return err
		}
	}
	question := s.question
	if !s.relevance {
		question = ""
	}
	pipeline, err := repocontext.NewPipeline(question, items)
	if err != nil {
		return err
	}
	report, err := pipeline.DryRun(ctx, items, s.budget)
	if err != nil {
		return advise(err)
	}
	if err := s.print(ctx, out, pipeline, items, report); err != nil || s.page == "" {
		return err
	}
	return s.writePage(ctx, out, pipeline, items)
}

// print prints the window in the form that the flags ask for.
func (s settings) print(ctx context.Context, out io.Writer, pipeline *cupel.Pipeline, items []*cupel.ContextItem, report *cupel.SelectionReport) error {
	switch {
	case s.json:
		return printJSON(out, report)
	case s.full:
		return printPrompt(out, report)
	default:
		if err := s.printReport(out, report); err != nil || s.whatIf == "" {
			return err
		}
		return s.printWhatIf(ctx, out, pipeline, items, report)
	}
}

// advise says what to do about a run that failed.
func advise(err error) error {
	if _, ok := errors.AsType[*cupel.PinnedExceedsBudgetError](err); ok {
		return fmt.Errorf("%w; the system prompt and the question are pinned: raise -budget, lower -reserve, or ask in fewer words", err)
	}
	return err
}

func printJSON(out io.Writer, report *cupel.SelectionReport) error {
	data, err := report.MarshalJSON()
	if err != nil {
		return err
	}
	var indented bytes.Buffer
	if err := json.Indent(&indented, data, "", "  "); err != nil {
		return err
	}
	indented.WriteByte('\n')
	_, err = indented.WriteTo(out)
	return err
}
