package inspect

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/nocopythrift/nocopythrift/internal/firstbytes"
	"github.com/nocopythrift/nocopythrift/nocopy"
)

// forms has the possible forms of a stream, the likeliest first.
var forms = []Form{FramedMessages, Messages, FramedStructs, Structs}

// detect detects the form of the stream r. It reads ahead as few bytes as it needs, at most the
// size of r's buffer. The note says which other forms are possible. The error is the stream's.
func detect(r *bufio.Reader) (form Form, note string, err error) {
	for n := 6; ; n = min(n+max(1, n/8), r.Size()) {
		b, err := r.Peek(n)
		if err != nil && err != io.EOF && len(b) == 0 {
			return Auto, "", err
		}
		b, _ = r.Peek(r.Buffered())
		n = len(b)
		if form, note := formOfFirst(b); form != Auto {
			return form, note, nil
		}
		end := err != nil
		fit, furthest := fitting(b, end)
		if !end && len(fit) > 1 { // a form in which the bytes so far are complete is likelier
			if whole, _ := fitting(b, true); len(whole) > 0 {
				fit, end = whole, true
			}
		}
		switch {
		case len(fit) == 0 && isCompactStruct(b, end):
			return CompactStructs, "", nil
		case len(fit) == 0:
			return furthest, "malformed; the form is a guess", nil
		case len(fit) == 1:
			return fit[0], "", nil
		case end || n == r.Size():
			return fit[0], fmt.Sprintf("ambiguous: it may be %v, too", fit[1]), nil
		}
	}
}

// version1 is what messages of Thrift Binary begin with.
var version1 = []byte{0x80, 1}

// formOfFirst returns the form if the first bytes of a stream tell it, otherwise Auto. b has 6
// bytes unless the stream is shorter.
func formOfFirst(b []byte) (Form, string) {
	switch {
	case len(b) >= 6 && b[0] < 0x80 && bytes.HasPrefix(b[4:], version1):
		return FramedMessages, ""
	case len(b) >= 6 && b[0] < 0x80 && firstbytes.BeginsCompactCall(b[4:]):
		return CompactFramedMessages, ""
	case firstbytes.BeginsCompactCall(b):
		return CompactMessages, ""
	case bytes.HasPrefix(b, version1):
		return Messages, ""
	case firstbytes.IsTLS(b):
		return Structs, "it looks like TLS, not Thrift"
	case firstbytes.IsHTTP(b):
		return Structs, "it looks like HTTP, not Thrift"
	case len(b) >= 1 && b[0] > 1 && validType(nocopy.WireType(b[0])):
		return Structs, "" // a frame or a name would be longer than 32 MB
	}
	return Auto, ""
}

// fitting returns the forms in which b has no fault. If there is none, furthest is the form whose
// fault comes last. whole means that the stream ends after b.
func fitting(b []byte, whole bool) (fit []Form, furthest Form) {
	furthest = Structs
	most := 0
	for _, form := range forms {
		at, ok := fits(form, b, whole)
		switch {
		case ok:
			fit = append(fit, form)
		case at > most:
			furthest, most = form, at
		}
	}
	return fit, furthest
}

// fits reports whether b has no fault in a form. Otherwise at is the offset of the fault.
func fits(form Form, b []byte, whole bool) (at int, ok bool) {
	w := walker{form: form, partial: !whole}
	w.in.r = bufio.NewReaderSize(nil, 16)
	w.in.reset(bytes.NewReader(b))
	err := w.stream()
	if err == nil || err == errMore {
		return 0, true
	}
	var fault *nocopy.Error
	if errors.As(err, &fault) {
		return fault.Offset, false
	}
	return 0, false
}
