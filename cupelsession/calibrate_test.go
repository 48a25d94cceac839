package cupelsession

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestFittingWindowsStay: a window that fits by the last report stays, though the line allows less.
func TestFittingWindowsStay(t *testing.T) {
	for _, test := range []struct{ last, limit, now, want int }{
		{130, 130, 100, 100},
		{130, 130, 101, 80},
		{131, 130, 100, 80},
		{100, 100, 100, 100},
		{100, 100, 101, 50},
	} {
		c := calibration{[]report{{100, 150}, {100, 150}, {100, test.last}}}
		assert.Equal(t, test.want, c.most(test.limit, test.now), "after a last report of %d tokens for 100, %d tokens of %d", test.last, test.now, test.limit)
	}
}
