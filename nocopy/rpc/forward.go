package rpc

import (
	"context"
	"sync"
)

// Forward returns a Handler that makes each call with backend, such as a Client, and answers with
// its result or its *ApplicationException. The result may hold fields and exceptions that this
// program does not know. Pass the Handler to Processor.WithHandler or WithFallback. Handlers and
// interceptors around it may read and change c.Args and c.Result:
//
//	forward := rpc.Forward(backend)
//	p := meta.NewMetastoreProcessor(meta.UnimplementedMetastoreHandler{})
//	p = p.WithHandler(forward).WithHandler(
//		func(ctx context.Context, c *rpc.Call) error {
//			args, _ := rpc.ArgsOf[meta.MetastoreCreateTableArgs](c)
//			args.GetTable().SetOwner("proxy")
//			return forward(ctx, c)
//		}, "create_table")
//
// Each side has its own sequence ids and transport. The backend gets method names without a
// service's name, with two exceptions: backend is a MultiplexedCaller, or the method came to a
// fallback with a service's name. The call ends with ctx, which a server ends when its client is
// gone. Server.Lazy and the option Lazy avoid indexing values that are not read.
//
// All arguments are well-formed when they are forwarded. But lazily parsed arguments, and
// arguments of a RawMethod, may lack required fields, or have text that is not UTF-8. A Server of
// this package refuses such a call and goes on. Other Thrift servers close the connection, and
// calls of other clients on it then fail. If clients are not trusted and the backend is such a
// server, call c.Args.Message().Index before forwarding lazily parsed arguments. For a RawMethod,
// forward the calls of each such client with a Client of its own.
//
// Forward copies only changed bytes and pieces shorter than 4 KiB, unless one side speaks the
// compact protocol or compresses: then messages are converted, see Stats.Converted. (If backend is
// a Client with interceptors, arguments are indexed again, and copied if they are in several
// pieces and have nested containers.) Arguments are sent as they are when the call begins.
//
// A result is released when the reply has been made from it, or, if another one is sent, when the
// call ends. There is one exception: a result that was put into a copy of a Call belongs to the
// handler, unless the server has interceptors.
func Forward(backend Caller) Handler {
	if backend == nil {
		panic("nocopy: rpc.Forward to a nil Caller")
	}
	var passing sync.Map // *Method → a copy of it that passes results on
	return func(ctx context.Context, c *Call) error {
		m := c.Method
		if !m.raw && !m.Oneway() {
			p, ok := passing.Load(m)
			if !ok {
				of := *m
				of.passes = m
				p, _ = passing.LoadOrStore(m, &of)
			}
			m = p.(*Method)
		}
		ctx, passBack := passHeaders(ctx)
		result, err := backend.Call(ctx, m, c.Args)
		if passBack != nil {
			passBack()
		}
		if err == nil && !m.Oneway() {
			c.putForwarded(result)
		}
		return err
	}
}
