package cli

import (
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// shownPage is the part of a page's data that the tests look at.
type shownPage struct {
	Title      string
	Items      []struct{ Content string }
	Selections []struct {
		Name   string
		Error  string
		Budget struct{ Max int }
		Window []int
		Sweep  *struct {
			Stops []struct{ Budget, Tokens int }
		}

		Request string
		Form    map[string]int

		Deduplicate bool
		Rivals      map[string][]int
	}
}

// inspected returns the data of a page that inspect prints.
func inspected(t *testing.T, code int, args ...string) shownPage {
	t.Helper()
	got, page, stderr := fed(t, "", append([]string{"inspect", "-o", "-"}, args...)...)
	require.Equal(t, code, got, stderr)
	require.NotContains(t, stderr, "wrote")
	_, rest, _ := strings.Cut(page, `id="data">`)
	text, _, found := strings.Cut(rest, "</script>")
	require.True(t, found)
	var data shownPage
	compressed, err := gzip.NewReader(base64.NewDecoder(base64.StdEncoding, strings.NewReader(text)))
	require.NoError(t, err)
	require.NoError(t, json.NewDecoder(compressed).Decode(&data))
	return data
}

func TestInspect(t *testing.T) {
	folder(t, selectable)
	one := []string{"-i", "items.jsonl", "-p", "greedy.json", "-b", "100"}
	data := inspected(t, exitOK, one...)
	require.Equal(t, "items.jsonl", data.Title)
	require.Len(t, data.Items, 7)
	require.Equal(t, "Mine", data.Selections[0].Name)
	require.Equal(t, 100, data.Selections[0].Budget.Max)
	require.NotNil(t, data.Selections[0].Sweep)
	data = inspected(t, exitOK, append(one, "--against", "chat")...)
	require.Len(t, data.Items, 7)
	require.Equal(t, "Chat", data.Selections[1].Name)
	require.Equal(t, []int{1}, inspected(t, exitOK, "-i", "names.json", "-p", "agent", "-b", "2").Selections[0].Rivals["0"])
	// A selection that fails is what one wants to look at.
	require.Contains(t, inspected(t, exitSelection, "-i", "items.jsonl", "-p", "greedy.json", "-b", "5").Selections[0].Error, "10 tokens")
}

// The page of a conversation has what run writes, and what is sent at other budgets,
// with every policy.
func TestInspectConversation(t *testing.T) {
	long := strings.Replace(chat, "a.go b.go", strings.Repeat("file_of_the_repository.go\\n", 40), 1)
	folder(t, map[string]string{"chat.json": long})
	for _, policy := range []string{"agent", "chat"} {
		code, body, stderr := fed(t, "", "run", "-i", "chat.json", "-p", policy, "-b", "120", "--as", "transcript")
		require.Equal(t, exitOK, code, stderr)
		s := inspected(t, exitOK, "-i", "chat.json", "-p", policy, "-b", "120").Selections[0]
		require.JSONEq(t, body, s.Request, policy)
		require.NotEmpty(t, append(s.Rivals["3"], len(s.Form)), policy)
		require.NotEmpty(t, s.Sweep.Stops, policy)
		for _, stop := range s.Sweep.Stops {
			require.LessOrEqual(t, stop.Tokens, stop.Budget, policy)
		}
		code, _, stderr = fed(t, "", "explain", "-i", "chat.json", "-p", policy, "-b", "10")
		require.Equal(t, exitSelection, code)
		_, least, _ := strings.Cut(stderr, "needs at least ")
		least, _, _ = strings.Cut(least, " tokens")
		failed := inspected(t, exitSelection, "-i", "chat.json", "-p", policy, "-b", "10").Selections[0]
		require.Contains(t, failed.Error, "require "+least+" tokens", policy)
		require.False(t, failed.Deduplicate, "no message is a copy")
	}
}

func TestInspectWritesFile(t *testing.T) {
	folder(t, selectable)
	args := []string{"inspect", "-i", "items.jsonl", "-p", "greedy.json", "-b", "100"}
	code, stdout, stderr := fed(t, "", args...)
	require.Equal(t, exitOK, code)
	require.Empty(t, stdout)
	require.Equal(t, negative+"cupel: wrote cupel.html; open it in a browser\n", stderr)
	code, _, _ = fed(t, "", args...)
	require.Equal(t, exitUsage, code)
}
