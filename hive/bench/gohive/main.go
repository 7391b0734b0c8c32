// Command gohive reads a result with gohive: gohive gohive ADDR STATEMENT
package main

import (
	"database/sql"
	"log"
	"os"

	_ "github.com/beltran/gohive/v2"

	"github.com/nocopythrift/nocopythrift/hive/bench/measure"
)

func main() {
	measure.Print(func() (s measure.Sum, err error) {
		db, err := sql.Open("hive", "hive://u@"+os.Args[2]+"/default?auth=NOSASL")
		if err != nil {
			log.Fatal(err)
		}
		defer db.Close()
		err = measure.SQL(db, os.Args[3], &s)
		return s, err
	})
}
