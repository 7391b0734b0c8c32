// The service of the tests, written for Apache Thrift's Go library, and its server.

package interop_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/apache/thrift/lib/go/thrift"

	"github.com/nocopythrift/nocopythrift/interop"
	apache "github.com/nocopythrift/nocopythrift/interop/internal/apache/thrifttest"
)

// apacheHandler is the test service as a user of Apache Thrift's Go library writes it.
type apacheHandler struct{}

func (apacheHandler) TestVoid(context.Context) error                                   { return nil }
func (apacheHandler) TestString(_ context.Context, v string) (string, error)           { return v, nil }
func (apacheHandler) TestBool(_ context.Context, v bool) (bool, error)                 { return v, nil }
func (apacheHandler) TestByte(_ context.Context, v int8) (int8, error)                 { return v, nil }
func (apacheHandler) TestI32(_ context.Context, v int32) (int32, error)                { return v, nil }
func (apacheHandler) TestI64(_ context.Context, v int64) (int64, error)                { return v, nil }
func (apacheHandler) TestDouble(_ context.Context, v float64) (float64, error)         { return v, nil }
func (apacheHandler) TestBinary(_ context.Context, v []byte) ([]byte, error)           { return v, nil }
func (apacheHandler) TestSet(_ context.Context, v []int32) ([]int32, error)            { return v, nil }
func (apacheHandler) TestList(_ context.Context, v []int32) ([]int32, error)           { return v, nil }
func (apacheHandler) TestUuid(_ context.Context, v thrift.Tuuid) (thrift.Tuuid, error) { return v, nil }

func (apacheHandler) TestStruct(_ context.Context, v *apache.Xtruct) (*apache.Xtruct, error) {
	return v, nil
}

func (apacheHandler) TestNest(_ context.Context, v *apache.Xtruct2) (*apache.Xtruct2, error) {
	return v, nil
}

func (apacheHandler) TestMap(_ context.Context, v map[int32]int32) (map[int32]int32, error) {
	return v, nil
}

func (apacheHandler) TestStringMap(_ context.Context, v map[string]string) (map[string]string, error) {
	return v, nil
}

func (apacheHandler) TestEnum(_ context.Context, v apache.Numberz) (apache.Numberz, error) {
	return v, nil
}

func (apacheHandler) TestTypedef(_ context.Context, v apache.UserId) (apache.UserId, error) {
	return v, nil
}

func (apacheHandler) TestMapMap(context.Context, int32) (map[int32]map[int32]int32, error) {
	return map[int32]map[int32]int32{
		-4: {-4: -4, -3: -3, -2: -2, -1: -1},
		4:  {4: 4, 3: 3, 2: 2, 1: 1},
	}, nil
}

func (apacheHandler) TestInsanity(_ context.Context, v *apache.Insanity) (map[apache.UserId]map[apache.Numberz]*apache.Insanity, error) {
	return map[apache.UserId]map[apache.Numberz]*apache.Insanity{
		1: {2: v, 3: v},
		2: {6: apache.NewInsanity()},
	}, nil
}

func (apacheHandler) TestMulti(_ context.Context, arg0 int8, arg1 int32, arg2 int64, _ map[int16]string, _ apache.Numberz, _ apache.UserId) (*apache.Xtruct, error) {
	return &apache.Xtruct{StringThing: "Hello2", ByteThing: arg0, I32Thing: arg1, I64Thing: arg2}, nil
}

func (apacheHandler) TestException(_ context.Context, arg string) error {
	switch arg {
	case "Xception":
		return &apache.Xception{ErrorCode: 1001, Message: arg}
	case "TException":
		return errors.New("Just TException")
	}
	return nil
}

func (apacheHandler) TestMultiException(_ context.Context, arg0, arg1 string) (*apache.Xtruct, error) {
	switch arg0 {
	case "Xception":
		return nil, &apache.Xception{ErrorCode: 1001, Message: "This is an Xception"}
	case "Xception2":
		return nil, &apache.Xception2{ErrorCode: 2002, StructThing: &apache.Xtruct{StringThing: "This is an Xception2"}}
	}
	return &apache.Xtruct{StringThing: arg1}, nil
}

func (apacheHandler) TestOneway(ctx context.Context, seconds int32) error {
	select {
	case <-time.After(time.Duration(seconds) * time.Second):
	case <-ctx.Done():
	}
	return nil
}

func (apacheHandler) SecondtestString(_ context.Context, v string) (string, error) {
	return `testString("` + v + `")`, nil
}

// apacheFactories returns Apache's factories for the names of a transport and a protocol.
func apacheFactories(t *testing.T, transport, protocol string) (thrift.TTransportFactory, thrift.TProtocolFactory) {
	t.Helper()
	cfg := &thrift.TConfiguration{}
	var protocols thrift.TProtocolFactory = thrift.NewTBinaryProtocolFactoryConf(cfg)
	if isCompact(protocol) {
		protocols = thrift.NewTCompactProtocolFactoryConf(cfg)
	}
	switch transport {
	case "framed":
		return thrift.NewTFramedTransportFactoryConf(thrift.NewTTransportFactory(), cfg), protocols
	case "header":
		if isCompact(protocol) {
			cfg.THeaderProtocolID = thrift.THeaderProtocolIDPtrMust(thrift.THeaderProtocolCompact)
		}
		return thrift.NewTHeaderTransportFactoryConf(nil, cfg), thrift.NewTHeaderProtocolFactoryConf(cfg)
	case "http":
		return thrift.NewTTransportFactory(), protocols
	case "buffered":
		return thrift.NewTBufferedTransportFactory(8192), protocols
	}
	t.Fatalf("unknown transport %q", transport)
	return nil, nil
}

func isCompact(protocol string) bool { return protocol == "compact" || protocol == "multic" }

// startApache starts a server of Apache's library and returns its port. It ends with the test.
// Each of around puts a processor around all others.
func startApache(t *testing.T, transport, protocol string, handler apache.ThriftTest, around ...func(thrift.TProcessor) thrift.TProcessor) string {
	t.Helper()
	socket, err := thrift.NewTServerSocket("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return serveApache(t, socket, transport, protocol, handler, around...)
}

// serverSocket is implemented by Apache's sockets, with TLS and without.
type serverSocket interface {
	thrift.TServerTransport
	Addr() net.Addr
}

// serveApache is startApache with a socket.
func serveApache(t *testing.T, socket serverSocket, transport, protocol string, handler apache.ThriftTest, around ...func(thrift.TProcessor) thrift.TProcessor) string {
	t.Helper()
	transports, protocols := apacheFactories(t, transport, protocol)
	var processor thrift.TProcessor = apache.NewThriftTestProcessor(handler)
	if interop.Multiplexed(protocol) {
		both := thrift.NewTMultiplexedProcessor()
		both.RegisterDefault(processor)
		both.RegisterProcessor("ThriftTest", processor)
		both.RegisterProcessor("SecondService", apache.NewSecondServiceProcessor(apacheHandler{}))
		processor = both
	}
	for _, f := range around {
		processor = f(processor)
	}
	if transport == "http" {
		return serveHTTP(t, thrift.NewThriftHandlerFunc(processor, protocols, protocols))
	}
	if err := socket.Listen(); err != nil {
		t.Fatal(err)
	}
	server := thrift.NewTSimpleServer4(processor, socket, transports, protocols)
	done := make(chan struct{})
	go func() {
		defer close(done)
		server.Serve()
	}()
	t.Cleanup(func() {
		server.Stop()
		socket.Close()
		<-done
	})
	_, port, err := net.SplitHostPort(socket.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return port
}

// serveHTTP starts an HTTP server and returns its port. It ends with the test.
func serveHTTP(t *testing.T, handler http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewServer(handler)
	t.Cleanup(s.Close)
	return s.URL[strings.LastIndexByte(s.URL, ':')+1:]
}
