//go:build linux

package capture

import (
	"context"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"

	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/capture/capturetest"
)

// TestFilter: the kernel's filter passes all packets with the port, and those that it can't tell.
func TestFilter(t *testing.T) {
	vm, err := bpf.NewVM(ofPort(9090))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		client, server string
		vlan, want     bool
	}{
		{"10.0.0.1:50001", "10.0.0.2:9090", false, true}, {"10.0.0.1:9090", "10.0.0.2:50001", false, true}, {"10.0.0.1:50001", "10.0.0.2:9091", false, false},
		{"[2001:db8::1]:50001", "[2001:db8::2]:9090", false, true}, {"[2001:db8::1]:9090", "[2001:db8::2]:2", false, true}, {"[2001:db8::1]:50001", "[2001:db8::2]:80", false, false},
		{"10.0.0.1:50001", "10.0.0.2:9091", true, true},
	} {
		to := &capturetest.Capture{VLAN: c.vlan}
		to.Conn(c.client, c.server).Open()
		for _, p := range to.Packets {
			if n, err := vm.Run(p.Data); err != nil || n > 0 != c.want {
				t.Errorf("%+v: %d %v", c, n, err)
			}
		}
	}
	to := new(capturetest.Capture)
	to.Fragment("10.0.0.1", "10.0.0.2")
	udp := slices.Clone(to.Packets[0].Data)
	udp[23] = 17
	for data, want := range map[string]bool{string(to.Packets[0].Data): true, string(udp): false} {
		if n, err := vm.Run([]byte(data)); err != nil || n > 0 != want {
			t.Errorf("%x: %d %v", data, n, err)
		}
	}
}

// watched sends the calls that are found to a channel.
type watched chan *Call

func (w watched) Err() error   { return nil }
func (w watched) Note(n *Note) {}
func (w watched) Call(c *Call) {
	if c.Err == ErrUnsure { // the capture began in the middle of it
		return
	}
	select {
	case w <- c:
	default:
	}
}

// TestLive reads the packets of the loopback interface, and of all, if that is allowed.
func TestLive(t *testing.T) {
	if _, err := Live(t.Context(), "none0", Options{}, watched(nil)); err == nil || !strings.Contains(err.Error(), "no network interface none0: there are ") {
		t.Error(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		for {
			nc, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer nc.Close()
				io.ReadFull(nc, make([]byte, len(frame(1, "f", 1, "\x00"))))
				nc.Write(frame(2, "f", 1, "\x00"))
				io.Copy(io.Discard, nc)
			}()
		}
	}()
	for _, name := range []string{"lo", anyInterface} {
		liveOn(t, name, l)
	}
}

// liveOn reads the packets of an interface until there is a call to l, whose replies are ready.
func liveOn(t *testing.T, name string, l net.Listener) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	seen := make(watched, 1)
	ended := make(chan error, 1)
	go func() {
		_, err := Live(ctx, name, Options{Port: uint16(l.Addr().(*net.TCPAddr).Port)}, seen)
		ended <- err
	}()
	for giveUp := time.Now().Add(2 * time.Minute); time.Now().Before(giveUp); {
		nc, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		nc.Write(frame(1, "f", 1, "\x00"))
		io.ReadFull(nc, make([]byte, len(frame(2, "f", 1, "\x00"))))
		nc.Close()
		select {
		case err := <-ended:
			if strings.Contains(fmt.Sprint(err), "is not allowed") {
				t.Skip(err)
			}
			t.Fatal(err)
		case c := <-seen:
			if c.Method != "f" || c.Err != nil || c.Took < 0 || c.Server.String() != l.Addr().String() {
				t.Errorf("%+v", c)
			}
			cancel()
			if err := <-ended; err != nil {
				t.Error(err)
			}
			return
		case <-time.After(50 * time.Millisecond):
		}
	}
	t.Error("no call was seen")
}

// TestNotAllowed: the error says what is needed.
func TestNotAllowed(t *testing.T) {
	err := notOpened("lo", unix.EPERM)
	if !strings.Contains(err.Error(), "CAP_NET_RAW") {
		t.Error(err)
	}
}
