package nocopyc

import (
	"errors"
	"flag"
	"fmt"
	"slices"
	"strings"

	"github.com/nocopythrift/nocopythrift/gen/idl"
)

// Flags returns the flags of a command that nocopy has under that name: gen, check, audit or fmt.
// The settings are kept nowhere. It is nil for other names.
func Flags(command string) *flag.FlagSet {
	switch command {
	case "gen", "check":
		return (&generator{check: command == "check"}).flags(command)
	case "audit":
		return new(auditor).flags(command)
	case "fmt":
		return new(formatter).flags(command)
	}
	return nil
}

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
