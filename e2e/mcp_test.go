package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The clients of the Model Context Protocol that are not ours. The inspector is the last
// that runs on Node 20.
const (
	inspector    = "@modelcontextprotocol/inspector@0.15.0"
	pythonClient = "mcp==1.30.0"
)

// mcpCall is a call of a tool, and a part of its result.
type mcpCall struct {
	tool string
	args map[string]any
	has  string
}

// mcpCalls call each tool.
var mcpCalls = []mcpCall{
	{"pick_files", map[string]any{"task": "How many rye loaves?"}, "chat.json:"},
	{"outline_file", map[string]any{"path": "chat.json", "tokens": 60}, "chat.json: json, "},
	{"read_log", map[string]any{"path": "chat.json", "question": "E7", "tokens": 100}, "not shown"},
	{"fit_messages", map[string]any{"file": "chat.json", "tokens": 260}, `"messages"`},
	{"explain_session", map[string]any{"session": "session.jsonl"}, "message 2, assistant, "},
}

// mcpServer builds the command, and returns it with its arguments. It skips the test
// unless CUPEL_E2E_INSPECTOR is set, as make mcp-inspector does, and where a program is
// missing.
func mcpServer(t *testing.T, program string) (path string, server []string) {
	t.Helper()
	if os.Getenv("CUPEL_E2E_INSPECTOR") == "" {
		t.Skip("NOT TESTED: make mcp-inspector calls the tools of cupel mcp")
	}
	path, err := exec.LookPath(program)
	if err != nil {
		t.Skipf("NOT TESTED: %s is missing: %v", program, err)
	}
	binary := filepath.Join(t.TempDir(), "cupel")
	out, err := exec.CommandContext(t.Context(), "go", "build", "-o", binary, "github.com/wollax/cupel-go/cmd/cupel").CombinedOutput()
	require.NoError(t, err, "%s", out)
	sessions := t.TempDir()
	const session = `{"sessionId":"s","uuid":"1","type":"user","message":{"role":"user","content":"How many loaves?"},"timestamp":"2026-01-01T00:00:00Z"}
{"sessionId":"s","uuid":"2","type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"45 rye loaves."}]},"timestamp":"2026-01-01T00:00:01Z"}
`
	require.NoError(t, os.WriteFile(filepath.Join(sessions, "session.jsonl"), []byte(session), 0o600))
	return path, []string{binary, "mcp", "--root", "../examples/data", "--sessions", sessions}
}

// output runs a program, and returns what it prints.
func output(t *testing.T, stdin string, name string, args ...string) []byte {
	t.Helper()
	var stderr bytes.Buffer
	command := exec.CommandContext(t.Context(), name, args...)
	command.Stdin, command.Stderr = strings.NewReader(stdin), &stderr
	out, err := command.Output()
	require.NoError(t, err, "%s %q\n%s%s", name, args, out, &stderr)
	return out
}

// TestMCPInspector calls each tool with npm's inspector. It needs the network for the
// first time.
func TestMCPInspector(t *testing.T) {
	npx, server := mcpServer(t, "npx")
	inspect := func(args ...string) []byte {
		t.Helper()
		return output(t, "", npx, slices.Concat([]string{"-y", inspector, "--cli"}, server, args)...)
	}
	var listed struct{ Tools []struct{ Name string } }
	require.NoError(t, json.Unmarshal(inspect("--method", "tools/list"), &listed))
	assert.Len(t, listed.Tools, len(mcpCalls))
	for _, call := range mcpCalls {
		args := []string{"--method", "tools/call", "--tool-name", call.tool}
		for name, value := range call.args {
			args = append(args, "--tool-arg", fmt.Sprintf("%s=%v", name, value))
		}
		var result struct {
			IsError           bool
			Content           []struct{ Text string }
			StructuredContent json.RawMessage
		}
		require.NoError(t, json.Unmarshal(inspect(args...), &result), call.tool)
		assert.False(t, result.IsError, call.tool)
		assert.Nil(t, result.StructuredContent, call.tool)
		require.Len(t, result.Content, 1, call.tool)
		assert.Contains(t, result.Content[0].Text, call.has, call.tool)
	}
}

// TestMCPPython calls each tool with the client of PyPI. It needs the network.
func TestMCPPython(t *testing.T) {
	python, server := mcpServer(t, "python3")
	folder := t.TempDir()
	output(t, "", python, "-m", "venv", folder)
	installed := filepath.Join(folder, "bin", "python")
	output(t, "", installed, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", pythonClient)
	var calls bytes.Buffer
	for _, call := range mcpCalls {
		require.NoError(t, json.NewEncoder(&calls).Encode(map[string]any{"name": call.tool, "arguments": call.args}))
	}
	results := json.NewDecoder(bytes.NewReader(output(t, calls.String(), installed, append([]string{"testdata/mcp_client.py"}, server...)...)))
	var names []string
	require.NoError(t, results.Decode(&names))
	require.Len(t, names, len(mcpCalls))
	for _, call := range mcpCalls {
		var result struct {
			Failed bool
			Texts  []string
		}
		require.NoError(t, results.Decode(&result), call.tool)
		assert.False(t, result.Failed, call.tool)
		require.Len(t, result.Texts, 1, call.tool)
		assert.Contains(t, result.Texts[0], call.has, call.tool)
	}
}
