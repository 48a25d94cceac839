package cupelreduce

// Ranked returns the parts of a text up to a rank, 0 for what went wrong.
func Ranked(text string, rank int, opts ...Option) string {
	d := &Read(text, opts...).draft
	at := 0
	for place, i := range d.order {
		if int(d.parts[i].rank) <= rank {
			at = d.ends[place+1]
		}
	}
	out, says := d.form(at)
	if !says {
		return ""
	}
	return out
}
