// Package terminal writes to people who read in a terminal or from a pipe:
// colour only where it is wanted, columns that line up in every script, and
// content that is shown and never obeyed.
package terminal

import (
	"io"
	"os"
	"strconv"

	"golang.org/x/term"
)

// DefaultWidth is the columns of what is not a terminal and does not say.
const DefaultWidth = 100

// Screen is what is known about where output goes.
type Screen struct {
	Terminal bool // somebody looks at it
	Width    int  // columns, positive
	colour   bool // it can have colour, and its user has not said no
}

// Detect looks at where w goes. COLUMNS in the environment overrides the width
// of a terminal; NO_COLOR, when it is not empty, and TERM=dumb forbid colour.
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
