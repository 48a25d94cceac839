package cupelchat

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// apiCase is a body that an API refuses or takes.
type apiCase struct {
	Name string
	Body []byte

	// Of a body that is taken.
	Why string

	// Of a body that is refused.
	Path, Rule string
	Says       string // the error that Source quotes; after "form:", in the API's usual form; after "schema:" or "documented:", the rule in our words
	Source     string // where that is written
	Also       []string
}

// casesOf reads the bodies in testdata/check: what each API refuses, with its
// documented error, and unusual ones that it takes. kind is bad or good.
func casesOf(tb testing.TB, f Format, kind string) []apiCase {
	tb.Helper()
	name := filepath.Join("testdata", "check", f.String()+"-"+kind+".jsonl")
	data, err := os.ReadFile(name)
	require.NoError(tb, err)
	var list []apiCase
	for i, line := range bytes.Split(bytes.TrimSpace(data), []byte("\n")) {
		var row struct {
			Name, Why, Path, Rule, Says, Source, Text string
			Also                                      []string
			Body                                      json.RawMessage
		}
		decoder := json.NewDecoder(bytes.NewReader(line))
		decoder.DisallowUnknownFields()
		require.NoError(tb, decoder.Decode(&row), "%s:%d", name, i+1)
		body := []byte(row.Body)
		if row.Text != "" {
			body = []byte(row.Text)
		}
		switch {
		case kind == "good" && row.Why == "":
			tb.Fatalf("%s:%d: no reason is given", name, i+1)
		case kind == "bad" && (row.Rule == "" || row.Says == "" || !strings.HasPrefix(row.Source, "https://")):
			tb.Fatalf("%s:%d: a rule, what the API says, or the source is missing", name, i+1)
		}
		list = append(list, apiCase{row.Name, body, row.Why, row.Path, row.Rule, row.Says, row.Source, row.Also})
	}
	return list
}
