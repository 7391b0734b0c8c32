-- name: ListOrders :many
SELECT id, customer FROM orders WHERE customer <> ?;

-- name: GetOrder :one
SELECT id, customer FROM orders WHERE id = ?;

-- name: ListOrdersByID :many
SELECT id, customer FROM orders WHERE id IN (sqlc.slice('ids'));

-- name: CreateOrder :exec
INSERT INTO orders (id, customer) VALUES (?, ?);
