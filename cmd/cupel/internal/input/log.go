package input

import (
	"bytes"
	"fmt"
	"iter"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/internal/rawjson"
)

// mostLines is how many lines of a text are items at most: each takes memory.
const mostLines = 1_000_000

// Lines yields the lines of a text that are not blank, and their numbers. It cuts those of
// more than so many bytes into pieces.
func Lines(text string, most int) iter.Seq2[int, string] {
	return func(yield func(int, string) bool) {
		number := 0
		for line := range strings.Lines(text) {
			number++
			for line = strings.TrimRight(line, "\r\n"); strings.TrimSpace(line) != ""; {
				piece := line[:Break(line, most, " ,")]
				line = line[len(piece):]
				if !yield(number, piece) {
					return
				}
			}
		}
	}
}

// Break returns where a text of more than so many bytes can be cut: after the last of some
// ASCII characters in its second half, or otherwise after any character.
func Break(text string, most int, after string) int {
	if len(text) <= most {
		return len(text)
	}
	if last := strings.LastIndexAny(text[:most], after); last >= most/2 {
		return last + 1
	}
	for most > 1 && !utf8.RuneStart(text[most]) {
		most--
	}
	return max(most, 1)
}

// LineItem returns a line as an item, with its number as metadata and as a made-up time,
// which keeps lines in order. It fails if the counter does.
func LineItem(number int, line string, counter cupel.TokenCounter) (*cupel.ContextItem, error) {
	item, err := cupel.NewItemFrom(counter, line, cupel.WithKind(cupel.KindDocument), cupel.WithTimestamp(time.Unix(int64(number), 0).UTC()), cupel.WithMetadata(map[string]any{"line": number}))
	if err != nil {
		return nil, fmt.Errorf("line %d: %w", number, err)
	}
	return item, nil
}

// lineItems returns the lines of a text as items.
func lineItems(text string, counter cupel.TokenCounter) (items []*cupel.ContextItem, err error) {
	for number, line := range Lines(text, len(text)) {
		if len(items) == mostLines {
			return nil, fmt.Errorf("the text has more than %d lines: give a part of it", mostLines)
		}
		item, err := LineItem(number, line, counter)
		if err != nil {
			return nil, err
		}
		items = append(items, item)
	}
	return items, nil
}

// isLog reports whether to read a text line by line: it does not begin like JSON, or it
// begins with a record of a logger. Streams of events are left to other readers.
func isLog(text rawjson.Text) bool {
	first, _, _ := bytes.Cut(bytes.TrimLeft(text, " \t\r\n"), []byte("\n"))
	switch {
	case len(first) == 0, bytes.IndexByte(text, 0) >= 0:
		return false
	case first[0] == '{':
		return isRecord(first)
	case first[0] == '[': // a list of objects, or [INFO]
		inside := bytes.TrimLeft(first[1:], " \t\r")
		return len(inside) > 0 && !strings.ContainsRune(`{[]"`, rune(inside[0]))
	}
	_, err := text.Value()
	return err != nil && !bytes.HasPrefix(first, []byte("data:")) && !bytes.HasPrefix(first, []byte("event:"))
}

// isRecord reports whether a line is a JSON record of log/slog or a similar
// logger.
func isRecord(line rawjson.Text) bool {
	value, _ := line.Value() // none is no object
	record, err := value.Object("")
	if err != nil || !record.Has("level") {
		return false
	}
	// Attributes of log/slog have any name.
	return record.Get("msg").IsString() || record.Get("message").IsString() && !record.Has("role") && !record.Has("content")
}
