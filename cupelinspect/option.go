package cupelinspect

import (
	"strconv"

	"github.com/wollax/cupel-go/cupel"
)

// The bounds of a [Selection] for which no option says otherwise, and those of
// the options.
const (
	// DefaultContentLimit is how many bytes of a content a page has at most,
	// unless [WithContentLimit] says otherwise.
	DefaultContentLimit = 64 << 10
	// MaxSweepStops is the most stops that [WithSweep] takes.
	MaxSweepStops = 1000

	// allContents is how many bytes all contents together have at most by
	// default, and leastContent what a content may have in any case.
	allContents  = 8 << 20
	leastContent = 256

	// A sweep has at most mostStops by default, and at most stopCells stops
	// times candidates, but never less than leastStops.
	mostStops  = 100
	leastStops = 5
	stopCells  = 500_000
)

// Option is an optional setting of a [Selection].
type Option func(*settings) error

type settings struct {
	name         string
	contentLimit int // -1: the default
	sweep        *sweepRange
}

// sweepRange is what [WithSweep] was given.
type sweepRange struct{ from, to, stops int }

func apply(opts []Option) (settings, error) {
	s := settings{contentLimit: -1}
	for _, opt := range opts {
		if opt == nil {
			continue
		}
		if err := opt(&s); err != nil {
			return settings{}, err
		}
	}
	return s, nil
}

// WithName names the selection on the page. Selections without a name are
// called "A" and "B" where there are two.
func WithName(name string) Option {
	return func(s *settings) error {
		s.name = name
		return nil
	}
}

// WithContentLimit sets how many bytes of each content the page has; at least
// 0, [DefaultContentLimit] by default, and then less where all contents and
// texts of metadata together would be more than 8 MiB. The page says where
// something is missing. Values of metadata are cut at the same length, but for
// numbers and booleans; kinds, sources, tags and the keys of metadata stay.
func WithContentLimit(bytes int) Option {
	return func(s *settings) error {
		if bytes < 0 {
			return invalid("contentLimit", strconv.Itoa(bytes), "must be at least 0 bytes")
		}
		s.contentLimit = bytes
		return nil
	}
}

// WithSweep sets the budgets that the page's slider goes over: stops of them,
// evenly from one maxTokens to another, both in tokens and at least 0. The one
// nearest to the budget of the selection is that budget, when it lies between
// them. 0 stops mean no slider, and [MaxSweepStops] are the most.
//
// By default it is up to 100 stops, at most 500,000 divided by the number of
// candidates but 5 in any case, up to twice the budget or to what all
// candidates take, whichever is less, but not less than the budget. Each costs a run without its first
// stages, and in the page a few bytes for each candidate.
//
// Along the sweep the target keeps its share of the ceiling, rounded down, and
// output reserve, reserved slots and safety margin stay as they are.
func WithSweep(from, to, stops int) Option {
	return func(s *settings) error {
		switch {
		case from < 0:
			return invalid("sweep.from", strconv.Itoa(from), "must be at least 0 tokens")
		case to < from:
			return invalid("sweep.to", strconv.Itoa(to), "must be at least the first budget, "+strconv.Itoa(from)+" tokens")
		case stops < 0 || stops > MaxSweepStops:
			return invalid("sweep.stops", strconv.Itoa(stops), "must be from 0 to "+strconv.Itoa(MaxSweepStops))
		}
		s.sweep = &sweepRange{from, to, stops}
		return nil
	}
}

func invalid(field, value, reason string) error {
	return &cupel.InvalidConfigError{Component: "cupelinspect", Field: field, Value: value, Reason: field + " " + reason}
}
