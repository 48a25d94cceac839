package repocontext

import (
	"context"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/wollax/cupel-go/cupel"
)

func needGo(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("go is not installed: go vet cannot be run")
	}
}

// workspace has a module with findings in two folders, one without, and one that
// is not part of it.
func workspace(t *testing.T) string {
	t.Helper()
	return writeTree(t, map[string]string{
		"go.work":     "go 1.24\n\nuse (\n\t./good\n\t./bad\n)\n",
		"good/go.mod": "module example.org/good\n\ngo 1.24\n",
		"good/g.go":   "package good\n",
		"bad/go.mod":  "module example.org/bad\n\ngo 1.24\n",
		"bad/b.go":    "package bad\n\nfunc Copy(x int) {\n\tx = x\n\tx = x\n}\n",
		"bad/in/i.go": "package in\n\nfunc Undefined() int { return nowhere }\n",
		"off/go.mod":  "module example.org/off\n\ngo 1.24\n",
		"off/o.go":    "package off\n\nfunc Copy(x int) { x = x }\n",
	})
}

func TestVet(t *testing.T) {
	without(t, "go") // git is not needed
	root := workspace(t)
	t.Setenv("GOFLAGS", "")
	t.Setenv("GOWORK", filepath.Join(root, "nowhere", "go.work")) // of whoever calls
	var progress []string
	c := collect(t, root, Options{VetTimeout: time.Minute, Progress: func(m string) { progress = append(progress, m) }})

	var outputs []*cupel.ContextItem
	for _, it := range c.Items {
		if it.Kind() == cupel.KindToolOutput {
			outputs = append(outputs, it)
		}
	}
	wantLines(t, "origins", origins(outputs), []string{"go vet bad", "go vet bad/in", "go vet good"})
	if t.Failed() {
		t.Fatalf("notes: %q", c.Notes)
	}
	bad, in, good := outputs[0], outputs[1], outputs[2]
	if got, want := bad.Content(), "go vet ./... in bad:\nbad/b.go:4:2: self-assignment of x\nbad/b.go:5:2: self-assignment of x"; got != want {
		t.Errorf("content:\n%s\nwant:\n%s", got, want)
	}
	if got, want := bad.Tags(), []string{"vet", "bad"}; !slices.Equal(got, want) {
		t.Errorf("tags %q, want %q", got, want)
	}
	if got, want := in.Content(), "go vet ./... in bad:\nbad/in/i.go:3:31: undefined: nowhere"; got != want {
		t.Errorf("content:\n%s\nwant:\n%s", got, want)
	}
	if got, want := in.Tags(), []string{"vet", "bad/in", "bad"}; !slices.Equal(got, want) {
		t.Errorf("tags %q, want %q", got, want)
	}
	if got, want := good.Content(), "go vet ./... in good: no findings"; got != want {
		t.Errorf("content %q, want %q", got, want)
	}
	for _, it := range outputs {
		if when, ok := it.Timestamp(); !ok || !when.Equal(fileTime) {
			t.Errorf("%s: time %v, want that of the newest file", Origin(it), when)
		}
	}
	if a, _ := bad.Priority(); a != priorityFinding {
		t.Errorf("priority %d of a finding", a)
	}
	wantLines(t, "progress", progress, []string{"running go vet over 2 modules, at most 1m0s"})
}

func TestVetThatDoesNotRun(t *testing.T) {
	tests := []struct {
		name, why string
		prepare   func(t *testing.T) string
		timeout   time.Duration
		note      string
	}{
		{
			name: "not installed", why: "a binary that runs where Go is not",
			prepare: func(t *testing.T) string {
				t.Helper()
				root := workspace(t)
				without(t)
				return root
			},
			timeout: time.Minute,
			note:    "go vet: go is not installed; its output is not among the candidates",
		},
		{
			name: "not installed, one module", why: "without a workspace nothing is asked before go vet itself",
			prepare: func(t *testing.T) string {
				t.Helper()
				root := writeTree(t, map[string]string{"go.mod": "module m\n"})
				without(t)
				return root
			},
			timeout: time.Minute,
			note:    "go vet: left out .: go is not installed",
		},
		{
			name: "no module", why: "a folder of documents",
			prepare: func(t *testing.T) string {
				t.Helper()
				return writeTree(t, map[string]string{"a.md": "# A\n\none\n"})
			},
			timeout: time.Minute,
			note:    "go vet: there is neither a go.work nor a go.mod in the root; its output is not among the candidates",
		},
		{
			name: "no time", why: "a large tree on a slow machine goes on without",
			prepare: func(t *testing.T) string {
				t.Helper()
				needGo(t)
				return writeTree(t, map[string]string{"go.mod": "module m\n\ngo 1.24\n", "m.go": "package m\n"})
			},
			timeout: time.Nanosecond,
			note:    "go vet: stopped in . after 1ns; it and the modules after it are left out",
		},
		{
			name: "not downloaded", why: "a fresh clone: nothing is downloaded for the sake of this output",
			prepare: func(t *testing.T) string {
				t.Helper()
				needGo(t)
				t.Setenv("GOMODCACHE", t.TempDir())
				t.Setenv("GOFLAGS", "-mod=mod")
				return writeTree(t, map[string]string{
					"go.mod": "module example.org/lost\n\ngo 1.24\n\nrequire example.org/far v1.0.0\n",
					"l.go":   "package lost\n\nimport _ \"example.org/far/away\"\n",
				})
			},
			timeout: time.Minute,
			note:    "go vet: left out .: not all it depends on is in the module cache; go mod download gets it",
		},
		{
			name: "broken workspace", why: "the file that names the modules cannot be read",
			prepare: func(t *testing.T) string {
				t.Helper()
				needGo(t)
				return writeTree(t, map[string]string{"go.work": "use ) (\n"})
			},
			timeout: time.Minute,
			note:    "go vet: ",
		},
		{
			name: "broken module", why: "so can the file of a module",
			prepare: func(t *testing.T) string {
				t.Helper()
				needGo(t)
				return writeTree(t, map[string]string{"go.mod": "modul\n", "m.go": "package m\n"})
			},
			timeout: time.Minute,
			note:    "go vet: left out .: ",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := collect(t, tt.prepare(t), Options{VetTimeout: tt.timeout})
			if !slices.ContainsFunc(c.Notes, func(n string) bool { return strings.HasPrefix(n, tt.note) }) {
				t.Errorf("notes %q, want one that begins with %q: %s", c.Notes, tt.note, tt.why)
			}
			for _, it := range c.Items {
				if it.Kind() == cupel.KindToolOutput {
					t.Errorf("there is an output from %q", Origin(it))
				}
			}
		})
	}
}

func TestFindingsAreSorted(t *testing.T) {
	c := &collector{root: "/tree"}
	output := "# m/z\nz/z.go:2:1: second\n\tmore of it\nz/z.go:1:9: first\n" +
		"# m/a\n# [m/a]\nvet: ./a.go:10: no column\nz/z.go:1:9: first\n/tree/m/a.go:9:3: absolute\n" +
		"/elsewhere/x.go:1:1: not of this tree\nwarning: strange\n"
	drafts, rest := c.findings("m", output)
	var got []string
	for _, d := range drafts {
		got = append(got, d.origin+"|"+d.content)
	}
	wantLines(t, "findings", got, []string{
		"go vet m|go vet ./... in m:\nm/a.go:9:3: absolute\nm/a.go:10: no column",
		"go vet m/z|go vet ./... in m:\nm/z/z.go:1:9: first\nm/z/z.go:2:1: second\n\tmore of it",
	})
	if want := "/elsewhere/x.go:1:1: not of this tree\nwarning: strange"; rest != want {
		t.Errorf("rest %q, want %q", rest, want)
	}
}

func TestParseFindingRefuses(t *testing.T) {
	for _, line := range []string{
		"", "go: a.go:1: x", "# a.go:1: x", "a.go", "a.go:", "a.go:1", "a.go:x: y", "a.go:-1: y", "a.go:1:x: y", "a.go:1:-1: y",
		"a.go:99999999999999999999: y",
	} {
		if f, ok := parseFinding("m", line); ok {
			t.Errorf("%q is taken as %+v", line, f)
		}
	}
}

func TestCollectStopsWithItsContext(t *testing.T) {
	root := writeTree(t, map[string]string{"a.md": "# A\n\none\n"})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Collect(ctx, root, Options{}); err == nil {
		t.Error("no error, though the context was done before the start")
	}
}
