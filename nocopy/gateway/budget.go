package gateway

import (
	"io"
	"net/http"
	"sync"
)

// A budget bounds the memory of bodies that have arrived in part and of answers that are being
// written: slow clients may keep either for long. One request may take a quarter of the free
// memory. After a few large bodies have taken most of it, many small ones still have room.
type budget struct {
	mu   sync.Mutex
	free int
}

// A loan is the part of a budget that one request has.
type loan struct {
	from *budget
	n    int // bytes
}

// set makes the loan n bytes, and reports whether the budget has them. A loan that does not grow
// is always possible.
func (l *loan) set(n int) bool {
	l.from.mu.Lock()
	defer l.from.mu.Unlock()
	free := l.from.free + l.n
	if n > l.n && n > free/4 {
		return false
	}
	l.from.free, l.n = free-n, n
	return true
}

// firstBytes is the memory for a body before its first byte has arrived.
const firstBytes = 512

// read returns a body. Its memory is on loan, and grows as the bytes arrive.
func (l *loan) read(body io.Reader) ([]byte, error) {
	var b []byte
	for {
		if len(b) == cap(b) {
			n := max(firstBytes, 2*cap(b))
			if !l.set(n) {
				return nil, busy("too much memory is in use by other requests")
			}
			b = append(make([]byte, 0, n), b...)
		}
		n, err := body.Read(b[len(b):cap(b)])
		b = b[:len(b)+n]
		if err == io.EOF {
			return b, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

// busy returns the problem of a gateway that has too much to do.
func busy(message string) error {
	return &problem{Status: http.StatusServiceUnavailable, Message: message, retry: true}
}
