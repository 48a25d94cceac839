package input

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/wollax/cupel-go/cupelchat"
	"github.com/wollax/cupel-go/internal/rawjson"
)

// detect finds the format of a text. It adds a note if there are signs of no
// provider.
func (f *reading) detect(text rawjson.Text) error {
	if f.Format == "" {
		f.Format = Auto
	}
	if f.Format == Auto && isLog(text) {
		f.Format = Log
	}
	if !slices.Contains([]Format{Auto, JSON, JSONLines, Log}, f.Format) {
		var err error
		if f.api, err = cupelchat.ParseFormat(string(f.Format)); err != nil {
			return &Error{Reason: fmt.Sprintf("the format %.40q is unknown; want one of %s", string(f.Format), strings.Join(Formats(), ", "))}
		}
	}
	if f.Format == Log {
		return nil
	}
	if err := f.split(text); err != nil {
		return err
	}
	switch f.Format {
	case JSON, JSONLines:
		return nil
	case Auto:
		return f.detectAuto(text)
	default:
		if all, err := cupelchat.Detect(text); f.Format == OpenAI && err == nil && all[0] == cupelchat.Responses {
			f.api = cupelchat.Responses // the name is for both of its APIs
		}
		return nil
	}
}

func (f *reading) detectAuto(text rawjson.Text) error {
	items, err := f.areItems()
	switch {
	case err != nil:
		return err
	case items && f.value.IsZero():
		f.Format = JSONLines
		return nil
	case items:
		f.Format = JSON
		return nil
	}
	all, err := cupelchat.Detect(text)
	if wrong, ok := errors.AsType[*Error](err); ok && errors.Is(err, cupelchat.ErrAmbiguousFormat) {
		wrong.Reason += ": set --format"
	}
	if err != nil {
		return err
	}
	f.api, f.Format = all[0], Format(all[0].String())
	if f.api == cupelchat.Responses {
		f.Format = OpenAI // which is for both of its APIs
	}
	if len(all) > 1 {
		f.notes = append(f.notes, "OpenAI's and Anthropic's API take these messages: read as OpenAI's, see --format")
	}
	return nil
}

// split parses the text as one value, or as one value per line.
func (f *reading) split(text rawjson.Text) error {
	var err error
	if f.Format == JSONLines {
		f.lines, err = text.Lines()
		return err
	}
	if f.value, err = text.Value(); err == nil {
		if f.Format != JSON && f.value.IsObject() {
			return f.splitObject()
		}
		return nil
	}
	if f.Format == JSON {
		return err
	}
	if !text.SeveralLines() {
		_, err = cupelchat.Detect(text) // it knows more of what the text could be
		return err
	}
	f.lines, err = text.Lines()
	return err
}

// splitObject distinguishes a request from a single item or message, which is a
// file with one line, even if it is spread over several.
func (f *reading) splitObject() error {
	o, err := f.value.Object("")
	if o.Has("content") || o.Has("role") {
		f.lines, f.value = []rawjson.Part{f.value.Alone()}, rawjson.Value{}
	}
	return err
}

// areItems reports whether the text has items: an object with a list of them, or
// elements that all have a content but no role.
func (f *reading) areItems() (bool, error) {
	elements := f.lines
	switch {
	case f.value.IsArray():
		elements = f.value.Elements()
	case f.value.IsObject():
		o, err := f.value.Object("")
		return o.Has("items"), err
	case !f.value.IsZero():
		return false, nil // an error, later
	}
	for i, part := range elements {
		o, err := part.Value.Object(rawjson.Index("", i))
		if err != nil {
			return false, err
		}
		content := o.Get("content")
		wrapped := content.IsNull() && len(o.Members) > 0 || !content.IsString() && !o.Get("type").IsNull()
		if wrapped || !o.Get("role").IsNull() {
			return false, nil
		}
	}
	return true, nil
}
