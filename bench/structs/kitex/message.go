// Package kitex has the application's operations on Kitex's structs. generate.sh copies it for the
// structs of other peers.
package kitex

import (
	"github.com/nocopythrift/nocopythrift/bench/data"
	"github.com/nocopythrift/nocopythrift/bench/structs"
)

// Of returns the operations on the message v, a pointer to one of package data's; the zero Message
// if there is no such struct.
func Of(v any) structs.Message {
	for _, of := range messages {
		if m := of(v); m.New != nil {
			return m
		}
	}
	return structs.Message{}
}

// messages has a function for each file of this package; the files that others' structs have no
// use for are left out when it is copied.
var messages []func(v any) structs.Message

func init() {
	messages = append(messages, func(v any) structs.Message {
		switch v := v.(type) {
		case *data.MyTest:
			return myTest(v)
		case *data.Small:
			return small(v)
		case *data.Business:
			return business(v)
		case *data.Blob:
			return blob(v)
		case *data.VStreamRows:
			return vstreamRows(v)
		case *data.WriteRequest:
			return writeRequest(v)
		case *data.Wide:
			return wideRows(v)
		}
		return structs.Message{}
	})
}

// fillPairs puts pairs into m, which it clears, or makes if it is nil.
func fillPairs(m map[string]string, pairs []data.Pair) map[string]string {
	if m == nil {
		m = make(map[string]string, len(pairs))
	} else {
		clear(m)
	}
	for _, p := range pairs {
		m[p.Key] = p.Value
	}
	return m
}
