// Package dump is the command that shows what messages consist of, and which calls a capture of
// packets has.
package dump

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/capture"
	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/idlfiles"
	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/shell"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/inspect"
)

// Command shows the bytes of messages, or the calls in a capture.
type Command struct {
	File string `arg:"" optional:"" help:"The bytes of messages, or a capture of packets: pcap or pcapng. - is standard input."`

	shell.Format
	JSONToo bool `name:"json" help:"The same as -format json."`
	idlfiles.Files

	Type string       `help:"In the IDL, the struct that bare structs are, or the service whose methods are called." placeholder:"NAME" group:"Bytes of messages"`
	Form inspect.Form `help:"How the bytes are divided: struct, framed-struct, message, framed-message, one of these after compact-, or auto: found out." default:"auto" group:"Bytes of messages"`
	Max  int          `help:"How many bytes of a string or binary are shown; 0 for all." default:"64" group:"Bytes of messages"`

	Interface string        `help:"Read the packets of this network interface instead of a file, until Ctrl-C. On Linux." placeholder:"NAME" group:"Captures"`
	Port      uint16        `help:"Only connections with this port." placeholder:"PORT" group:"Captures"`
	Only      []string      `help:"Only calls of this method; may be repeated." placeholder:"METHOD" sep:"none" group:"Captures"`
	Slower    time.Duration `help:"Only calls that took at least this time, or had no reply." placeholder:"TIME" group:"Captures"`
}

// Help is the end of the command's help text.
func (Command) Help() string {
	return `A file that begins as pcap or pcapng files do is a capture. Its TCP connections are put together, and calls
are paired with their replies: framed or not, Binary, Compact, THeader, Kitex's TTHeader or HTTP/1.1. There
is a line for each call, when it has ended: when it began, client, server, wire, method, time until all of
the reply was there, arguments and outcome. With -format json it is a line of a recording, which nocopy
replay and nocopy mock -answers read. Standard error says which bytes are missing, and what could not be
read, such as TLS. A capture has all that was said, secrets included.

Exit codes: 0 done, 1 something is wrong with the bytes or the files, 2 wrong command line.

Examples:
  nocopy dump -idl user.thrift -type User user.bin
  nocopy dump -idl user.thrift capture.pcap
  tcpdump -i any -w - port 9090 | nocopy dump -format json - >calls.jsonl
  nocopy dump -interface eth0 -port 9090 -slower 100ms`
}

// Validate is called by the parser.
func (c *Command) Validate() error {
	switch {
	case c.Interface != "" && c.File != "":
		return errors.New("a file and -interface do not go together")
	case c.Interface == "" && c.File == "":
		return errors.New("one file is needed, or - for standard input")
	case c.Type != "" && len(c.IDL) == 0:
		return errors.New("-type needs -idl")
	case c.Slower < 0:
		return errors.New("-slower is negative")
	}
	return nil
}

// Run is called by the parser.
func (c *Command) Run(sh *shell.Shell) error {
	idl, err := c.Load()
	if err != nil {
		return err
	}
	if c.Interface != "" {
		return c.live(sh, idl)
	}
	in := sh.In
	if c.File != "-" {
		f, err := os.Open(c.File)
		if err != nil {
			return err
		}
		defer f.Close()
		in = shell.Reader(sh.Ctx, f)
	}
	b := bufio.NewReader(in)
	if first, _ := b.Peek(capture.MagicSize); capture.IsFile(first) {
		return c.capture(sh, idl, b)
	}
	if len(c.Only) > 0 || c.Port > 0 || c.Slower > 0 {
		return shell.WithCode(shell.Usage, fmt.Errorf("%s is no capture, which -only, -port and -slower are for; see nocopy dump -h", c.File))
	}
	return c.bytes(sh, idl, b)
}

// json reports whether the output is JSON.
func (c *Command) json() bool { return c.JSON() || c.JSONToo }

// bytes shows the bytes of messages.
func (c *Command) bytes(sh *shell.Shell, idl *idlfiles.IDL, in io.Reader) error {
	opt := inspect.Options{Form: c.Form, Type: c.Type, JSON: c.json(), MaxText: c.Max, Color: sh.Color && !c.json()}
	if c.Max <= 0 {
		opt.MaxText = -1
	}
	if idl != nil {
		opt.IDL = idl.Names()
	}
	err := inspect.Dump(sh.Out, in, opt)
	var fault *nocopy.Error
	if errors.As(err, &fault) { // the dump shows the rest
		return fmt.Errorf("%s: malformed at offset %d", c.File, fault.Offset)
	}
	return err
}
