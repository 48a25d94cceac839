package cupelreduce

// Ranked returns the parts of a text up to a rank, 0 for the first.
func Ranked(text string, rank int, opts ...Option) string {
	d := read(text, opts).draft(60 << rank)
	for i := range d.parts {
		if p := &d.parts[i]; int(p.rank) <= rank {
			d.take(p)
		}
	}
	return d.String()
}

// Valid returns the forms of a document that are still one.
func Valid(text string) []string {
	t := read(text, nil)
	var all []string
	for _, shape := range shapes {
		out, _ := t.valid(shape)
		all = append(all, out)
	}
	return all
}
