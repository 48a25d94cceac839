package eval

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/internal/corpus"
)

// Conversation is a list of turns, and questions about them.
type Conversation struct {
	ID        string     `json:"id"`
	Items     []Turn     `json:"items"`
	Questions []Question `json:"questions"`

	File string `json:"-"` // the file it was read from, or "" if unknown
	Line int    `json:"-"` // from 1
}

// Turn is one utterance, message or piece of a document.
type Turn struct {
	Speaker string `json:"speaker,omitempty"`
	Content string `json:"content"`
	Session Text   `json:"session,omitempty"` // "" when there is none
	Time    Time   `json:"time,omitzero"`     // zero if it is missing or cannot be read
}

// Question is a question and the positions of its answer.
type Question struct {
	Query    string `json:"query"`
	Evidence []int  `json:"evidence"` // positions in the items of the conversation
}

// Text is a string that is decoded from a JSON string or number.
type Text string

// UnmarshalJSON reads a string, a number or null.
func (t *Text) UnmarshalJSON(data []byte) error {
	var value any
	if err := decode(data, &value); err != nil {
		return err
	}
	switch v := value.(type) {
	case nil:
		*t = ""
	case string:
		*t = Text(v)
	case json.Number:
		*t = Text(v)
	default:
		return errors.New("must be a string or a number")
	}
	return nil
}

// Time is an instant that is decoded from Unix seconds or from text, as the
// package documentation describes. Other text decodes to the zero instant, which
// means no time, and is kept in Unread.
type Time struct {
	time.Time
	Unread string // text that is not a time, or ""
}

// UnmarshalJSON reads a string, a number or null.
func (t *Time) UnmarshalJSON(data []byte) error {
	var value any
	if err := decode(data, &value); err != nil {
		return err
	}
	*t = Time{}
	switch v := value.(type) {
	case nil:
	case string:
		var ok bool
		if t.Time, ok = parseTime(v); !ok {
			t.Unread = v
		}
	case json.Number:
		seconds, err := strconv.ParseFloat(v.String(), 64)
		if err != nil || math.Abs(seconds) > 1e11 {
			return fmt.Errorf("%s is not a time in seconds since 1970", v)
		}
		whole, fraction := math.Modf(seconds)
		t.Time = time.Unix(int64(whole), int64(fraction*1e9)).UTC()
	default:
		return errors.New("must be text or a number")
	}
	return nil
}

func decode(data []byte, to any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	return d.Decode(to)
}

// ReadError reports a line that is not a labeled conversation.
type ReadError struct {
	File   string // "" if it is unknown
	Line   int    // from 1
	Reason string // the fault
	Err    error  // the cause, or nil
}

func (e *ReadError) Error() string {
	if e.File != "" {
		return fmt.Sprintf("%s: line %d is not a labeled conversation: %s", e.File, e.Line, e.Reason)
	}
	return fmt.Sprintf("cupel: line %d is not a labeled conversation: %s", e.Line, e.Reason)
}

// Unwrap returns the cause.
func (e *ReadError) Unwrap() error { return e.Err }

// Scan reads conversations, one per line, and skips blank lines. Conversations and
// errors name file. Each error is a [ReadError]. It concerns one line, and Scan
// continues with the next. An error of r concerns the line that it cuts, and ends the
// sequence.
//
// take reports whether to read a conversation, given its number in the file, from
// 0, and its line. Lines that it rejects are not decoded. nil takes all.
func Scan(file string, r io.Reader, take func(n, line int) bool) iter.Seq2[Conversation, error] {
	return func(yield func(Conversation, error) bool) {
		n := 0
		for line, err := range corpus.Lines(r) {
			if err != nil {
				yield(Conversation{}, &ReadError{File: file, Line: line.Number, Reason: err.Error(), Err: err})
				return
			}
			n++
			if take != nil && !take(n-1, line.Number) {
				continue
			}
			c := Conversation{File: file, Line: line.Number}
			bad := &ReadError{File: file, Line: line.Number}
			if bad.Err = json.Unmarshal(line.Text, &c); bad.Err != nil {
				bad.Reason = bad.Err.Error()
			} else {
				bad.Reason = c.check()
			}
			var next bool
			if bad.Reason != "" {
				next = yield(Conversation{}, bad)
			} else {
				next = yield(c, nil)
			}
			if !next {
				return
			}
		}
	}
}

// check describes the fault of a conversation, or returns "".
func (c *Conversation) check() string {
	for i, q := range c.Questions {
		if len(q.Evidence) == 0 {
			return fmt.Sprintf("questions[%d].evidence is empty", i)
		}
		seen := make(map[int]bool, len(q.Evidence))
		for _, at := range q.Evidence {
			if at < 0 || at >= len(c.Items) {
				return fmt.Sprintf("questions[%d].evidence has %d, which is not a position among %d items", i, at, len(c.Items))
			}
			if seen[at] {
				return fmt.Sprintf("questions[%d].evidence has %d twice", i, at)
			}
			seen[at] = true
		}
	}
	return ""
}

// ContextItems returns the turns as items, as the package documentation
// describes. It returns a [cupel.InvalidItemError] if a turn is not a valid
// item.
func (c *Conversation) ContextItems() ([]*cupel.ContextItem, error) {
	timed := false
	for _, turn := range c.Items {
		timed = timed || !turn.Time.IsZero()
	}
	items := make([]*cupel.ContextItem, len(c.Items))
	for i, turn := range c.Items {
		content := turn.Content
		metadata := make(map[string]any)
		if turn.Speaker != "" {
			content = turn.Speaker + ": " + content
			metadata["speaker"] = turn.Speaker
		}
		if content == "" {
			content = " " // an item needs content, and positions must not change
		}
		if turn.Session != "" {
			metadata["session"] = string(turn.Session)
		}
		opts := []cupel.ItemOption{cupel.WithMetadata(metadata)}
		switch {
		case !timed:
			opts = append(opts, cupel.WithTimestamp(time.Unix(int64(i), 0)))
		case !turn.Time.IsZero():
			opts = append(opts, cupel.WithTimestamp(turn.Time.Add(time.Duration(i))))
		}
		item, err := cupel.NewContextItem(content, (utf8.RuneCountInString(content)+3)/4+4, opts...)
		if err != nil {
			return nil, fmt.Errorf("cupel: turn %d of conversation %q: %w", i, c.ID, err)
		}
		items[i] = item
	}
	return items, nil
}
