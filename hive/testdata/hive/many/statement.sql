SELECT pos AS i, concat('row ', CAST(pos AS STRING)) AS text, IF(pos % 3 = 0, NULL, pos / 3.0D) AS d FROM (SELECT 1 AS one) t LATERAL VIEW posexplode(split(space(3999), ' ')) e AS pos, x
