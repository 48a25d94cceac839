package tally

import "math"

// Ratio is the ratio of two sums over conversations, A by B, such as values found
// by values needed. It keeps what its interval needs. The zero Ratio has no
// conversations.
type Ratio struct {
	N  int `json:"n"` // conversations that have something to count
	A  Sum `json:"a"`
	B  Sum `json:"b"`
	AA Sum `json:"aa"` // of squares and products, by conversation
	AB Sum `json:"ab"`
	BB Sum `json:"bb"`
}

// Add adds a conversation. One that has nothing to count, such as no questions, is
// not in the sample.
func (r *Ratio) Add(a, b float64) {
	if a == 0 && b == 0 {
		return
	}
	r.N++
	r.A.Add(a)
	r.B.Add(b)
	r.AA.Add(a * a)
	r.AB.Add(a * b)
	r.BB.Add(b * b)
}

// Merge adds other conversations.
func (r *Ratio) Merge(other *Ratio) {
	r.N += other.N
	r.A.Merge(&other.A)
	r.B.Merge(&other.B)
	r.AA.Merge(&other.AA)
	r.AB.Merge(&other.AB)
	r.BB.Merge(&other.BB)
}

// Value returns the ratio, 0 if nothing is counted in B.
func (r *Ratio) Value() float64 {
	b := r.B.Value()
	if b == 0 {
		return 0
	}
	return r.A.Value() / b
}

// Interval returns the ends of the 95 % interval of the ratio over conversations
// like these, cut at low and high, and false if there are fewer than two
// conversations or nothing in B. It means little for few conversations.
//
// It is the interval of Student's t for the linearized ratio: each conversation
// counts by the distance of its A from the value that the ratio predicts from
// its B, so that steps or questions of one conversation may depend on each
// other.
func (r *Ratio) Interval(low, high float64) (from, to float64, ok bool) {
	b := r.B.Value()
	if r.N < 2 || b == 0 {
		return 0, 0, false
	}
	ratio := r.A.Value() / b
	residuals := r.AA.Value() - float64(2*ratio*r.AB.Value()) + float64(ratio*ratio*r.BB.Value())
	n := float64(r.N)
	half := quantile(r.N-1) * math.Sqrt(max(0, residuals)*n/(n-1)) / math.Abs(b)
	return max(low, ratio-half), min(high, ratio+half), true
}

// quantiles of Student's t at 0.975, by degrees of freedom from 1.
var quantiles = [...]float64{
	12.7062, 4.3027, 3.1824, 2.7764, 2.5706, 2.4469, 2.3646, 2.3060, 2.2622, 2.2281,
	2.2010, 2.1788, 2.1604, 2.1448, 2.1314, 2.1199, 2.1098, 2.1009, 2.0930, 2.0860,
	2.0796, 2.0739, 2.0687, 2.0639, 2.0595, 2.0555, 2.0518, 2.0484, 2.0452, 2.0423,
}

// quantile returns the quantile at 0.975 for degrees of freedom of at least 1.
func quantile(freedom int) float64 {
	if freedom <= len(quantiles) {
		return quantiles[freedom-1]
	}
	// The quantile of the normal distribution, with two terms of the expansion.
	const z = 1.959963984540054
	const first, second = (z*z*z + z) / 4, (5*z*z*z*z*z + 16*z*z*z + 3*z) / 96
	n := float64(freedom)
	return z + first/n + second/(n*n)
}
