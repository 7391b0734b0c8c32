// Faults makes one mistake with the library's memory, the one that its argument names. Built with
// the tag nocopydebug, each is caught where it is made; TestFaults runs them all.
package main

import (
	"bytes"
	"fmt"
	"os"
	"runtime"
	"time"

	"github.com/nocopythrift/nocopythrift/examples/quickstart/order"
	"github.com/nocopythrift/nocopythrift/nocopy"
)

var mistakes = map[string]func(){
	"stale string":       staleString,
	"stale kept string":  staleKeptString,
	"stale shared bytes": staleSharedBytes,
	"stale wire bytes":   staleWireBytes,
	"stale room":         staleRoom,
	"stale handle":       staleHandle,
	"double release":     doubleRelease,
	"leak":               leak,
	"lost":               lost,
	"none":               none,
}

func main() {
	mistakes[os.Args[1]]()
	fmt.Println("not caught")
}

// filled is an order in recycled memory, as a server with the option Recycle gets them.
func filled() order.Order {
	o := order.NewOrder(nocopy.Recycle)
	o.SetID(1)
	o.SetCustomer("Ada Lovelace, of Ockham Park, Surrey")
	copy(o.NewDocument(10_000), "%PDF")
	o.Message().Finish()
	return o
}

func staleString() {
	o := filled()
	customer := o.GetCustomer()
	o.Release()
	fmt.Println(customer[:3]) // MISTAKE
}

func staleKeptString() {
	var m nocopy.Message
	o := nocopy.NewInto[order.Order](&m, nocopy.Recycle)
	o.SetCustomer("Ada Lovelace, of Ockham Park, Surrey")
	customer := o.GetCustomer()
	nocopy.NewInto[order.Order](&m, nocopy.Recycle)
	fmt.Println(customer[:3]) // MISTAKE
}

func staleSharedBytes() {
	a := filled()
	b := order.NewOrder(nocopy.Recycle)
	b.SetLines(a.GetLines())
	document := a.GetDocument()
	a.Release()
	b.Release()
	fmt.Println(document[0]) // MISTAKE
}

func staleWireBytes() {
	o := filled()
	wire := o.Message().Bytes()
	o.Release()
	fmt.Println(bytes.Count(wire, []byte("Ada"))) // MISTAKE
}

func staleRoom() {
	o := order.NewOrder(nocopy.Recycle)
	document := o.NewDocument(100)
	o.Release()
	document[0] = 1 // MISTAKE
}

func staleHandle() {
	o := filled()
	o.Release()
	filled()
	o.GetCustomer() // MISTAKE
}

func doubleRelease() {
	m := filled().Message()
	m.Release()
	filled()
	m.Release() // MISTAKE
}

func leak() {
	filled() // MISTAKE
	for _, stack := range nocopy.Leaked() {
		fmt.Fprintf(os.Stderr, "leaked, made at\n%s", stack)
		os.Exit(2)
	}
}

// lost leaves it to the garbage collector to notice.
func lost() {
	filled() // MISTAKE
	for range 100 {
		runtime.GC()
		time.Sleep(10 * time.Millisecond)
	}
}

func none() {
	o := filled()
	fmt.Println(len(o.GetCustomer()), len(o.GetDocument()))
	o.Release()
	if leaked := nocopy.Leaked(); len(leaked) > 0 {
		fmt.Println(leaked)
	}
}
