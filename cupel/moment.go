package cupel

import "time"

// moment is one reading of the pipeline's clock and of the real one.
type moment struct{ clock, real time.Time }

// now reads both clocks, which are one unless the pipeline was given another.
func (p *Pipeline) now() moment {
	now := p.config.Clock()
	if p.realClock {
		return moment{now, now}
	}
	return moment{now, time.Now()} //nolint:forbidigo // for observers that ask for it
}

// sub is m - start by both clocks.
func (m moment) sub(start moment) span {
	return span{m.clock.Sub(start.clock), m.real.Sub(start.real)}
}

// span is a duration by both clocks.
type span struct{ clock, real time.Duration }

// realTimes are what an observer sees in place of the times by the pipeline's clock,
// if it asks for them.
type realTimes struct {
	start, end time.Time
	duration   time.Duration
}

// lasting returns e with its times by both clocks.
func (e StageEnd) lasting(start, end moment, busy span) StageEnd {
	e.Start, e.End, e.Duration = start.clock, end.clock, busy.clock
	e.real = realTimes{start.real, end.real, busy.real}
	return e
}

// by returns s with the times that an observer asked for.
func (s StageStart) by(detail TraceDetail) StageStart {
	if detail.RealTime {
		s.Start = s.real
	}
	if !detail.bothTimes {
		s.real = time.Time{}
	}
	return s
}

func (e StageEnd) by(detail TraceDetail) StageEnd {
	if detail.RealTime {
		e.Start, e.End, e.Duration = e.real.start, e.real.end, e.real.duration
	}
	if !detail.bothTimes {
		e.real = realTimes{}
	}
	return e
}

func (e RunEnd) by(detail TraceDetail) RunEnd {
	if detail.RealTime {
		e.Start, e.End = e.real.start, e.real.end
	}
	if !detail.bothTimes {
		e.real = realTimes{}
	}
	return e
}
