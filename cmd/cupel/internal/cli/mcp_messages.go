package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/wollax/cupel-go/cmd/cupel/internal/input"
	"github.com/wollax/cupel-go/cmd/cupel/internal/terminal"
	"github.com/wollax/cupel-go/internal/english"
)

// mcpFit are the arguments of fit_messages.
type mcpFit struct {
	Messages json.RawMessage `json:"messages,omitempty" jsonschema:"a list of messages, or a request of OpenAI, Anthropic, Gemini, Bedrock or Ollama"`
	File     string          `json:"file,omitempty" jsonschema:"a file with the messages in place of them"`
	Tokens   int             `json:"tokens" jsonschema:"tokens of the window"`
	mcpPage
}

// fitMessages is the tool fit_messages.
func (t *mcpTools) fitMessages(ctx context.Context, in *mcpFit) (string, error) {
	if (len(in.Messages) > 0) == (in.File != "") {
		return "", errors.New("give either messages (a list or a request) or file")
	}
	text := string(in.Messages)
	if in.File != "" {
		var err error
		if text, err = t.readFile(t.root, in.File); err != nil {
			return "", err
		}
	}
	if strings.HasPrefix(text, `"`) { // JSON Lines, or JSON of clients that write each argument as a text
		var lines string
		if err := json.Unmarshal([]byte(text), &lines); err != nil {
			return "", err
		}
		text = lines
	}
	s, err := t.selection(text, in.Tokens)
	if err != nil {
		return "", err
	}
	window, err := s.choose(ctx, s.budget)
	if err != nil {
		return "", s.selecting(ctx, err)
	}
	body, err := window.Body()
	if err != nil {
		return "", err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", s.summary(window.Report))
	for _, text := range slices.Concat(s.Notes, window.Notes) {
		fmt.Fprintf(&b, "note: %s\n", mcpNames.Replace(text))
	}
	fmt.Fprintf(&b, "\n%s", body)
	return b.String(), nil
}

// selection prepares the messages of a text for a budget.
func (t *mcpTools) selection(text string, tokens int) (*selection, error) {
	budget, err := budgetOf(tokens)
	if err != nil {
		return nil, err
	}
	candidates, err := input.Read(strings.NewReader(text), input.Options{Counter: t.counter})
	if err != nil {
		return nil, err
	}
	if candidates.Conversation == nil {
		return nil, fmt.Errorf("these are not messages (%s): give a list of messages with roles, or a request", candidates.Format)
	}
	return t.chooser.selection(candidates, budget)
}

// mcpSession are the arguments of explain_session.
type mcpSession struct {
	Session string `json:"session,omitempty" jsonschema:"the path of a session"`
	Tokens  int    `json:"tokens,omitempty" jsonschema:"tokens of the window (default 20000)"`
	Find    string `json:"find,omitempty" jsonschema:"explain only messages with this text"`
	mcpPage
}

// explainSession is the tool explain_session.
func (t *mcpTools) explainSession(ctx context.Context, in *mcpSession) (string, error) {
	if in.Session == "" {
		return t.listSessions()
	}
	text, err := t.readFile(t.sessions, in.Session)
	if err != nil {
		return "", err
	}
	s, err := t.selection(text, cmp.Or(in.Tokens, 20_000))
	if err != nil {
		return "", err
	}
	window, err := s.choose(ctx, s.budget)
	if err != nil {
		return "", s.selecting(ctx, err)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", s.summary(window.Report))
	found, kept := 0, s.kept(window.Report)
	for i, item := range s.Items {
		if !strings.Contains(item.Content(), in.Find) {
			continue
		}
		found++
		state := "out"
		switch {
		case kept[i] == nil:
		case kept[i].Content() == item.Content():
			state = "whole"
		case strings.Contains(kept[i].Content(), in.Find):
			state = "cut"
		default:
			state = "cut without the text"
		}
		fmt.Fprintf(&b, "%s, %s, %s tokens, %s: %s\n", named(item, i), kindOf(item), english.Grouped(item.Tokens()), state, terminal.Excerpt(headline(item), 80))
	}
	if found == 0 {
		b.WriteString("No message has the text.\n")
	}
	return b.String(), nil
}

// listSessions lists the sessions, and counts the other files.
func (t *mcpTools) listSessions() (string, error) {
	var b strings.Builder
	sessions, others := 0, 0
	err := fs.WalkDir(t.sessions.FS(), ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil && name == ".":
			return err
		case err != nil:
			return fs.SkipDir // as with unreadable files elsewhere
		case entry.IsDir():
			return nil
		case !strings.HasSuffix(name, ".jsonl") || !entry.Type().IsRegular() || input.Hidden(name):
			others++
			return nil
		}
		sessions++
		fmt.Fprintf(&b, "%s\n", terminal.Safe(name))
		return nil
	})
	return fmt.Sprintf("%s, %s skipped\n%s", english.Plural(sessions, "session"), english.Count(others, "other file"), b.String()), err
}
