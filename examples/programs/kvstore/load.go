package main

import (
	"bytes"
	"context"
	crand "crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nocopythrift/nocopythrift/examples/kv"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
)

// load makes calls of all kinds and checks the replies.
type load struct {
	meter   meter
	refused atomic.Int64
	mean    int // size of values
	// All values are cut from pad: they are easy to check and take no time to make
	pad     []byte
	maxKeys int // of one worker
}

// stored is about how many bytes the workers keep in the store between them, at most.
const stored = 256 << 20

func newLoad(mean, workers int) *load {
	l := &load{mean: mean, pad: make([]byte, 16*max(mean, 256))}
	crand.Read(l.pad)
	l.maxKeys = min(max(stored/max(mean, 256)/workers, 4), 10_000)
	return l
}

// run makes calls in several workers until ctx ends or a reply is wrong.
func (l *load) run(ctx context.Context, caller rpc.Caller, workers int) (wrong error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	// Calls that are under way when ctx ends have some time to finish.
	calls, giveUp := context.WithCancel(context.WithoutCancel(ctx))
	defer giveUp()
	defer context.AfterFunc(ctx, func() { time.AfterFunc(grace, giveUp) })()
	var wg sync.WaitGroup
	var once sync.Once
	for range workers {
		w := l.newWorker(kv.NewKeyValueClient(caller))
		wg.Go(func() {
			for ctx.Err() == nil {
				if err := w.call(calls); err != nil {
					once.Do(func() { wrong = err })
					stop()
				}
			}
		})
	}
	wg.Wait()
	return wrong
}

// worker makes one call after the other. No other worker uses its keys: it knows which values the
// store must return.
type worker struct {
	*load
	client kv.KeyValueClient
	rng    *rand.Rand
	prefix uint64 // the beginning of its keys
	serial uint32 // the number of its next key
	pairs  []pair // its keys and values in the store
}

type pair struct{ key, value []byte }

func (l *load) newWorker(client kv.KeyValueClient) *worker {
	return &worker{load: l, client: client, rng: rand.New(rand.NewPCG(rand.Uint64(), 0)), prefix: rand.Uint64()}
}

// The kinds of call.
const (
	create = iota
	retrieve
	update
	remove
)

var kinds = [...]string{"create", "retrieve", "update", "delete"}

// refusedShare is how many calls there are for one that the server must refuse.
const refusedShare = 50

// call makes a call of any kind.
func (w *worker) call(ctx context.Context) error {
	kind := w.rng.IntN(4)
	if w.rng.IntN(refusedShare) == 0 {
		return w.refuse(ctx, kind)
	}
	if len(w.pairs) == 0 {
		kind = create
	} else if len(w.pairs) >= w.maxKeys && kind == create {
		kind = remove
	}
	var p pair
	i := 0
	if kind == create {
		p = pair{w.newKey(), w.newValue()}
	} else {
		i = w.rng.IntN(len(w.pairs))
		p = w.pairs[i]
	}
	if kind == update {
		p.value = w.newValue()
	}
	if err := w.send(ctx, kind, p); err != nil {
		return fmt.Errorf("%s: %w", kinds[kind], err)
	}
	switch kind {
	case create:
		w.pairs = append(w.pairs, p)
	case update:
		w.pairs[i] = p
	case remove:
		last := len(w.pairs) - 1
		w.pairs[i] = w.pairs[last]
		w.pairs = w.pairs[:last]
	}
	return nil
}

// refuse makes a call that the server must answer with a declared exception.
func (w *worker) refuse(ctx context.Context, kind int) error {
	p := pair{w.newKey(), w.newValue()}
	var exists kv.AlreadyExists
	var missing kv.NotFound
	if kind == create && len(w.pairs) > 0 {
		p.key = w.pairs[0].key
	} else if kind == create {
		kind = update
	}
	err := w.send(ctx, kind, p)
	w.refused.Add(1)
	switch {
	case kind == create && errors.As(err, &exists) && bytes.Equal(exists.GetKey(), p.key):
		exists.Release()
		return nil
	case kind != create && errors.As(err, &missing) && bytes.Equal(missing.GetKey(), p.key):
		missing.Release()
		return nil
	}
	return fmt.Errorf("%s should have been refused: %v", kinds[kind], err)
}

// send makes one call, measures it, and checks the value that it retrieves.
func (w *worker) send(ctx context.Context, kind int, p pair) error {
	start := time.Now()
	n := len(p.key)
	var err error
	switch kind {
	case create:
		// The value is not copied into the request (if it has 4 KiB or more) but sent from the pad.
		n += len(p.value)
		var r kv.KeyValueCreateResult
		if r, err = w.client.Create(ctx, func(a kv.KeyValueCreateArgs) { a.SetKey(p.key); a.SetValue(p.value) }); err == nil {
			r.Release()
		}
	case retrieve:
		var r kv.KeyValueRetrieveResult
		if r, err = w.client.Retrieve(ctx, func(a kv.KeyValueRetrieveArgs) { a.SetKey(p.key) }); err == nil {
			// The value is compared where it was received.
			value := r.GetSuccess()
			if n += len(value); !bytes.Equal(value, p.value) {
				err = fmt.Errorf("a value of %d bytes is not the one of %d bytes that was stored", len(value), len(p.value))
			}
			r.Release()
		}
	case update:
		n += len(p.value)
		var r kv.KeyValueUpdateResult
		if r, err = w.client.Update(ctx, func(a kv.KeyValueUpdateArgs) { a.SetKey(p.key); a.SetValue(p.value) }); err == nil {
			r.Release()
		}
	case remove:
		var r kv.KeyValueDeleteResult
		if r, err = w.client.Delete(ctx, func(a kv.KeyValueDeleteArgs) { a.SetKey(p.key) }); err == nil {
			r.Release()
		}
	}
	w.meter.add(time.Since(start), n)
	return err
}

// newKey returns a key of some 60 bytes that no call has used before.
func (w *worker) newKey() []byte {
	rest := w.cut(48)
	key := binary.BigEndian.AppendUint64(make([]byte, 0, 8+4+len(rest)), w.prefix)
	key = binary.BigEndian.AppendUint32(key, w.serial)
	w.serial++
	return append(key, rest...)
}

func (w *worker) newValue() []byte { return w.cut(w.mean) }

// cut returns a piece of the pad, with an exponentially distributed size.
func (w *worker) cut(mean int) []byte {
	n := min(int(w.rng.ExpFloat64()*float64(mean)), len(w.pad)/2)
	from := w.rng.IntN(len(w.pad) - n)
	return w.pad[from : from+n : from+n]
}
