package cupelchat

import (
	"strings"

	"github.com/wollax/cupel-go/internal/rawjson"
)

// The tokens of media, unless WithMediaTokens is given.
const (
	openAIImageTokens    = 765  // 1024 by 1024 pixels in high detail
	openAILowImageTokens = 85   // in low detail
	geminiImageTokens    = 258  // of a tile of 768 by 768 pixels
	anthropicImageTokens = 1600 // the maximum: larger images are scaled down
	audioTokens          = 600  // a minute
	fileTokens           = 3000 // a page or two of a PDF
)

// content reads the content of a message: null, a text, or a list of parts.
func (r *reader) content(v rawjson.Value, path string) error {
	switch {
	case v.IsNull():
		return nil
	case v.IsString():
		r.current().words = true
		return r.say(v)
	case !v.IsArray():
		return v.Errorf(path, "must be a string or an array of parts, got %s", v.Type())
	}
	return r.each(v, path, r.part)
}

// each reads the elements of a list of parts. The list and the place of each part
// are kept, so that the writer can change or drop them.
func (r *reader) each(list rawjson.Value, path string, read func(v rawjson.Value, path string) error) error {
	m := r.message()
	parts := list.Elements()
	m.lists = append(m.lists, parts)
	outer, number := r.place, len(m.lists)-1
	r.depth++
	defer func() {
		r.place = outer
		r.depth--
	}()
	for i, p := range parts {
		r.place = place{number, i}
		if err := read(p.Value, rawjson.Index(path, i)); err != nil {
			return err
		}
	}
	return nil
}

// part reads one part of a content, of OpenAI's or Anthropic's APIs.
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
	e := r.current()
	if kind == "tool_use" {
		id, err := str(&o, path, "id")
		if err != nil {
			return err
		}
		return r.useMember(id, &o, path, "input")
	}
	e.words = true
	switch kind {
	case "text", "input_text", "output_text":
		return r.sayMember(&o, path, "text")
	case "refusal":
		return r.sayMember(&o, path, "refusal")
	case "summary_text", "reasoning_text":
		return r.keepMember(&o, path, "text")
	case "thinking":
		e.thinks = e.thinks || len(e.parts) == 0
		return r.keepMember(&o, path, "thinking")
	case "redacted_thinking":
		e.thinks = e.thinks || len(e.parts) == 0
		r.hidden("thinking", o.Get("data"))
		return nil
	case "compaction":
		e.compact = true
		return r.keepMember(&o, path, "content")
	case "server_tool_use", "mcp_tool_use":
		id, err := optionalStr(&o, path, "id")
		if err != nil {
			return err
		}
		r.server[id] = r.at
		return r.serverUse(&o, path)
	}
	if done, err := r.mediumPart(&o, path, kind); done || err != nil {
		return err
	}
	if strings.HasSuffix(kind, "_tool_result") {
		// After a pause, or a wait for a tool of the client, the result is in a
		// later message than the call.
		if call, ok := r.server[o.Get("tool_use_id").String()]; ok {
			r.links.join(call, r.at)
		}
		return r.keepJSON(v)
	}
	if kind == "search_result" {
		return r.keepJSON(v)
	}
	return r.unknownPart(kind, v)
}

// sayMember adds the words that a member says.
func (r *reader) sayMember(o *rawjson.Object, path, name string) error {
	if _, err := str(o, path, name); err != nil {
		return err
	}
	return r.say(o.Get(name))
}

// sayOptional adds the words that a member says, if it is there and not empty.
func (r *reader) sayOptional(o *rawjson.Object, path, name string) error {
	text, err := optionalStr(o, path, name)
	if err != nil || text == "" {
		return err
	}
	return r.say(o.Get(name))
}

// keepMember adds the text of a member that stays as it is.
func (r *reader) keepMember(o *rawjson.Object, path, name string) error {
	text, err := str(o, path, name)
	if err != nil {
		return err
	}
	return r.keep(text)
}

// useMember reads a call whose name and arguments are members of an object.
func (r *reader) useMember(id string, o *rawjson.Object, path, arguments string) error {
	name, err := str(o, path, "name")
	if err != nil {
		return err
	}
	return r.use(id, name, o.Get(arguments))
}

// serverUse reads a call of a tool that the API runs itself: it has no result of
// the client's.
func (r *reader) serverUse(o *rawjson.Object, path string) error {
	name, err := str(o, path, "name")
	if err != nil {
		return err
	}
	r.spend(callTokens)
	if err := r.count(name); err != nil {
		return err
	}
	text := ""
	if input := o.Get("input"); !input.IsNull() {
		text = input.Compact()
	}
	e := r.current()
	e.names = append(e.names, name)
	r.put(part{kind: call, text: name + "(" + text + ")", name: name, arguments: text})
	return r.count(text)
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
		if text == "" {
			continue
		}
		if err := r.keep(text); err != nil {
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
		return r.keepMember(&source, inner, "data")
	case "content":
		return r.content(source.Get("content"), inner+".content")
	}
	where, err := address(o, path)
	r.medium("document", fileTokens, where)
	return err
}
