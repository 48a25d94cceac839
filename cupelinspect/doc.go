// Package cupelinspect shows what a Cupel pipeline selects as one HTML file
// that needs nothing else: no network, no server, no other file.
//
//	selection, err := cupelinspect.Inspect(ctx, pipeline, items, budget)
//	err = cupelinspect.WriteHTML(file, "Release notes", selection)
//
// The page has the window drawn to scale in tokens, scores against positions,
// every candidate with its reason and the score of each part of a composite,
// the time that each stage took, and a slider over budgets that were tried
// beforehand. Two selections stand side by side. [FromReport] shows a report
// that was written as JSON elsewhere, and [Handler] serves a page.
//
// # Content is data
//
// Nothing of an item is ever markup. All data of a page is JSON in a script
// element of a type that browsers do not run, without a character that could
// end the element, and a content security policy allows the one script and the
// one style sheet of this package, by their hashes, and no request at all.
//
// # Bounds
//
// A page of 10,000 candidates is made in seconds and has some megabytes: by
// default contents are cut at 64 KiB each, and shorter where all of them, with
// the texts of metadata, would be more than 8 MiB, and a sweep has fewer stops
// the more candidates there are. [WithContentLimit] and [WithSweep] say
// otherwise.
//
// The package reads no clock: times are those of the pipeline's. The same
// input gives the same page but for them.
package cupelinspect
