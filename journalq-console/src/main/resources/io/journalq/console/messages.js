/** The messages of a topic: from any position, and searched to the end. */
import { useEffect, useRef, useState } from "/console/preact.js";
import { count, get, plural, readLines, topicPath, withParameters } from "/console/api.js";
import { Empty, Failure, html, link, Table } from "/console/ui.js";
import { bytesOf, jsonOf, RecordDialog, recordColumns } from "/console/records.js";

const PAGE = 100;
const STEP = 5000;
const MAX_MATCHES = 200;

/** The positions of the newest records, as a cursor. */
async function newestCursor(topic, partition, wanted) {
  const partitions = [];
  let cursor;
  do {
    const page = await get(`${topicPath(topic)}/partitions`, { limit: 500, cursor });
    partitions.push(...page.items);
    cursor = page.cursor;
  } while (cursor);
  const chosen = partitions.filter((one) => (partition === "" || one.partition === Number(partition)) && one.end >= 0);
  const each = Math.ceil(wanted / Math.max(1, chosen.filter((one) => one.end > one.start).length));
  return {
    cursor: chosen.map((one) => `${one.partition}:${Math.max(one.start, one.end - each)}`).join(","),
    total: chosen.reduce((sum, one) => sum + one.end - one.start, 0),
  };
}

function valueAt(json, path) {
  return path.replace(/^\$\.?/, "").split(/[.[\]]+/).filter(Boolean).reduce((value, key) => value?.[key], json);
}

function matcher({ text, where, path }) {
  const wanted = text.toLowerCase();
  const decoder = new TextDecoder();
  const has = (of, name) => {
    const content = bytesOf(of, name);
    return content !== null && decoder.decode(content).toLowerCase().includes(wanted);
  };
  const headers = (record) => (record.headers || []).some((header) =>
    header.name.toLowerCase().includes(wanted) || has(header, "value"));
  switch (where) {
    case "key": return (record) => has(record, "key");
    case "value": return (record) => has(record, "value");
    case "headers": return headers;
    case "path": return (record) => {
      const value = valueAt(jsonOf(record), path);
      return value !== undefined && (typeof value === "string" ? value : JSON.stringify(value)).toLowerCase().includes(wanted);
    };
    default: return (record) => has(record, "key") || has(record, "value") || headers(record);
  }
}

export function Messages({ topic, parameters, empty }) {
  const [from, setFrom] = useState(parameters.has("offset") ? "offset" : "newest");
  const [partition, setPartition] = useState(parameters.get("partition") || "");
  const [offset, setOffset] = useState(parameters.get("offset") || "");
  const [when, setWhen] = useState("");
  const [text, setText] = useState("");
  const [where, setWhere] = useState("any");
  const [path, setPath] = useState("");
  const [state, setState] = useState({ records: [] });
  const [opened, setOpened] = useState();
  const running = useRef(null);

  const begin = (searches) => {
    const common = { partition };
    switch (from) {
      case "offset": return { ...common, offset };
      case "time": return { ...common, time: new Date(when).getTime() };
      case "newest": return searches ? { ...common, from: "start" } : null;
      default: return { ...common, from: "start" };
    }
  };

  const load = async (event, cursor) => {
    event?.preventDefault();
    running.current?.abort();
    const abort = new AbortController();
    running.current = abort;
    const searches = text !== "";
    const matches = matcher({ text, where, path });
    const records = cursor ? [...state.records] : [];
    let scanned = cursor ? state.scanned : 0;
    let position = cursor ? { cursor } : begin(searches);
    try {
      const bounds = await newestCursor(topic, partition, PAGE);
      const newest = position === null;
      position = newest ? { cursor: bounds.cursor } : position;
      if (newest && !bounds.cursor) {
        setState({ records, done: true, scanned });
        return;
      }
      const before = records.length;
      let done = false;
      while (!done && !abort.signal.aborted && records.length - before < (searches ? MAX_MATCHES : PAGE)) {
        let read = 0;
        const limit = searches ? STEP : newest ? 10 * PAGE : PAGE;
        await readLines(withParameters(`${topicPath(topic)}/records`, { ...position, limit }), abort.signal, (line) => {
          if (line.offset !== undefined) {
            read++;
            if (!searches || matches(line)) {
              records.push(line);
            }
          } else if (line.cursor !== undefined) {
            position = { cursor: line.cursor };
          } else if (line.detail) {
            throw new Error(line.detail);
          }
        });
        scanned += read;
        done = read < limit || newest;
        setState({ records: [...records], scanned, total: bounds.total, busy: !done && searches, cursor: position.cursor, searches });
      }
      if (newest) {
        records.sort((left, right) => right.timestamp - left.timestamp || right.offset - left.offset);
      }
      setState({ records: [...records], scanned, total: bounds.total, done, cursor: position.cursor, searches });
    } catch (failure) {
      setState({ records: [...records], scanned, cursor: position?.cursor, searches,
        stopped: failure.name === "AbortError", failure: failure.name === "AbortError" ? undefined : failure });
    }
  };

  useEffect(() => {
    load();
    return () => running.current?.abort();
  }, [topic]);

  if (empty && !state.records.length) {
    return html`<div class="panel"><${Empty} title="The topic has no records">
      Produce one here, or with any Kafka client.<br />
      <a class="btn main-action" href=${link("topics", topic, "produce")}>Produce a record</a></${Empty}></div>`;
  }
  return html`<form class="panel stack" onSubmit=${load}><div class="row">
      <label>Show <select value=${from} onChange=${(event) => setFrom(event.target.value)}>
        <option value="newest">the newest records</option><option value="start">from the start</option>
        <option value="time">from a time</option><option value="offset">from an offset</option></select></label>
      <label class="narrow">Partition <input type="number" min="0" placeholder="all" value=${partition} required=${from === "offset"}
        onInput=${(event) => setPartition(event.target.value)} /></label>
      ${from === "offset" && html`<label>Offset <input type="number" min="0" required value=${offset} onInput=${(event) => setOffset(event.target.value)} /></label>`}
      ${from === "time" && html`<label>Local time <input type="datetime-local" step="1" required value=${when} onInput=${(event) => setWhen(event.target.value)} /></label>`}
      <label class="wide">Contains <input type="search" placeholder="search to the end of the topic" value=${text} onInput=${(event) => setText(event.target.value)} /></label>
      <label>In <select value=${where} onChange=${(event) => setWhere(event.target.value)}><option value="any">key, value or headers</option>
        <option value="key">the key</option><option value="value">the value</option><option value="headers">the headers</option>
        <option value="path">a JSON path</option></select></label>
      ${where === "path" && html`<label>JSON path <input class="mono" placeholder="$.customer.id" required value=${path} onInput=${(event) => setPath(event.target.value)} /></label>`}
      ${state.busy ? html`<button type="button" class="btn danger" onClick=${() => running.current.abort()}>Stop</button>`
        : html`<button class="btn main-action">${text ? "Search" : "Show"}</button>`}</div>
      ${state.searches && html`<div aria-live="polite">${state.busy && html`<progress max=${state.total} value=${state.scanned}
          aria-label="Progress of the search"></progress>`}
        <span class="dim">${state.busy ? "Searching: " : state.stopped ? "Stopped: " : ""}${count(state.records.length)} found in
          ${" "}${plural(state.scanned, "record")}${state.total > 0 && ` of ${count(state.total)}`}.</span>
        ${!state.busy && !state.done && state.cursor && html` <button type="button" class="btn small" onClick=${(event) => load(event, state.cursor)}>Search on</button>`}</div>`}
    </form><${Failure} of=${state.failure} />
    <div class="panel flush">${state.records.length
      ? html`<${Table} caption="Messages" items=${state.records} columns=${recordColumns(setOpened)} keyOf=${(record) => `${record.partition}:${record.offset}`} />
        <div class="more"><span>${plural(state.records.length, "record")}</span>
          ${!state.searches && state.cursor && from !== "newest" && !state.done && html`<button class="btn small" onClick=${(event) => load(event, state.cursor)}>Show more</button>`}</div>`
      : html`<${Empty} title=${state.busy ? "Searching…" : state.done ? "No record matches" : "Loading…"}>
          ${state.done && (text ? "Try another text, or search in more places." : "Try an earlier position, or all partitions.")}</${Empty}>`}</div>
    ${opened && html`<${RecordDialog} record=${opened} onClose=${() => setOpened()} />`}`;
}
