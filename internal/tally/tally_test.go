package tally

import (
	"encoding/json"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestSum compares with sums of 3,000 bits, in any order, and cut in two.
func TestSum(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 500 {
		terms := make([]float64, random.IntN(40))
		exact := new(big.Float).SetPrec(3000)
		for i := range terms {
			terms[i] = math.Ldexp(random.Float64()-0.5, random.IntN(160)-80)
			if i > 0 && random.IntN(3) == 0 {
				terms[i] = -terms[random.IntN(i)] // sums that cancel
			}
			exact.Add(exact, new(big.Float).SetFloat64(terms[i]))
		}
		want, _ := exact.Float64()
		for range 3 {
			random.Shuffle(len(terms), func(i, j int) { terms[i], terms[j] = terms[j], terms[i] })
			var sum, first Sum
			cut := random.IntN(len(terms) + 1)
			for i, x := range terms {
				if i < cut {
					first.Add(x)
				} else {
					sum.Add(x)
				}
			}
			data, err := json.Marshal(first)
			require.NoError(t, err)
			read := Sum{[]float64{7}} // which does not stay
			require.NoError(t, json.Unmarshal(data, &read))
			sum.Merge(&read)
			require.InDelta(t, want, sum.Value(), 0, "%v", terms)
		}
	}
	for _, row := range []struct {
		terms []float64
		want  float64
		why   string
	}{
		{nil, 0, "nothing"},
		{[]float64{1, 1e-16}, 1, "below half of the last bit"},
		{[]float64{1, 0x1p-53}, 1, "half-way, to the even number"},
		{[]float64{1, 0x1p-53, 0x1p-120}, 1 + 0x1p-52, "a little more than half-way"},
		{[]float64{1, 0x1p-53, -0x1p-120}, 1, "a little less than half-way"},
		{[]float64{-1, -0x1p-53, -0x1p-120}, -1 - 0x1p-52, "the same below 0"},
		{[]float64{1, 0x1p-60, 0x1p-120, -1}, 0x1p-60, "the largest terms cancel"},
		{[]float64{math.NaN(), math.Inf(1), 2}, 2, "what is no number is no term"},
	} {
		var sum Sum
		for _, x := range row.terms {
			sum.Add(x)
		}
		assert.InDelta(t, row.want, sum.Value(), 0, "%v: %s", row.terms, row.why)
	}
	require.Error(t, json.Unmarshal([]byte(`{}`), new(Sum)), "an object is no sum")
}

// TestIntervalCovers draws conversations of different lengths from a known ratio:
// about 95 of 100 intervals hold it.
func TestIntervalCovers(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for _, n := range []int{10, 40} {
		const samples = 1000
		covered := 0
		for range samples {
			var r Ratio
			for range n {
				steps := 1 + random.IntN(9)
				found, chance := 0, random.Float64() // steps of one conversation are alike
				for range steps {
					if random.Float64() < chance {
						found++
					}
				}
				r.Add(float64(found), float64(steps))
			}
			if low, high, ok := r.Interval(0, 1); ok && low <= 0.5 && 0.5 <= high {
				covered++
			}
		}
		share := float64(covered) / samples
		assert.GreaterOrEqual(t, share, 0.92, "%d conversations", n)
		assert.LessOrEqual(t, share, 0.97, "%d conversations", n)
	}
}

func TestRatio(t *testing.T) {
	var none, one, two Ratio
	one.Add(1, 4)
	one.Add(0, 0)
	two.Add(1, 4)
	two.Add(3, 4)
	for _, row := range []struct {
		ratio     *Ratio
		value     float64
		low, high float64
		ok        bool
		why       string
	}{
		{&none, 0, 0, 0, false, "nothing is counted"},
		{&one, 0.25, 0, 0, false, "one conversation says nothing of others"},
		{&two, 0.5, 0, 1, true, "two say next to nothing: 0.5 ± 12.7 * 0.25"},
	} {
		low, high, ok := row.ratio.Interval(0, 1)
		assert.Equal(t, []float64{row.value, row.low, row.high}, []float64{row.ratio.Value(), low, high}, row.why)
		assert.Equal(t, row.ok, ok, row.why)
	}
	low, high, _ := two.Interval(-9, 9)
	require.InDelta(t, 12.7062*0.25, high-0.5, 1e-9)
	require.InDelta(t, 1, low+high, 1e-9)
	for freedom, want := range map[int]float64{1: 12.7062, 30: 2.0423, 31: 2.0395, 60: 2.0003, 1000: 1.9623} {
		assert.InDelta(t, want, quantile(freedom), 1e-4, "%d degrees of freedom", freedom)
	}
}

// TestMerge cuts conversations into two parts: merged, they say the same.
func TestMerge(t *testing.T) {
	var whole, left, right Ratio
	for i := range 9 {
		a, b := float64(i), float64(i*i+1)
		whole.Add(a, b)
		if i < 4 {
			left.Add(a, b)
		} else {
			right.Add(a, b)
		}
	}
	left.Merge(&right)
	wantLow, wantHigh, _ := whole.Interval(0, 1)
	low, high, ok := left.Interval(0, 1)
	assert.True(t, ok)
	assert.Equal(t, []float64{whole.Value(), wantLow, wantHigh}, []float64{left.Value(), low, high})
}

func TestSigns(t *testing.T) {
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
		{"three and many zeros", append(make([]float64, 14), 0.1, 0.2, 0.3), 2.0 / 8, "so that they are still few"},
		{"fourteen", slices.Repeat([]float64{1}, 14), 2.0 / (1 << 14), "few are tried with every combination of signs"},
		{"ten", slices.Repeat([]float64{0.1}, 10), 2.0 / 1024, "added one by one they are a little below 1"},
		{"fifteen", slices.Repeat([]float64{0.5}, 15), 1.075e-4, "more are taken as normal: 3.87 standard deviations"},
		{"many", slices.Repeat([]float64{1}, 70), 5.9e-17, "8.4 standard deviations"},
	} {
		var signs Signs
		for _, d := range row.differences {
			signs.Add(d)
		}
		assert.InDelta(t, row.want, signs.P(), max(1e-18, 0.01*row.want), "%s: %s", row.name, row.why)
	}
	// Of terms of such different sizes, sums depend on the order in which they are added.
	var found []float64
	for _, order := range [][]float64{{1e16, 1, -1e16}, {1e16, -1e16, 1}, {1, -1e16, 1e16}} {
		var signs Signs
		for _, d := range order {
			signs.Add(d)
		}
		found = append(found, signs.P())
	}
	assert.Equal(t, slices.Repeat(found[:1], len(found)), found, "any order gives the same")
}

// TestSignsUnderNoDifference: of samples without a difference, one in twenty is
// below 0.05, whether signs are counted or not.
func TestSignsUnderNoDifference(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	for _, n := range []int{12, 30} {
		const samples = 400
		low := 0
		for range samples {
			var s Signs
			for range n {
				s.Add(random.NormFloat64())
			}
			if s.P() < 0.05 {
				low++
			}
		}
		share := float64(low) / samples
		assert.GreaterOrEqual(t, share, 0.02, "%d pairs", n)
		assert.LessOrEqual(t, share, 0.09, "%d pairs", n)
	}
}
