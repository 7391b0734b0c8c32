package main

import (
	"net"
	"path/filepath"

	"github.com/cloudwego/shmipc-go"
)

// shmipcPiece is the largest slice of its memory.
const shmipcPiece = 128<<10 - 20

// defaultSizes are the sizes of its slices unless they are configured.
var defaultSizes = shmipc.DefaultConfig().BufferSliceSizes

// tunedSizes are for messages of few pieces.
var tunedSizes = []*shmipc.SizePercentPair{{Size: 8192 - 20, Percent: 30}, {Size: shmipcPiece, Percent: 70}}

// openShmipc has no Thrift and no calls: so many records at a time are written to a stream's
// buffers in shared memory, of slices of these sizes, and read from there.
func openShmipc(sizes []*shmipc.SizePercentPair, perPiece int) func(string, int, int, bool) ([]func() error, func(), error) {
	return func(dir string, n, workers int, all bool) ([]func() error, func(), error) {
		return dialShmipc(shmipcRecords{sizes, perPiece, all}, dir, n, workers)
	}
}

// shmipcRecords is how records are written and read.
type shmipcRecords struct {
	sizes    []*shmipc.SizePercentPair
	perPiece int
	all      bool
}

func dialShmipc(how shmipcRecords, dir string, n, workers int) ([]func() error, func(), error) {
	path := filepath.Join(dir, "s")
	shmipc.SetLogLevel(5)
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		return nil, nil, err
	}
	memory := max(uint32(64<<20), uint32(16*n*recordSize))
	go func() {
		nc, err := l.Accept()
		if err != nil {
			return
		}
		conf := shmipc.DefaultConfig()
		conf.ShareMemoryBufferCap, conf.BufferSliceSizes = memory, how.sizes
		conf.MemMapType = shmipc.MemMapTypeMemFd
		s, err := shmipc.Server(nc, conf)
		if err != nil {
			return
		}
		for {
			stream, err := s.AcceptStream()
			if err != nil {
				return
			}
			go func() {
				for {
					if how.read(stream, n) != nil || how.write(stream, 1) != nil {
						return
					}
					if how.read(stream, 1) != nil || how.write(stream, n) != nil {
						return
					}
				}
			}()
		}
	}()
	conf := shmipc.DefaultSessionManagerConfig()
	conf.Network, conf.Address = "unix", path
	conf.SessionNum = 1
	conf.MemMapType = shmipc.MemMapTypeMemFd
	conf.ShareMemoryPathPrefix = "shmipc.bench"
	conf.ShareMemoryBufferCap, conf.BufferSliceSizes = memory, how.sizes
	manager, err := shmipc.NewSessionManager(conf)
	if err != nil {
		return nil, nil, err
	}
	var calls []func() error
	for range workers {
		stream, err := manager.GetStream()
		if err != nil {
			return nil, nil, err
		}
		calls = append(calls, func() error {
			for _, v := range [][2]int{{n, 1}, {1, n}} {
				if err := how.write(stream, v[0]); err != nil {
					return err
				}
				if err := how.read(stream, v[1]); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return calls, func() { manager.Close(); l.Close() }, nil
}

func (how shmipcRecords) write(s *shmipc.Stream, n int) error {
	w := s.BufferWriter()
	for i := 0; i < n; i += how.perPiece {
		m := min(n-i, how.perPiece)
		b, err := w.Reserve(m * recordSize)
		if err != nil {
			return err
		}
		putRecords(b, i, i+m)
	}
	return s.Flush(false)
}

func (how shmipcRecords) read(s *shmipc.Stream, n int) error {
	r, sum, every := s.BufferReader(), int64(0), step(n, how.all)
	for i := 0; i < n; i += how.perPiece {
		m := min(n-i, how.perPiece)
		b, err := r.ReadBytes(m * recordSize)
		if err != nil {
			return err
		}
		sum += sumPut(b, i, i+m, every)
	}
	r.ReleasePreviousRead()
	return checkSum(sum, sumsOf(n, how.all), nil)
}
