// Package cupelinspect shows what a Cupel pipeline selects in one
// self-contained HTML file: it needs no network, no server and no other file.
//
//	selection, err := cupelinspect.Inspect(ctx, pipeline, items, budget)
//	err = cupelinspect.WriteHTML(file, "Release notes", selection)
//
// The page shows the tokens before and after, all candidates to scale, and the part of
// each that was sent, highlighted in its full text. It finds where a value went, names
// the candidates that took the room of a shortened one, and has a slider over
// precomputed budgets. It can show two selections, or two turns of a session, side by
// side. A [Selection] comes from [Inspect], which runs a pipeline, or from
// [FromReport], which takes the report of a conversation or of a turn, or one read
// from JSON. An [Option] such as [WithSweep] changes either.
//
// # Content is data
//
// Text from an item never becomes markup. All data is compressed JSON in a script
// element of a type that browsers do not execute, and the summary for browsers
// without scripts is escaped. A content security policy allows only this package's
// script and style sheet, by hash, and forbids all requests.
//
// # Bounds
//
// A page of 10,000 candidates takes seconds to make. A page has at most 5 MB: beyond
// that, contents that were not sent are cut. Contents are cut at 64 KiB each in any case,
// and shorter if contents and metadata text together exceed 8 MiB; the page says
// where something is missing. Metadata values are cut at the same length; kinds,
// sources, tags and metadata keys at 200 bytes. A sweep has fewer stops for long
// lists, unless [WithSweep] says otherwise.
//
// The package reads no clock: all times come from the pipeline's. Apart from
// them, the same input gives the same page.
package cupelinspect
