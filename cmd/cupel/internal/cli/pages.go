package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/wollax/cupel-go/cupelchat/replay"
	"github.com/wollax/cupel-go/cupelinspect"
)

// writePages writes a page of each of the worst conversations, which are read again
// from the data, and puts its name into the result.
func (f *replayFlags) writePages(ctx context.Context, env *Environment, result *replay.Result, m *replay.Measure) error {
	if f.pages == "" {
		return nil
	}
	if err := os.MkdirAll(f.pages, 0o755); err != nil {
		return usageError{err}
	}
	again := measuring[replay.Conversation, replay.Sample]{measureFlags: &f.measureFlags, scan: replay.Scan}
	for c, err := range again.conversations(env) {
		if _, ok := errors.AsType[*replay.ReadError](err); ok {
			continue // it was not measured either
		}
		if err != nil {
			return err
		}
		for i := range result.Worst {
			w := &result.Worst[i]
			if w.File != c.File || w.Line != c.Line || w.Conversation != c.ID {
				continue
			}
			page := filepath.Join(f.pages, fmt.Sprintf("worst-%02d.html", i+1))
			if err := f.page(ctx, page, w, &c, m); err != nil {
				return err
			}
			w.Page = filepath.ToSlash(page)
		}
	}
	return nil
}

// page writes the page of a conversation, at the share at which most is missed.
func (f *replayFlags) page(ctx context.Context, file string, w *replay.Worst, c *replay.Conversation, m *replay.Measure) error {
	share := m.Plan().Shares[slices.Index(w.Missed, slices.Max(w.Missed))]
	seen, err := m.Show(ctx, c, w.Policy, w.Mode, share)
	if err != nil {
		return err
	}
	selection, err := cupelinspect.FromReport(seen.Report, seen.Budget, cupelinspect.WithName(fmt.Sprintf("%s at %g", w.Policy, share)))
	if err != nil {
		return err
	}
	title := fmt.Sprintf("%s, step %d: misses %s", c.ID, seen.Step, strings.Join(seen.Missed, ", "))
	return writeFile(file, f.force, func(out io.Writer) error {
		return cupelinspect.WriteHTML(out, title, selection)
	})
}
