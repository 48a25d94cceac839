package cupelreduce

// Form is a text in one of its sizes.
type Form struct {
	Text   string
	Tokens int
	Worth  float64
}

// Forms returns the text in the sizes of [Text.Sizes].
func Forms(text string, opts ...Option) []Form {
	t := Read(text, opts...)
	var forms []Form
	for _, s := range t.Sizes() {
		out := t.To(s.Tokens)
		f := Form{Text: out, Tokens: t.count(out), Worth: s.Worth}
		if n := len(forms); out != "" && (n == 0 || forms[n-1].Tokens < f.Tokens) {
			forms = append(forms, f)
		}
	}
	return forms
}
