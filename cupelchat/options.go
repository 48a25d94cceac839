package cupelchat

import (
	"strconv"

	"github.com/wollax/cupel-go/cupel"
)

// Option is an optional setting of [Read] and [Fit].
type Option func(*settings) error

type settings struct {
	noPins      bool
	first, last bool
	pinned      []int
	forms       func(tool, text string) []cupel.Variant
	mediaTokens *int
	keeping     []Rule
	marker      Marker
	repairs     bool
	keepTools   func(task string, names, definitions []string) []bool
	changes     int // of the body, before it was read this time
	earlier     *Conversation
}

// apply applies options. It ignores nil ones.
func (s *settings) apply(opts []Option) error {
	for _, opt := range opts {
		if opt == nil {
			continue
		}
		if err := opt(s); err != nil {
			return err
		}
	}
	return nil
}

// invalid returns the error for a setting of an option.
func invalid(option string, value int, reason string) error {
	return &cupel.InvalidConfigError{Component: "cupelchat.Read", Field: option, Value: strconv.Itoa(value), Reason: reason}
}

// WithPins pins the first message of the user, the last one, and messages by
// their index in the conversation, with the exchanges that they belong to. The
// default is the first and the last. System prompts, definitions of tools, the
// exchange at the end and the latest compaction are pinned in any case. [Read]
// fails if a message does not exist.
func WithPins(first, last bool, messages ...int) Option {
	return func(s *settings) error {
		s.first, s.last, s.pinned = first, last, messages
		return nil
	}
}

// WithoutPins pins nothing but the definitions of tools, which are always sent, and the
// messages that [WithPins] names.
func WithoutPins() Option {
	return func(s *settings) error {
		s.noPins = true
		return nil
	}
}

// WithForms sets the function that makes smaller forms of tool results and messages. tool
// is the name of the tool, or "" for a message; text is the text to shorten. If the
// function returns nil, the forms are the default ones: outlines that depend on the kind
// of text. If it returns an empty list, there are none. [Read] counts the tokens of a
// form with content; the tokens of a form that is made later count its text alone.
func WithForms(forms func(tool, text string) []cupel.Variant) Option {
	return func(s *settings) error {
		s.forms = forms
		return nil
	}
}

// Marker returns the mark, such as "[r3]", by which a model can ask for a content
// that may be left out: the result of a tool, or a long message, for which tool is
// "". It must always return the same mark for equal contents. "" means no mark.
type Marker interface {
	Mark(tool, content string) string
}

// WithMarks ends smaller forms, and notes in place of exchanges, with the marks of the
// contents that they shorten. Items have their mark in the metadata "mark". See the
// method Reading of sessions in package cupelsession. nil, the default, makes no
// marks.
func WithMarks(m Marker) Option {
	return func(s *settings) error {
		s.marker = m
		return nil
	}
}

// WithMediaTokens counts each image, sound and file as n tokens, at least 0. The
// default is an estimate by the format and the medium.
func WithMediaTokens(n int) Option {
	return func(s *settings) error {
		if n < 0 {
			return invalid("WithMediaTokens", n, "tokens must be at least 0")
		}
		s.mediaTokens = &n
		return nil
	}
}
