package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"runtime/debug"
	"strconv"
	"time"

	"github.com/cloudwego/kitex/pkg/klog"
	"github.com/cloudwego/kitex/pkg/remote/codec/thrift"
	"github.com/cloudwego/kitex/server"

	kitexecho "github.com/nocopythrift/nocopythrift/bench/rpc/generated/kitex/echo"
	kitexservice "github.com/nocopythrift/nocopythrift/bench/rpc/generated/kitex/echo/echo"
	"github.com/nocopythrift/nocopythrift/bench/rpc/generated/nocopy/echo"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
)

// kind is a kind of server: how it is served at an address, what a request of a size is, and how
// large its reply is.
type kind struct {
	name      string
	serve     func(network, at string) error
	request   func(size int) []byte
	replySize func(size int) int
}

var servers = []kind{
	{"nocopy", serveNocopy(false), frame, frameSize},
	{"nocopy/recycle", serveNocopy(true), frame, frameSize},
	{"kitex", serveKitex, frame, frameSize},
	{"net/http", serveHTTP, post, func(size int) int { return len(okFor(size)) + size }},
}

// frameSize is the size of a request, and of its reply.
func frameSize(size int) int { return len(frame(size)) }

// beServer serves, and says on standard output that it does, and what it has used when standard
// input asks. It ends with standard input.
func beServer(name, network, at string) error {
	failed := make(chan error, 1)
	for _, s := range servers {
		if s.name == name {
			go func() { failed <- s.serve(network, at) }()
		}
	}
	for {
		nc, err := net.Dial(network, at)
		if err == nil {
			nc.Close()
			break
		}
		select {
		case err := <-failed:
			return err
		case <-time.After(10 * time.Millisecond):
		}
	}
	fmt.Println("listening")
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		if in.Text() == "memory" {
			time.Sleep(time.Second) // connections give memory back after a while
			debug.FreeOSMemory()
		}
		s := now()
		fmt.Println(s.cpu, s.resident)
	}
	os.Exit(0)
	return nil
}

type handler struct{}

func (handler) Echo(_ context.Context, args echo.EchoEchoArgs, result echo.EchoEchoResult) error {
	in, out := args.GetMessage(), result.NewSuccess()
	out.SetID(in.GetID())
	out.SetAction(in.GetAction())
	out.SetPayload(in.GetPayload())
	return nil
}

func serveNocopy(recycle bool) func(network, at string) error {
	return func(network, at string) error {
		l, err := net.Listen(network, at)
		if err != nil {
			return err
		}
		srv := &rpc.Server{Processor: echo.NewEchoProcessor(handler{}), Recycle: recycle, MaxConns: 1 << 20}
		return srv.Serve(l)
	}
}

type kitexHandler struct{}

func (kitexHandler) Echo(_ context.Context, m *kitexecho.Message) (*kitexecho.Message, error) {
	return m, nil
}

func serveKitex(network, at string) error {
	klog.SetLevel(klog.LevelFatal)
	codec := thrift.NewThriftCodecWithConfig(thrift.FastRead | thrift.FastWrite)
	var addr net.Addr = &net.UnixAddr{Net: network, Name: at}
	if network == "tcp" {
		var err error
		if addr, err = net.ResolveTCPAddr(network, at); err != nil {
			return err
		}
	}
	return kitexservice.NewServer(new(kitexHandler), server.WithServiceAddr(addr), server.WithPayloadCodec(codec)).Run()
}

// serveHTTP echoes bodies without looking at them.
func serveHTTP(network, at string) error {
	l, err := net.Listen(network, at)
	if err != nil {
		return err
	}
	return http.Serve(l, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body := make([]byte, r.ContentLength)
		if _, err := io.ReadFull(r.Body, body); err != nil {
			panic(http.ErrAbortHandler)
		}
		h := w.Header()
		h["Date"] = nil // so that all replies have the same size
		h.Set("Content-Type", "application/x-thrift")
		h.Set("Content-Length", strconv.Itoa(len(body)))
		w.Write(body)
	}))
}

func post(size int) []byte {
	b := fmt.Appendf(nil, "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-thrift\r\nContent-Length: %d\r\n\r\n", size)
	return append(b, make([]byte, size)...)
}

func okFor(size int) string {
	return fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Length: %d\r\nContent-Type: application/x-thrift\r\n\r\n", size)
}
