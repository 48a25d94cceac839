package english_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/wollax/cupel-go/internal/english"
)

func TestNumbers(t *testing.T) {
	for _, row := range []struct {
		n                      int
		grouped, count, plural string
	}{
		{0, "0", "0 items", "0 items"},
		{1, "1", "1 item", "1 item"},
		{-1, "-1", "-1 items", "-1 items"},
		{999, "999", "999 items", "999 items"},
		{-999, "-999", "-999 items", "-999 items"},
		{1000, "1,000", "1,000 items", "1000 items"},
		{-123456, "-123,456", "-123,456 items", "-123456 items"},
		{1234567, "1,234,567", "1,234,567 items", "1234567 items"},
	} {
		assert.Equal(t, row.grouped, english.Grouped(row.n))
		assert.Equal(t, row.count, english.Count(row.n, "item"))
		assert.Equal(t, row.plural, english.Plural(row.n, "item"))
	}
}
