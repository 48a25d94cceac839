package cli

import (
	"errors"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"

	"github.com/wollax/cupel-go/cupelchat"
	"github.com/wollax/cupel-go/cupelsession"
	"github.com/wollax/cupel-go/internal/wholefile"
)

// openSession reads the state of a session, or begins one if there is no file. What
// is not such a state is left as it is.
func (s *selection) openSession(env *Environment, path, cacheName string) (*cupelsession.Session, error) {
	cache, err := cacheOf(cacheName, s.Conversation.Format())
	if err != nil {
		return nil, err
	}
	session, err := cupelsession.New(s.ofMessages(), s.file.config(cache))
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
		return session, nil
	}
	state, err := readFile(env, path, env.mostInput(math.MaxInt))
	if err == nil {
		err = session.UnmarshalJSON(state)
	}
	if err != nil {
		return nil, usagef("--session: %s is not the state of a session, and is left as it is: %w; remove it to begin a new session", path, err)
	}
	return session, nil
}

// saveSession replaces the file of a session as a whole.
func saveSession(session *cupelsession.Session, path string) error {
	state, err := session.MarshalJSON()
	if err != nil {
		return err
	}
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target // the file is replaced, not the link
	}
	if err := wholefile.Write(path, filepath.Base(path)+".*", state); err != nil {
		return usagef("--session: %w", err)
	}
	return nil
}

func cacheNames() []string { return slices.Sorted(maps.Keys(cupelsession.Caches())) }

// cacheNamed returns the prompt cache that --cache names.
func cacheNamed(name string) (cupelsession.CacheModel, error) {
	cache, err := cupelsession.CacheNamed(name)
	if err != nil {
		return cache, usagef("--cache: %w", err)
	}
	return cache, nil
}

// cacheOf returns the prompt cache of a name, or the one of a conversation's API.
func cacheOf(name string, f cupelchat.Format) (cupelsession.CacheModel, error) {
	if name != "" {
		return cacheNamed(name)
	}
	return cupelsession.CacheFor(f), nil
}
