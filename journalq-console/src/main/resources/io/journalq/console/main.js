/** The frame of the console: navigation, theme, and the page that the hash of the address names. */
import { render, useEffect, useRef, useState } from "/console/preact.js";
import { get, isUtc, preference, setPreference, setUtc } from "/console/api.js";
import { Empty, Failure, html, link, Page, route, Toast, useLoad } from "/console/ui.js";
import { ConfigPage, GroupPage, GroupsPage, TopicPage, TopicsPage } from "/console/lists.js";
import { ClusterPage, HealthPage, Overview, QuotasPage, RightsPage, TransactionPage, TransactionsPage }
  from "/console/operate.js";

const NAVIGATION = [
  ["", [["Overview", ""], ["Topics", "topics"], ["Groups", "groups"], ["Transactions", "transactions"]]],
  ["Broker", [["Health", "health"], ["Cluster", "cluster"], ["Configuration", "configuration"], ["Quotas", "quotas"],
    ["Rights", "rights"]]],
];

function page({ path, parameters }, session) {
  const [kind, name, tab] = path;
  switch (kind) {
    case undefined: return html`<${Overview} />`;
    case "topics": return name
      ? html`<${TopicPage} key=${name} topic=${name} tab=${tab || "messages"} parameters=${parameters} />`
      : html`<${TopicsPage} />`;
    case "groups": return name ? html`<${GroupPage} key=${name} group=${name} tab=${tab || "offsets"} />`
      : html`<${GroupsPage} />`;
    case "transactions": return name ? html`<${TransactionPage} key=${name} id=${name} />` : html`<${TransactionsPage} />`;
    case "health": return html`<${HealthPage} />`;
    case "cluster": return html`<${ClusterPage} />`;
    case "configuration": return html`<${ConfigPage} broker=${session.broker} />`;
    case "quotas": return html`<${QuotasPage} />`;
    case "rights": return html`<${RightsPage} session=${session} />`;
    default: return html`<${Page} title="No such page"><div class="panel"><${Empty} title="This page does not exist">
      The address may be of another version. <br /><a class="btn" href="#/">Go to the overview</a></${Empty}></div></${Page}>`;
  }
}

const THEMES = ["auto", "light", "dark"];

function applyTheme(theme) {
  if (theme === "auto") {
    delete document.documentElement.dataset.theme;
  } else {
    document.documentElement.dataset.theme = theme;
  }
}

function Preferences({ onChange }) {
  const [theme, setTheme] = useState(preference("theme") || "auto");
  return html`<div class="stack">
    <label>Colors <select value=${theme} onChange=${(event) => {
      setPreference("theme", event.target.value);
      applyTheme(event.target.value);
      setTheme(event.target.value);
      onChange();
    }}>${THEMES.map((one) => html`<option value=${one}>${one}</option>`)}</select></label>
    <label class="check"><input type="checkbox" checked=${isUtc()} onChange=${(event) => {
      setUtc(event.target.checked);
      onChange();
    }} />Times in UTC</label></div>`;
}

function Console() {
  const [place, setPlace] = useState(route());
  const [, setRound] = useState(0);
  const session = useLoad(() => get("/v1/session"), []);
  const first = useRef(true);
  useEffect(() => {
    const onHash = () => setPlace(route());
    addEventListener("hashchange", onHash);
    return () => removeEventListener("hashchange", onHash);
  }, []);
  useEffect(() => {
    if (!first.current) { // The heading that was there before belongs to the page that was left.
      document.querySelector("h1")?.focus({ preventScroll: true });
      scrollTo(0, 0);
    }
    first.current = false;
    document.querySelector(".nav a[aria-current]")?.scrollIntoView({ inline: "center", block: "nearest" });
  }, [place]);
  const here = place.path[0] || "";
  return html`<a class="skip" href="#main" onClick=${(event) => {
      event.preventDefault();
      document.getElementById("main").focus();
    }}>Skip to the content</a>
    <div class="shell"><header class="side">
      <a class="brand" href="#/"><img src="/console/icon.svg" alt="" />JournalQ</a>
      <nav aria-label="Pages"><ul class="nav">${NAVIGATION.map(([heading, links]) => html`
        ${heading && html`<li class="heading">${heading}</li>`}
        ${links.map(([text, target]) => html`<li><a href=${target ? link(target) : "#/"}
          aria-current=${here === target ? "page" : null}>${text}</a></li>`)}`)}</ul></nav>
      <div class="foot"><${Preferences} onChange=${() => setRound((round) => round + 1)} />
        ${session.data && html`<p>${session.data.principal}<br />broker ${session.data.broker}, ${session.data.version}</p>`}
      </div></header>
    <main class="main" id="main" tabindex="-1"><${Failure} of=${session.failure} />
      ${session.data && page(place, session.data)}</main></div><${Toast} />`;
}

applyTheme(preference("theme") || "auto");
const root = document.getElementById("console");
root.textContent = "";
render(html`<${Console} />`, root);
