/** The live tail of a topic, and the form that produces records. */
import { useEffect, useRef, useState } from "/console/preact.js";
import { change, count, mayRecover, plural, Problem, received, send, topicPath, withParameters } from "/console/api.js";
import { Empty, Failure, html, link, Table, toast } from "/console/ui.js";
import { format, RecordDialog, recordColumns, structureOf } from "/console/records.js";

/** Rows that are kept and shown, and their size. Older ones are dropped, so that the memory of the tab is bounded. */
const MAX_ROWS = 200;
const MAX_CHARS = 16 * 1024 * 1024;
const DRAW_MS = 250;
const ROWS_PER_DRAW = 50;
const RETRY_MS = 3000;

/** The newest rows that fit; at least one. */
function bounded(rows) {
  let chars = 0;
  const kept = rows.slice(0, MAX_ROWS).findIndex((row, index) => (chars += row.chars) > MAX_CHARS && index > 0);
  return rows.slice(0, kept < 0 ? MAX_ROWS : kept);
}

export function Tail({ topic }) {
  const [rows, setRows] = useState([]);
  const [seen, setSeen] = useState(0);
  const [state, setState] = useState("connecting");
  const [failure, setFailure] = useState();
  const [paused, setPaused] = useState(false);
  const [opened, setOpened] = useState();
  const [partition, setPartition] = useState("");
  const [round, setRound] = useState(0);
  const held = useRef({ rows: [], seen: 0, paused: false });
  held.current.paused = paused;

  useEffect(() => {
    const mine = held.current;
    const ended = new AbortController();
    let source;
    let retry;
    let last = "";
    const fail = (problem) => {
      source.close();
      setFailure(problem);
      setState("failed");
      retry = mayRecover(problem) ? setTimeout(open, RETRY_MS) : undefined;
    };
    // The browser does not tell why the broker has refused the stream, so that it is asked again.
    const explain = async () => {
      const asked = new AbortController();
      ended.signal.addEventListener("abort", () => asked.abort());
      try {
        await send(path(), { signal: asked.signal });
        retry = setTimeout(open, RETRY_MS);
      } catch (problem) {
        if (!ended.signal.aborted) {
          fail(problem);
        }
      }
      asked.abort();
    };
    const path = () => withParameters(`${topicPath(topic)}/events`,
      last ? { cursor: partition === "" ? last : `${last},only` } : { partition });
    const open = () => {
      source = new EventSource(path());
      source.onopen = () => {
        setFailure();
        setState("connected");
      };
      source.onerror = () => {
        setState("reconnecting");
        if (source.readyState === EventSource.CLOSED) {
          explain();
        }
      };
      source.onmessage = (event) => {
        last = event.lastEventId;
        mine.seen++;
        if (!mine.paused) {
          mine.rows.push(event.data);
          if (mine.rows.length > ROWS_PER_DRAW) {
            mine.rows.shift();
          }
        }
      };
      source.addEventListener("problem", (event) => fail(new Problem(JSON.parse(event.data))));
    };
    open();
    const timer = setInterval(() => {
      setSeen(mine.seen);
      if (mine.rows.length) {
        const fresh = mine.rows.splice(0).map((line) => ({ ...JSON.parse(line), chars: line.length })).reverse();
        setRows((before) => bounded([...fresh, ...before]));
      }
    }, DRAW_MS);
    return () => {
      ended.abort();
      source.close();
      clearTimeout(retry);
      clearInterval(timer);
      mine.rows = [];
    };
  }, [topic, partition, round]);

  const tags = { connected: "good", connecting: "", reconnecting: "warn", failed: "bad" };
  return html`<div class="panel strip"><span class=${`tag ${tags[state]}`} role="status">${state}</span>
      <span class="dim">${plural(seen, "record")} since the page was opened. The newest ${MAX_ROWS} are kept, and at most
        200 per second are shown.</span>
      <div class="row"><label class="narrow">Partition <input type="number" min="0" placeholder="all" value=${partition} onChange=${(event) => {
          setRows([]);
          setPartition(event.target.value);
        }} /></label>
        ${state === "failed" && html`<button class="btn" onClick=${() => setRound(round + 1)}>Connect again</button>`}
        <button class="btn" aria-pressed=${paused} onClick=${() => setPaused(!paused)}>${paused ? "Go on" : "Pause"}</button>
        <button class="btn" onClick=${() => setRows([])}>Clear</button></div></div>
    <${Failure} of=${failure} />
    <div class="panel flush">${rows.length
      ? html`<${Table} caption="Live tail" items=${rows} columns=${recordColumns(setOpened)} keyOf=${(record) => `${record.partition}:${record.offset}`} />`
      : html`<${Empty} title="Waiting for new records">They appear here as they are appended.<br />
          <a class="btn" href=${link("topics", topic, "produce")}>Produce a record</a></${Empty}>`}</div>
    ${opened && html`<${RecordDialog} record=${opened} onClose=${() => setOpened()} />`}`;
}

export function Produce({ topic, partitions, internal }) {
  const [key, setKey] = useState("");
  const [value, setValue] = useState("");
  const [partition, setPartition] = useState("");
  const [headers, setHeaders] = useState([]);
  const [tombstone, setTombstone] = useState(false);
  const [failure, setFailure] = useState();
  const [last, setLast] = useState();
  const sends = useRef(false);
  const [busy, setBusy] = useState(false);
  if (internal) {
    return html`<div class="panel"><${Empty} title="The broker writes this topic itself">Choose another topic.</${Empty}></div>`;
  }
  const submit = async (event) => {
    event.preventDefault();
    if (sends.current) {
      return; // pressed twice: the first record has no response yet
    }
    const record = { value: tombstone ? null : value };
    if (key) {
      record.key = key;
    }
    if (partition !== "") {
      record.partition = Number(partition);
    }
    if (headers.length) {
      record.headers = headers.filter(([name]) => name).map(([name, text]) => ({ name, value: text }));
    }
    sends.current = true;
    setBusy(true);
    try {
      const result = await change("POST", `${topicPath(topic)}/records`, { records: [record] });
      setFailure();
      setLast(result.offsets[0]);
      toast("The record was appended");
    } catch (problem) {
      setFailure(problem);
    }
    sends.current = false;
    setBusy(false);
  };
  const upload = async (event) => {
    const file = event.target.files[0];
    if (!file) {
      return;
    }
    try {
      const response = await send(`${topicPath(topic)}/records`, {
        method: "POST", headers: { "Content-Type": "application/x-ndjson" }, body: file,
      });
      const result = await received(response.json());
      setFailure();
      toast(`The file was appended: ${plural(result.records, "record")}`);
    } catch (problem) {
      setFailure(problem);
    }
    event.target.value = "";
  };
  const json = structureOf(value);
  return html`<form class="panel stack" onSubmit=${submit} onKeyDown=${(event) => {
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && !event.repeat) {
        submit(event);
      }
    }}><${Failure} of=${failure} />
    ${last && html`<div class="note" role="status"><p>Appended to partition ${last.partition} at offset ${count(last.first)}.
      ${" "}<a href=${`${link("topics", topic, "messages")}?partition=${last.partition}&offset=${last.first}`}>Show it</a></p></div>`}
    <div class="row"><label class="wide">Key; records with the same key stay in order <input class="mono" value=${key} onInput=${(event) => setKey(event.target.value)} /></label>
      <label>Partition <select value=${partition} onChange=${(event) => setPartition(event.target.value)}><option value="">by the key</option>
        ${Array.from({ length: Math.min(partitions, 1000) }, (none, number) => html`<option value=${number}>${number}</option>`)}</select></label></div>
    <label>Value <textarea value=${value} disabled=${tombstone} spellcheck="false" onInput=${(event) => setValue(event.target.value)}></textarea></label>
    <div class="row"><label class="check"><input type="checkbox" checked=${tombstone} onChange=${(event) => setTombstone(event.target.checked)} />
        Tombstone: no value, deletes the key in a compacted topic</label>
      ${json && html`<button type="button" class="btn small" onClick=${() => setValue(format(json))}>Format JSON</button>`}</div>
    ${headers.map(([name, text], index) => html`<div class="row"><label>Header <input value=${name} onInput=${(event) =>
        setHeaders(headers.map((one, place) => (place === index ? [event.target.value, text] : one)))} /></label>
      <label class="wide">Its value <input value=${text} onInput=${(event) =>
        setHeaders(headers.map((one, place) => (place === index ? [name, event.target.value] : one)))} /></label>
      <button type="button" class="btn" onClick=${() => setHeaders(headers.filter((one, place) => place !== index))}>Remove</button></div>`)}
    <div class="row"><button class="btn main-action" disabled=${busy}>Produce</button>
      <button type="button" class="btn" onClick=${() => setHeaders([...headers, ["", ""]])}>Add a header</button>
      <span class="hint">Ctrl+Enter produces, too.</span></div></form>
    <div class="panel"><label>Or append a file with a record in each line (NDJSON) <input type="file" onChange=${upload} /></label></div>`;
}
