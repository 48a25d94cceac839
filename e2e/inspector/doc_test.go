// Package inspector drives the page of cupelinspect in a real Chromium, with
// real selections: what the page shows is compared with what cupel says.
//
// The tests are skipped, which go test -v shows, where no Chromium is found.
// CUPEL_E2E_CHROMIUM names one, which is then an error when it is not there, or
// is none, which skips them anyway. CUPEL_SCREENSHOTS names the folder that
// TestScreenshots writes to.
//
// TestTimes measures processor time on a page of 10,000 candidates, as multiples
// of a calibration in the same tab, so that it holds on slow and busy machines
// too; go test -short skips it. It logs milliseconds. CUPEL_E2E_TIMES, for an
// idle machine, has it assert them as well.
package inspector
