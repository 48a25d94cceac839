package cupelinspect

import (
	"slices"
	"strconv"
	"strings"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/pipeline"
)

// Bounds of a [Selection] and of the options.
const (
	// MaxSweepStops is the maximum number of stops of [WithSweep].
	MaxSweepStops = 1000
	// MaxSelections is the maximum number of selections of [WriteHTML].
	MaxSelections = 200

	// mostContent is the limit for one content, in bytes.
	mostContent = 64 << 10
	// allContents is the limit for all contents together, in bytes; leastContent is
	// the lowest limit that it leads to for one content.
	allContents  = 8 << 20
	leastContent = 256
	// mostPage is the size of a page above which the contents that are in no window
	// are cut.
	mostPage = 5_000_000

	// By default a sweep has at most mostStops stops, and fewer if stops times
	// candidates would exceed stopCells, but at least leastStops.
	mostStops  = 100
	leastStops = 5
	stopCells  = 500_000
)

// Option configures a [Selection].
type Option func(*settings) error

type settings struct {
	name     string
	sweep    *sweepRange
	items    []*cupel.ContextItem
	choose   Choose
	pipeline *pipeline.Pipeline
	request  string
}

// Choose selects at another budget. The candidate at the pinned position is in as a
// whole; -1 pins none. Like a report of [FromReport], its report has the positions of
// candidates, and items as they are sent.
type Choose func(budget cupel.ContextBudget, pinned int) (*cupel.SelectionReport, error)

// WithCandidates gives [FromReport] the candidates of the report, in their order. If
// choose is not nil, the page has a slider, and names the candidates that make room for
// one that is not in.
func WithCandidates(items []*cupel.ContextItem, choose Choose) Option {
	return func(s *settings) error {
		if slices.Contains(items, nil) {
			return invalid("items", "nil", "must come from NewContextItem")
		}
		s.items, s.choose = slices.Clone(items), choose
		return nil
	}
}

// WithPipeline names the pipeline that chose for a report, so that the page has its
// strategies and the scores of a composite's parts.
func WithPipeline(p *pipeline.Pipeline) Option {
	return func(s *settings) error {
		s.pipeline = p
		return nil
	}
}

// WithRequest adds the body of the request that was sent, which a reader of the page
// can copy.
func WithRequest(body []byte) Option {
	return func(s *settings) error {
		s.request = strings.ToValidUTF8(string(body), "\uFFFD")
		return nil
	}
}

// sweepRange holds the arguments of [WithSweep].
type sweepRange struct{ from, to, stops int }

func apply(opts []Option) (settings, error) {
	var s settings
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

// WithName names the selection on the page. On a page with two, unnamed
// selections are called "A" and "B".
func WithName(name string) Option {
	return func(s *settings) error {
		s.name = name
		return nil
	}
}

// WithSweep sets the budgets of the page's slider: stops values of maxTokens,
// evenly spaced from one value to another, both in tokens and at least 0. If
// the selection's own budget lies in the range, it replaces the nearest stop. 0
// stops disables the slider; the maximum is [MaxSweepStops].
//
// The default is 100 stops, or 500,000 divided by the number of candidates if
// that is less, but at least 5. The range ends at twice the budget or at the
// tokens of all candidates, whichever is less, but not below the budget. Each
// stop costs a run without its first stages, and a few bytes of the page for
// each candidate.
//
// Along the sweep the target keeps its share of maxTokens, rounded down; output
// reserve, reserved slots and safety margin stay the same.
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
