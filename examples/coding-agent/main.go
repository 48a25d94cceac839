// Command coding-agent chooses what a coding agent should see of a repository
// before it answers a question, and prints what was dropped and why.
//
//	go run ./examples/coding-agent "Where is a budget validated?"
//
// With -dir it reads another repository. The candidates are the declarations of its
// Go, Python, TypeScript, JavaScript, Java and Rust files, the sections of its
// Markdown files and its latest commits; candidates.go cuts them. This file asks
// the question and shows the selection.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"os/signal"
	"slices"
	"strings"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/cupel/placer"
	"github.com/wollax/cupel-go/cupel/scorer"
	"github.com/wollax/cupel-go/cupel/slicer"
	"github.com/wollax/cupel-go/cupel/strategy"
	"github.com/wollax/cupel-go/cupelinspect"
	"github.com/wollax/cupel-go/cupelrelevance"
)

const systemPrompt = `You are a coding agent. Answer the question at the end from the excerpts before it.
Each excerpt begins with a line that says where it is from.`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "coding-agent:", err)
		os.Exit(1)
	}
}

// run is main without the process.
func run(ctx context.Context, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("coding-agent", flag.ContinueOnError)
	dir := flags.String("dir", ".", "`folder` to read")
	tokens := flags.Int("budget", 4000, "context window of the model, in `tokens`; a quarter is kept for the answer")
	page := flags.String("page", "", "`file` for a page that shows the selection in a browser")
	if err := flags.Parse(args); err != nil {
		return err
	}
	question := strings.Join(flags.Args(), " ")
	if strings.TrimSpace(question) == "" {
		return errors.New("ask a question, in quotes, after the flags")
	}

	candidates, skipped, err := collect(ctx, *dir)
	if err != nil {
		return err
	}
	items, err := withConversation(question, candidates)
	if err != nil {
		return err
	}
	pipeline, err := newPipeline(question)
	if err != nil {
		return err
	}
	// The model takes up to max tokens, the answer included. The window may use
	// target of them, and the reserve is what is left for the answer.
	reserve := *tokens / 4
	budget, err := cupel.NewContextBudget(*tokens, *tokens-reserve, cupel.WithOutputReserve(reserve))
	if err != nil {
		return err
	}
	report, err := pipeline.DryRun(ctx, items, budget)
	if err != nil {
		return err
	}
	fmt.Fprintln(out, "Question:", question)
	var left []string
	for _, extension := range slices.Sorted(maps.Keys(skipped)) {
		left = append(left, fmt.Sprintf("%d %s", skipped[extension], extension))
	}
	fmt.Fprintln(out, "Skipped files:", cmp.Or(strings.Join(left, ", "), "none"))
	printReport(out, report, budget)
	if *page == "" {
		return nil
	}
	return writePage(*page, question, report, budget)
}

// withConversation puts the system prompt and the question before the
// candidates. Both are pinned: they are in every window.
func withConversation(question string, candidates []*cupel.ContextItem) ([]*cupel.ContextItem, error) {
	system, err := newItem(cupel.KindSystemPrompt, "system prompt", systemPrompt, cupel.WithPinned())
	if err != nil {
		return nil, err
	}
	asked, err := newItem(cupel.KindMessage, "question", question, cupel.WithPinned())
	if err != nil {
		return nil, err
	}
	return append([]*cupel.ContextItem{system, asked}, candidates...), nil
}

// newPipeline returns the policy for a question. Relevance decides most, then
// the kind, so that equally relevant code comes before prose, commits, tests and the rest
// of long declarations, whose beginning says what they are for. The
// window is filled with the highest scores first and shows them in this order,
// since no candidate has a time.
func newPipeline(question string) (*pipeline.Pipeline, error) {
	score, err := newScorer(question)
	if err != nil {
		return nil, err
	}
	return pipeline.New(pipeline.Config{Scorer: score, Slicer: slicer.ScoreGreedy{}, Placer: placer.Chronological{}})
}

func newScorer(question string) (strategy.Scorer, error) {
	index, err := cupelrelevance.NewIndex()
	if err != nil {
		return nil, err
	}
	relevance, err := cupelrelevance.New(index, question)
	if err != nil {
		return nil, err
	}
	kind, err := scorer.NewKind(map[cupel.ContextKind]float64{
		kindCode: 1, cupel.KindDocument: 0.6, cupel.KindMemory: 0.4, kindTest: 0.2, kindRest: 0.2,
	})
	if err != nil {
		return nil, err
	}
	return scorer.NewComposite(
		scorer.Weighted{Scorer: references{relevance}, Weight: 4},
		scorer.Weighted{Scorer: kind, Weight: 1})
}

// printReport prints the window in its order, and the best of what was dropped
// with the reasons.
func printReport(out io.Writer, report *cupel.SelectionReport, budget cupel.ContextBudget) {
	used := 0
	for _, in := range report.Included {
		used += in.Item.Tokens()
	}
	fmt.Fprintf(out, "Candidates: %d, of %d tokens\n", report.TotalCandidates, report.TotalTokensConsidered)
	fmt.Fprintf(out, "\nWindow: %d items, %d of %d tokens\n", len(report.Included), used, budget.TargetTokens())
	for _, in := range report.Included {
		fmt.Fprintf(out, "%6d  %.3f  %-12s  %s\n", in.Item.Tokens(), in.Score, in.Item.Kind(), from(in.Item))
	}
	best := report.Excluded[:min(8, len(report.Excluded))]
	fmt.Fprintf(out, "\nDropped: %d items, the best %d are\n", len(report.Excluded), len(best))
	for _, ex := range best {
		fmt.Fprintf(out, "%6d  %.3f  %-12s  %s\n%30s%s\n", ex.Item.Tokens(), ex.Score, ex.Item.Kind(), from(ex.Item), "", ex.Reason.Explain())
	}
}

// shown is how many of the candidates that were dropped the page shows, the best:
// with all of a repository it would take megabytes.
const shown = 500

// writePage writes the inspector's page, which shows the same selection.
func writePage(name, title string, report *cupel.SelectionReport, budget cupel.ContextBudget) error {
	best := *report
	best.Excluded = report.Excluded[:min(shown, len(report.Excluded))]
	selection, err := cupelinspect.FromReport(&best, budget)
	if err != nil {
		return err
	}
	file, err := os.Create(name)
	if err != nil {
		return err
	}
	title = fmt.Sprintf("%s (without %d candidates that were dropped)", title, len(report.Excluded)-len(best.Excluded))
	return errors.Join(cupelinspect.WriteHTML(file, title, selection), file.Close())
}
