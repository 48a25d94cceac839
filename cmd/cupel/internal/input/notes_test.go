package input

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAlmost(t *testing.T) {
	for _, tt := range []struct {
		name, known string
		want        bool
		why         string
	}{
		{"content", "content", false, "the name itself is no mistake"},
		{"Content", "content", true, "another case"},
		{"original_tokens", "originalTokens", true, "marks between words"},
		{"future-relevance-hint", "futureRelevanceHint", true, "and the other mark"},
		{"conten", "content", true, "a letter too few"},
		{"ontent", "content", true, "the first one too"},
		{"contents", "content", true, "a letter too many"},
		{"contant", "content", true, "a wrong letter"},
		{"cotnent", "content", true, "neighbors in each other's place"},
		{"ocntent", "content", true, "at the beginning"},
		{"conetnt", "content", true, "between equal letters"},
		{"cotmnent", "content", false, "two slips"},
		{"coxyent", "content", false, "two wrong letters"},
		{"cotxent", "content", false, "two wrong letters, one of them its neighbor"},
		{"coxnent", "content", false, "or the other one"},
		{"cottnent", "content", false, "a wrong letter beside one too many"},
		{"context", "content", true, "one letter is enough, also in a word of its own"},
		{"kd", "kind", false, "two letters too few"},
		{"kindly", "kind", false, "two letters too many"},
		{"", "tags", false, "nothing is no slip"},
	} {
		require.Equal(t, tt.want, almost(tt.name, tt.known), "%s and %s: %s", tt.name, tt.known, tt.why)
	}
}

func TestItemNotes(t *testing.T) {
	many := strings.Repeat(`{"content":"a"},`, mostLookedAt)
	for _, tt := range []struct{ text, want, why string }{
		{`[{"content":"a","Priority":1}]`, `item 1: "Priority" is unknown and has no effect; did you mean "priority"?`, "the field would be ignored without a word"},
		{`[{"content":"a"},{"content":"a","token":3},{"content":"a","pined":true}]`, `item 2: "token" is unknown and has no effect; did you mean "tokens"?`, "the first mistake is named"},
		{`[{"content":"a","token":3,"tokens":1}]`, "", "the right name is there too"},
		{`[{"content":"a","owner":3}]`, "", "other fields are the caller's"},
		{"[" + many + `{"content":"a","token":3}]`, "", "one mistake is in all of a file"},
		{"[" + many[len(`{"content":"a"},`):] + `{"content":"a","token":3}]`, `item 100: "token" is unknown and has no effect; did you mean "tokens"?`, "the last item that is looked at"},
		{"[]", "the list is empty: there is nothing to choose from", "an empty window would look like an answer"},
		{`[{"content":"a","tokens":0},{"content":"b","tokens":-1},{"content":"c","tokens":-7}]`, "left out, with less than 0 tokens: 2 items", "0 tokens are no mistake"},
	} {
		got, err := read(tt.text, JSON)
		require.NoError(t, err, tt.why)
		require.Equal(t, tt.want, strings.Join(got.Notes, "; "), tt.why)
	}
}

func TestLogs(t *testing.T) {
	for _, tt := range []struct {
		text string
		want Format
		why  string
	}{
		{"started\nstopped\n", Log, "plain text"},
		{"[INFO] started\n", Log, "a bracket around a level"},
		{"[1\nstarted\n", Log, "a bracket that the line does not close"},
		{`{"level":"INFO","msg":"started"}` + "\n" + `{"level":"INFO","msg":"stopped"}`, Log, "records of log/slog"},
		{`{"level":"info","message":"started"}`, Log, "records of other loggers"},
		{`{"msg":"started","content":"a"}`, JSONLines, "a record has a level"},
		{`{"level":"info","message":"x","role":"user","parts":[{"text":"a"}]}`, "gemini", "a message with a field of its own"},
		{`{"level":"info","message":"x","content":"a"}`, JSONLines, "an item with two"},
		{`{"level":3,"message":7,"content":"a"}`, JSONLines, "an item with a level"},
	} {
		got, err := read(tt.text, Auto)
		require.NoError(t, err, tt.why)
		require.Equal(t, tt.want, got.Format, tt.why)
		require.NotEmpty(t, got.Items[0].Content(), tt.why)
	}
}

func TestIsLog(t *testing.T) {
	for _, tt := range []struct {
		text string
		want bool
		why  string
	}{
		{"\n \r\n\t", false, "it has no line"},
		{" \t\r\nstarted", true, "blank lines come first"},
		{"\x00started", false, "it is not text"},
		{"data: started", false, "a stream of events"},
		{"event: started", false, "also by its other field"},
		{"12", false, "a value of JSON"},
		{"12 ms", true, "a line that begins with one"},
		{"[", false, "a list whose elements are on other lines"},
		{"[]", false, "a list of nothing"},
		{"[ {", false, "a list of objects"},
		{"[\t[", false, "a list of lists"},
		{`[ "a"`, false, "a list of texts"},
		{"[ 12:00] started", true, "a time in brackets"},
		{`{"level":1,"msg":"a"`, false, "a record that is not whole"},
		{`{"level":1,"level":2,"msg":"a"}`, false, "which level is meant?"},
		{`{"level":1,"msg":1}`, false, "its message is no text"},
		{`{"msg":"a"}`, false, "it has no level"},
		{`{"level":1,"msg":"a","role":"user"}`, true, "attributes of log/slog have any name"},
		{`{"level":1,"message":"a","role":"user"}`, false, "a message of a chat"},
		{`{"level":1,"message":"a","content":"b"}`, false, "an item"},
	} {
		require.Equal(t, tt.want, isLog([]byte(tt.text)), "%q: %s", tt.text, tt.why)
	}
}

func TestLogWithoutCounter(t *testing.T) {
	_, err := Read(strings.NewReader("\n\nb\nc"), Options{Format: Log})
	require.ErrorContains(t, err, "line 3: ")
}

func TestBreak(t *testing.T) {
	for _, tt := range []struct {
		text string
		most int
		want int
		why  string
	}{
		{"abc", 3, 3, "it is short enough"},
		{"ab cd ef", 7, 6, "after the last space"},
		{"abcdef", 4, 4, "between characters where there is no space"},
		{"a bcdefgh", 8, 8, "and where the space leaves most of the room empty"},
		{"東京", 4, 3, "between whole characters"},
		{"東京", 2, 1, "a piece is never empty"},
		{"\x80\x80", 1, 1, "also of bytes that are no characters"},
		{"abcd efghij", 8, 5, "a space in the middle is far enough"},
		{"abc defghij", 8, 8, "one before it is not"},
	} {
		require.Equal(t, tt.want, Break(tt.text, tt.most, " "), "%q at %d: %s", tt.text, tt.most, tt.why)
	}
}

func TestAnswer(t *testing.T) {
	const message = `"messages":[{"role":"user","content":"x"}]`
	for _, tt := range []struct {
		request string
		want    int
		why     string
	}{
		{`{"max_tokens":7,` + message + `}`, 7, "most APIs"},
		{`{"max_completion_tokens":8,"max_tokens":7,` + message + `}`, 8, "the newer name of OpenAI's counts"},
		{`{"max_output_tokens":9,"input":"x"}`, 9, "the Responses API"},
		{`{"max_tokens":-7,` + message + `}`, 0, "less than none is none"},
		{`{"max_output_tokens":7,"max_tokens":"7",` + message + `}`, 0, "an API would refuse it"},
		{`{` + message + `}`, 0, "no limit"},
		{`{"contents":[{"role":"user","parts":[{"text":"x"}]}],"generationConfig":{"maxOutputTokens":5}}`, 5, "Gemini"},
		{`{"messages":[{"role":"user","content":[{"text":"x"}]}],"inferenceConfig":{"maxTokens":6}}`, 6, "Bedrock"},
		{`{"model":"m",` + message + `,"options":{"num_predict":4}}`, 4, "Ollama"},
	} {
		got, err := read(tt.request, Auto)
		require.NoError(t, err, tt.why)
		require.Equal(t, tt.want, got.Answer, tt.why)
	}
}
