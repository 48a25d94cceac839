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
	"github.com/wollax/cupel-go/cupel/analysis"
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
	fmt.Fprintf(&b, "%s\n", shownOf(a.matching(), len(a.Entries), "part"))
	for _, text := range candidates.Notes {
		fmt.Fprintf(&b, "%s\n", text)
	}
	b.WriteString("\nBest files, with their best lines:\n")
	ranked := a.ranked()
	writeFiles(&b, ranked)
	for _, e := range ranked {
		if e.Place > 0 {
			fmt.Fprintf(&b, "\n%s\n", e.Item.Content())
		}
	}
	return b.String(), nil
}

// writeFiles lists the best files with the lines of their best parts.
func writeFiles(b *strings.Builder, ranked []*analysis.Entry) {
	const mostLines = 5
	var names []string
	lines := make(map[string][]string)
	for _, e := range ranked {
		name := textOf(e.Item, "path")
		if lines[name] == nil {
			names = append(names, name)
		}
		if len(lines[name]) < mostLines {
			line, _ := e.Item.MetadataInt("line")
			lines[name] = append(lines[name], strings.TrimSpace(fmt.Sprintf("%d %s", line, cmp.Or(textOf(e.Item, "symbol"), textOf(e.Item, "title")))))
		}
	}
	for _, name := range names[:min(len(names), mostPicked)] {
		fmt.Fprintf(b, "%s: %s\n", name, strings.Join(lines[name], ", "))
	}
}

// relevant chooses the items that are relevant to a question.
func (t *mcpTools) relevant(ctx context.Context, question string, items []*cupel.ContextItem, tokens int) (*account, error) {
	c, err := asking(question).chooser(t.env, relevance, t.counter)
	if err != nil {
		return nil, errors.New("the question is empty: say what to look for")
	}
	budget, err := budgetOf(tokens)
	if err != nil {
		return nil, err
	}
	report, err := c.pipeline.DryRun(ctx, items, budget)
	if err != nil {
		return nil, err
	}
	return newAccount(items, budget, report), nil
}

// mostAsked is how many tokens a call may ask for.
const mostAsked = 10_000_000

// budgetOf returns the budget of a window of so many tokens.
func budgetOf(tokens int) (cupel.ContextBudget, error) {
	if tokens < 1 || tokens > mostAsked {
		return cupel.ContextBudget{}, fmt.Errorf("tokens must be from 1 to %s, got %d", english.Grouped(mostAsked), tokens)
	}
	flags := budgetFlags{budget: tokens}
	return flags.make()
}

// matching returns the items of a window of so many tokens that match the question.
func (t *mcpTools) matching(ctx context.Context, question string, items []*cupel.ContextItem, tokens int) ([]*cupel.ContextItem, error) {
	a, err := t.relevant(ctx, question, items, tokens)
	if err != nil {
		return nil, err
	}
	return a.matching(), nil
}

// matching returns the items of the window that match the question. The rest of the room
// goes to others.
func (a *account) matching() (items []*cupel.ContextItem) {
	for i := range a.Entries {
		if e := &a.Entries[i]; e.Place > 0 && e.Score > 0 {
			items = append(items, e.Item)
		}
	}
	return items
}

// ranked returns the candidates that match the question by score, those without a
// rank last.
func (a *account) ranked() (entries []*analysis.Entry) {
	for i := range a.Entries {
		if e := &a.Entries[i]; e.Score > 0 {
			entries = append(entries, e)
		}
	}
	slices.SortStableFunc(entries, func(x, y *analysis.Entry) int {
		return cmp.Compare(uint(x.Rank)-1, uint(y.Rank)-1) // a rank of 0 is none
	})
	return entries
}

// shownOf describes how many of some candidates are shown and how many are
// not.
func shownOf(items []*cupel.ContextItem, all int, what string) string {
	tokens := 0
	for _, item := range items {
		tokens = addTokens(tokens, item.Tokens())
	}
	return fmt.Sprintf("%s: %s shown with %s tokens, %s not shown", english.Count(all, what),
		english.Grouped(len(items)), english.Grouped(tokens), english.Grouped(all-len(items)))
}

// mcpOutline are the arguments of outline_file.
type mcpOutline struct {
	Path   string `json:"path" jsonschema:"the path of the file"`
	Tokens int    `json:"tokens,omitempty" jsonschema:"tokens of the outline (default 1000)"`
	mcpPage
}

const (
	// mostCounted is how many bytes of a file are counted to estimate its
	// tokens.
	mostCounted = 1 << 18
	// mostOutlined is how many bytes of a file are outlined.
	mostOutlined = 16 << 20
)

// outlineFile is the tool outline_file. Its time does not depend on the length of the
// file: the tokens of a long file are estimated from its beginning, and a longer file is
// outlined at its ends.
func (t *mcpTools) outlineFile(_ context.Context, in *mcpOutline) (string, error) {
	tokens := cmp.Or(in.Tokens, defaultShown)
	if _, err := budgetOf(tokens); err != nil {
		return "", err
	}
	text, err := t.readFile(t.root, in.Path)
	if err != nil {
		return "", err
	}
	part, about, of := text, "", ""
	total := t.count(text[:min(len(text), mostCounted)])
	counted := total
	if len(text) > mostCounted {
		total, about = total*len(text)/mostCounted, "about "
		counted = max(total, tokens+1) // as if it does not fit, since that is not known
	}
	if len(text) > mostOutlined {
		const half = mostOutlined / 2
		part = text[:input.Break(text, half, "\n")] + text[input.Break(text, len(text)-half, "\n"):]
		of = ", of its first and last 8 MiB"
	}
	outline := cupelreduce.To(part, tokens, cupelreduce.WithCounter(t.count), cupelreduce.WithTokens(counted))
	return fmt.Sprintf("%s: %v, %s%s → %s tokens%s\n\n%s", in.Path, cupelreduce.Detect(part), about, english.Grouped(total), english.Grouped(t.count(outline)), of, outline), nil
}

// mcpLog are the arguments of read_log.
type mcpLog struct {
	Path     string `json:"path" jsonschema:"the path of the file"`
	Question string `json:"question" jsonschema:"what to look for"`
	Tokens   int    `json:"tokens,omitempty" jsonschema:"tokens of the lines to show (default 1000)"`
	mcpPage
}

// readLog is the tool read_log.
func (t *mcpTools) readLog(ctx context.Context, in *mcpLog) (string, error) {
	text, err := t.readFile(t.root, in.Path)
	if err != nil {
		return "", err
	}
	tokens := cmp.Or(in.Tokens, defaultShown)
	best, lines, err := t.bestLines(ctx, in.Question, text, tokens)
	if err != nil {
		return "", fmt.Errorf("%s: %w", in.Path, err)
	}
	what := "line"
	if lines > strings.Count(text, "\n")+1 { // long ones are cut
		what = "piece"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s\n\n", in.Path, shownOf(best, lines, what))
	last := 0
	for _, item := range best {
		line, _ := item.MetadataInt("line")
		if line != last+1 {
			b.WriteString("…\n")
		}
		last = line
		fmt.Fprintf(&b, "%d: %s\n", line, item.Content())
	}
	return b.String(), nil
}

const (
	// mostCompared is how many bytes of lines are compared at once, unless the best of
	// them have half of these bytes.
	mostCompared = 2 << 20
	// lineBytes is the approximate memory of an empty line.
	lineBytes = 100
)

// bestLines returns the lines of a text that are most relevant to a question, and how many
// lines there are. A line that would fill the answer is cut into pieces. In a long text,
// the best lines so far are compared with those after them, by estimates of their tokens.
func (t *mcpTools) bestLines(ctx context.Context, question, text string, tokens int) (best []*cupel.ContextItem, lines int, err error) {
	size, most := 0, mostCompared
	for number, line := range input.Lines(text, 2*max(min(tokens, mostAnswer), leastAnswer)) {
		if size > most {
			if best, err = t.matching(ctx, question, best, tokens); err != nil {
				return nil, 0, err
			}
			size = 0
			for _, item := range best {
				size += len(item.Content()) + lineBytes
			}
			most = max(mostCompared, 2*size)
		}
		item, err := input.LineItem(number, line, cupel.HeuristicCounter{})
		if err != nil {
			return nil, 0, err
		}
		best = append(best, item)
		size += len(line) + lineBytes
		lines++
	}
	if lines > len(best) { // few of the rest are left to count
		if best, err = t.matching(ctx, question, best, tokens); err != nil {
			return nil, 0, err
		}
	}
	for i, item := range best {
		number, _ := item.MetadataInt("line")
		if best[i], err = input.LineItem(number, item.Content(), t.counter); err != nil {
			return nil, 0, err
		}
	}
	best, err = t.matching(ctx, question, best, tokens)
	return best, lines, err
}
