package cli

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/wollax/cupel-go/cupel/policy"
)

// defaultsFile is the file of defaults for a repository, in the working directory.
const defaultsFile = "cupel.toml"

// defaults are the settings that the file may have. It names no programs and no
// servers, since it may come with another person's repository.
type defaults struct {
	Policy  string   `toml:"policy"`
	Budget  string   `toml:"budget"`
	Counter string   `toml:"counter"`
	Pins    []string `toml:"pins"` // rules for messages of conversations, without the word keep
}

// useDefaults sets the flags that the command line does not set from the file of defaults,
// and names the file. Files of checks have their own settings, and measurements have
// several policies.
func useDefaults(env *Environment, command *cobra.Command) error {
	flags := command.Flags()
	_, err := os.Lstat(defaultsFile)
	if errors.Is(err, os.ErrNotExist) || flags.Lookup("policy") == nil || flags.Lookup("lint") != nil || flags.Lookup("data") != nil {
		return nil
	}
	file, err := readDefaults(env)
	if err != nil {
		return usagef("%s: %w", defaultsFile, err)
	}
	var used []string
	set := func(flag, value string) {
		if known := flags.Lookup(flag); value == "" || known == nil || known.Changed || err != nil {
			return
		}
		if err = flags.Set(flag, value); err != nil {
			err = usagef("%s: %w", defaultsFile, err)
			return
		}
		used = append(used, flag+" "+value)
	}
	set("policy", file.Policy)
	set("budget", file.Budget)
	set("encoding", file.Counter)
	for _, pin := range file.Pins {
		env.pins = append(env.pins, "keep "+pin)
		used = append(used, "pin "+pin)
	}
	if len(used) > 0 && err == nil {
		note(env, defaultsFile+" sets "+strings.Join(used, ", "))
	}
	return err
}

// readDefaults reads the file of defaults, and a policy only below its folder. The file
// may be a link in another person's repository, and an error would quote its target.
func readDefaults(env *Environment) (file defaults, err error) {
	folder, err := os.OpenRoot(".")
	if err != nil {
		return file, err
	}
	defer func() { _ = folder.Close() }() // nothing was written
	if info, err := folder.Stat(defaultsFile); err != nil || !info.Mode().IsRegular() {
		return file, cmp.Or(err, errors.New("want a regular file")) // a pipe would block
	}
	text, err := readFile(env, defaultsFile, policy.MaxBytes)
	if err != nil {
		return file, err
	}
	if err = decodeTOML(text, &file); err != nil {
		err = fmt.Errorf("%w; it may set policy, budget, counter and pins", err)
	}
	if err == nil && file.Policy == "-" {
		err = errors.New("policy: want a preset, or a file below this folder")
	}
	if err != nil || !isPolicyFile(file.Policy) {
		return file, err
	}
	if _, err = folder.Stat(file.Policy); err != nil {
		err = fmt.Errorf("policy: want a file below this folder: %w", err)
	}
	return file, err
}
