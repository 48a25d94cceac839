package cupelsession

// Limits returns how many bytes of a response, and of conversations, are kept.
func Limits() (read, kept *int) { return &mostRead, &mostBytes }

// Calibrated returns the most that a session sends of now tokens after reports, and how
// many it expects a provider to count.
func Calibrated(reports [][2]int, limit, now int) (most, counts int) {
	var c calibration
	for _, r := range reports {
		c = c.with(report{r[0], r[1]})
	}
	return c.most(limit, now), c.counts(now)
}
