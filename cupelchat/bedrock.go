package cupelchat

import (
	"slices"
	"strings"

	"github.com/wollax/cupel-go/internal/rawjson"
)

// bedrockCodec is the Converse API of Amazon Bedrock.
type bedrockCodec struct{}

func (bedrockCodec) name() string { return "Bedrock's Converse API" }
func (bedrockCodec) list() string { return "messages" }

func (bedrockCodec) rules() rules {
	return rules{userFirst: true, alternate: true, content: "content", thinking: true, cache: true}
}

func (bedrockCodec) signs() signs {
	return signs{
		request: []string{"toolConfig", "inferenceConfig", "guardrailConfig", "additionalModelRequestFields", "modelId"},
		element: func(o *rawjson.Object) string {
			for _, part := range o.Get("content").Elements() {
				p, err := part.Value.Object("")
				if err != nil || p.Has("type") {
					return ""
				}
			}
			if len(o.Get("content").Elements()) > 0 {
				return "content"
			}
			return ""
		},
	}
}

func (bedrockCodec) note(text string) []byte {
	return slices.Concat([]byte(`{"role": "user", "content": [`), bedrockCodec{}.text(text), []byte("]}"))
}

func (bedrockCodec) text(text string) []byte { return geminiCodec{}.text(text) }

func (bedrockCodec) request(r *reader, body *rawjson.Object) error {
	for _, m := range body.Members {
		if m.Name == "toolConfig" && !m.Value.IsNull() {
			r.beginMember(m, "tools")
			if err := r.keepJSON(m.Value); err != nil {
				return err
			}
		}
	}
	for _, m := range body.Members {
		if m.Name != "system" || m.Value.IsNull() {
			continue
		}
		if !m.Value.IsArray() {
			return m.Value.Errorf("system", "must be an array of content blocks, got %s", m.Value.Type())
		}
		r.beginMember(m, "system")
		r.current().words = true
		if err := r.each(m.Value, "system", r.bedrockBlock); err != nil {
			return err
		}
	}
	return nil
}

func (bedrockCodec) message(r *reader, o *rawjson.Object, path string) error {
	role, err := r.role(o, path, "user", "assistant")
	if err != nil {
		return err
	}
	content := o.Get("content")
	path += ".content"
	switch {
	case content.IsNull(), content.IsArray() && len(content.Elements()) == 0:
		return o.Value.Errorf(strings.TrimSuffix(path, ".content"), "has neither content nor tool calls; remove it")
	case !content.IsArray():
		return content.Errorf(path, "must be an array of content blocks, got %s", content.Type())
	}
	if role == "assistant" {
		r.entry(role)
		return r.each(content, path, r.bedrockBlock)
	}
	return r.results(content, path, func(o *rawjson.Object) bool { return o.Has("toolResult") }, r.bedrockBlock)
}

// bedrockBlock reads one block: an object with one member, which says what it is.
func (r *reader) bedrockBlock(v rawjson.Value, path string) error {
	o, err := v.Object(path)
	if err != nil {
		return err
	}
	if len(o.Members) == 0 {
		return v.Errorf(path, "is an empty content block")
	}
	kind := o.Members[0].Name
	if r.depth > deepest {
		return r.unknownPart(kind, v)
	}
	inner := rawjson.Join(path, kind)
	e := r.current()
	switch kind {
	case "text":
		e.words = true
		return r.sayMember(&o, path, "text")
	case "json":
		return r.sayPart(v, o.Get("json"), "text")
	case "cachePoint":
		return nil
	case "toolUse":
		use, err := o.Get(kind).Object(inner)
		if err != nil {
			return err
		}
		id, err := str(&use, inner, "toolUseId")
		if err != nil {
			return err
		}
		return r.useMember(id, &use, inner, "input")
	case "toolResult":
		result, err := o.Get(kind).Object(inner)
		if err != nil {
			return err
		}
		id, err := str(&result, inner, "toolUseId")
		if err != nil {
			return err
		}
		r.returned(id)
		list := result.Get("content")
		if !list.IsArray() && !list.IsNull() {
			return list.Errorf(inner+".content", "must be an array of content blocks, got %s", list.Type())
		}
		err = r.each(list, inner+".content", r.bedrockBlock)
		r.current().words = false // the text is the tool's
		return err
	case "reasoningContent":
		e.words = true
		e.thinks = e.thinks || len(e.parts) == 0
		thought, err := o.Get(kind).Object(inner)
		if err != nil {
			return err
		}
		if text, err := thought.Get("reasoningText").Object(inner + ".reasoningText"); err == nil {
			return r.keepMember(&text, inner+".reasoningText", "text")
		}
		r.hidden("thinking", thought.Value)
		return nil
	case "image", "video", "document", "audio":
		e.words = true
		tokens := map[string]int{"image": anthropicImageTokens, "audio": audioTokens}[kind]
		if tokens == 0 {
			tokens = fileTokens
		}
		r.medium(kind, tokens, o.Get(kind))
		return nil
	}
	e.words = true
	return r.unknownPart(kind, v)
}

// sayPart adds words that are JSON in a block of its own: a smaller form is a
// block with a text.
func (r *reader) sayPart(block, v rawjson.Value, member string) error {
	text := v.Compact()
	n, err := counted(r.counter, text)
	r.spend(n)
	r.put(part{kind: words, text: text, value: block, tokens: n, member: member})
	return err
}
