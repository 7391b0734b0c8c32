package inspect

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"time"
)

// live dumps one direction of a connection, message by message.
type live struct {
	walker
	traffic *traffic
	dir     direction
	rest    []byte    // of the current piece
	at      time.Time // when the current piece was seen
	gap     *gapError // Read returns it until passGap
	note    string    // about the form

	printer *printer
	dump    bytes.Buffer // of the current message
	began   time.Time    // when the message began
	end     int64        // the offset up to which dump has complete rows of the message
	hidden  int64        // bytes of the message without rows, for lack of room
	lost    int64        // bytes before the message that were not dumped
}

func newLive(c *traffic, d direction) *live {
	w, _ := newWalker(c.tap.opt) // NewTap has checked the options
	l := &live{walker: *w, traffic: c, dir: d}
	l.printer = newPrinter(&l.dump, c.tap.opt)
	l.out = l
	l.in.reset(l)
	return l
}

// Read reads the bytes that were seen. At a place where bytes were left out, it returns a
// *gapError.
func (l *live) Read(b []byte) (int, error) {
	if l.gap != nil {
		return 0, l.gap
	}
	if len(l.rest) == 0 {
		p, err := l.traffic.next(l.dir)
		if l.gap = p.gap; err != nil {
			return 0, err
		}
		l.rest, l.at = p.data, p.at
	}
	n := copy(b, l.rest)
	l.rest = l.rest[n:]
	return n, nil
}

// run dumps messages until the connection ends.
func (l *live) run() {
	defer l.traffic.finished(l.dir)
	defer l.failed()
	for {
		more, err := l.in.more()
		if err == nil && !more {
			break
		}
		l.began, l.end, l.hidden = l.at, l.in.off, 0
		if err == nil {
			err = l.oneMessage()
		}
		if l.gap != nil && err != nil {
			l.leftOut()
		}
		l.write()
		if err != nil && !l.goOn(err) {
			break
		}
	}
	if l.lost > 0 {
		l.began = l.at
		l.heading()
		l.write()
	}
}

// failed recovers from a panic of this package and ends the dump of the direction.
func (l *live) failed() {
	if p := recover(); p != nil {
		l.traffic.tap.write(fmt.Appendf(nil, "# inspect: the dump of a connection ends: %v\n", p))
	}
}

// oneMessage dumps a message or a frame. Its error is the walker's, or a *gapError.
func (l *live) oneMessage() error {
	guessed := false
	if l.form == Auto {
		form, note, err := detect(l.in.r)
		if l.gap != nil && err == nil {
			err = l.gap
		}
		if err != nil {
			return err
		}
		l.form, l.note, guessed = form, form.String()+noteText(note), note != ""
	}
	l.heading()
	l.missing = nil
	err := l.unit()
	if err != nil && guessed {
		l.form = Auto
	}
	return err
}

// heading writes the rows that come before a message.
func (l *live) heading() {
	l.show(&row{Kind: kindTraffic, Offset: l.in.off, Note: l.note})
	if l.lost > 0 {
		l.show(&row{Kind: kindLeftOut, Offset: l.in.off - l.lost, Size: l.lost})
		l.lost = 0
	}
}

// put implements sink for the walker. It shows the row if there is room for it.
func (l *live) put(r *row) error {
	if l.dump.Len() > mostOfMessage && r.Kind != kindFault {
		if l.hidden == 0 {
			l.end = r.Offset
		}
		l.hidden = r.Offset + r.Size - l.end
		return nil
	}
	l.showHidden()
	l.show(r)
	return nil
}

// showHidden shows how many bytes of a message have no rows.
func (l *live) showHidden() {
	if l.hidden > 0 {
		l.show(&row{Kind: kindLeftOut, Offset: l.end, Size: l.hidden})
		l.hidden = 0
	}
}

// show adds a row to the message's dump.
func (l *live) show(r *row) {
	r.Time = &l.began
	r.From, r.To = l.traffic.local, l.traffic.remote
	if l.dir == received {
		r.From, r.To = r.To, r.From
	}
	l.printer.put(r) // a bytes.Buffer returns no errors
	l.printer.flush()
}

// write passes the dump of a message to the Tap.
func (l *live) write() {
	l.showHidden()
	if l.dump.Len() > 0 {
		l.traffic.tap.write(l.dump.Bytes())
	}
	if l.dump.Reset(); l.dump.Cap() > 64<<10 {
		l.dump = bytes.Buffer{}
	}
}

// goOn finds the next message after one that ended in err. It reports whether there is one.
func (l *live) goOn(err error) bool {
	if l.in.end >= 0 {
		if l.skipFrame() {
			return true
		}
		l.in.end = -1
		return l.search(false)
	}
	var gap *gapError
	return l.search(!errors.As(err, &gap))
}

// leftOut shows that bytes of the message were left out.
func (l *live) leftOut() {
	l.showHidden()
	if l.dump.Len() == 0 {
		l.heading()
	}
	r := row{Kind: kindLeftOut, Offset: l.in.off, Size: l.gap.n}
	if l.gap.unsent != nil {
		r.Offset, r.Note = l.in.off-l.gap.n, quoteControls("not sent: "+l.gap.unsent.Error())
	}
	l.show(&r)
	l.passGap()
}

// passGap makes Read continue after the gap.
func (l *live) passGap() {
	if l.gap.unsent == nil {
		l.in.off += l.gap.n
	}
	l.gap = nil
}

// skipFrame skips the rest of a frame. It reports whether the next frame is known to follow.
func (l *live) skipFrame() bool {
	for l.in.off < l.in.end {
		if _, err := l.in.r.Peek(1); l.gap != nil && l.gap.unsent == nil {
			l.lost += l.gap.n
			l.passGap()
			continue
		} else if err != nil {
			return false
		}
		n := min(l.in.end-l.in.off, int64(l.in.r.Buffered()))
		l.in.pass(int(n))
		l.lost += n
	}
	if l.in.off > l.in.end {
		return false
	}
	l.in.end = -1
	return true
}

// search skips bytes up to the beginning of a message. With ahead, it also searches the bytes that
// were already read. It returns false if the connection ends first.
func (l *live) search(ahead bool) bool {
	buffered, _ := l.in.r.Peek(l.in.r.Buffered())
	if ahead {
		if i := signature(l.form, buffered); i >= 0 {
			l.in.pass(i)
			l.lost += int64(i)
			return true
		}
	}
	l.in.pass(len(buffered))
	l.lost += int64(len(buffered))
	l.in.r.Reset(l)
	for {
		if len(l.rest) == 0 && l.gap == nil {
			p, err := l.traffic.next(l.dir)
			if l.gap = p.gap; err == io.EOF {
				return false
			}
			l.rest, l.at = p.data, p.at
		}
		if l.gap != nil {
			if l.gap.unsent == nil {
				l.lost += l.gap.n
			}
			l.passGap()
			continue
		}
		i := start(l.form, l.rest)
		n := i
		if i < 0 {
			n = len(l.rest)
		}
		l.rest = l.rest[n:]
		l.in.off += int64(n)
		l.lost += int64(n)
		if i >= 0 {
			return true
		}
	}
}

// start returns the offset in a piece of traffic at which a message begins, or -1. Usually that is
// 0.
func start(form Form, b []byte) int {
	const enough = 8 // fewer bytes fit by chance too easily
	switch {
	case len(b) < enough:
	case form == Auto:
		if fit, _ := fitting(b[:min(len(b), window)], false); len(fit) > 0 {
			return 0
		}
	default:
		if _, ok := fits(form, b[:min(len(b), window)], false); ok {
			return 0
		}
	}
	return signature(form, b)
}

// signature returns the offset in b at which a message with a strict header begins, including its
// frame, or -1.
func signature(form Form, b []byte) int {
	const (
		frame   = 4
		header  = 8  // version and length of the name
		least   = 12 // the smallest size of a message
		maxHere = 256
	)
	if !form.messages() && form != Auto {
		return -1
	}
	for at := 0; ; at++ {
		i := bytes.Index(b[at:], []byte{0x80, 1, 0})
		if i < 0 || len(b)-at-i < header {
			return -1
		}
		at += i
		n := binary.BigEndian.Uint32(b[at+4:])
		if !validMessageType(b[at+3]) || n == 0 || n > maxHere || uint64(n) > uint64(len(b)-at-header) ||
			!plausibleName(b[at+header:at+header+int(n)]) {
			continue
		}
		if form != FramedMessages {
			return at
		}
		if at >= frame {
			if n := binary.BigEndian.Uint32(b[at-frame:]); n >= least && n <= math.MaxInt32 {
				return at - frame
			}
		}
	}
}
