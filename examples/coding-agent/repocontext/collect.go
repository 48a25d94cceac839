package repocontext

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/wollax/cupel-go/cupel"
)

// Bounds that keep a tree of any size from using up memory and time.
const (
	maxFileBytes = 1 << 20  // a larger file is data or generated
	maxTreeBytes = 64 << 20 // in all files together
	maxFiles     = 20_000
)

// Options are the settings of [Collect]. The zero value is ready.
type Options struct {
	// CountTokens counts the tokens of a text. nil means bytes by four, rounded up.
	CountTokens func(text string) int
	// VetTimeout is how long go vet may take for all modules together. 0 or less
	// means that it does not run.
	VetTimeout time.Duration
	// Progress is told what takes long before it is done. nil means that nobody
	// wants to know.
	Progress func(message string)
}

// Candidates are what a tree has to offer for a context window.
type Candidates struct {
	// Items are in the order of the tree: files by path and place in the file,
	// commits from the newest, the output of go vet.
	Items []*cupel.ContextItem
	// Notes say what was left out and why, a line each.
	Notes []string
}

// Collect reads the tree under root. Same tree, same items in the same order,
// as long as git and go are there or are not.
//
// It fails when root is not a folder that can be read, and when ctx is done;
// whatever else goes wrong is a note.
func Collect(ctx context.Context, root string, opts Options) (*Candidates, error) {
	root, err := filepath.Abs(root)
	if err == nil {
		root, err = filepath.EvalSymlinks(root)
	}
	if err != nil {
		return nil, err
	}
	if _, err := os.ReadDir(root); err != nil {
		return nil, err
	}
	c := &collector{root: root, progress: opts.Progress}
	if c.progress == nil {
		c.progress = func(string) {}
	}
	c.history, err = readHistory(ctx, root)
	if err != nil {
		c.note("git: %v; there are no commits among the candidates, and times are those of the files", err)
	}
	if err := c.walk(ctx); err != nil {
		return nil, err
	}
	for _, commit := range c.history.commits {
		c.drafts = append(c.drafts, commit.draft())
	}
	if opts.VetTimeout > 0 {
		c.vet(ctx, opts.VetTimeout)
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	items, err := finish(c.drafts, counter(opts.CountTokens))
	if err != nil {
		return nil, err
	}
	return &Candidates{Items: items, Notes: append(c.notes, c.leftOut.notes()...)}, nil
}

// FindRoot returns the folder that dir belongs to: the nearest one, from dir
// upwards, that holds a go.work file or a git repository; if there is none, the
// nearest with a go.mod; if there is none, dir itself.
func FindRoot(dir string) string {
	start, err := filepath.Abs(dir)
	if err != nil {
		return dir
	}
	module := ""
	for at := start; ; at = filepath.Dir(at) {
		exists := func(name string) bool {
			_, err := os.Stat(filepath.Join(at, name))
			return err == nil
		}
		if exists("go.work") || exists(".git") {
			return at
		}
		if module == "" && exists("go.mod") {
			module = at
		}
		if at == filepath.Dir(at) {
			break
		}
	}
	if module != "" {
		return module
	}
	return dir
}

// collector gathers drafts and what to say about the rest.
type collector struct {
	root     string
	history  history
	progress func(string)
	drafts   []draft
	newest   time.Time // of all files
	files    int
	bytes    int64
	notes    []string
	leftOut  omissions
}

func (c *collector) note(format string, args ...any) {
	c.notes = append(c.notes, fmt.Sprintf(format, args...))
}

// walk collects from every file, in the order of the alphabet in each folder.
func (c *collector) walk(ctx context.Context) error {
	return filepath.WalkDir(c.root, func(name string, entry fs.DirEntry, err error) error {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		rel, relErr := filepath.Rel(c.root, name)
		if err != nil || relErr != nil {
			c.leftOut.add("cannot be read", rel)
			return nil //nolint:nilerr // a folder that cannot be read is left out, and a note says so
		}
		rel = filepath.ToSlash(rel)
		if entry.IsDir() {
			return c.enter(rel, entry.Name())
		}
		c.file(name, rel, entry)
		return nil
	})
}

func (c *collector) enter(rel, name string) error {
	switch {
	case rel == ".":
		return nil
	case name == ".git":
		return fs.SkipDir
	case name[0] == '.' || name[0] == '_' || name == "testdata" || name == "vendor" || name == "node_modules":
		c.leftOut.add("in a folder that is hidden, test data or vendored", rel+"/")
		return fs.SkipDir
	case !c.history.hasDir(rel):
		c.leftOut.add("ignored by git", rel+"/")
		return fs.SkipDir
	}
	return nil
}

func (c *collector) file(name, rel string, entry fs.DirEntry) {
	extension := strings.ToLower(path.Ext(rel))
	markdown := extension == ".md" || extension == ".markdown"
	switch {
	case entry.Type()&fs.ModeSymlink != 0:
		c.leftOut.add("a symbolic link, which is not followed", rel)
		return
	case !entry.Type().IsRegular():
		c.leftOut.add("not a regular file", rel)
		return
	case !markdown && extension != ".go":
		c.leftOut.add("neither Go nor Markdown", rel)
		return
	case !c.history.hasFile(rel):
		c.leftOut.add("ignored by git", rel)
		return
	case c.files >= maxFiles:
		c.leftOut.add(fmt.Sprintf("beyond the first %d", maxFiles), rel)
		return
	}
	content, modified, problem := readFile(name)
	if problem == "" && c.bytes+int64(len(content)) > maxTreeBytes {
		problem = fmt.Sprintf("beyond the first %d MiB", maxTreeBytes>>20)
	}
	if problem != "" {
		c.leftOut.add(problem, rel)
		return
	}
	c.files++
	c.bytes += int64(len(content))

	when, ok := c.history.times[rel]
	if !ok {
		when = modified
	}
	if when.After(c.newest) {
		c.newest = when
	}
	f := sourceFile{path: printable(rel), content: content, time: when}
	if markdown {
		c.drafts = append(c.drafts, f.sections()...)
		return
	}
	declarations, err := f.declarations()
	if err != nil {
		c.note("%s does not parse and is taken as a whole: %v", f.path, err)
	}
	c.drafts = append(c.drafts, declarations...)
}

// sourceFile is a file that candidates are cut out of.
type sourceFile struct {
	path    string // relative to the root, with slashes, valid UTF-8
	content []byte
	time    time.Time
}

// dir is the tag of the file's folder; the root has none.
func (f sourceFile) dir() string { return folder(f.path) }

func folder(name string) string {
	if dir := path.Dir(name); dir != "." {
		return dir
	}
	return ""
}

// readFile returns a file's content and modification time, or what is wrong
// with it.
func readFile(name string) (content []byte, modified time.Time, problem string) {
	const unreadable = "cannot be read"
	f, err := os.Open(name)
	if err != nil {
		return nil, time.Time{}, unreadable
	}
	defer func() { _ = f.Close() }() // nothing was written
	info, err := f.Stat()
	if err != nil {
		return nil, time.Time{}, unreadable
	}
	content, err = io.ReadAll(io.LimitReader(f, maxFileBytes+1))
	switch {
	case err != nil:
		return nil, time.Time{}, unreadable
	case len(content) > maxFileBytes:
		return nil, time.Time{}, fmt.Sprintf("larger than %d MiB", maxFileBytes>>20)
	case bytes.IndexByte(content, 0) >= 0:
		return nil, time.Time{}, "binary, to judge by its zero bytes"
	case len(bytes.TrimSpace(content)) == 0:
		return nil, time.Time{}, "empty"
	}
	return content, info.ModTime(), ""
}

// printable makes a name fit for one line of text.
func printable(name string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7F {
			return '\uFFFD'
		}
		return r
	}, strings.ToValidUTF8(name, "\uFFFD"))
}

// omissions counts what is left out, by reason.
type omissions struct {
	byReason map[string]*omission
}

type omission struct {
	count int
	first string
}

func (o *omissions) add(reason, name string) {
	if o.byReason == nil {
		o.byReason = make(map[string]*omission)
	}
	if o.byReason[reason] == nil {
		o.byReason[reason] = &omission{first: printable(name)}
	}
	o.byReason[reason].count++
}

func (o *omissions) notes() []string {
	var notes []string
	for reason, left := range o.byReason {
		if left.count == 1 {
			notes = append(notes, fmt.Sprintf("left out %s: %s", left.first, reason))
		} else {
			notes = append(notes, fmt.Sprintf("left out %s and %d more: %s", left.first, left.count-1, reason))
		}
	}
	slices.Sort(notes)
	return notes
}
