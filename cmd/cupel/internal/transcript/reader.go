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

	"github.com/wollax/cupel-go/cmd/cupel/internal/input/rawjson"
	"github.com/wollax/cupel-go/cupel"
)

// What a request costs beyond its texts, in tokens. Anthropic publishes no such
// numbers but for tools; theirs are estimates. FORMATS.md has the reasons.
const (
	messageTokens = 4 // around a message, and for its role
	nameTokens    = 1 // around the name of who speaks
	callTokens    = 4 // around a call of a tool, and around what it returned

	anthropicToolsTokens = 346 // the system prompt that comes with tools

	bytesPerHiddenToken = 6 // of what is encrypted, in Base64
)

// deepest is how deep parts are within parts, and one more than any API has: a
// document of texts in the result of a tool. Looking into a part takes time for
// each level that it is down, so that there is an end to it.
const deepest = 4

// What is no text, in tokens, unless --media-tokens says otherwise.
const (
	openAIImageTokens    = 765  // 1024 by 1024 pixels in high detail
	openAILowImageTokens = 85   // in low detail
	anthropicImageTokens = 1600 // the most that an image is scaled to
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
	server  map[string]int          // entries with calls of tools that the API runs, by id
	depth   int                     // of the part that is being read

	user, userBefore int // the last entry of a user and the one before it

	run     int            // the first entry of a run of reasoning, plus one
	media   map[string]int // how many, by their words in the notes
	unknown map[string]int // how many parts of an unknown type
}

// call is one call of a tool.
type call struct {
	entry    int
	answered bool
}

// pendingCalls are the calls of one id in one message: more than one where a
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
	// An item is made for the sake of its checks of the counter.
	item, err := cupel.NewItemFrom(r.Counter, text)
	if err != nil {
		return err
	}
	r.spend(item.Tokens())
	return nil
}

// say counts text and makes it part of the content.
func (r *reader) say(text string) error {
	if text != "" {
		r.current().text = append(r.current().text, text)
	}
	return r.count(text)
}

// sayJSON counts a value by its JSON.
func (r *reader) sayJSON(v rawjson.Value) error {
	if v.IsNull() {
		return nil
	}
	return r.say(v.Compact())
}

// medium counts what is no text. where is what tells it from others.
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

// label is the address of a medium, or a hash of it, so that two media are two
// contents.
func label(v rawjson.Value) string {
	if s := v.String(); len(s) < 200 && (strings.HasPrefix(s, "https://") || strings.HasPrefix(s, "http://")) {
		return s
	}
	return fmt.Sprintf("%.6x", sha256.Sum256(v.Raw()))
}

// unknownPart counts a part that this package does not know by its JSON.
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

// called notes a call of a tool; id is what its result will name.
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

// returned notes a result, and puts it together with its call.
func (r *reader) returned(id string) {
	e := r.current()
	e.tool = true
	e.ids = append(e.ids, id)
	r.spend(callTokens)
	p, ok := r.pending[id]
	if !ok {
		r.noteAt(e.path(r.api), "has the result of a call that is not before it; the API refuses such a transcript")
		return
	}
	at := len(r.entries) - 1
	switch first := p.calls[0]; {
	case r.calls[first].answered:
		r.noteAt(e.path(r.api), "has one more result of a call that has one already; the API refuses such a transcript")
	case r.between(p.entry, at):
		r.noteAt(e.path(r.api), "has a result that is not next to its call; the API refuses such a transcript")
	}
	r.links.join(p.entry, at)
	r.calls[p.calls[0]].answered = true
	if len(p.calls) > 1 { // the last one stays, for a second result
		p.calls = p.calls[1:]
		r.pending[id] = p
	}
}

// between reports whether the result at entry at is kept from its call by others.
// If what is just before it belongs to the exchange, so does what is before that.
// Anthropic's API takes messages of the model that follow each other for one.
func (r *reader) between(call, at int) bool {
	before := at - 1
	switch r.api {
	case Chat:
	case Responses:
		return false // it has them anywhere
	case Messages:
		before = r.userBefore
	}
	return before > call && r.links.root(before) != r.links.root(call)
}

// unanswered notes the calls that an API would refuse.
func (r *reader) unanswered() {
	waiting := r.waiting()
	for _, c := range r.calls {
		if !c.answered && c.entry < waiting {
			r.noteAt(r.entries[c.entry].path(r.api), "has a call without a result; the API refuses such a transcript")
		}
	}
}

// waiting returns where the calls at the end begin that may still wait for their
// results: the exchange at the end, or several ones of the Responses API, whose
// parallel calls are items of their own. Some of the results may have come.
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
		r.note("no text, and estimated: "+format+" (--media-tokens changes that)", plural(r.media[what], name))
	}
	const most = 3 // whatever a text has
	kinds, more := slices.Sorted(maps.Keys(r.unknown)), 0
	for i, kind := range kinds {
		if i < most {
			r.note("%s of the unknown type %.40q: kept, and counted as JSON", plural(r.unknown[kind], "part"), kind)
		} else {
			more += r.unknown[kind]
		}
	}
	if more > 0 {
		r.note("%s of %s: kept, and counted as JSON", plural(more, "more part"), plural(len(kinds)-most, "other unknown type"))
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
			r.noteAt(rawjson.Join(r.current().path(r.api), name), "is no time and is not used: RFC 3339 is, and a number of seconds since 1970")
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

// plausible reports whether t and the times around it have four digits for the
// year.
func plausible(t time.Time) bool { return 1 < t.UTC().Year() && t.UTC().Year() < 9999 }
