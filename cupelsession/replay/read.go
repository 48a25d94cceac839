package replay

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"strconv"

	"github.com/wollax/cupel-go/internal/corpus"
)

// Conversation is a recorded conversation.
type Conversation struct {
	ID   string
	File string // that it was read from, "" if that is unknown
	Line int    // from 1, where it begins

	messages []*chatMessage
}

// steps returns how many steps of the assistant are measured.
func (c *Conversation) steps() int {
	n := 0
	for i, m := range c.messages {
		n += btoi(i > 0 && m.role == "assistant")
	}
	return n
}

// ReadError says which line of the data cannot be read, and why.
type ReadError struct {
	File string // "" if it is unknown
	Line int    // from 1
	Err  error
}

func (e *ReadError) Error() string {
	if e.File == "" {
		return fmt.Sprintf("line %d: %v", e.Line, e.Err)
	}
	return fmt.Sprintf("%s: line %d: %v", e.File, e.Line, e.Err)
}

// Unwrap returns the cause.
func (e *ReadError) Unwrap() error { return e.Err }

// Read reads recorded conversations: JSON Lines with a conversation on each
// line, {"id": …, "messages": […]}, where the id is optional; or a list of
// conversations; or one conversation as a list of messages or with a message on
// each line.
//
// Messages are those of OpenAI's Chat Completions. Requests and messages of
// OpenAI's Responses, of Anthropic, Gemini, Bedrock and Ollama, the messages of
// spans of OpenTelemetry, and session files of Claude Code and Codex become such
// messages: their words, calls and results. Read fails with a [ReadError] or with
// the error of r.
func Read(r io.Reader) ([]Conversation, error) {
	return corpus.All(Scan("", r, nil))
}

// Scan reads what [Read] reads, one line of JSON Lines at a time. Conversations and
// errors name file. A [ReadError] is about one line, or about a file that is not
// JSON Lines, and Scan goes on with the next line. Any other error comes from r and
// ends the sequence.
//
// take says which conversations to read, by their number in the file, from 0, and
// the line where they begin: lines that it does not take are not even decoded. A
// line counts as one conversation. nil takes all.
func Scan(file string, r io.Reader, take func(n, line int) bool) iter.Seq2[Conversation, error] {
	return func(yield func(Conversation, error) bool) {
		s := scanner{file: file, in: bufio.NewReaderSize(r, 1<<16), take: take, yield: yield}
		if err := s.scan(); err != nil && !s.stopped {
			yield(Conversation{}, err)
		}
	}
}

// scanner is the state of one Scan.
type scanner struct {
	file    string
	in      *bufio.Reader
	take    func(n, line int) bool
	yield   func(Conversation, error) bool
	stopped bool

	line  int // that was read last, from 1
	lined int // what the lines are
	reader
}

// next returns the next line that is not blank, or nothing at the end.
func (s *scanner) next() ([]byte, error) {
	for {
		text, err := s.in.ReadBytes('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, err
		}
		if len(text) > 0 {
			s.line++
		}
		if text = bytes.TrimSpace(text); len(text) > 0 || err != nil {
			return text, nil //nolint:nilerr // the end is no error
		}
	}
}

func (s *scanner) scan() error {
	if mark, err := s.in.Peek(3); err == nil && string(mark) == "\ufeff" {
		_, _ = s.in.Discard(len(mark))
	}
	text, err := s.next()
	if err != nil || len(text) == 0 {
		return err
	}
	first := s.line
	if !json.Valid(text) { // one value on several lines, or a line that is damaged
		value, err := s.whole(text)
		if err != nil {
			return err
		}
		if value != nil {
			s.one(value, 1)
			return nil
		}
	} else {
		more, err := s.next()
		if err != nil {
			return err
		}
		if len(more) == 0 {
			s.one(text, first)
			return nil
		}
		if s.lineOf(0, first, text); s.stopped {
			return nil
		}
		text = more
	}
	for n := btoi(s.line > first); len(text) > 0 && !s.stopped; n++ {
		s.lineOf(n, s.line, text)
		if text, err = s.next(); err != nil {
			return err
		}
	}
	if s.lined == messageLines && !s.stopped && (s.take == nil || s.take(0, 1)) {
		s.emit(s.finish(), 1)
	}
	return nil
}

// whole returns all that follows if it is one JSON value that begins with text, and
// otherwise nil: then it is to be read line by line.
func (s *scanner) whole(text []byte) ([]byte, error) {
	var seen bytes.Buffer
	failed := &failing{r: s.in}
	text = append(bytes.Clone(text), '\n')
	d := json.NewDecoder(io.TeeReader(io.MultiReader(bytes.NewReader(text), failed), &seen))
	var value json.RawMessage
	err := d.Decode(&value)
	if err == nil {
		_, err = d.Token()
	}
	if failed.err != nil {
		return nil, failed.err
	}
	if errors.Is(err, io.EOF) && value != nil {
		return value, nil
	}
	seen.Next(len(text))
	s.in = bufio.NewReaderSize(io.MultiReader(&seen, s.in), 1<<16)
	return nil, nil
}

// failing keeps the error of a reader.
type failing struct {
	r   io.Reader
	err error
}

func (f *failing) Read(p []byte) (int, error) {
	n, err := f.r.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		f.err = err
	}
	return n, err
}

// one reads the only value of a file, which counts as many conversations as it has.
func (s *scanner) one(text []byte, line int) {
	v, err := decodeLine(text)
	if err == nil {
		err = s.value(v, line)
	}
	if err == nil {
		err = s.finish()
	}
	if take := s.take; take != nil {
		all := s.conversations
		s.conversations = nil
		for n, c := range all {
			if take(n, line) {
				s.conversations = append(s.conversations, c)
			}
		}
		if err != nil && !take(len(all), line) {
			err = nil
		}
	}
	s.emit(err, line)
}

// What the lines of a file are, as the first one that can be read says.
const (
	unknown = iota
	conversationLines
	messageLines
)

// lineOf reads line n of those that are not blank. A file of messages is one
// conversation.
func (s *scanner) lineOf(n, line int, text []byte) {
	if s.lined == messageLines {
		n = 0
	}
	taken := s.take == nil || s.take(n, line)
	if !taken && s.lined != unknown {
		return
	}
	messages := len(s.log)
	v, err := decodeLine(text)
	if err == nil {
		err = s.value(v, line)
	}
	if err == nil {
		lined := conversationLines
		if len(s.log) > messages {
			lined = messageLines
		}
		if s.lined == unknown {
			s.lined = lined
		}
		if s.lined != lined {
			err = errors.New("some lines are conversations and others messages")
			s.conversations = nil
			if lined == messageLines {
				s.log = nil
			}
		}
	}
	if !taken {
		s.conversations, err = nil, nil
	}
	s.emit(err, line)
}

// decodeLine reads the JSON value of a line. Its errors are those that people know.
func decodeLine(text []byte) (any, error) {
	if !json.Valid(text) {
		var v any
		return nil, json.Unmarshal(text, &v)
	}
	return decode(string(text))
}

// emit yields the conversations that were read, and the error of a line.
func (s *scanner) emit(err error, line int) {
	read := s.conversations
	s.conversations = nil
	for i := range read {
		read[i].File, read[i].Line = s.file, line
		if s.stopped = s.stopped || !s.yield(read[i], nil); s.stopped {
			return
		}
	}
	if err != nil {
		s.stopped = !s.yield(Conversation{}, &ReadError{s.file, line, err})
	}
}

// reader reads the values of a file.
type reader struct {
	conversations []Conversation
	log           []any // messages on lines of their own
}

// value reads a conversation, a list of them, or a message or list of messages.
func (f *reader) value(v any, line int) error {
	switch v := v.(type) {
	case object:
		messages, is, err := conversation(v)
		switch {
		case err != nil:
			return err
		case is:
			return f.add(messages, v.get("id"), line)
		case v.get("role") == nil && v.text("type") == "":
			return errNoConversation
		case v.get("role") != nil && v.text("role") == "":
			return errNoRole
		}
		f.log = append(f.log, v)
		return nil
	case []any:
		if len(v) > 0 {
			if o, ok := v[0].(object); ok && o.get("role") == nil && o.get("type") == nil {
				for _, e := range v {
					if err := f.value(e, line); err != nil {
						return err
					}
				}
				return nil
			}
		}
		messages, err := messagesOf(v)
		if err != nil {
			return err
		}
		return f.add(messages, nil, line)
	default:
		return errNoConversation
	}
}

var errNoConversation = errors.New(`a conversation must be an object with "messages", or a list of messages`)

// add adds a conversation.
func (f *reader) add(messages []object, id any, line int) error {
	name := "line " + strconv.Itoa(line)
	switch id := id.(type) {
	case string:
		name = id
	case json.Number:
		name = id.String()
	}
	conversation := Conversation{ID: name, messages: make([]*chatMessage, len(messages))}
	for i, o := range messages {
		var err error
		if conversation.messages[i], err = newMessage(o, encode(o)); err != nil {
			return err
		}
	}
	f.conversations = append(f.conversations, conversation)
	return nil
}

// finish makes a conversation of the log, if there is one.
func (f *reader) finish() error {
	if len(f.log) == 0 {
		return nil
	}
	messages, err := messagesOf(f.log)
	switch {
	case err != nil:
		return err
	case len(messages) == 0:
		return errors.New("no line has a message")
	}
	return f.add(messages, nil, 1)
}
