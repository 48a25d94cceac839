package repo

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/moby/patternmatcher"
	"github.com/moby/patternmatcher/ignorefile"
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
	if err != nil {
		t.Fatal(err)
	}
	for _, problem := range checkCompose(t, out) {
		t.Error(problem)
	}
}

// checkCompose returns what is wrong with the model of a compose file.
func checkCompose(t *testing.T, out []byte) []string {
	t.Helper()
	var problems []string
	wrong := func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }
	root := Root(t)
	read := func(name string) []byte {
		data, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
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
			wrong("%s: the image is %q, but the end-to-end tests run %q", service, model.Services[service].Image, want)
		}
	}
	profiles := map[string]string{"jaeger": "", "trace": "example", "agent": "metrics", "prometheus": "metrics", "grafana": "metrics"}
	published := make(map[string]int)
	for name, service := range model.Services {
		want, known := profiles[name]
		if !known || strings.Join(service.Profiles, " ") != want {
			wrong("%s has the profiles %q, want %q", name, service.Profiles, want)
		}
		if !regexp.MustCompile(`^\d{3}m$`).MatchString(service.MemLimit) {
			wrong("%s has the memory limit %q", name, service.MemLimit)
		}
		if service.Build.Dockerfile == "" {
			if !regexp.MustCompile(`:v?\d+\.\d+\.\d+$`).MatchString(service.Image) {
				wrong("%s: the image %q does not say which version", name, service.Image)
			}
			if !slices.Contains(service.Healthcheck.Test, "wget") {
				wrong("%s has the health check %q", name, service.Healthcheck.Test)
			}
		}
		for other, dependency := range service.DependsOn {
			if dependency.Condition != "service_healthy" {
				wrong("%s does not wait until %s is healthy", name, other)
			}
		}
		for _, port := range service.Ports {
			published[port.Published] = port.Target
			if port.HostIP != "127.0.0.1" {
				wrong("%s listens at port %s of %q, not of the loopback alone", name, port.Published, port.HostIP)
			}
		}
		for _, volume := range service.Volumes {
			if _, err := os.Stat(volume.Source); err != nil {
				wrong("%s: %v", name, err)
			}
		}
	}
	if len(model.Services) != len(profiles) {
		wrong("%d services, want %d", len(model.Services), len(profiles))
	}
	for port, target := range map[string]int{"16686": 16686, "4317": 4317, "4318": 4318, "9090": 9090, "3000": 3000} {
		if published[port] != target {
			wrong("port %s leads to %d", port, published[port])
		}
	}
	for _, edge := range [][2]string{{"trace", "jaeger"}, {"agent", "jaeger"}, {"agent", "prometheus"}, {"grafana", "prometheus"}} {
		if _, waits := model.Services[edge[0]].DependsOn[edge[1]]; !waits {
			wrong("%s does not wait for %s", edge[0], edge[1])
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
				wrong("%s: %s=%s, want %s", name, variable, service.Environment[variable], value)
			}
		}
		if service.Build.Context != root || service.Build.Dockerfile != "examples/otel-jaeger/Dockerfile" {
			wrong("%s is built from %q in %q", name, service.Build.Dockerfile, service.Build.Context)
		}
	}
	if !slices.Contains(model.Services["prometheus"].Command, "--web.enable-otlp-receiver") {
		wrong("Prometheus takes no OTLP")
	}

	// go.work says go 1.26.0; the image is a release of 1.26, pinned.
	goVersion := regexp.MustCompile(`(?m)^go (\d+\.\d+)`).FindSubmatch(read("go.work"))
	if goVersion == nil {
		t.Fatal("go.work does not say go VERSION")
	}
	dockerfile := read("examples/otel-jaeger/Dockerfile")
	for _, line := range []string{`FROM golang:` + regexp.QuoteMeta(string(goVersion[1])) + `\.\d+-\S+ AS build`, "FROM scratch", "USER 65532:65532"} {
		if !regexp.MustCompile(`(?m)^` + line + `$`).Match(dockerfile) {
			wrong("the example's Dockerfile does not say %q", line)
		}
	}
	for name, service := range model.Services {
		if image := service.Image; image != "cupel-otel-jaeger" && !regexp.MustCompile(`:v?\d+\.\d+\.\d+$`).MatchString(image) {
			wrong("%s: the image %s is not pinned", name, image)
		}
		if runs := !slices.Contains(service.Profiles, "example"); runs != (service.Restart == "unless-stopped") {
			wrong("%s: restart is %q", name, service.Restart)
		}
	}
	return problems
}

// contextProblems returns the files that a build of the example reads, and that
// patterns of a .dockerignore leave out.
func contextProblems(t *testing.T, patterns io.Reader) []string {
	t.Helper()
	root := Root(t)
	list, err := ignorefile.ReadAll(patterns)
	if err != nil {
		t.Fatal(err)
	}
	matcher, err := patternmatcher.New(list)
	if err != nil {
		t.Fatal(err)
	}
	// The go command reads go.mod and go.sum of every module of the workspace.
	var needed []string
	workspace := []string{"GOWORK=" + filepath.Join(root, "go.work")}
	for dir := range strings.FieldsSeq(Run(t, root, workspace, "go", "list", "-m", "-f", "{{.Dir}}")) {
		needed = append(needed, filepath.Join(dir, "go.mod"))
	}
	needed = append(needed, filepath.Join(root, "go.work"), filepath.Join(root, "go.work.sum"))
	needed = append(needed, strings.Fields(Run(t, root, workspace, "go", "list", "-deps", "-f",
		`{{if not .Standard}}{{range .GoFiles}}{{$.Dir}}/{{.}} {{end}}{{range .EmbedFiles}}{{$.Dir}}/{{.}} {{end}}{{end}}`, "./examples/otel-jaeger"))...)
	var problems []string
	for _, file := range needed {
		name, err := filepath.Rel(root, file)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(name, "..") {
			continue // a module that the build downloads
		}
		if left, err := matcher.MatchesOrParentMatches(name); err != nil || left {
			problems = append(problems, fmt.Sprintf("%s is left out (%v)", name, err))
		}
	}
	return problems
}

// TestComposeContext checks that .dockerignore keeps what the example reads: its
// conversation is about its own files and its README.
func TestComposeContext(t *testing.T) {
	data, err := os.ReadFile(filepath.Join(Root(t), ".dockerignore"))
	if err != nil {
		t.Fatal(err)
	}
	for _, problem := range contextProblems(t, bytes.NewReader(data)) {
		t.Error(problem)
	}
	for _, tt := range []struct{ pattern, why string }{
		{"**/*.md", "the example has its README as source"},
		{"e2e", "go.work names it, and the go command refuses to work without it"},
		{"go.*", "without go.work, modules are not found"},
		{"cupelotel", "the example imports it"},
	} {
		if len(contextProblems(t, strings.NewReader(string(data)+tt.pattern+"\n"))) == 0 {
			t.Errorf("%s is taken, although %s", tt.pattern, tt.why)
		}
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
		{"    build: &example\n", "    build: [1]\n    other: &example\n", "a list instead of a mapping"},
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

// TestComposeFindsMistakes plants what is valid, and wrong.
func TestComposeFindsMistakes(t *testing.T) {
	root := Root(t)
	data, err := os.ReadFile(filepath.Join(root, "docker-compose.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ old, new, says string }{
		{"jaeger:2.13.0", "jaeger:2.12.0", "the end-to-end tests run"},
		{"grafana:13.1.4", "grafana:latest", "does not say which version"},
		{"condition: service_healthy", "condition: service_started", "does not wait until"},
		{"127.0.0.1:9090:9090", "9090:9090", "not of the loopback alone"},
		{"    mem_limit: 512m\n", "", "memory limit"},
		{`"wget", `, `"curl", `, "health check"},
		{"profiles: [metrics]", "profiles: []", "profiles"},
		{"grafana/dashboards:", "grafana/boards:", "no such file"},
		{"http://prometheus:9090/api/v1/otlp/v1/metrics", "http://prometheus:9090", "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT"},
		{"      - --web.enable-otlp-receiver\n", "", "takes no OTLP"},
	} {
		t.Run(tt.new, func(t *testing.T) {
			faulty := strings.Replace(string(data), tt.old, tt.new, 1)
			faulty = strings.NewReplacer("context: .\n", "context: "+root+"\n", "- ./", "- "+root+"/").Replace(faulty)
			file := filepath.Join(t.TempDir(), "docker-compose.yaml")
			writeFile(t, file, faulty)
			out, err := compose(t, file)
			if err != nil {
				t.Fatal(err)
			}
			if problems := strings.Join(checkCompose(t, out), "\n"); !strings.Contains(problems, tt.says) {
				t.Errorf("%q in place of %q: %s; want %q", tt.new, tt.old, problems, tt.says)
			}
		})
	}
}
