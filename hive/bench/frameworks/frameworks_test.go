// Package frameworks_test tries the driver with libraries on top of database/sql. They are
// requirements of this module alone.
package frameworks_test

import (
	"database/sql"
	"reflect"
	"strings"
	"testing"

	"github.com/jmoiron/sqlx"
	"gorm.io/gorm"
	"gorm.io/gorm/callbacks"
	"gorm.io/gorm/clause"
	"gorm.io/gorm/logger"
	"gorm.io/gorm/schema"

	_ "github.com/nocopythrift/nocopythrift/hive"
	"github.com/nocopythrift/nocopythrift/hive/bench/frameworks/testdata/orders"
	"github.com/nocopythrift/nocopythrift/hive/internal/fakehive"
	"github.com/nocopythrift/nocopythrift/hive/internal/tcli"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
)

// order is a row.
type order struct {
	ID       int64          `db:"id"`
	Customer sql.NullString `db:"customer"`
}

var want = []order{{1, sql.NullString{String: "Ada", Valid: true}}, {2, sql.NullString{}}}

// serve starts a server that answers these statements with the rows of want, and others not.
func serve(t *testing.T, statements ...string) *sql.DB {
	schema := tcli.NewTGetResultSetMetadataResp()
	schema.NewStatus().SetStatusCode(tcli.TStatusCode_SUCCESS_STATUS)
	columns := schema.NewSchema().NewColumns(0)
	for i, c := range []struct {
		name string
		typ  tcli.TTypeId
	}{{"id", tcli.TTypeId_BIGINT_TYPE}, {"customer", tcli.TTypeId_STRING_TYPE}} {
		col := columns.AppendNew()
		col.SetColumnName(c.name)
		col.SetPosition(int32(i + 1))
		col.NewTypeDesc().NewTypes(1).At(0).NewPrimitiveEntry().SetType(c.typ)
	}
	rows := tcli.NewTFetchResultsResp()
	rows.NewStatus().SetStatusCode(tcli.TStatusCode_SUCCESS_STATUS)
	rows.NewResults().NewRows(0)
	values := rows.GetResults().NewColumns(0)
	ids, names := values.AppendNew().NewI64Val(), values.AppendNew().NewStringVal()
	ids.SetValues([]int64{1, 2})
	ids.SetNulls(nil)
	names.SetValues([]string{"Ada", ""})
	names.SetNulls([]byte{2})
	s := &fakehive.Server{Queries: map[string]*fakehive.Query{}}
	for _, text := range statements {
		q := &fakehive.Query{}
		if strings.Contains(text, "SELECT ") {
			q.Schema, q.Fetches = schema, []tcli.TFetchResultsResp{rows}
		}
		s.Queries[text] = q
	}
	db, err := sql.Open("hive", "hive://"+s.Serve(t, &rpc.Server{})+"/?auth=NOSASL")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

// check compares rows with those of the server.
func check(t *testing.T, got []order, err error) {
	t.Helper()
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v %v", got, err)
	}
}

// TestSqlx: structs, lists in IN, named arguments and prepared statements. Bind variables are ?,
// which sqlx has to be told of a driver that it does not know.
func TestSqlx(t *testing.T) {
	sqlx.BindDriver("hive", sqlx.QUESTION)
	db := sqlx.NewDb(serve(t, "SELECT id, customer FROM orders WHERE id IN (1, 2)", "SELECT id, customer FROM orders WHERE customer <> 'Ada'", "INSERT INTO orders (id, customer) VALUES (3, 'Grace'),(4, NULL)"), "hive")
	query, args, err := sqlx.In("SELECT id, customer FROM orders WHERE id IN (?)", []int{1, 2})
	if err != nil {
		t.Fatal(err)
	}
	var in, named, prepared []order
	err = db.Select(&in, db.Rebind(query), args...)
	check(t, in, err)

	rows, err := db.NamedQuery("SELECT id, customer FROM orders WHERE customer <> :name", map[string]any{"name": "Ada"})
	if err != nil {
		t.Fatal(err)
	}
	err = sqlx.StructScan(rows, &named)
	check(t, named, err)

	stmt, err := db.Preparex("SELECT id, customer FROM orders WHERE customer <> ?")
	if err != nil {
		t.Fatal(err)
	}
	defer stmt.Close()
	err = stmt.Select(&prepared, "Ada")
	check(t, prepared, err)

	if _, err := db.NamedExec("INSERT INTO orders (id, customer) VALUES (:id, :customer)", []order{{3, sql.NullString{String: "Grace", Valid: true}}, {ID: 4}}); err != nil {
		t.Error(err)
	}
	if _, err := db.Beginx(); err == nil || !strings.Contains(err.Error(), "no transactions") {
		t.Error(err)
	}
}

// dialect is what GORM needs to know of Hive, to read and insert rows.
type dialect struct{ db *sql.DB }

func (dialect) Name() string { return "hive" }
func (d dialect) Initialize(db *gorm.DB) error {
	db.ConnPool = d.db
	callbacks.RegisterDefaultCallbacks(db, &callbacks.Config{})
	return nil
}
func (dialect) Migrator(*gorm.DB) gorm.Migrator                     { return nil }
func (dialect) DataTypeOf(*schema.Field) string                     { return "" }
func (dialect) DefaultValueOf(*schema.Field) clause.Expression      { return clause.Expr{SQL: "DEFAULT"} }
func (dialect) BindVarTo(w clause.Writer, _ *gorm.Statement, _ any) { w.WriteByte('?') }
func (dialect) QuoteTo(w clause.Writer, name string)                { w.WriteString("`" + name + "`") }
func (dialect) Explain(text string, args ...any) string {
	return logger.ExplainSQL(text, nil, "'", args...)
}

// purchase is an order as GORM sees it. Hive makes no ids, and has no transactions: a program says
// both.
type purchase struct {
	ID       int64 `gorm:"primaryKey;autoIncrement:false"`
	Customer sql.NullString
}

func (purchase) TableName() string { return "orders" }

func TestGORM(t *testing.T) {
	db, err := gorm.Open(dialect{serve(t,
		"SELECT * FROM `orders` WHERE customer <> 'Ada' AND id IN (1,2) ORDER BY id LIMIT 10",
		"SELECT id, customer FROM orders WHERE id > 0",
		"INSERT INTO `orders` (`id`,`customer`) VALUES (3,'Grace'),(4,NULL)")},
		&gorm.Config{SkipDefaultTransaction: true, Logger: logger.Discard})
	if err != nil {
		t.Fatal(err)
	}
	orders := func(found []purchase) (got []order) {
		for _, p := range found {
			got = append(got, order(p))
		}
		return got
	}
	var found, raw []purchase
	err = db.Where("customer <> ?", "Ada").Where("id IN ?", []int64{1, 2}).Order("id").Limit(10).Find(&found).Error
	check(t, orders(found), err)
	err = db.Raw("SELECT id, customer FROM orders WHERE id > ?", 0).Scan(&raw).Error
	check(t, orders(raw), err)
	if err := db.Create([]purchase{{3, sql.NullString{String: "Grace", Valid: true}}, {ID: 4}}).Error; err != nil {
		t.Error(err)
	}
	if err := db.Transaction(func(*gorm.DB) error { return nil }); err == nil || !strings.Contains(err.Error(), "no transactions") {
		t.Error(err)
	}
}

// TestSqlc: code that sqlc has generated for MySQL, with statements that are prepared and not.
func TestSqlc(t *testing.T) {
	db := serve(t,
		"-- name: ListOrders :many\nSELECT id, customer FROM orders WHERE customer <> 'Ada'\n",
		"-- name: GetOrder :one\nSELECT id, customer FROM orders WHERE id = 1\n",
		"-- name: ListOrdersByID :many\nSELECT id, customer FROM orders WHERE id IN (1,2)\n",
		"-- name: ListOrdersByID :many\nSELECT id, customer FROM orders WHERE id IN (NULL)\n",
		"-- name: CreateOrder :exec\nINSERT INTO orders (id, customer) VALUES (3, NULL)\n")
	prepared, err := orders.Prepare(t.Context(), db)
	if err != nil {
		t.Fatal(err)
	}
	defer prepared.Close()
	for _, q := range []*orders.Queries{orders.New(db), prepared} {
		listed := func(all []orders.Order, err error) {
			t.Helper()
			var got []order
			for _, o := range all {
				got = append(got, order(o))
			}
			check(t, got, err)
		}
		listed(q.ListOrders(t.Context(), sql.NullString{String: "Ada", Valid: true}))
		listed(q.ListOrdersByID(t.Context(), []int64{1, 2}))
		listed(q.ListOrdersByID(t.Context(), nil))
		if one, err := q.GetOrder(t.Context(), 1); err != nil || order(one) != want[0] {
			t.Errorf("%+v %v", one, err)
		}
		if err := q.CreateOrder(t.Context(), orders.CreateOrderParams{ID: 3}); err != nil {
			t.Error(err)
		}
	}
}
