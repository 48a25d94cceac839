// Package inside gives the other packages of the core what package cupel does not
// export: an item's forms without a copy, and items that only a run may make. The
// import goes from them to cupel, so cupel leaves its functions here.
package inside

// Cupel is set by package cupel before any package that imports it runs. Those that
// need it assert it to an interface with the methods that they call.
var Cupel any

// Set sets Cupel. It returns true, so that a variable of package cupel can call it.
func Set(cupel any) bool {
	Cupel = cupel
	return true
}
