package nocopyc

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/nocopythrift/nocopythrift/gen/idl"
)

// noFormat returns what is wrong with the value of -format, "" if it is one of forms.
func noFormat(format string, forms ...string) string {
	if slices.Contains(forms, format) {
		return ""
	}
	return fmt.Sprintf("-format must be one of %s but got %q", `"`+strings.Join(forms, `","`)+`"`, format)
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
