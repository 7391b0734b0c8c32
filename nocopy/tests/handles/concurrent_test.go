package handles_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"

	"github.com/nocopythrift/nocopythrift/internal/testmode"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/engine"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/render"
	"github.com/nocopythrift/nocopythrift/nocopy/tests/internal/handles"
)

// These tests are for the race detector: reading and sending must not change anything that other
// goroutines can see.

func TestConcurrentReaders(t *testing.T) {
	wire := handles.Wire()
	for _, w := range []way{inOnePiece, cutEvery(7), recycled, with(inOnePiece, engine.Lazy, "lazy")} {
		t.Run(w.Name, func(t *testing.T) {
			s, err := w.Parse(allDesc, wire)
			if err != nil {
				t.Fatal(err)
			}
			if err := s.Message().Index(); err != nil { // what Lazy left for later
				t.Fatal(err)
			}
			want := render.Text(mustParse(t, allDesc, wire), allDesc)
			together(t, func(i int) error {
				for range 20 {
					for name, use := range handles.Uses(s) {
						if !handles.Writes(name) && name != "Release" {
							use()
						}
					}
					if got := render.Text(s, allDesc); got != want {
						return fmt.Errorf("%s: reads as %s", w.Name, got)
					}
					c := s.Clone(allDesc)
					c.SetInt32(fieldNamed(allDesc, "medium"), int32(i))
					c.Release()
				}
				return nil
			})
			s.Release()
		})
	}
}

// TestConcurrentSenders: several goroutines send a finished message while others read it.
func TestConcurrentSenders(t *testing.T) {
	built := engine.New(allDesc)
	built.SetText(fieldNamed(allDesc, "text"), longText)
	words := nocopy.StringList(built.NewChild(fieldNamed(allDesc, "words"), allDesc, 0))
	for i := range testmode.Of(100, 300) {
		words.Append(strings.Repeat("w", i*7))
	}
	counts := nocopy.Map[string, int64, engine.AsString, engine.AsInt64](built.NewChild(fieldNamed(allDesc, "counts"), allDesc, 0))
	for i := range 300 {
		counts.Put(itoa(i), int64(i))
	}
	edited := mustParse(t, allDesc, handles.Wire())
	changeAll(t, edited, allDesc)
	for name, s := range map[string]engine.Struct{"built": built, "edited": edited} {
		t.Run(name, func(t *testing.T) {
			s.Message().Finish()
			want := bytes.Clone(s.Message().Bytes())
			together(t, func(i int) error {
				for k := range 10 {
					got, err := sendOne(s.Message(), i+k)
					if err != nil || !bytes.Equal(got, want) {
						return fmt.Errorf("%s: sent %d bytes, want %d: %v", name, len(got), len(want), err)
					}
					if render.Text(s, allDesc) == "" || s.Message().Len() != len(want) {
						return fmt.Errorf("%s: reads differently while it is sent", name)
					}
					if v, ok := nocopy.Map[string, int64, engine.AsString, engine.AsInt64](s.Child(fieldNamed(allDesc, "counts"), allDesc)).Get("7"); ok && v != 7 {
						return fmt.Errorf("%s: 7 is %d", name, v)
					}
				}
				return nil
			})
			s.Release()
		})
	}
}

// sendOne sends a message in one of several ways.
func sendOne(m *engine.Message, how int) ([]byte, error) {
	switch how % 4 {
	case 0:
		return m.Bytes(), nil
	case 1:
		return m.AppendTo(nil), nil
	case 2:
		var b bytes.Buffer
		_, err := m.WriteTo(&b)
		return b.Bytes(), err
	}
	client, server, err := tcpPair()
	if err != nil {
		return nil, err
	}
	defer server.Close()
	sent := make(chan error, 1)
	go func() {
		_, err := m.WriteTo(client)
		client.Close()
		sent <- err
	}()
	got, err := io.ReadAll(server)
	// The bytes do not say that the other goroutine has finished: m is WriteTo's until it
	// returns.
	return got, errors.Join(err, <-sent)
}

// tcpPair returns the two ends of a connection.
func tcpPair() (client, server net.Conn, err error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, nil, err
	}
	defer l.Close()
	if client, err = net.Dial("tcp", l.Addr().String()); err != nil {
		return nil, nil, err
	}
	server, err = l.Accept()
	return client, server, err
}

// TestConcurrentParts: many messages take values from one message, which others read at the same
// time, and change their copies.
func TestConcurrentParts(t *testing.T) {
	source := engine.New(allDesc)
	big := source.NewChild(fieldNamed(allDesc, "self"), allDesc, 0)
	big.SetInt64s(fieldNamed(allDesc, "numbers"), allDesc, make([]int64, 2000))
	point := big.NewChild(fieldNamed(allDesc, "point"), allDesc, 0)
	point.SetInt32(fieldNamed(pointDesc, "x"), 5)
	wire := bytes.Clone(source.Message().Bytes())
	for _, w := range []way{inOnePiece, owned, recycled, cutEvery(1000)} {
		t.Run(w.Name, func(t *testing.T) {
			shared, err := w.Parse(allDesc, wire)
			if err != nil {
				t.Fatal(err)
			}
			var start sync.WaitGroup
			start.Add(1)
			go func() {
				defer start.Done()
				for range 100 {
					render.Text(shared, allDesc)
				}
			}()
			together(t, func(i int) error {
				for range 50 {
					s := engine.New(allDesc)
					self, numbers := fieldNamed(allDesc, "self"), fieldNamed(allDesc, "numbers")
					s.SetChild(self, allDesc, shared.Child(self, allDesc))
					took := s.Child(self, allDesc)
					nocopy.Int64List(took.Child(numbers, allDesc)).Set(1, int64(i))
					took.Child(fieldNamed(allDesc, "point"), allDesc).SetInt32(fieldNamed(pointDesc, "x"), int32(i))
					again, err := engine.Parse(allDesc, s.Message().Bytes())
					if err != nil {
						return fmt.Errorf("%s: %v", w.Name, err)
					}
					if got := nocopy.Int64List(again.Child(self, allDesc).Child(numbers, allDesc)).At(1); got != int64(i) {
						return fmt.Errorf("%s: %d, want %d", w.Name, got, i)
					}
					again.Release()
					s.Release()
				}
				return nil
			})
			start.Wait()
			if !bytes.Equal(shared.Message().Bytes(), wire) {
				t.Errorf("%s: the shared message was changed", w.Name)
			}
			shared.Release()
		})
	}
}
