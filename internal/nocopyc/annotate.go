package nocopyc

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/nocopythrift/nocopythrift/gen/idl"
	"github.com/nocopythrift/nocopythrift/internal/command"
)

// The characters that GitHub's workflow commands give a meaning, in their text and in properties.
var (
	inText     = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	inProperty = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)

// Annotate writes one of GitHub's workflow commands, which a pull request shows as an annotation
// beside a line of its files. severity is "error" or "warning".
func Annotate(w io.Writer, severity string, at idl.Position, title, message string) error {
	_, err := fmt.Fprintf(w, "::%s file=%s,line=%d,col=%d,title=%s::%s\n", severity,
		command.Printable(inProperty.Replace(filepath.ToSlash(at.Filename))), at.Line, at.Column,
		command.Printable(inProperty.Replace(title)), command.Printable(inText.Replace(message)))
	return err
}

// AnnotateError writes err as Annotate does: errors in .thrift files each beside its line, and any
// other, such as that a folder is missing, without a place.
func AnnotateError(w io.Writer, err error) {
	var list idl.ErrorList
	if !errors.As(err, &list) {
		fmt.Fprintf(w, "::error title=nocopy::%s\n", command.Printable(inText.Replace(err.Error())))
	}
	for _, e := range list {
		Annotate(w, "error", e.Pos, "compile", e.Msg)
	}
}

// report writes err to stderr or, if the format is github, as AnnotateError does, and only so: in
// a log of GitHub's, a line that begins with the name of a file could be a workflow command.
func (t Tool) report(err error, format string, stdout, stderr io.Writer) {
	if format == "github" {
		AnnotateError(stdout, err)
		return
	}
	fmt.Fprintln(stderr, t.plainly(err))
}
