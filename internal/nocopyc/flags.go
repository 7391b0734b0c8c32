package nocopyc

import (
	"errors"
	"flag"
	"fmt"

	"github.com/nocopythrift/nocopythrift/gen/idl"
	"github.com/nocopythrift/nocopythrift/internal/command"
)

// parseMixed parses flags before, between and after other arguments, and returns the other
// arguments. "--" ends the flags.
func parseMixed(flags *flag.FlagSet, args []string) ([]string, error) {
	var operands []string
	for {
		if err := command.Parse(flags, args); err != nil {
			return nil, err
		}
		rest := flags.Args()
		if parsed := len(args) - len(rest); parsed > 0 && args[parsed-1] == "--" {
			return append(operands, rest...), nil
		}
		if len(rest) == 0 {
			return operands, nil
		}
		operands, args = append(operands, rest[0]), rest[1:]
	}
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
