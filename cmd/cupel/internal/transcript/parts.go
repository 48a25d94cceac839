package transcript

import (
	"strings"

	"github.com/wollax/cupel-go/internal/rawjson"
)

// content reads the content of a message: null, a text, or a list of parts.
func (r *reader) content(v rawjson.Value, path string) error {
	switch {
	case v.IsNull():
		return nil
	case v.IsString():
		r.current().words = true
		return r.say(v.String())
	case !v.IsArray():
		return v.Errorf(path, "must be a string or an array of parts, got %s", v.Type())
	}
	r.depth++
	defer func() { r.depth-- }()
	for i, part := range v.Elements() {
		if err := r.part(part.Value, rawjson.Index(path, i)); err != nil {
			return err
		}
	}
	return nil
}

// part reads one part of a content, of any of the APIs.
func (r *reader) part(v rawjson.Value, path string) error {
	o, err := v.Object(path)
	if err != nil {
		return err
	}
	kind, err := str(&o, path, "type")
	if err != nil {
		return err
	}
	if r.depth > deepest {
		return r.unknownPart(kind, v)
	}
	switch kind {
	case "tool_result":
		return r.toolResult(&o, path)
	case "tool_use":
		id, err := str(&o, path, "id")
		if err != nil {
			return err
		}
		r.called(id)
		return r.use(&o, path, "input")
	}
	e := r.current()
	e.words = true
	switch kind {
	case "text", "input_text", "output_text", "summary_text", "reasoning_text":
		return r.sayMember(&o, path, "text")
	case "refusal":
		return r.sayMember(&o, path, "refusal")
	case "thinking":
		e.thinks = e.thinks || len(e.text) == 0
		return r.sayMember(&o, path, "thinking")
	case "redacted_thinking":
		e.thinks = e.thinks || len(e.text) == 0
		return r.hidden("thinking", o.Get("data"))
	case "server_tool_use", "mcp_tool_use":
		id, err := optionalStr(&o, path, "id")
		if err != nil {
			return err
		}
		r.server[id] = len(r.entries) - 1
		r.spend(callTokens)
		return r.use(&o, path, "input")
	}
	if done, err := r.mediumPart(&o, path, kind); done || err != nil {
		return err
	}
	if strings.HasSuffix(kind, "_tool_result") {
		// After a pause, or a wait for a tool of the client, the result is in a
		// later message than the call.
		if call, ok := r.server[o.Get("tool_use_id").String()]; ok {
			r.links.join(call, len(r.entries)-1)
		}
		return r.sayJSON(v)
	}
	if kind == "search_result" {
		return r.sayJSON(v)
	}
	return r.unknownPart(kind, v)
}

func (r *reader) sayMember(o *rawjson.Object, path, name string) error {
	text, err := str(o, path, name)
	if err != nil {
		return err
	}
	return r.say(text)
}

// toolResult reads a tool_result of Anthropic's API.
func (r *reader) toolResult(o *rawjson.Object, path string) error {
	id, err := str(o, path, "tool_use_id")
	if err != nil {
		return err
	}
	r.returned(id)
	words := r.current().words
	err = r.content(o.Get("content"), path+".content")
	r.current().words = words // the text read here is the tool's
	return err
}

// mediumPart reads a part that is not text, and reports whether it was one.
func (r *reader) mediumPart(o *rawjson.Object, path, kind string) (bool, error) {
	switch kind {
	case "image_url", "input_image": // OpenAI: {"image_url": {"url", "detail"}} and {"image_url", "detail"}
		tokens, where, detail := openAIImageTokens, o.Get("image_url"), o.Get("detail").String()
		if where.IsObject() {
			image, err := where.Object(rawjson.Join(path, "image_url"))
			if err != nil {
				return true, err
			}
			where, detail = image.Get("url"), image.Get("detail").String()
		}
		if where.IsNull() {
			where = o.Value
		}
		if detail == "low" {
			tokens = openAILowImageTokens
		}
		r.medium("image", tokens, where)
	case "input_audio":
		r.medium("audio", audioTokens, o.Value)
	case "file", "input_file":
		r.medium("file", fileTokens, o.Value)
	case "image": // Anthropic: {"source": {"type", "url" or "data" or "file_id"}}
		where, err := address(o, path)
		if err != nil {
			return true, err
		}
		r.medium("image", anthropicImageTokens, where)
	case "document":
		return true, r.document(o, path)
	case "container_upload":
		r.medium("file", fileTokens, o.Value)
	default:
		return false, nil
	}
	return true, nil
}

// address returns the URL of a source, or else the whole source.
func address(o *rawjson.Object, path string) (rawjson.Value, error) {
	if !o.Get("source").IsObject() {
		return o.Value, nil
	}
	source, err := o.Get("source").Object(rawjson.Join(path, "source"))
	if url := source.Get("url"); url.IsString() {
		return url, err
	}
	return source.Value, err
}

// document reads a document of Anthropic's: text, a list of parts, or a file.
func (r *reader) document(o *rawjson.Object, path string) error {
	for _, name := range []string{"title", "context"} {
		text, err := optionalStr(o, path, name)
		if err != nil {
			return err
		}
		if err := r.say(text); err != nil {
			return err
		}
	}
	inner := path + ".source"
	source, err := o.Get("source").Object(inner)
	if err != nil {
		return at(err, o.Value)
	}
	switch source.Get("type").String() {
	case "text":
		return r.sayMember(&source, inner, "data")
	case "content":
		return r.content(source.Get("content"), inner+".content")
	}
	where, err := address(o, path)
	r.medium("document", fileTokens, where)
	return err
}
