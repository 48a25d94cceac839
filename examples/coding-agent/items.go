package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/wollax/cupel-go/cupel"
)

// standardOutput is the name that stands for it in place of a file's.
const standardOutput = "-"

// writeItems writes the candidates where -items says, for other programs.
func (s settings) writeItems(out io.Writer, items []*cupel.ContextItem) error {
	text, err := itemsJSON(items)
	if err != nil {
		return err
	}
	if s.itemsFile == standardOutput {
		_, err := out.Write(text)
		return err
	}
	return s.writeFile(s.itemsFile, func(w io.Writer) error {
		_, err := w.Write(text)
		return err
	})
}

// writeFile writes a file anew, or over one that is there when -force says so.
func (s settings) writeFile(name string, content func(io.Writer) error) error {
	mode := os.O_WRONLY | os.O_CREATE | os.O_EXCL
	if s.force {
		mode = os.O_WRONLY | os.O_CREATE | os.O_TRUNC
	}
	file, err := os.OpenFile(name, mode, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s is there already; -force replaces it", name)
	}
	if err != nil {
		return err
	}
	return errors.Join(content(file), file.Close())
}

// itemsJSON is an array with an item on each line, so that two of them can be
// compared by line.
func itemsJSON(items []*cupel.ContextItem) ([]byte, error) {
	text := []byte{'['}
	for i, item := range items {
		one, err := json.Marshal(item)
		if err != nil {
			return nil, err
		}
		if i > 0 {
			text = append(text, ',')
		}
		text = append(append(text, '\n'), one...)
	}
	return append(text, "\n]\n"...), nil
}
