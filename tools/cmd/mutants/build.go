package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
)

// A pkg is a package with its mutants.
type pkg struct {
	path, dir, name string
	short           string // the path without the repository's prefix
	fset            *token.FileSet
	files           []*file
	importer        types.Importer
	types           *types.Package
	info            *types.Info
	mutants         []*mutant
	discarded       int // mutants that do not compile
}

// A file is one source file of a package.
type file struct {
	name  string
	src   []byte
	ast   *ast.File
	sites []*site
}

type listed struct {
	ImportPath, Dir, Name, Export string
	GoFiles                       []string
	DepOnly, Standard             bool
}

// load reads and checks the packages that the patterns name.
func load(ctx context.Context, root string, patterns []string) ([]*pkg, error) {
	// The three packages are what the added file imports.
	args := append([]string{"list", "-export", "-deps", "-json=ImportPath,Dir,Name,Export,GoFiles,DepOnly,Standard", "os", "strconv", "sync"}, patterns...)
	out, err := goCommand(ctx, root, args...)
	if err != nil {
		return nil, err
	}
	exports := make(map[string]string)
	fset := token.NewFileSet()
	imports := importer.ForCompiler(fset, "gc", func(path string) (io.ReadCloser, error) {
		if exports[path] == "" {
			return nil, fmt.Errorf("no export data of %s", path)
		}
		return os.Open(exports[path])
	})
	var pkgs []*pkg
	for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
		var l listed
		err := decoder.Decode(&l)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		exports[l.ImportPath] = l.Export
		if l.DepOnly || l.Standard || len(l.GoFiles) == 0 {
			continue
		}
		p := &pkg{path: l.ImportPath, dir: l.Dir, name: l.Name, short: l.ImportPath, fset: fset, importer: imports}
		if short, err := filepath.Rel(root, l.Dir); err == nil {
			p.short = filepath.ToSlash(short)
		}
		for _, name := range l.GoFiles {
			src, err := os.ReadFile(filepath.Join(l.Dir, name))
			if err != nil {
				return nil, err
			}
			p.files = append(p.files, &file{name: name, src: src})
		}
		pkgs = append(pkgs, p)
	}
	slices.SortFunc(pkgs, func(a, b *pkg) int { return cmp.Compare(a.path, b.path) })
	for _, p := range pkgs {
		if err := p.prepare(); err != nil {
			return nil, err
		}
	}
	return pkgs, nil
}

// prepare finds the mutants of a package and discards those that do not compile.
func (p *pkg) prepare() error {
	p.info = &types.Info{Types: make(map[ast.Expr]types.TypeAndValue), Defs: make(map[*ast.Ident]types.Object), Uses: make(map[*ast.Ident]types.Object)}
	var trees []*ast.File
	for _, f := range p.files {
		tree, err := parser.ParseFile(p.fset, filepath.Join(p.dir, f.name), f.src, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		f.ast = tree
		trees = append(trees, tree)
	}
	var err error
	config := types.Config{Importer: p.importer}
	if p.types, err = config.Check(p.path, p.fset, trees, p.info); err != nil {
		return err
	}
	p.find()
	if err := p.check(nil); err != nil {
		return fmt.Errorf("%s with no mutant in it: %w", p.path, err)
	}
	good := p.compiling(p.mutants)
	if p.discarded = len(p.mutants) - len(good); p.discarded == 0 {
		return nil
	}
	chosen := set(good)
	for _, f := range p.files {
		for _, s := range f.sites {
			s.mutants = slices.DeleteFunc(s.mutants, func(m *mutant) bool { return !chosen[m] })
		}
	}
	p.number()
	return nil
}

// compiling returns those of the mutants that compile, by halves.
func (p *pkg) compiling(mutants []*mutant) []*mutant {
	if len(mutants) == 0 || p.check(mutants) == nil {
		return mutants
	}
	if len(mutants) == 1 {
		return nil
	}
	half := len(mutants) / 2
	return append(p.compiling(mutants[:half:half]), p.compiling(mutants[half:])...)
}

// check compiles the package with the mutants, as far as its types go.
func (p *pkg) check(mutants []*mutant) error {
	chosen := set(mutants)
	fset := token.NewFileSet()
	var trees []*ast.File
	for _, f := range p.files {
		tree, err := parser.ParseFile(fset, f.name, f.render(chosen), parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		trees = append(trees, tree)
	}
	tree, err := parser.ParseFile(fset, helperName, helperSource(p.name), parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	config := types.Config{Importer: p.importer}
	_, err = config.Check(p.path, fset, append(trees, tree), nil)
	return err
}

func set(mutants []*mutant) map[*mutant]bool {
	chosen := make(map[*mutant]bool, len(mutants))
	for _, m := range mutants {
		chosen[m] = true
	}
	return chosen
}

// sample draws, for each seed, n mutants that are not listed as equivalent, with
// the equivalent ones that come up on the way, and returns all that were drawn in
// the order of the source.
func (p *pkg) sample(seeds []uint64, n int, equivalent map[string]string) []*mutant {
	chosen := make(map[*mutant]bool)
	for _, seed := range seeds {
		var second uint64
		for _, c := range []byte(p.short) {
			second = second*31 + uint64(c)
		}
		left := n
		for _, i := range rand.New(rand.NewPCG(seed, second)).Perm(len(p.mutants)) {
			if left == 0 {
				break
			}
			m := p.mutants[i]
			chosen[m] = true
			if _, ok := equivalent[m.key()]; !ok {
				left--
			}
		}
	}
	var drawn []*mutant
	for _, m := range p.mutants {
		if chosen[m] {
			drawn = append(drawn, m)
		}
	}
	return drawn
}

// helperName is the file that is added to a package; nothing has such a name.
const helperName = "zz_mutants_of_this_package.go"

// overlay writes the package with its mutants into dir, and returns the file
// that makes the go command use it in place of the package.
func (p *pkg) overlay(dir string, mutants []*mutant) (string, error) {
	chosen := set(mutants)
	replace := make(map[string]string)
	for _, f := range p.files {
		name := filepath.Join(dir, f.name)
		if err := os.WriteFile(name, []byte(f.render(chosen)), 0o600); err != nil {
			return "", err
		}
		replace[filepath.Join(p.dir, f.name)] = name
	}
	name := filepath.Join(dir, helperName)
	if err := os.WriteFile(name, []byte(helperSource(p.name)), 0o600); err != nil {
		return "", err
	}
	replace[filepath.Join(p.dir, helperName)] = name
	data, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	name = filepath.Join(dir, "overlay.json")
	return name, os.WriteFile(name, data, 0o600)
}

// goCommand runs the go command in the folder of a workspace or module.
func goCommand(ctx context.Context, dir string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = dir
	work := filepath.Join(dir, "go.work")
	if _, err := os.Stat(work); err != nil {
		work = "off"
	}
	cmd.Env = append(os.Environ(), "GOWORK="+work)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go %s: %w\n%s%s", args[0], err, out, stderr.Bytes())
	}
	return out, nil
}
