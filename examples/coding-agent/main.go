// Command coding-agent chooses what a coding agent should see of a repository
// before it answers a question, and prints what was dropped and why.
//
//	go run ./examples/coding-agent "Where is a budget validated?"
//
// With -dir it reads another repository. The candidates are the declarations of its
// Go, Python, TypeScript, JavaScript, Java and Rust files, and the sections of its
// Markdown files; candidates.go cuts them. This file asks the question and shows the
// selection.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/cupel/placer"
	"github.com/wollax/cupel-go/cupel/scorer"
	"github.com/wollax/cupel-go/cupel/slicer"
	"github.com/wollax/cupel-go/cupelinspect"
	"github.com/wollax/cupel-go/cupelrelevance"
)

func main() {
	if err := run(context.Background(), os.Args[1:], os.Stdout); err != nil && !errors.Is(err, flag.ErrHelp) {
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
	if question == "" {
		return errors.New("ask a question, in quotes, after the flags")
	}

	candidates, skipped, err := collect(*dir)
	if err != nil {
		return err
	}
	// It is pinned: it is in every window.
	asked, err := newItem(cupel.KindMessage, "question\n"+question, cupel.WithPinned())
	if err != nil {
		return err
	}
	index, err := cupelrelevance.NewIndex()
	if err != nil {
		return err
	}
	pipeline, err := newPipeline(index, namesOf(candidates), question)
	if err != nil {
		return err
	}
	budget, err := cupel.NewContextBudget(*tokens, *tokens-*tokens/4) // the rest is for the answer
	if err != nil {
		return err
	}
	report, err := pipeline.DryRun(ctx, append(candidates, asked), budget)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "Question: %s\nSkipped files: %s\n", question, strings.Trim(fmt.Sprint(skipped), "map[]"))
	printReport(out, report, budget)
	if *page == "" {
		return nil
	}
	return writePage(*page, question, report, budget)
}

// newPipeline returns the policy for a question. The index and the names serve
// all questions about the same candidates. Relevance decides most, then
// the kind, so that equally relevant code comes before prose, tests and the rest
// of long declarations, whose beginning says what they are for. The
// window is filled with the highest scores first and shows them in this order,
// since no candidate has a time.
func newPipeline(index *cupelrelevance.Index, known names, question string) (*pipeline.Pipeline, error) {
	relevance, err := cupelrelevance.New(index, question)
	if err != nil {
		return nil, err
	}
	kind, err := scorer.NewKind(map[cupel.ContextKind]float64{kindCode: 1, cupel.KindDocument: 0.6, kindTest: 0.2, kindRest: 0.2})
	if err != nil {
		return nil, err
	}
	score, err := scorer.NewComposite(scorer.Weighted{Scorer: references{relevance, known}, Weight: 4}, scorer.Weighted{Scorer: kind, Weight: 1})
	if err != nil {
		return nil, err
	}
	return pipeline.New(pipeline.Config{Scorer: score, Slicer: slicer.ScoreGreedy{}, Placer: placer.Chronological{}})
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
	title = fmt.Sprintf("%s (the best %d of %d that were dropped)", title, len(best.Excluded), len(report.Excluded))
	return errors.Join(cupelinspect.WriteHTML(file, title, selection), file.Close())
}
