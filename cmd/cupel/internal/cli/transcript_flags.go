package cli

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/wollax/cupel-go/cmd/cupel/internal/input"
	"github.com/wollax/cupel-go/cmd/cupel/internal/terminal"
)

// transcriptFlags are the flags of every command that reads candidates which
// only matter for transcripts.
type transcriptFlags struct {
	noPin bool
	media int
}

// estimateMedia is the --media-tokens of a user who gives none.
const estimateMedia = -1

func (f *transcriptFlags) register(command *cobra.Command) {
	flags := command.Flags()
	flags.BoolVar(&f.noPin, "no-pin", false, "pin nothing of a transcript but its tool definitions: neither the system prompt nor the user's last message")
	flags.IntVar(&f.media, "media-tokens", estimateMedia, "`tokens` of each image, file or sound of a transcript (default an estimate by the API)")
	flags.Lookup("media-tokens").DefValue = "0" // is not shown: the usage has it in words
}

// apply puts the flags into the options of a reader.
func (f *transcriptFlags) apply(options *input.Options) error {
	options.NoPin = f.noPin
	switch {
	case f.media < estimateMedia:
		return usagef("--media-tokens: must be at least 0, got %d", f.media)
	case f.media > estimateMedia:
		options.MediaTokens = &f.media
	}
	return nil
}

// note tells the user of something that is no error.
func note(w io.Writer, notes []string) {
	for _, text := range notes {
		fmt.Fprintf(w, "cupel: note: %s\n", terminal.Safe(text))
	}
}
