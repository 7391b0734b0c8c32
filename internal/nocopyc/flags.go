package nocopyc

import (
	"errors"
	"fmt"

	"github.com/nocopythrift/nocopythrift/gen/idl"
)

// noFormat returns what is wrong with the value of -format, "" if nothing is.
func noFormat(format string) string {
	if format == "text" || format == "json" {
		return ""
	}
	return fmt.Sprintf("-format must be one of \"text\",\"json\" but got %q", format)
}

// plainly returns err in the form that the command prints: errors in files unchanged, others after
// the command's name.
func (t Tool) plainly(err error) error {
	var list idl.ErrorList
	if errors.As(err, &list) {
		return list
	}
	return fmt.Errorf("%s: %w", t.Name, err)
}
