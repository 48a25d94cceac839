// Package compat has what newer releases of Go have in their standard library
// and the oldest release that the core supports does not.
package compat

import "errors"

// AsType returns the first error in err's tree that is an E, and whether there
// is one. It is [errors.AsType] of Go 1.26.
func AsType[E error](err error) (E, bool) {
	var found E
	ok := errors.As(err, &found)
	return found, ok
}
