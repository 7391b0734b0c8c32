package capture

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"
)

// magics are the first bytes of captures: of pcapng, and of pcap in both byte orders, with
// microseconds or nanoseconds.
var magics = []uint32{ngSection, 0xa1b2c3d4, 0xd4c3b2a1, 0xa1b23c4d, 0x4d3cb2a1}

// MagicSize is how many bytes IsFile needs.
const MagicSize = 4

// IsFile reports whether a file that begins with b is a capture.
func IsFile(b []byte) bool {
	return len(b) >= MagicSize && slices.Contains(magics, binary.BigEndian.Uint32(b))
}

// A packet is a packet as it was captured.
type packet struct {
	at   time.Time // zero if it is not known
	link linkType  // the protocol that data begins with
	data []byte
}

// A source has packets. At its end the error is io.EOF.
type source interface{ next() (packet, error) }

// Read finds the calls in a capture of packets. It passes them to out in the order in which they
// end. A file that is cut is read up to there; the error says so.
func Read(ctx context.Context, r io.Reader, opt Options, out Output) (Summary, error) {
	from, err := sourceOf(r)
	if err != nil {
		return Summary{}, cut(err)
	}
	return follow(ctx, from, opt, out)
}

// sourceOf returns the source of a file.
func sourceOf(r io.Reader) (source, error) {
	in := bufio.NewReaderSize(r, 64<<10)
	magic, err := in.Peek(MagicSize)
	if err != nil {
		return nil, err
	}
	if binary.BigEndian.Uint32(magic) == ngSection {
		return &ngReader{r: in}, nil
	}
	return newPcapReader(in)
}

// cut returns the error of a file that ends too early, if err is about its end.
func cut(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("the capture is cut: it ends before its packets do")
	}
	return err
}

// follow finds the calls in packets.
func follow(ctx context.Context, from source, opt Options, out Output) (Summary, error) {
	t := newTable(opt, out)
	err := t.follow(ctx, from)
	t.end()
	if out.Err() != nil {
		err = out.Err()
	}
	return t.sum, err
}

func (t *table) follow(ctx context.Context, from source) error {
	for t.out.Err() == nil {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		p, err := from.next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return fmt.Errorf("after packet %d: %w", t.sum.Packets, cut(err))
		}
		t.sum.Packets++
		if p.at.IsZero() {
			t.sum.leaveOut(timeless)
		}
		g, why := segmentOf(p)
		if why != "" {
			t.sum.leaveOut(why)
			continue
		}
		if g.missing > 0 {
			t.sum.leaveOut(shortened)
		}
		t.segment(&g)
	}
	return nil
}
