package policy

import (
	"fmt"
	"slices"
	"strings"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/strategy"
)

// Problem is one mistake in a policy.
type Problem struct {
	Path   string // the field, such as "scorers[1].curve.halfLife"; "" for the policy as a whole
	Reason string // what is wrong, and what would be right
	Err    error  // the cause, such as a [cupel.InvalidConfigError], or nil
}

// String returns the problem as one line: "scorers[1].weight: Weight must be
// positive, got -1".
func (p Problem) String() string {
	if p.Path == "" {
		return "policy: " + p.Reason
	}
	return p.Path + ": " + p.Reason
}

// ValidationError lists the mistakes in a policy, at most 1,000. [errors.Is]
// matches it with [cupel.ErrInvalidConfig] and with the causes of its problems.
type ValidationError struct {
	// Problems has at least one entry and at most one for each path. They are
	// ordered by path, with numbers by value: "scorers[2]" comes before
	// "scorers[10]".
	Problems []Problem
}

func (e *ValidationError) Error() string {
	const what = "cupel: invalid policy: "
	if len(e.Problems) == 1 {
		return what + e.Problems[0].String()
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s%d problems", what, len(e.Problems))
	for _, p := range e.Problems {
		b.WriteString("\n\t" + p.String())
	}
	return b.String()
}

// Is reports whether target is [cupel.ErrInvalidConfig].
func (e *ValidationError) Is(target error) bool { return target == cupel.ErrInvalidConfig }

// Unwrap returns the causes of the problems that have one.
func (e *ValidationError) Unwrap() []error {
	var causes []error
	for _, p := range e.Problems {
		if p.Err != nil {
			causes = append(causes, p.Err)
		}
	}
	return causes
}

// problems collects mistakes, one for each path.
type problems struct {
	list []Problem
	at   map[string]bool
}

// maxProblems keeps a hostile document from producing an error a hundred times
// its own size.
const maxProblems = 1000

// full reports whether further problems are ignored.
func (p *problems) full() bool { return len(p.list) == maxProblems || p.at[""] }

// add records a problem, unless it may follow from an earlier one.
func (p *problems) add(path, reason string, cause error) {
	if p.full() || p.covers(path) {
		return
	}
	p.at[path] = true
	p.list = append(p.list, Problem{path, reason, cause})
}

// covers reports whether there is a problem at path or above it.
func (p *problems) covers(path string) bool {
	for !p.at[path] {
		if path == "" {
			return false
		}
		path = path[:max(strings.LastIndexAny(path, ".["), 0)]
	}
	return true
}

// err returns a [ValidationError], or nil when there is no problem.
func (p *problems) err() error {
	if len(p.list) == 0 {
		return nil
	}
	slices.SortStableFunc(p.list, func(a, b Problem) int { return strings.Compare(sortKey(a.Path), sortKey(b.Path)) })
	return &ValidationError{p.list}
}

// sortKey returns what orders paths by their text, and numbers in them by value.
func sortKey(path string) string {
	var key []byte
	for path != "" {
		rest := strings.TrimLeft(path, "0123456789")
		if digits := strings.TrimLeft(path[:len(path)-len(rest)], "0"); len(rest) < len(path) {
			key = fmt.Appendf(key, "%09d%s", len(digits), digits)
		} else {
			key, rest = append(key, path[0]), path[1:]
		}
		path = rest
	}
	return string(key)
}

// field returns the path of a field that the format names.
func field(at, name string) string {
	if at == "" {
		return name
	}
	return at + "." + name
}

// unknownField returns the path of a member that the format does not name.
func unknownField(at, name string) string {
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"
	if name != "" && strings.Trim(name, plain) == "" && strategy.Shorten(name) == name {
		return field(at, name)
	}
	return strategy.Key(at, name)
}

// isUnknown returns the reason for an unknown name. It lists the known ones in
// the given order.
func isUnknown(known []string) string {
	if len(known) == 0 {
		return "is unknown; no names are defined here"
	}
	return "is unknown; want one of " + strings.Join(known, ", ")
}
