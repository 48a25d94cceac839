// Package e2e runs the example otel-jaeger and collectors of cupelotel against a
// real Jaeger, as a user would.
//
// Building Jaeger takes minutes, so its tests run under make e2e, which builds
// it once and names it in CUPEL_E2E_JAEGER. A plain go test runs the others and
// skips those, which go test -v shows.
package e2e
