package cupelrelevance

// Must returns v and panics if err is not nil. Use it around constructors of
// this package in package variables and tests, where an error is a bug.
func Must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
