package input

import (
	"errors"
	"fmt"
	"strings"

	"github.com/wollax/cupel-go/cupelchat"
	"github.com/wollax/cupel-go/internal/rawjson"
)

// look detects the format of a text. It never guesses silently: signs of two
// formats are an error, and a note says when there are signs of none.
func look(text rawjson.Text, format Format, skipped *skipped) (*finding, error) {
	f := &finding{format: format, skipped: skipped}
	if format == "" {
		f.format = Auto
	}
	switch f.format {
	case Auto, JSON, JSONLines:
	default:
		var err error
		if f.api, err = cupelchat.ParseFormat(string(format)); err != nil {
			return nil, &Error{Reason: fmt.Sprintf("the format %.40q is unknown; want one of %s", string(format), strings.Join(Formats(), ", "))}
		}
	}
	if err := f.split(text); err != nil {
		return nil, err
	}
	if f.format == JSON || f.format == JSONLines {
		return f, nil
	}
	err := f.conversation(text)
	return f, err
}

// conversation finds the format of a conversation, or that there are items.
func (f *finding) conversation(text rawjson.Text) error {
	if f.format != Auto {
		if all, err := cupelchat.DetectAll(text); f.format == OpenAI && err == nil && all[0] == cupelchat.Responses {
			f.api = cupelchat.Responses
		}
		return nil
	}
	found, err := f.whether()
	if err != nil {
		return err
	}
	if found == areItems {
		f.format = JSON
		if f.value.IsZero() {
			f.format = JSONLines
		}
		return nil
	}
	all, err := cupelchat.DetectAll(text)
	if wrong, ok := errors.AsType[*Error](err); ok {
		switch {
		case errors.Is(err, cupelchat.ErrAmbiguousFormat):
			wrong.Reason += ": set --format"
		case errors.Is(err, cupelchat.ErrUnknownFormat) && found == noList:
			wrong.Reason = `the object has none of "items", "messages", "input" and "included": it is neither items nor a transcript`
		}
	}
	if err != nil {
		return err
	}
	f.api, f.format = all[0], Format(all[0].String())
	if f.api == cupelchat.Responses {
		f.format = OpenAI // which is for both of its APIs
	}
	if len(all) > 1 {
		f.notes = append(f.notes, "the messages are valid for both OpenAI's and Anthropic's API; they are read as OpenAI's (--format anthropic changes that)")
	}
	return nil
}

// split parses the text as one value, or as one value per line.
func (f *finding) split(text rawjson.Text) error {
	var err error
	if f.format == JSONLines {
		f.lines, err = text.Lines()
		return err
	}
	if f.value, err = text.Value(); err == nil {
		if f.format == JSON || !f.value.IsObject() {
			return nil
		}
		return f.splitObject()
	}
	if f.format == JSON {
		return err
	}
	if !text.SeveralLines() {
		_, err = cupelchat.Detect(text) // it knows more of what the text could be
		return err
	}
	f.value = rawjson.Value{}
	f.lines, err = text.Lines()
	return err
}

// splitObject distinguishes a request from a single item or message, which is a
// file with one line, even if it is spread over several.
func (f *finding) splitObject() error {
	o, err := f.value.Object("")
	if err != nil {
		return err
	}
	for _, name := range []string{"content", "role"} {
		if !o.Has(name) {
			continue
		}
		if list, _ := listOf(&o); list != "" {
			return o.Get(list).Errorf("", "the object has both %q and %q: it could be one candidate or hold them all; set --format, or remove one of them", name, list)
		}
		f.lines, f.value = []rawjson.Part{f.value.Alone()}, rawjson.Value{}
		return nil
	}
	return nil
}

// listOf returns the name of the member that holds an object's candidates, and
// the names of all members that could.
func listOf(o *rawjson.Object) (name string, all []string) {
	for _, known := range []string{"items", "included", "messages", "input"} {
		if v := o.Get(known); v.IsArray() || known == "input" && v.IsString() {
			all = append(all, known)
		}
	}
	if len(all) == 0 {
		if o.Get("excluded").IsArray() {
			return "included", nil
		}
		return "", nil
	}
	return all[0], all
}

// itemNames are the names that distinguish an item from a message.
var itemNames = []string{"tokens", "kind", "source", "pinned", "priority", "futureRelevanceHint", "originalTokens"}

// content is what a text has: items, messages, or an object without a list.
type content int

const (
	areMessages content = iota
	areItems
	noList
)

// whether finds out whether the text has items. One that has both items and messages
// is an error.
func (f *finding) whether() (content, error) {
	elements := f.lines
	switch {
	case f.value.IsArray():
		elements = f.value.Elements()
	case f.value.IsObject():
		return itemsOf(f.value)
	case !f.value.IsZero():
		return areMessages, nil // an error, later
	}
	var item, message place
	for i, part := range elements {
		path := rawjson.Index("", i)
		o, err := part.Value.Object(path)
		if err != nil && f.skipped.active {
			continue // counted where items are read
		} else if err != nil {
			return areItems, err
		}
		role, said := o.Get("role"), o.Get("content")
		switch {
		case !role.IsNull():
			message.see(path+".role", role)
		case said.IsString(), o.Get("type").IsNull() && !said.IsNull():
			item.see(path, part.Value)
			continue
		case o.Get("type").IsNull() && len(o.Members) == 0:
			item.see(path, part.Value)
			continue
		default:
			message.see(path, part.Value)
		}
		for _, name := range itemNames {
			if !o.Get(name).IsNull() {
				item.see(rawjson.Join(path, name), o.Get(name))
			}
		}
	}
	switch {
	case message.value.IsZero():
		return areItems, nil
	case item.value.IsZero():
		return areMessages, nil
	}
	where := message.path
	if line := message.value.Line(); line != item.value.Line() {
		where = fmt.Sprintf("%s (line %d)", where, line)
	}
	return areItems, item.value.Errorf(item.path, "is a sign of an item, and %s of a message: set --format", where)
}

// itemsOf finds out whether an object has items.
func itemsOf(v rawjson.Value) (content, error) {
	o, err := v.Object("")
	if err != nil {
		return areItems, err
	}
	name, all := listOf(&o)
	switch {
	case len(all) > 1:
		return areItems, v.Errorf("", "the object has both %q and %q, and either could be the candidates; set --format, or remove one of them", all[0], all[1])
	case name == "items", name == "included":
		return areItems, nil
	case name != "":
		return areMessages, nil
	}
	for _, name := range []string{"items", "included", "messages", "input"} {
		if list := o.Get(name); !list.IsNull() {
			return areItems, list.Errorf(name, "must be an array, got %s", list.Type())
		}
	}
	return noList, nil
}

// place is a value and its path.
type place struct {
	path  string
	value rawjson.Value
}

// see keeps the first value.
func (p *place) see(path string, v rawjson.Value) {
	if p.value.IsZero() {
		*p = place{path, v}
	}
}
