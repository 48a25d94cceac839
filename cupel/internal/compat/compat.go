// Package compat has functions of newer standard libraries that the oldest release of
// Go that the core supports lacks.
package compat

import "errors"

// AsType returns the first error in err's tree that is an E, and whether there
// is one. It is [errors.AsType] of Go 1.26.
func AsType[E error](err error) (E, bool) {
	var found E
	ok := errors.As(err, &found)
	return found, ok
}
