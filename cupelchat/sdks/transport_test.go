package sdks_test

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupelchat"
	"github.com/wollax/cupel-go/cupelsession"
)

// agents run to the end of their task, and return the last words of the model.
var agents = []struct {
	name   string
	format cupelchat.Format
	run    func(*caller) string // nil is an agent of scripts/proxy.py
}{
	{"openai-go", cupelchat.OpenAI, runOpenAI},
	{"openai-go, Responses", cupelchat.Responses, runResponses},
	{"anthropic-sdk-go", cupelchat.Anthropic, runAnthropic},
	{"genai", cupelchat.Gemini, runGenAI},
	{"go-openai", cupelchat.OpenAI, runGoOpenAI},
	{"chat", cupelchat.OpenAI, nil},
	{"responses", cupelchat.Responses, nil},
	{"messages", cupelchat.Anthropic, nil},
}

// steps is how many answers have calls of tools.
const steps = 20

// python is a Python with the packages of scripts/chat-types.txt, or "".
var python = os.Getenv("CUPEL_E2E_PYTHON")

// TestAgents runs agents of every SDK to the end of their task: without Cupel, and at a
// quarter of these tokens with Fit, a session, a transport and cupel proxy. By the
// provider's cache, a session costs at most what sending everything costs.
func TestAgents(t *testing.T) {
	binary := filepath.Join(t.TempDir(), "cupel")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", binary, "./cmd/cupel")
	build.Dir = "../.."
	build.Env = append(os.Environ(), "GOWORK="+must(filepath.Abs("../../go.work")))
	out, err := build.CombinedOutput()
	require.NoError(t, err, "%s", out)
	ways := map[string]func(t *testing.T, c *caller){
		"fit": func(*testing.T, *caller) {},
		"session": func(_ *testing.T, c *caller) {
			c.session = must(cupelsession.New(preset, cupelsession.Config{Cache: cupelsession.CacheFor(c.format)}))
		},
		"transport": func(_ *testing.T, c *caller) {
			transport := must(cupelsession.NewTransport(cupelsession.TransportConfig{Budget: *c.budget}))
			c.client, c.budget = &http.Client{Transport: transport}, nil
			c.counted = transport.Stats
		},
		"proxy": func(t *testing.T, c *caller) {
			t.Helper()
			c.url, c.counted = proxy(t, binary, c.url, c.budget.TargetTokens())
			c.budget = nil
		},
	}
	for _, agent := range agents {
		for _, stream := range []bool{false, true} {
			run := func(t *testing.T, way func(*testing.T, *caller), budget *cupel.ContextBudget) *server {
				t.Helper()
				api := &server{steps: steps, marked: budget != nil}
				provider := httptest.NewServer(api)
				defer provider.Close()
				c := &caller{Context: t.Context(), url: provider.URL, client: http.DefaultClient, stream: stream, format: agent.format, budget: budget}
				way(t, c)
				var said string
				if agent.run != nil {
					said = agent.run(c)
				} else {
					out, err := exec.CommandContext(t.Context(), python, "../../scripts/proxy.py", agent.name, c.url, fmt.Sprint(stream)).CombinedOutput() //nolint:gosec // the caller's
					said = strings.TrimSpace(string(out))
					require.NoError(t, err, said)
				}
				require.Equal(t, fmt.Sprintf("done after %d calls", steps*3/2), said)
				require.Nil(t, api.refused)
				require.Len(t, api.bodies, steps+1)
				if c.session != nil {
					require.Equal(t, fmt.Sprint(api.usages), fmt.Sprint(c.usages))
				}
				if c.counted != nil {
					require.Equal(t, (cupelsession.TransportStats{Fitted: steps + 1}), c.counted())
				}
				return api
			}
			t.Run(fmt.Sprintf("%s, streaming %t", agent.name, stream), func(t *testing.T) {
				if agent.run == nil && python == "" {
					t.Skip("NOT TESTED: make chat-types runs agents in Python through cupel proxy")
				}
				plain := run(t, ways["fit"], nil)
				whole := plain.usages[steps].Input
				quarter := must(cupel.NewContextBudget(whole/4, whole/4))
				for name, way := range ways {
					if agent.run == nil && name != "proxy" {
						continue
					}
					t.Run(name, func(t *testing.T) {
						got := run(t, way, &quarter)
						most := 0
						for _, usage := range got.usages {
							most = max(most, usage.Input)
						}
						t.Logf("at most %.3f of the tokens, %.3f of the cost", float64(most)/float64(whole), got.cost/plain.cost)
						limit := whole / 4
						if name == "fit" {
							limit = whole * 3 / 10 // it estimates, and has no session that learns the provider's counts
						}
						require.LessOrEqual(t, most, limit, "of %d tokens", whole)
						if name != "fit" {
							require.LessOrEqual(t, got.cost, plain.cost)
						}
					})
				}
			})
		}
	}
}

// proxy starts cupel proxy, and returns its URL. counted ends it, and returns what it
// says that it counted.
func proxy(t *testing.T, binary, upstream string, budget int) (url string, counted func() (s cupelsession.TransportStats)) {
	t.Helper()
	run := exec.CommandContext(t.Context(), binary, "proxy", "--listen", "127.0.0.1:0", "--upstream", upstream, "--encoding", "heuristic", "-b", fmt.Sprint(budget)) //nolint:gosec // built here
	stderr := must(run.StderrPipe())
	require.NoError(t, run.Start())
	lines, address := bufio.NewReader(stderr), ""
	for address == "" {
		_, address, _ = strings.Cut(strings.TrimSpace(must(lines.ReadString('\n'))), "listening on ")
	}
	return "http://" + address, func() (s cupelsession.TransportStats) {
		_ = run.Process.Signal(os.Interrupt)
		said := string(must(io.ReadAll(lines)))
		_ = run.Wait() // it was interrupted
		must(fmt.Sscanf(said, "cupel: note: requests fitted: %d, sent unchanged: %d, impossible to fit: %d, sent again with less: %d; sessions dropped for newer ones: %d", &s.Fitted, &s.Forwarded, &s.Failed, &s.Retried, &s.Evicted))
		return s
	}
}
