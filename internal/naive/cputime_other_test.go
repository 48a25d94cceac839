//go:build !unix

package naive_test

import "time"

var started = time.Now()

// cpuTime returns the time that has passed, which is all that is portable.
func cpuTime() time.Duration { return time.Since(started) }
