package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/wollax/cupel-go/cupelsession/replay"
	"github.com/wollax/cupel-go/internal/english"
)

// lostError lists the recordings that lose a value.
type lostError struct {
	conversations int
	places        []string // FILE:LINE: TEXT
}

func (e *lostError) Error() string {
	return fmt.Sprintf("KeepFact failed: it is lost in %d of %s\n\t%s", len(e.places), english.Plural(e.conversations, "conversation"), strings.Join(e.places, "\n\t"))
}

// factKeeper returns a function that reports whether a policy keeps a value at
// every step of the recordings in a file, or in all files of a folder.
func factKeeper(env *Environment, path, policy string, budget int, session bool) (func(ctx context.Context, fact string) error, error) {
	p, err := replayed(env, policy)
	if err != nil {
		return nil, err
	}
	if session {
		p = p.InSession(0)
	}
	names := filesIn("", path)
	if names == nil {
		return nil, usagef("selection.recordings: the folder %s has no files", path)
	}
	return func(ctx context.Context, fact string) error {
		lost := &lostError{}
		for _, name := range names {
			if err := lost.read(ctx, env, name, p, budget, fact); err != nil {
				return err
			}
		}
		switch {
		case lost.conversations == 0:
			return fmt.Errorf("KeepFact failed: no step in %s comes after a message with the value", english.Plural(len(names), "file"))
		case len(lost.places) > 0:
			return lost
		}
		return nil
	}, nil
}

// read follows a value through the conversations of a file.
func (e *lostError) read(ctx context.Context, env *Environment, name string, p replay.Policy, budget int, fact string) error {
	r, done, err := open(env, name)
	if err != nil {
		return err
	}
	defer done()
	for c, err := range replay.Scan(name, r, nil) {
		if err != nil {
			return codedError{err, exitUsage}
		}
		said := false
		for step, err := range replay.Follow(ctx, &c, p, budget, fact) {
			if err != nil {
				return selecting(fmt.Errorf("%s:%d: %w", name, c.Line, err))
			}
			said = true
			if !step.Kept {
				e.places = append(e.places, fmt.Sprintf("%s:%d: %s: the window before message %d does not have %q", name, c.Line, c.ID, step.Message, fact))
				break
			}
		}
		if said {
			e.conversations++
		}
	}
	return nil
}
