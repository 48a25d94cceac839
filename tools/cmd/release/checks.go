package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"golang.org/x/mod/semver"
)

func (r *release) checkClean(ctx context.Context) (string, error) {
	out, err := git(ctx, r.root, nil, "status", "--porcelain")
	if err != nil {
		return "", err
	}
	if out != "" {
		return "", fmt.Errorf("commit or remove these first:\n%s", out)
	}
	return git(ctx, r.root, nil, "log", "-1", "--format=%h %s")
}

func (r *release) checkTags(ctx context.Context) (string, error) {
	var wrong []error
	latest := ""
	for _, m := range r.released() {
		versions, err := r.versions(ctx, m)
		if err != nil {
			return "", err
		}
		for _, v := range versions {
			if v == r.version {
				wrong = append(wrong, fmt.Errorf("%s already exists, and a proxy keeps what it has seen: use a new version", m.tag(v)))
			} else if semver.Compare(v, r.version) > 0 {
				wrong = append(wrong, fmt.Errorf("%s is a later version", m.tag(v)))
			}
			if semver.Compare(v, latest) > 0 {
				latest = v
			}
		}
	}
	if latest == "" {
		latest = "none"
	}
	return "last release: " + latest, errors.Join(wrong...)
}

// versions returns the versions that a module has tags for.
func (r *release) versions(ctx context.Context, m *mod) ([]string, error) {
	prefix := m.tag("")
	out, err := git(ctx, r.root, nil, "tag", "--list", prefix+"v*")
	if err != nil {
		return nil, err
	}
	var versions []string
	for tag := range strings.FieldsSeq(out) {
		if v := strings.TrimPrefix(tag, prefix); semver.IsValid(v) {
			versions = append(versions, v)
		}
	}
	return versions, nil
}

// heading is the first line of a released section of the changelog.
var heading = regexp.MustCompile(`^## \[([^\]]+)\](?: - (.*))?$`)

func (r *release) checkChangelog(context.Context) (string, error) {
	data, err := os.ReadFile(filepath.Join(r.root, "CHANGELOG.md"))
	if err != nil {
		return "", err
	}
	found, entries := false, 0
	inside := false
	for line := range strings.Lines(string(data)) {
		line = strings.TrimRight(line, "\n")
		switch match := heading.FindStringSubmatch(line); {
		case match != nil:
			if inside = "v"+match[1] == r.version; inside {
				found = true
				if _, err := time.Parse(time.DateOnly, match[2]); err != nil {
					return "", fmt.Errorf("the section %q has no date: write ## [%s] - YYYY-MM-DD", line, match[1])
				}
			}
		case strings.HasPrefix(line, "## "):
			inside = false
		case inside && strings.HasPrefix(line, "- "):
			entries++
		}
	}
	switch {
	case !found:
		return "", fmt.Errorf("CHANGELOG.md has no section ## [%s] - YYYY-MM-DD", strings.TrimPrefix(r.version, "v"))
	case entries == 0:
		return "", fmt.Errorf("the section of %s in CHANGELOG.md has no entries", r.version)
	}
	return fmt.Sprintf("%d entries", entries), nil
}

func (r *release) checkVersions(context.Context) (string, error) {
	var wrong []error
	needed := make(map[string]string) // folders that go.work must replace, by path
	for _, m := range r.modules {
		if m.required {
			needed[m.path] = "./" + m.folder
		}
		for _, require := range m.file.Require {
			if slices.ContainsFunc(m.requires, func(o *mod) bool { return o.path == require.Mod.Path }) && require.Mod.Version != r.version {
				wrong = append(wrong, fmt.Errorf("%s requires %s", m.path, require.Mod))
			}
		}
		if len(m.file.Replace) > 0 {
			wrong = append(wrong, fmt.Errorf("the go.mod of %s replaces modules, so that go install refuses its commands", m.path))
		}
	}
	work, err := r.readWork()
	if err != nil {
		return "", err
	}
	for _, replace := range work.Replace {
		folder, ours := needed[replace.Old.Path]
		if !ours {
			continue
		}
		if replace.Old.Version != r.version || filepath.Clean(replace.New.Path) != filepath.Clean(folder) {
			wrong = append(wrong, fmt.Errorf("go.work replaces %s by %s", replace.Old, replace.New.Path))
		}
		delete(needed, replace.Old.Path)
	}
	for path := range needed {
		wrong = append(wrong, fmt.Errorf("go.work does not replace %s %s", path, r.version))
	}
	if len(wrong) > 0 {
		wrong = append(wrong, fmt.Errorf("make release VERSION=%s RELEASE=prepare writes the versions", r.version))
	}
	return "all modules require one another at " + r.version, errors.Join(wrong...)
}

func (r *release) checkSums(ctx context.Context) (string, error) {
	head, err := git(ctx, r.root, nil, "rev-parse", "HEAD")
	if err != nil {
		return "", err
	}
	sums := make(map[*mod][]string)
	for _, m := range r.modules {
		if !m.required {
			continue
		}
		if sums[m], err = r.sums(ctx, m, strings.TrimSpace(head)); err != nil {
			return "", err
		}
	}
	var wrong []error
	checked := 0
	for _, m := range r.modules {
		own, _, err := r.readSums(m)
		if err != nil {
			return "", err
		}
		var want []string
		for _, other := range m.requires {
			want = append(want, sums[other]...)
		}
		slices.Sort(want)
		if slices.Sort(own); !slices.Equal(own, want) {
			wrong = append(wrong, fmt.Errorf("the go.sum of %s does not have the checksums of the archives", m.path))
		}
		checked += len(want)
	}
	if len(wrong) > 0 {
		wrong = append(wrong, fmt.Errorf("make release VERSION=%s RELEASE=prepare writes them", r.version))
	}
	return fmt.Sprintf("%d checksums of %d modules", checked, len(sums)), errors.Join(wrong...)
}
