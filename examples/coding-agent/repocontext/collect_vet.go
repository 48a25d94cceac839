package repocontext

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/wollax/cupel-go/cupel"
)

// vet runs go vet over the tree's modules and makes drafts of what it says: one
// for each folder that it complains about, one for each module that it is
// content with.
func (c *collector) vet(ctx context.Context, timeout time.Duration) {
	modules, err := modulesOf(ctx, c.root)
	if err != nil {
		c.note("go vet: %v; its output is not among the candidates", err)
		return
	}
	work := "off"
	if exists(filepath.Join(c.root, "go.work")) {
		work = filepath.Join(c.root, "go.work")
	}
	// What another workspace says does not hold here. Nothing is downloaded: a
	// module whose dependencies are not there is left out.
	env := append(os.Environ(), "GOWORK="+work, "GOPROXY=off", "GOTOOLCHAIN=local", "LC_ALL=C")

	c.progress(fmt.Sprintf("running go vet over %d %s, at most %v", len(modules), plural(len(modules), "module"), timeout))
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	for _, module := range modules {
		_, stderr, err := command(ctx, filepath.Join(c.root, filepath.FromSlash(module)), env, "go", "vet", "./...")
		if ctx.Err() != nil {
			c.note("go vet: stopped in %s after %v; it and the modules after it are left out", module, timeout)
			return
		}
		findings, rest := c.findings(module, stderr)
		c.drafts = append(c.drafts, findings...)
		switch {
		case strings.Contains(rest, offline):
			c.note("go vet: left out %s: not all it depends on is in the module cache; go mod download gets it", module)
		case len(findings) > 0:
		case err != nil:
			c.note("go vet: left out %s: %s", module, firstLineOr(rest, err))
		default:
			c.drafts = append(c.drafts, c.vetDraft(module, module, "go vet ./... in "+module+": no findings", priorityInternal))
		}
	}
}

// offline is how the go command says that it would have to download.
const offline = "module lookup disabled by GOPROXY=off"

func exists(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}

// modulesOf returns the folders of the modules of root's workspace that are in
// root, or "." when root is a module by itself.
func modulesOf(ctx context.Context, root string) ([]string, error) {
	if !exists(filepath.Join(root, "go.work")) {
		if !exists(filepath.Join(root, "go.mod")) {
			return nil, fmt.Errorf("there is neither a go.work nor a go.mod in the root")
		}
		return []string{"."}, nil
	}
	stdout, stderr, err := command(ctx, root, append(os.Environ(), "GOTOOLCHAIN=local", "LC_ALL=C"), "go", "work", "edit", "-json", "go.work")
	if err != nil {
		return nil, fmt.Errorf("%s", firstLineOr(stderr, err))
	}
	var workspace struct {
		Use []struct{ DiskPath string }
	}
	if err := json.Unmarshal([]byte(stdout), &workspace); err != nil {
		return nil, fmt.Errorf("go work edit -json: %w", err)
	}
	var modules []string
	for _, use := range workspace.Use {
		dir := filepath.FromSlash(use.DiskPath)
		if filepath.IsLocal(dir) && exists(filepath.Join(root, dir)) {
			modules = append(modules, filepath.ToSlash(filepath.Clean(dir)))
		}
	}
	slices.Sort(modules)
	return slices.Compact(modules), nil
}

// findings makes a draft for each folder that go vet has findings in, and
// returns the lines that are no findings. The go command runs in parallel and
// prints in the order of completion, so everything is sorted.
func (c *collector) findings(module, output string) (drafts []draft, rest string) {
	byDir := make(map[string][]finding)
	var last *finding
	var others []string
	for line := range strings.Lines(output) {
		line = strings.TrimRight(strings.ToValidUTF8(line, "\uFFFD"), "\r\n")
		f, ok := parseFinding(module, line)
		f.file = strings.TrimPrefix(f.file, filepath.ToSlash(c.root)+"/")
		switch {
		case ok && !path.IsAbs(f.file) && !strings.HasSuffix(f.text, offline):
			dir := path.Dir(f.file)
			byDir[dir] = append(byDir[dir], f)
			last = &byDir[dir][len(byDir[dir])-1]
		case last != nil && (strings.HasPrefix(line, "\t") || strings.HasPrefix(line, " ")):
			last.text += "\n" + line
		case !strings.HasPrefix(line, "#") && line != "":
			others = append(others, line)
			last = nil
		}
	}
	for dir, list := range byDir {
		slices.SortFunc(list, compareFindings)
		lines := []string{"go vet ./... in " + module + ":"}
		for _, f := range slices.CompactFunc(list, func(a, b finding) bool { return a == b }) {
			lines = append(lines, fmt.Sprintf("%s:%s %s", printable(f.file), f.position(), f.text))
		}
		drafts = append(drafts, c.vetDraft(module, printable(dir), strings.Join(lines, "\n"), priorityFinding))
	}
	slices.SortFunc(drafts, func(a, b draft) int { return strings.Compare(a.origin, b.origin) })
	return drafts, strings.Join(others, "\n")
}

// vetDraft is a message of go vet about a folder. It is as new as the tree.
func (c *collector) vetDraft(module, dir, text string, priority int) draft {
	d := draft{
		kind: cupel.KindToolOutput, source: cupel.SourceTool, file: "vet",
		origin:   "go vet " + dir,
		content:  text,
		time:     c.newest,
		priority: priority,
		tags:     []string{"vet", module},
		mentions: make(map[string]int),
	}
	if dir != module {
		d.tags = []string{"vet", dir, module}
	}
	eachWord(text, func(word string, _ bool) {
		if len(word) >= minMention {
			d.mentions[word]++
		}
	})
	return d
}

// finding is one complaint of go vet.
type finding struct {
	file         string // relative to the root when the file is below it
	line, column int    // column 0: not known
	text         string
}

func (f finding) position() string {
	if f.column == 0 {
		return strconv.Itoa(f.line) + ":"
	}
	return fmt.Sprintf("%d:%d:", f.line, f.column)
}

func compareFindings(a, b finding) int {
	if c := strings.Compare(a.file, b.file); c != 0 {
		return c
	}
	if c := a.line - b.line; c != 0 {
		return c
	}
	if c := a.column - b.column; c != 0 {
		return c
	}
	return strings.Compare(a.text, b.text)
}

// parseFinding reads a line "file:line:column: text", which begins with "vet: "
// when the file does not compile. The path is relative to the module's folder.
func parseFinding(module, line string) (finding, bool) {
	line = strings.TrimPrefix(line, "vet: ")
	i := strings.Index(line, ".go:")
	if i < 0 || strings.HasPrefix(line, "go: ") || strings.HasPrefix(line, "#") {
		return finding{}, false
	}
	f := finding{file: filepath.ToSlash(line[:i+len(".go")])}
	place, text, ok := strings.Cut(line[i+len(".go:"):], ": ")
	if !ok {
		return finding{}, false
	}
	number, column, hasColumn := strings.Cut(place, ":")
	var err error
	if f.line, err = strconv.Atoi(number); err != nil || f.line < 0 {
		return finding{}, false
	}
	if hasColumn {
		if f.column, err = strconv.Atoi(column); err != nil || f.column < 0 {
			return finding{}, false
		}
	}
	if !path.IsAbs(f.file) && !filepath.IsAbs(filepath.FromSlash(f.file)) {
		f.file = path.Join(module, f.file)
	}
	f.text = text
	return f, true
}
