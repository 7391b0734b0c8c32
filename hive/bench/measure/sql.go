package measure

import "database/sql"

// SQL reads the columns of the recorded statement by database/sql.
func SQL(db *sql.DB, statement string, s *Sum) error {
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
