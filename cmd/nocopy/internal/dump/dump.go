// Package dump is the command that shows what messages consist of, and which calls a capture of
// packets has.
package dump

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"sync/atomic"
	"time"

	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/capture"
	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/idlfiles"
	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/recording"
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

	Interface string        `help:"Read the packets of this network interface, or of any, instead of a file, until Ctrl-C. On Linux." placeholder:"NAME" group:"Captures"`
	Port      uint16        `help:"Only connections with this port." placeholder:"PORT" group:"Captures"`
	Only      []string      `help:"Only calls of these methods, such as Store.get,put*; may be repeated." placeholder:"METHOD" group:"Captures"`
	Slower    time.Duration `help:"Only calls that took at least this time, or had no reply." placeholder:"TIME" group:"Captures"`
}

// Help is the end of the command's help text.
func (Command) Help() string {
	return `A file that begins as pcap or pcapng files do is a capture. Its TCP connections are put together, and calls
are paired with their replies: framed or not, Binary, Compact, THeader, Kitex's TTHeader or HTTP/1.1. There
is a line for each call, when it has ended: when it began, client, server, wire, method, time until all of
the reply was there, arguments and outcome. With -format json it is a line of a recording, which nocopy
replay and nocopy mock -answers read. Standard error says which bytes are missing, and what could not be
read, such as TLS. After missing bytes, calls and replies that surely belong together are paired, and no
others. A capture has all that was said, secrets included.

Exit codes: 0 done, 1 something is wrong with the bytes or the files, 2 wrong command line.

Examples:
  nocopy dump -idl user.thrift -type User user.bin
  nocopy dump -idl user.thrift capture.pcap
  tcpdump -i any -w - port 9090 | nocopy dump -format json - >calls.jsonl
  nocopy dump -interface eth0 -port 9090 -slower 100ms`
}

// shownOfText is the default of -max.
const shownOfText = 64

// usage returns the error of a wrong command line; nil if it is right. isCapture says what the
// packets or bytes are.
func (c *Command) usage(isCapture bool) error {
	forBytes, forCaptures := c.Type != "" || c.Form != inspect.Auto || c.Max != shownOfText, len(c.Only) > 0 || c.Port > 0 || c.Slower != 0
	text := ""
	switch {
	case c.Interface != "" && c.File != "":
		text = "a file and -interface do not go together"
	case c.Interface == "" && c.File == "":
		text = "one file is needed, or - for standard input"
	case c.Type != "" && len(c.IDL) == 0:
		text = "-type needs -idl"
	case c.Slower < 0:
		text = "-slower is negative"
	case c.Max < 0:
		text = "-max is negative"
	case isCapture && forBytes:
		text = "this is a capture, which -type, -form and -max are not for"
	case !isCapture && forCaptures:
		text = "this is no capture, which -only, -port and -slower are for"
	default:
		err := recording.CheckNames("-only", c.Only)
		if err == nil {
			return nil
		}
		text = err.Error()
	}
	return shell.WithCode(shell.Usage, errors.New(text+"; see nocopy dump -h"))
}

// Run is called by the parser.
func (c *Command) Run(sh *shell.Shell) error {
	if c.Interface != "" || c.File == "" {
		return c.live(sh)
	}
	in, size, err := c.open(sh)
	if err != nil {
		return err
	}
	defer in.Close()
	b := bufio.NewReader(in)
	first, _ := b.Peek(capture.MagicSize)
	if bytes.HasPrefix(first, []byte("\x1f\x8b")) { // which no message begins with
		return fmt.Errorf("%s is compressed by gzip: gunzip it first, as in gunzip -c capture.pcap.gz | nocopy dump -", c.File)
	}
	isCapture := capture.IsFile(first)
	if err := c.usage(isCapture); err != nil {
		return err
	}
	idl, err := c.Load()
	switch {
	case err != nil:
		return err
	case isCapture:
		return c.capture(sh, idl, b, in, size)
	}
	return c.bytes(sh, idl, b)
}

// open opens the file, and returns how many bytes it has; -1 if that is not known.
func (c *Command) open(sh *shell.Shell) (in *counted, size int64, err error) {
	if c.File == "-" {
		return &counted{in: sh.In}, -1, nil
	}
	f, err := os.Open(c.File)
	if err != nil {
		return nil, 0, err
	}
	size = -1
	if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
		size = info.Size()
	}
	return &counted{in: shell.Reader(sh.Ctx, f), file: f}, size, nil
}

// counted is a Reader that knows how many bytes were read.
type counted struct {
	in   io.Reader
	file *os.File // nil for standard input
	n    atomic.Int64
}

// Read reads bytes.
func (c *counted) Read(b []byte) (int, error) {
	n, err := c.in.Read(b)
	c.n.Add(int64(n))
	return n, err
}

// Close closes the file.
func (c *counted) Close() error {
	if c.file == nil {
		return nil
	}
	return c.file.Close()
}

// json reports whether the output is JSON.
func (c *Command) json() bool { return c.JSON() || c.JSONToo }

// bytes shows the bytes of messages.
func (c *Command) bytes(sh *shell.Shell, idl *idlfiles.IDL, in io.Reader) error {
	opt := inspect.Options{Form: c.Form, Type: c.Type, JSON: c.json(), MaxText: c.Max, Color: sh.Color && !c.json()}
	if c.Max == 0 {
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
