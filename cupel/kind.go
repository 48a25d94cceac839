package cupel

import (
	"strings"
	"unicode"

	"github.com/wollax/cupel-go/cupel/internal/ascii"
)

// ContextKind classifies a context item. It is an extensible enumeration: any
// string that is not blank is a kind, and the constants below are the
// well-known ones.
//
// Kinds are compared with ASCII case folding ([ContextKind.Equal]). Items
// spell the well-known kinds as the constants do, regardless of the case they were
// given, so that == and switch work on those.
//
// It implements the Enumerations chapter of the specification.
type ContextKind string

// The well-known kinds of the Enumerations chapter.
const (
	KindMessage      ContextKind = "Message"      // a conversational message; the default
	KindDocument     ContextKind = "Document"     // a document or the content of a file
	KindToolOutput   ContextKind = "ToolOutput"   // what a tool returned
	KindMemory       ContextKind = "Memory"       // a stored memory or fact
	KindSystemPrompt ContextKind = "SystemPrompt" // a system-level instruction
)

// Equal reports whether k and other are the same kind under ASCII case
// folding. Letters beyond ASCII keep their case.
func (k ContextKind) Equal(other ContextKind) bool {
	return ascii.EqualFold(string(k), string(other))
}

// Key returns the spelling that all equal kinds share, for use as a map key.
// It does not allocate for the well-known kinds in their usual spelling, nor
// for kinds without capitals.
func (k ContextKind) Key() string {
	switch k {
	case KindMessage:
		return "message"
	case KindDocument:
		return "document"
	case KindToolOutput:
		return "tooloutput"
	case KindMemory:
		return "memory"
	case KindSystemPrompt:
		return "systemprompt"
	}
	return ascii.Lower(string(k))
}

// Canonical returns the usual spelling of a well-known kind, and any other
// kind as it is.
func (k ContextKind) Canonical() ContextKind {
	return canonical(k, KindMessage, KindDocument, KindToolOutput, KindMemory, KindSystemPrompt)
}

// canonical returns the known name that equals name, or name itself.
func canonical[S ~string](name S, known ...S) S {
	for _, k := range known {
		if ascii.EqualFold(string(name), string(k)) {
			return k
		}
	}
	return name
}

// IsBlank reports whether k is empty or white space only, by [unicode.IsSpace].
// Wherever a kind is required, a blank one is an error.
func (k ContextKind) IsBlank() bool { return isBlank(string(k)) }

// ContextSource identifies the origin of a context item. It is an extensible
// enumeration: any string that is not blank is a source, and the constants
// below are the well-known ones. Sources compare and are spelled as
// [ContextKind] is.
//
// It implements the Enumerations chapter of the specification.
type ContextSource string

// The well-known sources of the Enumerations chapter.
const (
	SourceChat ContextSource = "Chat" // a chat interaction; the default
	SourceTool ContextSource = "Tool" // a tool or function call
	SourceRAG  ContextSource = "Rag"  // a retrieval-augmented generation source
)

// Equal reports whether s and other are the same source under ASCII case
// folding.
func (s ContextSource) Equal(other ContextSource) bool {
	return ascii.EqualFold(string(s), string(other))
}

// Canonical returns the usual spelling of a well-known source, and any other
// source as it is.
func (s ContextSource) Canonical() ContextSource {
	return canonical(s, SourceChat, SourceTool, SourceRAG)
}

// IsBlank reports whether s is empty or white space only, by
// [unicode.IsSpace].
func (s ContextSource) IsBlank() bool { return isBlank(string(s)) }

func isBlank(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return !unicode.IsSpace(r) }) < 0
}
