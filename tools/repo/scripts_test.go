package repo

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestScriptLint plants faults in scripts that a page joins, and sees that the
// linter of the inspector's scripts finds them in the right file and line.
func TestScriptLint(t *testing.T) {
	tool := filepath.Join(Root(t), "tools", "eslint")
	if _, err := os.Stat(filepath.Join(tool, "node_modules", "eslint")); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal("make lint has not installed ESLint: ", err)
		}
		t.Skip("NOT TESTED: ESLint is not installed; make lint does that where there is npm")
	}
	const first = "'use strict';\n\nfunction shown(n) {\n  return `${n}`;\n}\n"
	for _, tt := range []struct{ second, want, why string }{
		{"'use strict';\n\nshown(1);\n", "", "names of other files are known"},
		{"'use strict';\n\nshow(1);\nshown(2);\n", "b.js:3:1: 'show' is not defined. (no-undef)", "a name is misspelt"},
		{"'use strict';\n", "a.js:3:10: 'shown' is defined but never used. (no-unused-vars)", "nothing calls it in any file"},
		{"'use strict';\n\nshown(1\n", "(syntax)", "it is no script"},
		{"'use strict';\n\nif (shown(1) == 2) shown(3);\n", "b.js:3:14: Expected '===' and instead saw '=='. (eqeqeq)", "of the rules one that asks for style"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			dir := t.TempDir()
			writeFile(t, filepath.Join(dir, "a.js"), first)
			writeFile(t, filepath.Join(dir, "b.js"), tt.second)
			out, err := exec.CommandContext(t.Context(), "node", filepath.Join(tool, "lint.mjs"), dir).CombinedOutput()
			if (err == nil) != (tt.want == "") || !strings.Contains(string(out), tt.want) {
				t.Errorf("error %v, want %q; it prints:\n%s", err, tt.want, out)
			}
		})
	}
}
