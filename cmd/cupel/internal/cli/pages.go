package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupelchat/replay"
	"github.com/wollax/cupel-go/cupelinspect"
)

// writePages writes a page of each of the worst conversations, which are read again
// from the data, and puts its name into the result.
func (f *measureFlags) writePages(ctx context.Context, env *Environment, result *replay.Result, measure func() (*replay.Measure, error)) error {
	if f.pages == "" || len(result.Worst) == 0 {
		return nil
	}
	m, err := measure()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(f.pages, 0o755); err != nil {
		return usageError{err}
	}
	for _, name := range f.data {
		if err := f.pagesOf(ctx, env, name, result, m); err != nil {
			return err
		}
	}
	for i := range result.Worst {
		if w := &result.Worst[i]; w.Page == "" {
			return usagef("--pages: conversation %q is not at %s:%d: give the data that was measured", w.Conversation, w.File, w.Line)
		}
	}
	return nil
}

// pagesOf writes the pages of the conversations in a file.
func (f *measureFlags) pagesOf(ctx context.Context, env *Environment, name string, result *replay.Result, m *replay.Measure) error {
	lines := make(map[int]bool)
	for i := range result.Worst {
		if w := &result.Worst[i]; w.File == shown(name) {
			lines[w.Line] = true
		}
	}
	if len(lines) == 0 {
		return nil
	}
	r, done, err := open(env, name)
	if err != nil {
		return err
	}
	defer done()
	for c, err := range replay.Scan(shown(name), r, func(n, line int) bool {
		return lines[line] || n == 0 && lines[1] // all lines of a log, which is one conversation
	}) {
		if _, ok := errors.AsType[*replay.ReadError](err); ok {
			continue // it was not measured either
		}
		if err != nil {
			return err
		}
		for i := range result.Worst {
			w := &result.Worst[i]
			if w.Page != "" || w.File != c.File || w.Line != c.Line || w.Conversation != c.ID {
				continue
			}
			page := filepath.Join(f.pages, fmt.Sprintf("worst-%02d.html", i+1))
			if err := f.page(ctx, env, page, w, &c, m); err != nil {
				return err
			}
			w.Page = filepath.ToSlash(page)
		}
	}
	return nil
}

// page writes the page of a conversation, at the share at which most is missed.
func (f *measureFlags) page(ctx context.Context, env *Environment, file string, w *replay.Worst, c *replay.Conversation, m *replay.Measure) error {
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
	return writeOutput(env, file, f.force, func(out io.Writer) error {
		return cupelinspect.WriteHTML(out, title, selection)
	})
}

// remeasure returns what builds the measure of samples again.
func remeasure(env *Environment, h *sampleHeader, plan replay.Plan) func() (*replay.Measure, error) {
	return func() (*replay.Measure, error) {
		var settings replaySettings
		if err := json.Unmarshal(h.Settings, &settings); err != nil {
			return nil, err
		}
		var counter cupel.TokenCounter = replay.Characters{}
		if settings.Encoding != characters {
			var err error
			if counter, err = counterNamed(settings.Encoding); err != nil {
				return nil, err
			}
		}
		var names []string
		var policies []replay.Policy
		for _, planned := range plan.Policies {
			p, err := inSession(env, planned.Name, counter)
			if err != nil {
				return nil, err
			}
			if planned.Mode == replay.Session {
				p = p.InSession(settings.LowWater)
			}
			names, policies = append(names, planned.Name), append(policies, p)
		}
		if !maps.Equal(fingerprints(names), settings.Policies) {
			return nil, usagef("--pages: a policy file is not the one that was measured: measure again")
		}
		return replay.NewMeasure(policies, plan.Shares, replay.WithCounter(counter))
	}
}
