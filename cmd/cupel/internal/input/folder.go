package input

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/wollax/cupel-go/cmd/cupel/internal/terminal"
	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/internal/sources"
)

// Folder is the format of a folder of files. Auto never detects it.
const Folder Format = "folder"

// kindCode is the kind of items from source code.
const kindCode cupel.ContextKind = "Code"

// maxFileBytes is the maximum size of a file of a folder.
const maxFileBytes = 1 << 20

// MaxFolderBytes is the maximum of text in a folder.
const MaxFolderBytes = 64 << 20

// ReadFolder reads the text files of a folder and splits them into items, whose
// first line names their origin. In a git repository it skips files that git
// ignores. It skips vendored and test data folders, files larger than 1 MiB, and
// files that [ReadText] skips; notes count the skipped files.
//
// It fails if the folder cannot be read, has no text or more than so many bytes of it,
// if ctx is done, or if the counter fails.
func ReadFolder(ctx context.Context, dir string, counter cupel.TokenCounter, most int) (*Candidates, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }() // nothing was written
	names, err := filesOf(ctx, root)
	if err != nil {
		return nil, err
	}
	r := folderReader{counter: counter, leftOut: make(map[string]int)}
	size := 0
	for _, name := range names {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		text, modified, err := ReadText(root, name, maxFileBytes)
		if err != nil {
			why, ok := errors.AsType[SkippedError](err)
			if !ok {
				why = "that cannot be read"
			}
			r.leftOut[string(why)]++
			continue
		}
		if size += len(text); size > most {
			return nil, fmt.Errorf("the folder has more than %d bytes of text; give one of its subfolders", most)
		}
		if err := r.cut(terminal.Safe(name), text, modified); err != nil {
			return nil, err
		}
	}
	c := &Candidates{Items: r.items, Format: Folder}
	reasons := make([]string, 0, len(r.leftOut))
	for reason, n := range r.leftOut {
		reasons = append(reasons, fmt.Sprintf("%d %s", n, reason))
	}
	if len(reasons) > 0 {
		slices.Sort(reasons)
		c.Notes = []string{"skipped files: " + strings.Join(reasons, ", ")}
	}
	if len(c.Items) == 0 {
		return nil, fmt.Errorf("the folder has no text; %s", strings.Join(append(c.Notes, "hidden, vendored and test data folders are skipped"), "; "))
	}
	return c, nil
}

// filesOf returns the names of the files below a folder, slash-separated and
// sorted: in a git repository those that git does not ignore, otherwise all.
func filesOf(ctx context.Context, root *os.Root) ([]string, error) {
	var names []string
	listed, err := gitFiles(ctx, root.Name())
	if errors.Is(err, errNoAnswer) {
		return nil, err
	}
	if err == nil && len(listed) > 0 {
		for name := range strings.SplitSeq(strings.TrimSuffix(string(listed), "\x00"), "\x00") {
			folders := strings.Split(name, "/")
			if !slices.ContainsFunc(folders[:len(folders)-1], aside) {
				names = append(names, name)
			}
		}
		slices.Sort(names)
		return slices.Compact(names), nil // git lists a file in conflict once per side
	}
	err = fs.WalkDir(root.FS(), ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case name == ".":
			return err
		case err != nil: // skip an unreadable folder, as unreadable files are skipped
			return fs.SkipDir
		case entry.IsDir() && aside(entry.Name()):
			return fs.SkipDir
		case entry.IsDir() && hidden(entry.Name()):
			names = append(names, name) // which is counted
			return fs.SkipDir
		case !entry.IsDir():
			names = append(names, name)
		}
		return ctx.Err()
	})
	return names, err
}

// aside reports whether a folder of this name is skipped: a question about its
// parent is rarely about its files.
func aside(name string) bool {
	return name == ".git" || name == "vendor" || name == "node_modules" || name == "testdata"
}

// gitTime is how long git may take to list files. It waits forever if one of its
// settings files is a pipe.
var gitTime = time.Minute

var errNoAnswer = errors.New("git does not list the files of the folder: look for a pipe named .gitignore in it")

// gitFiles lists the files of a folder with git, in a way that the repository's
// settings cannot make git run other programs.
func gitFiles(ctx context.Context, dir string) ([]byte, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, gitTime, errNoAnswer)
	defer cancel()
	command := exec.CommandContext(ctx, "git", "-c", "core.fsmonitor=false", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	command.Dir = dir
	command.Env = append(slices.DeleteFunc(os.Environ(), func(v string) bool {
		// Git sets variables in hooks that name the hook's repository.
		return strings.HasPrefix(v, "GIT_DIR=") || strings.HasPrefix(v, "GIT_WORK_TREE=") || strings.HasPrefix(v, "GIT_INDEX_FILE=")
	}), "GIT_OPTIONAL_LOCKS=0")
	listed, err := command.Output()
	return listed, cmp.Or(context.Cause(ctx), err)
}

// folderReader gathers items.
type folderReader struct {
	counter cupel.TokenCounter
	items   []*cupel.ContextItem
	leftOut map[string]int // skipped files, by reason
}

// cut adds the parts of a file.
func (r *folderReader) cut(name, text string, modified time.Time) error {
	kind := kindCode
	switch strings.ToLower(path.Ext(name)) {
	case "", ".md", ".markdown", ".txt", ".text", ".rst", ".adoc", ".org", ".csv", ".html":
		kind = cupel.KindDocument
	}
	for _, p := range sources.Cut(name, text) {
		where := strings.TrimSpace(fmt.Sprintf("%s:%d %s", name, p.Line, cmp.Or(p.Symbol, p.Title)))
		// The keys are those that relevance looks for.
		metadata := map[string]any{"path": name, "line": p.Line}
		if p.Symbol != "" {
			metadata["symbol"] = p.Symbol
		}
		if p.Title != "" {
			metadata["title"] = p.Title
		}
		item, err := cupel.NewItemFrom(r.counter, where+"\n"+p.Text, cupel.WithKind(kind), cupel.WithSource(cupel.SourceRAG),
			cupel.WithTimestamp(modified), cupel.WithMetadata(metadata))
		if err != nil {
			return fmt.Errorf("%s: %w", where, err)
		}
		r.items = append(r.items, item)
	}
	return nil
}
