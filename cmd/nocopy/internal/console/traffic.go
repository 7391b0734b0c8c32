package console

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"time"
)

// traffic keeps the dumps of the latest messages, and sends new ones to pages.
type traffic struct {
	mu      sync.Mutex
	kept    []message
	size    int // of the dumps
	next    int
	readers map[chan message]struct{}
}

// message is the dump of a message.
type message struct {
	number int
	text   string
}

// How much traffic is kept, and how many pages may watch.
const (
	mostKept    = 200
	mostBytes   = 4 << 20
	mostOfOne   = 64 << 10
	mostReaders = 20
)

func newTraffic() *traffic { return &traffic{readers: map[chan message]struct{}{}} }

// Write takes the dump of one message. It never waits.
func (t *traffic) Write(b []byte) (int, error) {
	text := string(b[:min(len(b), mostOfOne)])
	if len(b) > mostOfOne {
		text += "…\n"
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	m := message{t.next, text}
	t.next++
	t.kept = append(t.kept, m)
	t.size += len(text)
	for len(t.kept) > mostKept || t.size > mostBytes {
		t.size -= len(t.kept[0].text)
		t.kept[0] = message{}
		t.kept = t.kept[1:]
	}
	for r := range t.readers {
		select {
		case r <- m:
		default: // the page is too slow; it sees a gap in the numbers
		}
	}
	return len(b), nil
}

// subscribe returns what is kept, and where new messages go until stop is called; nil if too many
// pages watch.
func (t *traffic) subscribe() (kept []message, news chan message, stop func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.readers) >= mostReaders {
		return nil, nil, nil
	}
	news = make(chan message, 100)
	t.readers[news] = struct{}{}
	return append([]message(nil), t.kept...), news, func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		delete(t.readers, news)
	}
}

// ServeHTTP sends messages as server-sent events.
func (t *traffic) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	kept, news, stop := t.subscribe()
	if news == nil {
		http.Error(w, "too many pages watch", http.StatusServiceUnavailable)
		return
	}
	defer stop()
	control := http.NewResponseController(w)
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	send := func(m message) error {
		text, _ := json.Marshal(m.text)
		control.SetWriteDeadline(time.Now().Add(10 * time.Second))
		var b bytes.Buffer
		fmt.Fprintf(&b, "id: %d\ndata: %s\n\n", m.number, text)
		if _, err := w.Write(b.Bytes()); err != nil {
			return err
		}
		return control.Flush()
	}
	for _, m := range kept {
		if send(m) != nil {
			return
		}
	}
	control.Flush()
	alive := time.NewTicker(15 * time.Second)
	defer alive.Stop()
	for {
		select {
		case <-req.Context().Done():
			return
		case m := <-news:
			if send(m) != nil {
				return
			}
		case <-alive.C:
			control.SetWriteDeadline(time.Now().Add(10 * time.Second))
			if _, err := fmt.Fprint(w, ": alive\n\n"); err != nil || control.Flush() != nil {
				return
			}
		}
	}
}
