package main

import (
	"context"
	"errors"
	"fmt"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/exp/apidiff"
	"golang.org/x/mod/semver"
	"golang.org/x/tools/go/packages"
)

// checkAPI compares each module with its last release. Candidates such as
// v1.1.0-rc.1 promise nothing and are passed over.
func (r *release) checkAPI(ctx context.Context) (string, error) {
	var reports []string
	var wrong []error
	for _, m := range r.released() {
		versions, err := r.versions(ctx, m)
		if err != nil {
			return "", err
		}
		last := ""
		for _, v := range versions {
			if semver.Prerelease(v) == "" && semver.Compare(v, r.version) < 0 && semver.Compare(v, last) > 0 {
				last = v
			}
		}
		if last == "" {
			reports = append(reports, m.path+": no release before this one")
			continue
		}
		changes, err := r.changes(ctx, m, last)
		if err != nil {
			return "", err
		}
		if len(changes.Changes) == 0 {
			reports = append(reports, fmt.Sprintf("%s: as in %s", m.path, last))
			continue
		}
		reports = append(reports, fmt.Sprintf("%s since %s:\n%s", m.path, last, indent(changes.String())))
		for _, change := range changes.Changes {
			if err := allowed(last, r.version, change.Compatible); err != nil {
				wrong = append(wrong, fmt.Errorf("%s: %w", m.path, err))
				break
			}
		}
	}
	report := strings.Join(reports, "\n")
	if len(wrong) > 0 {
		return "", fmt.Errorf("%s\n%w", report, errors.Join(wrong...))
	}
	return report, nil
}

// allowed reports whether a release may change the API so. A release before
// v1.0.0 may break it in a minor version, as semantic versioning has it.
func allowed(last, version string, compatible bool) error {
	sameMinor := semver.MajorMinor(last) == semver.MajorMinor(version)
	switch {
	case sameMinor:
		return fmt.Errorf("the API differs from %s, so %s must be a new minor version", last, version)
	case !compatible && semver.Major(version) != "v0" && semver.Major(last) == semver.Major(version):
		return fmt.Errorf("the API is not compatible with %s, so %s must be a new major version", last, version)
	}
	return nil
}

// changes returns how a module's API differs from its last release.
func (r *release) changes(ctx context.Context, m *mod, last string) (report apidiff.Report, err error) {
	dir, err := os.MkdirTemp("", "release")
	if err != nil {
		return report, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if _, err := git(ctx, r.root, nil, "-c", "advice.detachedHead=false", "clone", "--quiet", "--shared", "--branch", m.tag(last), r.root, dir); err != nil {
		return report, err
	}
	before, err := loadAPI(ctx, dir, m)
	if err != nil {
		return report, fmt.Errorf("%s %s: %w", m.path, last, err)
	}
	now, err := loadAPI(ctx, r.root, m)
	if err != nil {
		return report, fmt.Errorf("%s: %w", m.path, err)
	}
	return apidiff.ModuleChanges(before, now), nil
}

// loadAPI type-checks the packages of a module that others may import.
func loadAPI(ctx context.Context, root string, m *mod) (*apidiff.Module, error) {
	loaded, err := packages.Load(&packages.Config{
		Context: ctx,
		Mode:    packages.NeedName | packages.NeedTypes | packages.NeedModule,
		Dir:     filepath.Join(root, filepath.FromSlash(m.folder)),
		Env:     append(os.Environ(), "GOWORK="+filepath.Join(root, "go.work")),
		Fset:    token.NewFileSet(),
	}, "./...")
	if err != nil {
		return nil, err
	}
	api := &apidiff.Module{Path: m.path}
	for _, p := range loaded {
		if len(p.Errors) > 0 {
			return nil, p.Errors[0]
		}
		if p.Name != "main" && !isInternal(p.Types) {
			api.Packages = append(api.Packages, p.Types)
		}
	}
	return api, nil
}

func isInternal(p *types.Package) bool {
	return strings.Contains(p.Path()+"/", "/internal/")
}
