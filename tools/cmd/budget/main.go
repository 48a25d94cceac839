// Command budget counts the Go tokens of files and fails above a limit:
//
//	git ls-files 'cupel/*.go' | go run ./cmd/budget -code 99000 -tests 210000
//
// It counts what go/scanner finds, without comments and automatic semicolons. A
// string literal of more than 80 bytes counts a token for every four bytes, so that
// data do not hide in strings. Generated files are left out.
package main

import (
	"bufio"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"io"
	"os"
	"strings"
)

func main() {
	code := flag.Int("code", 0, "the most tokens in code; 0 for no limit")
	tests := flag.Int("tests", 0, "the most tokens in tests; 0 for no limit")
	flag.Parse()
	if err := run(os.Stdin, os.Stdout, *code, *tests); err != nil {
		fmt.Fprintln(os.Stderr, "budget:", err)
		os.Exit(1)
	}
}

func run(names io.Reader, out io.Writer, mostCode, mostTests int) error {
	code, tests := 0, 0
	lines := bufio.NewScanner(names)
	for lines.Scan() {
		src, err := os.ReadFile(lines.Text())
		if err != nil {
			return err
		}
		n, err := tokens(src)
		switch {
		case err != nil:
			return fmt.Errorf("%s: %w", lines.Text(), err)
		case strings.HasSuffix(lines.Text(), "_test.go"):
			tests += n
		default:
			code += n
		}
	}
	fmt.Fprintf(out, "%d tokens of code, %d of tests\n", code, tests)
	switch {
	case lines.Err() != nil:
		return lines.Err()
	case code == 0:
		return fmt.Errorf("no code was named: pipe the names of Go files in")
	case mostCode > 0 && code > mostCode:
		return fmt.Errorf("%d tokens of code, the budget is %d: say what the new code replaces, and delete that", code, mostCode)
	case mostTests > 0 && tests > mostTests:
		return fmt.Errorf("%d tokens of tests, the budget is %d: delete tests that fail for the same fault as others", tests, mostTests)
	}
	return nil
}

// tokens counts the tokens of a file; a generated one has none.
func tokens(src []byte) (n int, err error) {
	files := token.NewFileSet()
	parsed, err := parser.ParseFile(files, "", src, parser.PackageClauseOnly|parser.ParseComments)
	if err != nil || ast.IsGenerated(parsed) {
		return 0, err
	}
	var s scanner.Scanner
	s.Init(files.AddFile("", -1, len(src)), src, nil, 0)
	for {
		_, kind, text := s.Scan()
		switch {
		case kind == token.EOF:
			return n, nil
		case kind == token.SEMICOLON && text == "\n":
		case kind == token.STRING && len(text) > 80:
			n += len(text) / 4
		default:
			n++
		}
	}
}
