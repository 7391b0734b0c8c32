// Package gateway offers Thrift services over HTTP with JSON, as the annotations of their IDL say,
// without generated code:
//
//	schema, err := dynamic.Load("orders.thrift")
//	client, err := rpc.Dial(ctx, "tcp", addr)
//	g := gateway.New(schema, map[string]rpc.Caller{"Orders": client})
//	if err := g.Err(); err != nil {
//		return err
//	}
//	if left := g.LeftOut(); left != nil {
//		log.Print("not offered: ", left)
//	}
//	srv := &http.Server{Addr: ":8080", Handler: g, ReadTimeout: 10 * time.Second}
//
// The annotations are the ones that Kitex and Hertz use. Methods have api.get, api.post, api.put,
// api.delete, api.patch, api.options, api.head and api.any, with a path. If no method of a service
// has one, each is offered at POST /Service/method; the body then has the arguments by their
// names. examples/programs/gateway has a table of the annotations of fields, and of the answers'
// statuses. Structs, maps and lists of them are JSON texts in queries, headers and the like, as
// for Hertz. A route that is not possible is left out.
//
// A request becomes the wire bytes of a Thrift message as its JSON is read. The reply's JSON is
// written from the bytes that came. Bodies may also be Thrift, application/x-thrift. A body
// without a type, or with application/octet-stream, is JSON or Thrift as it begins. Bodies may be
// compressed with gzip, and answers of 1 KiB or more are if the client prefers that.
//
// # Limits
//
// A body has at most 1 MiB, also when it is decompressed, a header 100 fields, a form 1,000 parts.
// What bodies become beyond 32 times their compressed size is at most 24 MiB at a time. A Gateway
// bounds the calls that it makes at the same time, and the memory of slow clients. The http.Server
// bounds the size of headers and the time of requests. Calls have the contexts of their requests:
// an http.Handler around the Gateway can add headers to calls with rpc.SetHeader.
//
// Read next: gateway.go for a request's way, routes.go and view.go for what annotations mean,
// request.go, jsontext.go, thriftbody.go and reply.go for HTTP to Thrift and back, budget.go for
// memory.
package gateway
