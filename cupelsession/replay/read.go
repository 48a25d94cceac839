package replay

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"iter"
	"maps"
	"slices"

	"github.com/wollax/cupel-go/internal/corpus"
)

// Conversation is a recorded conversation.
type Conversation struct {
	ID   string // its own id, or a hash of its messages
	File string // the file it was read from, or "" if unknown
	Line int    // the line where it begins, from 1; 0 if unknown

	messages []*chatMessage
	rank     string // of a recorded run, as in [corpus.Line]
}

// ReadError is the error for a line of the data that cannot be read.
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

// Scan reads recorded conversations: JSON Lines with a conversation on each
// line, {"id": …, "messages": […]}, where the id is optional; or a list of
// conversations; or one conversation as a list of messages or with a message on
// each line. It reads JSON Lines one line at a time.
//
// Messages have the format of OpenAI's Chat Completions. Requests and messages
// of OpenAI's Responses, of Anthropic, Gemini, Bedrock and Ollama, the messages
// of spans of OpenTelemetry, and session files of Claude Code and Codex are
// converted to such messages, with their words, calls and results.
//
// Each run in a segment of package cupelrecord is a conversation up to there; [Latest]
// keeps the last one. Its candidates must be items of package cupelchat.
//
// Conversations and errors name file. Each error is a [ReadError]. It concerns one
// line, or a file that is not JSON Lines, and Scan continues with the next line. An
// error of r concerns the line that it cuts, and ends the sequence.
//
// take reports whether to read a conversation, given its number in the file, from
// 0, and the line where it begins. Lines that it rejects are not even decoded. A
// line counts as one conversation; the number of a recorded one is a hash of its id.
// nil takes all.
func Scan(file string, r io.Reader, take func(n, line int) bool) iter.Seq2[Conversation, error] {
	if take == nil {
		take = func(int, int) bool { return true }
	}
	return func(yield func(Conversation, error) bool) {
		s := scanner{file: file, take: take, yield: yield}
		s.scan(corpus.Lines(r))
	}
}

// Latest yields conversations, but of those that were recorded only the longest run of
// each id, after all others. It holds these.
func Latest(conversations iter.Seq2[Conversation, error]) iter.Seq2[Conversation, error] {
	return func(yield func(Conversation, error) bool) {
		latest := make(map[string]Conversation)
		for c, err := range conversations {
			switch {
			case c.rank == "":
				if !yield(c, err) {
					return
				}
			case c.rank > latest[c.ID].rank:
				latest[c.ID] = c
			}
		}
		for _, id := range slices.Sorted(maps.Keys(latest)) {
			if !yield(latest[id], nil) {
				return
			}
		}
	}
}

// Parse reads the conversation on a line of JSON Lines, as [Scan] does, without the
// rest of its file. A message or several conversations on a line are errors.
func Parse(line []byte) (Conversation, error) {
	var f reader
	v, err := decodeLine(line)
	if err == nil {
		err = f.value(v)
	}
	switch {
	case err != nil:
		return Conversation{}, err
	case len(f.log) > 0:
		return Conversation{}, errors.New("the line must be a conversation, not a message")
	case len(f.conversations) != 1:
		return Conversation{}, fmt.Errorf("the line must have one conversation, not %d", len(f.conversations))
	}
	return f.conversations[0], nil
}

// scanner is the state of one Scan.
type scanner struct {
	file    string
	take    func(n, line int) bool
	yield   func(Conversation, error) bool
	stopped bool

	begun []corpus.Line // lines that may be one value together
	valid bool          // the last of them is a value
	lines int           // that were read as such
	lined int           // what the lines are
	reader
}

func (s *scanner) scan(lines iter.Seq2[corpus.Line, error]) {
	for line, err := range lines {
		if err != nil {
			if s.release(); !s.stopped {
				s.emit(err, line.Number)
			}
			return
		}
		if s.begin(line); s.stopped {
			return
		}
	}
	texts := make([][]byte, len(s.begun))
	for i, line := range s.begun {
		texts[i] = line.Text
	}
	if text := bytes.Join(texts, []byte("\n")); json.Valid(text) {
		s.one(text, s.begun[0].Number)
		return
	}
	s.release()
	if s.lined == messageLines && s.take(0, 1) {
		s.emit(s.finish(), 1)
	}
}

// begin reads a line. Until two values follow each other, which cannot happen inside a
// value, the lines may be one value.
func (s *scanner) begin(line corpus.Line) {
	if s.lines > 0 || line.Conversation != "" {
		s.lineOf(line)
		return
	}
	s.begun = append(s.begun, line)
	before := s.valid
	if s.valid = json.Valid(line.Text); s.valid && before {
		s.release()
	}
}

// release reads the lines that are not one value.
func (s *scanner) release() {
	for _, line := range s.begun {
		if s.lineOf(line); s.stopped {
			break
		}
	}
	s.begun = nil
}

// one reads the only value of a file, and counts each conversation in it.
func (s *scanner) one(text []byte, line int) {
	v, err := decodeLine(text)
	if err == nil {
		err = s.value(v)
	}
	if err == nil {
		err = s.finish()
	}
	all := s.conversations
	s.conversations = nil
	for n, c := range all {
		if s.take(n, line) {
			s.conversations = append(s.conversations, c)
		}
	}
	if err != nil && !s.take(len(all), line) {
		err = nil
	}
	s.emit(err, line)
}

// The kinds of lines of a file, judging by the first one that can be read.
const (
	unknown = iota
	conversationLines
	messageLines
)

// lineOf reads a line. A file of messages is one conversation.
func (s *scanner) lineOf(l corpus.Line) {
	n, line := s.lines, l.Number
	s.lines++
	if s.lined == messageLines {
		n = 0
	}
	if l.Conversation != "" {
		n = int(crc32.ChecksumIEEE([]byte(l.Conversation)) >> 1) // an int of 32 bits holds it
	}
	taken := s.take(n, line)
	if !taken && s.lined != unknown {
		return
	}
	messages := len(s.log)
	v, err := decodeLine(l.Text)
	if err == nil {
		err = s.value(v)
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
			err = errors.New("some lines are conversations and others are messages; use one kind")
			s.conversations = nil
			if lined == messageLines {
				s.log = nil
			}
		}
	}
	if !taken {
		s.conversations, err = nil, nil
	}
	for i := range s.conversations {
		s.conversations[i].rank = l.Rank
	}
	s.emit(err, line)
}

// decodeLine reads the JSON value of a line. Its errors are the familiar ones
// of encoding/json.
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
func (f *reader) value(v any) error {
	switch v := v.(type) {
	case object:
		messages, is, err := conversation(v)
		switch {
		case err != nil:
			return err
		case is:
			f.add(messages, v.get("id"))
			return nil
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
					if err := f.value(e); err != nil {
						return err
					}
				}
				return nil
			}
		}
		messages, err := messagesOf(v)
		if err == nil {
			f.add(messages, nil)
		}
		return err
	default:
		return errNoConversation
	}
}

var errNoConversation = errors.New(`a conversation must be an object with "messages", or a list of messages`)

// add adds a conversation. One without an id is named by its messages, since its
// place depends on how a corpus is divided into files.
func (f *reader) add(messages []*chatMessage, id any) {
	conversation := Conversation{messages: messages}
	hash := sha256.New()
	for _, m := range messages {
		hash.Write([]byte(m.raw + "\n"))
	}
	switch id := id.(type) {
	case string:
		conversation.ID = id
	case json.Number:
		conversation.ID = id.String()
	default:
		conversation.ID = fmt.Sprintf("sha256:%.8x", hash.Sum(nil))
	}
	f.conversations = append(f.conversations, conversation)
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
	f.add(messages, nil)
	return nil
}
