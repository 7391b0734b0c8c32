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

// AnnotateErrors writes the errors in .thrift files as Annotate does, if err consists of such.
func AnnotateErrors(w io.Writer, err error) {
	var list idl.ErrorList
	if errors.As(err, &list) {
		for _, e := range list {
			Annotate(w, "error", e.Pos, "compile", e.Msg)
		}
	}
}
