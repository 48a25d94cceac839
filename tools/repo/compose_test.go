package repo

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// compose runs the command of the Compose specification's own library on a
// file, as docker compose would read it.
func compose(t *testing.T, file string) ([]byte, error) {
	t.Helper()
	root := Root(t)
	command := strings.TrimSpace(Run(t, filepath.Join(root, "tools"), []string{"GOWORK=off"},
		"go", "tool", "-n", "github.com/compose-spec/compose-go/v2/cmd"))
	cmd := exec.CommandContext(t.Context(), command, "-format", "json", file)
	cmd.Dir = root
	cmd.Stderr = t.Output()
	return cmd.Output()
}

// TestCompose checks that docker-compose.yaml is valid, and that it says what
// the documentation says of it.
func TestCompose(t *testing.T) {
	root := Root(t)
	out, err := compose(t, "docker-compose.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var model struct {
		Services map[string]struct {
			Image    string
			Profiles []string
			Build    struct{ Context, Dockerfile string }
			Ports    []struct {
				HostIP    string `json:"host_ip"`
				Published string
				Target    int
			}
			Environment map[string]string
		}
	}
	if err := json.Unmarshal(out, &model); err != nil {
		t.Fatalf("%v:\n%s", err, out)
	}

	script, err := os.ReadFile(filepath.Join(root, "scripts", "jaeger.sh"))
	if err != nil {
		t.Fatal(err)
	}
	version := regexp.MustCompile(`(?m)^name=([0-9.]+)`).FindSubmatch(script)
	if version == nil {
		t.Fatal("scripts/jaeger.sh does not say name=VERSION")
	}
	jaeger := model.Services["jaeger"]
	if want := "jaegertracing/jaeger:" + string(version[1]); jaeger.Image != want {
		t.Errorf("Jaeger's image is %q, but the end-to-end tests run %q", jaeger.Image, want)
	}
	if len(jaeger.Profiles) > 0 {
		t.Errorf("docker compose up does not start Jaeger: it has the profiles %q", jaeger.Profiles)
	}
	published := make(map[string]int)
	for name, service := range model.Services {
		for _, port := range service.Ports {
			published[port.Published] = port.Target
			if port.HostIP != "127.0.0.1" {
				t.Errorf("%s listens at port %s of %q, not of the loopback alone", name, port.Published, port.HostIP)
			}
		}
	}
	for port, target := range map[string]int{"16686": 16686, "4317": 4317, "4318": 4318} {
		if published[port] != target {
			t.Errorf("port %s leads to %d", port, published[port])
		}
	}

	trace := model.Services["trace"]
	if len(trace.Profiles) == 0 {
		t.Error("docker compose up starts the example, which is optional")
	}
	if trace.Environment["OTEL_EXPORTER_OTLP_ENDPOINT"] != "http://jaeger:4318" {
		t.Errorf("the example sends to %q", trace.Environment["OTEL_EXPORTER_OTLP_ENDPOINT"])
	}
	dockerfile, err := os.ReadFile(filepath.Join(trace.Build.Context, trace.Build.Dockerfile))
	if err != nil || trace.Build.Context != root {
		t.Fatalf("the example is built in %q: %v", trace.Build.Context, err)
	}
	work, err := os.ReadFile(filepath.Join(root, "go.work"))
	if err != nil {
		t.Fatal(err)
	}
	// go.work says go 1.26.0, the image golang:1.26.
	goVersion := regexp.MustCompile(`(?m)^go (\d+\.\d+)`).FindSubmatch(work)
	if len(goVersion) < 2 || !strings.Contains(string(dockerfile), "\nFROM golang:"+string(goVersion[1])+"\n") {
		t.Errorf("the example's Dockerfile does not build with the Go of go.work, %q", goVersion)
	}
}

// TestComposeFindsFaults plants faults: a command that takes everything would
// make the check above worthless.
func TestComposeFindsFaults(t *testing.T) {
	root := Root(t)
	data, err := os.ReadFile(filepath.Join(root, "docker-compose.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ old, new, why string }{
		{"    image:", "    imagee:", "a key that does not exist"},
		{"127.0.0.1:16686:16686", "127.0.0.1:16686:pages", "a port that is none"},
		{"    build:\n", "    build: [1]\n    other:\n", "a list instead of a mapping"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			faulty := strings.Replace(string(data), tt.old, tt.new, 1)
			if faulty == string(data) {
				t.Fatalf("docker-compose.yaml has no %q", tt.old)
			}
			file := filepath.Join(t.TempDir(), "docker-compose.yaml")
			writeFile(t, file, faulty)
			if out, err := compose(t, file); err == nil {
				t.Errorf("the command takes it:\n%s", out)
			}
		})
	}
}
