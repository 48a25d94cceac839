// Package repocontext turns a source tree into candidates for the context of a
// coding agent, and says how to choose among them.
//
// [Collect] reads a folder and returns one item for each
//
//   - top-level declaration of a Go file, with its doc comment, and each package
//     comment (kind [KindCode], source Rag);
//   - section of a Markdown file, cut at headings (kind Document, source Rag);
//   - commit, with its message and the files that it changed (kind Memory,
//     source Tool), when git is there;
//   - package that go vet complains about, or module that it is content with
//     (kind ToolOutput, source Tool), when go is there.
//
// Git and go are optional, and odd files are expected: what cannot be read or
// used is left out, and [Candidates.Notes] says so. Nothing is downloaded and
// nothing is written.
//
// # What the items carry
//
// Timestamps are commit times where git knows the file, and modification times
// otherwise. Token counts are those of the text as [Frame] and the content put
// it into a prompt, bytes by four unless the caller counts better.
//
// Tags are folders, the names that an item declares, and the names of other
// declarations that it mentions. They are meant to tell items apart: a
// FrequencyScorer finds what is connected with much. So what most items would
// share, such as the file's type, is metadata and not a tag, and so are names
// that are mentioned nearly everywhere.
//
// Metadata have the file ("path"), the name that is declared ("symbol") and the
// heading of a section ("title"), under the keys that package cupelrelevance looks
// for: items of a file belong together, and a question may name any of these.
package repocontext
