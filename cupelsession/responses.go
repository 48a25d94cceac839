package cupelsession

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/wollax/cupel-go/cupelchat"
)

// answer is the body of a response; it collects the usage as the caller reads. done
// gets the parts with a usage when the body ends, or when the caller has read enough.
type answer struct {
	io.ReadCloser
	mu    sync.Mutex // since a body may be closed while it is read
	usage usageReader
	done  func(events []any)
	once  sync.Once
}

func (a *answer) Read(p []byte) (int, error) {
	n, err := a.ReadCloser.Read(p)
	a.mu.Lock()
	a.usage.write(p[:n])
	a.mu.Unlock()
	if err != nil {
		a.end()
	}
	return n, err
}

func (a *answer) Close() error {
	a.end()
	return a.ReadCloser.Close()
}

func (a *answer) end() {
	a.once.Do(func() {
		a.mu.Lock()
		events := a.usage.events()
		a.mu.Unlock()
		a.done(events)
	})
}

// usageReader finds the objects with a usage in a response, as it is read. It keeps
// only those, and one line of a stream at a time.
type usageReader struct {
	stream bool // one object on each line, after "data:" or without it
	marks  []string
	text   []byte
	found  []any
	over   bool // too long to be read
}

// mostRead is how many bytes of a response, or of a line of a stream, are kept.
var mostRead = 32 << 20

func newUsageReader(f cupelchat.Format, contentType string) usageReader {
	r := usageReader{stream: strings.HasPrefix(contentType, "text/event-stream") || strings.Contains(contentType, "ndjson"), marks: []string{`"usage`}}
	if f == cupelchat.Ollama {
		r.marks = []string{`"prompt_eval_count"`, `"eval_count"`}
	}
	return r
}

func (r *usageReader) write(p []byte) {
	for r.stream {
		line, rest, ended := bytes.Cut(p, []byte("\n"))
		if !ended {
			break
		}
		r.keep(line)
		r.line()
		p = rest
	}
	r.keep(p)
}

// keep adds to the text that is read.
func (r *usageReader) keep(p []byte) {
	if r.over = r.over || len(r.text)+len(p) > mostRead; r.over {
		r.text = nil
		return
	}
	r.text = append(r.text, p...)
}

// line ends a line of a stream.
func (r *usageReader) line() {
	line := bytes.TrimSpace(bytes.TrimPrefix(bytes.TrimSpace(r.text), []byte("data:")))
	if slices.ContainsFunc(r.marks, func(mark string) bool { return bytes.Contains(line, []byte(mark)) }) && json.Valid(line) {
		r.found = append(r.found, string(line))
	}
	r.text, r.over = r.text[:0], false
}

// events returns the objects that were found.
func (r *usageReader) events() []any {
	if r.stream {
		r.line()
		return r.found
	}
	text := bytes.TrimSpace(r.text)
	if !bytes.HasPrefix(text, []byte("[")) {
		return []any{text}
	}
	var list []json.RawMessage // Gemini streams a list unless it is asked for events
	_ = json.Unmarshal(text, &list)
	events := make([]any, len(list))
	for i := range list {
		events[i] = []byte(list[i])
	}
	return events
}

var (
	saysTooLong = regexp.MustCompile(`(?i)context_length_exceeded|prompt is too long|maximum context length|exceed(s|ed)? (the )?(context|maximum number of tokens|model)|input length`)
	numbers     = regexp.MustCompile(`\d{3,}`)
)

// tooLong returns the share of a request to send if the response rejects it as too
// long, and 0 for other responses. The response can still be read from its beginning.
func tooLong(response *http.Response) (share float64) {
	if response.StatusCode != http.StatusBadRequest && response.StatusCode != http.StatusRequestEntityTooLarge {
		return 0
	}
	text, _ := io.ReadAll(io.LimitReader(response.Body, 64<<10))
	rest := response.Body
	response.Body = struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(text), rest), rest}
	if !saysTooLong.Match(text) {
		return 0
	}
	var sizes []int // the count and the limit come first, in either order
	most := 0
	for _, digits := range numbers.FindAllString(string(text), -1) {
		if n, err := strconv.Atoi(digits); err == nil {
			sizes, most = append(sizes, n), max(most, n)
		}
	}
	sizes = slices.DeleteFunc(sizes, func(n int) bool { return n <= most/4 })
	share = 0.7 // where the provider does not report its count
	if len(sizes) > 1 {
		share = 0.95 * float64(min(sizes[0], sizes[1])) / float64(max(sizes[0], sizes[1]))
	}
	return share
}
