package input

import (
	"bytes"
	"cmp"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// SkippedError describes the skipped files, such as "that are links".
type SkippedError string

func (e SkippedError) Error() string { return "it is skipped, as are files " + string(e) }

// The files that are skipped wherever they are.
const (
	errSkippedHidden SkippedError = "that are hidden"
	errSkippedKey    SkippedError = "that hold keys"
	errSkippedLink   SkippedError = "that are links"
	errSkippedOther  SkippedError = "that are not regular files"
	errSkippedLarge  SkippedError = "that are too large"
	errSkippedBinary SkippedError = "that are not text"
)

// keyFiles are the names of files that hold keys and passwords, in small letters.
var keyFiles = []string{
	"*.pem", "*.key", "*.p8", "*.p12", "*.pfx", "*.ppk", "*.jks", "*.keystore", "*.kdbx", "*.gpg", "*.ovpn", "*.env", "*.env.local",
	"*.tfstate", "*.tfstate.*", "*.tfvars", "*.tfvars.json", "id_rsa", "id_dsa", "id_ecdsa", "id_ed25519",
	"credentials", "credentials.json", "credentials.toml", "credentials.y*ml", "secrets.json", "secrets.toml", "secrets.y*ml",
}

// privateKey matches the beginning of a private key: a line, or a member of an
// object in JSON.
var privateKey = regexp.MustCompile(`(?m)^[ \t]*-----BEGIN [A-Z0-9 ]*PRIVATE KEY|"private_key"\s*:\s*"-----BEGIN `)

// ReadText reads a text file below a root. It fails with a [SkippedError] for a file
// that is hidden, holds keys, is reached by a link, is not text, or has more than so
// many bytes.
func ReadText(root *os.Root, name string, most int64) (text string, modified time.Time, err error) {
	if err := skips(root, filepath.ToSlash(name)); err != nil {
		return "", modified, err
	}
	info, err := root.Lstat(name)
	switch {
	case err != nil:
		return "", modified, err
	case !info.Mode().IsRegular(): // a pipe would block
		return "", modified, errSkippedOther
	case info.Size() > most:
		return "", modified, errSkippedLarge
	}
	file, err := root.Open(name)
	if err != nil {
		return "", modified, err
	}
	defer func() { _ = file.Close() }() // nothing was written
	if opened, err := file.Stat(); err != nil || !os.SameFile(info, opened) {
		return "", modified, cmp.Or(err, error(errSkippedOther)) // another file was put in its place
	}
	data, err := io.ReadAll(io.LimitReader(file, most))
	switch {
	case err != nil:
		return "", modified, err
	case !utf8.Valid(data) || bytes.IndexByte(data, 0) >= 0:
		return "", modified, errSkippedBinary
	case bytes.Contains(data, []byte("-----BEGIN ")) && privateKey.Match(data):
		return "", modified, errSkippedKey
	}
	text = strings.TrimPrefix(string(data), "\uFEFF")
	return strings.ReplaceAll(text, "\r\n", "\n"), info.ModTime(), nil
}

// skips fails for a file that must not be read because of its name or a link
// in its path.
func skips(root *os.Root, name string) error {
	base := strings.ToLower(path.Base(name))
	isKey := func(pattern string) bool {
		match, _ := path.Match(pattern, base) // the patterns are valid
		return match
	}
	parts := strings.Split(name, "/")
	switch {
	case Hidden(name):
		return errSkippedHidden
	case slices.ContainsFunc(keyFiles, isKey):
		return errSkippedKey
	}
	for i := range parts {
		info, err := root.Lstat(strings.Join(parts[:i+1], "/"))
		if err == nil && info.Mode()&fs.ModeSymlink != 0 {
			return errSkippedLink
		}
	}
	return nil
}

// Hidden reports whether a path leads to a hidden file.
func Hidden(name string) bool { return slices.ContainsFunc(strings.Split(name, "/"), hidden) }

// hidden reports whether a file or a folder of this name is hidden.
func hidden(name string) bool { return strings.HasPrefix(name, ".") && name != "." && name != ".." }
