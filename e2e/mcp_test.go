package e2e

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// inspector is the client of the Model Context Protocol that is not ours.
const inspector = "@modelcontextprotocol/inspector@2.12.0"

// TestMCPInspector calls the tools of cupel mcp with npm's inspector. It needs the
// network for the first time, and runs where CUPEL_E2E_INSPECTOR is set, as make
// mcp-inspector does.
func TestMCPInspector(t *testing.T) {
	if os.Getenv("CUPEL_E2E_INSPECTOR") == "" {
		t.Skip("NOT TESTED: make mcp-inspector calls the tools of cupel mcp with " + inspector)
	}
	npx, err := exec.LookPath("npx")
	if err != nil {
		t.Fatalf("npx is missing: install Node and npm, which run %s: %v", inspector, err)
	}
	binary := filepath.Join(t.TempDir(), "cupel")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", binary, "github.com/wollax/cupel-go/cmd/cupel").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	inspect := func(args ...string) []byte {
		t.Helper()
		var stderr bytes.Buffer
		command := exec.CommandContext(t.Context(), npx, append([]string{"-y", inspector, "--cli", binary, "mcp", "--root", "../examples/data"}, args...)...)
		command.Stderr = &stderr
		out, err := command.Output()
		if err != nil {
			t.Fatalf("%q: %v\n%s%s", args, err, out, &stderr)
		}
		if strings.Contains(stderr.String(), "Warning: tool") {
			t.Errorf("%q: %s", args, &stderr)
		}
		return out
	}
	var listed struct{ Tools []struct{ Name string } }
	if err := json.Unmarshal(inspect("--method", "tools/list", "--strict"), &listed); err != nil || len(listed.Tools) != 2 {
		t.Errorf("%v: tools are %v, want 2", err, listed)
	}
	for _, tt := range []struct {
		tool, has string
		args      []string
	}{
		{"select", `"messages"`, []string{"file=chat.json", "budget=260", "policy=chat"}},
		{"outline", `"full_tokens"`, []string{"file=chat.json", "tokens=60"}},
	} {
		args := []string{"--method", "tools/call", "--tool-name", tt.tool}
		for _, arg := range tt.args {
			args = append(args, "--tool-arg", arg)
		}
		var result struct {
			IsError           bool
			StructuredContent json.RawMessage
		}
		if err := json.Unmarshal(inspect(args...), &result); err != nil || result.IsError || !bytes.Contains(result.StructuredContent, []byte(tt.has)) {
			t.Errorf("%s: %v, %s, want %s", tt.tool, err, result.StructuredContent, tt.has)
		}
	}
}
