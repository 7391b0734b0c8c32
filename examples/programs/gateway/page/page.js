"use strict";

// element makes an element with properties and children. Texts are only ever set as text.
function element(tag, properties, ...children) {
  const e = Object.assign(document.createElement(tag), properties);
  e.append(...children);
  return e;
}

// pretty indents JSON, with its numbers as they are, which may be more exact than JavaScript's.
// Other texts stay as they are, and all texts in older browsers.
function pretty(text) {
  const number = (_, v, context) => typeof v === "number" ? JSON.rawJSON(context.source) : v;
  try { return JSON.stringify(JSON.parse(text, number), null, 2); } catch { return text; }
}

function card(m) {
  const fields = (m.params || []).map(p => {
    const input = element("input", { name: p.name, required: Boolean(p.required), placeholder: p.type });
    return { p, input, row: element("label", {}, element("span", {}, p.name + " ", element("small", {}, p.in + ", " + p.type)), input) };
  });
  // A browser sends cookies and its name by itself.
  const shown = fields.filter(f => f.p.in !== "cookie" && f.p.name.toLowerCase() !== "user-agent");
  let body = null;
  const rows = shown.map(f => f.row);
  if (m.body !== undefined || m.rawBody) {
    body = element("textarea", { name: "body", spellcheck: false, value: m.rawBody ? "" : JSON.stringify(m.body, null, 2) });
    rows.push(element("label", {}, element("span", {}, "body ", element("small", {}, m.rawBody ? "any bytes" : "JSON; binaries are base64")), body));
  }
  const result = element("pre", { hidden: true });
  const form = element("form", {}, ...rows, element("button", {}, "Send"), result);
  form.addEventListener("submit", async event => {
    event.preventDefault();
    result.hidden = false;
    result.replaceChildren("…");
    try {
      const answer = await send(m, shown, body);
      const ok = answer.status < 400;
      result.replaceChildren(element("b", { className: ok ? "good" : "bad" }, answer.status + " " + answer.statusText), "\n" + pretty(await answer.text()));
    } catch (err) {
      result.replaceChildren(element("b", { className: "bad" }, String(err)));
    }
  });
  const about = [m.doc, m.returns ? "Returns " + m.returns + "." : "",
    ...(m.throws || []).map(t => t.type + " is status " + t.status + ".")].filter(Boolean).join(" ");
  return element("details", {},
    element("summary", {}, element("span", { className: "verb" }, m.verb), element("code", {}, m.path), element("span", { className: "name" }, m.method)),
    element("p", {}, about), form);
}

function send(m, fields, body) {
  let path = m.path;
  const query = new URLSearchParams(), form = new URLSearchParams(), headers = {};
  for (const { p, input } of fields) {
    const value = input.value;
    if (value === "") continue;
    if (p.in === "path") path = path.split("/").map(part => part === ":" + p.name ? encodeURIComponent(value) : part === "*" + p.name ? encodeURI(value) : part).join("/");
    if (p.in === "query") query.append(p.name, value);
    if (p.in === "form") form.append(p.name, value);
    if (p.in === "header") headers[p.name] = value;
  }
  const options = { method: m.verb, headers };
  if (body && m.verb !== "GET" && m.verb !== "HEAD") {
    options.body = body.value;
    headers["Content-Type"] = m.rawBody ? "application/octet-stream" : "application/json";
  }
  if (form.size) options.body = form;
  if (form.size) delete headers["Content-Type"];
  return fetch(path + (query.size ? "?" + query : ""), options);
}

let listed = "";

// list shows the methods, and does nothing if they are as before: what was typed stays.
async function list() {
  const refused = document.getElementById("refused");
  try {
    const { methods, refused: why } = await (await fetch("/_gateway/methods")).json();
    refused.hidden = !why;
    refused.textContent = "The IDL on disk is refused, the one before is in use:\n" + why;
    if (JSON.stringify(methods) === listed) return;
    listed = JSON.stringify(methods);
    const parts = [];
    let service = "";
    for (const m of methods) {
      if (m.service !== service) parts.push(element("h2", {}, service = m.service));
      parts.push(card(m));
    }
    document.getElementById("methods").replaceChildren(...parts);
    if (location.hash === "#open") document.querySelectorAll("details").forEach(d => { d.open = true; });
  } catch (err) {
    refused.hidden = false;
    refused.textContent = "The gateway does not answer: " + err;
  }
}

list();
setInterval(list, 2000);
