package cupelchat

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/wollax/cupel-go/internal/rawjson"
)

// cursor is the reader at an object of the body.
type cursor struct {
	*reader
	rawjson.Object
	path string
}

// object returns the cursor at a value, and reports whether that is an object. Of a
// name that is given twice the first value counts.
func (r *reader) object(v rawjson.Value, path, rule string) (cursor, bool) {
	if !v.IsObject() {
		r.broken(v, path, rule, "must be an object, got %s", v.Type())
		return cursor{r, rawjson.Object{Value: v}, path}, false
	}
	fields, twice := v.Fields()
	o := cursor{r, fields, path}
	for _, m := range twice {
		o.fail(m.Value.Errorf(o.where(m.Name), "is given twice"))
		o.wrong(clip(m.Name), "name-twice", "is given twice: programs disagree about which value counts")
	}
	return o, true
}

// where returns the path of a member, or that of the object for "".
func (o cursor) where(name string) string {
	if name == "" {
		return o.path
	}
	return rawjson.Join(o.path, name)
}

// wrong notes faults that the API refuses in a member, or in the object for
// "".
func (o cursor) wrong(name, rule, format string, args ...any) {
	o.refuse(o.where(name), rule, format, args...)
}

// unreadable notes a member that the API refuses and that cannot be read either. The
// message begins with value. With the rule "" the API accepts it.
func (o cursor) unreadable(name, rule, format string, args ...any) {
	v := o.Get(name)
	if v.IsZero() {
		v = o.Value
	}
	o.broken(v, o.where(name), rule, format, args...)
}

// inner reads a member that must be an object.
func (o cursor) inner(name, rule string) (cursor, bool) {
	v := o.Get(name)
	if v.IsZero() {
		o.unreadable(name, rule, "must be an object, got null")
		return cursor{reader: o.reader, path: o.where(name)}, false
	}
	return o.object(v, o.where(name), rule)
}

// peek returns the cursor at a member that is read elsewhere, or of nothing.
func (o cursor) peek(name string) cursor {
	fields, _ := o.Get(name).Fields()
	return cursor{o.reader, fields, o.where(name)}
}

// member returns a member that must be a string, which may be empty.
func (o cursor) member(name, rule string) string {
	v := o.Get(name)
	switch {
	case v.IsNull():
		o.broken(o.Value, o.where(name), rule, "is required")
	case !v.IsString():
		o.unreadable(name, rule, "must be a string, got %s", v.Type())
	}
	return v.String()
}

// optional returns a member that must be a string if it is there.
func (o cursor) optional(name, rule string) string {
	if !o.Has(name) {
		return ""
	}
	return o.member(name, rule)
}

// want returns a member that the API wants as a string that is not empty, and
// reports whether it is one. Without it the conversation can be read.
func (o cursor) want(name, rule string) (string, bool) {
	v := o.Get(name)
	switch {
	case v.IsNull():
		o.wrong(name, rule, "is required")
	case !v.IsString():
		o.wrong(name, rule, "must be a string, got %s", v.Type())
	case v.String() == "":
		o.wrong(name, rule, "is empty")
	default:
		return v.String(), true
	}
	return "", false
}

// need is want for a member without which the conversation cannot be read.
func (o cursor) need(name, rule string) (string, bool) {
	o.member(name, "")
	return o.want(name, rule)
}

// wantObject reports whether a member is the object that the API wants. Without it
// the conversation can be read.
func (o cursor) wantObject(name, rule string) bool {
	v := o.Get(name)
	if !v.IsObject() {
		o.wrong(name, rule, "must be an object, got %s", v.Type())
	}
	return v.IsObject()
}

// wantText wants the arguments of a call as a string, which may be empty.
func (o cursor) wantText(name string) {
	if v := o.Get(name); !v.IsString() {
		o.wrong(name, "arguments", "must be a string with JSON in it, got %s", v.Type())
	}
}

// role reads the role of a message, and reports whether it is one of the known.
func (o cursor) role(known ...string) (string, bool) {
	role := o.Get("role")
	o.message().role = role.String()
	switch {
	case slices.Contains(known, role.String()):
		return role.String(), true
	case !role.IsString():
		o.member("role", "role")
	default:
		o.unreadable("role", "role", "must be one of %s, got %s", strings.Join(known, ", "), quote(role.String()))
	}
	return role.String(), false
}

// only refuses members of other names.
func (o cursor) only(rule, text string, names ...string) {
	for _, m := range o.Members {
		if !slices.Contains(names, m.Name) {
			o.wrong(clip(m.Name), rule, "%s", text)
		}
	}
}

// spelling is the spelling of an identifier.
type spelling struct {
	extra string // characters other than ASCII letters, digits, _ and -
	most  int    // length in characters
}

// spelled checks how a name or an id is spelled.
func (o cursor) spelled(name, rule string, f spelling) {
	s := o.Get(name).String()
	if f.most > 0 && utf8.RuneCountInString(s) > f.most {
		o.limit(name, rule, f.most)
	} else if at := strings.IndexFunc(s, func(c rune) bool { return !word(c) && !strings.ContainsRune(f.extra, c) }); at >= 0 {
		c, _ := utf8.DecodeRuneInString(s[at:])
		o.wrong(name, rule, "has the character %q; letters, digits and any of %q are allowed", c, "_-"+f.extra)
	}
}

// limit checks the length of a name or an id.
func (o cursor) limit(name, rule string, most int) {
	if n := utf8.RuneCountInString(o.Get(name).String()); n > most {
		o.wrong(name, rule, "has %d characters, at most %d are allowed", n, most)
	}
}

// content reads a content: null, a text, or a list of parts. rule is broken by
// any other content, and ofPart by parts that are not objects.
func (o cursor) content(name, rule, ofPart string, read func(part cursor)) {
	switch v := o.Get(name); {
	case v.IsNull():
	case v.IsString():
		o.current().words = true
		o.say(v)
	case v.IsArray():
		o.parts(name, ofPart, read)
	default:
		o.unreadable(name, rule, "must be a string or an array of parts, got %s", v.Type())
	}
}

// parts reads the parts of a list, which must be objects, and returns how many there
// are.
func (o cursor) parts(name, rule string, read func(part cursor)) int {
	return o.each(o.Get(name), o.where(name), func(v rawjson.Value, path string) {
		if part, ok := o.object(v, path, rule); ok {
			read(part)
		}
	})
}

// results reads a message. Each result of a tool becomes an entry, and
// everything else together becomes an entry of the user.
func (o cursor) results(name, rule string, isResult func(part *rawjson.Object) bool, read func(part cursor)) {
	own := none // the entry of everything but results
	var owners []int
	o.each(o.Get(name), o.where(name), func(v rawjson.Value, path string) {
		fields, _ := v.Fields()
		switch last := len(owners) - 1; {
		case fields.Has(cachePoint) && last >= 0: // it belongs to the block before
			o.at = owners[last]
		case isResult(&fields):
			o.entry("tool")
		case own == none:
			o.entry("user").asks = true
			own = o.at
		default:
			o.at = own
		}
		owners = append(owners, o.at)
		if part, ok := o.object(v, path, rule); ok {
			read(part)
		}
	})
	o.message().owners = owners
}

// sayMember adds the words of a member.
func (o cursor) sayMember(name string) {
	o.member(name, "part-field")
	o.say(o.Get(name))
}

// sayOptional adds the words of a member that is there and not empty.
func (o cursor) sayOptional(name, rule string) {
	if o.optional(name, rule) != "" {
		o.say(o.Get(name))
	}
}

// keepMember adds the text of a member that stays as it is.
func (o cursor) keepMember(name, rule string) { o.keep(o.member(name, rule)) }

// tools reads the definitions of tools, which cost some additional tokens.
func (o cursor) tools(more int, names ...string) {
	for _, m := range o.Members {
		if slices.Contains(names, m.Name) && len(m.Value.Elements())+len(m.Value.Members()) > 0 {
			o.beginMember(m, "tools")
			o.spend(more)
			o.keep(unmarked(m.Value))
			o.current().define(m.Value)
		}
	}
}

// unmarked returns the JSON of definitions without the breakpoints of a prompt cache,
// which the model does not see.
func unmarked(tools rawjson.Value) string {
	var edits rawjson.Edits
	for _, tool := range tools.Elements() {
		o, _ := tool.Value.Fields()
		edits.Drop(o.Members, func(i int) bool { return o.Members[i].Name == cacheControl })
	}
	if !edits.Empty() {
		tools, _ = rawjson.Text(edits.Outer(tools.Alone())).Value() // it stays JSON
	}
	return tools.Compact()
}

// system reads a system prompt that is a member of the request.
func (o cursor) system(read func(name string), names ...string) {
	for _, m := range o.Members {
		if slices.Contains(names, m.Name) && !m.Value.IsNull() {
			o.beginMember(m, "system")
			o.current().words = true
			read(m.Name)
		}
	}
}

// firstOf returns the first of the names that the object has, and its value. It
// returns the first name if there is none.
func (o cursor) firstOf(names ...string) (string, rawjson.Value) {
	for _, name := range names {
		if o.Has(name) {
			return name, o.Get(name)
		}
	}
	return names[0], rawjson.Value{}
}

// hasAny reports whether the object has one of the names.
func (o cursor) hasAny(names ...string) bool { return slices.ContainsFunc(names, o.Has) }

// empty returns the error for a message that says nothing.
func (o cursor) empty() error {
	if o.Get("parts").IsArray() {
		return o.Get("parts").Errorf(o.where("parts"), "looks like a message of the AI SDK or of Gemini; this format has \"content\": convert the messages first (AI SDK: convertToModelMessages)")
	}
	return o.Value.Errorf(o.path, "has neither content nor tool calls; remove it")
}
