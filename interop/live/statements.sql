SELECT pos AS i, pos % 2 = 0 AS b, IF(pos % 6 = 0, NULL, pos * 1234567891) AS l, IF(pos % 9 = 0, NULL, pos / 7.0D) AS d, IF(pos % 5 = 3, NULL, concat('text ü ', CAST(pos AS STRING))) AS text FROM (SELECT 1 AS one) t LATERAL VIEW posexplode(split(space(1499), ' ')) e AS pos, x
SELECT CAST(-7 AS TINYINT) AS t, CAST(300 AS SMALLINT) AS s, '' AS empty, '日本語 🐝' AS wide, '"quoted" \\ \n' AS escaped
