package recording

import (
	"encoding/json"
	"errors"
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
	l.Method = NameOf(m, c.Name)
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

// NameOf returns the name that a recording has for a method that was called by a name on the wire.
// A service's name and a colon come first only if the wire had them, whatever the IDL says about
// names for multiplexing clients.
func NameOf(m *invoke.Method, wire string) string {
	if prefix := invoke.Prefix(wire); prefix != "" {
		return prefix + ":" + m.Name
	}
	return m.String()
}

// AsksForIDL reports whether a method is one by which tools, such as this one, learn a server's
// IDL. Recordings leave its calls out.
func AsksForIDL(name string) bool {
	name = name[strings.LastIndexByte(name, ':')+1:]
	return name == rpc.DescribeMethod || name == "getThriftServiceMetadata"
}
