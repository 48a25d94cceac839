// Command release checks that the repository is ready for a release and creates
// its tags.
//
//	go -C tools run ./cmd/release v0.2.0           # check, and print the tags
//	go -C tools run ./cmd/release -prepare v0.2.0  # write the versions and checksums
//	go -C tools run ./cmd/release -tag v0.2.0      # check, and make the tags
//
// All modules are released together, at one version. It checks that:
//
//   - nothing is uncommitted, and no module has the version already;
//   - CHANGELOG.md has a dated section for the version, with entries;
//   - the modules require one another at the version, go.work replaces exactly
//     that version, and no go.mod replaces anything;
//   - each go.sum has the checksums of the archives that a module proxy makes
//     of the tags;
//   - the version is high enough for how the API differs from the release
//     before: incompatible changes need a new minor version below v1 and a new
//     major version from then on, additions a new minor version.
//
// Each failed check is reported with what to do. The command never pushes.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/semver"
)

func main() {
	os.Exit(run())
}

func run() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	root := flag.String("root", "..", "root of the repository")
	prepare := flag.Bool("prepare", false, "write the versions and checksums without checking")
	tag := flag.Bool("tag", false, "create the tags if all checks pass")
	flag.Parse()
	if flag.NArg() != 1 || *prepare && *tag {
		fmt.Fprintln(os.Stderr, "usage: release [-root DIR] [-prepare | -tag] VERSION")
		return 2
	}
	r, err := load(ctx, *root, flag.Arg(0))
	switch {
	case err != nil:
	case *prepare:
		err = r.prepare(ctx, os.Stdout)
	default:
		err = r.release(ctx, os.Stdout, *tag)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		return 1
	}
	return 0
}

// A release is a version of all modules of a repository.
type release struct {
	root, version string
	modules       []*mod // what a module requires comes before it
}

// load reads the modules of the workspace in root.
func load(ctx context.Context, root, version string) (*release, error) {
	if !semver.IsValid(version) || semver.Canonical(version) != version {
		return nil, fmt.Errorf("%q is not a version of the form v1.2.3 or v1.2.3-rc.1", version)
	}
	root, err := filepath.Abs(root)
	if err != nil {
		return nil, err
	}
	modules, err := loadModules(ctx, root)
	if err != nil {
		return nil, err
	}
	return &release{root: root, version: version, modules: modules}, nil
}

// release makes all checks, reports each that fails, and prints the tags or
// makes them.
func (r *release) release(ctx context.Context, w io.Writer, tag bool) error {
	fmt.Fprintf(w, "release %s\n", r.version)
	failed := 0
	for _, check := range []struct {
		name string
		run  func(context.Context) (string, error)
	}{
		{"work tree", r.checkClean},
		{"tags", r.checkTags},
		{"changelog", r.checkChangelog},
		{"versions", r.checkVersions},
		{"checksums", r.checkSums},
		{"API", r.checkAPI},
	} {
		report, err := check.run(ctx)
		if err != nil {
			failed++
			fmt.Fprintf(w, "\nFAILED %s\n%s\n", check.name, indent(err.Error()))
			continue
		}
		fmt.Fprintf(w, "\nok %s\n%s\n", check.name, indent(report))
	}
	if failed > 0 {
		return fmt.Errorf("%d checks failed, and nothing was tagged", failed)
	}
	if !tag {
		fmt.Fprintln(w, "\nwould make these tags:")
	} else {
		fmt.Fprintln(w, "\nmade these tags, to be pushed with git push --atomic:")
	}
	var made []string
	for _, m := range r.released() {
		name := m.tag(r.version)
		if tag {
			if _, err := git(ctx, r.root, nil, "tag", "--annotate", "--message", m.path+" "+r.version, name); err != nil {
				// All or none: a release with only some tags cannot be
				// repeated.
				if len(made) > 0 {
					_, undo := git(context.WithoutCancel(ctx), r.root, nil, append([]string{"tag", "--delete"}, made...)...)
					err = errors.Join(err, undo)
				}
				return err
			}
			made = append(made, name)
		}
		fmt.Fprintln(w, "  "+name)
	}
	return nil
}

// released returns the modules that get a tag: those that are for others, and
// those that another module requires.
func (r *release) released() []*mod {
	return slices.DeleteFunc(slices.Clone(r.modules), func(m *mod) bool { return !m.forOthers && !m.required })
}

// git runs git in dir and returns its standard output.
func git(ctx context.Context, dir string, env []string, args ...string) (string, error) {
	return command(ctx, dir, env, "git", args...)
}

func command(ctx context.Context, dir string, env []string, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), env...)
	var stdout, stderr strings.Builder
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, stderr.String())
	}
	return stdout.String(), nil
}

func indent(text string) string {
	return "  " + strings.ReplaceAll(strings.TrimRight(text, "\n"), "\n", "\n  ")
}
