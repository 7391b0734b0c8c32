SELECT pos AS i, 'x' AS text FROM (SELECT 1 AS one) t LATERAL VIEW posexplode(split(space(0), ' ')) e AS pos, x WHERE pos < 0
