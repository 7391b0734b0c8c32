package shell

import (
	"errors"
	"strings"

	"github.com/nocopythrift/nocopythrift/gen/idl"
)

// Lines returns an error of several lines, one for each of errs.
func Lines(errs ...error) error { return errors.Join(errs...) }

// OneLine returns text, which may come from a server or a file, as Printable does and on one line:
// it can't look like another message.
func OneLine(text string) string {
	return strings.ReplaceAll(Printable(strings.TrimRight(text, "\n")), "\n", `\n`)
}

// Message returns the text of an error to print. Only errors that are lists have several lines:
// those of Lines and of .thrift files.
func Message(err error) string {
	text := err.Error()
	parts, list := listIn(err)
	before, after, ok := strings.Cut(text, list)
	if len(parts) == 0 || !ok {
		return OneLine(text)
	}
	var lines []string
	for _, e := range parts {
		lines = append(lines, Message(e))
	}
	return OneLine(before) + strings.Join(lines, "\n") + OneLine(after)
}

// listIn returns the list that err is or wraps, and its text.
func listIn(err error) (parts []error, text string) {
	for ; err != nil; err = errors.Unwrap(err) {
		switch list := err.(type) {
		case idl.ErrorList:
			for _, e := range list {
				parts = append(parts, e)
			}
			return parts, list.Error()
		case interface{ Unwrap() []error }:
			parts = list.Unwrap()
			texts := make([]string, len(parts))
			for i, e := range parts {
				texts[i] = e.Error()
			}
			if text = err.Error(); text != strings.Join(texts, "\n") {
				return nil, ""
			}
			return parts, text
		}
	}
	return nil, ""
}
