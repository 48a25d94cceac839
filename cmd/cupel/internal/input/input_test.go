package input

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupelchat"
)

// bytesCounter counts a token for each byte.
type bytesCounter struct{}

func (bytesCounter) CountTokens(text string) (int, error) { return len(text), nil }

func read(text string, format Format) (*Candidates, error) {
	return Read(strings.NewReader(text), Options{Format: format, Counter: bytesCounter{}})
}

// wire is what an item is in JSON.
func wire(t *testing.T, items []*cupel.ContextItem) []string {
	t.Helper()
	var list []string
	for _, item := range items {
		text, err := item.MarshalJSON()
		require.NoError(t, err)
		list = append(list, string(text))
	}
	return list
}

func TestItems(t *testing.T) {
	a := `{"content":"a","tokens":3,"kind":"Document","source":"Rag","priority":2,"pinned":true}`
	b := `{"content":"bb","tokens":2,"kind":"Message","source":"Chat","metadata":{"n":1.50},"color":"red"}`
	tests := []struct {
		name, why, text string
		format          Format // that is found
		want            []string
	}{
		{"array", "the usual form", "[" + a + ",\r\n" + b + "]", JSON, []string{a, b}},
		{"one line", "a file of one line may be JSON Lines", a, JSONLines, []string{a}},
		{"lines", "blank lines and line ends of Windows do not matter", "\n" + a + "\r\n\r\n  " + b + " \n\n", JSONLines, []string{a, b}},
		{"byte order mark", "editors of Windows write one", "\xef\xbb\xbf[" + a + "]", JSON, []string{a}},
		{"object", "an object may hold the items, and more", `{"version":1,"items":[` + b + `]}`, JSON, []string{b}},
		{"no count", "missing tokens are counted by the content as it is", `[{"content":"c\n ü"}]`, JSON, []string{`{"content":"c\n ü","tokens":5,"kind":"Message","source":"Chat"}`}},
		{"null count", "null is absent", `[{"tokens" : null , "content":"cc"}]`, JSON, []string{`{"content":"cc","tokens":2,"kind":"Message","source":"Chat"}`}},
		{"integers as other tools write them", "JSON Schema counts 128.0 and 1e3 as integers", `[{"content":"c","tokens":128.0,"priority":1e3}]`, JSON, []string{`{"content":"c","tokens":128,"kind":"Message","source":"Chat","priority":1000}`}},
		{"nothing", "no items are items", `[]`, JSON, nil},
		{"unicode line separators", "only line feeds end a line", a + "\n" + `{"content":"` + "x\u2028y\u0085z" + `","tokens":1}`, JSONLines, []string{a, `{"content":"` + "x\u2028y\u0085z" + `","tokens":1,"kind":"Message","source":"Chat"}`}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, format := range []Format{Auto, "", tt.format} {
				got, err := read(tt.text, format)
				require.NoError(t, err, tt.why)
				require.Equal(t, tt.format, got.Format, tt.why)
				require.Nil(t, got.Conversation)
				if tt.want == nil {
					require.Equal(t, []string{"the list is empty: there is nothing to choose from"}, got.Notes)
				} else {
					require.Empty(t, got.Notes)
				}
				require.Equal(t, tt.want, wire(t, got.Items), tt.why)
			}
		})
	}
}

// failing is a counter that fails.
type failing struct{}

func (failing) CountTokens(string) (int, error) { return 0, errors.New("no vocabulary") }

func TestCounterFails(t *testing.T) {
	_, err := Read(strings.NewReader("[\n{\"content\":\"a\"}]"), Options{Counter: failing{}})
	wrong := new(Error)
	require.ErrorAs(t, err, &wrong)
	require.Equal(t, 2, wrong.Line)
	require.Equal(t, "[0]", wrong.Path)
	require.Contains(t, wrong.Reason, "cannot be counted: ")
	_, err = Read(strings.NewReader("started\n"), Options{Counter: failing{}})
	require.ErrorContains(t, err, "line 1: cupel: token counter input.failing failed", "nor can a line")
}

func TestMistakes(t *testing.T) {
	tests := []struct {
		name, why, text string
		format          Format
		want            string
	}{
		{"empty", "an empty file is no list of items", "", Auto, "line 1: expected JSON, got nothing (column 1)"},
		{"element", "the index and the line are named", "[\n{\"content\":\"a\"},\n\n3]", Auto, "line 4: [1] must be an object, got a number"},
		{"element of an object", "with the path", `{"items":[{"content":"a"},{}]}`, Auto, "line 1: items[1].content is required"},
		{"empty element", "an object without a field is no message", `[{}]`, Auto, "line 1: [0].content is required"},
		{"strange element", "with any it is", `[{"id":1}]`, Auto, "line 1: [0] is not a message in a known format: it has no role"},
		{"parts of a type", "nor is one with parts an item", `[{"type":"x","content":[{"type":"text","text":"x"}]}]`, Auto, "line 1: [0] is not a message in a known format: it has no role"},
		{"binary", "nor is a file that is no text", "a\x00\n", Auto, "line 1: invalid character 'a'"},
		{"request of another API", "a format that is named counts, also against signs", `{"input":"x"}`, Anthropic, "line 1: messages is required"},
		{"broken line of a format", "also where lines are wanted", "{\"content\":", JSONLines, "line 1: unexpected end of JSON input"},
		{"not UTF-8", "no character is replaced", "[\"\xff\"]", Auto, "line 1: the text is not valid UTF-8 at byte 2"},
		{"one event", "a stream may have one line", "data: {}", Auto, "line 1: this is an event stream sent by an API"},
		{"tokens", "what package cupel says gets its place", "[{\"content\":\"a\",\"tokens\":1},\n{\"content\":\"a\",\"tokens\":\"1\"}]", Auto, "line 2: [1].tokens must be an integer, got a string"},
		{"line", "the line of JSON Lines is enough", "{\"content\":\"a\"}\n\n{\"content\":\"\"}", Auto, "line 3: content must not be empty"},
		{"twice in the request", "nor which messages", `{"messages":[],"messages":[]}`, Auto, "line 1: messages is given twice"},
		{"a record alone", "a list was named", `{"level":"a","msg":"a"}`, JSON, "line 1: items must be an array, got null"},
		{"null line", "in a line neither", "null", JSONLines, "line 1: must be an object, got null"},
		{"broken line", "the broken line is named", "{\"content\":\"a\"}\n{\"content\":", Auto, "line 2: unexpected end of JSON input (column 11)"},
		{"two APIs", "signs of two APIs are not decided by majority", `[{"role":"user","content":[{"type":"image","source":{}}]},{"role":"tool"}]`, Auto,
			"line 1: [1].role is a sign of OpenAI's Chat Completions API, and [0].content[0] of Anthropic's Messages API: set --format"},
		{"format", "formats are listed", "[]", "yaml", `the format "yaml" is unknown; want one of auto, json, jsonl, log, openai, `},
		{"json of lines", "a format that is named is insisted on", "{}\n{}", JSON, "line 2: invalid character '{' after top-level value (column 1)"},
		{"json of a string", "and no string has any", `"x"`, JSON, "line 1: must be an object, got a string"},
		{"openai items", "a message has a role", `[{"content":"x"}]`, OpenAI, "line 1: messages[0].role is required"},
		{"surrogate", "half a character is no text", `[{"content":"\ud800"}]`, Auto, "line 1: [0].content has an escape that is one half of a surrogate pair"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := read(tt.text, tt.format)
			wrong := new(Error)
			require.ErrorAs(t, err, &wrong, tt.why)
			if tt.want != "" {
				require.ErrorContains(t, err, tt.want, tt.why)
			}
			require.Equal(t, strings.HasPrefix(tt.name, "two APIs"), strings.Contains(err.Error(), "set --format"), "only a format decides")
		})
	}
}

func TestDetection(t *testing.T) {
	const same = "OpenAI's and Anthropic's API take these messages: read as OpenAI's, see --format"
	hello := `{"role":"user","content":"x"}`
	tests := []struct {
		name, why, text string
		want            Format
		note            string
	}{
		{"plain", "without any sign a note says so", "[" + hello + "]", OpenAI, same},
		{"plain lines", "in lines as well", hello + "\n" + hello, OpenAI, same},
		{"plain line", "in one line as well", hello, OpenAI, same},
		{"system role", "Anthropic may have that role too", `[{"role":"system","content":"s"},` + hello + "]", OpenAI, same},
		{"model against form", "a proxy may serve Claude in OpenAI's form: the form counts", `{"model":"claude-x","messages":[{"role":"assistant","content":"","tool_calls":[]},` + hello + "]}", OpenAI, ""},
		{"input", "a request of the Responses API", `{"input":[` + hello + "]}", OpenAI, ""},
		{"answer without a reason", "the parts of the Responses API have other types than text", "[" + hello + `,{"type":"message","role":"assistant","content":[{"type":"text","text":"a"}]}]`, OpenAI, same},
		{"message of the Responses API", "whose messages have these", `[{"type":"message","role":"user","content":[{"type":"input_text","text":"a"}]}]`, OpenAI, ""},
		{"developer", "only OpenAI has that role, in both APIs: the note was wrong", `[{"role":"developer","content":"s"},` + hello + "]", OpenAI, ""},
		{"developer of Claude", "a role counts more than a model", `{"model":"claude-x","messages":[{"role":"developer","content":"s"},` + hello + "]}", OpenAI, ""},
		{"item of a call", "no item of the Responses API has a text and no role", `[{"type":"phone_call","content":"x"}]`, JSON, ""},
		{"items of a type", "a field named type makes no transcript", `[{"type":"human","content":"x"}]`, JSON, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := read(tt.text, Auto)
			require.NoError(t, err, tt.why)
			require.Equal(t, tt.want, got.Format, tt.why)
			require.Equal(t, tt.note != "", slices.Contains(got.Notes, same), tt.why)
			require.Equal(t, tt.want != JSON, got.Conversation != nil, tt.why)
		})
	}
}

func transcripts(t testing.TB) map[string]string {
	t.Helper()
	paths, err := filepath.Glob("../../../../cupelchat/testdata/*.json*")
	require.NoError(t, err)
	require.Greater(t, len(paths), 6)
	texts := map[string]string{}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		require.NoError(t, err)
		texts[filepath.Base(path)] = string(data)
	}
	return texts
}

func TestTranscriptsAreFound(t *testing.T) {
	for name, text := range transcripts(t) {
		want := OpenAI
		for _, f := range cupelchat.Formats() {
			if f != cupelchat.Responses && strings.HasPrefix(name, f.String()) {
				want = Format(f.String())
			}
		}
		for _, format := range []Format{Auto, want} {
			got, err := read(text, format)
			require.NoError(t, err, name)
			require.Equal(t, want, got.Format, name)
			require.NotEmpty(t, got.Items, name)
		}
	}
}

func TestCounterErrors(t *testing.T) {
	_, err := Read(strings.NewReader(`[{"content":"a"}]`), Options{})
	require.ErrorIs(t, err, cupel.ErrInvalidConfig, "without a counter")
	_, err = Read(strings.NewReader(`[{"content":"a","tokens":1}]`), Options{})
	require.NoError(t, err, "nothing is counted")
}

func TestReaderFails(t *testing.T) {
	broken := errors.New("the disk is gone")
	_, err := Read(iotest.ErrReader(broken), Options{})
	require.ErrorIs(t, err, broken)
}

// TestRequests: a request names its model.
func TestRequests(t *testing.T) {
	const message = `{"role":"user","content":[{"type":"text","text":"x"},{"type":"image_url","image_url":{"url":"https://example.com/a.png"}}]}`
	for _, row := range []struct{ text, model string }{
		{`{"model":"gpt","messages":[` + message + `]}`, "gpt"},
		{`{"modelId":"nova","messages":[` + message + `]}`, "nova"},
		{`{"messages":[` + message + `]}`, ""},
		{`[` + message + `]`, ""},
		{message + "\n" + message, ""},
		{message, ""},
	} {
		got, err := Read(strings.NewReader(row.text), Options{Counter: bytesCounter{}, Format: OpenAI})
		require.NoError(t, err, row.text)
		require.Equal(t, row.model, got.Model, row.text)
		require.True(t, got.Items[len(got.Items)-1].Pinned(), "the latest request is pinned")
		free, err := Read(strings.NewReader(row.text), Options{Counter: bytesCounter{}, Format: OpenAI, NoPin: true})
		require.NoError(t, err, row.text)
		require.False(t, free.Items[len(free.Items)-1].Pinned(), "unless no pins are wanted")
	}
	for _, text := range []string{`{"role":"assistant","tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}]}`, `{"content":[{"type":"text","text":"x"}],"role":"user"}`} {
		got, err := read(text, Auto)
		require.NoError(t, err, "%s is a message", text)
		require.NotNil(t, got.Conversation)
	}
}

// TestBigFiles reads what is long, wide or deep.
func TestBigFiles(t *testing.T) {
	const n = 5_000
	item := `{"content":"x","kind":"Document","metadata":{"a":[1,2,3]}}`
	texts := map[string]string{
		"items":     "[" + strings.Repeat(item+",", n) + item + "]",
		"lines":     strings.Repeat(item+"\n", n),
		"huge line": `{"content":"` + strings.Repeat("x y ", 1<<20) + `"}`,
		"blank":     strings.Repeat("\n", 1<<20) + item,
		"nested":    `[{"content":"x","metadata":{"a":` + strings.Repeat("[", 9000) + strings.Repeat("]", 9000) + `}}]`,
		"messages":  "[" + strings.Repeat(`{"role":"user","content":[{"type":"text","text":"x"}]},`, n) + `{"role":"user","content":"y"}]`,
		"bad last":  "[" + strings.Repeat(item+",\n", n) + "3]",
	}
	for name, text := range texts {
		t.Run(name, func(t *testing.T) {
			_, err := Read(strings.NewReader(text), Options{Counter: cupel.HeuristicCounter{}})
			if name == "bad last" {
				require.EqualError(t, err, fmt.Sprintf("line %d: [%d] must be an object, got a number", n+1, n))
			} else {
				require.NoError(t, err)
			}
		})
	}
}

// FuzzRead holds that nothing panics, and that items can be written.
func FuzzRead(f *testing.F) {
	for _, text := range transcripts(f) {
		f.Add([]byte(text), uint8(0))
	}
	for _, text := range []string{
		``, `[]`, `[{}]`, `null`, `{"items":[{"content":"a"}]}`, `{"content":"a"}` + "\n" + `{"content":"b","tokens":1}`, "\xef\xbb\xbf[]",
		`{"input":"x"}`, `{"content":"x","input":"y"}`, `[{"type":"phone_call","content":"x"}]`, "data: {}\n", `{"messages":{}}`,
	} {
		for i := range 3 {
			f.Add([]byte(text), uint8(i))
		}
	}
	formats := []Format{Auto, JSON, JSONLines, OpenAI, Anthropic}
	f.Fuzz(func(t *testing.T, data []byte, choice uint8) {
		format := formats[int(choice)%len(formats)]
		got, err := Read(bytes.NewReader(data), Options{Format: format, Counter: cupel.HeuristicCounter{}, NoPin: choice > 127})
		if err != nil {
			if got != nil || err.Error() == "" {
				t.Fatal("an error with a result, or without words")
			}
			return
		}
		for _, item := range got.Items {
			if _, err := item.MarshalJSON(); err != nil && got.Conversation != nil {
				t.Fatalf("an item that cannot be written: %v", err)
			}
		}
	})
}
