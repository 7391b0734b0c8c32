SELECT 'it\'s "quoted"' AS a, 'back\\slash' AS b, 'line\nfeed\ttab' AS c, '' AS d, '日本語 🐝' AS e, CAST(NULL AS STRING) AS f
