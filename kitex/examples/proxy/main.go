// Proxy shows a proxy that routes calls of services whose IDL it does not have: it reads the
// tenant in the third level of the arguments, picks a back end, sets a field of the header and
// forwards the call, by reference. See README.md.
//
// One command starts two back ends, the proxy with a page that says what it does, and load; and
// measures it beside proxies that decode and encode:
//
//	go run -C kitex/examples/proxy . [flags]
package main

import (
	"context"
	"flag"
	"log"
	"os"
	"os/signal"
	"time"
)

func main() {
	log.SetFlags(0)
	if role := os.Getenv(roleEnv); role != "" {
		if err := play(role); err != nil {
			log.Fatalf("%s: %v", role, err)
		}
		return
	}
	s := show{out: os.Stdout}
	flag.StringVar(&s.page, "page", "127.0.0.1:8088", "the `address` of the page")
	flag.DurationVar(&s.each, "each", 2*time.Second, "how long each proxy is measured with each size; 0: not at all")
	flag.IntVar(&s.rounds, "rounds", 3, "how often; the medians are printed")
	flag.DurationVar(&s.stay, "stay", time.Minute, "how long there is load on our proxy after that")
	flag.IntVar(&s.callers, "callers", 16, "calls at a time")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := s.run(ctx); err != nil && ctx.Err() == nil {
		log.Fatal(err)
	}
}
