// Command consumer holds a policy with the cupel command, as a project outside
// of the tree would do in its continuous integration.
package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
)

const items = `{"content": "You answer from the handbook.", "tokens": 8, "kind": "SystemPrompt", "pinned": true}
{"content": "Vans: 40 km/h on the yard.", "tokens": 30, "kind": "Document", "futureRelevanceHint": 0.9}
{"content": "Canteen: noon to two.", "tokens": 30, "kind": "Document", "futureRelevanceHint": 0.1}
`

func main() {
	run := func(args ...string) {
		command := exec.Command("go", append([]string{"run", "github.com/wollax/cupel-go/cmd/cupel"}, args...)...)
		command.Stdin = strings.NewReader(items)
		command.Stderr = os.Stderr
		out, err := command.Output()
		var exit *exec.ExitError
		if err != nil && !errors.As(err, &exit) {
			fmt.Println(err)
		}
		fmt.Printf("%s", out)
	}
	run("run", "--items", "-", "--policy", "rag", "--budget", "40")
}
