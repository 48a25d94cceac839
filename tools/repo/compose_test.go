package repo

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/moby/patternmatcher"
	"github.com/moby/patternmatcher/ignorefile"
	"github.com/stretchr/testify/require"
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

// composeModel has what the checks look at.
type composeModel struct {
	Services map[string]struct {
		Image       string
		Restart     string
		Profiles    []string
		Build       struct{ Context, Dockerfile string }
		Command     []string
		MemLimit    string `json:"mem_limit"`
		Healthcheck struct {
			Test []string
		}
		DependsOn map[string]struct{ Condition string } `json:"depends_on"`
		Ports     []struct {
			HostIP    string `json:"host_ip"`
			Published string
			Target    int
		}
		Volumes     []struct{ Source, Target string }
		Environment map[string]string
	}
}

// TestCompose checks that docker-compose.yaml is valid, and that it says what
// the documentation says of it.
func TestCompose(t *testing.T) {
	out, err := compose(t, "docker-compose.yaml")
	require.NoError(t, err)
	root := Root(t)
	read := func(name string) []byte {
		data, err := os.ReadFile(filepath.Join(root, name))
		require.NoError(t, err)
		return data
	}
	var model composeModel
	if err := json.Unmarshal(out, &model); err != nil {
		t.Fatalf("%v:\n%s", err, out)
	}

	for service, image := range map[string]string{"jaeger": "jaegertracing/jaeger:", "prometheus": "prom/prometheus:v"} {
		version := regexp.MustCompile(`(?m)^name=([0-9.]+)`).FindSubmatch(read("scripts/" + service + ".sh"))
		if version == nil {
			t.Fatalf("scripts/%s.sh does not say name=VERSION", service)
		}
		if want := image + string(version[1]); model.Services[service].Image != want {
			t.Errorf("%s: the image is %q, but the end-to-end tests run %q", service, model.Services[service].Image, want)
		}
	}
	profiles := map[string]string{"jaeger": "", "trace": "example", "agent": "metrics", "prometheus": "metrics", "grafana": "metrics"}
	published := make(map[string]int)
	for name, service := range model.Services {
		want, known := profiles[name]
		if !known || strings.Join(service.Profiles, " ") != want {
			t.Errorf("%s has the profiles %q, want %q", name, service.Profiles, want)
		}
		if !regexp.MustCompile(`^\d{3}m$`).MatchString(service.MemLimit) {
			t.Errorf("%s has the memory limit %q", name, service.MemLimit)
		}
		if service.Build.Dockerfile == "" {
			if !regexp.MustCompile(`:v?\d+\.\d+\.\d+$`).MatchString(service.Image) {
				t.Errorf("%s: the image %q does not say which version", name, service.Image)
			}
			if !slices.Contains(service.Healthcheck.Test, "wget") {
				t.Errorf("%s has the health check %q", name, service.Healthcheck.Test)
			}
		}
		for other, dependency := range service.DependsOn {
			if dependency.Condition != "service_healthy" {
				t.Errorf("%s does not wait until %s is healthy", name, other)
			}
		}
		for _, port := range service.Ports {
			published[port.Published] = port.Target
			if port.HostIP != "127.0.0.1" {
				t.Errorf("%s listens at port %s of %q, not of the loopback alone", name, port.Published, port.HostIP)
			}
		}
		for _, volume := range service.Volumes {
			if _, err := os.Stat(volume.Source); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	if len(model.Services) != len(profiles) {
		t.Errorf("%d services, want %d", len(model.Services), len(profiles))
	}
	for port, target := range map[string]int{"16686": 16686, "4317": 4317, "4318": 4318, "9090": 9090, "3000": 3000} {
		if published[port] != target {
			t.Errorf("port %s leads to %d", port, published[port])
		}
	}
	for _, edge := range [][2]string{{"trace", "jaeger"}, {"agent", "jaeger"}, {"agent", "prometheus"}, {"grafana", "prometheus"}} {
		if _, waits := model.Services[edge[0]].DependsOn[edge[1]]; !waits {
			t.Errorf("%s does not wait for %s", edge[0], edge[1])
		}
	}
	for name, want := range map[string][]string{
		"trace": {"OTEL_EXPORTER_OTLP_ENDPOINT=http://jaeger:4318"},
		"agent": {"OTEL_EXPORTER_OTLP_ENDPOINT=http://jaeger:4318", "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT=http://prometheus:9090/api/v1/otlp/v1/metrics"},
	} {
		service := model.Services[name]
		for _, setting := range want {
			variable, value, _ := strings.Cut(setting, "=")
			if service.Environment[variable] != value {
				t.Errorf("%s: %s=%s, want %s", name, variable, service.Environment[variable], value)
			}
		}
		if service.Build.Context != root || service.Build.Dockerfile != "examples/otel-jaeger/Dockerfile" {
			t.Errorf("%s is built from %q in %q", name, service.Build.Dockerfile, service.Build.Context)
		}
	}
	if !slices.Contains(model.Services["prometheus"].Command, "--web.enable-otlp-receiver") {
		t.Error("Prometheus takes no OTLP")
	}

	// go.work says go 1.26.0; the image is a release of 1.26, pinned.
	goVersion := regexp.MustCompile(`(?m)^go (\d+\.\d+)`).FindSubmatch(read("go.work"))
	if goVersion == nil {
		t.Fatal("go.work does not say go VERSION")
	}
	dockerfile := read("examples/otel-jaeger/Dockerfile")
	for _, line := range []string{`FROM golang:` + regexp.QuoteMeta(string(goVersion[1])) + `\.\d+-\S+ AS build`, "FROM scratch", "USER 65532:65532"} {
		if !regexp.MustCompile(`(?m)^` + line + `$`).Match(dockerfile) {
			t.Errorf("the example's Dockerfile does not say %q", line)
		}
	}
	for name, service := range model.Services {
		if runs := !slices.Contains(service.Profiles, "example"); runs != (service.Restart == "unless-stopped") {
			t.Errorf("%s: restart is %q", name, service.Restart)
		}
	}
}

// TestComposeContext checks that .dockerignore keeps what the example reads: its
// conversation is about its own files and its README.
func TestComposeContext(t *testing.T) {
	root := Root(t)
	data, err := os.ReadFile(filepath.Join(root, ".dockerignore"))
	require.NoError(t, err)
	list, err := ignorefile.ReadAll(bytes.NewReader(data))
	require.NoError(t, err)
	matcher, err := patternmatcher.New(list)
	require.NoError(t, err)
	// The go command reads go.mod and go.sum of every module of the workspace.
	var needed []string
	workspace := []string{"GOWORK=" + filepath.Join(root, "go.work")}
	for dir := range strings.FieldsSeq(Run(t, root, workspace, "go", "list", "-m", "-f", "{{.Dir}}")) {
		needed = append(needed, filepath.Join(dir, "go.mod"))
	}
	needed = append(needed, filepath.Join(root, "go.work"), filepath.Join(root, "go.work.sum"))
	needed = append(needed, strings.Fields(Run(t, root, workspace, "go", "list", "-deps", "-f",
		`{{if not .Standard}}{{range .GoFiles}}{{$.Dir}}/{{.}} {{end}}{{range .EmbedFiles}}{{$.Dir}}/{{.}} {{end}}{{end}}`, "./examples/otel-jaeger"))...)
	for _, file := range needed {
		name, err := filepath.Rel(root, file)
		require.NoError(t, err)
		if strings.HasPrefix(name, "..") {
			continue // a module that the build downloads
		}
		if left, err := matcher.MatchesOrParentMatches(name); err != nil || left {
			t.Errorf("%s is left out (%v)", name, err)
		}
	}
}
