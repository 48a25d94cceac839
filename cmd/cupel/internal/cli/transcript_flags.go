package cli

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/wollax/cupel-go/cmd/cupel/internal/input"
	"github.com/wollax/cupel-go/cmd/cupel/internal/terminal"
)

// transcriptFlags are the flags that apply to transcripts only. Every command
// that reads candidates has them.
type transcriptFlags struct {
	noPin bool
	media int

	set *pflag.FlagSet // says whether media is set
}

func (f *transcriptFlags) register(command *cobra.Command) {
	flags := command.Flags()
	f.set = flags
	flags.BoolVar(&f.noPin, "no-pin", false, "pin only the tool definitions of a transcript; not the system prompt or the user's messages")
	intFlag(flags, &f.media, "media-tokens", "", 0, "`tokens` of each image, file or sound (default: an estimate for the API)")
}

// apply copies the flags to the options of a reader.
func (f *transcriptFlags) apply(options *input.Options) error {
	options.NoPin = f.noPin
	if !f.set.Changed("media-tokens") {
		return nil
	}
	if f.media < 0 {
		return usagef("--media-tokens: must be at least 0, got %d", f.media)
	}
	options.MediaTokens = &f.media
	return nil
}

// note prints notes to the user that are not errors.
func note(w io.Writer, notes []string) {
	for _, text := range notes {
		fmt.Fprintf(w, "cupel: note: %s\n", terminal.Safe(text))
	}
}
