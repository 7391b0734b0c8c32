package recording

import (
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"strings"

	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/idlfiles"
	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/invoke"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
)

// Call is a call as it was on the wire.
type Call struct {
	Name   string // the method's name as the server received it
	Oneway bool
	Args   []byte // a struct in Thrift Binary; so is Reply
	Reply  []byte // nil if there was none, as with an error
	Err    error  // a TApplicationException, or why there was no answer
}

// NewLine returns the line of a call. idl is nil if it is not known. Messages may be nested as
// deep as depth; 0 is the default.
func NewLine(idl *idlfiles.IDL, depth int, c Call) *Line {
	l := &Line{Method: c.Name, Oneway: c.Oneway}
	m, unknown := invoke.Find(idl, c.Name, "", depth)
	if idl == nil || unknown != nil {
		l.RawArgs, l.RawReply = c.Args, c.Reply
		if c.Err != nil {
			l.SetOutcome(&invoke.Outcome{Err: c.Err})
		}
		return l
	}
	l.Method = m.String()
	if m.Prefix != "" {
		l.Method = m.Prefix + ":" + m.Name
	}
	o := invoke.Outcome{Err: c.Err, Result: json.RawMessage("null")}
	if c.Err == nil && !l.Oneway {
		o = m.Outcome(c.Reply)
	}
	var bad error
	if l.Args, bad = m.ArgsJSON(c.Args); bad != nil {
		l.Args, l.RawArgs = nil, c.Args // it does not fit the IDL
	}
	var malformed *nocopy.Error
	if invoke.Answer(o.Err) == nil && errors.As(o.Err, &malformed) {
		l.RawReply = c.Reply
	}
	l.SetOutcome(&o)
	return l
}

// AsksForIDL reports whether a method is one by which tools, such as this one, learn a server's
// IDL. Recordings leave its calls out.
func AsksForIDL(name string) bool {
	name = name[strings.LastIndexByte(name, ':')+1:]
	return name == rpc.DescribeMethod || name == "getThriftServiceMetadata"
}

// Named reports whether a method is one of those of a flag -only. Its values are patterns (package
// path), which may leave the service out, and have a dot where multiplexing clients have a colon.
func Named(patterns []string, method string) bool {
	method = strings.ReplaceAll(method, ":", ".")
	for more := true; more; _, method, more = strings.Cut(method, ".") {
		for _, p := range patterns {
			if ok, err := path.Match(strings.ReplaceAll(p, ":", "."), method); ok && err == nil {
				return true
			}
		}
	}
	return false
}

// CheckNames returns the error of a flag -only with a malformed pattern.
func CheckNames(patterns []string) error {
	for _, p := range patterns {
		if _, err := path.Match(p, ""); err != nil {
			return fmt.Errorf("-only %s: %w", p, err)
		}
	}
	return nil
}
