package e2e

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// startPrometheus returns the address of a Prometheus that takes OTLP and has
// nothing yet. It ends with the test.
func startPrometheus(t *testing.T) string {
	t.Helper()
	binary := os.Getenv("CUPEL_E2E_PROMETHEUS")
	if binary == "" {
		t.Skip("needs the real Prometheus: run make e2e-metrics")
	}
	address := freePorts(t, 1)[0]
	config := filepath.Join(t.TempDir(), "prometheus.yaml")
	if err := os.WriteFile(config, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	startServer(t, "Prometheus", "http://"+address+"/-/ready", exec.CommandContext(t.Context(), binary,
		"--config.file="+config, "--storage.tsdb.path="+t.TempDir(), "--web.listen-address="+address, "--web.enable-otlp-receiver"))
	return address
}

// TestPrometheusTakesOTLP: without it, the example's metrics would have nowhere to go.
func TestPrometheusTakesOTLP(t *testing.T) {
	address := startPrometheus(t)
	body, err := get(t.Context(), "http://"+address+"/api/v1/status/flags")
	if err != nil {
		t.Fatal(err)
	}
	var answer struct{ Data map[string]string }
	if err := json.Unmarshal(body, &answer); err != nil || answer.Data["web.enable-otlp-receiver"] != "true" {
		t.Errorf("%v: %s", err, body)
	}
}
