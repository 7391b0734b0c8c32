// Filters the entries of index.js, which are [name, kind, link, first words of the comment].
(function () {
  var input = document.getElementById("search"), found = document.getElementById("found");
  var most = 50;
  function rank(name, text) {
    name = name.toLowerCase();
    var last = name.slice(name.lastIndexOf(".") + 1);
    return last === text ? 0 : last.indexOf(text) === 0 ? 1 : name.indexOf(text) >= 0 ? 2 : 3;
  }
  function show() {
    var text = input.value.trim().toLowerCase();
    found.replaceChildren();
    if (!text) return;
    var hits = entries.filter(function (e) { return (e[0] + " " + e[3]).toLowerCase().indexOf(text) >= 0; });
    hits.sort(function (a, b) { return rank(a[0], text) - rank(b[0], text) || a[0].length - b[0].length; });
    hits.slice(0, most).forEach(function (e) {
      var li = document.createElement("li"), a = document.createElement("a"), kind = document.createElement("span");
      a.href = e[2];
      a.textContent = e[0];
      kind.className = "kind";
      kind.textContent = " " + e[1];
      li.append(a, kind);
      found.append(li);
    });
    if (hits.length === 0 || hits.length > most) {
      var rest = document.createElement("li");
      rest.className = "soft";
      rest.textContent = hits.length === 0 ? "Nothing was found." : hits.length - most + " more";
      found.append(rest);
    }
  }
  input.addEventListener("input", show);
  document.addEventListener("keydown", function (e) {
    if (e.key === "/" && document.activeElement !== input) { e.preventDefault(); input.focus(); }
    if (e.key === "Escape") { input.value = ""; show(); }
  });
})();
