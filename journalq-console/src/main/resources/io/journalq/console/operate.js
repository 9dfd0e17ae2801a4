/** Pages about the broker: overview, health, cluster, quotas, transactions and rights. */
import { useState } from "/console/preact.js";
import { bytes, change, count, duration, get, micros, part, plural, short, time } from "/console/api.js";
import { Chart, Dialog, Empty, Failure, Figures, html, link, Page, PreviewDialog, ServerList, Table, toast, useLoad }
  from "/console/ui.js";

const STATUS = { up: "good", degraded: "warn", down: "bad" };
const status = (text) => html`<span class=${`tag ${STATUS[text] || ""}`}>${text}</span>`;

export function Overview() {
  const [step, setStep] = useState("1s");
  const history = useLoad(() => get("/v1/history", { step }), [step], step === "1s" ? 2000 : 30000);
  const cluster = useLoad(() => get("/v1/cluster"), [], 5000);
  const broker = useLoad(() => get("/v1/broker"), [], 5000);
  const { data: c } = cluster;
  const { data: b } = broker;
  const { data: h } = history;
  const length = h ? h.series.connections.length : 0;
  const times = h ? h.series.connections.map((value, index) => (h.last - (length - 1 - index) * h.stepMs) / 1000) : [];
  const chart = (title, format, ...lines) => html`<${Chart} key=${`${title}${step}`} title=${title} times=${times}
    format=${format} lines=${lines.map(([name, label]) => ({ label, values: h.series[name] }))} />`;
  return html`<${Page} title="Overview" lead="What this broker does now."
    actions=${html`<label>Charts show <select value=${step} onChange=${(event) => setStep(event.target.value)}>
      <option value="1s">the last 15 minutes</option><option value="1m">the last 24 hours</option></select></label>`}>
    <${Failure} of=${cluster.failure || broker.failure || history.failure} />
    ${c && c.topics === 0 && html`<div class="panel"><${Empty} title="The broker is ready, and has no topics">
      Records are stored in topics. Create one, then produce the first record to it. <br />
      <a class="btn main-action" href=${link("topics")}>Create a topic</a></${Empty}></div>`}
    ${b && c && html`<${Figures} of=${[
      ["Broker", status(b.status), `up for ${duration(Date.now() - b.started)}`],
      ["Topics", html`<a href=${link("topics")}>${count(c.topics)}</a>`, plural(c.partitions, "partition")],
      ["Partitions offline", c.offlinePartitions ? html`<span class="tag bad">${count(c.offlinePartitions)}</span>` : "0",
        c.underReplicatedPartitions ? `${count(c.underReplicatedPartitions)} under-replicated` : "all replicas in sync"],
      ["Connections", count(b.connections), `${count(b.gatewayConnections)} of them HTTP`],
      ["Fsync, 99 %", b.syncs.count ? micros(b.syncs.p99Micros) : "none yet", plural(b.syncs.count, "call")],
      ["Free disk space", bytes(Math.min(...b.disks.map((disk) => disk.usableBytes))),
        html`<a href=${link("health")}>health</a>`],
    ]} />`}
    ${h && (length > 1
      ? html`<div class="charts">
        ${chart("Records appended per second", short, ["appendedRecordsPerSecond", "records"])}
        ${chart("Bytes per second", bytes, ["appendedBytesPerSecond", "appended"], ["fetchedBytesPerSecond", "fetched"])}
        ${chart("Kafka requests per second", short, ["requestsPerSecond", "Kafka requests"])}
        ${chart("Connections", count, ["connections", "connections"])}
        ${chart("Oldest record that is not synced", duration, ["oldestUnsyncedMs", "age"])}
        ${chart("Heap", bytes, ["heapUsedBytes", "in use"])}</div>`
      : html`<div class="panel"><${Empty} title="The charts have no data yet">They begin ${step === "1s"
        ? "a few seconds" : "two minutes"} after the start of the broker.</${Empty}></div>`)}
  </${Page}>`;
}

function Histogram({ of, label }) {
  const last = of.buckets.reduce((found, bucket, index) => (bucket.count ? index : found), 0);
  const shown = of.buckets.slice(0, last + 1);
  const highest = Math.max(...shown.map((bucket) => Math.log1p(bucket.count)), 1);
  const text = shown.map((bucket) => `${bucket.upToMicros < 0 ? "more" : `up to ${micros(bucket.upToMicros)}`}: ${count(bucket.count)}`);
  return html`<div class="hist" role="img" aria-label=${`${label}: ${text.join("; ")}`}>
    ${shown.map((bucket, index) => html`<span title=${text[index]}
      style=${{ height: `${(Math.log1p(bucket.count) / highest) * 100}%` }}></span>`)}</div>
    <p class="hint">Bars double in duration, from left to right; their height is logarithmic. Median ${micros(of.p50Micros)},
      99 % ${micros(of.p99Micros)}, 99.9 % ${micros(of.p999Micros)}.</p>`;
}

export function HealthPage() {
  const { data: b, failure } = useLoad(() => get("/v1/broker"), [], 3000);
  return html`<${Page} title="Health" lead="Delays and limits of this broker, counted since it started.">
    <${Failure} of=${failure} />${b && html`
    <${Figures} of=${[
      ["Status", status(b.status), `broker ${b.broker}, version ${b.version}`],
      ["Running since", html`<small>${time(b.started)}</small>`, `Java ${b.java}`],
      ["Heap", bytes(b.memory.heapUsedBytes), `of ${bytes(b.memory.heapMaxBytes)}`],
      ["Direct memory", bytes(b.memory.directBytes), "for buffers"],
      ["Oldest unsynced record", duration(b.oldestUnsyncedMs), b.oldestUnsyncedMs ? "waits for a flush" : "everything is synced"],
      ["Hanging transactions", count(b.hangingTransactions), "open for too long"],
    ]} />
    ${b.offlinePartitions > 0 && html`<div class="note bad"><p>${plural(b.offlinePartitions, "partition")} cannot be used:
      ${b.offlinePartitionNames.join(", ")}. The broker's log says why.</p></div>`}
    <section class="panel"><h2>Fsync latency</h2>${b.syncs.count
      ? html`<${Histogram} of=${b.syncs} label="Durations of fsync calls" />`
      : html`<p class="dim">No file was synced yet.</p>`}</section>
    <section class="panel"><h2>Event loops</h2><p class="hint">All connections of a loop wait during an iteration. Many
      iterations above 10 ms mean that something stalls the loop.</p><div class="charts">${b.loops.map((loop) => html`<div>
        <h3>Loop ${loop.loop}: ${count(loop.iterations.count)} iterations</h3>
        <${Histogram} of=${loop.iterations} label=${`Durations of the iterations of loop ${loop.loop}`} /></div>`)}</div></section>
    <section class="panel flush"><${Table} caption="Data directories" items=${b.disks} columns=${[
      { label: "Data directory", cell: (disk) => disk.directory },
      { label: "State", cell: (disk) => disk.problem
        ? html`<span class="tag bad">offline</span> ${disk.problem}` : html`<span class="tag good">online</span>` },
      { label: "Journals", num: true, small: true, cell: (disk) => bytes(disk.journalBytes) },
      { label: "Partitions", num: true, small: true, cell: (disk) => count(disk.partitions) },
      { label: "Free", num: true, cell: (disk) => disk.totalBytes < 0 ? "unknown" : html`${`${bytes(disk.usableBytes)} of ${bytes(disk.totalBytes)}`}<div class="bar"><i class=${disk.usableBytes < disk.totalBytes / 10 ? "bad" : ""}
          style=${{ width: `${100 - (100 * disk.usableBytes) / disk.totalBytes}%` }}></i></div>` },
    ]} /></section>`}</${Page}>`;
}

export function ClusterPage() {
  const { data: c, failure } = useLoad(() => get("/v1/cluster"), [], 3000);
  return html`<${Page} title="Cluster" lead="The brokers, and how partitions are spread over them.">
    <${Failure} of=${failure} />${c && html`
    <${Figures} of=${[["Brokers", count(c.brokers.length), `${c.brokers.filter((one) => one.live).length} live`],
      ["Controller", c.controller < 0 ? "none" : `broker ${c.controller}`],
      ["Partitions", count(c.partitions), `${count(c.underReplicatedPartitions)} under-replicated`],
      ["Offline", count(c.offlinePartitions), "partitions without a leader"]]} />
    <div class="map">${c.brokers.map((one) => html`<section class="panel"><h2>Broker ${one.id}${" "}
      ${one.live ? html`<span class="tag good">live</span>` : html`<span class="tag bad">fenced</span>`}
      ${one.id === c.controller && html` <span class="tag">controller</span>`}
      ${one.id === c.broker && html` <span class="tag">this broker</span>`}</h2>
      <dl class="facts"><dt>Leads</dt><dd>${plural(one.leaders, "partition")}</dd>
        <dt>Holds</dt><dd>${plural(one.replicas, "replica")}</dd>
        ${one.rack && html`<dt>Rack</dt><dd>${one.rack}</dd>`}
        ${one.listeners.map((listener) => html`<dt>${listener.name}</dt><dd class="mono">${listener.address}</dd>`)}</dl>
      <div class="bar"><i style=${{ width: `${c.partitions ? (100 * one.leaders) / c.partitions : 0}%` }}></i></div>
      <p class="hint">Share of all partitions that it leads.</p></section>`)}</div>
    <p class="dim mono">Cluster id ${c.clusterId}</p>`}</${Page}>`;
}

const QUOTAS = [
  ["producer_byte_rate", "Produce", "bytes per second"],
  ["consumer_byte_rate", "Fetch", "bytes per second"],
  ["request_percentage", "Loop time", "percent of one loop"],
  ["connection_creation_rate", "Connections", "new ones per second"],
];

/** Addresses have a limit of connections, and users and client ids have the others. */
const quotasOf = (entity) => QUOTAS.filter(([key]) => (key === "connection_creation_rate") === ("ip" in entity));

function limitText(limit, unit) {
  return unit.startsWith("bytes") ? `${bytes(limit)}/s` : unit.startsWith("percent") ? `${limit} %` : `${limit}/s`;
}

const entityText = (entity) => Object.entries(entity)
  .map(([kind, name]) => `${kind === "clientId" ? "client id" : kind} ${name == null ? "(all others)" : name}`).join(", ");

function QuotaDialog({ entry, onClose, onDone }) {
  const [entity, setEntity] = useState(entry ? entry.entity : {});
  const [limits, setLimits] = useState(entry ? { ...entry.limits } : {});
  const [failure, setFailure] = useState();
  const submit = async (event) => {
    event.preventDefault();
    const set = {};
    const reset = [];
    for (const [key] of QUOTAS) {
      if (limits[key] !== undefined && limits[key] !== "") {
        set[key] = Number(limits[key]);
      } else if (entry && entry.limits[key] !== undefined) {
        reset.push(key);
      }
    }
    const named = Object.fromEntries(Object.entries(entity).filter(([, name]) => name !== ""));
    try {
      await change("PATCH", "/v1/quotas", { entity: named, set, reset, execute: true });
      onDone();
    } catch (problem) {
      setFailure(problem);
    }
  };
  return html`<${Dialog} title=${entry ? `Limits of ${entityText(entry.entity)}` : "Add a quota"} onClose=${onClose}>
    <form class="stack" onSubmit=${submit}><${Failure} of=${failure} />
    ${!entry && html`<p class="dim">A quota limits a user, a client id, or both together. Clients that exceed it are delayed.</p>
      <div class="row">${[["user", "User"], ["clientId", "Client id"]].map(([kind, text]) => html`<label class="wide">${text}
        <input value=${entity[kind] || ""} onInput=${(event) => setEntity({ ...entity, [kind]: event.target.value })} />
      </label>`)}</div>`}
    ${quotasOf(entity).map(([key, text, unit]) => html`<label>${text}, ${unit}; empty for no limit<input type="number" min="0" step="any"
      value=${limits[key] ?? ""} onInput=${(event) => setLimits({ ...limits, [key]: event.target.value })} /></label>`)}
    <div class="row end"><button type="button" class="btn" onClick=${onClose}>Cancel</button>
      <button class="btn main-action">Save</button></div></form></${Dialog}>`;
}

export function QuotasPage() {
  const [edited, setEdited] = useState();
  const [tick, setTick] = useState(0);
  const add = html`<button class="btn main-action" onClick=${() => setEdited({})}>Add a quota</button>`;
  return html`<${Page} title="Quotas"
    lead="Limits of users, client ids and addresses. A client that exceeds one is delayed. More connections are closed."
    actions=${add}>
    <${ServerList} path="/v1/quotas" caption="Quotas" placeholder="Find a user, client id or address" tick=${tick}
      empty=${html`<${Empty} title="No client is limited">Add a quota so that one client cannot use up the broker.</${Empty}>`}
      columns=${[{ label: "Applies to", cell: (entry) => entityText(entry.entity) },
        ...QUOTAS.map(([key, text, unit]) => ({ label: text, num: true, small: key === "request_percentage", cell: (entry) => entry.limits[key] === undefined
          ? html`<span class="dim">no limit</span>` : limitText(entry.limits[key], unit) })),
        { label: "", actions: true, cell: (entry) => html`<button class="btn small" onClick=${() => setEdited({ entry })}>Edit</button>` }]} />
    ${edited && html`<${QuotaDialog} entry=${edited.entry} onClose=${() => setEdited()} onDone=${() => {
      setEdited();
      setTick(tick + 1);
      toast("The quota was saved");
    }} />`}</${Page}>`;
}

const TRANSACTION = { Ongoing: "warn", PrepareCommit: "warn", PrepareAbort: "warn", CompleteCommit: "good", CompleteAbort: "" };
const transactionState = (state) => html`<span class=${`tag ${TRANSACTION[state] || ""}`}>${state}</span>`;

export function TransactionsPage() {
  return html`<${Page} title="Transactions" lead="Transactional ids, and the state of their last transaction.">
    <${ServerList} path="/v1/transactions" caption="Transactions" placeholder="Find a transactional id" intervalMs=${5000}
      empty=${html`<${Empty} title="No producer has used a transaction">They appear here when a producer sets
        <code>transactional.id</code>.</${Empty}>`}
      columns=${[{ label: "Transactional id", sort: "id", cell: (one) => html`<a href=${link("transactions", one.id)}>${one.id}</a>` },
        { label: "State", sort: "state", cell: (one) => transactionState(one.state) },
        { label: "Open since", cell: (one) => one.started > 0 ? html`<span class="moment">${time(one.started)}</span>` : html`<span class="dim">not open</span>` },
        { label: "Timeout", num: true, small: true, cell: (one) => duration(one.timeoutMs) },
        { label: "Producer id", num: true, small: true, sort: "producerId", cell: (one) => one.producerId }]} /></${Page}>`;
}

export function TransactionPage({ id }) {
  const path = `/v1/transactions/${part(id)}`;
  const { data: one, failure, reload } = useLoad(() => get(path), [id], 5000);
  const [aborting, setAborting] = useState(false);
  const open = one && one.state === "Ongoing";
  return html`<${Page} title=${id} crumb=${html`<a href=${link("transactions")}>Transactions</a>`}
    actions=${open && html`<button class="btn danger" onClick=${() => setAborting(true)}>Abort</button>`}>
    <${Failure} of=${failure} />${one && html`<section class="panel"><dl class="facts">
      <dt>State</dt><dd>${transactionState(one.state)}</dd><dt>Producer</dt><dd>${one.producerId}, epoch ${one.producerEpoch}</dd>
      <dt>Timeout</dt><dd>${duration(one.timeoutMs)}</dd><dt>Open since</dt><dd>${one.started > 0 ? time(one.started) : "not open"}</dd>
      <dt>Partitions</dt><dd>${one.topics.length ? one.topics.map((topic) => html`<div>
        <a href=${link("topics", topic.topic)}>${topic.topic}</a> ${topic.partitions.join(", ")}</div>`) : "none"}</dd></dl></section>`}
    ${aborting && html`<${PreviewDialog} title="Abort the transaction?" action="Abort" destroys onClose=${() => setAborting(false)}
      preview=${() => change("POST", `${path}/abort`, {})} act=${() => change("POST", `${path}/abort`, { execute: true })}
      show=${() => html`<p>Its records stay invisible to consumers of committed records. The producer is fenced: its next
        request fails, and it must be restarted.</p>`}
      onDone=${() => {
        setAborting(false);
        toast("The transaction was aborted");
        reload();
      }} />`}</${Page}>`;
}

export function RightsPage({ session }) {
  return html`<${Page} title="Rights" lead="Who may do what (ACLs), and who can log in with a password.">
    <h2>Access control lists</h2>${session.authorization
      ? html`<${ServerList} path="/v1/acls" caption="Access control lists" placeholder="Find a user or resource" firstSort="principal"
        empty=${html`<${Empty} title="There are no ACLs">Only super users may do something. Add rights with
          <code>journalq access</code>.</${Empty}>`}
        columns=${[{ label: "Principal", sort: "principal", cell: (rule) => rule.principal },
          { label: "Permission", cell: (rule) => html`<span class=${`tag ${rule.permission === "deny" ? "bad" : "good"}`}>${rule.permission}</span>` },
          { label: "Operation", cell: (rule) => rule.operation },
          { label: "Resource", sort: "resource", cell: (rule) => `${rule.resourceType} ${rule.resource}${rule.pattern === "prefixed" ? "…" : ""}` },
          { label: "From host", cell: (rule) => rule.host }]} />`
      : html`<div class="panel"><${Empty} title="Rights are not enforced">Every client that can connect may do everything.
        Set <code>authorization.enabled</code> to change this.</${Empty}></div>`}
    <h2>Users with passwords</h2>
    <${ServerList} path="/v1/users" caption="Users" placeholder="Find a user"
      empty=${html`<${Empty} title="No user has a password">Add users with <code>journalq-server users</code> if a listener
        uses SASL.</${Empty}>`}
      columns=${[{ label: "User", sort: "name", cell: (user) => user.name },
        { label: "Mechanisms", cell: (user) => user.mechanisms.join(", ") }]} /></${Page}>`;
}
