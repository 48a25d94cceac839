package main

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// A mutant is one change of the source of a package.
type mutant struct {
	id       int    // enables it in the test binary
	file     string // base name
	line     int
	function string // T.m of a method; the name of a package variable
	op       string // "boundary"
	text     string // the source that it changes, on one line
	nth      int    // 1 for the first of its kind with this text in the function
	site     *site
	build    func(id int) string // see shape
}

// key identifies a mutant by what it changes, not by its line, so that edits
// elsewhere do not affect it.
func (m *mutant) key() string {
	k := m.file + " " + m.function + "\n" + m.op + ": " + m.text
	if m.nth > 1 {
		k += fmt.Sprintf(" #%d", m.nth)
	}
	return k
}

func (m *mutant) String() string {
	head, change, _ := strings.Cut(m.key(), "\n")
	_, function, _ := strings.Cut(head, " ")
	return fmt.Sprintf("%s:%d %s %s", m.file, m.line, function, change)
}

// A shape is the form in which the source of a site is written together with
// its mutants.
type shape int

const (
	condition shape = iota // build is a boolean expression
	statement              // build is a list of statements
	constant               // build is a call that adds one when the mutant is on
	operation              // build is the head of a call that takes both operands
)

// A site is a piece of source with the mutants that change it.
type site struct {
	file     *file
	from, to int // offsets
	shape    shape
	x, y     [2]int // operands of an operation, offsets
	mutants  []*mutant
}

// finder collects the mutants of one file.
type finder struct {
	*pkg
	file     *file
	function string
	results  []*ast.FuncType
	stack    []ast.Node
	sites    []*site
}

// find lists the mutants of a package in the order of the source. Three kinds of
// constants are left out: those that the language wants constant, strings, and
// the capacity given to make, which changes no result.
func (p *pkg) find() {
	for _, f := range p.files {
		fd := &finder{pkg: p, file: f, function: "-"}
		for _, d := range f.ast.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				fd.function = functionName(d)
				fd.walk(d)
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					if v, ok := spec.(*ast.ValueSpec); ok && d.Tok == token.VAR {
						fd.function = v.Names[0].Name
						fd.walk(v)
					}
				}
			}
		}
		// Outer sites come before those inside them: the walk is in that order.
		slices.SortStableFunc(fd.sites, func(a, b *site) int {
			return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(b.to, a.to))
		})
		f.sites = fd.sites
	}
	p.number()
}

// number lists the mutants of the sites and tells those with equal texts apart.
func (p *pkg) number() {
	p.mutants = nil
	count := make(map[string]int)
	for _, f := range p.files {
		for _, s := range f.sites {
			for _, m := range s.mutants {
				m.nth = 1
				k := m.key()
				count[k]++
				m.nth = count[k]
				m.id = len(p.mutants) + 1
				p.mutants = append(p.mutants, m)
			}
		}
	}
}

func functionName(d *ast.FuncDecl) string {
	if d.Recv == nil || len(d.Recv.List) == 0 {
		return d.Name.Name
	}
	t := d.Recv.List[0].Type
	for {
		switch x := t.(type) {
		case *ast.StarExpr:
			t = x.X
		case *ast.ParenExpr:
			t = x.X
		case *ast.IndexExpr:
			t = x.X
		case *ast.IndexListExpr:
			t = x.X
		case *ast.Ident:
			return x.Name + "." + d.Name.Name
		default:
			return d.Name.Name
		}
	}
}

func (f *finder) walk(root ast.Node) {
	ast.Inspect(root, func(n ast.Node) bool {
		if n == nil {
			last := len(f.stack) - 1
			if _, ok := f.stack[last].(*ast.FuncLit); ok {
				f.results = f.results[:len(f.results)-1]
			}
			f.stack = f.stack[:last]
			return true
		}
		if !f.visit(n) {
			return false
		}
		switch n := n.(type) {
		case *ast.FuncDecl:
			f.results = []*ast.FuncType{n.Type}
		case *ast.FuncLit:
			f.results = append(f.results, n.Type)
		}
		f.stack = append(f.stack, n)
		return true
	})
}

// visit notes the mutants of one node, and says whether to look inside it.
func (f *finder) visit(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.GenDecl:
		return n.Tok == token.VAR
	case *ast.ArrayType, *ast.FuncType, *ast.StructType, *ast.InterfaceType, *ast.MapType, *ast.ChanType:
		return false
	case *ast.IfStmt:
		s := f.site(n.Cond, condition)
		f.expr(s, n.Cond, "if→true", "true")
		f.expr(s, n.Cond, "if→false", "false")
	case *ast.ForStmt:
		if n.Cond != nil {
			f.expr(f.site(n.Cond, condition), n.Cond, "for→false", "false")
		}
	case *ast.AssignStmt, *ast.ExprStmt, *ast.DeferStmt, *ast.GoStmt, *ast.IncDecStmt, *ast.BranchStmt:
		if f.listed(n) {
			f.statement(n.(ast.Stmt))
		}
	case *ast.ReturnStmt:
		if f.listed(n) {
			f.returned(n)
		}
	case ast.Expr:
		return f.expression(n)
	}
	return true
}

// listed says whether n stands in a list of statements, where others may take its
// place.
func (f *finder) listed(n ast.Node) bool {
	switch parent := f.stack[len(f.stack)-1].(type) {
	case *ast.BlockStmt, *ast.CaseClause:
		return true
	case *ast.CommClause:
		return parent.Comm != n
	}
	return false
}

func (f *finder) site(n ast.Node, sh shape) *site {
	s := &site{file: f.file, from: f.offset(n.Pos()), to: f.offset(n.End()), shape: sh}
	f.sites = append(f.sites, s)
	return s
}

func (f *finder) offset(p token.Pos) int { return f.fset.Position(p).Offset }

func (f *finder) source(n ast.Node) string {
	return string(f.file.src[f.offset(n.Pos()):f.offset(n.End())])
}

// add notes a mutant of s that changes n, which is s or a part of it.
func (f *finder) add(s *site, n ast.Node, op string, build func(id int) string) {
	const most = 120
	text := strings.Join(strings.Fields(f.source(n)), " ")
	if r := []rune(text); len(r) > most {
		text = string(r[:most]) + "…"
	}
	s.mutants = append(s.mutants, &mutant{
		file: f.file.name, line: f.fset.Position(n.Pos()).Line, function: f.function,
		op: op, text: text, site: s, build: build,
	})
}

func (f *finder) expr(s *site, n ast.Node, op, source string) {
	f.add(s, n, op, func(int) string { return source })
}

var (
	boundary = map[token.Token]string{token.LSS: "<=", token.LEQ: "<", token.GTR: ">=", token.GEQ: ">"}
	negation = map[token.Token]string{
		token.LSS: ">=", token.LEQ: ">", token.GTR: "<=", token.GEQ: "<", token.EQL: "!=", token.NEQ: "==",
	}
	// swaps has what takes the place of an operator; see the functions in schema.
	swaps = map[token.Token]token.Token{
		token.ADD: token.SUB, token.SUB: token.ADD, token.MUL: token.QUO, token.QUO: token.MUL, token.REM: token.MUL,
		token.AND: token.OR, token.OR: token.AND, token.XOR: token.AND, token.AND_NOT: token.AND,
		token.SHL: token.SHR, token.SHR: token.SHL,
	}
	assignments = map[token.Token]token.Token{
		token.ADD_ASSIGN: token.ADD, token.SUB_ASSIGN: token.SUB, token.MUL_ASSIGN: token.MUL, token.QUO_ASSIGN: token.QUO,
		token.REM_ASSIGN: token.REM, token.AND_ASSIGN: token.AND, token.OR_ASSIGN: token.OR, token.XOR_ASSIGN: token.XOR,
		token.AND_NOT_ASSIGN: token.AND_NOT, token.SHL_ASSIGN: token.SHL, token.SHR_ASSIGN: token.SHR,
	}
	arithmetic = []token.Token{token.ADD, token.SUB, token.MUL, token.QUO}
	functions  = map[token.Token]string{
		token.ADD: "Add", token.SUB: "Sub", token.MUL: "Mul", token.QUO: "Quo", token.REM: "Rem", token.AND: "And",
		token.OR: "Or", token.XOR: "Xor", token.AND_NOT: "AndNot", token.SHL: "Shl", token.SHR: "Shr",
	}
)

func operator(t token.Token) string {
	if slices.Contains(arithmetic, t) {
		return "arithmetic " + t.String()
	}
	return "bits " + t.String()
}

func (f *finder) expression(n ast.Expr) bool {
	tv, ok := f.info.Types[n]
	if !ok {
		return true
	}
	if tv.IsType() {
		return false
	}
	if tv.Value != nil {
		f.constant(n, tv)
		return false
	}
	b, ok := n.(*ast.BinaryExpr)
	if !ok {
		return true
	}
	x, y := f.source(b.X), f.source(b.Y)
	if opposite, ok := negation[b.Op]; ok {
		s := f.site(n, condition)
		if op, ok := boundary[b.Op]; ok {
			f.expr(s, n, "boundary", x+" "+op+" "+y)
		}
		f.expr(s, n, "negate", x+" "+opposite+" "+y)
		return true
	}
	if b.Op == token.LAND || b.Op == token.LOR {
		s := f.site(n, condition)
		f.expr(s, n, "drop left of "+b.Op.String(), y)
		f.expr(s, n, "drop right of "+b.Op.String(), x)
		return true
	}
	if t := f.typeName(tv.Type); t != "" && numeric(tv.Type) {
		if _, ok := swaps[b.Op]; ok {
			s := f.site(n, operation)
			s.x = [2]int{f.offset(b.X.Pos()), f.offset(b.X.End())}
			s.y = [2]int{f.offset(b.Y.Pos()), f.offset(b.Y.End())}
			f.add(s, n, operator(b.Op), func(id int) string {
				return fmt.Sprintf("mutant%s[%s](%d, ", functions[b.Op], t, id)
			})
		}
	}
	return true
}

// numeric says whether every type that t may stand for is a number.
func numeric(t types.Type) bool {
	p, ok := t.(*types.TypeParam)
	if !ok {
		b, ok := t.Underlying().(*types.Basic)
		return ok && b.Info()&(types.IsInteger|types.IsFloat) != 0
	}
	i, ok := p.Constraint().Underlying().(*types.Interface)
	if !ok || i.NumEmbeddeds() != 1 {
		return false
	}
	u, ok := i.EmbeddedType(0).(*types.Union)
	if !ok {
		return numeric(i.EmbeddedType(0))
	}
	for term := range u.Terms() {
		if !numeric(term.Type()) {
			return false
		}
	}
	return true
}

// constant notes the mutant of a constant that is written with a literal.
func (f *finder) constant(n ast.Expr, tv types.TypeAndValue) {
	literal := false
	ast.Inspect(n, func(n ast.Node) bool {
		l, ok := n.(*ast.BasicLit)
		literal = literal || ok && l.Kind != token.STRING
		return true
	})
	t := f.typeName(tv.Type)
	if !literal || t == "" || !numeric(tv.Type) {
		return
	}
	switch parent := f.stack[len(f.stack)-1].(type) {
	case *ast.KeyValueExpr:
		if parent.Key == n {
			return // the language wants those of arrays constant
		}
	case *ast.CallExpr:
		if id, ok := parent.Fun.(*ast.Ident); ok && id.Name == "make" && n == parent.Args[len(parent.Args)-1] {
			if _, slice := f.info.Types[parent.Args[0]].Type.Underlying().(*types.Slice); !slice || len(parent.Args) == 3 {
				return
			}
		}
	}
	f.add(f.site(n, constant), n, "constant +1", func(id int) string { return fmt.Sprintf("mutantOne[%s](%d)", t, id) })
}

// typeName writes a type as the file may write it; it is empty where it cannot.
func (f *finder) typeName(t types.Type) string {
	if b, ok := t.(*types.Basic); ok && b.Info()&types.IsUntyped != 0 {
		t = types.Default(t)
	}
	missing := false
	name := types.TypeString(t, func(p *types.Package) string {
		if p == f.types {
			return ""
		}
		for _, i := range f.file.ast.Imports {
			if strings.Trim(i.Path.Value, "\"") == p.Path() {
				if i.Name != nil {
					return i.Name.Name
				}
				return p.Name()
			}
		}
		missing = true
		return ""
	})
	if missing {
		return ""
	}
	return name
}

func (f *finder) statement(n ast.Stmt) {
	s := f.site(n, statement)
	switch n := n.(type) {
	case *ast.AssignStmt:
		if n.Tok == token.DEFINE || blank(n.Lhs) {
			return
		}
		f.expr(s, n, "remove assignment", "")
		if op, ok := assignments[n.Tok]; ok && numeric(f.info.TypeOf(n.Lhs[0])) {
			f.expr(s, n, "flip "+n.Tok.String(), f.source(n.Lhs[0])+" "+swaps[op].String()+"= "+f.source(n.Rhs[0]))
		}
	case *ast.IncDecStmt:
		f.expr(s, n, "remove assignment", "")
		other := map[token.Token]string{token.INC: "--", token.DEC: "++"}[n.Tok]
		f.expr(s, n, "flip "+n.Tok.String(), f.source(n.X)+other)
	case *ast.ExprStmt:
		call, ok := n.X.(*ast.CallExpr)
		if !ok {
			return // it receives: without it most programs do not end
		}
		if id, panics := call.Fun.(*ast.Ident); panics && id.Name == "panic" {
			return // a function may have to end with it
		}
		f.expr(s, n, "remove call", "")
	case *ast.GoStmt:
		f.expr(s, n, "remove call", "")
	case *ast.DeferStmt:
		f.expr(s, n, "remove defer", "")
	case *ast.BranchStmt:
		if n.Tok == token.BREAK && f.inLoop() {
			f.expr(s, n, "break→continue", strings.Replace(f.source(n), "break", "continue", 1))
		}
	}
}

func blank(list []ast.Expr) bool {
	return !slices.ContainsFunc(list, func(e ast.Expr) bool {
		id, ok := e.(*ast.Ident)
		return !ok || id.Name != "_"
	})
}

// inLoop says whether a continue may stand here.
func (f *finder) inLoop() bool {
	for _, n := range slices.Backward(f.stack) {
		switch n.(type) {
		case *ast.ForStmt, *ast.RangeStmt:
			return true
		case *ast.FuncLit:
			return false
		}
	}
	return false
}

// returned notes a mutant for each result that is not its zero value already.
func (f *finder) returned(n *ast.ReturnStmt) {
	function := f.results[len(f.results)-1]
	if function.Results == nil || len(n.Results) == 0 {
		return
	}
	var kinds []string
	for _, field := range function.Results.List {
		for range max(1, len(field.Names)) {
			kinds = append(kinds, f.source(field.Type))
		}
	}
	s := f.site(n, statement)
	values := make([]string, len(kinds))
	before := ""
	if len(n.Results) == len(kinds) {
		for i, r := range n.Results {
			values[i] = f.source(r)
		}
	} else { // all of them come from one call
		for i := range values {
			values[i] = fmt.Sprintf("mutantResult%d", i)
		}
		before = strings.Join(values, ", ") + " := " + f.source(n.Results[0]) + "; "
	}
	for i, kind := range kinds {
		if before == "" && f.zero(n.Results[i]) {
			continue
		}
		with := slices.Clone(values)
		with[i] = "mutantZero"
		source := before + "var mutantZero " + kind + "; return " + strings.Join(with, ", ")
		if before != "" {
			source = before + "_ = " + values[i] + "; var mutantZero " + kind + "; return " + strings.Join(with, ", ")
		}
		f.expr(s, n, fmt.Sprintf("return zero %d", i), source)
	}
}

// zero says whether e is written as the zero value of its type.
func (f *finder) zero(e ast.Expr) bool {
	tv := f.info.Types[e]
	if tv.IsNil() {
		return true
	}
	if c, ok := e.(*ast.CompositeLit); ok && len(c.Elts) == 0 {
		switch tv.Type.Underlying().(type) {
		case *types.Struct, *types.Array:
			return true
		}
		return false
	}
	if tv.Value == nil {
		return false
	}
	switch tv.Value.ExactString() {
	case "0", "false", `""`:
		return true
	}
	return false
}
