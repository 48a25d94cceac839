package repocontext

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/wollax/cupel-go/cupel"
)

const (
	gitTimeout     = 30 * time.Second
	maxCommitsRead = 10_000 // for the times of files
	maxCommits     = 500    // that become candidates
	maxChanges     = 20     // files that a commit's text names
)

// history is what git knows about a tree. The zero history knows nothing: no
// time, no commit, and every file belongs.
type history struct {
	times   map[string]time.Time // of the last commit that changed a file
	commits []commit             // newest first
	files   map[string]bool      // tracked, or new and not ignored; nil: not known
	dirs    map[string]bool      // folders of files
}

type commit struct {
	hash    string
	time    time.Time
	message string
	changes []change // by path
}

type change struct {
	status string // A, M, D, T as git has them
	path   string
}

func (h history) hasFile(rel string) bool { return h.files == nil || h.files[rel] }
func (h history) hasDir(rel string) bool  { return h.files == nil || h.dirs[rel] }

// readHistory asks git twice: which files belong to the tree, and what happened
// to them. All paths are relative to root, which may be a folder of a larger
// repository.
func readHistory(ctx context.Context, root string) (history, error) {
	ctx, cancel := context.WithTimeout(ctx, gitTimeout)
	defer cancel()

	listed, err := git(ctx, root, "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	if err != nil {
		return history{}, err
	}
	h := history{times: make(map[string]time.Time), files: make(map[string]bool), dirs: make(map[string]bool)}
	for name := range strings.SplitSeq(listed, "\x00") {
		if name == "" {
			continue
		}
		h.files[name] = true
		for dir := path.Dir(name); dir != "." && !h.dirs[dir]; dir = path.Dir(dir) {
			h.dirs[dir] = true
		}
	}
	if len(h.files) == 0 {
		// A folder that was unpacked inside of another repository, which ignores it.
		return history{}, errors.New("it knows no file here")
	}
	if _, err := git(ctx, root, "rev-parse", "--verify", "--quiet", "HEAD"); err != nil {
		if ctx.Err() != nil {
			return history{}, err
		}
		return h, errors.New("nothing is committed yet")
	}
	log, err := git(ctx, root, "log", "-z", "--raw", "--no-renames", "--relative", "--no-merges", "--no-color",
		"--no-ext-diff", "--no-show-signature", "--encoding=UTF-8", "--max-count="+strconv.Itoa(maxCommitsRead),
		"--format=format:%H%x00%ct%x00%B%x00", "--", ".")
	if err != nil {
		return history{}, err
	}
	for c := range parseLog(log) {
		for _, change := range c.changes {
			if _, ok := h.times[change.path]; !ok {
				h.times[change.path] = c.time
			}
		}
		if len(h.commits) < maxCommits {
			h.commits = append(h.commits, c)
		}
	}
	return h, nil
}

// git runs git in a folder and returns what it prints. Settings of that
// repository cannot make it run programs, ask questions or use the network.
func git(ctx context.Context, root string, args ...string) (string, error) {
	args = append([]string{"--no-pager", "-c", "core.fsmonitor=false", "-c", "log.follow=false", "-c", "log.showRoot=true"}, args...)
	env := slices.DeleteFunc(os.Environ(), func(v string) bool {
		// A hook, for one, has variables that name another repository.
		name, _, _ := strings.Cut(v, "=")
		return slices.Contains([]string{"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_NAMESPACE"}, name)
	})
	env = append(env, "LC_ALL=C", "GIT_OPTIONAL_LOCKS=0", "GIT_TERMINAL_PROMPT=0", "GIT_NO_LAZY_FETCH=1")
	stdout, stderr, err := command(ctx, root, env, "git", args...)
	if err != nil {
		return "", fmt.Errorf("%s", firstLineOr(stderr, err))
	}
	return stdout, nil
}

// parseLog reads the output of git log -z --raw with the format of
// [readHistory]: for each commit three fields, and for each file that it
// changed a field that begins with a colon and one with the path. An empty field
// is between two commits. Output that ends early gives what was complete.
func parseLog(log string) func(yield func(commit) bool) {
	fields := strings.Split(log, "\x00")
	next := func() (string, bool) {
		if len(fields) == 0 {
			return "", false
		}
		field := fields[0]
		fields = fields[1:]
		return field, true
	}
	return func(yield func(commit) bool) {
		for {
			hash, _ := next()
			stamp, _ := next()
			message, ok := next()
			seconds, err := strconv.ParseInt(stamp, 10, 64)
			if !ok || err != nil {
				return
			}
			c := commit{hash: hash, time: time.Unix(seconds, 0).UTC(), message: strings.TrimSpace(message)}
			for {
				raw, ok := next()
				raw = strings.TrimPrefix(raw, "\n")
				if !ok || !strings.HasPrefix(raw, ":") {
					break
				}
				name, _ := next()
				if name == "" {
					break
				}
				c.changes = append(c.changes, change{raw[strings.LastIndexByte(raw, ' ')+1:], name})
			}
			slices.SortFunc(c.changes, func(a, b change) int { return strings.Compare(a.path, b.path) })
			if !yield(c) {
				return
			}
		}
	}
}

// draft is the commit as a candidate: a memory of what was done and why.
func (c commit) draft() draft {
	message := strings.ToValidUTF8(c.message, "\uFFFD")
	subject, _, _ := strings.Cut(message, "\n")
	subject = shorten(subject)

	var b strings.Builder
	if message != "" {
		fmt.Fprintf(&b, "%s\n\n", message)
	}
	var dirs []string
	for i, change := range c.changes {
		name := printable(change.path)
		if i < maxChanges {
			fmt.Fprintf(&b, "%s %s\n", change.status, name)
		}
		if dir := folder(name); !slices.Contains(dirs, dir) && len(dirs) < maxTags/2 {
			dirs = append(dirs, dir)
		}
	}
	if more := len(c.changes) - maxChanges; more > 0 {
		fmt.Fprintf(&b, "and %d more files\n", more)
	}
	return draft{
		kind: cupel.KindMemory, source: cupel.SourceTool, file: "commit",
		origin:   fmt.Sprintf("commit %s of %s", c.hash[:min(len(c.hash), 12)], c.time.Format(time.DateOnly)),
		content:  strings.TrimSpace(b.String()),
		time:     c.time,
		tags:     append(topics(subject), dirs...),
		mentions: namesIn(message),
	}
}
