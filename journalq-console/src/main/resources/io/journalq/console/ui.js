/** Components that several pages use. */
import { html, useEffect, useRef, useState } from "/console/preact.js";
import { bytes, count, get, isUtc, mayRecover, Problem, time } from "/console/api.js";

export { html };

function decoded(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part; // Somebody has typed it.
  }
}

/** Where the page is: its path without the hash, and its parameters. */
export function route() {
  const [path, query] = location.hash.replace(/^#\/?/, "").split("?");
  return { path: path.split("/").filter(Boolean).map(decoded), parameters: new URLSearchParams(query || "") };
}

export const link = (...parts) => `#/${parts.map(encodeURIComponent).join("/")}`;

function go(...parts) {
  location.hash = link(...parts);
}

/** Goes to another page, unless the user has left the page or the dialog that wants that: a response may come late. */
export function useGo() {
  const here = useRef(true);
  useEffect(() => () => {
    here.current = false;
  }, []);
  return (...parts) => here.current && go(...parts);
}

let showToast = () => {};
export const toast = (text) => showToast(text);

export function Toast() {
  const [text, setText] = useState("");
  useEffect(() => {
    let timer;
    showToast = (next) => {
      setText(next);
      clearTimeout(timer);
      timer = setTimeout(() => setText(""), 5000);
    };
  }, []);
  return html`<div role="status" aria-live="polite">${text && html`<div class="toast">${text}</div>`}</div>`;
}

/** How long a page that is loaded only once waits before it tries again after a failure. */
const RETRY_MS = 3000;

/** Loads data, and again after each interval while the page is visible. */
export function useLoad(load, dependencies, intervalMs) {
  const [state, setState] = useState({});
  const [round, setRound] = useState(0);
  useEffect(() => {
    let current = true;
    let timer;
    const run = async () => {
      let pauseMs = intervalMs;
      if (!document.hidden || !intervalMs) {
        try {
          const data = await load();
          if (current) {
            setState({ data });
          }
        } catch (failure) {
          pauseMs ||= mayRecover(failure) ? RETRY_MS : undefined;
          if (current) {
            setState((before) => ({ data: before.data, failure }));
          }
        }
      }
      if (current && pauseMs) {
        timer = setTimeout(run, pauseMs);
      }
    };
    run();
    return () => {
      current = false;
      clearTimeout(timer);
    };
  }, [...dependencies, round]);
  return { ...state, reload: () => setRound((before) => before + 1) };
}

export function Failure({ of }) {
  return of
    ? html`<div class="note bad" role="alert"><p>${capital(of.message)}.</p>
        ${of instanceof Problem && of.remedy && html`<p>What to do: ${of.remedy}.</p>`}</div>`
    : null;
}

const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);

export function Page({ title, crumb, lead, actions, children }) {
  useEffect(() => {
    document.title = `${title} · JournalQ`;
  }, [title]);
  return html`<div class="head"><div>
      ${crumb && html`<p class="crumb">${crumb}</p>`}
      <h1 tabindex="-1">${title}</h1>${lead && html`<p class="lead">${lead}</p>`}</div>
    ${actions && html`<div class="row">${actions}</div>`}</div>${children}`;
}

export function Tabs({ label, tabs, current }) {
  return html`<nav class="tabs" aria-label=${label}>${tabs.map(([name, text, href]) =>
    html`<a href=${href} aria-current=${name === current ? "page" : null}>${text}</a>`)}</nav>
    ${!tabs.some(([name]) => name === current) && html`<div class="panel"><${Empty} title="This page does not exist">
      The address may be of another version. Choose one of the pages above.</${Empty}></div>`}`;
}

export function Figures({ of }) {
  return html`<dl class="grid figures">${of.filter(Boolean).map(([name, value, small]) =>
    html`<div class="figure"><dt>${name}</dt><dd>${value}${small && html`<small>${small}</small>`}</dd></div>`)}</dl>`;
}

export function Empty({ title, children }) {
  return html`<div class="empty"><strong>${title}</strong>${children}</div>`;
}

/** A table. Columns are {name, label, num, sort, cell}. */
export function Table({ caption, columns, items, sort, onSort, keyOf }) {
  return html`<div class="scroll" tabindex="0" role="region" aria-label=${caption}><table><caption>${caption}</caption>
    <thead><tr>${columns.map((column) => {
      const active = sort && column.sort && sort.replace("-", "") === column.sort;
      const down = active && sort.startsWith("-");
      const classes = [column.num && "num", column.small && "hide-small"].filter(Boolean).join(" ");
      return html`<th scope="col" class=${classes} aria-sort=${active ? (down ? "descending" : "ascending") : null}>
        ${column.sort && onSort
          ? html`<button onClick=${() => onSort(active && !down ? `-${column.sort}` : column.sort)}>
              ${column.label}${active ? (down ? " ↓" : " ↑") : ""}</button>`
          : column.label || html`<span class="skip">Actions</span>`}</th>`;
    })}</tr></thead>
    <tbody>${items.map((item, index) => html`<tr key=${keyOf ? keyOf(item) : index}>${columns.map((column, place) => {
      const classes = [column.num && "num", column.small && "hide-small", column.actions && "actions", column.grow && "grow", column.breaks && "breaks",
        column.short && "short"]
        .filter(Boolean).join(" ");
      return place === 0
        ? html`<th scope="row" class=${classes}>${column.cell(item)}</th>`
        : html`<td class=${classes}>${column.cell(item)}</td>`;
    })}</tr>`)}</tbody></table></div>`;
}

/** A list that the broker searches, sorts and pages. */
export function ServerList({ path, parameters, columns, caption, firstSort, placeholder, empty, keyOf, intervalMs, tick }) {
  const [query, setQuery] = useState("");
  const [sort, setSort] = useState(firstSort || "");
  const [cursors, setCursors] = useState([]);
  const cursor = cursors[cursors.length - 1];
  const wanted = useDelayed(query, 200);
  const { data, failure } = useLoad(
    () => get(path, { ...parameters, query: wanted, sort, limit: 100, cursor }),
    [path, JSON.stringify(parameters), wanted, sort, cursor, tick],
    intervalMs,
  );
  const restart = (set) => (value) => {
    set(value);
    setCursors([]);
  };
  const nothing = data && data.total === 0 && !wanted;
  return html`<${Failure} of=${failure} />
    ${nothing ? html`<div class="panel">${empty}</div>` : data && html`<div class="panel flush">
      <div class="more"><label class="search-label"><span class="skip">${placeholder}</span>
        <input type="search" placeholder=${placeholder} value=${query} style="margin:0;min-width:14rem"
          onInput=${(event) => restart(setQuery)(event.target.value)} /></label>
        <span aria-live="polite">${wanted
          ? `${count(data.matching)} of ${count(data.total)} match` : `${count(data.total)} in all`}</span></div>
      ${data.items.length
        ? html`<${Table} caption=${caption} columns=${columns} items=${data.items} sort=${sort}
            onSort=${restart(setSort)} keyOf=${keyOf} />`
        : html`<${Empty} title="Nothing matches">Try a shorter text.</${Empty}>`}
      ${(data.cursor || cursors.length > 0) && html`<div class="more">
        <button class="btn small" disabled=${!cursors.length} onClick=${() => setCursors(cursors.slice(0, -1))}>
          Previous page</button>
        <span>Page ${cursors.length + 1}</span>
        <button class="btn small" disabled=${!data.cursor} onClick=${() => setCursors([...cursors, data.cursor])}>
          Next page</button></div>`}
    </div>`}`;
}

export function useDelayed(value, delayMs) {
  const [delayed, setDelayed] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setDelayed(value), delayMs);
    return () => clearTimeout(timer);
  }, [value]);
  return delayed;
}

/** A modal dialog, which Escape closes. */
export function Dialog({ title, wide, onClose, children }) {
  const element = useRef(null);
  useEffect(() => {
    const dialog = element.current;
    dialog.showModal();
    return () => dialog.close();
  }, []);
  return html`<dialog ref=${element} class=${wide ? "wide" : ""} aria-labelledby="dialog-title" onCancel=${(event) => {
    event.preventDefault();
    onClose();
  }}><h2 id="dialog-title">${title}</h2><div class="stack">${children}</div></dialog>`;
}

/** Asks before something is deleted. The user types the name, so that nothing is deleted by a slip. */
export function DeleteDialog({ title, name, warning, act, onClose, onDone }) {
  const [typed, setTyped] = useState("");
  const [failure, setFailure] = useState();
  const submit = async (event) => {
    event.preventDefault();
    try {
      await act();
      onDone();
    } catch (problem) {
      setFailure(problem);
    }
  };
  return html`<${Dialog} title=${title} onClose=${onClose}><form class="stack" onSubmit=${submit}>
    <p>${warning}</p><${Failure} of=${failure} />
    <label>Type <strong class="exact">${name}</strong> to confirm
      <input value=${typed} onInput=${(event) => setTyped(event.target.value)} autocomplete="off" /></label>
    <div class="row end"><button type="button" class="btn" onClick=${onClose}>Cancel</button>
      <button class="btn danger" disabled=${typed !== name}>Delete</button></div></form></${Dialog}>`;
}

/** A change in two steps: what would happen, and then the change itself. */
export function PreviewDialog({ title, preview, show, act, action, destroys, onClose, onDone }) {
  const [state, setState] = useState({});
  useEffect(() => {
    preview().then((data) => setState({ data }), (failure) => setState({ failure }));
  }, []);
  const execute = async () => {
    try {
      await act();
      onDone();
    } catch (failure) {
      setState({ ...state, failure });
    }
  };
  return html`<${Dialog} title=${title} onClose=${onClose}>
    <${Failure} of=${state.failure} />${state.data && show(state.data)}
    <div class="row end"><button class="btn" onClick=${onClose}>Cancel</button>
      <button class=${`btn ${destroys ? "danger" : "main-action"}`} disabled=${!state.data} onClick=${execute}>${action}</button></div></${Dialog}>`;
}

const DARK = matchMedia("(prefers-color-scheme: dark)");

/** Whether the system prefers dark colors now. */
function useDarkSystem() {
  const [isDark, setDark] = useState(DARK.matches);
  useEffect(() => {
    const onChange = () => setDark(DARK.matches);
    DARK.addEventListener("change", onChange);
    return () => DARK.removeEventListener("change", onChange);
  }, []);
  return isDark;
}

const clock = (seconds) => time(seconds * 1000).slice(11, seconds % 60 ? 19 : 16);

/** Distances of grid lines: of bytes, and of everything else. */
const POWERS = Array.from({ length: 50 }, (none, power) => 2 ** power);
const WHOLE = Array.from({ length: 14 }, (none, power) => [1, 2, 5].map((digit) => digit * 10 ** power)).flat();

/** Lines over time. Values are in the order of the times, which are in seconds. */
export function Chart({ title, times, lines, format }) {
  const box = useRef(null);
  const chart = useRef(null);
  const { theme } = document.documentElement.dataset;
  const isDark = useDarkSystem();
  useEffect(() => {
    const style = getComputedStyle(document.documentElement);
    const color = (name) => style.getPropertyValue(name).trim();
    const axis = { stroke: color("--dim"), grid: { stroke: color("--line"), width: 1 }, ticks: { show: false } };
    chart.current = new window.uPlot({
      width: box.current.clientWidth || 320,
      height: 170,
      cursor: { y: false, drag: { setScale: false } },
      scales: { y: { range: (self, low, high) => [0, Math.max(high * 1.1, 4)] } },
      legend: { show: lines.length > 1 },
      axes: [{ ...axis, space: 75, values: (self, ticks) => ticks.map(clock) }, { ...axis, size: 62, incrs: format === bytes ? POWERS : WHOLE, values: (self, ticks) => ticks.map(format) }],
      series: [{ value: (self, at) => (at ? clock(at) : "") }, ...lines.map((line, index) => ({
        label: line.label,
        stroke: color(index ? "--warn" : "--strong"),
        width: 1.5,
        points: { show: false },
        value: (self, value) => format(value ?? self.data[index + 1].at(-1) ?? 0),
      }))],
    }, [times, ...lines.map((line) => line.values)], box.current);
    const watcher = new ResizeObserver(() =>
      chart.current.setSize({ width: Math.max(200, box.current.clientWidth), height: 170 }));
    watcher.observe(box.current);
    return () => {
      watcher.disconnect();
      chart.current.destroy();
    };
  }, [theme, isDark, isUtc()]);
  useEffect(() => chart.current.setData([times, ...lines.map((line) => line.values)]), [times]);
  const now = lines.map((line) => `${line.label}: ${format(line.values[line.values.length - 1] || 0)}`).join(", ");
  return html`<section class="panel"><h2>${title}</h2>
    <div ref=${box} class="history" role="img" aria-label=${`${title}. Now ${now}`}></div></section>`;
}
