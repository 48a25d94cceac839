package cupelsession

// Usage is what a provider reported for a request.
type Usage struct {
	// Input is the number of tokens of the request, those in the cache included.
	Input int
	// Read and Written are those of Input that were read from the cache and written
	// to it.
	Read, Written int
	// Cached reports whether the provider said anything about its cache.
	Cached bool
	// Output is the number of tokens of the answer.
	Output int
}
