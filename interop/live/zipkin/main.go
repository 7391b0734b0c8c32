// Command zipkin sends spans to Zipkin's collector for Scribe:
//
//	zipkin IDL ADDRESS TRACE NUMBER
//
// All are in one trace, and have the same parent. Ten are sent in a call.
package main

import (
	"context"
	"encoding/base64"
	"fmt"
	"log"
	"os"
	"strconv"
	"time"

	"github.com/nocopythrift/nocopythrift/nocopy/dynamic"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
)

func main() {
	log.SetFlags(0)
	if len(os.Args) != 5 {
		log.Fatal("usage: zipkin IDL ADDRESS TRACE NUMBER")
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	if err := send(ctx, os.Args[1], os.Args[2], os.Args[3], os.Args[4]); err != nil {
		log.Fatal("zipkin: ", err)
	}
}

// send sends the spans of a trace, whose number is hexadecimal.
func send(ctx context.Context, idl, address, trace, number string) error {
	id, err := strconv.ParseInt(trace, 16, 64)
	if err != nil {
		return err
	}
	n, err := strconv.Atoi(number)
	if err != nil {
		return err
	}
	schema, err := dynamic.Load(idl)
	if err != nil {
		return err
	}
	span, err := schema.Struct("Span")
	if err != nil {
		return err
	}
	service, err := schema.Service("Scribe")
	if err != nil {
		return err
	}
	conn, err := rpc.Dial(ctx, "tcp", address)
	if err != nil {
		return err
	}
	defer conn.Close()
	scribe := service.Client(conn)
	for first := 0; first < n; first += 10 {
		var entries []any
		for i := first; i < min(first+10, n); i++ {
			text, err := encoded(span, id, int64(i+1))
			if err != nil {
				return err
			}
			entries = append(entries, map[string]any{"category": "zipkin", "message": text})
		}
		if err := logAll(ctx, scribe, entries); err != nil {
			return err
		}
	}
	return nil
}

// logAll calls Log, which must return OK.
func logAll(ctx context.Context, scribe dynamic.Client, entries []any) error {
	args, err := scribe.NewArgs("Log")
	if err != nil {
		return err
	}
	if err := args.Set("messages", entries); err != nil {
		return err
	}
	result, err := scribe.Call(ctx, "Log", args)
	if err != nil {
		return err
	}
	code, err := result.Get("success")
	if err != nil {
		return err
	}
	if code.Int() != 0 {
		return fmt.Errorf("the result of Log is %v", code)
	}
	return nil
}

// encoded returns a span as it is in a LogEntry. zipkin.py makes the same spans.
func encoded(span dynamic.Type, trace, id int64) (string, error) {
	start := 1_796_000_000_000_000 + id*1000
	host := map[string]any{"ipv4": 0x7f000001, "port": 8080, "service_name": "front"}
	msg, err := span.FromMap(map[string]any{
		"trace_id": trace, "name": fmt.Sprint("get ü ", id), "id": id, "parent_id": int64(0x7fff), "debug": true,
		"timestamp": start, "duration": 500 + id,
		"annotations": []any{
			map[string]any{"timestamp": start, "value": "sr", "host": host},
			map[string]any{"timestamp": start + 250, "value": "cache miss", "host": host},
			map[string]any{"timestamp": start + 500 + id, "value": "ss", "host": host},
		},
		"binary_annotations": []any{
			map[string]any{"key": "http.path", "value": []byte("/items/ü"), "annotation_type": "STRING", "host": host},
		},
	})
	if err != nil {
		return "", err
	}
	return base64.StdEncoding.EncodeToString(msg.Message().Bytes()), nil
}
