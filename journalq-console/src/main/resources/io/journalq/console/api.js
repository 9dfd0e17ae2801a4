/** Calls of the broker's HTTP API, and formats of what it returns. */

/** A problem document (RFC 9457). */
export class Problem extends Error {
  constructor(document) {
    super(document.detail || document.title || "the request failed");
    this.status = document.status;
    this.remedy = document.remedy;
  }
}

/** How long the broker may take to send what a page shows. */
const MAX_WAIT_MS = 30_000;

const PROBLEMS = {
  TimeoutError: { detail: "the broker does not respond", remedy: "check that it runs and that the network works" },
  // A proxy may send its own page, such as a login.
  SyntaxError: { detail: "what responds is not a broker", remedy: "reload the page; you may have to log in again" },
};
const UNREACHABLE = { detail: "the broker cannot be reached", remedy: "check that it runs" };

/** Whether the same request may succeed later: nothing has responded, or the broker is starting. */
export const mayRecover = ({ status }) => !(status >= 400) || (status >= 502 && status <= 504);

/** Waits for something from the broker. The connection can break until all of it has arrived. */
export async function received(promise) {
  try {
    return await promise;
  } catch (failure) {
    throw failure.name === "AbortError" ? failure : new Problem(PROBLEMS[failure.name] || UNREACHABLE);
  }
}

async function problemOf(response) {
  try {
    return new Problem(await response.json());
  } catch {
    return new Problem({ detail: `the broker responded with status ${response.status}`, status: response.status });
  }
}

export async function send(path, options) {
  const response = await received(fetch(path, options));
  if (!response.ok) {
    throw await problemOf(response);
  }
  return response;
}

/** The path with these parameters. Those without a value are left out. */
export function withParameters(path, parameters) {
  const given = Object.entries(parameters || {}).filter(([, value]) => value !== "" && value != null);
  return given.length ? `${path}?${new URLSearchParams(given)}` : path;
}

export async function get(path, parameters) {
  const response = await send(withParameters(path, parameters), { signal: AbortSignal.timeout(MAX_WAIT_MS) });
  return received(response.json());
}

export async function change(method, path, body) {
  const headers = { "Content-Type": "application/json" };
  const response = await send(path, { method, headers, body: body === undefined ? "" : JSON.stringify(body) });
  return received(response.json());
}

export const part = encodeURIComponent;
export const topicPath = (topic) => `/v1/topics/${part(topic)}`;
export const groupPath = (group) => `/v1/groups/${part(group)}`;

function parsed(line) {
  try {
    return JSON.parse(line);
  } catch {
    throw new Problem(PROBLEMS.SyntaxError);
  }
}

/** Reads lines of JSON as they arrive. */
export async function readLines(path, signal, onLine) {
  const response = await send(path, { signal });
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { done, value } = await received(reader.read());
    if (done) {
      break;
    }
    const lines = (rest + value).split("\n");
    rest = lines.pop();
    for (const line of lines) {
      if (line) {
        onLine(parsed(line));
      }
    }
  }
}

const unknown = "unknown";
const plain = new Intl.NumberFormat("en");

/** A count; -1 is unknown. */
export const count = (number) => (number == null || number < 0 ? unknown : plain.format(Math.round(number)));

export const plural = (number, word) => `${count(number)} ${word}${number === 1 ? "" : "s"}`;

function scaled(number, base, units) {
  let value = number;
  let unit = 0;
  while (value >= base && unit < units.length - 1) {
    value /= base;
    unit++;
  }
  return `${value >= 100 || unit === 0 ? Math.round(value) : value.toFixed(1)} ${units[unit]}`.trim();
}

export const bytes = (number) =>
  number == null || number < 0 ? unknown : scaled(number, 1024, ["B", "KiB", "MiB", "GiB", "TiB"]);

export const short = (number) =>
  number == null || number < 0 ? unknown : scaled(number, 1000, ["", "k", "M", "G"]).replace(" ", "\u202f");

export function duration(ms) {
  if (ms == null || ms < 0) {
    return unknown;
  }
  const steps = [[1000, "ms"], [60, "s"], [60, "min"], [24, "h"], [Infinity, "d"]];
  let value = ms;
  for (const [size, unit] of steps) {
    if (value < size) {
      return `${value < 10 && unit !== "ms" ? value.toFixed(1).replace(/\.0$/, "") : Math.round(value)} ${unit}`;
    }
    value /= size;
  }
  return "";
}

export const micros = (number) =>
  number < 0 ? "above all bounds" : number < 1000 ? `${number} µs` : duration(number / 1000);

/** A choice of the user; null if there is none, or if the browser stores nothing for this page. */
export function preference(name) {
  try {
    return localStorage.getItem(name);
  } catch {
    return null;
  }
}

export function setPreference(name, value) {
  try {
    localStorage.setItem(name, value);
  } catch {
    // It lasts until the page is closed.
  }
}

let utc = preference("utc") === "true";
export const isUtc = () => utc;
export function setUtc(value) {
  utc = value;
  setPreference("utc", value);
}

/** The zone of times that the user enters, and the ms since 1970 of such a time. */
export const zone = () => (utc ? "UTC" : "Local");
export const entered = (text) => new Date(utc ? `${text}Z` : text).getTime();

/** A time in ms since 1970, in the zone that the user has chosen. */
export function time(ms) {
  if (ms == null || ms < 0) {
    return "none";
  }
  const date = new Date(utc ? ms : ms - new Date(ms).getTimezoneOffset() * 60000);
  if (Number.isNaN(date.getTime())) {
    return `${ms} ms`; // producers choose the times of records, and some count them in ns
  }
  return date.toISOString().replace("T", " ").replace("Z", utc ? " UTC" : "");
}
