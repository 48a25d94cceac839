package scorer

import "time"

// instant returns t as whole seconds and the nanoseconds of the last one, such
// that later times have larger pairs. Unlike Unix nanoseconds, which wrap in
// 1678 and 2262, it covers every [time.Time] (R10).
//
// The seconds count from where time.Time itself starts counting, moved up to
// make the first of them 0: they order as [time.Time.Compare] does even where
// the seconds of [time.Time.Unix] wrap.
func instant(t time.Time) (seconds uint64, nanos uint32) {
	const year1 = -62135596800 // the Unix time of January 1 in the year 1
	return uint64(t.Unix()-year1) ^ 1<<63, uint32(t.Nanosecond())
}
