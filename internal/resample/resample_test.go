package resample_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/wollax/cupel-go/internal/resample"
)

// mean returns the statistic that Interval is asked about here.
func mean(values []float64) func(at func(int) int) float64 {
	return func(at func(int) int) float64 {
		sum := 0.0
		for i := range values {
			sum += values[at(i)]
		}
		return sum / float64(len(values))
	}
}

// TestIntervalCovers draws samples of a known mean: about 95 of 100 intervals
// hold it.
func TestIntervalCovers(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	const samples = 400
	covered := 0
	for range samples {
		values := make([]float64, 40)
		for i := range values {
			values[i] = random.Float64()
		}
		if low, high := resample.Interval(len(values), mean(values)); low <= 0.5 && 0.5 <= high {
			covered++
		}
	}
	if share := float64(covered) / samples; share < 0.91 || share > 0.98 {
		t.Errorf("%.3f of the intervals hold the mean, want 0.95", share)
	}
}

func TestIntervalOfOne(t *testing.T) {
	if low, high := resample.Interval(1, mean([]float64{0.25})); low != 0.25 || high != 0.25 {
		t.Errorf("got %v to %v, want the value itself", low, high)
	}
}

func TestP(t *testing.T) {
	many := make([]float64, 70)
	for i := range many {
		many[i] = 1
	}
	for _, row := range []struct {
		name        string
		differences []float64
		want        float64
		why         string
	}{
		{"none", nil, 1, "there is nothing to tell apart"},
		{"equal", []float64{0, 0, 0}, 1, "the sum is 0 with any signs"},
		{"one", []float64{0.3}, 1, "both signs are as far from 0"},
		{"three", []float64{0.1, 0.2, 0.3}, 2.0 / 8, "all of one sign, or all of the other"},
		{"three of other sign", []float64{-0.1, -0.2, -0.3}, 2.0 / 8, "the test has two sides"},
		{"a zero", []float64{0.1, 0, 0.2, 0.3}, 2.0 / 8, "a conversation without difference says nothing"},
		{"one against two", []float64{1, 1, -1}, 1, "every sum is at least 1 from 0"},
		{"weighed", []float64{3, 1, -1}, 6.0 / 8, "sums of 3, 5 and 3 against 1"},
		{"many", many, 1.0 / (1<<14 + 1), "no draw has 70 equal signs"},
	} {
		if got := resample.P(row.differences); math.Abs(got-row.want) > 1e-12 {
			t.Errorf("%s: got %v, want %v: %s", row.name, got, row.want, row.why)
		}
	}
}

// TestPUnderNoDifference: of samples without a difference, one in twenty is
// below 0.05, whether signs are counted or drawn.
func TestPUnderNoDifference(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	for _, n := range []int{12, 30} {
		const samples = 200
		low := 0
		for range samples {
			differences := make([]float64, n)
			for i := range differences {
				differences[i] = random.NormFloat64()
			}
			if resample.P(differences) < 0.05 {
				low++
			}
		}
		if share := float64(low) / samples; share < 0.02 || share > 0.09 {
			t.Errorf("with %d pairs %.3f are below 0.05", n, share)
		}
	}
}
