// Command kvstore serves a key-value store, calls it, and prints the answers.
package main

import (
	"fmt"
	"log"

	"example.com/kvstore/store"
)

type client interface {
	Create(key, value []byte) error
	Retrieve(key []byte) ([]byte, error)
	Update(key, value []byte) error
	Delete(key []byte) error
	Close() error
}

func main() {
	s := store.New()
	addr, stop, err := serve(s)
	if err != nil {
		log.Fatal(err)
	}
	defer stop()
	c, err := dial(addr)
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	key := []byte("lamp")
	for _, value := range []string{"on", "off"} {
		fmt.Println("create:", store.Describe(c.Create(key, []byte(value))))
	}
	retrieve := func() {
		value, err := c.Retrieve(key)
		fmt.Printf("retrieve: %q %s\n", value, store.Describe(err))
	}
	retrieve()
	fmt.Println("update:", store.Describe(c.Update(key, make([]byte, 3))))
	retrieve()
	fmt.Println("delete:", store.Describe(c.Delete(key)))
	fmt.Println("update:", store.Describe(c.Update(key, key)))
	retrieve()
	fmt.Println(s.Refused())
}
