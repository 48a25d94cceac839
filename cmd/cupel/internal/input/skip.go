package input

import (
	"bytes"
	"encoding/json"
	"fmt"
	"unicode/utf8"
)

// skipped counts what is left out because it is not valid.
type skipped struct {
	active bool
	n      int
	first  error
}

// add counts an item with its mistake.
func (s *skipped) add(err error) {
	if s.n++; s.first == nil {
		s.first = err
	}
}

// item returns the error of one of several items, or nil if it is skipped.
func (s *skipped) item(err error, several int) error {
	switch {
	case s.active:
		s.add(err)
		return nil
	case several > 1:
		return &InvalidItemError{err}
	}
	return err
}

// lines returns a text with one item per line without the lines that are no
// objects. The others keep their numbers. Any other text is returned as it is.
func (s *skipped) lines(data []byte) []byte {
	if json.Valid(bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))) {
		return data
	}
	lines := bytes.SplitAfter(data, []byte("\n"))
	found := &skipped{}
	var kept []byte
	objects := 0
	for i, line := range lines {
		text := bytes.TrimSpace(line)
		if i == 0 {
			text = bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))
		}
		switch {
		case len(text) > 0 && text[0] == '{' && json.Valid(text) && utf8.Valid(text):
			objects++
			kept = append(kept, line...)
			continue
		case len(text) > 0:
			found.add(&Error{Line: i + 1, Reason: "the line is not a JSON object"})
		}
		kept = append(kept, line[len(bytes.TrimRight(line, "\n")):]...)
	}
	if objects == 0 {
		return data
	}
	s.n, s.first = found.n, found.first
	return kept
}

// notes says what was skipped.
func (s *skipped) notes() []string {
	switch s.n {
	case 0:
		return nil
	case 1:
		return []string{fmt.Sprintf("skipped an item that is not valid: %v", s.first)}
	}
	return []string{fmt.Sprintf("skipped %d items that are not valid; the first: %v", s.n, s.first)}
}
