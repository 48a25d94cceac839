package main

import (
	"context"
	"fmt"
	"io"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/policy"
	"github.com/wollax/cupel-go/cupelinspect"
)

// writePage writes the page that shows the window, beside that of the preset of
// -what-if when there is one, and says where it is.
func (s settings) writePage(ctx context.Context, out io.Writer, pipeline *cupel.Pipeline, items []*cupel.ContextItem) error {
	page := []*cupelinspect.Selection{}
	add := func(name string, pipeline *cupel.Pipeline) error {
		selection, err := cupelinspect.Inspect(ctx, pipeline, items, s.budget, cupelinspect.WithName(name))
		page = append(page, selection)
		return err
	}
	if err := add(own, pipeline); err != nil {
		return err
	}
	if s.whatIf != "" {
		preset, err := policy.NewRegistry().Lookup(s.whatIf)
		if err != nil {
			return err
		}
		other, err := preset.Pipeline(policy.Environment{})
		if err != nil {
			return err
		}
		if err := add(s.whatIf, other); err != nil {
			return err
		}
	}
	err := s.writeFile(s.page, func(w io.Writer) error { return cupelinspect.WriteHTML(w, s.question, page...) })
	if err != nil || s.json || s.full {
		return err // programs read what is on standard output
	}
	_, err = fmt.Fprintf(out, "\nInspector: %s shows all of this in a browser\n", visible(s.page))
	return err
}
