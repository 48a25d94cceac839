package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/wollax/cupel-go/cmd/cupel/internal/terminal"
)

// inTable escapes characters that would end a cell of a Markdown table, or
// begin HTML.
var inTable = strings.NewReplacer("|", "\\|", "<", "&lt;", "`", "'", "\r", "", "\n", "<br>", "\t", "")

// writeMarkdown writes a table of all checks, those that fail first.
func writeMarkdown(w io.Writer, files []*checkedFile) error {
	var failed, held strings.Builder
	for _, file := range files {
		row := func(out *strings.Builder, sign, text string) {
			fmt.Fprintf(out, "| %s | %s | %s |\n", sign, inTable.Replace(terminal.Safe(shown(file.File))), terminal.Safe(inTable.Replace(text)))
		}
		if file.err != nil {
			row(&failed, "error", file.Error)
		}
		for _, r := range file.Results {
			if r.OK {
				row(&held, "ok", r.Path+" "+r.Text)
			} else {
				row(&failed, "**failed**", strings.TrimSpace(r.Path+" "+r.Text+"\n"+r.Message+"\n"+r.Why))
			}
		}
	}
	_, err := fmt.Fprintf(w, "| | file | check |\n|---|---|---|\n%s%s", failed.String(), held.String())
	return err
}

// lint writes a line for each failure, with the place of a recording if there is one.
func (c checkedFiles) lint(p *terminal.Printer) {
	for _, file := range c.Files {
		if file.err != nil {
			p.Line("%s:1: the selection failed: %s", shown(file.File), terminal.FirstLine(file.Error))
		}
		for _, r := range file.Results {
			for _, place := range r.Places {
				p.Line("%s", place)
			}
			if !r.OK && len(r.Places) == 0 {
				p.Line("%s:1: %s %s", shown(file.File), r.Path, terminal.FirstLine(r.Message))
			}
		}
	}
}
