package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/wollax/cupel-go/cmd/cupel/internal/input"
	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupelreduce"
	"github.com/wollax/cupel-go/internal/english"
)

// mcpPick are the arguments of pick_files.
type mcpPick struct {
	Task   string `json:"task" jsonschema:"the task or the question"`
	Tokens int    `json:"tokens,omitempty" jsonschema:"tokens of the parts to show (default 2000)"`
	mcpPage
}

// defaultShown is how many tokens of a file are shown by default.
const defaultShown = 1_000

// mostPicked is how many files pick_files names.
const mostPicked = 12

// pickFiles is the tool pick_files.
func (t *mcpTools) pickFiles(ctx context.Context, in *mcpPick) (string, error) {
	candidates, err := input.ReadFolder(ctx, t.root.Name(), t.counter, t.env.mostInput(input.MaxFolderBytes))
	if err != nil {
		return "", err
	}
	a, err := t.relevant(ctx, in.Task, candidates.Items, cmp.Or(in.Tokens, 2_000))
	if err != nil {
		return "", err
	}
	var b strings.Builder
	shown := a.matching()
	fmt.Fprintf(&b, "%s\n", a.shown(shown, "part"))
	for _, text := range candidates.Notes {
		fmt.Fprintf(&b, "%s\n", text)
	}
	b.WriteString("\nBest files, with their best lines:\n")
	writeFiles(&b, a)
	for _, i := range a.byRank(shown) {
		fmt.Fprintf(&b, "\n%s\n", a.Entries[i].Item.Content())
	}
	return b.String(), nil
}

// writeFiles lists the best files with the lines of their best parts.
func writeFiles(b *strings.Builder, a *account) {
	const mostLines = 5
	all := make([]int, len(a.Entries))
	for i := range all {
		all[i] = i
	}
	var names []string
	lines := make(map[string][]string)
	for _, i := range a.byRank(all) {
		e := &a.Entries[i]
		name := textOf(e.Item, "path")
		if lines[name] == nil {
			names = append(names, name)
		}
		line, _ := e.Item.MetadataInt("line")
		if e.Score > 0 && len(lines[name]) < mostLines {
			lines[name] = append(lines[name], strings.TrimSpace(fmt.Sprintf("%d %s", line, cmp.Or(textOf(e.Item, "symbol"), textOf(e.Item, "title")))))
		}
	}
	names = slices.DeleteFunc(names, func(name string) bool { return lines[name] == nil })
	for _, name := range names[:min(len(names), mostPicked)] {
		fmt.Fprintf(b, "%s: %s\n", name, strings.Join(lines[name], ", "))
	}
}

// relevant chooses the items that a question is about.
func (t *mcpTools) relevant(ctx context.Context, question string, items []*cupel.ContextItem, tokens int) (*account, error) {
	c, err := asking(question).chooser(t.env, relevance, t.encoding)
	if err != nil {
		return nil, errors.New("the question is empty: say what to look for")
	}
	flags := budgetFlags{budget: tokens}
	budget, err := flags.make()
	if err != nil {
		return nil, err
	}
	report, err := c.pipeline.DryRun(ctx, items, budget)
	if err != nil {
		return nil, err
	}
	return newAccount(items, budget, report), nil
}

// matching returns the candidates of the window that have something of the question. The
// room that is left goes to others.
func (a *account) matching() []int {
	return slices.DeleteFunc(slices.Sorted(slices.Values(a.Window)), func(i int) bool { return a.Entries[i].Score <= 0 })
}

// shown says how many candidates are shown and how many are not.
func (a *account) shown(shown []int, what string) string {
	tokens := 0
	for _, i := range shown {
		tokens = addTokens(tokens, a.Entries[i].Tokens)
	}
	return fmt.Sprintf("%s: %s shown with %s tokens, %s not shown", english.Count(len(a.Entries), what),
		english.Grouped(len(shown)), english.Grouped(tokens), english.Grouped(len(a.Entries)-len(shown)))
}

// byRank returns candidates by score, those without a rank last.
func (a *account) byRank(candidates []int) []int {
	sorted := slices.Clone(candidates)
	slices.SortStableFunc(sorted, func(x, y int) int {
		return cmp.Compare(uint(a.Entries[x].Rank)-1, uint(a.Entries[y].Rank)-1) // a rank of 0 is none
	})
	return sorted
}

// mcpOutline are the arguments of outline_file.
type mcpOutline struct {
	Path   string `json:"path" jsonschema:"the path of the file"`
	Tokens int    `json:"tokens,omitempty" jsonschema:"tokens of the outline (default 1000)"`
	mcpPage
}

// outlineFile is the tool outline_file.
func (t *mcpTools) outlineFile(_ context.Context, in *mcpOutline) (string, error) {
	if in.Tokens < 0 {
		return "", fmt.Errorf("tokens must be at least 0, got %d", in.Tokens)
	}
	text, err := t.readFile(t.root, in.Path)
	if err != nil {
		return "", err
	}
	return t.outlined(in.Path, text, in.Tokens), nil
}

// outlined returns the outline of a file with a line about it.
func (t *mcpTools) outlined(name, text string, tokens int) string {
	outline := cupelreduce.To(text, cmp.Or(tokens, defaultShown), cupelreduce.WithCounter(t.count))
	return fmt.Sprintf("%s: %v, %s → %s tokens\n\n%s", name, cupelreduce.Detect(text), english.Grouped(t.count(text)), english.Grouped(t.count(outline)), outline)
}

// mcpLog are the arguments of read_log.
type mcpLog struct {
	Path     string `json:"path" jsonschema:"the path of the file"`
	Question string `json:"question,omitempty" jsonschema:"what to look for; without it the file is outlined"`
	Tokens   int    `json:"tokens,omitempty" jsonschema:"tokens of the lines to show (default 1000)"`
	mcpPage
}

// readLog is the tool read_log.
func (t *mcpTools) readLog(ctx context.Context, in *mcpLog) (string, error) {
	text, err := t.readFile(t.root, in.Path)
	if err != nil {
		return "", err
	}
	if strings.TrimSpace(in.Question) == "" {
		return t.outlined(in.Path, text, in.Tokens), nil
	}
	items, err := input.Lines(text, t.counter)
	if err != nil {
		return "", fmt.Errorf("%s: %w", in.Path, err)
	}
	a, err := t.relevant(ctx, in.Question, items, cmp.Or(in.Tokens, defaultShown))
	if err != nil {
		return "", err
	}
	var b strings.Builder
	shown := a.matching()
	fmt.Fprintf(&b, "%s: %s\n\n", in.Path, a.shown(shown, "line"))
	for n, i := range shown {
		if n == 0 && i > 0 || n > 0 && i > shown[n-1]+1 {
			b.WriteString("…\n")
		}
		line, _ := a.Entries[i].Item.MetadataInt("line")
		fmt.Fprintf(&b, "%d: %s\n", line, a.Entries[i].Item.Content())
	}
	return b.String(), nil
}
