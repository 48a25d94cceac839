package cli

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wollax/cupel-go/internal/english"
)

// task is a question about a repository that cupel does not know.
type task struct {
	module, question string
	word             string // that someone would search for
	file, symbol     string // with the answer
}

// tasks are about modules that this one requires, so that everyone has the same versions.
var tasks = []task{
	{"github.com/spf13/cobra", "Where does a command fail because a required flag is not set?", "required", "command.go", "func (c *Command) ValidateRequiredFlags"},
	{"github.com/BurntSushi/toml", "Where does the parser read a date and time of a document?", "date", "parse.go", "func (p *parser) valueDatetime"},
	{"github.com/modelcontextprotocol/go-sdk", "Where are the pings of keepalive sent to a peer?", "keepalive", "mcp/shared.go", "func startKeepalive"},
}

// TestMCPTasks measures how many tokens it takes until the right file is read: with
// pick_files, and with grep for a word and cat of the files with most hits. The README has
// the figures.
func TestMCPTasks(t *testing.T) {
	readme, err := os.ReadFile(filepath.Join("..", "..", "README.md"))
	require.NoError(t, err)
	for _, task := range tasks {
		out, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", task.module).Output()
		dir := strings.TrimSpace(string(out))
		if err != nil || dir == "" {
			t.Skipf("NOT TESTED: %s is not there: %v", task.module, err)
		}
		t.Setenv("GIT_CEILING_DIRECTORIES", filepath.Dir(dir))
		tools, err := (&mcpFlags{root: dir, policy: agentPolicy, encoding: encodings[0]}).tools(&Environment{})
		require.NoError(t, err)
		t.Cleanup(tools.close)
		picked, by := tools.picking(t, dir, task)
		searched := tools.searching(t, dir, task)
		t.Logf("%s: %d tokens with pick_files (%s), %d with grep and cat", task.question, picked, by, searched)
		require.Less(t, 2*picked, searched, task.question)
		row := fmt.Sprintf("| %s | %s | %s |", task.question, english.Grouped(picked), english.Grouped(searched))
		require.Contains(t, string(readme), row, "the README has the figures")
	}
}

// picking returns the tokens until pick_files, or cat of a file that it names, shows the
// answer.
func (t *mcpTools) picking(test *testing.T, dir string, task task) (tokens int, by string) {
	test.Helper()
	answer, err := t.pickFiles(test.Context(), &mcpPick{Task: task.question})
	require.NoError(test, err)
	tokens = t.count(answer)
	if strings.Contains(answer, task.symbol) {
		return tokens, "shown at once"
	}
	_, list, _ := strings.Cut(answer, "best lines:\n")
	for line := range strings.Lines(list) {
		name, _, found := strings.Cut(line, ": ")
		if !found {
			break
		}
		tokens += t.cat(test, dir, name)
		if name == task.file {
			return tokens, "after reading"
		}
	}
	require.Fail(test, "the file is not named", answer)
	return 0, ""
}

// cat returns the tokens of a file.
func (t *mcpTools) cat(test *testing.T, dir, name string) int {
	test.Helper()
	text, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
	require.NoError(test, err)
	return t.count(string(text))
}

// searching returns the tokens of what grep -rin prints for a word, and of the files with
// most hits until the right one. It knows to leave out tests.
func (t *mcpTools) searching(test *testing.T, dir string, task task) (tokens int) {
	test.Helper()
	hits := make(map[string]int)
	var names []string
	var printed strings.Builder
	require.NoError(test, fs.WalkDir(os.DirFS(dir), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || filepath.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go") {
			return err
		}
		text, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
		for line := range strings.Lines(string(text)) {
			if strings.Contains(strings.ToLower(line), task.word) {
				hits[name]++
				printed.WriteString(name + ":100:" + line)
			}
		}
		if hits[name] > 0 {
			names = append(names, name)
		}
		return err
	}))
	slices.SortStableFunc(names, func(a, b string) int { return hits[b] - hits[a] })
	tokens = t.count(printed.String())
	for _, name := range names {
		tokens += t.cat(test, dir, name)
		if name == task.file {
			return tokens
		}
	}
	require.Fail(test, "the word is not in the file")
	return 0
}
