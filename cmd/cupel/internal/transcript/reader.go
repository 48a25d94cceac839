package transcript

import (
	"crypto/sha256"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/internal/rawjson"
)

// The token cost of a request beyond its texts. Anthropic publishes these numbers
// for tools only; the others are estimates. FORMATS.md has the reasons.
const (
	messageTokens = 4 // around a message, and for its role
	nameTokens    = 1 // around the name of a speaker
	callTokens    = 4 // around a tool call, and around a result

	anthropicToolsTokens = 346 // the system prompt that the API adds for tools

	bytesPerHiddenToken = 6 // encrypted text, in Base64
)

// deepest is the maximum nesting of parts: one more than any API has, which is a
// document of texts in a tool result. The limit bounds the time, since reading a
// part takes time proportional to its depth.
const deepest = 4

// The tokens of media, unless --media-tokens is set.
const (
	openAIImageTokens    = 765  // 1024 by 1024 pixels in high detail
	openAILowImageTokens = 85   // in low detail
	anthropicImageTokens = 1600 // the maximum: larger images are scaled down
	audioTokens          = 600  // a minute
	fileTokens           = 3000 // a page or two of a PDF
)

// reader reads the messages of one transcript.
type reader struct {
	Options
	api     API
	entries []entry
	links   links
	notesOf

	calls   []call
	pending map[string]pendingCalls // by id
	server  map[string]int          // entries with calls that the API itself runs, by id
	depth   int                     // of the part that is being read

	user, userBefore int // the last entry of a user and the one before it

	run     int            // the first entry of a run of reasoning, plus 1
	media   map[string]int // counts, by their words in the notes
	unknown map[string]int // counts of parts of an unknown type
}

// call is one call of a tool.
type call struct {
	entry    int
	answered bool
}

// pendingCalls are the calls with one id in one message. There are several if a
// server gives no ids.
type pendingCalls struct {
	entry int
	calls []int
}

// current is the entry that is being read.
func (r *reader) current() *entry { return &r.entries[len(r.entries)-1] }

// begin begins an entry.
func (r *reader) begin(e entry) *entry {
	r.entries = append(r.entries, e)
	return r.current()
}

func (r *reader) spend(tokens int) { r.current().tokens = add(r.current().tokens, tokens) }

// count counts text that the model sees.
func (r *reader) count(text string) error {
	if text == "" {
		return nil
	}
	// Make an item, because that checks the counter's result.
	item, err := cupel.NewItemFrom(r.Counter, text)
	if err != nil {
		return err
	}
	r.spend(item.Tokens())
	return nil
}

// say counts text and adds it to the content.
func (r *reader) say(text string) error {
	if text != "" {
		r.current().text = append(r.current().text, text)
	}
	return r.count(text)
}

// sayJSON adds the JSON of a value to the content and counts it.
func (r *reader) sayJSON(v rawjson.Value) error {
	if v.IsNull() {
		return nil
	}
	return r.say(v.Compact())
}

// medium counts a medium. where identifies it.
func (r *reader) medium(name string, tokens int, where rawjson.Value) {
	if r.MediaTokens != nil {
		tokens = *r.MediaTokens
	}
	if r.media == nil {
		r.media = map[string]int{}
	}
	r.media[fmt.Sprintf("%%s of %d tokens\x00%s", tokens, name)]++
	r.spend(tokens)
	r.current().text = append(r.current().text, "["+name+" "+label(where)+"]")
}

// label returns the address of a medium, or else a hash of it, so that different
// media give different contents.
func label(v rawjson.Value) string {
	if s := v.String(); len(s) < 200 && (strings.HasPrefix(s, "https://") || strings.HasPrefix(s, "http://")) {
		return s
	}
	return fmt.Sprintf("%.6x", sha256.Sum256(v.Raw()))
}

// unknownPart counts a part of an unknown type as JSON.
func (r *reader) unknownPart(kind string, v rawjson.Value) error {
	if r.unknown == nil {
		r.unknown = map[string]int{}
	}
	r.unknown[kind]++
	return r.sayJSON(v)
}

// str returns a member that must be a string.
func str(o *rawjson.Object, path, name string) (string, error) {
	v := o.Get(name)
	if v.IsNull() {
		return "", o.Value.Errorf(rawjson.Join(path, name), "is required")
	}
	return optionalStr(o, path, name)
}

// optionalStr returns a member that must be a string if it is there.
func optionalStr(o *rawjson.Object, path, name string) (string, error) {
	v := o.Get(name)
	if !v.IsNull() && !v.IsString() {
		return "", v.Errorf(rawjson.Join(path, name), "must be a string, got %s", v.Type())
	}
	return v.String(), nil
}

// called records a tool call; its result will name id.
func (r *reader) called(id string) {
	at := len(r.entries) - 1
	p := r.pending[id]
	if len(p.calls) == 0 || p.entry != at {
		p = pendingCalls{entry: at}
	}
	p.calls = append(p.calls, len(r.calls))
	r.pending[id] = p
	r.calls = append(r.calls, call{entry: at})
	e := r.current()
	e.tool = true
	e.ids = append(e.ids, id)
	r.spend(callTokens)
}

// returned records a result and joins it with its call.
func (r *reader) returned(id string) {
	e := r.current()
	e.tool = true
	e.ids = append(e.ids, id)
	r.spend(callTokens)
	p, ok := r.pending[id]
	if !ok {
		r.noteAt(e.path(r.api), "has a result without a call before it; the API refuses such a transcript")
		return
	}
	at := len(r.entries) - 1
	switch first := p.calls[0]; {
	case r.calls[first].answered:
		r.noteAt(e.path(r.api), "has a second result of the same call; the API refuses such a transcript")
	case r.between(p.entry, at):
		r.noteAt(e.path(r.api), "has a result that is not next to its call; the API refuses such a transcript")
	}
	r.links.join(p.entry, at)
	r.calls[p.calls[0]].answered = true
	if len(p.calls) > 1 { // keep the last one, to notice a second result
		p.calls = p.calls[1:]
		r.pending[id] = p
	}
}

// between reports whether other entries separate the result at entry at from its
// call. If the entry just before the result belongs to the exchange, so do the
// earlier ones. Anthropic's API joins consecutive messages of the model.
func (r *reader) between(call, at int) bool {
	before := at - 1
	switch r.api {
	case Chat:
	case Responses:
		return false // it accepts results anywhere
	case Messages:
		before = r.userBefore
	}
	return before > call && r.links.root(before) != r.links.root(call)
}

// unanswered adds a note about each call that the API would refuse.
func (r *reader) unanswered() {
	waiting := r.waiting()
	for _, c := range r.calls {
		if !c.answered && c.entry < waiting {
			r.noteAt(r.entries[c.entry].path(r.api), "has a call without a result; the API refuses such a transcript")
		}
	}
}

// waiting returns the start of the calls at the end that may still wait for
// results: the exchange at the end, or several exchanges of the Responses API,
// where each parallel call is a separate item. Some results may be there already.
func (r *reader) waiting() int {
	last := len(r.entries) - 1
	i := last
	for i >= 0 && r.entries[i].tool && (r.api == Responses || r.links.root(i) == r.links.root(last)) {
		i--
	}
	return i + 1
}

func (r *reader) allNotes() []string {
	for _, what := range slices.Sorted(maps.Keys(r.media)) {
		format, name, _ := strings.Cut(what, "\x00")
		r.note("estimated the tokens of media: "+format+" (--media-tokens changes that)", plural(r.media[what], name))
	}
	const most = 3 // bounds the output
	kinds, more := slices.Sorted(maps.Keys(r.unknown)), 0
	for i, kind := range kinds {
		if i < most {
			r.note("%s of the unknown type %.40q: kept and counted as JSON", plural(r.unknown[kind], "part"), kind)
		} else {
			more += r.unknown[kind]
		}
	}
	if more > 0 {
		r.note("%s of %s: kept and counted as JSON", plural(more, "more part"), plural(len(kinds)-most, "other unknown type"))
	}
	return r.notes()
}

// when reads the time of a message.
func (r *reader) when(o *rawjson.Object) {
	for _, name := range []string{"timestamp", "created_at", "created"} {
		v := o.Get(name)
		if v.IsNull() {
			continue
		}
		t, ok := instant(v)
		if ok {
			r.current().time = t
		} else {
			r.noteAt(rawjson.Join(r.current().path(r.api), name), "is ignored: it is not a time in RFC 3339 or in seconds since 1970")
		}
		return
	}
}

// instant reads RFC 3339, or a number of seconds or milliseconds since 1970.
func instant(v rawjson.Value) (time.Time, bool) {
	if v.IsString() {
		t, err := time.Parse(time.RFC3339Nano, v.String())
		return t, err == nil && plausible(t)
	}
	if !v.IsNumber() {
		return time.Time{}, false
	}
	seconds, err := strconv.ParseFloat(string(v.Raw()), 64)
	if err != nil {
		return time.Time{}, false
	}
	const year5138 = 1e11 // in seconds; in milliseconds it is 1973
	if math.Abs(seconds) >= year5138 {
		seconds /= 1000
	}
	if math.Abs(seconds) >= year5138 {
		return time.Time{}, false
	}
	whole, fraction := math.Modf(seconds)
	t := time.Unix(int64(whole), int64(math.Round(fraction*1e6))*1000)
	return t, plausible(t)
}

// plausible reports whether the year of t, and of times close to it, has four
// digits.
func plausible(t time.Time) bool { return 1 < t.UTC().Year() && t.UTC().Year() < 9999 }
