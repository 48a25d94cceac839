package scorer

// Must returns v, and panics when err is not nil. It wraps the constructors of
// scorers and curves where an error is a mistake in the program: in package
// variables and in tests.
//
//	scorer.Must(scorer.NewDecay(time.Now, scorer.Must(scorer.Window(time.Hour))))
func Must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
