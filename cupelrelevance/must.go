package cupelrelevance

// Must returns v, and panics when err is not nil. It wraps the constructors of
// this package where an error is a mistake in the program: in package variables
// and in tests.
func Must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
