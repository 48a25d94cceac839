package cli

import (
	"context"
	"encoding/json"
	"errors"
	"slices"

	"github.com/wollax/cupel-go/cmd/cupel/internal/terminal"
	"github.com/wollax/cupel-go/cupelreduce"
)

// mcpWindow is what select returns.
type mcpWindow struct {
	Window     json.RawMessage `json:"window" jsonschema:"the conversation with what was chosen, as a request for the same API; or the chosen items"`
	Tokens     int             `json:"tokens" jsonschema:"tokens of the window"`
	Budget     int             `json:"budget"`
	Included   int             `json:"included" jsonschema:"candidates in the window, whole or in a smaller form"`
	Candidates int             `json:"candidates"`
	Dropped    []jsonCandidate `json:"dropped" jsonschema:"candidates that are out, and why"`
	Notes      []string        `json:"notes" jsonschema:"what was estimated, reduced, restored or joined"`
}

// choosing is the tool select.
func (t *mcpTools) choosing(ctx context.Context, in *mcpSelect) (*mcpWindow, error) {
	s, err := t.selection(ctx, in)
	if err != nil {
		return nil, err
	}
	window, err := s.run(ctx)
	if err != nil {
		return nil, s.selecting(err)
	}
	out := &mcpWindow{Budget: s.budget.MaxTokens(), Included: len(window.Items), Candidates: len(s.Items), Notes: []string{}}
	if s.Conversation != nil {
		out.Window, err = window.Body()
	} else {
		out.Window, err = json.Marshal(window.Items)
	}
	if err != nil {
		return nil, err
	}
	for _, text := range slices.Concat(s.Notes, window.Notes) {
		out.Notes = append(out.Notes, mcpNames.Replace(text))
	}
	a := newAccount(s.Items, s.budget, window.Report)
	out.Tokens, out.Dropped = a.used(), a.jsonCandidates(a.Out)
	for i := range out.Dropped { // the caller has the contents
		out.Dropped[i].Content = terminal.Excerpt(out.Dropped[i].Content, 100)
	}
	return out, nil
}

// mcpOutline are the arguments of outline.
type mcpOutline struct {
	Text   string `json:"text,omitempty" jsonschema:"the text"`
	File   string `json:"file,omitempty" jsonschema:"a file with the text in place of it, below the folder that the server may read"`
	Tokens int    `json:"tokens" jsonschema:"the most tokens of the outline: at least 1"`
}

// mcpOutlined is what outline returns.
type mcpOutlined struct {
	Outline    string `json:"outline"`
	Kind       string `json:"kind" jsonschema:"what the text was taken for: log, prose, code, diff or json"`
	Tokens     int    `json:"tokens"`
	FullTokens int    `json:"full_tokens" jsonschema:"tokens of the whole text"`
}

// outline is the tool outline.
func (t *mcpTools) outline(_ context.Context, in *mcpOutline) (*mcpOutlined, error) {
	text := in.Text
	switch {
	case (in.Text == "") == (in.File == ""):
		return nil, errors.New("give either text or file")
	case in.Tokens < 1:
		return nil, errors.New("tokens must be at least 1")
	case in.File != "":
		data, err := t.readText(in.File)
		if err != nil {
			return nil, err
		}
		text = string(data)
	}
	counter, err := counterNamed(t.encoding)
	if err != nil {
		return nil, err
	}
	var failed error
	count := func(text string) int {
		n, err := counter.CountTokens(text)
		failed = errors.Join(failed, err)
		return n
	}
	out := &mcpOutlined{Outline: cupelreduce.To(text, in.Tokens, cupelreduce.WithCounter(count)), Kind: cupelreduce.Detect(text).String(), FullTokens: count(text)}
	if out.Outline == "" && text != "" {
		out.Outline = "…" // an empty one would be that of an empty text
	}
	out.Tokens = count(out.Outline)
	return out, failed
}
