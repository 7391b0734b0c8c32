package rpctest_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nocopythrift/nocopythrift/examples/kv"
	"github.com/nocopythrift/nocopythrift/internal/testmode"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/dynamic"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/rpctest"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(leakless{m}) }

// leakless runs tests, and fails if the library has not released its own messages.
type leakless struct{ m *testing.M }

// It waits until goroutines have ended: goleak does so for less than a second.
func (l leakless) Run() int {
	code := testmode.Main(l.m, nocopy.Leaked)
	for end := time.Now().Add(time.Minute); code == 0 && goleak.Find() != nil && time.Now().Before(end); {
	}
	return code
}

// store is a handler with two of its service's methods.
type store struct {
	kv.KeyValueHandler
	values sync.Map
}

func (s *store) Create(_ context.Context, args kv.KeyValueCreateArgs, result kv.KeyValueCreateResult) error {
	if _, exists := s.values.LoadOrStore(string(args.GetKey()), bytes.Clone(args.GetValue())); exists {
		result.NewExists().SetKey(args.GetKey())
	}
	return nil
}

func (s *store) Retrieve(ctx context.Context, args kv.KeyValueRetrieveArgs, result kv.KeyValueRetrieveResult) error {
	if string(args.GetKey()) == "slow" {
		<-ctx.Done()
		return ctx.Err()
	}
	v, ok := s.values.Load(string(args.GetKey()))
	if !ok {
		missing := kv.NewNotFound()
		missing.SetKey(args.GetKey())
		return missing
	}
	result.SetSuccess(v.([]byte))
	return nil
}

func create(c kv.KeyValueClient, key string, value []byte) error {
	r, err := c.Create(context.Background(), func(args kv.KeyValueCreateArgs) {
		args.SetKey([]byte(key))
		args.SetValue(value)
	})
	if err == nil {
		r.Release()
	}
	return err
}

func retrieve(ctx context.Context, c kv.KeyValueClient, key string) ([]byte, error) {
	r, err := c.Retrieve(ctx, func(args kv.KeyValueRetrieveArgs) { args.SetKey([]byte(key)) })
	if err != nil {
		return nil, err
	}
	defer r.Release()
	return bytes.Clone(r.GetSuccess()), nil
}

// TestServe: results, declared exceptions of both forms, other errors, interceptors and deadlines
// behave as over a connection, with and without Recycle.
func TestServe(t *testing.T) {
	for _, recycle := range []bool{false, true} {
		var served, sent atomic.Int32
		count := func(n *atomic.Int32) rpc.Interceptor {
			return func(ctx context.Context, c *rpc.Call, next rpc.Handler) error {
				n.Add(1)
				return next(ctx, c)
			}
		}
		srv := &rpc.Server{Processor: kv.NewKeyValueProcessor(new(store)), Recycle: recycle, Interceptors: []rpc.Interceptor{count(&served)}}
		c := kv.NewKeyValueClient(rpctest.Serve(t, srv, rpc.Interceptors(count(&sent))))
		ctx := t.Context()
		large := bytes.Repeat([]byte("0123456789"), 500_000)
		for i := range 2 {
			err := create(c, "large", large)
			var exists kv.AlreadyExists
			if (err != nil) != (i == 1) || i == 1 && (!errors.As(err, &exists) || string(exists.GetKey()) != "large") {
				t.Errorf("create %d: %v", i, err)
			}
		}
		if v, err := retrieve(ctx, c, "large"); err != nil || !bytes.Equal(v, large) {
			t.Errorf("%d bytes, %v", len(v), err)
		}
		var missing kv.NotFound
		if _, err := retrieve(ctx, c, "none"); !errors.As(err, &missing) || string(missing.GetKey()) != "none" {
			t.Error(err)
		}
		var answer *rpc.ApplicationException
		if _, err := c.Delete(ctx, func(kv.KeyValueDeleteArgs) {}); !errors.As(err, &answer) || answer.Type != rpc.UnknownMethod {
			t.Errorf("a method that the fake does not have: %v", err)
		}
		short, cancel := context.WithTimeout(ctx, time.Millisecond)
		if _, err := retrieve(short, c, "slow"); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
		cancel()
		if served.Load() < 5 || sent.Load() != 6 {
			t.Errorf("%d calls sent, %d served", sent.Load(), served.Load())
		}
	}
}

// TestServeConcurrently: any number of calls at once, over the connections of several clients.
func TestServeConcurrently(t *testing.T) {
	c := kv.NewKeyValueClient(rpctest.Serve(t, &rpc.Server{Processor: kv.NewKeyValueProcessor(new(store)), Concurrency: 2}, rpc.PoolSize(4)))
	var wg sync.WaitGroup
	for i := range 100 {
		wg.Go(func() {
			key := fmt.Sprint(i)
			value := bytes.Repeat([]byte(key), i*100)
			if err := create(c, key, value); err != nil {
				t.Error(err)
			}
			if v, err := retrieve(context.Background(), c, key); err != nil || !bytes.Equal(v, value) {
				t.Errorf("%s: %d bytes, %v", key, len(v), err)
			}
		})
	}
	wg.Wait()
}

// TestBusy: a call returns when its context ends, even if the server accepts no more calls.
func TestBusy(t *testing.T) {
	c := kv.NewKeyValueClient(rpctest.Serve(t, &rpc.Server{Processor: kv.NewKeyValueProcessor(new(store)), Concurrency: 1}, rpc.PoolSize(1)))
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() {
		_, err := retrieve(ctx, c, "slow")
		done <- err
	}()
	for range 20 {
		short, stop := context.WithTimeout(t.Context(), time.Millisecond)
		if _, err := retrieve(short, c, "slow"); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
		stop()
	}
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// TestStop: calls after stop fail, and stop may be called again.
func TestStop(t *testing.T) {
	cl, stop := rpctest.Start(&rpc.Server{Processor: kv.NewKeyValueProcessor(new(store))})
	c := kv.NewKeyValueClient(cl)
	if err := create(c, "a", nil); err != nil {
		t.Error(err)
	}
	stop()
	if err := create(c, "b", nil); !errors.Is(err, rpc.ErrClientClosed) {
		t.Error(err)
	}
	stop()
}

// TestRecorder: recorded calls stay unchanged when their messages change.
func TestRecorder(t *testing.T) {
	r := rpctest.NewRecorder(rpctest.Serve(t, &rpc.Server{Processor: kv.NewKeyValueProcessor(new(store)), Recycle: true}))
	c := kv.NewKeyValueClient(r)
	create(c, "a", []byte("1"))
	retrieve(t.Context(), c, "a")
	retrieve(t.Context(), c, "b")
	var got []string
	for _, call := range r.Calls() {
		got = append(got, call.String())
	}
	want := []string{
		`KeyValue.create{key: 0x61, value: 0x31} = {}`,
		`KeyValue.retrieve{key: 0x61} = {success: 0x31}`,
		`KeyValue.retrieve{key: 0x62}: `,
	}
	for i, w := range want {
		if i >= len(got) || !strings.HasPrefix(got[i], w) {
			t.Errorf("call %d: %q", i, got)
		}
	}
	last := r.Calls()[2]
	var missing kv.NotFound
	if !errors.As(last.Err, &missing) || string(kv.KeyValueRetrieveArgs(last.Args).GetKey()) != "b" {
		t.Error(last)
	}
}

// TestRefuses: invalid arguments give a panic that says so.
func TestRefuses(t *testing.T) {
	for _, f := range []func(){
		func() { rpctest.Start(nil) },
		func() { rpctest.Start(&rpc.Server{}) },
		func() { rpctest.NewRecorder(nil) },
	} {
		func() {
			defer func() {
				if p := fmt.Sprint(recover()); !strings.HasPrefix(p, "nocopy: ") {
					t.Error(p)
				}
			}()
			f()
		}()
	}
}

// failures is a testing.TB that keeps its errors.
type failures struct {
	testing.TB
	mu   sync.Mutex
	said []string
}

func (f *failures) Errorf(format string, args ...any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.said = append(f.said, fmt.Sprintf(format, args...))
}

// TestMissing: required fields that were never set, in arguments, results and exceptions, are
// errors of the test.
func TestMissing(t *testing.T) {
	schema, err := dynamic.LoadText(map[string]string{"a.thrift": `
		struct Item { 1: required string name }
		exception Gone { 1: required string what }
		service Shop { Item find(1: Item like) throws (1: Gone gone) }`})
	if err != nil {
		t.Fatal(err)
	}
	shop, _ := schema.Service("Shop")
	item, _ := schema.Struct("Item")
	gone, _ := schema.Struct("Gone")
	srv := &rpc.Server{Logger: slog.New(slog.DiscardHandler), Processor: shop.Processor(func(ctx context.Context, c *dynamic.Call) error {
		like, _ := c.Args.Get("like")
		name, _ := like.Message().Get("name")
		switch name.Text() {
		case "gone":
			return dynamic.Exception{Message: gone.New()}
		case "good":
			m := item.New()
			m.Set("name", "good")
			return c.Return(m)
		}
		_, err := c.Result.New("success")
		return err
	})}
	f := &failures{TB: t}
	client := shop.Client(rpctest.Serve(f, srv))
	kept := item.New()
	debugging := len(nocopy.Leaked()) > 0 // only the debug build lists kept
	defer kept.Release()
	for _, c := range []struct {
		name string
		want string
	}{
		{"good", ""},
		{"gone", "rpctest: Shop.find: the exception: Gone.what, a required field of Gone, was never set"},
		{"", "rpctest: Shop.find: the arguments: find_args.like.name, a required field of Item, was never set"},
		{"empty", "rpctest: Shop.find: the result: find_result.success.name, a required field of Item, was never set"},
	} {
		args, err := client.NewArgs("find")
		if err != nil {
			t.Fatal(err)
		}
		like, err := args.New("like")
		if err != nil {
			t.Fatal(err)
		}
		if c.name != "" {
			like.Message().Set("name", c.name)
		}
		func() {
			defer func() {
				if v := recover(); v != nil && !debugging { // with the tag, sending them panics
					t.Errorf("%q: %v", c.name, v)
				}
			}()
			client.Call(context.Background(), "find", args)
		}()
		f.mu.Lock()
		got := f.said
		f.said = nil
		f.mu.Unlock()
		if len(got) > 0 && got[0] != c.want || len(got) == 0 && c.want != "" && !debugging {
			t.Errorf("%q: %q, want %q", c.name, got, c.want)
		}
	}
}
