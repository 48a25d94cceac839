package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// inspected runs cupel inspect in a folder with a file of three items;
// two fit 25 tokens, and two policies.
func inspected(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	dir := t.TempDir()
	t.Chdir(dir)
	for name, content := range map[string]string{
		"items.jsonl": `{"content": "high", "tokens": 10, "futureRelevanceHint": 0.9}
{"content": "low", "tokens": 10, "futureRelevanceHint": 0.1}
{"content": "pinned <script>", "tokens": 10, "pinned": true}
`,
		"p.json": `{"name": "Mine", "scorers": [{"type": "reflexive", "weight": 1}], "slicer": {"type": "greedy"}, "placer": {"type": "uShaped"}}`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return start(t, args...)
}

func start(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	code = Main(t.Context(), args, Environment{
		Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs,
		Getenv: func(string) string { return "" },
		Clock:  func() time.Time { return time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC) },
	})
	return code, out.String(), errs.String()
}

// shown is the part of a page's data that the tests look at.
type shownPage struct {
	Title      string
	Items      []struct{ Content string }
	Selections []struct {
		Name   string
		Error  string
		Budget struct{ Max int }
		Window []int
		Sweep  *struct{ Stops []struct{ Budget int } }
	}
}

func dataOf(t *testing.T, page string) shownPage {
	t.Helper()
	_, rest, found := strings.Cut(page, `id="data">`)
	text, _, ended := strings.Cut(rest, "</script>")
	if !found || !ended {
		t.Fatalf("no data in a page of %d bytes", len(page))
	}
	var data shownPage
	if err := json.Unmarshal([]byte(text), &data); err != nil {
		t.Fatal(err)
	}
	return data
}

func TestInspect(t *testing.T) {
	code, stdout, stderr := inspected(t, "inspect", "-i", "items.jsonl", "-p", "p.json", "-b", "25", "-o", "-")
	if code != exitOK || stderr != "" {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	if strings.Contains(stdout, "pinned <script>") {
		t.Error("content is markup")
	}
	data := dataOf(t, stdout)
	if data.Title != "items.jsonl" || len(data.Items) != 3 || len(data.Selections) != 1 {
		t.Fatalf("got %+v", data)
	}
	s := data.Selections[0]
	if s.Name != "Mine" || s.Budget.Max != 25 || len(s.Window) != 2 || s.Sweep == nil {
		t.Errorf("got %+v; want the pinned item and the better of the others, and a sweep", s)
	}
}

func TestInspectTwo(t *testing.T) {
	code, stdout, stderr := inspected(t, "inspect", "-i", "items.jsonl", "-p", "p.json", "-b", "25",
		"--against", "chat", "--against-budget", "30", "--from", "10", "--stops", "3", "--title", "Both", "-o", "-")
	if code != exitOK {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	data := dataOf(t, stdout)
	if data.Title != "Both" || len(data.Items) != 3 || len(data.Selections) != 2 {
		t.Fatalf("got %+v", data)
	}
	a, b := data.Selections[0], data.Selections[1]
	if a.Name != "Mine" || b.Name != "Chat" || b.Budget.Max != 30 || len(a.Window) != 2 || len(b.Window) != 3 {
		t.Errorf("got %+v and %+v", a, b)
	}
	if a.Sweep == nil || len(a.Sweep.Stops) != 3 || a.Sweep.Stops[0].Budget != 10 || a.Sweep.Stops[2].Budget != 50 {
		t.Errorf("got the sweep %+v; want 10, 25 as the middle and twice the budget", a.Sweep)
	}
}

// TestInspectStops: zero is a number that one can ask for.
func TestInspectStops(t *testing.T) {
	inspected(t, "help")
	for _, tt := range []struct {
		args []string
		want []int
		why  string
	}{
		{[]string{"--stops", "0"}, nil, "no slider"},
		{[]string{"--to", "0"}, []int{0}, "from 0 to 0"},
		{[]string{"--from", "0", "--to", "50", "--stops", "3"}, []int{0, 25, 50}, "as given"},
	} {
		code, stdout, stderr := start(t, append([]string{"inspect", "-i", "items.jsonl", "-p", "p.json", "-b", "25", "-o", "-"}, tt.args...)...)
		if code != exitOK {
			t.Fatalf("%v: exit code %d: %s", tt.args, code, stderr)
		}
		var got []int
		if sweep := dataOf(t, stdout).Selections[0].Sweep; sweep != nil {
			for _, stop := range sweep.Stops {
				got = append(got, stop.Budget)
			}
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%v: the slider has %v; want %v: %s", tt.args, got, tt.want, tt.why)
		}
	}
}

func TestInspectReports(t *testing.T) {
	code, report, stderr := inspected(t, "explain", "-i", "items.jsonl", "-p", "p.json", "-b", "25", "--json")
	if code != exitOK {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	for _, name := range []string{"a.json", "b.json", "c.json", "d.json"} {
		if err := os.WriteFile(name, []byte(report), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	code, stdout, stderr := start(t, "inspect", "a.json", "b.json", "-b", "25", "-o", "-")
	if code != exitOK {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	data := dataOf(t, stdout)
	if data.Title != "a.json, b.json" || len(data.Selections) != 2 || data.Selections[1].Name != "b.json" ||
		len(data.Selections[0].Window) != 2 || data.Selections[0].Sweep != nil {
		t.Errorf("got %+v", data)
	}
	_, stdout, stderr = start(t, "inspect", "a.json", "b.json", "c.json", "d.json", "-b", "25", "-o", "-")
	if data := dataOf(t, stdout); data.Title != "a.json … d.json" || len(data.Selections) != 4 {
		t.Errorf("of four reports, got %+v: %s", data, stderr)
	}
}

func TestInspectFailures(t *testing.T) {
	tests := []struct {
		args []string
		code int
		text string
		why  string
	}{
		{[]string{"-b", "25"}, exitUsage, "give --items and --policy", "there is nothing to show"},
		{[]string{"-i", "items.jsonl", "-p", "p.json"}, exitUsage, `"budget"`, "a budget has no default"},
		{[]string{"-i", "items.jsonl", "-b", "25"}, exitUsage, "--policy", "no more has a policy"},
		{[]string{"-i", "missing", "-p", "p.json", "-b", "25"}, exitUsage, "missing", "there is no such file"},
		{[]string{"p.json", "-b", "25"}, exitUsage, "not a report", "a policy is no report"},
		{[]string{"missing.json", "-b", "25"}, exitUsage, "missing.json", "there is no such report"},
		{[]string{"p.json", "-b", "25", "--against", "chat"}, exitUsage, "--against requires --items", "a report has no candidates to select from"},
		{[]string{"-i", "items.jsonl", "-p", "p.json", "-b", "25"}, exitUsage, "already exists; --force", "cupel.html is there"},
		{[]string{"-i", "items.jsonl", "-p", "p.json", "-b", "25", "--against", "nothing"}, exitUsage, "no policy is named", "the second policy is unknown"},
		{[]string{"-i", "items.jsonl", "-p", "p.json", "-b", "25", "--against-budget", "-1"}, exitUsage, "-1", "the second budget makes no sense"},
		{[]string{"-i", "items.jsonl", "-p", "p.json", "-b", "25", "--stops", "-1"}, exitUsage, "--stops: must be from 0 to 1000, got -1", "a slider cannot have -1 stops"},
		{[]string{"-i", "items.jsonl", "-p", "p.json", "-b", "25", "--from", "300"}, exitUsage, "--from: must be at most --to (50), got 300", "twice the budget is less"},
		{[]string{"-i", "items.jsonl", "-p", "p.json", "-b", "25", "--from", "-1"}, exitUsage, "--from: must be at least 0 tokens, got -1", "no budget is negative"},
		{[]string{"-i", "items.jsonl", "-p", "p.json", "-b", "25", "--serve", "127.0.0.1:0"}, exitUsage, "--serve=ADDRESS", "the address is read as a report"},
		{[]string{"-i", "items.jsonl", "-p", "p.json", "-b", "25", "--serve", "-o", "x"}, exitUsage, "serve", "a page is served or written"},
		{[]string{"-i", "items.jsonl", "-p", "p.json", "-b", "25", "--serve=192.0.2.1:80"}, exitUsage, "loopback only", "the page is not for others"},
		{[]string{"-i", "items.jsonl", "-p", "p.json", "-b", "25", "--serve=example.com:80"}, exitUsage, "loopback only", "a name may point anywhere"},
		{[]string{"-i", "items.jsonl", "-p", "p.json", "-b", "25", "--serve=127.0.0.1"}, exitUsage, "port", "an address has a port"},
		{[]string{"-i", "items.jsonl", "-p", "p.json", "-b", "25", "--serve=127.0.0.1:http"}, exitUsage, "not a port", "a port is a number"},
	}
	inspected(t, "help")
	if err := os.WriteFile("cupel.html", []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range tests {
		t.Run(strings.Join(tt.args, " "), func(t *testing.T) {
			code, stdout, stderr := start(t, append([]string{"inspect"}, tt.args...)...)
			if code != tt.code || !strings.Contains(stderr, tt.text) || stdout != "" {
				t.Errorf("exit code %d, %q; want %d and %q, because %s", code, stderr, tt.code, tt.text, tt.why)
			}
		})
	}
	if content, err := os.ReadFile("cupel.html"); err != nil || string(content) != "mine" {
		t.Errorf("the file is %q, %v", content, err)
	}
}

// A selection that fails is what one wants to look at.
func TestInspectFailedRun(t *testing.T) {
	code, stdout, stderr := inspected(t, "inspect", "-i", "items.jsonl", "-p", "p.json", "-b", "5", "-o", "-")
	if code != exitSelection || !strings.Contains(stderr, "10") {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	if s := dataOf(t, stdout).Selections[0]; !strings.Contains(s.Error, "10") {
		t.Errorf("got the error %q; want the tokens of the pinned item", s.Error)
	}
}

func TestInspectWritesFile(t *testing.T) {
	code, stdout, stderr := inspected(t, "inspect", "-i", "items.jsonl", "-p", "p.json", "-b", "25")
	if code != exitOK || stdout != "" || stderr != "cupel: wrote cupel.html; open it in a browser\n" {
		t.Fatalf("exit code %d: %q, %q", code, stdout, stderr)
	}
	page, err := os.ReadFile("cupel.html")
	if err != nil {
		t.Fatal(err)
	}
	if len(dataOf(t, string(page)).Items) != 3 {
		t.Error("not the page")
	}
	if code, _, stderr := start(t, "inspect", "-i", "items.jsonl", "-p", "chat", "-b", "35", "--force"); code != exitOK {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	if page, err = os.ReadFile("cupel.html"); err != nil || len(dataOf(t, string(page)).Selections[0].Window) != 3 {
		t.Errorf("not the page that was forced: %v", err)
	}
}

func TestServe(t *testing.T) {
	inspected(t, "help")
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	stderr, told := io.Pipe()
	ended := make(chan int, 1)
	go func() {
		ended <- Main(ctx, []string{"inspect", "-i", "items.jsonl", "-p", "p.json", "-b", "25", "--serve"}, Environment{
			Stdin: strings.NewReader(""), Stdout: io.Discard, Stderr: told,
			Getenv: func(string) string { return "" }, Clock: time.Now,
		})
		// Unblocks the reader below when nothing was served.
		_ = told.Close()
	}()
	line := make([]byte, 200)
	n, err := stderr.Read(line)
	if err != nil {
		t.Fatal(err)
	}
	address := regexp.MustCompile(`http://127\.0\.0\.1:\d+/`).FindString(string(line[:n]))
	if address == "" {
		t.Fatalf("got %q", line[:n])
	}
	for _, tt := range []struct {
		host, path string
		status     int
		why        string
	}{
		{"", "", http.StatusOK, "that is where it is"},
		{"localhost:1", "", http.StatusOK, "localhost is loopback, with any port"},
		{"[::1]", "", http.StatusOK, "so is ::1"},
		{"rebound.example", "", http.StatusForbidden, "a page elsewhere had its name point here"},
		{"", "favicon.ico", http.StatusNotFound, "there is one page"},
	} {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, address+tt.path, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		request.Host = tt.host
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(response.Body)
		if err := response.Body.Close(); err != nil {
			t.Error(err)
		}
		if err != nil || response.StatusCode != tt.status {
			t.Errorf("%+v: status %d, %v", tt, response.StatusCode, err)
		}
		if tt.status == http.StatusOK && len(dataOf(t, string(body)).Items) != 3 {
			t.Errorf("%+v: not the page", tt)
		}
	}
	stop()
	select {
	case code := <-ended:
		if code != exitOK {
			t.Errorf("exit code %d: being interrupted is how serving ends", code)
		}
	case <-time.After(time.Minute):
		t.Error("still serving")
	}
}
