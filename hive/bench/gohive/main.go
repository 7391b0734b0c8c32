// Command gohive reads a result with gohive: gohive NAME ADDR STATEMENT
package main

import (
	"database/sql"
	"log"
	"os"

	_ "github.com/beltran/gohive/v2"

	"github.com/nocopythrift/nocopythrift/hive/bench/measure"
)

func main() {
	db, err := sql.Open("hive", "hive://u@"+os.Args[2]+"/default?auth=NOSASL")
	if err != nil {
		log.Fatal(err)
	}
	measure.Main(os.Args[1], db, os.Args[3])
}
