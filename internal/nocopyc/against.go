package nocopyc

import (
	"flag"
	"fmt"
	"io"
	"net/url"
	"os"
	"strconv"
	"strings"

	"github.com/nocopythrift/nocopythrift/gen/audit"
)

// servers returns the part of the help text about servers, and changes the text of -against.
func (t Tool) servers(flags *flag.FlagSet) string {
	if t == Nocopyc {
		return "\n"
	}
	flags.Lookup("against").Usage = "`old` files, instead of the operand OLD, or a bundle, or a server that tells its own"
	return `	nocopyc audit idl -against prod          the IDL of a server, a target of nocopy.yaml
	nocopyc audit idl -against HOST:PORT     the IDL of another server
	nocopyc audit idl -against shop.bundle   a bundle

-against NAME is a target of nocopy.yaml, or else a file or folder, or else a git revision,
or else a server's address. ./NAME is always a folder, refs/heads/NAME a branch.

`
}

// resolve finds out what the value of -against stands for.
func (t Tool) resolve(in *audit.Input, with Auditing, stderr io.Writer) error {
	var all []string
	if with.Target != nil {
		if what := with.Target(in.Old); what != "" {
			all = append(all, what)
		}
	}
	ask := len(all) > 0
	info, err := os.Stat(in.Old)
	isDir, isSocket := err == nil && info.IsDir(), err == nil && info.Mode()&os.ModeSocket != 0
	switch {
	case isDir:
		all = append(all, "a folder")
	case err == nil && !isSocket:
		all = append(all, "a file")
		ask = ask || with.Ask != nil && isBundle(in.Old)
	}
	if in.Old != "" && audit.IsRevision(in.Old, in.New) {
		all = append(all, "a revision of git")
	}
	if len(all) > 1 {
		fmt.Fprintf(stderr, "%s: note: -against %s is taken for %s; it is also %s\n", t.Name, in.Old, all[0], strings.Join(all[1:], " and "))
	}
	if len(all) == 0 && with.Ask != nil {
		ask = isSocket || isAddress(in.Old)
	}
	if !ask {
		in.Loose = isDir
		return nil
	}
	in.Told, err = with.Ask(in.Old)
	return err
}

// isBundle reports whether a path is one of a bundle, which only the tool reads.
func isBundle(name string) bool { return strings.HasSuffix(name, ".bundle") }

// isAddress reports whether a text is like a server's address: HOST:PORT, a URL or unix:PATH.
func isAddress(text string) bool {
	if u, err := url.Parse(text); err == nil && (u.Scheme == "http" || u.Scheme == "https" || u.Scheme == "unix" || u.Scheme == "tcp") {
		return true
	}
	_, err := strconv.ParseUint(text[strings.LastIndexByte(text, ':')+1:], 10, 16)
	return err == nil && strings.Contains(text, ":")
}
