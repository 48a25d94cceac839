package cupelchat

import (
	"slices"

	"github.com/wollax/cupel-go/internal/rawjson"
)

// anthropicCodec is Anthropic's Messages API.
type anthropicCodec struct{}

func (anthropicCodec) name() string { return "Anthropic's Messages API" }
func (anthropicCodec) list() string { return "messages" }

func (anthropicCodec) rules() rules {
	return rules{userFirst: true, alternate: true, content: "content", thinking: true, cache: true}
}

func (anthropicCodec) signs() signs {
	return signs{
		request: []string{"system", "anthropic_version", "anthropic_beta", "stop_sequences", "mcp_servers"},
		message: []string{"stop_reason"},
		parts: []string{
			"tool_use", "tool_result", "thinking", "redacted_thinking", "image", "document", "search_result", "server_tool_use",
			"web_search_tool_result", "mcp_tool_use", "mcp_tool_result", "container_upload", "compaction",
		},
	}
}

func (anthropicCodec) note(text string) []byte {
	return slices.Concat([]byte(`{"role": "user", "content": `), quoted(text), []byte("}"))
}

func (anthropicCodec) text(text string) []byte { return textBlock("text", text) }

func (anthropicCodec) request(r *reader, body *rawjson.Object) error {
	if err := r.tools(body, anthropicToolsTokens, "tools"); err != nil {
		return err
	}
	return r.system(body, "system")
}

// system reads a system prompt that is a member of the request.
func (r *reader) system(body *rawjson.Object, name string) error {
	for _, m := range body.Members {
		if m.Name != name || m.Value.IsNull() {
			continue
		}
		r.beginMember(m, "system")
		r.current().words = true
		if err := r.content(m.Value, name); err != nil {
			return err
		}
	}
	return nil
}

func (anthropicCodec) message(r *reader, o *rawjson.Object, path string) error {
	role, err := r.role(o, path, "system", "user", "assistant")
	if err != nil {
		return err
	}
	content := o.Get("content")
	if content.IsNull() {
		return empty(o, path)
	}
	if role != "user" || !content.IsArray() {
		e := r.entry(role)
		e.asks = role == "user"
		return r.content(content, path+".content")
	}
	if len(content.Elements()) == 0 {
		r.entry(role)
		return nil
	}
	return r.userBlocks(content, path+".content")
}

// userBlocks reads a message of the user's.
func (r *reader) userBlocks(content rawjson.Value, path string) error {
	isResult := func(o *rawjson.Object) bool { return o.Get("type").String() == "tool_result" }
	return r.results(content, path, isResult, func(v rawjson.Value, path string) error {
		o, err := v.Object(path)
		if err == nil && isResult(&o) {
			return r.toolResult(&o, path)
		}
		return r.part(v, path)
	})
}

// toolResult reads a tool_result of Anthropic's API.
func (r *reader) toolResult(o *rawjson.Object, path string) error {
	id, err := str(o, path, "tool_use_id")
	if err != nil {
		return err
	}
	r.returned(id)
	err = r.content(o.Get("content"), path+".content")
	r.current().words = false // the text is the tool's
	return err
}
