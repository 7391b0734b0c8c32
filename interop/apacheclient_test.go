// A client of Apache Thrift's Go library that calls every method and checks the answers.

package interop_test

import (
	"bytes"
	"context"
	"errors"
	"math"
	"net"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apache/thrift/lib/go/thrift"
	"github.com/google/go-cmp/cmp"

	"github.com/nocopythrift/nocopythrift/interop"
	apache "github.com/nocopythrift/nocopythrift/interop/internal/apache/thrifttest"
)

// apacheClient is a client of Apache's library, with the service that only a multiplexed server
// has.
type apacheClient struct {
	t      *testing.T
	ctx    context.Context
	first  *apache.ThriftTestClient
	second *apache.SecondServiceClient
	http   bool
}

func dialApache(t *testing.T, port, transport, protocol string) *apacheClient {
	t.Helper()
	if transport == "http" {
		client, err := thrift.NewTHttpClient("http://" + net.JoinHostPort("127.0.0.1", port))
		if err != nil {
			t.Fatal(err)
		}
		return openApache(t, client, transport, protocol)
	}
	return openApache(t, thrift.NewTSocketConf(net.JoinHostPort("127.0.0.1", port), &thrift.TConfiguration{
		ConnectTimeout: 10 * time.Second,
		SocketTimeout:  2 * time.Minute,
	}), transport, protocol)
}

// openApache makes a client on a socket, which has TLS or not.
func openApache(t *testing.T, socket thrift.TTransport, transport, protocol string) *apacheClient {
	t.Helper()
	transports, protocols := apacheFactories(t, transport, protocol)
	trans, err := transports.GetTransport(socket)
	if err != nil {
		t.Fatal(err)
	}
	if err := trans.Open(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { trans.Close() })
	proto := protocols.GetProtocol(trans)
	c := &apacheClient{t: t, ctx: context.Background(), http: transport == "http"}
	if interop.Multiplexed(protocol) {
		second := thrift.NewTMultiplexedProtocol(proto, "SecondService")
		c.second = apache.NewSecondServiceClient(thrift.NewTStandardClient(proto, second))
		first := thrift.NewTMultiplexedProtocol(proto, "ThriftTest")
		c.first = apache.NewThriftTestClient(thrift.NewTStandardClient(proto, first))
		return c
	}
	c.first = apache.NewThriftTestClient(thrift.NewTStandardClient(proto, proto))
	return c
}

// echoes calls a method with each of the values, which the reply must hold.
func echoes[T any](c *apacheClient, name string, call func(context.Context, T) (T, error), values ...T) {
	c.t.Helper()
	for _, v := range values {
		got, err := call(c.ctx, v)
		if err != nil {
			c.t.Errorf("%s: %v", name, err)
		} else if !reflect.DeepEqual(v, got) { // much faster than cmp
			c.t.Errorf("%s: %.1000s", name, cmp.Diff(v, got))
		}
	}
}

// equal checks that a call returned the expected value.
func equal(t *testing.T, name string, want, got any, err error) {
	t.Helper()
	if err != nil {
		t.Errorf("%s: %v", name, err)
	} else if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s: %s", name, diff)
	}
}

// callEverything calls every method of the test service.
func (c *apacheClient) callEverything() {
	t, ctx := c.t, c.ctx
	equal(t, "testVoid", nil, nil, c.first.TestVoid(ctx))
	c.baseTypes()
	c.structs()
	c.containers()
	c.exceptions()

	enough := 900 * time.Millisecond
	if c.http {
		enough = time.Minute // servers answer it
	}
	took := leastOf(enough, func() { equal(t, "testOneway", nil, nil, c.first.TestOneway(ctx, 1)) })
	if took > enough {
		t.Errorf("testOneway took %v", took)
	}
	equal(t, "testVoid after testOneway", nil, nil, c.first.TestVoid(ctx))
	if c.second != nil {
		got, err := c.second.SecondtestString(ctx, "foobar")
		equal(t, "secondtestString", `testString("foobar")`, got, err)
	}
}

func (c *apacheClient) baseTypes() {
	echoes(c, "testString", c.first.TestString, "", "thing", "パイソン 𐍈", "\x00\xff\"\\\n", strings.Repeat("x", 100_000))
	echoes(c, "testBool", c.first.TestBool, true, false)
	echoes(c, "testByte", c.first.TestByte, 0, -1, math.MinInt8, math.MaxInt8)
	echoes(c, "testI32", c.first.TestI32, 0, -1, math.MinInt32, math.MaxInt32)
	echoes(c, "testI64", c.first.TestI64, 0, -1, math.MinInt64, math.MaxInt64)
	echoes(c, "testDouble", c.first.TestDouble, 0, -5.325098235, math.MaxFloat64, math.SmallestNonzeroFloat64, math.Inf(-1))
	// −0, NaNs with a payload
	for _, bits := range []uint64{1 << 63, 0x7ff8000000000001, 0xfff0000000dead00} {
		got, err := c.first.TestDouble(c.ctx, math.Float64frombits(bits))
		equal(c.t, "testDouble", bits, math.Float64bits(got), err)
	}
	all := make([]byte, 256)
	for i := range all {
		all[i] = byte(i)
	}
	echoes(c, "testBinary", c.first.TestBinary, []byte{}, all, bytes.Repeat(all, 4096))
	echoes(c, "testUuid", c.first.TestUuid, thrift.Tuuid{}, thrift.Tuuid{0, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88, 0x99, 0xaa, 0xbb, 0xcc, 0xdd, 0xee, 0xff})
	echoes(c, "testEnum", c.first.TestEnum, apache.Numberz_ONE, apache.Numberz_EIGHT, apache.Numberz(77), apache.Numberz(-1))
	echoes(c, "testTypedef", c.first.TestTypedef, apache.UserId(0), apache.UserId(math.MinInt64))
}

func (c *apacheClient) structs() {
	thing := &apache.Xtruct{StringThing: "thing", ByteThing: 42, I32Thing: 4242, I64Thing: 424242}
	echoes(c, "testStruct", c.first.TestStruct, thing, &apache.Xtruct{})
	echoes(c, "testNest", c.first.TestNest,
		&apache.Xtruct2{ByteThing: 1, StructThing: thing, I32Thing: 5},
		&apache.Xtruct2{StructThing: &apache.Xtruct{}})

	crazy := &apache.Insanity{
		UserMap: map[apache.Numberz]apache.UserId{apache.Numberz_FIVE: 5, apache.Numberz_EIGHT: 8},
		Xtructs: []*apache.Xtruct{
			{StringThing: "Goodbye4", ByteThing: 4, I32Thing: 4, I64Thing: 4},
			{StringThing: "Hello2", ByteThing: 2, I32Thing: 2, I64Thing: 2},
		},
	}
	insane, err := c.first.TestInsanity(c.ctx, crazy)
	if six := insane[2][6]; six == nil || len(six.UserMap)+len(six.Xtructs) > 0 {
		c.t.Errorf("testInsanity: 2, 6 is %v", six)
	} else {
		delete(insane, 2)
	}
	equal(c.t, "testInsanity", map[apache.UserId]map[apache.Numberz]*apache.Insanity{1: {2: crazy, 3: crazy}}, insane, err)

	multi, err := c.first.TestMulti(c.ctx, 42, 4242, 424242, map[int16]string{1: "blah", 2: "thing"}, apache.Numberz_EIGHT, 24)
	equal(c.t, "testMulti", &apache.Xtruct{StringThing: "Hello2", ByteThing: 42, I32Thing: 4242, I64Thing: 424242}, multi, err)
}

func (c *apacheClient) containers() {
	many := make(map[int32]int32)
	var numbers []int32
	for i := range int32(5000) {
		many[i] = -i
		numbers = append(numbers, i*i)
	}
	echoes(c, "testMap", c.first.TestMap, map[int32]int32{}, map[int32]int32{1: 2, -3: 4, 5: 42}, many)
	echoes(c, "testStringMap", c.first.TestStringMap, map[string]string{}, map[string]string{"a": "2", "": "blah", "some": ""})
	echoes(c, "testList", c.first.TestList, []int32{}, []int32{1, 2, 42, 2}, numbers)
	for _, want := range [][]int32{{}, {1, 2, 42}, numbers[:100]} {
		got, err := c.first.TestSet(c.ctx, want) // comes back in any order
		slices.Sort(got)
		equal(c.t, "testSet", want, got, err)
	}
	nested, err := c.first.TestMapMap(c.ctx, 42)
	equal(c.t, "testMapMap", map[int32]map[int32]int32{
		-4: {-4: -4, -3: -3, -2: -2, -1: -1},
		4:  {4: 4, 3: 3, 2: 2, 1: 1},
	}, nested, err)
}

func (c *apacheClient) exceptions() {
	t, ctx := c.t, c.ctx
	raises(t, "testException", &apache.Xception{ErrorCode: 1001, Message: "Xception"}, c.first.TestException(ctx, "Xception"))
	var app thrift.TApplicationException
	if err := c.first.TestException(ctx, "TException"); !errors.As(err, &app) || app.TypeId() != thrift.INTERNAL_ERROR {
		t.Errorf("testException: %v for an undeclared error", err)
	}
	equal(t, "testException", nil, nil, c.first.TestException(ctx, "success"))

	_, err := c.first.TestMultiException(ctx, "Xception", "ignored")
	raises(t, "testMultiException", &apache.Xception{ErrorCode: 1001, Message: "This is an Xception"}, err)
	_, err = c.first.TestMultiException(ctx, "Xception2", "ignored")
	raises(t, "testMultiException", &apache.Xception2{ErrorCode: 2002, StructThing: &apache.Xtruct{StringThing: "This is an Xception2"}}, err)
	got, err := c.first.TestMultiException(ctx, "success", "foobar")
	equal(t, "testMultiException", &apache.Xtruct{StringThing: "foobar"}, got, err)
}

// raises checks that a call returned the expected exception.
func raises[E error](t *testing.T, name string, want E, err error) {
	t.Helper()
	var got E
	if !errors.As(err, &got) {
		t.Errorf("%s: %v, want %v", name, err, want)
	} else if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s: %s", name, diff)
	}
}
