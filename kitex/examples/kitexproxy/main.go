// Kitexproxy shows a proxy between Kitex services that are found in etcd. One command starts an
// etcd, two back ends with weights 1 and 3, a proxy, and load on it; kills the heavier back end
// while the load runs, starts it again, and says which back ends answered and which calls failed:
//
//	go run -C kitex/examples/kitexproxy . [-phase D] [-callers N]
//
// The proxy changes one nested field of each order, order.header.via, and passes the order on
// without copying the rest. It ends with status 1 if a call failed that was not in flight when
// the back end was killed, or if a back end was not called when it should have been.
package main

import (
	"flag"
	"log"
	"os"
	"time"
)

func main() {
	log.SetFlags(0)
	if role := os.Getenv(roleEnv); role != "" {
		if err := play(role); err != nil {
			log.Fatal(role, ": ", err)
		}
		return
	}
	phase := flag.Duration("phase", 5*time.Second, "least time of each of the three phases")
	callers := flag.Int("callers", 8, "calls at a time")
	flag.Parse()
	if err := show(os.Stdout, *phase, *callers); err != nil {
		log.Fatal(err)
	}
}
