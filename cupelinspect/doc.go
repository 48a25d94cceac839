// Package cupelinspect shows what a Cupel pipeline selects in one
// self-contained HTML file: it needs no network, no server and no other file.
//
//	selection, err := cupelinspect.Inspect(ctx, pipeline, items, budget)
//	err = cupelinspect.WriteHTML(file, "Release notes", selection)
//
// The page shows the window drawn to scale in tokens, scores against positions,
// every candidate with its reason and the score of each part of a composite,
// the time of each stage, and a slider over precomputed budgets. It can show
// two selections side by side, and of the turns of a session any two.
// [FromReport] shows a report read from JSON, and [Handler] serves a page.
//
// # Content is data
//
// Text from an item never becomes markup. All data is JSON in a script element
// of a type that browsers do not execute, without any character that could end
// the element. A content security policy allows only this package's script and
// style sheet, by hash, and forbids all requests.
//
// # Bounds
//
// A page of 10,000 candidates takes seconds to make and some megabytes. Contents
// are cut at 64 KiB each, and shorter if contents and metadata text together
// exceed 8 MiB; the page says where something is missing. Metadata values other
// than numbers and booleans are cut at the same length; kinds, sources, tags and
// metadata keys at 200 bytes. A sweep has fewer stops for long lists, unless
// [WithSweep] says otherwise.
//
// The package reads no clock: all times come from the pipeline's. Apart from
// them, the same input gives the same page.
package cupelinspect
