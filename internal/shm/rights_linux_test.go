package shm

import (
	"io"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// slow returns a TCP socket whose last close would take a minute.
func slow(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	nc, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close() // not the last one
	peer, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { peer.Close() }) // which has read nothing
	nc.SetWriteDeadline(time.Now().Add(50 * time.Millisecond))
	nc.Write(make([]byte, 16<<20))
	fd := -1
	raw, _ := nc.(syscall.Conn).SyscallConn()
	raw.Control(func(f uintptr) {
		syscall.SetsockoptLinger(int(f), syscall.SOL_SOCKET, syscall.SO_LINGER, &syscall.Linger{Onoff: 1, Linger: 60})
		fd, err = syscall.Dup(int(f))
	})
	if err != nil {
		t.Fatal(err)
	}
	return fd
}

// pass passes the descriptors, and closes them here.
func pass(t *testing.T, nc *net.UnixConn, b string, fds ...int) {
	t.Helper()
	if _, _, err := nc.WriteMsgUnix([]byte(b), syscall.UnixRights(fds...), nil); err != nil {
		t.Fatal(err)
	}
	for _, fd := range fds {
		syscall.Close(fd)
	}
}

// ends fails the test unless f returns long before a lingering socket is closed.
func ends(t *testing.T, what string, f func()) {
	t.Helper()
	done := make(chan struct{})
	go func() { f(); close(done) }()
	select {
	case <-done:
	case <-time.After(20 * time.Second):
		t.Fatal(what, "waits for the close of a socket that lingers")
	}
}

// filesAre waits until want files are open: some are closed by another goroutine.
func filesAre(t *testing.T, want int) {
	t.Helper()
	n := openFiles(t)
	for end := time.Now().Add(time.Minute); n != want && time.Now().Before(end); n = openFiles(t) {
		time.Sleep(time.Millisecond)
	}
	if n != want {
		t.Errorf("%d files are open, and %d were", n, want)
	}
}

// TestLingering: nothing waits until a passed descriptor is closed, wherever it arrives: where
// none is expected, instead of memory, among others, in bytes that nobody reads, on a connection
// that nobody accepts.
func TestLingering(t *testing.T) {
	read := func(t *testing.T, in io.Reader) {
		if n, err := in.Read(make([]byte, 10)); n != 5 || err != nil {
			t.Error(n, err)
		}
	}
	for name, f := range map[string]func(t *testing.T, a, b *net.UnixConn){
		"none is expected": func(t *testing.T, a, b *net.UnixConn) {
			pass(t, a, "hello", slow(t))
			read(t, ReaderOf(b))
		},
		"below something": func(t *testing.T, a, b *net.UnixConn) {
			pass(t, a, "hello", slow(t))
			read(t, Guard(b))
		},
		"instead of memory": func(t *testing.T, a, b *net.UnixConn) {
			pass(t, a, "hello", slow(t))
			r := NewReader(b)
			read(t, r)
			if fd, err := r.TakeFD(); err == nil {
				t.Error("taken:", fd)
			}
			r.Close()
		},
		"among others": func(t *testing.T, a, b *net.UnixConn) {
			null, err := syscall.Open("/dev/null", 0, 0)
			if err != nil {
				t.Fatal(err)
			}
			fds := []int{slow(t)}
			for len(fds) < 253 {
				fds = append(fds, null)
			}
			pass(t, a, "hello", append(fds[1:], fds[0])...)
			r := NewReader(b)
			read(t, r)
			r.Close()
		},
		"unread": func(t *testing.T, a, b *net.UnixConn) {
			pass(t, a, "hello", slow(t))
			pass(t, a, "hello", slow(t))
			CloseConn(b)
		},
		"below something, unread": func(t *testing.T, a, b *net.UnixConn) {
			pass(t, a, "hello", slow(t))
			Guard(b).Close()
		},
		"while it is read": func(t *testing.T, a, b *net.UnixConn) {
			in, ended := ReaderOf(b), make(chan error)
			go func() {
				for {
					if _, err := in.Read(make([]byte, 1)); err != nil {
						ended <- err
						return
					}
				}
			}()
			pass(t, a, "hello", slow(t))
			CloseConn(b)
			if err := <-ended; err == io.EOF {
				t.Error("reading has ended as if the peer had closed")
			}
		},
		"not accepted": func(t *testing.T, _, _ *net.UnixConn) {
			path := filepath.Join(t.TempDir(), "s")
			l, err := net.Listen("unix", path)
			if err != nil {
				t.Fatal(err)
			}
			for range 3 {
				nc, err := net.Dial("unix", path)
				if err != nil {
					t.Fatal(err)
				}
				defer nc.Close()
				pass(t, nc.(*net.UnixConn), "hello", slow(t))
			}
			if err := CloseListener(l); err != nil {
				t.Error(err)
			}
			if _, err := net.Dial("unix", path); err == nil {
				t.Error("it still listens")
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			a, b := sockets(t)
			ends(t, name, func() { f(t, a, b) })
			ends(t, name+": a thread", func() {
				for len(closing) > 0 {
					time.Sleep(time.Millisecond)
				}
			})
		})
	}
}

// TestDiscard: the number of threads that close the descriptors that peers pass is bounded.
func TestDiscard(t *testing.T) {
	before := openFiles(t)
	for range 5 * mostClosing {
		null, err := syscall.Open("/dev/null", 0, 0)
		if err != nil {
			t.Fatal(err)
		}
		discard(null)
		if n := len(closing); n > mostClosing {
			t.Errorf("%d are being closed", n)
		}
	}
	filesAre(t, before)
}

// TestCloseConn: the peer of a socket that is closed with unread bytes gets what was sent to it,
// and the end.
func TestCloseConn(t *testing.T) {
	a, b := sockets(t)
	a.Write(make([]byte, 100_000))
	b.Write([]byte("bye"))
	if err := CloseConn(b); err != nil {
		t.Error(err)
	}
	if err := CloseConn(b); err == nil {
		t.Error("closed twice without an error")
	}
	if got, err := io.ReadAll(a); string(got) != "bye" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := a.Write([]byte("x")); err == nil {
		t.Error("it can still be written to")
	}
	if _, err := ReaderOf(b).Read(make([]byte, 1)); err == nil {
		t.Error("it can still be read")
	}
}

// sockets returns both ends of a unix socket.
func sockets(t *testing.T) (a, b *net.UnixConn) {
	t.Helper()
	fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	open := func(fd int) *net.UnixConn {
		f := os.NewFile(uintptr(fd), "")
		defer f.Close()
		nc, err := net.FileConn(f)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { nc.Close() })
		return nc.(*net.UnixConn)
	}
	return open(fds[0]), open(fds[1])
}

func openFiles(t *testing.T) int {
	t.Helper()
	list, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(list)
}
