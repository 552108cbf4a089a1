/** What an operator of the shop sees: how calls ended, the record of a key, and how to free it. Text only ever enters as text. */

import { element } from "./log.js";

const LABELS = {
	claimedAt: "Claimed", leaseRest: "Lease left", retentionRest: "Stored for", attempts: "Calls",
	node: "Node", traceId: "Trace", id: "Id", callerId: "Caller's id"
};
const CLASSES = { executed: "executed", recovered: "replayed", replayed: "replayed", released: "waiting" };

const OVERTAKEN = Symbol("overtaken");

const $ = (id) => document.getElementById(id);
const count = new Intl.NumberFormat("en-IE");

/** For the demonstration, the reader of the page may act as the operator. Do not give customers this access. */
const OPERATOR = { "Authorization": "Basic " + btoa("operator:demo"), "X-Requested-With": "XMLHttpRequest" };

/**
 * Shows the store and the counters. `page` gives the customer and the key of the form (`current`); the returned
 * function reads the counters again.
 */
export function showInside(page) {
	let found = null;
	let counted = true;
	let asked = 0;

	$("look").addEventListener("submit", async (event) => {
		event.preventDefault();
		await lookUp();
	});
	$("look-current").addEventListener("click", () => {
		const { user, key } = page.current();
		$("look-key").value = key;
		$("look-caller").value = user;
	});
	$("evict").addEventListener("click", () => evict(false));
	$("evict-anyway").addEventListener("click", () => evict(true));

	async function lookUp() {
		const caller = $("look-caller").value;
		const query = new URLSearchParams({ operation: $("look-operation").value, key: $("look-key").value.trim() });
		if (caller !== "anonymous") {
			query.set("principal", caller);
		}
		const answer = await askLast("actuator/idempotency?" + query);
		if (answer === OVERTAKEN) {
			return;
		}
		show(answer?.records?.[0] ?? null, answer ? "No record exists. A call with this key would run." : "The shop does not respond.");
	}

	async function evict(force) {
		const query = new URLSearchParams({ operation: found.operation, force });
		const answer = await askLast("actuator/idempotency/" + found.id + "?" + query, "DELETE");
		if (answer === OVERTAKEN) {
			return;
		}
		if (answer?.running) {
			say("The call is in progress. If you evict its record, another call with this key can run at the same time.");
			$("evict-anyway").hidden = false;
			return;
		}
		show(null, !answer ? "The shop does not respond."
			: (answer.evicted ? "Evicted. The next call with this key runs." : "The record was already removed."));
	}

	/** A response must not replace that of a later click. */
	async function askLast(path, method) {
		const mine = ++asked;
		const answer = await ask(path, method);
		return mine === asked ? answer : OVERTAKEN;
	}

	function show(record, otherwise) {
		found = record;
		$("record").hidden = !record;
		$("evict").hidden = !record;
		$("evict-anyway").hidden = true;
		say(record ? "" : otherwise);
		if (record) {
			$("record").replaceChildren(property("State", record.state.toLowerCase()), ...Object.keys(LABELS)
				.filter((name) => record[name] !== undefined && record[name] !== null)
				.map((name) => property(LABELS[name], readable(name, record[name]))));
		}
	}

	/** Reads the counters, unless the shop has none. */
	return async function refresh() {
		if (!counted) {
			return;
		}
		const response = await fetch("actuator/prometheus", { credentials: "omit", cache: "no-store" });
		if (!response.ok) {
			counted = false;
			return;
		}
		const rows = outcomesOf(await response.text());
		$("outcomes").replaceChildren(...rows.map(row));
		$("outcomes").hidden = rows.length === 0;
		$("outcomes-empty").hidden = rows.length > 0;
		offer([...new Set(rows.map((each) => each.operation))]);
	};
}

function say(text) {
	$("look-answer").textContent = text;
	$("look-answer").hidden = !text;
}

/** An operation can be chosen as soon as it has been called. */
function offer(operations) {
	const select = $("look-operation");
	const known = new Set(Array.from(select.options, (each) => each.value));
	select.append(...operations.filter((each) => !known.has(each)).map((each) => new Option(shortened(each), each)));
	$("look-up").disabled = select.options.length === 0;
}

async function ask(path, method = "GET") {
	try {
		const response = await fetch(path, { method, headers: OPERATOR, credentials: "omit", cache: "no-store" });
		return response.ok ? await response.json() : null;
	}
	catch (error) {
		return null;
	}
}

/** Calls by operation and outcome, out of what Prometheus reads: some outcomes are there at 0 from the start. */
function outcomesOf(metrics) {
	return Array.from(metrics.matchAll(/^idempotency_seconds_count\{(.*)\} (\S+)$/gm), ([, labels, calls]) => {
		const label = (name) => labels.match(new RegExp("(?:^|,)" + name + '="((?:[^"\\\\]|\\\\.)*)"'))?.[1] ?? "";
		return { operation: label("operation"), outcome: label("outcome"), calls: Number(calls) };
	}).filter(({ calls }) => calls > 0).sort((one, other) => one.operation.localeCompare(other.operation) || other.calls - one.calls);
}

function row({ operation, outcome, calls }) {
	const root = element("li");
	root.append(element("span", "badge " + (CLASSES[outcome] || "refused"), outcome),
		element("span", "operation", shortened(operation)), element("strong", "", count.format(calls)));
	return root;
}

/** Operations without a configured name have the name of their method, including the package. */
function shortened(operation) {
	return operation.replace(/^(?:[a-z]\w*\.)+(?=[A-Z])/, "");
}

function property(name, text) {
	const root = element("div");
	root.append(element("dt", "", name), element("dd", "", text));
	return root;
}

function readable(name, value) {
	if (name === "claimedAt") {
		return new Date(value).toLocaleTimeString();
	}
	if (name === "leaseRest" || name === "retentionRest") {
		return value === "PT0S" ? "–" : value.replace(/^PT/, "").replace(/\.\d+S$/, "S").replace(/(\d)([HMS])/g, "$1 $2 ").toLowerCase().trim();
	}
	return String(value);
}
