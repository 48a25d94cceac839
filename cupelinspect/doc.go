// Package cupelinspect shows what a Cupel pipeline selects in one
// self-contained HTML file: it needs no network, no server and no other file.
//
//	selection, err := cupelinspect.Inspect(ctx, pipeline, items, budget)
//	err = cupelinspect.WriteHTML(file, "Release notes", selection)
//
// The page shows how many tokens there were and are, all candidates to scale, and
// what was sent of each, highlighted in its full text. It finds where a value went,
// says what has the room of a candidate that is not whole, and has a slider over
// precomputed budgets. It can show two selections side by side, and of the turns of
// a session any two. [FromReport] shows the report of a conversation or of a turn,
// or one read from JSON.
//
// # Content is data
//
// Text from an item never becomes markup. All data is compressed JSON in a script
// element of a type that browsers do not execute, and the summary for where no
// scripts run is escaped. A content security policy allows only this package's
// script and style sheet, by hash, and forbids all requests.
//
// # Bounds
//
// A page of 10,000 candidates takes seconds to make, and at most 5 MB: above that,
// contents that are not sent are cut. Contents are cut at 64 KiB each in any case,
// and shorter if contents and metadata text together exceed 8 MiB; the page says
// where something is missing. Metadata values are cut at the same length; kinds,
// sources, tags and metadata keys at 200 bytes. A sweep has fewer stops for long
// lists, unless [WithSweep] says otherwise.
//
// The package reads no clock: all times come from the pipeline's. Apart from
// them, the same input gives the same page.
package cupelinspect
