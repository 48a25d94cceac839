package cupelsession

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupelchat"
)

const (
	recallName = "recall"
	recallText = "Returns text that was left out of this conversation. Marks such as [r3] stand where something is missing; ids count results in their order. " +
		"Without lines and words the answer is the whole text, or as much of it as fits."
	recallArguments = `{"type": "object", "properties": {` +
		`"id": {"type": "string", "description": "the id in the mark, such as r3"}, ` +
		`"lines": {"type": "string", "description": "a range of lines, such as 10-40"}, ` +
		`"words": {"type": "string", "description": "words to search for, such as a name or a key; the answer has the lines with all of them"}}, ` +
		`"required": ["id"]}`
)

// recallForms are the tool's definitions, as elements of a request's tools, by format.
// They take the name, the description and the arguments.
var recallForms = map[cupelchat.Format]string{
	cupelchat.OpenAI:    `{"type": "function", "function": {"name": %q, "description": %q, "parameters": %s}}`,
	cupelchat.Ollama:    `{"type": "function", "function": {"name": %q, "description": %q, "parameters": %s}}`,
	cupelchat.Responses: `{"type": "function", "name": %q, "description": %q, "parameters": %s}`,
	cupelchat.Anthropic: `{"name": %q, "description": %q, "input_schema": %s}`,
	cupelchat.Gemini:    `{"functionDeclarations": [{"name": %q, "description": %q, "parameters": %s}]}`,
	cupelchat.Bedrock:   `{"toolSpec": {"name": %q, "description": %q, "inputSchema": {"json": %s}}}`,
}

// RecallTool returns the definition of the tool "recall" as an element of the tools of a
// request. Answer its calls with [Session.Recall]. It fails for formats of records.
func RecallTool(f cupelchat.Format) (json.RawMessage, error) {
	form, ok := recallForms[f]
	if !ok {
		return nil, fmt.Errorf("cupelsession: the format %s has no tools; give the format of an API", f)
	}
	return json.RawMessage(fmt.Sprintf(form, recallName, recallText, recallArguments)), nil
}

// recalls are the texts of a session that have marks. Texts are numbered in the order
// in which they are read, so that marks are short and unique.
type recalls struct {
	mu      sync.Mutex
	keys    []string // of the texts, by number from 1
	numbers map[string]int
	texts   map[string]string // by key, that the store does not have
}

// reset takes over the keys of another session.
func (r *recalls) reset(keys []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.keys, r.numbers, r.texts = keys, map[string]int{}, map[string]string{}
	for i, key := range keys {
		r.numbers[key] = i + 1
	}
}

// known returns the keys of all texts.
func (r *recalls) known() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.keys)
}

func keyOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// Mark gives a text its number. The tool's answers get none: the texts that
// they quote have one.
func (r *recalls) Mark(tool, content string) string {
	if tool == recallName {
		return ""
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	key := keyOf(content)
	if r.numbers[key] == 0 {
		r.keys = append(r.keys, key)
		r.numbers[key] = len(r.keys)
	}
	r.texts[key] = content
	return fmt.Sprintf("[r%d]", r.numbers[key])
}

// find returns the key of a number, or "", and the text if the store does not
// have it.
func (r *recalls) find(n int) (key, text string, fresh bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if n < 1 || n > len(r.keys) {
		return "", "", false
	}
	key = r.keys[n-1]
	text, fresh = r.texts[key]
	return key, text, fresh
}

// keep stores what a turn leaves out or has in a smaller form. The store may be slow,
// and may call the session: no lock is held meanwhile.
func (r *recalls) keep(ctx context.Context, c *Config, t *Turn) error {
	whole := make([]bool, len(t.after.items))
	for _, e := range t.Entries {
		whole[e.Candidates[0]] = e.Whole
	}
	for i, item := range t.after.items {
		mark, _ := item.MetadataText("mark")
		key, text, fresh := r.find(numberOf(mark))
		if !fresh || whole[i] && !strings.Contains(item.Content(), mark) { // one that is pinned may be shortened
			continue
		}
		if err := c.Store.Put(ctx, c.Name, key, text); err != nil {
			return fmt.Errorf("cupelsession: storing the texts that the request leaves out: %w", err)
		}
		r.mu.Lock()
		delete(r.texts, key)
		r.mu.Unlock()
	}
	return nil
}

// text returns the text of a number.
func (r *recalls) text(ctx context.Context, c *Config, n int) (text string, err error) {
	key, text, fresh := r.find(n)
	switch {
	case key == "":
		return "", errNoText
	case fresh:
		return text, nil
	}
	text, err = c.Store.Get(ctx, c.Name, key)
	if err == nil && keyOf(text) != key {
		err = fs.ErrNotExist // cut, or changed
	}
	return text, err
}

var errNoText = errors.New("there is no text with this id")

// numberOf reads the number of a mark, as a model may write it. It returns 0 for
// anything else.
func numberOf(id string) int {
	n, _ := strconv.Atoi(strings.Trim(id, "[]#r "))
	return n
}

const (
	mostRecalled  = 2000 // tokens of an answer, beside a tenth of the budget
	mostWords     = 16   // that are searched for
	longestRow    = 160  // bytes
	longestTokens = 64   // average bytes per token of an answer that is worth counting
)

// Recall answers a call of the tool of [RecallTool]. It returns the text with the id in the
// arguments, a range of its lines, or the lines that contain all the words. An answer has at
// most 2,000 tokens or a tenth of the budget, whichever is less. Recall answers wrong
// arguments with a text that explains how to call it. It fails with errors of ctx, the store
// or the counter. A nil counter means [cupel.HeuristicCounter]. Lines of more than 160 bytes
// count as several. Recall may be called by several goroutines.
func (s *Session) Recall(ctx context.Context, arguments []byte, budget cupel.ContextBudget, counter cupel.TokenCounter) (string, error) {
	if !s.isMade() || s.recalls == nil {
		return "", &ConfigError{"Store", "is required: it has what requests leave out"}
	}
	if counter == nil {
		counter = cupel.HeuristicCounter{}
	}
	var given map[string]any
	decoder := json.NewDecoder(bytes.NewReader(arguments))
	decoder.UseNumber() // a float64 writes the line 1000000 as 1e+06
	if decoder.Decode(&given) != nil {
		return `The arguments must be an object, such as {"id": "r3"}.`, nil //nolint:nilerr // the model gets to know
	}
	text, err := s.recalls.text(ctx, &s.config, numberOf(fmt.Sprint(given["id"])))
	switch {
	case errors.Is(err, errNoText):
		return "There is no text with this id. Give that of a mark in this conversation, such as r3 of [r3].", nil
	case errors.Is(err, fs.ErrNotExist):
		return "This text is no longer stored. Call the tool that returned it again.", nil
	case err != nil:
		return "", fmt.Errorf("cupelsession: reading what a request left out: %w", err)
	}
	rows := rowsOf(text)
	from, to, ok := rangeOf(given["lines"], len(rows))
	if !ok {
		return fmt.Sprintf("The text has %d lines. Give a range of them, such as 1-%[1]d.", len(rows)), nil
	}
	chosen := rows[from:to]
	if words := strings.Fields(strings.ToLower(argument(given["words"]))); len(words) > 0 {
		chosen = matching(chosen, from+1, words[:min(len(words), mostWords)])
		if len(chosen) == 0 {
			return "No line has all of these words.", nil
		}
	}
	return firstOf(chosen, min(mostRecalled, budget.TargetTokens()/10, (budget.MaxTokens()-budget.OutputReserve())/10), counter)
}

// argument is what a model gives for a text: it may write a number or a list.
func argument(v any) string {
	if v == nil {
		return ""
	}
	return strings.Trim(fmt.Sprint(v), "[] ")
}

// rowsOf cuts a text into rows: lines, and parts of long lines, so that these have ranges
// too. Joined, the rows are the text.
func rowsOf(text string) (rows []string) {
	for line := range strings.Lines(text) {
		for len(line) > longestRow {
			cut := longestRow
			for cut > longestRow-utf8.UTFMax && !utf8.RuneStart(line[cut]) {
				cut--
			}
			rows, line = append(rows, line[:cut]), line[cut:]
		}
		rows = append(rows, line)
	}
	return rows
}

// lineRange is a range of lines, or one line. A list is joined with blanks.
var lineRange = regexp.MustCompile(`^(\d+)[- ]*(\d*)$`)

// rangeOf reads a range of rows, such as 10-40 or 10.
func rangeOf(v any, rows int) (from, to int, ok bool) {
	said := argument(v)
	if said == "" {
		return 0, rows, true
	}
	found := lineRange.FindStringSubmatch(said)
	if found == nil {
		return from, to, false
	}
	from, _ = strconv.Atoi(found[1]) // the largest number in place of a larger one
	to, _ = strconv.Atoi(cmp.Or(found[2], found[1]))
	to = min(to, rows)
	return from - 1, to, from >= 1 && from <= to
}

// matching returns the rows that contain all words, with their numbers. A word across
// two rows of a long line counts for the first of them.
func matching(rows []string, number int, words []string) (found []string) {
	for i, row := range rows {
		lower, next := strings.ToLower(row), ""
		if !strings.HasSuffix(row, "\n") && i+1 < len(rows) {
			next = strings.ToLower(rows[i+1])
		}
		isMissing := func(word string) bool {
			return !strings.Contains(lower+next[:min(len(next), len(word)-1)], word)
		}
		if !slices.ContainsFunc(words, isMissing) {
			found = append(found, fmt.Sprintf("%d: %s\n", number+i, strings.TrimRight(row, "\r\n")))
		}
	}
	return found
}

// firstOf returns as many rows as fit, and adds a line if that is not all of
// them.
func firstOf(rows []string, most int, counter cupel.TokenCounter) (answer string, err error) {
	first := func(n int) string {
		text := strings.Join(rows[:n], "")
		if n < len(rows) {
			text += fmt.Sprintf("\n[%d of %d lines fit; ask for a range of lines, or for words]", n, len(rows))
		}
		return text
	}
	tooMuch := func(n int) bool {
		text := first(n)
		if err != nil || len(text) > longestTokens*most {
			return true
		}
		var tokens int
		tokens, err = counter.CountTokens(text)
		return tokens > most
	}
	if !tooMuch(len(rows)) {
		return first(len(rows)), err
	}
	n := sort.Search(len(rows), func(n int) bool { return tooMuch(n + 1) })
	return first(n), err
}
