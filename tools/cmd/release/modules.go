package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
	"golang.org/x/mod/sumdb/dirhash"
	"golang.org/x/mod/zip"
)

// A mod is a module of the workspace.
type mod struct {
	path, dir string
	folder    string // below the root, with slashes; empty for the root
	file      *modfile.File
	requires  []*mod // of the same repository, indirect ones too
	forOthers bool   // has packages that other modules may import or install
	required  bool   // by another module of the repository
}

// tag is what git calls a version of the module.
func (m *mod) tag(version string) string {
	if m.folder == "" {
		return version
	}
	return m.folder + "/" + version
}

// sumFile is the name of the module's go.sum.
func (m *mod) sumFile() string { return filepath.Join(m.dir, "go.sum") }

// loadModules returns the modules of go.work in root, each after those that it
// requires.
func loadModules(ctx context.Context, root string) ([]*mod, error) {
	work := []string{"GOWORK=" + filepath.Join(root, "go.work")}
	out, err := command(ctx, root, work, "go", "list", "-m", "-json")
	if err != nil {
		return nil, err
	}
	byPath := make(map[string]*mod)
	var all []*mod
	for decoder := json.NewDecoder(strings.NewReader(out)); ; {
		var listed struct{ Path, Dir, GoMod string }
		if err := decoder.Decode(&listed); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, err
		}
		data, err := os.ReadFile(listed.GoMod)
		if err != nil {
			return nil, err
		}
		file, err := modfile.Parse(listed.GoMod, data, nil)
		if err != nil {
			return nil, err
		}
		folder, err := filepath.Rel(root, listed.Dir)
		if err != nil {
			return nil, err
		}
		m := &mod{path: listed.Path, dir: listed.Dir, folder: filepath.ToSlash(folder), file: file}
		if m.folder == "." {
			m.folder = ""
		}
		if m.forOthers = !strings.HasPrefix(m.folder, "examples/") && !strings.HasPrefix(m.folder, "internal/"); m.forOthers {
			packages, err := command(ctx, m.dir, work, "go", "list", "-f", "{{if .GoFiles}}{{.ImportPath}}{{end}}", "./...")
			if err != nil {
				return nil, err
			}
			m.forOthers = strings.TrimSpace(packages) != ""
		}
		byPath[m.path], all = m, append(all, m)
	}
	for _, m := range all {
		for _, r := range m.file.Require {
			if other := byPath[r.Mod.Path]; other != nil {
				m.requires, other.required = append(m.requires, other), true
			}
		}
	}
	return sorted(all)
}

// sorted returns the modules in an order in which each follows those that it
// requires. Of two that could come next, the one that was listed first does.
func sorted(all []*mod) ([]*mod, error) {
	var order []*mod
	for len(order) < len(all) {
		next := slices.IndexFunc(all, func(m *mod) bool {
			return !slices.Contains(order, m) && !slices.ContainsFunc(m.requires, func(r *mod) bool { return !slices.Contains(order, r) })
		})
		if next < 0 {
			return nil, errors.New("modules require each other in a cycle, so no checksum can be computed first")
		}
		order = append(order, all[next])
	}
	return order, nil
}

// sums returns the go.sum lines for m at the version, as if it were released
// from the revision: the checksums of the archive that a module proxy would
// make.
func (r *release) sums(ctx context.Context, m *mod, revision string) (lines []string, err error) {
	dir, err := os.MkdirTemp("", "release")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	// CreateFromVCS knows no linked work trees, only repositories with a .git of their own.
	repo := filepath.Join(dir, "repo")
	if _, err := git(ctx, r.root, nil, "clone", "--quiet", "--shared", "--no-checkout", r.root, repo); err != nil {
		return nil, err
	}
	archive, err := os.Create(filepath.Join(dir, "archive.zip"))
	if err != nil {
		return nil, err
	}
	err = zip.CreateFromVCS(archive, module.Version{Path: m.path, Version: r.version}, repo, revision, m.folder)
	if err = errors.Join(err, archive.Close()); err != nil {
		return nil, fmt.Errorf("pack %s: %w", m.path, err)
	}
	all, err := dirhash.HashZip(archive.Name(), dirhash.Hash1)
	if err != nil {
		return nil, err
	}
	file, err := dirhash.Hash1([]string{"go.mod"}, func(string) (io.ReadCloser, error) {
		return os.Open(filepath.Join(m.dir, "go.mod"))
	})
	if err != nil {
		return nil, err
	}
	return []string{
		fmt.Sprintf("%s %s %s\n", m.path, r.version, all),
		fmt.Sprintf("%s %s/go.mod %s\n", m.path, r.version, file),
	}, nil
}

// readSums returns the lines of a module's go.sum: those about modules of this
// repository, and the others.
func (r *release) readSums(m *mod) (own, others []string, err error) {
	data, err := os.ReadFile(m.sumFile())
	if err != nil && !os.IsNotExist(err) {
		return nil, nil, err
	}
	for line := range strings.Lines(string(data)) {
		path, _, _ := strings.Cut(line, " ")
		if slices.ContainsFunc(r.modules, func(m *mod) bool { return m.path == path }) {
			own = append(own, line)
		} else {
			others = append(others, line)
		}
	}
	return own, others, nil
}

// prepare writes the version into each go.mod and into go.work, and the
// checksums of the modules of this repository into each go.sum.
func (r *release) prepare(ctx context.Context, w io.Writer) error {
	for _, m := range r.modules {
		for _, other := range m.requires {
			if err := m.file.AddRequire(other.path, r.version); err != nil {
				return err
			}
		}
		data, err := m.file.Format()
		if err != nil {
			return err
		}
		if err := r.write(w, filepath.Join(m.dir, "go.mod"), data); err != nil {
			return err
		}
	}
	work, err := r.readWork()
	if err != nil {
		return err
	}
	for _, replace := range work.Replace {
		for i, token := range replace.Syntax.Token {
			if token == replace.Old.Version {
				replace.Syntax.Token[i] = r.version
			}
		}
	}
	if err := r.write(w, filepath.Join(r.root, "go.work"), modfile.Format(work.Syntax)); err != nil {
		return err
	}

	sums := make(map[*mod][]string)
	for _, m := range r.modules {
		_, lines, err := r.readSums(m)
		if err != nil {
			return err
		}
		for _, other := range m.requires {
			lines = append(lines, sums[other]...)
		}
		slices.Sort(lines)
		if len(lines) > 0 {
			if err := r.write(w, m.sumFile(), []byte(strings.Join(lines, ""))); err != nil {
				return err
			}
		}
		if !m.required {
			continue
		}
		// The archive holds the go.sum that was just written.
		revision, err := r.snapshot(ctx)
		if err != nil {
			return err
		}
		if sums[m], err = r.sums(ctx, m, revision); err != nil {
			return err
		}
	}
	fmt.Fprintln(w, "commit this; then make release checks it")
	return nil
}

// write writes a file that has changed.
func (r *release) write(w io.Writer, name string, data []byte) error {
	if old, err := os.ReadFile(name); err == nil && string(old) == string(data) {
		return nil
	}
	short, err := filepath.Rel(r.root, name)
	if err != nil {
		return err
	}
	fmt.Fprintln(w, "wrote", filepath.ToSlash(short))
	return os.WriteFile(name, data, 0o644)
}

// snapshot returns a revision that holds the work tree, without changing the
// index or any branch.
func (r *release) snapshot(ctx context.Context) (revision string, err error) {
	dir, err := os.MkdirTemp("", "release")
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	index := []string{
		"GIT_INDEX_FILE=" + filepath.Join(dir, "index"),
		"GIT_AUTHOR_NAME=release", "GIT_AUTHOR_EMAIL=release", "GIT_COMMITTER_NAME=release", "GIT_COMMITTER_EMAIL=release",
	}
	var out string
	for _, args := range [][]string{{"read-tree", "HEAD"}, {"add", "--all", "."}, {"write-tree"}} {
		if out, err = git(ctx, r.root, index, args...); err != nil {
			return "", err
		}
	}
	out, err = git(ctx, r.root, index, "commit-tree", "-m", "snapshot", strings.TrimSpace(out))
	return strings.TrimSpace(out), err
}

func (r *release) readWork() (*modfile.WorkFile, error) {
	data, err := os.ReadFile(filepath.Join(r.root, "go.work"))
	if err != nil {
		return nil, err
	}
	return modfile.ParseWork("go.work", data, nil)
}
