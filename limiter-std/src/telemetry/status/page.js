// The page: asks for what is new once a second, and shows it.

// The places of values in a point; those of the server are in history.rs.
const LIMIT = 2, INFLIGHT = 3, WAITING = 4, ADMITTED = 5, REFUSED = 6, EXTRA = 7, RTT = 8, WOULD = 10;
const base = location.pathname.replace(/\/$/, "");
const $ = (id) => document.getElementById(id);

const cards = new Map();
let since = null, asked = [], paused = false, heard = null, shift = 0;

class Card {
  constructor(source) {
    this.points = [];
    this.name = source.name;
    this.pills = make("span", "title");
    this.pills.style.margin = "0";
    this.figures = make("dl", "figures");
    this.values = new Map();
    this.element = make("article", "card",
      make("div", "title", make("h2", "", source.name), this.pills), this.figures);
    this.plots = [];
    if (source.limiter) {
      this.use = this.meter("Limit in use, mean of 10 s", true);
      const slots = new Plot("Slots", "", [
        { name: "inflight", label: "in flight", at: INFLIGHT, area: true },
        { name: "limit", label: "limit", at: LIMIT, steps: true },
      ]);
      // In a plot of its own, for a long queue would flatten the limit; and only where there is one.
      this.queue = new Plot("Queue", "", [{ name: "waiting", label: "waiting", at: WAITING, area: true }]);
      const series = [
        { name: "admitted", label: source.calls ? "attempts" : "admitted", at: ADMITTED, area: true },
        { name: "refused", label: "refused", at: REFUSED, area: true },
        { name: "would", label: "would be refused", at: WOULD, rare: true },
      ];
      if (source.calls) series.push({ name: "extra", label: "retries, hedges", at: EXTRA });
      this.plots.push(slots, this.queue, new Plot("Per second", " /s", series));
      // Where too few requests come to measure one there is nothing to draw.
      this.took = new Plot("Usual time of a request", "", [{ name: "inflight", label: "", at: RTT }], time);
      this.plots.push(this.took);
    }
    if (source.budget) this.saved = this.meter("Retry budget", false);
    this.element.append(...this.plots.map((plot) => plot.element));
    this.parts = make("div", "parts");
    this.element.append(this.parts);
    this.tables = make("div", "pair");
    this.more = make("details", "", make("summary", "", "Counts since the start"), this.tables);
    if (source.refused || source.requests || source.calls) this.element.append(this.more);
  }

  meter(label, mark) {
    const value = make("b", ""), fill = make("i", "");
    const bar = make("div", "bar", fill);
    if (mark) bar.append(make("s", ""));
    this.element.append(make("div", "meter", make("p", "", make("span", "", label), value), bar));
    return { value, fill };
  }

  figure(label, text, note) {
    if (!this.values.has(label)) {
      const value = make("span", ""), small = make("small", "");
      this.figures.append(make("div", "", make("dt", "", label), make("dd", "", value, " ", small)));
      this.values.set(label, { value, small });
    }
    const { value, small } = this.values.get(label);
    value.parentElement.parentElement.hidden = text === null;
    put(value, text ?? "");
    put(small, note ?? "");
    return value;
  }

  show(source, now) {
    this.source = source;
    for (const point of source.points) {
      if (point[0] > (this.points.at(-1)?.[0] ?? 0)) this.points.push(point);
    }
    this.points = this.points.slice(-SECONDS);
    const { limiter, breaker, budget } = source;
    const last = this.points.at(-1);
    if (limiter) {
      const idle = limiter.idle ? `, ${number(limiter.idle)} kept for partitions` : "";
      this.figure("In flight", number(limiter.inflight), `of ${number(limiter.limit)}${idle}`);
      this.figure("Waiting", number(limiter.waiting), limiter.waiting ? `for ${time(limiter.oldest_ms)}` : "");
      const refused = this.figure("Refused", number(last ? last[REFUSED] : null), "/s");
      refused.className = last?.[REFUSED] ? "refused-now" : "";
      const would = source.watches_only || last?.[WOULD];
      this.figure("Would refuse", would ? number(last ? last[WOULD] : null) : null, "/s");
      this.figure(source.calls ? "Attempts" : "Admitted", number(last ? last[ADMITTED] : null), "/s");
      this.figure("Usual time", limiter.rtt_ms ? time(limiter.rtt_ms) : "–", "");
      this.figure("Bounds", `${number(limiter.min)}–${number(limiter.max)}`, "");
      this.figure("Last decision", "", words(limiter.reason));
      const [warn, bad] = source.watches_only ? [101, 101] : [70, 85];
      this.fill(this.use, limiter.utilisation / 10, `${(limiter.utilisation / 10).toFixed(0)} %`, warn, bad);
      this.took.element.hidden = !this.points.some((point) => point[RTT] !== null);
      this.queue.element.hidden = !this.points.some((point) => point[WAITING]);
    }
    if (breaker) {
      this.figure("Breaker", words(breaker.state), breaker.left_ms ? `${time(breaker.left_ms)} more` : "");
    }
    if (source.timeout_ms) this.figure("Attempt timeout", time(source.timeout_ms), "");
    if (source.throttled) this.figure("Throttled", `${(source.throttled / 10).toFixed(1)} %`, "");
    if (budget) {
      const share = budget.capacity ? budget.balance / budget.capacity * 100 : 0;
      const text = `${budget.balance.toFixed(1)} of ${budget.capacity.toFixed(0)} retries`;
      this.fill(this.saved, share, text, 101, 101);
      this.saved.fill.className = share < 10 ? "bad-fill" : share < 50 ? "warn-fill" : "";
    }
    if (source.partitions.length) this.divide(source.partitions);
    // Where nothing happens there is nothing to draw.
    const idle = limiter && !this.points.some((point) => point[INFLIGHT] || point[ADMITTED] || point[REFUSED] || point[WOULD]);
    const told = states(source);
    this.element.classList.toggle("idle", idle);
    this.tell(idle && told.every(([kind]) => kind === "calm") ? [["calm", "idle"]] : told);
    if (!this.element.hidden && !idle) for (const plot of this.plots) plot.draw(this.points, now);
    if (this.more.open) this.count(source);
    this.more.ontoggle = () => this.count(this.source);
  }

  divide(partitions) {
    const row = (cell, values) => make("tr", "", ...values.map((value, at) => make(cell, at ? "number" : "", value)));
    const rows = partitions.map((part) => row("td", [part.name, number(part.inflight), number(part.quota),
      number(part.waiting), number(part.succeeded), number(part.failed)]));
    this.parts.replaceChildren(make("table", "",
      make("thead", "", row("th", ["Partition", "slots", "its own", "waiting", "succeeded", "failed"])),
      make("tbody", "", ...rows)));
  }

  fill(meter, share, text, warn, bad) {
    meter.fill.style.width = `${Math.min(100, share)}%`;
    meter.fill.className = share >= bad ? "bad-fill" : share >= warn ? "warn-fill" : "";
    put(meter.value, text);
  }

  tell(told) {
    const text = told.map(([, name]) => name).join();
    if (this.told !== text) {
      this.told = text;
      this.pills.replaceChildren(...told.map(([kind, name]) => make("span", "pill " + kind, name)));
    }
    // One that only watches hurts nobody, whatever it would do.
    this.bad = told.filter(([kind]) => kind === "warn" || kind === "bad").length
      + 10 * told.filter(([kind]) => kind === "bad").length;
    this.element.classList.toggle("bad-card", this.bad >= 10);
  }

  count(source) {
    const table = (title, counts) => {
      const rows = Object.entries(counts).map(([name, count]) =>
        make("tr", "", make("th", "", words(name)), make("td", "number", count.toLocaleString())));
      return make("table", "", make("caption", "", title), make("tbody", "", ...rows));
    };
    const some = Object.fromEntries(Object.entries(source.refused ?? {}).filter(([, count]) => count));
    const tables = [];
    if (source.refused) {
      tables.push(table("Refused, by " + (source.calls ? "what" : "reason"),
        Object.keys(some).length ? some : { nobody: 0 }));
    }
    const would = Object.fromEntries(Object.entries(source.would_refuse ?? {}).filter(([, count]) => count));
    if (Object.keys(would).length) tables.push(table("Would have refused", would));
    if (source.requests) tables.push(table("Requests", { ...source.requests, "limit cut": source.limiter.cuts }));
    if (source.calls) tables.push(table("Calls", source.calls));
    this.tables.replaceChildren(...tables);
  }
}

// What holds, the worst first. Of one that only watches nothing is a warning.
function states(source) {
  const told = [], { overload, limiter, breaker } = source;
  const warn = source.watches_only ? "watch" : "warn";
  if (limiter?.closed) told.push(["bad", "closed"]);
  if (overload.shedding) told.push(["bad", "refusing"]);
  if (breaker && breaker.state !== "closed") told.push(["bad", "breaker " + words(breaker.state)]);
  if (overload.dependency_refuses) told.push(["bad", "refused there"]);
  if (source.watches_only) told.push(["watch", "only watches"]);
  if (overload.would_shed) told.push(["watch", "would refuse"]);
  if (overload.saturated) told.push([warn, "saturated"]);
  if (overload.queue_building) told.push([warn, limiter?.waiting ? "queue building" : "limit nearly reached"]);
  if (overload.budget_empty) told.push(["warn", "budget empty"]);
  return told.length ? told : [["calm", "calm"]];
}

function show(data) {
  const names = data.sources.map((source) => source.name);
  shift = Date.now() - data.at;
  for (const [name, card] of cards) {
    if (!names.includes(name)) {
      card.element.remove();
      cards.delete(name);
    }
  }
  const wanted = $("filter").value.toLowerCase();
  for (const source of data.sources) {
    if (!cards.has(source.name)) {
      const card = new Card(source);
      cards.set(source.name, card);
      $("cards").append(card.element);
    }
    const card = cards.get(source.name);
    card.element.hidden = !source.name.toLowerCase().includes(wanted);
    card.show(source, data.at);
  }
  asked = names;
  const all = [...cards.values()], bad = all.filter((card) => card.bad);
  // Many are put in order, those in trouble first, and what happened before them; a few stay where they are.
  document.body.classList.toggle("many", all.length > 6);
  if (all.length > 6) {
    for (const card of all) card.element.style.order = -card.bad;
  }
  $("find").hidden = all.length <= 6;
  const summary = $("summary");
  put(summary, all.length === 0 ? "nothing is watched"
    : bad.length === 0 ? "all calm" : `${bad.length} of ${all.length} not calm`);
  summary.className = "pill " + (bad.length === 0 ? "calm" : bad.some((card) => card.bad >= 10) ? "bad" : "warn");
  document.title = (bad.length ? `(${bad.length}) ` : "") + "Limits";
  $("log").hidden = data.events.length === 0;
  $("events").replaceChildren(...data.events.map((event) => {
    const row = make("tr", event.bad ? "bad-row" : "",
      make("td", "", clock(event.at)), make("td", "", event.source), make("td", "", event.text));
    return row;
  }));
}

async function ask() {
  if (!paused && !document.hidden) {
    try {
      const after = asked.map((name) => cards.get(name)?.points.at(-1)?.[0] ?? 0).join(",");
      const answer = await fetch(`${base}/data?after=${after}`, { cache: "no-store" });
      if (!answer.ok) throw new Error(`status ${answer.status}`);
      const data = await answer.json();
      const same = asked.length === 0
        || data.since === since && asked.join("\n") === data.sources.map((source) => source.name).join("\n");
      since = data.since;
      if (same) {
        show(data);
        heard = Date.now();
      } else {
        // Another process, or other sources: everything anew.
        for (const card of cards.values()) card.element.remove();
        cards.clear();
        asked = [];
      }
    } catch {
      // The age says it; the next turn asks again.
    }
  }
  age();
  setTimeout(ask, asked.length === 0 ? 250 : 1_000);
}

function age() {
  const ago = heard === null ? null : (Date.now() - heard) / 1e3;
  const text = ago === null ? "no answer yet" : ago < 3 ? "live" : `no answer for ${Math.round(ago)} s`;
  put($("age"), paused ? "paused" : text);
}

$("pause").addEventListener("click", () => {
  paused = !paused;
  put($("pause"), paused ? "Go on" : "Pause");
  $("pause").setAttribute("aria-pressed", paused);
  age();
});
$("filter").addEventListener("input", () => {
  for (const card of cards.values()) {
    card.element.hidden = !card.name.toLowerCase().includes($("filter").value.toLowerCase());
  }
});
setInterval(age, 500);
ask();
