// Package terminal writes text for people, on a terminal or to a pipe: with
// colour only if it is wanted, with columns that align in every script, and with
// control characters in content escaped.
package terminal

import (
	"io"
	"os"
	"strconv"

	"golang.org/x/term"
)

// DefaultWidth is the width in columns if it is unknown.
const DefaultWidth = 100

// Screen describes where output goes.
type Screen struct {
	Terminal bool // output goes to a terminal
	Width    int  // columns, positive
	colour   bool // it supports colour, and the environment allows it
}

// Detect returns the Screen that w writes to. COLUMNS in the environment
// overrides the width of a terminal; a NO_COLOR that is not empty, and TERM=dumb,
// disable colour.
func Detect(w io.Writer, getenv func(string) string) Screen {
	screen := Screen{Width: DefaultWidth}
	if file, ok := w.(*os.File); ok {
		fd := int(file.Fd())
		screen.Terminal = term.IsTerminal(fd)
		if columns, _, err := term.GetSize(fd); err == nil && columns > 0 {
			screen.Width = columns
		}
	}
	if columns, err := strconv.Atoi(getenv("COLUMNS")); err == nil && columns > 0 {
		screen.Width = columns
	}
	screen.colour = screen.Terminal && getenv("NO_COLOR") == "" && getenv("TERM") != "dumb"
	return screen
}

// ColourMode says when output has colour.
type ColourMode string

// The modes.
const (
	ColourAuto   ColourMode = "auto" // on a terminal, unless the environment forbids it
	ColourAlways ColourMode = "always"
	ColourNever  ColourMode = "never"
)

// Printer returns a printer for this screen that writes to w.
func (s Screen) Printer(w io.Writer, mode ColourMode) *Printer {
	colour := mode == ColourAlways || mode != ColourNever && s.colour
	return &Printer{w: w, width: s.Width, colour: colour}
}
