package main

import (
	"fmt"
	"go/token"
	"slices"
	"strings"
)

// helpers is the file that is added to a package. The active mutant comes from
// the environment; every package variable whose initial value has a mutant
// depends on it, so that it is read before them. A negative one records, in a
// file, which mutants the tests come by.
const helpers = `package %s

import (
	mutantOS "os"
	mutantText "strconv"
	mutantSync "sync"
)

var (
	mutantActive, mutantFile = mutantStart()
	mutantLock               mutantSync.Mutex
	mutantKnown              map[int]bool
)

func mutantStart() (int, *mutantOS.File) {
	if name := mutantOS.Getenv("MUTANT_RECORD"); name != "" {
		file, err := mutantOS.OpenFile(name, mutantOS.O_APPEND|mutantOS.O_CREATE|mutantOS.O_WRONLY, 0o600)
		if err != nil {
			panic(err)
		}
		return -1, file
	}
	id, _ := mutantText.Atoi(mutantOS.Getenv("MUTANT"))
	return id, nil
}

func mutantSeen(id int) {
	mutantLock.Lock()
	defer mutantLock.Unlock()
	if mutantKnown[id] {
		return
	}
	if mutantKnown == nil {
		mutantKnown = make(map[int]bool)
	}
	mutantKnown[id] = true
	if _, err := mutantFile.WriteString(mutantText.Itoa(id) + "\n"); err != nil {
		panic(err)
	}
}

func mutantOn(id int) bool {
	if mutantActive < 0 {
		mutantSeen(id)
	}
	return mutantActive == id
}

type mutantInteger interface {
	~int | ~int8 | ~int16 | ~int32 | ~int64 | ~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~uintptr
}

type mutantNumber interface{ mutantInteger | ~float32 | ~float64 }

func mutantOne[T mutantNumber](id int) T {
	if mutantOn(id) {
		return 1
	}
	return 0
}
%s`

// helperSource is the source of helpers for a package.
func helperSource(name string) string {
	var b strings.Builder
	for op, other := range swaps {
		constraint, second := "mutantNumber", "T"
		if !slices.Contains(arithmetic, op) {
			constraint = "mutantInteger"
		}
		list := "T " + constraint
		if op == token.SHL || op == token.SHR {
			list, second = list+", N mutantInteger", "N"
		}
		fmt.Fprintf(&b, "\nfunc mutant%s[%s](id int, x T, y %s) T {\n\tif mutantOn(id) {\n\t\treturn x %s y\n\t}\n\treturn x %s y\n}\n",
			functions[op], list, second, other, op)
	}
	return fmt.Sprintf(helpers, name, b.String())
}

// render returns the source of f with the chosen mutants in it, each switched
// off unless its id is the active one.
func (f *file) render(chosen map[*mutant]bool) string {
	r := renderer{src: string(f.src)}
	for _, s := range f.sites {
		var kept []*mutant
		for _, m := range s.mutants {
			if chosen[m] {
				kept = append(kept, m)
			}
		}
		if len(kept) > 0 {
			r.sites = append(r.sites, s)
			r.kept = append(r.kept, kept)
		}
	}
	return r.part(0, len(r.src), 0)
}

type renderer struct {
	src   string
	sites []*site // outer ones before those inside them
	kept  [][]*mutant
}

// part renders a stretch of the source with the sites from the i-th on.
func (r *renderer) part(from, to, i int) string {
	var b strings.Builder
	for ; i < len(r.sites); i++ {
		if s := r.sites[i]; s.from >= from && s.to <= to {
			b.WriteString(r.src[from:s.from])
			b.WriteString(r.site(i))
			from = s.to
		}
	}
	b.WriteString(r.src[from:to])
	return b.String()
}

// site renders one site. What a mutant does is written with the source as it
// was, since no more than one mutant is active.
func (r *renderer) site(i int) string {
	s, kept := r.sites[i], r.kept[i]
	inner := func() string { return r.part(s.from, s.to, i+1) }
	var b strings.Builder
	switch s.shape {
	case condition:
		b.WriteString("(")
		for _, m := range kept {
			fmt.Fprintf(&b, "mutantOn(%d) && (%s) || ", m.id, m.build(m.id))
		}
		for _, m := range kept {
			fmt.Fprintf(&b, "!mutantOn(%d) && ", m.id)
		}
		b.WriteString("(" + inner() + "))")
	case statement:
		for _, m := range kept {
			fmt.Fprintf(&b, "if mutantOn(%d) { %s } else ", m.id, m.build(m.id))
		}
		b.WriteString("{ " + inner() + " }")
	case constant:
		b.WriteString("(" + inner() + " + " + kept[0].build(kept[0].id) + ")")
	case operation:
		b.WriteString(kept[0].build(kept[0].id))
		b.WriteString(r.part(s.x[0], s.x[1], i+1))
		b.WriteString(", ")
		// The operator may be followed by a new line.
		b.WriteString(strings.Repeat("\n", strings.Count(r.src[s.x[1]:s.y[0]], "\n")))
		b.WriteString(r.part(s.y[0], s.y[1], i+1))
		b.WriteString(")")
	}
	return b.String()
}
