package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/wollax/cupel-go/cupelsession/replay"
	"github.com/wollax/cupel-go/internal/english"
)

// lostError lists the recordings that lose a value.
type lostError struct {
	fact          string
	conversations int
	places        []string // FILE:LINE: TEXT
}

func (e *lostError) Error() string {
	return fmt.Sprintf("KeepFact failed: the value is lost in %d of %s\n\t%s", len(e.places), english.Plural(e.conversations, "conversation"), strings.Join(e.places, "\n\t"))
}

// factKeeper returns a function that reports whether a policy keeps a value at
// every step of the recordings in a file, or in all files of a folder.
func factKeeper(env *Environment, path, policy string, budget int, session bool) (func(ctx context.Context, fact string) error, error) {
	p, err := replayed(env, policy, session)
	if err != nil {
		return nil, err
	}
	names := filesIn("", path)
	if names == nil {
		return nil, usagef("selection.recordings: the folder %s has no files", path)
	}
	return func(ctx context.Context, fact string) error {
		lost := &lostError{fact: fact}
		if err := followIn(ctx, env, names, p, budget, fact, lost.add); err != nil {
			return err
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

// add adds what becomes of the value in a conversation.
func (e *lostError) add(c *replay.Conversation, steps []replay.Followed) {
	if len(steps) > 0 {
		e.conversations++
	}
	at := slices.IndexFunc(steps, func(step replay.Followed) bool { return !step.Kept })
	if at >= 0 {
		e.places = append(e.places, fmt.Sprintf("%s:%d: %s: the window before message %d does not have %q", c.File, c.Line, c.ID, steps[at].Message, e.fact))
	}
}
