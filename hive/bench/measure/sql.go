package measure

import (
	"crypto/sha256"
	"database/sql"
	"fmt"
	"io"
	"log"
)

// SQL reads the columns of the recorded statement by database/sql. It writes each row to lines,
// if that is not nil.
func SQL(db *sql.DB, statement string, s *Sum, lines io.Writer) error {
	rows, err := db.Query(statement)
	if err != nil {
		return err
	}
	defer rows.Close()
	var id int64
	var quantity int32
	var small int16
	var price, weight float64
	var paid bool
	var customer, note string
	var city sql.NullString
	var reference sql.NullInt64
	for rows.Next() {
		if err := rows.Scan(&id, &quantity, &price, &paid, &customer, &note, &city, &reference, &small, &weight); err != nil {
			return err
		}
		if lines != nil {
			fmt.Fprintln(lines, id, quantity, price, paid, customer, note, city, reference, small, weight)
		}
		s.Rows++
		s.Bytes += int64(len(customer) + len(note) + len(city.String))
		s.Ints += id + int64(quantity) + int64(small) + reference.Int64
		if paid {
			s.Ints++
		}
		s.Floats += price + weight
	}
	return rows.Err()
}

// Main reads a statement as the client that the program's arguments name: sql measures, and judge
// prints a hash of all values.
func Main(name string, db *sql.DB, statement string) {
	if name != "judge" {
		Print(func() (s Sum, err error) {
			err = SQL(db, statement, &s, nil)
			return s, err
		})
		return
	}
	hash := sha256.New()
	var s Sum
	if err := SQL(db, statement, &s, hash); err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%d rows %x\n", s.Rows, hash.Sum(nil))
}
