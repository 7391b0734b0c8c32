CREATE TABLE orders (
  id bigint NOT NULL,
  customer text
);
