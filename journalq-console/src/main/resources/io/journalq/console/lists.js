/** Pages about topics, groups and configurations. */
import { useRef, useState } from "/console/preact.js";
import { bytes, change, count, duration, entered, get, groupPath, plural, topicPath, zone } from "/console/api.js";
import { DeleteDialog, Dialog, Empty, Failure, Figures, html, link, Page, PreviewDialog, ServerList, Table, Tabs,
  toast, useGo, useLoad } from "/console/ui.js";
import { Messages } from "/console/messages.js";
import { Produce, Tail } from "/console/live.js";

const field = (form, name) => new FormData(form).get(name);

function CreateTopic({ onClose }) {
  const go = useGo();
  const [failure, setFailure] = useState();
  const submit = async (event) => {
    event.preventDefault();
    const form = event.target;
    const retention = field(form, "retention");
    const configs = {};
    if (retention) {
      configs["retention.ms"] = retention;
    }
    if (field(form, "compact")) {
      configs["cleanup.policy"] = "compact";
    }
    try {
      const name = field(form, "name");
      await change("POST", "/v1/topics", {
        name, partitions: Number(field(form, "partitions")), replicationFactor: Number(field(form, "replicas")), configs,
      });
      toast(`Topic ${name} was created`);
      go("topics", name, "produce");
    } catch (problem) {
      setFailure(problem);
    }
  };
  return html`<${Dialog} title="Create a topic" onClose=${onClose}><form class="stack" onSubmit=${submit}>
    <${Failure} of=${failure} />
    <label>Name <input name="name" required maxlength="249" pattern="[a-zA-Z0-9._\\-]+" autocomplete="off"
      title="letters, digits, dots, dashes and underscores" /></label>
    <div class="row"><label>Partitions <input name="partitions" type="number" min="1" value="4" required /></label>
      <label>Replicas of each <input name="replicas" type="number" min="1" value="1" required /></label></div>
    <p class="hint">Consumers of a group share the partitions. Records with the same key stay in order in one partition.</p>
    <label>Keep records <select name="retention"><option value="">as the broker does by default</option>
      <option value="1h">1 hour</option><option value="1d">1 day</option><option value="7d">7 days</option>
      <option value="30d">30 days</option><option value="-1">forever</option></select></label>
    <label class="check"><input type="checkbox" name="compact" />Compact: keep only the newest record of each key</label>
    <div class="row end"><button type="button" class="btn" onClick=${onClose}>Cancel</button>
      <button class="btn main-action">Create</button></div></form></${Dialog}>`;
}

export function TopicsPage() {
  const [creating, setCreating] = useState(false);
  const [internal, setInternal] = useState(false);
  const create = (text) => html`<button class="btn main-action" onClick=${() => setCreating(true)}>${text}</button>`;
  return html`<${Page} title="Topics" lead="Named logs of records, split into partitions." actions=${html`
      <label class="check"><input type="checkbox" checked=${internal} onChange=${(event) => setInternal(event.target.checked)} />
        Show internal topics</label>${create("Create a topic")}`}>
    <${ServerList} path="/v1/topics" parameters=${{ internal: internal ? "true" : "" }} caption="Topics" firstSort="name"
      placeholder="Find a topic" intervalMs=${5000} keyOf=${(topic) => topic.name}
      empty=${html`<${Empty} title="There are no topics yet">Create one to store records in it.<br />${create("Create the first topic")}</${Empty}>`}
      columns=${[
        { label: "Topic", sort: "name", cell: (topic) => html`<a href=${link("topics", topic.name)}>${topic.name}</a>
          ${topic.internal && html` <span class="tag">internal</span>`}
          ${topic.offline > 0 && html` <span class="tag bad">${count(topic.offline)} offline</span>`}
          ${topic.underReplicated > 0 && html` <span class="tag warn">${count(topic.underReplicated)} under-replicated</span>`}` },
        { label: "Records", num: true, cell: (topic) => count(topic.records) },
        { label: "Size", num: true, sort: "sizeBytes", cell: (topic) => bytes(topic.sizeBytes) },
        { label: "Partitions", num: true, small: true, sort: "partitions", cell: (topic) => count(topic.partitions) },
        { label: "Replicas", num: true, small: true, cell: (topic) => count(topic.replicationFactor) },
      ]} />
    ${creating && html`<${CreateTopic} onClose=${() => setCreating(false)} />`}</${Page}>`;
}

export function TopicPage({ topic, tab, parameters }) {
  const go = useGo();
  const { data, failure, reload } = useLoad(() => get(topicPath(topic)), [topic], 5000);
  const [dialog, setDialog] = useState("");
  const close = () => setDialog("");
  const tabs = [["messages", "Messages"], ["tail", "Live tail"], ["produce", "Produce"], ["partitions", "Partitions"],
    ["configuration", "Configuration"]].map(([name, text]) => [name, text, link("topics", topic, name)]);
  return html`<${Page} title=${topic} crumb=${html`<a href=${link("topics")}>Topics</a>`}
    lead=${data && `${plural(data.partitions, "partition")}, ${plural(data.records, "record")}, ${bytes(data.sizeBytes)}`}
    actions=${data && !data.internal && html`<button class="btn" onClick=${() => setDialog("truncate")}>Delete records</button>
      <button class="btn danger" onClick=${() => setDialog("delete")}>Delete topic</button>`}>
    <${Failure} of=${failure} />${data && html`<${Tabs} label="Topic" tabs=${tabs} current=${tab} />
    ${tab === "messages" && html`<${Messages} key=${`${data.id}?${parameters}`} topic=${topic} parameters=${parameters} empty=${data.records === 0} />`}
    ${tab === "tail" && html`<${Tail} key=${data.id} topic=${topic} />`}
    ${tab === "produce" && html`<${Produce} topic=${topic} partitions=${data.partitions} internal=${data.internal} />`}
    ${tab === "partitions" && html`<${Partitions} topic=${topic} current=${data.partitions} />`}
    ${tab === "configuration" && html`<${ConfigList} path=${`${topicPath(topic)}/configs`} own="topic" />`}
    ${dialog === "delete" && html`<${DeleteDialog} title="Delete the topic?" name=${topic} onClose=${close}
      warning=${`The topic has ${plural(data.records, "record")}. All of them are lost, and there is no undo.`}
      act=${() => change("DELETE", topicPath(topic))} onDone=${() => {
        toast(`Topic ${topic} was deleted`);
        go("topics");
      }} />`}
    ${dialog === "truncate" && html`<${PreviewDialog} title="Delete all records?" action="Delete the records" destroys onClose=${close}
      preview=${() => change("POST", `${topicPath(topic)}/truncate`, {})}
      show=${(preview) => html`<p>The topic loses ${plural(preview.records, "record")} of ${plural(preview.partitions, "partition")}.
        The topic and its configuration stay.</p>`}
      act=${() => change("POST", `${topicPath(topic)}/truncate`, { execute: true })} onDone=${() => {
        close();
        toast("The records were deleted");
        reload();
      }} />`}`}</${Page}>`;
}

function Partitions({ topic, current }) {
  const [tick, setTick] = useState(0);
  const [wanted, setWanted] = useState(0);
  const path = `${topicPath(topic)}/partitions`;
  return html`<form class="panel row" onSubmit=${(event) => {
      event.preventDefault();
      setWanted(Number(field(event.target, "count")));
    }}><label>Number of partitions <input name="count" type="number" min=${current + 1} placeholder=${current + 1} required /></label>
      <button class="btn">Add partitions</button></form>
    <${ServerList} path=${path} caption="Partitions" placeholder="Find a number" firstSort="partition" intervalMs=${5000} tick=${tick}
      columns=${[
        { label: "Partition", short: true, sort: "partition", cell: (one) => one.partition },
        { label: "Leader", sort: "leader", cell: (one) => one.offline ? html`<span class="tag bad">offline</span>` : `broker\u00a0${one.leader}` },
        { label: "Replicas", small: true, cell: (one) => one.replicas.map((id) => html`<span class=${`tag ${one.inSync.includes(id) ? "good" : "bad"}`}
          title=${one.inSync.includes(id) ? "in sync" : "not in sync"}>${id}</span> `) },
        { label: "Start", num: true, small: true, cell: (one) => count(one.start) },
        { label: "End", num: true, cell: (one) => count(one.end) },
        { label: "Size", num: true, small: true, cell: (one) => bytes(one.sizeBytes) },
        { label: "", actions: true, cell: (one) => html`<a class="btn small" href=${`${link("topics", topic, "messages")}?partition=${one.partition}`}>Messages</a>` },
      ]} />
    ${wanted > 0 && html`<${PreviewDialog} title="Add partitions?" action="Add" onClose=${() => setWanted(0)}
      preview=${() => change("POST", path, { partitions: wanted })}
      show=${(preview) => html`<p>The topic grows from ${preview.before} to ${preview.partitions} partitions. This cannot be undone.</p>
        <p class="dim">Records with a key may go to another partition from now on, so that their order with earlier
        records of the same key is lost.</p>`}
      act=${() => change("POST", path, { partitions: wanted, execute: true })} onDone=${() => {
        setWanted(0);
        setTick(tick + 1);
        toast("Partitions were added");
      }} />`}`;
}

const SOURCES = { topic: "set on this topic", group: "set on this group", broker: "set on this broker", file: "configuration file",
  "every-broker": "set for all brokers", default: "default" };

function shown(setting, value) {
  const number = Number(value);
  if (value === "" || value == null) {
    return html`<span class="dim">empty</span>`;
  }
  if (setting.unit && number > 0 && number < 9e18) {
    return html`${setting.unit === "ms" ? duration(number) : bytes(number)} <span class="dim">(${value})</span>`;
  }
  return value;
}

export function ConfigList({ path, own }) {
  const [edited, setEdited] = useState();
  const [tick, setTick] = useState(0);
  return html`<${ServerList} path=${path} caption="Settings" placeholder="Find a setting" tick=${tick}
      columns=${[
        { label: "Setting", sort: "name", cell: (one) => html`<span class="mono">${one.name}</span><div class="hint">${one.documentation}</div>` },
        { label: "Value", breaks: true, cell: (one) => one.sensitive ? html`<span class="dim">hidden</span>` : shown(one, one.value) },
        { label: "From", small: true, cell: (one) => one.source === "default" ? html`<span class="dim">default</span>`
          : html`<span class="tag">${SOURCES[one.source] || one.source}</span>` },
        { label: "", actions: true, cell: (one) => one.readOnly ? html`<span class="dim">needs a restart</span>`
          : html`<button class="btn small" onClick=${() => setEdited(one)}>Edit</button>` },
      ]} />
    ${edited && html`<${ConfigDialog} path=${path} setting=${edited} own=${own} onClose=${() => setEdited()} onDone=${() => {
      setEdited();
      setTick(tick + 1);
      toast("The setting was changed");
    }} />`}`;
}

function ConfigDialog({ path, setting, own, onClose, onDone }) {
  const [value, setValue] = useState(setting.value || "");
  const [preview, setPreview] = useState();
  const [failure, setFailure] = useState();
  const edit = (event) => {
    setValue(event.target.value);
    setPreview();
  };
  const run = (body, execute) => async (event) => {
    event?.preventDefault();
    try {
      const result = await change("PATCH", path, { ...body, execute });
      setFailure();
      if (execute) {
        onDone();
      } else {
        setPreview({ body, ...result.changes[0] });
      }
    } catch (problem) {
      setPreview();
      setFailure(problem);
    }
  };
  return html`<${Dialog} title=${setting.name} onClose=${onClose}>
    <p>${setting.documentation}</p><${Failure} of=${failure} />
    <form class="stack" onSubmit=${run({ set: { [setting.name]: value } }, false)}>
      <label>Value${setting.unit && `, in ${setting.unit}, or with a unit such as ${setting.unit === "ms" ? "7d" : "1GiB"}`}
        ${setting.type === "boolean"
          ? html`<select value=${value} onChange=${edit}>
              <option value="true">true</option><option value="false">false</option></select>`
          : html`<input class="mono" value=${value} onInput=${edit} />`}</label>
      <p class="hint">Default: ${shown(setting, setting.default)}. Now: ${shown(setting, setting.value)}, ${SOURCES[setting.source]}.</p>
      ${preview && html`<div class="note"><p>${setting.name} changes from ${shown(setting, preview.from)} to ${shown(setting, preview.to)}.</p></div>`}
      <div class="row end"><button type="button" class="btn" onClick=${onClose}>Cancel</button>
        ${setting.source === own && html`<button type="button" class="btn" onClick=${run({ reset: [setting.name] }, false)}>Use the default</button>`}
        ${preview ? html`<button type="button" class="btn main-action" onClick=${run(preview.body, true)}>Change</button>`
          : html`<button class="btn main-action">Preview</button>`}</div></form></${Dialog}>`;
}

export function ConfigPage({ broker }) {
  return html`<${Page} title="Configuration" lead=${`The settings of broker ${broker}, with their documentation.`}>
    <${ConfigList} path=${`/v1/brokers/${broker}/configs`} own="broker" /></${Page}>`;
}

const GROUP_STATE = { Stable: "good", Empty: "", Dead: "bad" };
const groupState = (state) => html`<span class=${`tag ${GROUP_STATE[state] ?? "warn"}`}>${state}</span>`;
const lag = (records) => (records > 0 ? html`<strong>${count(records)}</strong>` : count(records));

export function GroupsPage() {
  return html`<${Page} title="Groups" lead="Consumers that share the partitions of topics, and how far they are behind.">
    <${ServerList} path="/v1/groups" caption="Groups" placeholder="Find a group" firstSort="name" intervalMs=${5000}
      empty=${html`<${Empty} title="There are no groups yet">A group appears when a consumer with a <code>group.id</code> joins,
        or commits an offset.</${Empty}>`}
      columns=${[
        { label: "Group", sort: "name", cell: (group) => html`<a href=${link("groups", group.name)}>${group.name}</a>` },
        { label: "State", sort: "state", cell: (group) => groupState(group.state) },
        { label: "Members", num: true, small: true, cell: (group) => count(group.members) },
        { label: "Lag, records", num: true, sort: "lag", cell: (group) => lag(group.lag) },
        { label: "Lag, time", num: true, cell: (group) => duration(group.lagMs) },
        { label: "Protocol", small: true, sort: "type", cell: (group) => group.type },
      ]} /></${Page}>`;
}

export function GroupPage({ group, tab }) {
  const go = useGo();
  const { data, failure } = useLoad(() => get(groupPath(group)), [group], 4000);
  const [dialog, setDialog] = useState("");
  const [tick, setTick] = useState(0);
  const tabs = [["offsets", "Offsets and lag"], ["members", "Members"], ["configuration", "Configuration"]]
    .map(([name, text]) => [name, text, link("groups", group, name)]);
  return html`<${Page} title=${group} crumb=${html`<a href=${link("groups")}>Groups</a>`}
    actions=${data && html`<button class="btn" onClick=${() => setDialog("reset")}>Reset offsets</button>
      <button class="btn danger" disabled=${data.memberCount > 0} title=${data.memberCount > 0 ? "stop its consumers first" : ""}
        onClick=${() => setDialog("delete")}>Delete group</button>`}>
    <${Failure} of=${failure} />${data && html`
    <${Figures} of=${[["State", groupState(data.state), `${data.type} protocol`],
      ["Members", count(data.memberCount), data.assignor ? `assignor ${data.assignor}` : ""],
      ["Lag, records", count(data.lag), plural(data.partitions, "partition")],
      ["Lag, time", duration(data.lagMs), "age of the oldest unread record"]]} />
    <${Tabs} label="Group" tabs=${tabs} current=${tab} />
    ${tab === "offsets" && html`<${ServerList} path=${`${groupPath(group)}/offsets`} caption="Offsets" placeholder="Find a topic"
      firstSort="-lag" intervalMs=${4000} tick=${tick}
      empty=${html`<${Empty} title="The group has not committed any offset">It appears here when its consumers commit.</${Empty}>`}
      columns=${[
        { label: "Topic", sort: "topic", cell: (row) => html`<a href=${link("topics", row.topic)}>${row.topic}</a>` },
        { label: "Partition", num: true, cell: (row) => row.partition },
        { label: "Committed", num: true, small: true, cell: (row) => html`<a href=${`${link("topics", row.topic, "messages")}?partition=${row.partition}&offset=${row.committed}`}>${count(row.committed)}</a>` },
        { label: "End", num: true, small: true, cell: (row) => count(row.end) },
        { label: "Lag, records", num: true, sort: "lag", cell: (row) => lag(row.lag) },
        { label: "Lag, time", num: true, sort: "lagMs", cell: (row) => duration(row.lagMs) },
      ]} />`}
    ${tab === "members" && html`<div class="panel flush">${data.members.length
      ? html`<${Table} caption="Members" items=${data.members} columns=${[
          { label: "Client", cell: (member) => html`${member.clientId}<div class="hint mono">${member.id}</div>` },
          { label: "Host", cell: (member) => member.host },
          { label: "Partitions", cell: (member) => {
            const topics = Object.entries(member.assigned);
            return topics.length ? topics.map(([topic, numbers]) => html`<div><a href=${link("topics", topic)}>${topic}</a> ${numbers.join(", ")}</div>`)
              : html`<span class="dim">none</span>`;
          } },
        ]} />`
      : html`<${Empty} title="No consumer is connected">Start a consumer with <code>group.id=${group}</code>.</${Empty}>`}</div>`}
    ${tab === "configuration" && html`<${ConfigList} path=${`${groupPath(group)}/configs`} own="group" />`}
    ${dialog === "reset" && html`<${ResetDialog} group=${group} members=${data.memberCount} onClose=${() => setDialog("")} onDone=${() => {
      setDialog("");
      setTick(tick + 1);
      toast("The offsets were reset");
    }} />`}
    ${dialog === "delete" && html`<${DeleteDialog} title="Delete the group?" name=${group} onClose=${() => setDialog("")}
      warning="Its committed offsets are lost. Consumers that join later begin where auto.offset.reset says."
      act=${() => change("DELETE", groupPath(group))} onDone=${() => {
        toast(`Group ${group} was deleted`);
        go("groups");
      }} />`}`}</${Page}>`;
}

function ResetDialog({ group, members, onClose, onDone }) {
  const [to, setTo] = useState("start");
  const [topic, setTopic] = useState("");
  const [partitions, setPartitions] = useState("");
  const [value, setValue] = useState("");
  const [preview, setPreview] = useState();
  const [failure, setFailure] = useState();
  const resets = useRef(false);
  const edit = (set) => (event) => {
    set(event.target.value);
    setPreview();
  };
  const body = () => {
    const wish = { to };
    if (topic) {
      wish.topic = topic;
      if (partitions) {
        wish.partitions = partitions.split(/[ ,]+/).filter(Boolean).map(Number);
      }
    }
    if (to === "timestamp") {
      wish.timestamp = entered(value);
    } else if (to === "offset" || to === "shift") {
      wish[to] = Number(value);
    }
    return wish;
  };
  const run = (wish, execute) => async (event) => {
    event?.preventDefault();
    if (resets.current) {
      return; // pressed twice: a shift would move the offsets twice
    }
    resets.current = execute;
    try {
      const result = await change("POST", `${groupPath(group)}/offsets`, { ...wish, execute });
      setFailure();
      if (execute) {
        onDone();
      } else {
        setPreview({ wish, moves: result.partitions });
      }
    } catch (problem) {
      setPreview();
      setFailure(problem);
    }
    if (execute) {
      resets.current = false; // not when an earlier preview arrives
    }
  };
  return html`<${Dialog} title=${`Reset the offsets of ${group}`} onClose=${onClose}>
    ${members > 0 && html`<div class="note warn"><p>The group has ${plural(members, "member")}. Stop its consumers first.</p></div>`}
    <${Failure} of=${failure} /><form class="stack" onSubmit=${run(body(), false)}>
    <div class="row"><label class="wide">Topic; empty for all committed <input value=${topic} onInput=${edit(setTopic)} /></label>
      <label>Partitions, such as 0,2 <input value=${partitions} disabled=${!topic} pattern="[0-9, ]*[0-9][0-9, ]*" onInput=${edit(setPartitions)} /></label></div>
    <div class="row"><label class="wide">Move to <select value=${to} onChange=${edit(setTo)}>
        <option value="start">the first record</option><option value="end">the end</option>
        <option value="timestamp">a time</option><option value="offset">an offset</option>
        <option value="shift">the committed offset plus</option></select></label>
      ${to === "timestamp" && html`<label>${zone()} time <input type="datetime-local" step="1" required value=${value} onInput=${edit(setValue)} /></label>`}
      ${to === "offset" && html`<label>Offset <input type="number" min="0" required value=${value} onInput=${edit(setValue)} /></label>`}
      ${to === "shift" && html`<label>Records; negative to go back <input type="number" required value=${value} onInput=${edit(setValue)} /></label>`}</div>
    ${preview && (preview.moves.length
      ? html`<div class="panel flush"><${Table} caption="New offsets" items=${preview.moves} columns=${[
          { label: "Topic", cell: (move) => move.topic }, { label: "Partition", num: true, cell: (move) => move.partition },
          { label: "Now", num: true, cell: (move) => (move.committed < 0 ? "none" : count(move.committed)) },
          { label: "New", num: true, cell: (move) => html`<strong>${count(move.offset)}</strong>` }]} /></div>`
      : html`<div class="note"><p>Nothing would change.</p></div>`)}
    <div class="row end"><button type="button" class="btn" onClick=${onClose}>Cancel</button>
      ${preview?.moves.length ? html`<button type="button" class="btn main-action" onClick=${run(preview.wish, true)}>Reset ${plural(preview.moves.length, "offset")}</button>`
        : html`<button class="btn main-action">Preview</button>`}</div></form></${Dialog}>`;
}
