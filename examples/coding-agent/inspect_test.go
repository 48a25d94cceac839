package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// shownIn returns the data of a page.
func shownIn(t *testing.T, name string) (page struct {
	Title      string
	Items      []struct{ Content string }
	Selections []struct {
		Name   string
		Window []int
	}
}) {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	_, data, found := strings.Cut(string(text), `id="data">`)
	data, _, ended := strings.Cut(data, "</script>")
	if !found || !ended {
		t.Fatalf("%s has no data", name)
	}
	if err := json.Unmarshal([]byte(data), &page); err != nil {
		t.Fatal(err)
	}
	return page
}

func TestInspect(t *testing.T) {
	root := shop(t)
	name := filepath.Join(t.TempDir(), "page.html")
	args := []string{"-root", root, "-question", "What is a Price?", "-vet", "0", "-inspect", name}
	code, stdout, stderr := start(t, args...)
	if want := "\nInspector: " + name + " shows all of this in a browser\n"; code != exitOK || !strings.HasSuffix(stdout, want) {
		t.Fatalf("exit code %d, %s\n%s", code, stderr, stdout)
	}
	page := shownIn(t, name)
	if page.Title != "What is a Price?" || len(page.Items) != 6 || len(page.Selections) != 1 || len(page.Selections[0].Window) != 6 {
		t.Errorf("the page shows %+v", page)
	}

	if code, _, stderr := start(t, args...); code != exitFailure || !strings.Contains(stderr, "-force replaces it") {
		t.Errorf("over the page: exit code %d, %s", code, stderr)
	}
	// JSON is for programs, which read nothing else.
	code, stdout, stderr = start(t, append(args, "-force", "-json")...)
	if code != exitOK || strings.Contains(stdout, "Inspector") {
		t.Errorf("exit code %d, %s\n%s", code, stderr, stdout)
	}
	code, stdout, stderr = start(t, append(args, "-force", "-what-if", "code-review")...)
	if code != exitOK || !strings.Contains(stdout, "Inspector") {
		t.Fatalf("exit code %d, %s\n%s", code, stderr, stdout)
	}
	if page := shownIn(t, name); len(page.Selections) != 2 || page.Selections[1].Name != "code-review" || len(page.Items) != 6 {
		t.Errorf("the page shows %+v", page)
	}
}
