package cupelchat

import (
	"bytes"
	"encoding/json"

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

// each reads the elements of a list of parts, and returns how many there are. The
// list and the place of each part are kept, so that the writer can change or drop
// them.
func (r *reader) each(list rawjson.Value, path string, read func(v rawjson.Value, path string)) int {
	m := r.message()
	parts := list.Elements()
	m.lists = append(m.lists, parts)
	outer, number := r.place, len(m.lists)-1
	r.depth++
	for i, p := range parts {
		r.place = place{number, i}
		if r.depth > deepest {
			r.unknownPart(rawjson.Index(path, i), p.Value)
			continue
		}
		read(p.Value, rawjson.Index(path, i))
		if number == 0 {
			r.current().blocks++
		}
	}
	r.place = outer
	r.depth--
	return len(parts)
}

// quoted returns a text as JSON.
func quoted(text string) []byte {
	var b bytes.Buffer
	w := json.NewEncoder(&b)
	w.SetEscapeHTML(false)
	_ = w.Encode(text) //nolint:errchkjson // a string can always be marshaled
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}
