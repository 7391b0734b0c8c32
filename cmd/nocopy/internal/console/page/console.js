"use strict";

// element makes an element with properties and children. Texts are only ever set as text.
function element(tag, properties, ...children) {
  const e = Object.assign(document.createElement(tag), properties);
  e.append(...children);
  return e;
}
const $ = id => document.getElementById(id);

// pretty indents JSON, with its numbers as they are, which may be more exact than JavaScript's.
function pretty(text) {
  const number = (_, v, context) => typeof v === "number" && JSON.rawJSON ? JSON.rawJSON(context.source) : v;
  try { return JSON.stringify(JSON.parse(text, number), null, 2); } catch { return text; }
}

let state, current, history = [];

// An editor has a node and a function json that returns the JSON text of its value, undefined if it
// has none.
function editor(type, depth) {
  switch (type.kind) {
    case "bool": return choice(["true", "false"], v => v);
    case "enum": return choice(state.types.enums[type.of].values, v => JSON.stringify(v));
    case "int": case "double": return line(type, v => /^-?\d+(\.\d+)?([eE][-+]?\d+)?$/.test(v) ? v : JSON.stringify(v));
    case "struct": return structure(state.types.structs[type.of], depth);
    case "list": return list(type, depth);
    case "map": return map(type, depth);
    default: return line(type, v => JSON.stringify(v));
  }
}

function line(type, json) {
  const input = element("input", { placeholder: type.kind === "binary" ? "binary, base64" : type.text, autocomplete: "off", spellcheck: false });
  // A text may be meant to be empty: that is what two quotes say.
  return { node: input, json: () => input.value === "" ? undefined : input.value === '""' && type.kind === "string" ? '""' : json(input.value) };
}

function choice(values, json) {
  const select = element("select", {}, element("option", { value: "" }, "not set"), ...values.map(v => element("option", { value: v }, v)));
  return { node: select, json: () => select.value === "" ? undefined : json(select.value) };
}

// structure makes the fields of a nested struct when they are asked for.
function structure(of, depth) {
  if (depth > 0) {
    let inner;
    const box = element("div", {});
    const toggle = element("button", { type: "button", className: "small" }, "set " + of.name);
    toggle.addEventListener("click", () => {
      if (inner) { inner = undefined; box.replaceChildren(); toggle.textContent = "set " + of.name; return; }
      inner = fields(of, depth);
      box.replaceChildren(element("fieldset", {}, inner.node));
      toggle.textContent = "unset";
    });
    return { node: element("div", {}, toggle, box), json: () => inner ? inner.json() : undefined };
  }
  return fields(of, depth);
}

function fields(of, depth) {
  const all = of.fields.map(f => ({ f, e: editor(f.type, depth + 1) }));
  const node = element("div", {}, ...all.map(({ f, e }) => {
    e.node.setAttribute("aria-label", f.name);
    return element("div", { className: "row", title: f.doc || "" },
      element("span", {}, f.name + (f.required ? " *" : "") + " ", element("small", {}, f.type.text)), element("div", {}, e.node));
  }));
  const json = () => "{" + all.map(({ f, e }) => [f.name, e.json()]).filter(([, v]) => v !== undefined).map(([k, v]) => JSON.stringify(k) + ":" + v).join(",") + "}";
  return { node, json };
}

function items(add, json) {
  const all = [], box = element("div", {});
  const button = element("button", { type: "button", className: "small" }, "add");
  button.addEventListener("click", () => {
    const e = add();
    const remove = element("button", { type: "button", className: "small", title: "remove" }, "×");
    const row = element("div", { className: "item" }, element("div", {}, e.node), remove);
    remove.addEventListener("click", () => { all.splice(all.indexOf(e), 1); row.remove(); });
    all.push(e);
    box.append(row);
  });
  return { node: element("div", {}, box, button), json: () => all.length ? json(all) : undefined };
}

function list(type, depth) {
  return items(() => editor(type.elem, depth + 1), all => "[" + all.map(e => e.json() ?? "null").filter(v => v !== "null").join(",") + "]");
}

// map gives an object, or an array of pairs if objects have no such keys.
function map(type, depth) {
  const pairs = ["struct", "list", "map"].includes(type.key.kind);
  return items(() => {
    const key = editor(type.key, depth + 1), value = editor(type.elem, depth + 1);
    return { node: element("div", {}, key.node, value.node), key, value };
  }, all => {
    const set = all.map(p => [p.key.json(), p.value.json() ?? "null"]).filter(([k]) => k !== undefined);
    if (pairs) return "[" + set.map(([k, v]) => "[" + k + "," + v + "]").join(",") + "]";
    return "{" + set.map(([k, v]) => (k.startsWith('"') ? k : JSON.stringify(k)) + ":" + v).join(",") + "}";
  });
}

function headerRows() {
  const all = [], box = element("div", {});
  const add = element("button", { type: "button", className: "small" }, "add header");
  add.addEventListener("click", () => {
    const name = element("input", { placeholder: "name" }), value = element("input", { placeholder: "value" });
    all.push({ name, value });
    box.append(element("div", { className: "item" }, name, value));
  });
  return { node: element("div", {}, box, add), get: () => all.filter(h => h.name.value).map(h => [h.name.value, h.value.value]) };
}

function show(service, m, past) {
  current = service.name + "." + m.name;
  document.querySelectorAll("nav button").forEach(b => b.toggleAttribute("aria-current", b.dataset.method === current));
  tab("call");
  const form = fields(state.types.structs[m.args], 0);
  const text = element("textarea", { spellcheck: false, hidden: true, id: "json" });
  const asJSON = element("input", { type: "checkbox", id: "as-json" });
  asJSON.addEventListener("change", () => {
    if (asJSON.checked && !text.value) text.value = pretty(form.json());
    text.hidden = !asJSON.checked;
    form.node.hidden = asJSON.checked;
  });
  if (past) { asJSON.checked = true; text.value = pretty(past.args); text.hidden = false; form.node.hidden = true; }
  const headers = headerRows();
  const send = element("button", { className: "send", id: "send" }, "Call");
  const out = element("div", { id: "out" });
  const about = [m.doc, m.oneway ? "Oneway." : m.returns ? "Returns " + m.returns + "." : "Returns nothing.", m.throws ? "Throws " + m.throws.join(", ") + "." : ""].filter(Boolean).join(" ");
  const page = element("form", {}, element("h2", {}, current), element("p", {}, about),
    ...(m.routes || []).map(r => element("p", {}, element("small", {}, "over HTTP: "), element("code", {}, r))),
    element("p", {}, element("label", {}, asJSON, " JSON")), form.node, text, element("h3", {}, "Headers"), headers.node, element("p", {}, send), out);
  page.addEventListener("submit", event => {
    event.preventDefault();
    make(current, asJSON.checked ? text.value : form.json(), headers.get(), out);
  });
  $("call").replaceChildren(page);
  if (past && past.outcome) render(past.outcome, out);
}

async function make(method, args, headers, out) {
  out.replaceChildren("…");
  try {
    const target = $("environment").value;
    const res = await fetch("/_console/call", { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ method, args, headers, target }) });
    if (!res.ok) throw new Error(await res.text());
    const outcome = await res.json();
    render(outcome, out);
    remember({ method, args, outcome, at: new Date().toLocaleTimeString() });
  } catch (err) {
    out.replaceChildren(element("p", { className: "bad", id: "verdict" }, String(err)));
  }
}

function render(o, out) {
  const verdict = o.error ? o.error : o.exception ? "exception " + o.exception : "result";
  const parts = [element("p", { className: o.error || o.exception ? "bad" : "good", id: "verdict" }, verdict, element("small", {}, "  " + o.micros / 1000 + " ms"))];
  if (o.result) parts.push(element("pre", { className: "json", id: "result" }, pretty(o.result)));
  for (const [name, value] of Object.entries(o.headers || {})) parts.push(element("p", {}, element("code", {}, name + ": " + value)));
  if (o.line) parts.push(command(o.line));
  if (o.sent) parts.push(element("h3", {}, "Sent"), element("pre", { id: "sent" }, o.sent));
  if (o.received) parts.push(element("h3", {}, "Received"), element("pre", { id: "received" }, o.received));
  out.replaceChildren(...parts);
}

// command shows a command line, which can be copied.
function command(text) {
  const copy = element("button", { type: "button", className: "small", id: "copy" }, "copy");
  copy.addEventListener("click", async () => {
    try { await navigator.clipboard.writeText(text); copy.textContent = "copied"; } catch { copy.textContent = "not allowed here"; }
  });
  return element("div", {}, element("h3", {}, "In a shell ", copy), element("pre", { id: "line" }, text));
}

function remember(entry) {
  history.unshift(entry);
  history.length = Math.min(history.length, 50);
  // Only as long as the tab is open: arguments may be secret.
  try { sessionStorage.setItem("history", JSON.stringify(history)); } catch { sessionStorage.removeItem("history"); }
  showHistory();
}

function showHistory() {
  $("history").replaceChildren(...(history.length ? history.map(h => {
    const b = element("button", { className: "past" }, element("span", {}, h.at), element("span", {}, h.method + " " + h.args),
      element("span", { className: h.outcome.error || h.outcome.exception ? "bad" : "good" }, h.outcome.error ? "error" : h.outcome.exception || "result"));
    b.addEventListener("click", () => {
      const [service, method] = find(h.method);
      if (method) show(service, method, h);
    });
    return b;
  }) : [element("p", {}, "No calls yet.")]));
}

function find(name) {
  for (const s of state.services) for (const m of s.methods) if (s.name + "." + m.name === name || m.name === name) return [s, m];
  return [];
}

function tab(name) {
  for (const t of ["call", "history", "traffic"]) {
    $(t).hidden = t !== name;
    $("tab-" + t).setAttribute("aria-selected", String(t === name));
  }
}

function listMethods() {
  const wanted = $("filter").value.toLowerCase(), parts = [];
  const saved = (state.saved || []).filter(c => c.name.toLowerCase().includes(wanted));
  if (saved.length) parts.push(element("h2", { title: "calls of the project file" }, "Saved"));
  for (const c of saved) {
    const b = element("button", { title: c.method }, c.name);
    b.addEventListener("click", () => {
      const [service, method] = find(c.method);
      if (method) show(service, method, { args: JSON.stringify(c.args) });
    });
    parts.push(b);
  }
  for (const s of state.services) {
    const found = s.methods.filter(m => (s.name + "." + m.name).toLowerCase().includes(wanted));
    if (!found.length) continue;
    parts.push(element("h2", { title: s.doc || "" }, s.name));
    for (const m of found) {
      const b = element("button", { title: m.doc || "" }, m.name);
      b.dataset.method = s.name + "." + m.name;
      b.toggleAttribute("aria-current", b.dataset.method === current);
      b.addEventListener("click", () => show(s, m));
      parts.push(b);
    }
  }
  $("methods").replaceChildren(...parts);
}

function watchTraffic() {
  const source = new EventSource("/_console/traffic");
  let last = -1;
  source.addEventListener("message", event => {
    if ($("hold").checked || Number(event.lastEventId) <= last) return;
    last = Number(event.lastEventId);
    $("messages").prepend(element("pre", {}, JSON.parse(event.data)));
    while ($("messages").childElementCount > 200) $("messages").lastElementChild.remove();
  });
}

async function begin() {
  for (const t of ["call", "history", "traffic"]) $("tab-" + t).addEventListener("click", () => tab(t));
  $("filter").addEventListener("input", listMethods);
  $("clear").addEventListener("click", () => $("messages").replaceChildren());
  try {
    state = await (await fetch("/_console/state")).json();
  } catch (err) {
    $("methods").replaceChildren(element("p", { className: "bad" }, String(err)));
    return;
  }
  $("server").textContent = state.address + ", " + state.wire;
  $("watch").textContent = state.watch ? "Clients that connect to " + state.watch + " are shown, too." : "With -watch other clients are shown, too.";
  $("environment").replaceChildren(...(state.environments || []).map(name => element("option", { value: name, selected: name === state.target }, name)));
  $("environment").hidden = (state.environments || []).length < 2;
  try { history = JSON.parse(sessionStorage.getItem("history")) || []; } catch { history = []; }
  listMethods();
  showHistory();
  watchTraffic();
}

begin();
