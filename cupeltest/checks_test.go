package cupeltest_test

import (
	"strings"
	"testing"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/cupeltest"
)

// A run gives the report and the window in one call.
func TestRun(t *testing.T) {
	items := deskItems()
	r, window := cupeltest.Run(t, newPipeline(t, pipeline.Config{}), items, cupeltest.Budget(90, 90))
	if len(window) != len(r.Included) || len(window) != 4 || window[0] != r.Included[0].Item {
		t.Errorf("the window is %v, the report %v", window, r)
	}
	pipeline := newPipeline(t, pipeline.Config{})
	s := watch(func(t cupeltest.T) {
		cupeltest.Run(t, pipeline, []*cupel.ContextItem{cupeltest.Item("x", 9, cupel.WithPinned())}, cupeltest.Budget(5, 5))
	})
	if len(s.messages) != 1 || !strings.HasPrefix(s.messages[0], "Run failed: cupel: Pinned items require 9 tokens") || !s.stopped {
		t.Errorf("a failing run is reported as %q", s.messages)
	}
}
