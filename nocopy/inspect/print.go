package inspect

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"unicode"
	"unicode/utf8"
)

// printer writes rows.
type printer struct {
	w     *bufio.Writer
	json  bool
	color bool
	line  []byte       // the text of the row
	made  bytes.Buffer // the JSON that line is made from
}

func newPrinter(w io.Writer, opt Options) *printer {
	return &printer{w: bufio.NewWriter(w), json: opt.JSON, color: opt.Color}
}

func (p *printer) flush() error { return p.w.Flush() }

// put writes a row.
func (p *printer) put(r *row) error {
	p.line = p.line[:0]
	if p.json {
		if err := p.object(r); err != nil {
			return err
		}
	} else {
		p.text(r)
	}
	_, err := p.w.Write(p.line)
	return err
}

// object appends the row as a JSON object. Characters that could control a terminal are escaped.
func (p *printer) object(r *row) error {
	r.Hex = hex.EncodeToString(r.raw)
	p.made.Reset()
	enc := json.NewEncoder(&p.made)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(r); err != nil {
		return err
	}
	b := p.made.Bytes()
	for len(b) > 0 {
		c, n := utf8.DecodeRune(b)
		switch {
		case c < utf8.RuneSelf && c != 0x7f || unicode.IsPrint(c): // Encode has escaped the others
			p.line = append(p.line, b[:n]...)
		case c > 0xffff:
			c -= 0x10000
			p.line = fmt.Appendf(p.line, `\u%04x\u%04x`, 0xd800+c>>10, 0xdc00+c&0x3ff)
		default:
			p.line = fmt.Appendf(p.line, `\u%04x`, c)
		}
		b = b[n:]
	}
	return nil
}

const (
	bytesPerLine = 12
	mostIndent   = 32 // levels of indentation; deeper rows show their depth as a number
)

// The colours of text.
const (
	dim    = "\x1b[2m"
	bold   = "\x1b[1m"
	cyan   = "\x1b[36m"
	green  = "\x1b[32m"
	yellow = "\x1b[33m"
	red    = "\x1b[31;1m"
	plain  = "\x1b[0m"
)

// colored appends s in a colour.
func (p *printer) colored(color, s string) {
	if p.color && s != "" {
		p.line = append(append(append(p.line, color...), s...), plain...)
		return
	}
	p.line = append(p.line, s...)
}

// text appends the row as lines of text: the offset, the first bytes and their meaning, then the
// other bytes.
func (p *printer) text(r *row) {
	switch r.Kind {
	case kindInput:
		p.colored(dim, "# "+r.Form+"s"+noteText(r.Note))
		p.line = append(p.line, '\n')
		return
	case kindTraffic:
		p.colored(bold, "# "+r.Time.Format("15:04:05.000000")+" "+r.From+" -> "+r.To)
		p.colored(dim, noteText(r.Note))
		p.line = append(p.line, '\n')
		return
	}
	raw := r.raw
	p.bytes(r.Offset, raw[:min(len(raw), bytesPerLine)], bytesPerLine)
	for range min(r.Depth, mostIndent) {
		p.line = append(p.line, "  "...)
	}
	if r.Depth > mostIndent {
		p.colored(dim, "("+strconv.Itoa(r.Depth)+") ")
	}
	p.what(r)
	p.colored(yellow, noteText(r.Note))
	p.line = append(p.line, '\n')
	for at := bytesPerLine; at < len(raw); at += bytesPerLine {
		p.bytes(r.Offset+int64(at), raw[at:min(len(raw), at+bytesPerLine)], 0)
		p.line = append(p.line, '\n')
	}
	if rest := r.Size - int64(len(raw)); rest > 0 && r.Kind != kindLeftOut {
		p.colored(dim, fmt.Sprintf("%10d  … %d bytes", r.Offset+int64(len(raw)), rest))
		p.line = append(p.line, '\n')
	}
}

func noteText(note string) string {
	if note == "" {
		return ""
	}
	return "  (" + note + ")"
}

// bytes appends the offset and some bytes, in columns for width of them.
func (p *printer) bytes(off int64, b []byte, width int) {
	s := fmt.Appendf(nil, "%10d ", off)
	for i := range b {
		s = append(s, ' ')
		s = hex.AppendEncode(s, b[i:i+1])
	}
	for range 3 * (width - len(b)) {
		s = append(s, ' ')
	}
	p.colored(dim, string(s))
	if width > 0 {
		p.line = append(p.line, "  "...)
	}
}

// what appends the meaning of the row's bytes.
func (p *printer) what(r *row) {
	switch r.Kind {
	case kindFrame:
		p.colored(bold, "frame")
		if r.Length != nil {
			p.line = fmt.Appendf(p.line, " of %d bytes", *r.Length)
		}
	case kindMessage:
		p.message(r)
	case kindStruct:
		p.colored(bold, r.Type)
	case kindStop:
		p.colored(dim, "STOP")
	case kindFault:
		p.colored(red, "FAULT at offset "+strconv.FormatInt(r.Offset, 10)+pathText(r.Path)+": "+quoteControls(r.Error))
	case kindLeftOut:
		what := "… " + strconv.FormatInt(r.Size, 10) + " bytes"
		if r.Note == "" {
			what += " left out"
		}
		p.colored(yellow, what)
	default:
		p.colored(bold, r.label())
		if r.Type == "" {
			return
		}
		if r.ID != nil || r.Index != nil {
			p.line = append(p.line, ": "...)
		}
		p.line = append(p.line, r.Type...)
		p.value(r)
	}
}

func pathText(path string) string {
	if path == "" {
		return ""
	}
	return ", " + path
}

// message appends a message's header.
func (p *printer) message(r *row) {
	p.colored(bold, "message")
	if r.Message == "" {
		return
	}
	p.line = append(append(p.line, ": "...), r.Message...)
	p.line = append(p.line, ' ')
	p.colored(green, strconv.Quote(r.Name))
	if r.SeqID != nil {
		p.line = fmt.Appendf(p.line, ", sequence id %d", *r.SeqID)
	}
	if !*r.Strict {
		p.line = append(p.line, ", old style"...)
	}
}

// value appends the value in row r, and the number of its elements.
func (p *printer) value(r *row) {
	if r.Count != nil {
		p.line = fmt.Appendf(p.line, " of %d", *r.Count)
	}
	p.line = append(p.line, ' ')
	switch v := r.Value.(type) {
	case nil:
		if r.Length == nil {
			p.line = p.line[:len(p.line)-1]
			return
		}
		p.colored(cyan, "0x"+r.Bytes)
	case bool:
		p.colored(cyan, strconv.FormatBool(v))
	case int64:
		if r.Enum != "" {
			p.colored(cyan, r.Enum)
			p.line = fmt.Appendf(p.line, " (%d)", v)
			return
		}
		p.colored(cyan, strconv.FormatInt(v, 10))
	case float64:
		p.colored(cyan, strconv.FormatFloat(v, 'g', -1, 64))
	case string:
		if r.Length == nil { // a uuid, NaN or an infinity
			p.colored(cyan, v)
			return
		}
		p.colored(green, strconv.Quote(v))
	}
	if r.Shortened {
		p.line = fmt.Appendf(p.line, "… %d bytes", *r.Length)
	}
}

// quoteControls escapes the characters of an error's text that could control a terminal.
func quoteControls(s string) string {
	var b []byte
	for _, c := range s {
		if unicode.IsPrint(c) {
			b = utf8.AppendRune(b, c)
		} else {
			q := strconv.QuoteRune(c)
			b = append(b, q[1:len(q)-1]...)
		}
	}
	return string(b)
}
