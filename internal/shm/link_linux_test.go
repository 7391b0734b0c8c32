//go:build !nounsafe

package shm

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// pair returns both sides of a connection, which are closed when the test has ended.
func pair(t testing.TB, size int) (a, b *Link) {
	t.Helper()
	a, b = newLink(t, size), newLink(t, size)
	attach(t, a, b)
	attach(t, b, a)
	return a, b
}

func newLink(t testing.TB, size int) *Link {
	t.Helper()
	l, err := New(size)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.Close)
	return l
}

func attach(t testing.TB, a, b *Link) {
	t.Helper()
	fd, err := syscall.Dup(b.FD())
	if err == nil {
		_, err = a.Attach(fd, b.Size())
	}
	if err != nil {
		t.Fatal(err)
	}
}

// send puts a message into l's memory and returns its position.
func send(t testing.TB, l *Link, message []byte) []byte {
	t.Helper()
	s, ok := l.Place(len(message))
	if !ok {
		t.Fatalf("no room for %d bytes", len(message))
	}
	copy(s.Bytes(), message)
	position := s.AppendPosition(nil, 0, len(message))
	s.Sent()
	s.Return()
	return position
}

func take(t testing.TB, l *Link, position []byte) *Taken {
	t.Helper()
	taken, err := l.Take(position)
	if err != nil {
		t.Fatal(err)
	}
	return taken
}

// TestLink: messages of all sizes arrive as they were sent, and the same memory is used again.
func TestLink(t *testing.T) {
	a, b := pair(t, 1<<20)
	var first uint64
	for i, n := range []int{1, 2, 4095, 4096, 4097, unit - 1, unit, unit + 1, 500_000, 1 << 20} {
		message := bytes.Repeat([]byte{byte(i), 1, 2}, n/3+1)[:n]
		position := send(t, a, message)
		if at := binary.BigEndian.Uint64(position[16:]); i == 0 {
			first = at
		} else if at != first {
			t.Errorf("%d bytes are at %d, not at %d again", n, at, first)
		}
		taken := take(t, b, position)
		if !bytes.Equal(taken.Mem, message) {
			t.Errorf("%d bytes came otherwise", n)
		}
		taken.Return()
	}
	if _, ok := a.Place(1<<20 + 1); ok {
		t.Error("more room than there is memory")
	}
}

// TestFull: there is no room if the memory is full or too many messages were not returned. Once
// they are returned there is as much room as before.
func TestFull(t *testing.T) {
	a, b := pair(t, 1<<20)
	for _, n := range []int{1 << 20, 1 << 19, 100_000, 4096, 1} {
		for range 3 {
			var positions [][]byte
			for {
				s, ok := a.Place(n)
				if !ok {
					break
				}
				positions = append(positions, s.AppendPosition(nil, 0, n))
				s.Sent()
				s.Return()
			}
			if want := min((1<<20)/((n+grain-1)&^(grain-1)), slots); len(positions) != want {
				t.Errorf("room for %d messages of %d bytes, not %d", len(positions), n, want)
			}
			rand.Shuffle(len(positions), func(i, j int) { positions[i], positions[j] = positions[j], positions[i] })
			for _, p := range positions {
				take(t, b, p).Return()
			}
		}
	}
}

// TestLimit: no more memory is used than the other side maps.
func TestLimit(t *testing.T) {
	a, b := newLink(t, 1<<20), newLink(t, 1<<20)
	attach(t, a, b)
	fd, _ := syscall.Dup(a.FD())
	maps, err := b.Attach(fd, 200_000)
	if err != nil || maps > 200_000 || maps < 100_000 {
		t.Fatal(maps, err)
	}
	a.Limit(maps)
	if _, ok := a.Place(maps + 1); ok {
		t.Error("room beyond the limit")
	}
	take(t, b, send(t, a, make([]byte, maps))).Return()
}

// TestHeld: a message that was sent and returned keeps its room as long as it is held, and is
// claimed once.
func TestHeld(t *testing.T) {
	a, b := pair(t, 1<<20)
	s, _ := a.Place(1 << 20)
	if !s.Claim() || s.Claim() || !s.In(a) || s.In(b) {
		t.Error("Claim or In is wrong")
	}
	s.Sent()
	take(t, b, s.AppendPosition(nil, 100, 5)).Return()
	if _, ok := a.Place(1); ok {
		t.Error("there is room where a message is held")
	}
	s.Return()
	if s, ok := a.Place(1 << 20); !ok {
		t.Error("there is no room when it is not")
	} else {
		s.Return()
	}
}

// TestOverlap: the memory of messages never overlaps, whatever the order in which they are
// returned by both sides.
func TestOverlap(t *testing.T) {
	a, b := pair(t, 1<<20)
	r := rand.New(rand.NewPCG(1, 2))
	type message struct {
		taken *Taken
		mark  byte
	}
	var open []message
	for i := range 20_000 {
		if s, ok := a.Place(1 + r.IntN(1<<r.IntN(19))); ok && r.IntN(3) > 0 {
			m := message{mark: byte(i)}
			for k := range s.Bytes() {
				s.Bytes()[k] = m.mark
			}
			position := s.AppendPosition(nil, 0, len(s.Bytes()))
			s.Sent()
			s.Return()
			m.taken = take(t, b, position)
			open = append(open, m)
		} else if ok {
			clear(s.Bytes())
			s.Return()
		}
		for len(open) > 0 && r.IntN(2) == 0 {
			k := r.IntN(len(open))
			m := open[k]
			if n := bytes.Count(m.taken.Mem, []byte{m.mark}); n != len(m.taken.Mem) {
				t.Fatalf("step %d: %d of %d bytes are as they were", i, n, len(m.taken.Mem))
			}
			m.taken.Return()
			open[k] = open[len(open)-1]
			open = open[:len(open)-1]
		}
	}
	for _, m := range open {
		m.taken.Return()
	}
	if s, ok := a.Place(1 << 20); !ok {
		t.Error("not all room is back")
	} else {
		s.Return()
	}
}

// TestSealed: only its maker can write to memory that was passed, and nobody can shrink or grow it
// or punch holes into it.
func TestSealed(t *testing.T) {
	l := newLink(t, 1<<20)
	fd := l.FD()
	if err := syscall.Ftruncate(fd, 0); err != syscall.EPERM {
		t.Error("ftruncate to 0: ", err)
	}
	if err := syscall.Ftruncate(fd, 8<<20); err != syscall.EPERM {
		t.Error("ftruncate to more: ", err)
	}
	const keepSize, punch = 1, 2
	if err := syscall.Fallocate(fd, keepSize|punch, 0, unit); err != syscall.EPERM {
		t.Error("punching: ", err)
	}
	if _, err := syscall.Pwrite(fd, []byte("x"), 0); err != syscall.EPERM {
		t.Error("pwrite: ", err)
	}
	if _, err := syscall.Mmap(fd, 0, unit, syscall.PROT_WRITE|syscall.PROT_READ, syscall.MAP_SHARED); err != syscall.EPERM {
		t.Error("mmap for writing: ", err)
	}
	if mem, err := syscall.Mmap(fd, 0, unit, syscall.PROT_READ, syscall.MAP_SHARED); err != nil {
		t.Error("mmap for reading: ", err)
	} else if err := syscall.Mprotect(mem, syscall.PROT_WRITE|syscall.PROT_READ); err != syscall.EACCES {
		t.Error("mprotect: ", err)
	}
	if _, err := fcntl(fd, addSeals, 8); !errors.Is(err, syscall.EPERM) {
		t.Error("another seal: ", err)
	}
}

// TestBadMemory: other files that are passed instead of sealed memory are refused and closed.
func TestBadMemory(t *testing.T) {
	memfd := func(size int64, seal int) int {
		fd, err := memfdCreate("test", closeOnExec|allowSealing)
		if err == nil {
			err = syscall.Ftruncate(fd, size)
		}
		if err == nil && seal != 0 {
			_, err = fcntl(fd, addSeals, seal)
		}
		if err != nil {
			t.Fatal(err)
		}
		return fd
	}
	file, err := os.Create(filepath.Join(t.TempDir(), "file"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	file.Truncate(1 << 20)
	fileFD, _ := syscall.Dup(int(file.Fd()))
	var pipe [2]int
	if err := syscall.Pipe(pipe[:]); err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(pipe[1])
	for name, fd := range map[string]int{
		"no seals":         memfd(1<<20, 0),
		"can be written":   memfd(1<<20, sealSeal|sealShrink|sealGrow),
		"can shrink":       memfd(1<<20, sealSeal|sealGrow|sealFutureWrite),
		"can grow":         memfd(1<<20, sealSeal|sealShrink|sealFutureWrite),
		"can be unsealed":  memfd(1<<20, sealShrink|sealGrow|sealFutureWrite),
		"empty":            memfd(0, seals),
		"less than a unit": memfd(100, seals),
		"no messages":      memfd(unit, seals),
		"a file":           fileFD,
		"a pipe":           pipe[0],
		"closed":           1 << 20,
		"none":             -1,
	} {
		l := newLink(t, 1<<20)
		if _, err := l.Attach(fd, 1<<20); err == nil {
			t.Errorf("%s: attached", name)
		}
		for end := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
			if _, err := fcntl(fd, 1, 0); errors.Is(err, syscall.EBADF) {
				break
			} else if time.Now().After(end) {
				t.Errorf("%s: the descriptor stays open", name)
				break
			}
		}
		if _, ok := l.Place(1); ok {
			t.Errorf("%s: there is room", name)
		}
	}
}

// TestHugePages: memory in huge pages is refused, since a mapped part of it could not be unmapped.
func TestHugePages(t *testing.T) {
	fd, err := memfdCreate("test", closeOnExec|allowSealing|hugePages)
	if err == nil {
		err = syscall.Ftruncate(fd, 64<<20)
	}
	if err == nil {
		_, err = fcntl(fd, addSeals, seals)
	}
	if err != nil {
		t.Skip("no huge pages here: ", err)
	}
	if _, err := newLink(t, 1<<20).Attach(fd, 1<<20); err == nil || !strings.Contains(err.Error(), "huge pages") {
		t.Error("attached: ", err)
	}
}

// TestHoles: memory that its maker has never allocated is read as zeroes, and is no fault.
func TestHoles(t *testing.T) {
	a, b := pair(t, 8<<20)
	for _, v := range [][2]int{{0, 8 << 20}, {8<<20 - 1, 1}, {4 << 20, unit + 1}} {
		taken := take(t, b, forged(0, 1, uint64(v[0]), uint32(v[1])))
		if n := bytes.Count(taken.Mem, []byte{0}); n != v[1] {
			t.Errorf("%d of %d bytes at %d are 0", n, v[1], v[0])
		}
		taken.Return()
	}
	_ = a
}

// forged returns a position.
func forged(slot, generation uint32, at uint64, n uint32) []byte {
	b := binary.BigEndian.AppendUint32(nil, Mark)
	b = binary.BigEndian.AppendUint32(b, slot)
	b = binary.BigEndian.AppendUint32(b, generation)
	b = binary.BigEndian.AppendUint32(b, n)
	return binary.BigEndian.AppendUint64(b, at)
}

// TestHostilePositions: positions that are not in the memory are errors.
func TestHostilePositions(t *testing.T) {
	_, b := pair(t, 1<<20)
	for _, v := range []struct {
		slot uint32
		at   uint64
		n    uint32
	}{
		{slots, 0, 1}, {1 << 31, 0, 1}, {0, 0, 0}, {0, 0, 1<<20 + 1}, {0, 1 << 20, 1}, {0, 1<<20 - 1, 2}, {0, 1 << 63, 1},
		{0, 1<<64 - 1, 1}, {0, 1<<64 - unit, unit}, {0, 0, 1<<32 - 1}, {0, 1, 1<<32 - 1}, {0, 0, 1 << 31},
	} {
		if _, err := b.Take(forged(v.slot, 1, v.at, v.n)); err == nil {
			t.Errorf("%+v: taken", v)
		}
	}
}

// FuzzTake: for every position, the bytes that are taken can be read, or there is an error.
func FuzzTake(f *testing.F) {
	_, b := pair(f, 1<<20)
	f.Add(uint32(0), uint32(1), uint64(0), uint32(1))
	f.Add(uint32(255), uint32(0), uint64(1<<20-1), uint32(2))
	f.Add(uint32(0), uint32(0), ^uint64(0), ^uint32(0))
	f.Fuzz(func(t *testing.T, slot, generation uint32, at uint64, n uint32) {
		taken, err := b.Take(forged(slot, generation, at, n))
		if err != nil {
			return
		}
		if len(taken.Mem) != int(n) || at+uint64(n) > 1<<20 {
			t.Errorf("%d bytes at %d of %d", len(taken.Mem), at, n)
		}
		bytes.Count(taken.Mem, []byte{1})
		taken.Return()
	})
}

// TestHostileWords: a peer that returns messages which it was never sent, or not yet, only
// gets its own memory used again; a message that is being filled keeps its room.
func TestHostileWords(t *testing.T) {
	a, b := pair(t, 1<<20)
	filling, _ := a.Place(unit)
	for i := range slots {
		for g := range uint32(3) {
			storeWord(b.out.mem, i, g)
			if s, ok := a.Place(unit); ok {
				if &s.Bytes()[0] == &filling.Bytes()[0] {
					t.Fatal("room that is being filled is given again")
				}
				s.Sent()
				s.Return()
			}
		}
	}
	filling.Return()
	storeWord(b.out.mem, 0, 1<<32-1)
	a.Place(1)
}

// TestClose: memory that is in use stays when its connection has ended, and is gone afterwards.
func TestClose(t *testing.T) {
	a, b := pair(t, 1<<20)
	taken := take(t, b, send(t, a, []byte("message")))
	slot, _ := a.Place(100)
	before := Lingering()
	a.Close()
	a.Close()
	b.Close()
	if n := Lingering(); n != before+2 {
		t.Errorf("%d linger, not %d", n, before+2)
	}
	if _, ok := a.Place(1); ok {
		t.Error("there is room")
	}
	if _, err := b.Take(forged(0, 1, 0, 1)); err == nil {
		t.Error("there is a message")
	}
	if string(taken.Mem) != "message" {
		t.Errorf("%q", taken.Mem)
	}
	copy(slot.Bytes(), "is still mapped")
	taken.Return()
	slot.Return()
	if n := Lingering(); n != before {
		t.Errorf("%d linger, not %d", n, before)
	}
	if a.out.mem != nil || a.in.mem != nil || b.out.mem != nil || b.in.mem != nil || a.out.fd >= 0 || b.out.fd >= 0 {
		t.Error("memory is still mapped")
	}
}

// TestConcurrent: many goroutines place, take and return, and messages stay what they were.
func TestConcurrent(t *testing.T) {
	a, b := pair(t, 4<<20)
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(uint64(g), 0))
			for range 500 {
				s, ok := a.Place(8 + r.IntN(200_000))
				if !ok {
					runtime.Gosched()
					continue
				}
				mark := r.Uint64()
				binary.BigEndian.PutUint64(s.Bytes(), mark)
				position := s.AppendPosition(nil, 0, len(s.Bytes()))
				s.Sent()
				s.Return()
				taken, err := b.Take(position)
				if err != nil || binary.BigEndian.Uint64(taken.Mem) != mark {
					t.Error("a message came otherwise: ", err)
					return
				}
				taken.Return()
			}
		})
	}
	wg.Wait()
}

// TestReader: a single descriptor is kept. Two are not kept, nor are those that are left after the
// system has dropped some, as MSG_CTRUNC says.
func TestReader(t *testing.T) {
	fd := newLink(t, 1<<20).FD()
	for _, count := range []int{0, 1, 2, 10, 40} {
		t.Run(fmt.Sprint(count), func(t *testing.T) {
			a, b := sockets(t)
			before := openFiles(t)
			fds := make([]int, count)
			for i := range fds {
				fds[i] = fd
			}
			var oob []byte
			if count > 0 {
				oob = syscall.UnixRights(fds...)
			}
			if _, _, err := a.WriteMsgUnix([]byte("hello"), oob, nil); err != nil {
				t.Fatal(err)
			}
			r := NewReader(b)
			buf := make([]byte, 10)
			if n, err := r.Read(buf); err != nil || string(buf[:n]) != "hello" {
				t.Fatal(n, err)
			}
			got, err := r.TakeFD()
			if (err == nil) != (count == 1) {
				t.Errorf("descriptor %d, %v", got, err)
			}
			if err == nil {
				CloseFD(got)
			}
			r.Close()
			filesAre(t, before)
		})
	}
}

// TestReaderAllocates: reading a unix socket allocates nothing, also if the peer has an address.
func TestReaderAllocates(t *testing.T) {
	l, err := net.Listen("unix", filepath.Join(t.TempDir(), "s"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	a, err := net.Dial("unix", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	b, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	in, byte1 := ReaderOf(a), make([]byte, 1)
	if n := testing.AllocsPerRun(100, func() {
		b.Write(byte1)
		if _, err := in.Read(byte1); err != nil {
			t.Error(err)
		}
	}); n > 0 && runtime.GOARCH != "386" { // where package syscall's Recvmsg is used
		t.Errorf("%v allocations", n)
	}
}
