package cupelchat

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const claudeSession = `{"type":"summary","summary":"Bakery","leafUuid":"u9"}
{"type":"user","sessionId":"s","uuid":"u1","timestamp":"2026-05-01T10:00:00Z","message":{"role":"user","content":"Fix the oven test."}}
{"type":"assistant","sessionId":"s","uuid":"u2","message":{"id":"m1","role":"assistant","content":[{"type":"text","text":"I read it."}]}}
{"type":"assistant","sessionId":"s","uuid":"u3","message":{"id":"m1","role":"assistant","content":[{"type":"tool_use","id":"t1","name":"Read","input":{"file_path":"oven_test.go"}}]}}
{"type":"user","sessionId":"s","uuid":"u4","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"func TestOven"}]}}
{"type":"assistant","sessionId":"s","uuid":"u5","isSidechain":true,"message":{"role":"assistant","content":"of a helper"}}
{"type":"user","sessionId":"s","uuid":"u6","isCompactSummary":true,"message":{"role":"user","content":"So far: the oven."}}
{"type":"user","sessionId":"s","uuid":"u7","message":{"role":"user","content":"Go on."}}
`

const codexSession = `{"timestamp":"2026-05-01T10:00:00Z","type":"session_meta","payload":{"id":"x"}}
{"timestamp":"2026-05-01T10:00:01Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"Fix the oven test."}]}}
{"timestamp":"2026-05-01T10:00:02Z","type":"event_msg","payload":{"type":"token_count"}}
{"timestamp":"2026-05-01T10:00:03Z","type":"response_item","payload":{"type":"function_call","call_id":"c1","name":"shell","arguments":"{\"command\":[\"ls\"]}"}}
{"timestamp":"2026-05-01T10:00:04Z","type":"response_item","payload":{"type":"function_call_output","call_id":"c1","output":"oven_test.go"}}
{"timestamp":"2026-05-01T10:00:05Z","type":"compacted","payload":{"message":"So far: the oven."}}
{"timestamp":"2026-05-01T10:00:06Z","type":"brand_new","payload":{}}
`

const telemetryMessages = `[
 {"role":"user","parts":[{"type":"text","content":"Weather in Paris?"}]},
 {"role":"assistant","parts":[{"type":"tool_call","id":"c1","name":"weather","arguments":{"city":"Paris"}},{"type":"tool_call","id":"c2","name":"news","arguments":{}}],"finish_reason":"tool_call"},
 {"role":"tool","parts":[{"type":"tool_call_response","id":"c1","response":{"degrees":22}},{"type":"tool_call_response","id":"c2","result":"none"}]},
 {"role":"assistant","parts":[{"type":"reasoning","content":"Warm."},{"type":"text","content":"22 degrees."}]},
 {"role":"user","parts":[{"type":"text","content":"And Rome?"},{"type":"uri","modality":"image","uri":"https://example.com/map.png"},{"type":"uri","mime_type":"audio/wav","uri":"https://example.com/talk.wav"}]}
]`

func TestRecords(t *testing.T) {
	attributes := `{"gen_ai.system_instructions":[{"type":"text","content":"Be brief."}],"gen_ai.input.messages":` + telemetryMessages + "}"
	for _, test := range []struct {
		text   string
		format Format
		items  int
		note   string
		says   string
		why    string
	}{
		{claudeSession, ClaudeCode, 6, "", "So far: the oven.", "blocks of one message are lines of their own, helpers are left out"},
		{codexSession, Codex, 4, "messages[6] is of an unknown type", "So far: the oven.", "events are no messages"},
		{telemetryMessages, OpenTelemetry, 6, "1 audio", "And Rome?", "parts have a content"},
		{attributes, OpenTelemetry, 7, "1 image", "Be brief.", "the attributes of a span"},
	} {
		found, err := Detect([]byte(test.text))
		require.NoError(t, err)
		assert.Equal(t, test.format, found[0])
		c := read(t, test.format, []byte(test.text))
		assert.Len(t, c.Items(), test.items, test.why)
		assert.Contains(t, fmt.Sprint(c.Notes()), test.note, test.why)
		assert.Contains(t, linesOf(c.Items()), test.says, test.why)
		w, err := c.Select(t.Context(), chooser(t, everything), budget(t, 1e6))
		require.NoError(t, err)
		_, err = w.Body()
		assert.ErrorAs(t, err, new(*Error), test.why)
		assert.ErrorContains(t, err, "only read", test.why)
	}
}
