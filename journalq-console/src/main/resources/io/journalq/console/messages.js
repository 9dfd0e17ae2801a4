/** The messages of a topic: from any position, and searched to the end. */
import { useEffect, useRef, useState } from "/console/preact.js";
import { count, entered, get, plural, Problem, readLines, topicPath, withParameters, zone } from "/console/api.js";
import { Empty, Failure, html, link, Table } from "/console/ui.js";
import { RecordDialog, recordColumns } from "/console/records.js";

const PAGE = 100;
const MAX_MATCHES = 200;
const DRAW_MS = 150;

/** Where readers reach the ends of partitions: an open transaction holds back what is behind it. */
async function readableEnds(topic, partition) {
  try {
    const { cursor } = await get(`${topicPath(topic)}/records`, { from: "end", partition });
    return new Map(cursor.split(",").map((position) => position.split(":").map(Number)));
  } catch {
    return new Map(); // The leader of one of the partitions may be missing.
  }
}

/** The positions of the newest records, as a cursor. */
async function newestCursor(topic, partition, wanted) {
  const partitions = [];
  let cursor;
  do {
    const page = await get(`${topicPath(topic)}/partitions`, { limit: 500, cursor });
    partitions.push(...page.items);
    cursor = page.cursor;
  } while (cursor);
  const ends = await readableEnds(topic, partition);
  const chosen = partitions.filter((one) => (partition === "" || one.partition === Number(partition)) && one.end >= 0)
    .map((one) => ({ ...one, end: ends.get(one.partition) ?? one.end }));
  const each = Math.ceil(wanted / Math.max(1, chosen.filter((one) => one.end > one.start).length));
  const positions = chosen.map((one) => `${one.partition}:${Math.max(one.start, one.end - each)}`);
  return positions.length ? `${positions},only` : ""; // A partition without a leader is left out.
}

function emptyTitle({ busy, ended, done }) {
  if (busy) {
    return "Searching…";
  }
  return !ended ? "Loading…" : done ? "No record matches" : "Nothing was found so far";
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
      case "time": return { ...common, time: entered(when) };
      case "newest": return searches ? { ...common, from: "start" } : null;
      default: return { ...common, from: "start" };
    }
  };

  const load = async (event, cursor) => {
    event?.preventDefault();
    running.current?.abort();
    const abort = new AbortController();
    running.current = abort;
    // What goes on is what was begun, whatever the form says by now.
    const search = cursor ? state.search : text !== "" && { text, in: where, path: where === "path" ? path : "" };
    // Those behind the cursor are found again from there: an earlier load may not have reached its end.
    const records = cursor ? state.records.slice(0, state.beforeCursor) : [];
    let now = { search, cursor, scanned: cursor ? state.scanned : 0, busy: Boolean(search) };
    const scannedBefore = now.scanned;
    let beforeCursor = records.length;
    let drawn = 0;
    const show = (more) => {
      now = { ...now, ...more };
      drawn = performance.now();
      if (running.current === abort) {
        setState({ ...now, records: [...records], beforeCursor });
      }
    };
    const onLine = (line) => {
      if (line.offset !== undefined) {
        records.push(line);
      } else if (line.progress) {
        now = { ...now, ...line.progress, scanned: scannedBefore + line.progress.scanned };
        beforeCursor = records.length;
      } else if (line.error) {
        throw new Problem(line.error);
      } else if (line.cursor !== undefined) {
        now = { ...now, cursor: line.cursor, done: line.atEnd };
        beforeCursor = records.length;
      }
      if (performance.now() - drawn > DRAW_MS) {
        show();
      }
    };
    try {
      let position = cursor ? { cursor } : begin(search);
      const newest = position === null;
      if (newest) {
        position = { cursor: await newestCursor(topic, partition, PAGE) };
      }
      show();
      if (search) {
        const wanted = { ...position, ...search, limit: MAX_MATCHES };
        await readLines(withParameters(`${topicPath(topic)}/search`, wanted), abort.signal, onLine);
      } else if (!newest || position.cursor) {
        const limit = newest ? 10 * PAGE : PAGE;
        await readLines(withParameters(`${topicPath(topic)}/records`, { ...position, limit }), abort.signal, onLine);
      }
      if (newest) {
        records.sort((left, right) => right.timestamp - left.timestamp || right.offset - left.offset);
      }
      show({ busy: false, ended: true, done: now.done || newest });
    } catch (failure) {
      const stopped = failure.name === "AbortError";
      if (now.cursor) {
        records.length = beforeCursor; // those behind it are found again from there
      }
      show({ busy: false, ended: true, stopped, failure: stopped ? undefined : failure });
    }
  };

  useEffect(() => {
    load();
    return () => running.current?.abort();
  }, [topic, empty]);

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
      ${from === "time" && html`<label>${zone()} time <input type="datetime-local" step="1" required value=${when} onInput=${(event) => setWhen(event.target.value)} /></label>`}
      <label class="wide">Contains <input type="search" placeholder="search to the end of the topic" value=${text} onInput=${(event) => setText(event.target.value)} /></label>
      <label class="medium">In <select value=${where} onChange=${(event) => setWhere(event.target.value)}><option value="any">key, value or headers</option>
        <option value="key">the key</option><option value="value">the value</option><option value="headers">the headers</option>
        <option value="path">a JSON path</option></select></label>
      ${where === "path" && html`<label>JSON path <input class="mono" placeholder="$.customer.id" required value=${path} onInput=${(event) => setPath(event.target.value)} /></label>`}
      ${state.busy ? html`<button key="stop" type="button" class="btn danger" onClick=${() => running.current.abort()}>Stop</button>`
        : html`<button key="begin" class="btn main-action">${text ? "Search" : "Show"}</button>`}</div>
      ${state.search && html`<div aria-live="polite">${state.busy && html`<progress max=${state.totalOffsets} value=${state.offsets}
          aria-label="Progress of the search"></progress>`}
        <span class="dim">${state.busy ? "Searching: " : state.stopped ? "Stopped: " : ""}${count(state.records.length)} found in
          ${" "}${plural(state.scanned, "record")}${state.done ? ", to the end of the topic" : ""}.</span>
        ${!state.busy && !state.done && state.cursor && html` <button type="button" class="btn small" onClick=${(event) => load(event, state.cursor)}>Search on</button>`}</div>`}
    </form><${Failure} of=${state.failure} />
    <div class="panel flush">${state.records.length
      ? html`<${Table} caption="Messages" items=${state.records} columns=${recordColumns(setOpened)} keyOf=${(record) => `${record.partition}:${record.offset}`} />
        <div class="more"><span>${plural(state.records.length, "record")}</span>
          ${!state.search && state.cursor && !state.done && html`<button class="btn small" onClick=${(event) => load(event, state.cursor)}>Show more</button>`}</div>`
      : html`<${Empty} title=${emptyTitle(state)}>
          ${state.done && (state.search ? "Try another text, or search in more places." : "Try an earlier position, or all partitions.")}</${Empty}>`}</div>
    ${opened && html`<${RecordDialog} record=${opened} onClose=${() => setOpened()} />`}`;
}
