package cupelreduce

import "strings"

// Kind is the kind of a text, which determines how it is reduced.
type Kind uint8

// The kinds. Text of an unknown kind is a [KindLog].
const (
	// KindLog is the output of a command, a listing, or any lines: first and last
	// lines, errors, and lines that name something new come first.
	KindLog Kind = iota
	// KindProse is prose: lines that name something and first sentences come
	// first.
	KindProse
	// KindCode is source code: declarations come first, outer ones before inner ones.
	KindCode
	// KindDiff is a unified diff: headers and the first changes of each hunk come first.
	KindDiff
	// KindJSON is a JSON object or array: ids, paths and short values come first.
	KindJSON

	auto // as Detect returns it
)

// String returns the name of the kind in small letters.
func (k Kind) String() string {
	switch k {
	case KindLog:
		return "log"
	case KindProse:
		return "prose"
	case KindCode:
		return "code"
	case KindDiff:
		return "diff"
	case KindJSON:
		return "json"
	default:
		return "unknown kind"
	}
}

// Detect returns the kind that a text looks like, in time linear in its length.
func Detect(text string) Kind {
	if parseJSON(text) != nil {
		return KindJSON
	}
	return kindOfLines(text)
}

// maxSample is how many bytes of a text determine its kind.
const maxSample = 1 << 16

// kindOfLines returns the kind of a text that is not JSON.
func kindOfLines(text string) Kind {
	var all, sentences, declared, blocks int
	for raw := range strings.Lines(text[:min(len(text), maxSample)]) {
		if hasAnyPrefix(raw, "@@ -", "diff --git ") {
			return KindDiff
		}
		body, _ := unnumbered(strings.TrimRight(raw, " \t\r\n"))
		if body == "" {
			continue
		}
		all++
		if strings.IndexByte(".!?:", body[len(body)-1]) >= 0 && strings.Count(body, " ") >= 2 || strings.Count(body, " ") >= 8 {
			sentences++
		}
		if isDeclaration(body) {
			declared++
		}
		if opens(body) || strings.IndexByte(";}", body[len(body)-1]) >= 0 {
			blocks++
		}
	}
	switch {
	case all >= 3 && declared > 0 && (declared+blocks)*4 >= all:
		return KindCode
	case all > 0 && sentences*2 >= all:
		return KindProse
	}
	return KindLog
}
