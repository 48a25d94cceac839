package cupelchat

import (
	"cmp"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/wollax/cupel-go/internal/rawjson"
)

// The longest titles, in characters.
const (
	maxTitle    = 72
	maxArgument = 48
)

// headline is the one line that names an entry in tables.
func (e *entry) headline() string {
	size := 0
	var calls []string
	first := ""
	for _, p := range e.parts {
		switch {
		case p.kind == call:
			calls = append(calls, callTitle(p.name, p.arguments))
			continue
		case first == "":
			first = strings.TrimSpace(p.text)
		}
		size += len(p.text)
	}
	switch {
	case e.role == "tools":
		return "tools: " + bytesOf(size)
	case e.returns():
		return short(cmp.Or(e.title, "result"), maxTitle) + ": " + bytesOf(size)
	case len(calls) > 0:
		return short(strings.Join(calls, ", "), maxTitle)
	case first == "" && len(e.names) > 0:
		return short(e.names[0], maxTitle)
	}
	line, _, more := strings.Cut(first, "\n")
	line = oneLine(line)
	if cut := short(line, maxTitle); more || cut != line {
		return cut + ": " + bytesOf(size)
	}
	return line
}

// callTitle names a call by its most telling argument: edit(cupel/item.go).
func callTitle(name, arguments string) string {
	return name + "(" + short(subject(arguments), maxArgument) + ")"
}

// telling are the names of arguments that describe a call best.
var telling = []string{
	"path", "file_path", "filepath", "file", "filename", "command", "cmd", "query", "pattern", "url", "id", "name",
}

// subject returns the argument of a call that names it best.
func subject(arguments string) string {
	v, err := rawjson.Text(arguments).Value()
	if err != nil || !v.IsObject() {
		return oneLine(arguments)
	}
	o, _ := v.Fields()
	for _, name := range telling {
		if s := o.Get(name).String(); s != "" {
			return oneLine(s)
		}
	}
	for _, m := range o.Members {
		if s := m.Value.String(); s != "" {
			return oneLine(s)
		}
		if m.Value.IsNumber() {
			return m.Name + "=" + string(m.Value.Raw())
		}
	}
	if len(o.Members) == 0 {
		return ""
	}
	return v.Compact()
}

// oneLine puts a text on one line. JSON of arguments loses its white space.
func oneLine(text string) string {
	if !strings.ContainsAny(text, "\r\n") {
		return text
	}
	if v, err := rawjson.Text(text).Value(); err == nil {
		return v.Compact()
	}
	return strings.Join(strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == '\r' }), `\n`)
}

// short cuts a text after some characters.
func short(text string, most int) string {
	if utf8.RuneCountInString(text) <= most {
		return text
	}
	return firstCharacters(text, most-1) + "…"
}

// bytesOf writes a number of bytes: 312 B, 4.4 kB, 1.2 MB.
func bytesOf(n int) string {
	switch {
	case n < 1000:
		return fmt.Sprintf("%d B", n)
	case n < 999_950:
		return fmt.Sprintf("%.1f kB", float64(n)/1000)
	}
	return fmt.Sprintf("%.1f MB", float64(n)/1e6)
}
