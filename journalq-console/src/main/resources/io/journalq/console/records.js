/** How records are shown: in a row, as a tree of JSON, as text, and as bytes. */
import { useState } from "/console/preact.js";
import { bytes, count, time } from "/console/api.js";
import { Dialog, html } from "/console/ui.js";

const MAX_CHILDREN = 200;
const MAX_BRIEF = 300;
const MAX_SHOWN_BYTES = 64 * 1024;

/** Levels of a tree. Deeper JSON is shown as text, because drawing it needs more stack than the browser has. */
const MAX_DEPTH = 100;

function decode(base64) {
  return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
}

/** The bytes of a key, a value or a header; null if there are none. */
export function bytesOf(record, name) {
  if (record[`${name}Base64`] !== undefined) {
    return decode(record[`${name}Base64`]);
  }
  return record[name] == null ? null : new TextEncoder().encode(record[name]);
}

/** Its text; bytes that are not UTF-8 are shown as their number. */
export function textOf(record, name) {
  if (record[`${name}Base64`] !== undefined) {
    return `(${bytes(decode(record[`${name}Base64`]).length)} that are not text)`;
  }
  return record[name] == null ? "" : record[name];
}

const JSON_TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"|[[\]{}:,]|[^\s[\]{}:,"]+/g;

/**
 * Reads JSON: {entries, isArray}, or {literal}. Names and literals are as they are written, because JavaScript would
 * round large numbers.
 */
function readJson(text) {
  JSON.parse(text); // throws if it is not JSON
  const tokens = text.match(JSON_TOKEN);
  let next = 0;
  const read = (depth) => {
    const token = tokens[next++];
    if (token !== "{" && token !== "[") {
      return { literal: token };
    }
    if (depth > MAX_DEPTH) {
      throw new RangeError("too deep");
    }
    const isArray = token === "[";
    const entries = [];
    while (tokens[next] !== (isArray ? "]" : "}")) {
      const name = isArray ? String(entries.length) : tokens[next];
      next += isArray ? 0 : 2;
      entries.push([name, read(depth + 1)]);
      next += tokens[next] === "," ? 1 : 0;
    }
    next++;
    return { entries, isArray };
  };
  return read(1);
}

/** An object or array of JSON as {entries, isArray}; undefined if the text is something else, or too deep. */
export function structureOf(text) {
  try {
    const json = readJson(text);
    return json.entries ? json : undefined;
  } catch {
    return undefined;
  }
}

/** JSON in lines. */
export function format(json, indent = "") {
  if (!json.entries) {
    return json.literal;
  }
  const [begin, end] = json.isArray ? "[]" : "{}";
  const deeper = `${indent}  `;
  const lines = json.entries.map(([name, of]) => `${deeper}${json.isArray ? "" : `${name}: `}${format(of, deeper)}`);
  return lines.length ? `${begin}\n${lines.join(",\n")}\n${indent}${end}` : begin + end;
}

function hex(array) {
  const lines = [];
  for (let from = 0; from < Math.min(array.length, MAX_SHOWN_BYTES); from += 16) {
    const row = [...array.subarray(from, from + 16)];
    const numbers = row.map((byte) => byte.toString(16).padStart(2, "0")).join(" ").padEnd(48);
    const text = row.map((byte) => (byte >= 32 && byte < 127 ? String.fromCharCode(byte) : ".")).join("");
    lines.push(`${from.toString(16).padStart(6, "0")}  ${numbers} ${text}`);
  }
  return lines.join("\n");
}

const isString = (token) => token.startsWith('"');

function Tree({ name, value, open }) {
  const key = name !== undefined && html`<span class="key">${isString(name) ? JSON.parse(name) : name}: </span>`;
  if (!value.entries) {
    const text = isString(value.literal);
    return html`<div>${key}<span class=${text ? "str" : "lit"}>
      ${text ? JSON.stringify(JSON.parse(value.literal)) : value.literal}</span></div>`;
  }
  const { entries, isArray } = value;
  const what = isArray ? `[ ${entries.length} ]` : `{ ${entries.length} }`;
  return html`<details open=${open}><summary>${key}${what}</summary>
    ${entries.slice(0, MAX_CHILDREN).map(([child, of]) => html`<${Tree} name=${child} value=${of} open=${entries.length < 20} />`)}
    ${entries.length > MAX_CHILDREN && html`<div class="dim">and ${count(entries.length - MAX_CHILDREN)} more</div>`}</details>`;
}

function Content({ record, name, label }) {
  const content = bytesOf(record, name);
  const json = name === "value" && record.value != null ? structureOf(record.value) : undefined;
  const isJson = json !== undefined;
  const isText = record[`${name}Base64`] === undefined;
  const [form, setForm] = useState(isJson ? "tree" : isText ? "text" : "hex");
  if (!content?.length) {
    const nothing = content ? "empty" : name === "value" ? "none (tombstone)" : "none";
    return html`<div><h3>${label}</h3><span class="dim">${nothing}</span></div>`;
  }
  const forms = [isJson && ["tree", "JSON"], isText && ["text", "Text"], ["hex", "Hex"]].filter(Boolean);
  return html`<div><div class="row" style="justify-content:space-between"><h3>${label}, ${bytes(content.length)}</h3>
    <div class="row" role="group" aria-label=${`Show the ${name} as`}>${forms.map(([id, text]) => html`<button class="btn small"
      aria-pressed=${form === id} style=${form === id ? "border-color:var(--strong)" : ""} onClick=${() => setForm(id)}>${text}</button>`)}
      ${isText && navigator.clipboard && html`<button class="btn small" onClick=${() => navigator.clipboard.writeText(record[name])}>Copy</button>`}</div></div>
    ${form === "tree" && html`<div class="tree"><${Tree} value=${json} open /></div>`}
    ${form === "text" && html`<pre tabindex="0">${record[name].slice(0, MAX_SHOWN_BYTES)}</pre>`}
    ${form === "hex" && html`<pre class="hex" tabindex="0">${hex(content)}</pre>`}
    ${content.length > MAX_SHOWN_BYTES && form !== "tree" && html`<p class="hint">The first 64 KiB are shown.</p>`}</div>`;
}

const dim = (text) => html`<span class="dim">${text}</span>`;

/** The text of a key, a value or a header up to a length. One without bytes is not the same as none. */
const shown = (record, name, missing, max) =>
  textOf(record, name).slice(0, max) || (record[name] === "" ? dim("empty") : missing);

export function RecordDialog({ record, onClose }) {
  return html`<${Dialog} wide title=${`Partition ${record.partition}, offset ${count(record.offset)}`} onClose=${onClose}>
    <p class="dim">${time(record.timestamp)}</p>
    <${Content} record=${record} name="key" label="Key" /><${Content} record=${record} name="value" label="Value" />
    <div><h3>Headers</h3>${record.headers?.length
      ? html`<dl class="facts">${record.headers.map((header) => html`<dt>${header.name}</dt><dd class="mono">${shown(header, "value", dim("none"))}</dd>`)}</dl>`
      : html`<span class="dim">none</span>`}</div>
    <div class="row end"><button class="btn" onClick=${onClose}>Close</button></div></${Dialog}>`;
}

export const recordColumns = (onOpen) => [
  { label: "Offset", short: true, cell: (record) => html`<button class="btn small" onClick=${() => onOpen(record)}
    aria-label=${`Open the record at offset ${record.offset} of partition ${record.partition}`}>${record.partition}:${record.offset}</button>` },
  { label: "Time", cell: (record) => html`<span style="white-space:nowrap">${time(record.timestamp)}</span>`, small: true },
  { label: "Key", cell: (record) => html`<div class="clip mono key">${shown(record, "key", dim("none"), MAX_BRIEF)}</div>` },
  { label: "Value", grow: true, cell: (record) => html`<div class="clip mono">
    ${shown(record, "value", html`<span class="tag">tombstone</span>`, MAX_BRIEF)}</div>` },
];
