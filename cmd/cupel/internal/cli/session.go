package cli

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/wollax/cupel-go/cmd/cupel/internal/terminal"
	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupelchat"
	"github.com/wollax/cupel-go/cupelsession"
)

// errLocked is the error for a file that another process has locked.
var errLocked = errors.New("another cupel is using this file: try again when that is done")

// sessionFile is the saved state of a session. As long as it is open, no other
// process can open it.
type sessionFile struct {
	*cupelsession.Session
	path  string
	close func() error
}

// openSession reads the state of a session, or begins one if there is no file. What
// is not such a state is left as it is.
func (s *selection) openSession(path, cacheName string) (*sessionFile, error) {
	if s.Conversation == nil {
		return nil, usagef("--session requires a transcript as input, and these are items (%s)", s.Format)
	}
	cache, err := cacheOf(cacheName, s.Conversation.Format())
	if err != nil {
		return nil, err
	}
	var chooser cupelsession.Chooser = s.pipeline
	if s.preset != nil {
		chooser = s.preset
	}
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target // saving replaces the file, not the link
	}
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return nil, usagef("--session: %s is not a file", path)
	}
	session, err := cupelsession.New(chooser, cupelsession.Config{Cache: cache})
	if err != nil {
		return nil, err
	}
	unlock, err := lock(path)
	if err != nil {
		return nil, usagef("--session: %w", err)
	}
	state, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		state, err = nil, nil
	}
	if len(state) > 0 {
		err = session.UnmarshalJSON(state)
	}
	if err != nil {
		err = usagef("--session: %s is not the state of a session, and is left as it is: %w; remove it to begin a new session", path, err)
		return nil, errors.Join(err, unlock())
	}
	return &sessionFile{session, path, unlock}, nil
}

// sameFile reports whether two names are of one file, which may not exist yet.
func sameFile(a, b string) bool {
	x, noX := os.Stat(a)
	y, noY := os.Stat(b)
	return filepath.Clean(a) == filepath.Clean(b) || noX == nil && noY == nil && os.SameFile(x, y)
}

// save replaces the file as a whole.
func (s *sessionFile) save() (err error) {
	state, err := s.MarshalJSON()
	if err != nil {
		return err
	}
	file, err := os.CreateTemp(filepath.Dir(s.path), filepath.Base(s.path)+".*")
	if err != nil {
		return usagef("--session: %w", err)
	}
	defer func() {
		if err != nil {
			err = usageError{errors.Join(fmt.Errorf("--session: %w", err), os.Remove(file.Name()))}
		}
	}()
	_, err = file.Write(state)
	if err == nil {
		err = file.Sync()
	}
	err = errors.Join(err, file.Close())
	if err != nil {
		return err
	}
	return os.Rename(file.Name(), s.path)
}

// cacheOf returns the prompt cache of a name, or the one of a conversation's API.
func cacheOf(name string, f cupelchat.Format) (cupelsession.CacheModel, error) {
	if name == "" {
		switch f {
		case cupelchat.Anthropic, cupelchat.Bedrock:
			return cupelsession.AnthropicCache, nil
		case cupelchat.OpenAI, cupelchat.Responses:
			return cupelsession.OpenAICache, nil
		case cupelchat.Gemini:
			return cupelsession.GeminiCache, nil
		default:
			return cupelsession.NoCache, nil
		}
	}
	cache, ok := caches[name]
	if !ok {
		names := slices.Sorted(maps.Keys(caches))
		return cache, usagef("--cache: %.40q is unknown%s; want one of %s", name, didYouMean(name, names), strings.Join(names, ", "))
	}
	return cache, nil
}

// chosen is a window to print.
type chosen struct {
	items []*cupel.ContextItem
	body  func() (text []byte, notes []string, err error) // of a conversation
	sent  func() error                                    // called once it is printed; nil without a session
}

// once chooses a window by itself.
func (s *selection) once(ctx context.Context) (*chosen, error) {
	window, err := s.run(ctx)
	if err != nil {
		return nil, s.selecting(err, true)
	}
	body := func() ([]byte, []string, error) {
		text, err := window.Body()
		return text, window.Notes, err // some notes are of the body
	}
	return &chosen{items: window.Items, body: body}, nil
}

// inSession chooses the next window of a session.
func (s *selection) inSession(ctx context.Context, env *Environment, file *sessionFile) (*chosen, error) {
	body, turn, err := file.Body(ctx, s.Conversation, s.budget, cupelsession.WithModel(s.Model))
	if err != nil {
		return nil, s.selecting(err, true)
	}
	return &chosen{
		items: turn.Window,
		body:  func() ([]byte, []string, error) { return body, turn.Notes, nil },
		sent: func() error {
			if err := turn.Commit(cupelsession.Usage{}); err != nil {
				return err
			}
			note(env.Stderr, []string{turn.String()})
			return file.save()
		},
	}, nil
}

// checkFormat fails if the API of a conversation would refuse a body.
func checkFormat(env *Environment, body []byte, f cupelchat.Format) error {
	violations := cupelchat.Check(body, f)
	if len(violations) == 0 {
		return nil
	}
	fmt.Fprintf(env.Stderr, "cupel: the API (%v) would refuse the window, and nothing is written:\n", f)
	for _, v := range violations {
		fmt.Fprintf(env.Stderr, "  %s\n", terminal.Safe(v.String()))
	}
	return errCheck
}

// cacheFlag registers the flag that names a cache.
func cacheFlag(command *cobra.Command, cache *string, usage string) {
	names := slices.Sorted(maps.Keys(caches))
	command.Flags().StringVar(cache, "cache", "", usage+"; one of "+strings.Join(names, ", "))
	complete(command, "cache", names...)
}
