package cupelsession

import (
	"math"
	"slices"
)

// calibration compares the tokens that providers reported with the estimates.
type calibration struct {
	Reports []report `json:"reports,omitempty"` // the latest, oldest first
}

// report is one pair of tokens.
type report struct {
	Estimated int `json:"estimated"`
	Counted   int `json:"counted"`
}

const (
	keptReports  = 20
	fewReports   = 3 // for a tighter budget
	looseReports = 5 // for a looser one
)

// with returns the calibration with one more report. It ignores a report of less
// than a third of the estimate, which lacks the tokens that the provider had in
// a cache.
func (c calibration) with(r report) calibration {
	if r.Counted < r.Estimated/3 {
		return c
	}
	reports := append(slices.Clone(c.Reports), r)
	return calibration{reports[max(0, len(reports)-keptReports):]}
}

// line fits counted = offset + slope*estimated: the slope is the median of the
// slopes between pairs of reports, and the offset the median of the remainders,
// so that a few odd reports change nothing.
func (c calibration) line() (offset, slope float64) {
	if len(c.Reports) < fewReports {
		return 0, 1
	}
	var slopes []float64
	for i, a := range c.Reports {
		for _, b := range c.Reports[i+1:] {
			// Reports of nearly the same size say nothing about the slope.
			if d := b.Estimated - a.Estimated; d > a.Estimated/50 || -d > a.Estimated/50 {
				slopes = append(slopes, float64(b.Counted-a.Counted)/float64(d))
			}
		}
	}
	slope = 1
	if len(slopes) >= fewReports {
		slope = min(max(median(slopes), 0.5), 3)
	}
	rest := make([]float64, len(c.Reports))
	for i, r := range c.Reports {
		rest[i] = float64(r.Counted) - float64(slope*float64(r.Estimated))
	}
	return median(rest), slope
}

// most returns the largest estimate at which the provider counts at most limit
// tokens. now is the estimate of the window if nothing were chosen again.
func (c calibration) most(limit, now int) int {
	if len(c.Reports) == 0 {
		return limit
	}
	offset, slope := c.line()
	most := integer((float64(limit) - offset) / slope)
	if c.less() < looseReports {
		most = min(most, limit)
	}
	// The last report predicts the tokens of what was sent better than the line
	// does, so what still fits by it stays.
	last := c.Reports[len(c.Reports)-1]
	if more := max(0, now-last.Estimated); now <= limit && float64(last.Counted)+float64(slope*float64(more)) <= float64(limit) {
		return max(most, now)
	}
	return most
}

// less returns how many reports counted less than was estimated.
func (c calibration) less() int {
	n := 0
	for _, r := range c.Reports {
		if r.Counted < r.Estimated {
			n++
		}
	}
	return n
}

// counts returns how many tokens the provider will count for an estimate. It
// returns the estimate itself until there are enough reports.
func (c calibration) counts(estimated int) int {
	offset, slope := c.line()
	return integer(offset + float64(slope*float64(estimated)) + 0.5)
}

// integer returns the whole number of tokens in n, from 0 to the greatest int.
func integer(n float64) int {
	if n >= math.MaxInt {
		return math.MaxInt
	}
	return max(0, int(n))
}

func median(list []float64) float64 {
	slices.Sort(list)
	n := len(list)
	return (list[(n-1)/2] + list[n/2]) / 2
}
