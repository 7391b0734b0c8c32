package mock

// forms are the texts for names of fields, in small letters and without underscores. A {list} is
// one of words, and # a digit.
var forms = map[string]string{
	"name": "{first} {last}", "firstname": "{first}", "givenname": "{first}", "lastname": "{last}", "surname": "{last}", "familyname": "{last}",
	"fullname": "{first} {last}", "customer": "{first} {last}", "author": "{first} {last}", "owner": "{user}", "username": "{user}", "user": "{user}",
	"login": "{user}", "nickname": "{user}", "email": "{user}@example.com", "mail": "{user}@example.com", "emailaddress": "{user}@example.com",
	"phone": "+1-555-01##", "phonenumber": "+1-555-01##", "mobile": "+1-555-01##", "fax": "+1-555-01##", "tel": "+1-555-01##",
	"city": "{city}", "town": "{city}", "country": "{country}", "countrycode": "{cc}", "state": "{state}", "region": "{region}", "zone": "{region}-{letter}",
	"zip": "#####", "zipcode": "#####", "postalcode": "#####", "postcode": "#####", "street": "## {street}", "address": "## {street}, {city}",
	"language": "{language}", "lang": "{lang}", "locale": "{lang}-{cc}", "timezone": "{tz}", "currency": "{currency}", "currencycode": "{currency}",
	"company": "{last} {kind}", "organization": "{last} {kind}", "organisation": "{last} {kind}", "department": "{department}", "job": "{job}",
	"jobtitle": "{job}", "role": "{role}", "gender": "{gender}", "url": "https://example.com/{noun}", "uri": "https://example.com/{noun}",
	"link": "https://example.com/{noun}", "website": "https://example.com", "domain": "example.com", "host": "{noun}.example.com",
	"hostname": "{noun}.example.com", "ip": "192.0.2.##", "ipaddress": "192.0.2.##", "ipv4": "192.0.2.##", "ipv6": "2001:db8::##", "addr": "192.0.2.##",
	"mac": "02:00:5e:00:53:##", "useragent": "Mozilla/5.0 (X11; Linux x86_64)", "path": "/{noun}/{noun}", "file": "{noun}.txt", "filename": "{noun}.txt",
	"folder": "/{noun}", "directory": "/{noun}", "location": "/{noun}/{noun}", "mimetype": "text/plain", "contenttype": "application/json",
	"color": "{color}", "colour": "{color}", "product": "{adjective} {noun}", "productname": "{adjective} {noun}", "article": "{adjective} {noun}",
	"item": "{adjective} {noun}", "category": "{noun}s", "brand": "{last}", "sku": "SKU-####", "title": "The {adjective} {noun}",
	"description": "A {adjective}, {color} {noun}.", "summary": "A {adjective} {noun}.", "comment": "The {noun} is {adjective}.",
	"message": "The {noun} is {adjective}.", "msg": "The {noun} is {adjective}.", "text": "The {noun} is {adjective}.", "body": "The {noun} is {adjective}.",
	"content": "The {noun} is {adjective}.", "note": "The {noun} is {adjective}.", "reason": "The {noun} is {adjective}.", "why": "The {noun} is {adjective}.",
	"subject": "The {adjective} {noun}", "word": "{noun}", "tag": "{noun}", "label": "{noun}", "topic": "{noun}", "database": "{noun}s", "dbname": "{noun}s",
	"table": "{noun}s", "tablename": "{noun}s", "version": "#.#.#", "token": "{hex}{hex}{hex}{hex}", "hash": "{hex}{hex}{hex}{hex}",
	"checksum": "{hex}{hex}{hex}{hex}", "sessionid": "{hex}{hex}{hex}", "requestid": "{hex}{hex}{hex}", "traceid": "{hex}{hex}{hex}{hex}",
	"guid": "{hex}{hex}-{hex}-4{hex}", "password": "secret-####", "date": "2026-0#-1#", "birthday": "19##-0#-1#", "day": "{day}", "weekday": "{day}",
	"month": "{month}", "isbn": "978-0-##-######-#", "iban": "DE## #### #### #### #### ##",
}

// words are the lists that forms name.
var words = map[string][]string{
	"first":      {"Ada", "Alan", "Barbara", "Edsger", "Grace", "Hedy", "Ken", "Margaret", "Niklaus", "Radia"},
	"last":       {"Dijkstra", "Hamilton", "Hopper", "Lamarr", "Liskov", "Lovelace", "Perlman", "Thompson", "Turing", "Wirth"},
	"user":       {"ada", "alan", "barbara", "edsger", "grace", "hedy", "ken", "margaret", "niklaus", "radia"},
	"city":       {"Accra", "Berlin", "Bogota", "Cairo", "Delhi", "Lima", "London", "Oslo", "Tokyo", "Toronto"},
	"country":    {"Brazil", "Canada", "Egypt", "France", "Germany", "Ghana", "India", "Japan", "Norway", "Peru"},
	"cc":         {"BR", "CA", "DE", "EG", "FR", "GH", "IN", "JP", "NO", "PE"},
	"state":      {"Bavaria", "California", "Ontario", "Oregon", "Punjab", "Texas"},
	"region":     {"ap-south-1", "eu-central-1", "eu-west-1", "us-east-1", "us-west-2"},
	"letter":     {"a", "b", "c"},
	"street":     {"Baker Street", "Elm Street", "Harbour Road", "High Street", "Main Street", "Station Road"},
	"language":   {"English", "French", "German", "Hindi", "Japanese", "Spanish"},
	"lang":       {"de", "en", "es", "fr", "hi", "ja"},
	"tz":         {"America/New_York", "Asia/Tokyo", "Europe/Berlin", "UTC"},
	"currency":   {"CHF", "EUR", "GBP", "INR", "JPY", "USD"},
	"kind":       {"AG", "GmbH", "Inc.", "Ltd", "SA"},
	"department": {"Finance", "Legal", "Operations", "Research", "Sales"},
	"job":        {"Analyst", "Designer", "Engineer", "Manager", "Mathematician"},
	"role":       {"admin", "editor", "guest", "user"},
	"gender":     {"female", "male", "other"},
	"color":      {"black", "blue", "green", "red", "white", "yellow"},
	"adjective":  {"bright", "heavy", "light", "quick", "quiet", "round", "small", "steady"},
	"noun":       {"anchor", "bridge", "candle", "engine", "garden", "lamp", "mirror", "window"},
	"hex":        {"0a1b2c3d", "1f2e3d4c", "4b5a6978", "5c0ffee5", "7d8e9fa0", "9abcdef0", "c0de1234", "deadbeef"},
	"day":        {"Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"},
	"month":      {"January", "April", "July", "October"},
}

// numbers are the spans of numbers for names of fields, and how many parts of 1 they may have.
var numbers = map[string][3]float64{
	"latitude": {-90, 90, 1e4}, "lat": {-90, 90, 1e4}, "longitude": {-180, 180, 1e4}, "lng": {-180, 180, 1e4}, "lon": {-180, 180, 1e4},
	"price": {1, 500, 100}, "amount": {1, 500, 100}, "cost": {1, 500, 100}, "total": {1, 5000, 100}, "age": {18, 90, 1}, "year": {1990, 2026, 1},
	"month": {1, 12, 1}, "day": {1, 28, 1}, "hour": {0, 23, 1}, "minute": {0, 59, 1}, "second": {0, 59, 1}, "port": {1024, 65535, 1},
	"percent": {0, 100, 10}, "percentage": {0, 100, 10}, "ratio": {0, 1, 100}, "score": {0, 1, 100}, "rating": {1, 5, 10}, "count": {1, 20, 1},
	"quantity": {1, 20, 1}, "size": {1, 100000, 1}, "length": {1, 1000, 1}, "weight": {0, 100, 10}, "height": {1, 250, 1}, "width": {1, 250, 1},
	"temperature": {-20, 40, 10}, "offset": {0, 100, 1}, "limit": {1, 100, 1}, "version": {1, 9, 1}, "statuscode": {200, 200, 1},
}
