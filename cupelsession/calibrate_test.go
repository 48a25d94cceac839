package cupelsession

// Calibrated returns the most that a session sends of now tokens after reports, and how
// many it expects a provider to count.
func Calibrated(reports [][2]int, limit, now int) (most, counts int) {
	var c calibration
	for _, r := range reports {
		c = c.with(report{r[0], r[1]})
	}
	return c.most(limit, now), c.counts(now)
}
