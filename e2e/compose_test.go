package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// composed is a service of docker-compose.yaml.
type composed struct {
	Image       string
	Command     []string
	Environment map[string]string
	Healthcheck struct{ Test []string }
}

// composeService reads docker-compose.yaml as docker compose does.
func composeService(t *testing.T, name string) composed {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "tool", "github.com/compose-spec/compose-go/v2/cmd", "-format", "json", filepath.Join("..", "docker-compose.yaml"))
	cmd.Dir = filepath.Join("..", "tools")
	cmd.Env = append(os.Environ(), "GOWORK=off")
	cmd.Stderr = t.Output()
	out, err := cmd.Output()
	require.NoError(t, err)
	var model struct{ Services map[string]composed }
	require.NoError(t, json.Unmarshal(out, &model), "%s", out)
	service, known := model.Services[name]
	require.True(t, known, "docker-compose.yaml has no service %s", name)
	return service
}

// ready returns the address that the health check asks, at another host.
func (c composed) ready(t *testing.T, host string) string {
	t.Helper()
	test := c.Healthcheck.Test
	u, err := url.Parse(test[len(test)-1])
	require.NoError(t, err)
	require.Equal(t, "CMD", test[0])
	u.Host = host
	return u.String()
}

// TestComposeJaeger runs Jaeger as docker-compose.yaml does: with its own
// configuration but for the command, and checked by its health check.
func TestComposeJaeger(t *testing.T) {
	binary := newJaeger(t).binary
	jaeger := composeService(t, "jaeger")
	// Its ports are fixed, so that it gets an address of its own.
	host := fmt.Sprintf("127.%d.%d.%d", 1+rand.IntN(250), rand.IntN(250), 2+rand.IntN(250))
	if !canListen(t, host) {
		t.Skipf("this system has no addresses such as %s", host)
	}
	// Only its pages are at all addresses, where another Jaeger may be.
	cmd := exec.CommandContext(t.Context(), binary, append(slices.Clip(jaeger.Command),
		"--set=extensions.jaeger_query.http.endpoint="+host+":16686", "--set=extensions.jaeger_query.grpc.endpoint="+host+":16685")...)
	cmd.Env = append(os.Environ(), "JAEGER_LISTEN_HOST="+host)
	for name, value := range jaeger.Environment {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	startServer(t, "Jaeger", jaeger.ready(t, host+":13133"), cmd)
	e := startExample(t, "OTEL_EXPORTER_OTLP_ENDPOINT=http://"+host+":4318")
	for range turns {
		e.next(t)
	}
	code, stderr := e.end(t)
	require.Zero(t, code, stderr)
	require.Contains(t, stderr, "all spans and metrics arrived at ")
	// Its own configuration collects spans for a moment before it stores them.
	eventually(t, "Jaeger knows the example", knows(t, "http://"+host+":16686"))
}

// knows returns a check that a Jaeger has spans of the example.
func knows(t *testing.T, jaeger string) func() error {
	t.Helper()
	return func() error {
		body, err := get(t.Context(), jaeger+"/api/v3/services")
		if err == nil && !strings.Contains(string(body), service) {
			err = fmt.Errorf("services: %s", body)
		}
		return err
	}
}

// TestComposeUp starts the default profile of docker-compose.yaml. Its images are
// not pulled: that of Jaeger is built from the binary of the other tests, and has
// in place of BusyBox a wget of testdata that the health check runs.
func TestComposeUp(t *testing.T) {
	binary := newJaeger(t).binary
	if out, err := exec.CommandContext(t.Context(), "docker", "compose", "version").CombinedOutput(); err != nil {
		t.Skipf("NOT RUN: docker compose up, for want of docker compose: %v: %s", err, out)
	}
	if out, err := exec.CommandContext(t.Context(), "docker", "info", "--format", "{{.ServerVersion}} {{.OSType}}").CombinedOutput(); err != nil || !strings.HasSuffix(strings.TrimSpace(string(out)), " linux") {
		t.Skipf("NOT RUN: docker compose up, for want of a Docker engine for Linux: %v: %s", err, out)
	}
	dir := imageOfJaeger(t, binary)
	override := filepath.Join(dir, "override.yaml")
	// Another project and other ports: a developer may have this one running.
	ports := freePorts(t, 2)
	write(t, override, fmt.Sprintf(`
services:
  jaeger:
    image: cupel-e2e-jaeger
    pull_policy: build
    build: %s
    ports: !override
      - %s:16686
      - %s:4318
`, dir, ports[0], ports[1]))
	compose := func(args ...string) {
		t.Helper()
		args = append([]string{"compose", "--project-name", "cupel-e2e", "--file", filepath.Join("..", "docker-compose.yaml"), "--file", override}, args...)
		// Not the context of the test, which has ended when all is taken down.
		out, err := exec.CommandContext(context.WithoutCancel(t.Context()), "docker", args...).CombinedOutput()
		require.NoError(t, err, "docker %s\n%s", args, out)
	}
	t.Cleanup(func() { compose("down", "--volumes", "--rmi", "local") })
	compose("up", "--detach", "--build", "--wait", "--wait-timeout", "60")
	e := startExample(t, "OTEL_EXPORTER_OTLP_ENDPOINT=http://"+ports[1])
	for range turns {
		e.next(t)
	}
	code, stderr := e.end(t)
	require.Zero(t, code, stderr)
	require.Contains(t, stderr, "all spans and metrics arrived at ")
	eventually(t, "Jaeger knows the example", knows(t, "http://"+ports[0]))
}

// imageOfJaeger returns a folder to build an image from that looks like Jaeger's:
// the same entry point and environment, and a wget.
func imageOfJaeger(t *testing.T, binary string) string {
	t.Helper()
	dir := t.TempDir()
	build := exec.CommandContext(t.Context(), "go", "build", "-o", filepath.Join(dir, "wget"), "./testdata/wget")
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux")
	out, err := build.CombinedOutput()
	require.NoError(t, err, "%s", out)
	data, err := os.ReadFile(binary)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "jaeger"), data, 0o755)) //nolint:gosec // it is a program
	write(t, filepath.Join(dir, "Dockerfile"), `FROM scratch
ENV JAEGER_LISTEN_HOST=0.0.0.0 PATH=/bin
COPY wget jaeger /bin/
USER 10001
ENTRYPOINT ["/bin/jaeger"]
`)
	return dir
}

func write(t *testing.T, name, content string) {
	t.Helper()
	require.NoError(t, os.WriteFile(name, []byte(content), 0o600))
}
