package cupelchat

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Of conversations that programs have broken nothing is refused after the repair for a
// rule that is repaired, and sound ones stay as they are.
func TestRepair(t *testing.T) {
	mended, seeds := 0, 300
	if testing.Short() {
		seeds = 60
	}
	for _, f := range writable {
		for seed := range uint64(seeds) {
			rng := rand.New(rand.NewPCG(seed, 5))
			data := randomBody(rng, f, int(seed%4))
			c, err := Read(data, f, bytesCounter{}, WithRepair())
			if err != nil {
				continue
			}
			found := Check(data, f)
			if len(found) == 0 {
				require.Equal(t, string(data), string(c.text))
				continue
			}
			for _, v := range Check(c.text, f) {
				if _, known := repaired[v.Rule]; (known || v.Rule == "alternation") && len(messagesOf(t, f, string(c.text))) > 1 { // of one message nothing would be left
					t.Fatalf("%s, seed %d: %v is left of %v in\n%s\nof\n%s\n%q", f, seed, v, found, c.text, data, c.notes)
				}
			}
			if string(c.text) != string(data) {
				mended++
				require.NotEmpty(t, c.Notes())
			}
		}
	}
	require.Greater(t, mended, seeds)
}

func TestRepairs(t *testing.T) {
	call := `{"role":"assistant","content":"I look.","tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}]}`
	result := `{"role":"tool","tool_call_id":"a","content":"found"}`
	user, last := `{"role":"user","content":"x"}`, `{"role":"user","content":"y"}`
	many := func(text string) []string {
		return slices.Repeat([]string{user, `{"role":"assistant","content":[` + text + `{"type":"text","text":"x"}]}`}, 20)
	}
	for _, test := range []struct {
		name     string
		f        Format
		messages []string
		want     []string
		note     string
		why      string
	}{
		{"no call", OpenAI, []string{user, result, last}, []string{user, last}, "left out messages[1]: a tool message must follow", "the call was cut off"},
		{"no result", OpenAI, []string{user, call, last}, []string{user, `{"role": "assistant", "content": "[earlier: f(); not answered]\nI look."}`, last}, "messages[1] has become a text", "the program ended before the tool did"},
		{"result twice", OpenAI, []string{user, call, result, result, last}, []string{user, call, result, last}, "left out messages[3]", "the first one answers"},
		{"result first", OpenAI, []string{user, result, call, last}, []string{user, `{"role": "assistant", "content": "[earlier: f(); not answered]\nI look."}`, last}, "left out messages[1]", "no order is made up"},
		{"sound", OpenAI, []string{user, call, result, last}, []string{user, call, result, last}, "", "nothing is changed"},
		{"blank", Anthropic, []string{user, `{"role":"assistant","content":" "}`, last}, []string{`{"role":"user","content":[{"type":"text","text":"x"},{"type":"text","text":"y"}]}`}, "left out messages[1]", "its neighbours are of one role"},
		{"empty text", Anthropic, []string{`{"role":"user","content":[{"type":"text","text":""},{"type":"text","text":"x"}]}`}, []string{`{"role":"user","content":[{"type":"text","text":"x"}]}`}, "left out a text of messages[0]", "the other text stays"},
		{"blank text", Anthropic, []string{`{"role":"user","content":[{"type":"text","text":"x"},{"type":"text","text":" "}]}`}, []string{`{"role":"user","content":[{"type":"text","text":"x"}]}`}, "left out a text of messages[0]", "spaces say nothing either"},
		{"many texts", Anthropic, many(`{"type":"text","text":" "},`), many(""), "left out a text of messages[39]", "there may be one in each message"},
		{"nothing else", Anthropic, []string{`{"role":"user","content":" "}`}, []string{`{"role":"user","content":" "}`}, "the API refuses messages[0]", "a request has a message"},
		{"blank before a call", Anthropic, []string{`{"role":"user","content":" "}`, `{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":{}}]}`, `{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"1"}]}`},
			[]string{`{"role":"user","content":[{"type":"text","text":"[earlier messages left out]"}]}`, `{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":{}}]}`, `{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"1"}]}`}, "left out messages[0]", "a call follows the user"},
		{"prefill", Anthropic, []string{user, `{"role":"assistant","content":"I "}`}, []string{user}, "left out messages[1]", "the last message may not end with a space"},
		{"one of two calls", OpenAI, []string{user, strings.Replace(call, "}}]", `}},{"id":"b","type":"function","function":{"name":"g","arguments":"{}"}}]`, 1), result, last}, []string{user, `{"role": "assistant", "content": "[earlier: f(), g(); not answered]\nI look.\nf():\nfound"}`, last}, "messages[1] has become a text", "the result belongs to the text, once"},
		{"one of two results", Anthropic, []string{user, `{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":{}}]}`, `{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"1"},{"type":"tool_result","tool_use_id":"b","content":"2"},{"type":"text","text":"t"}]}`},
			[]string{user, `{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":{}}]}`, `{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"1"},{"type":"text","text":"t"}]}`}, "left out messages[2]", "the message keeps the rest"},
	} {
		c := read(t, test.f, []byte(`{"messages":[`+strings.Join(test.messages, ",")+`]}`), WithRepair())
		require.JSONEq(t, `{"messages":[`+strings.Join(test.want, ",")+`]}`, string(c.text), "%s: %s", test.name, test.why)
		if test.note == "" {
			require.Empty(t, c.Notes(), test.name)
		} else {
			require.Contains(t, strings.Join(c.Notes(), "\n"), test.note, test.name)
		}
	}
}

// Notes name the first values that the API refuses, and count the others.
func TestManyRefusedValues(t *testing.T) {
	stray := `{"role":"tool","tool_call_id":"a","content":"found"}`
	for _, tt := range []struct {
		strays, named int
		last          string
		why           string
	}{
		{9, 9, "the API refuses messages[9]", "each is named"},
		{10, 10, "the API refuses messages[10]", "still each"},
		{11, 10, "the API refuses 1 value more; Check lists all", "one is counted"},
		{300, 10, "the API refuses 290 values more; Check lists all", "a list that no reader would finish"},
	} {
		body := `{"messages":[{"role":"user","content":"x"}` + strings.Repeat(","+stray, tt.strays) + `]}`
		require.Empty(t, Check(read(t, OpenAI, []byte(body), WithRepair()).text, OpenAI), "all are left out")
		c, err := Read([]byte(body), OpenAI, bytesCounter{})
		require.NoError(t, err)
		var named []string
		for _, note := range c.Notes() {
			if strings.HasPrefix(note, "the API refuses messages[") {
				named = append(named, note)
			}
		}
		require.Len(t, named, tt.named, tt.why)
		require.Contains(t, c.Notes()[len(c.Notes())-1], tt.last, tt.why)
	}
}
