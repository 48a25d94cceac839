package repo

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// program is a whole program in a document, and the output that the document shows.
type program struct{ source, output string }

var (
	goGet   = regexp.MustCompile(`(?m)^go (?:mod init|get) .+$`)
	whole   = regexp.MustCompile("(?s)```go\n(package main\n.+?)```\n(?:\n```\n(.*?)```\n)?")
	comment = regexp.MustCompile(`\s+#.*$`)
)

// TestGuides follows each README and guide from an empty folder: it runs the lines go mod
// init and go get as they stand, pastes each whole program, builds it without go mod tidy,
// and runs it where the document shows what it prints.
func TestGuides(t *testing.T) {
	root := Root(t)
	modules := Installable(t, root)
	work := t.TempDir()
	env := consumerEnv(t, root, fillProxy(t, root, filepath.Join(work, "proxy"), modules))
	// The path that a reader tries first must bring all that a program needs.
	dir := filepath.Join(work, "root")
	writeFile(t, filepath.Join(dir, "go.mod"), "module example.com/reader\n")
	Run(t, dir, env, "go", "get", ownPrefix)
	Run(t, dir, env, "go", "list", "-deps", ownPrefix+"/cupelsession", ownPrefix+"/cupelrelevance", ownPrefix+"/cupelrecord")
	followed := 0
	for name := range strings.FieldsSeq(Run(t, root, nil, "git", "ls-files", "*.md")) {
		data, err := os.ReadFile(filepath.Join(root, name))
		require.NoError(t, err)
		text := string(data)
		var programs []program
		for _, found := range whole.FindAllStringSubmatch(text, -1) {
			programs = append(programs, program{found[1], found[2]})
		}
		gets := goGet.FindAllString(text, -1)
		if len(programs) == 0 && len(gets) == 0 {
			continue
		}
		followed++
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if len(gets) == 0 {
				t.Fatal("a program has no line go get that gets what it imports")
			}
			for i, p := range append(programs, program{}) { // the lines alone must work too
				dir := filepath.Join(work, "guides", filepath.FromSlash(name), fmt.Sprint(i))
				writeFile(t, filepath.Join(dir, "README"), name)
				if !strings.HasPrefix(gets[0], "go mod init ") {
					Run(t, dir, env, "go", "mod", "init", "example.com/reader")
				}
				for _, line := range gets {
					Run(t, dir, env, "go", strings.Fields(comment.ReplaceAllString(line, ""))[1:]...)
				}
				if p.source == "" {
					continue
				}
				writeFile(t, filepath.Join(dir, "main.go"), p.source)
				Run(t, dir, env, "go", "vet", ".")
				if p.output == "" {
					continue
				}
				if got := Run(t, dir, env, "go", "run", "."); got != p.output {
					t.Errorf("program %d prints:\n%s\nthe document shows:\n%s", i+1, got, p.output)
				}
			}
		})
	}
	if followed == 0 {
		t.Error("no document was followed")
	}
}
