package cupel_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/internal/compat"
	"github.com/wollax/cupel-go/cupel/placer"
	"github.com/wollax/cupel-go/cupel/scorer"
	"github.com/wollax/cupel-go/cupel/slicer"
)

// report60 is a text of more than 60 words about a machine.
func report60(machine, total string) string {
	return "Report on the machine " + machine + ".\n" + strings.Repeat("It was opened, cleaned, oiled and closed again by the morning shift. ", 2) +
		"Nobody found any damage to the housing, the belts, the motor or the wiring, and the noise that was heard last week is gone. " +
		"The next inspection is due when the summer holidays are over.\nThe total is " + total + " parts."
}

func nearPipeline(t *testing.T, change func(*cupel.Config)) *cupel.Pipeline {
	t.Helper()
	config := cupel.Config{Scorer: scorer.Reflexive{}, Slicer: slicer.Greedy{}, Placer: placer.Chronological{}, NearDuplicates: 0.8}
	if change != nil {
		change(&config)
	}
	p, err := cupel.New(config)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func textItem(t *testing.T, content string) *cupel.ContextItem {
	t.Helper()
	item, err := cupel.NewContextItem(content, 20)
	if err != nil {
		t.Fatal(err)
	}
	return item
}

func TestNearDuplicateReason(t *testing.T) {
	items := []*cupel.ContextItem{textItem(t, report60("in hall A", "120")), textItem(t, "short"), textItem(t, report60("in hall B", "120"))}
	budget, err := cupel.NewContextBudget(1000, 1000)
	if err != nil {
		t.Fatal(err)
	}
	p := nearPipeline(t, nil)
	report, err := p.DryRun(t.Context(), items, budget)
	if err != nil {
		t.Fatal(err)
	}
	if len(report.Excluded) != 1 || report.Excluded[0].Candidate() != 0 || !report.Excluded[0].Stale() {
		t.Fatalf("got %v", report.Excluded)
	}
	reason := report.Excluded[0].Reason
	d := reason.Data()
	if reason.Code != cupel.ExcludeNearDuplicate || d.Of != items[2].Content() || d.Survivor != items[2] || d.Similarity < 0.9 || d.Similarity >= 1 {
		t.Errorf("got %+v", d)
	}
	text, err := reason.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	var read cupel.ExclusionReason
	if err := read.UnmarshalJSON(text); err != nil || !read.Equal(reason) || read.String() != reason.String() {
		t.Errorf("%s is read as %v, %v", text, read, err)
	}
	if !strings.HasPrefix(reason.String(), "NearDuplicate: 0.9") || !strings.HasSuffix(reason.String(), " of it is in a newer item") {
		t.Errorf("the reason is %q", reason)
	}
	if made := cupel.NewExclusionReason(reason.Code, d); !made.Equal(reason) {
		t.Errorf("made again it is %v", made)
	}
}

// TestNearDuplicatesPrepared: whether prepared or not, and with another threshold
// from the same candidates, the results are those of a run.
func TestNearDuplicatesPrepared(t *testing.T) {
	items := []*cupel.ContextItem{
		textItem(t, report60("in hall A", "120")), textItem(t, report60("in hall B, which is new", "120")), textItem(t, report60("in hall C", "210")),
		textItem(t, report60("in hall D", "120")),
	}
	budget, err := cupel.NewContextBudget(1000, 1000)
	if err != nil {
		t.Fatal(err)
	}
	base, err := nearPipeline(t, nil).Prepare(t.Context(), items)
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		name   string
		change func(*cupel.Config)
		want   []int
		why    string
	}{
		{"the same", nil, []int{2, 3}, "the total of the third differs"},
		{"off", func(c *cupel.Config) { c.NearDuplicates = 0 }, []int{0, 1, 2, 3}, "nothing leaves"},
		{"strict", func(c *cupel.Config) { c.NearDuplicates = 1 }, []int{0, 1, 2, 3}, "none is there as a whole"},
		{"any numbers", func(c *cupel.Config) { c.AnyNumbers = true }, []int{3}, "totals may differ"},
		{"duplicates kept", func(c *cupel.Config) { c.KeepDuplicates = true }, []int{2, 3}, "equal texts are another matter"},
	} {
		p := nearPipeline(t, row.change)
		prepared, err := base.For(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		got, err := prepared.Select(t.Context(), budget)
		if err != nil {
			t.Fatal(err)
		}
		slices.Sort(got)
		if !slices.Equal(got, row.want) {
			t.Errorf("%s: selected %v, want %v: %s", row.name, got, row.want, row.why)
		}
		window, err := p.Run(t.Context(), items, budget)
		if err != nil || len(window) != len(row.want) {
			t.Errorf("%s: a run has %d items, %v, want %d", row.name, len(window), err, len(row.want))
		}
	}
}

// TestNearDuplicatesInStreams: copies leave within a batch. What was kept from
// an earlier one stays.
func TestNearDuplicatesInStreams(t *testing.T) {
	items := []*cupel.ContextItem{
		textItem(t, report60("in hall A", "120")), textItem(t, report60("in hall B", "120")), textItem(t, report60("in hall C", "120")), textItem(t, "last"),
	}
	budget, err := cupel.NewContextBudget(1000, 1000)
	if err != nil {
		t.Fatal(err)
	}
	for batch, want := range map[int]int{2: 1, 3: 2, 1: 0} {
		result, err := nearPipeline(t, nil).RunStream(t.Context(), func(yield func(*cupel.ContextItem, error) bool) {
			for _, item := range items {
				if !yield(item, nil) {
					return
				}
			}
		}, budget, cupel.WithBatchSize(batch))
		if err != nil {
			t.Fatal(err)
		}
		if got := result.Excluded[cupel.ExcludeNearDuplicate]; got != want || len(result.Window) != len(items)-want {
			t.Errorf("in batches of %d: %d copies and %d items, want %d copies", batch, got, len(result.Window), want)
		}
	}
}

func TestNearDuplicatesConfig(t *testing.T) {
	for _, threshold := range []float64{-0.1, 1.1, math.NaN(), math.Inf(1)} {
		_, err := cupel.New(cupel.Config{Scorer: scorer.Reflexive{}, Slicer: slicer.Greedy{}, Placer: placer.Chronological{}, NearDuplicates: threshold})
		if bad, ok := compat.AsType[*cupel.InvalidConfigError](err); !ok || bad.Field != "NearDuplicates" {
			t.Errorf("%v: got %v", threshold, err)
		}
	}
}

// TestNearDuplicatesCanceled: the search ends with the context.
func TestNearDuplicatesCanceled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	items := []*cupel.ContextItem{textItem(t, report60("in hall A", "120"))}
	budget, err := cupel.NewContextBudget(1000, 1000)
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	if _, err := nearPipeline(t, nil).Run(ctx, items, budget); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
