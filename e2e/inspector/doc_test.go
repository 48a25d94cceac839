// Package inspector drives the page of cupelinspect in a real Chromium, with
// real selections: what the page shows is compared with what cupel says.
//
// The tests are skipped, which go test -v shows, where no Chromium is found.
// CUPEL_E2E_CHROMIUM names one, which is then an error when it is not there, or
// is none, which skips them anyway. The times of a page of 10,000 candidates are
// asserted where CUPEL_E2E_TIMES or CUPEL_E2E_JAEGER is set, as make e2e does.
// CUPEL_SCREENSHOTS names the folder
// that TestScreenshots writes to.
package inspector
