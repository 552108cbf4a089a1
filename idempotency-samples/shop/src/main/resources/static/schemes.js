/** The comparison of the schemes: one row per attempt, with its requests, their responses and their effect. */

import { GAVE_UP, call, get, pause } from "./calls.js";
import { IdempotencyClient, newKey } from "./idempotency-client.js";
import { element, hueOf, shortKey } from "./log.js";

const MOST_RUNS = 40;
const PLACES = { library: "In the library", database: "On the tables of the shop" };
const KINDS = {
	twice: "Two calls at once",
	again: "One call, then the same again",
	lost: "The response is lost, then a retry"
};
const LOST_AFTER = 1000;
const SLOW = "2s";

const $ = (id) => document.getElementById(id);
const count = new Intl.NumberFormat("en-IE");

/**
 * Shows the chooser if the shop lists schemes. `page` gives what to order (`order`), tells the log which calls belong
 * to the comparison (`own`, which reports how an abandoned call ended), and reads the shop again (`refresh`).
 */
export async function showSchemes(page) {
	const schemes = await listed();
	if (!schemes.length) {
		return;
	}
	const select = $("scheme");
	for (const place of new Set(schemes.map((each) => each.where))) {
		const group = element("optgroup");
		group.label = PLACES[place] || place;
		group.append(...schemes.filter((each) => each.where === place).map((each) => new Option(each.title, each.id)));
		select.append(group);
	}
	const chosen = () => schemes.find((each) => each.id === select.value);
	const describe = () => {
		const { where, guarantee, duplicateSees } = chosen();
		$("scheme-where").textContent = PLACES[where] || where;
		$("scheme-guarantee").textContent = guarantee;
		$("scheme-duplicate").textContent = duplicateSees;
	};
	select.addEventListener("change", describe);
	describe();
	const buttons = Array.from(document.querySelectorAll("[data-try]"));
	for (const button of buttons) {
		button.addEventListener("click", async () => {
			buttons.forEach((each) => each.disabled = true);
			button.setAttribute("aria-busy", "true");
			try {
				const all = button.dataset.try === "all";
				for (const scheme of all ? schemes : [chosen()]) {
					await run(page, scheme, all ? "twice" : button.dataset.try);
				}
			}
			finally {
				button.removeAttribute("aria-busy");
				buttons.forEach((each) => each.disabled = false);
				button.focus({ preventScroll: true });
			}
		});
	}
	$("schemes").hidden = false;
}

async function listed() {
	try {
		return await get("/api/recipes");
	}
	catch (error) {
		return []; // schemes are optional
	}
}

/** Tries one thing with one scheme and reads in the database what came of it. */
async function run(page, scheme, kind) {
	const order = page.order();
	const row = rowFor(scheme, kind);
	try {
		const before = await effect(order.sku);
		const key = await keyOf(scheme, order, row, page);
		if (!key) {
			row.judge("No key, no order", false);
			return;
		}
		await tries[kind](scheme, order, key, row, page);
		row.show(before, await effect(order.sku));
	}
	catch (error) {
		row.judge("The shop does not respond.", false);
	}
	await page.refresh();
}

const tries = {

	async twice(scheme, order, key, row, page) {
		const place = () => send(row, page, callOf(scheme, order, key));
		await Promise.all([place(), place()]);
	},

	async again(scheme, order, key, row, page) {
		await send(row, page, callOf(scheme, order, key));
		await send(row, page, callOf(scheme, order, key));
	},

	/** A slow shop, an impatient client: what a well-behaved page does then is the business of the client. */
	async lost(scheme, order, key, row, page) {
		const asking = { ...callOf(scheme, order, key), delay: SLOW };
		const ends = [];
		if (scheme.id === "query") {
			const hangUp = new AbortController();
			const timer = setTimeout(() => hangUp.abort(), LOST_AFTER);
			const first = await send(row, page, { ...asking, signal: hangUp.signal }, ends);
			clearTimeout(timer);
			if (first.status === undefined) {
				await send(row, page, { ...asking, method: "GET", path: asking.path + "/orders/" + key, body: undefined, delay: undefined });
			}
		}
		else {
			const client = new IdempotencyClient({
				storage: { getItem: () => null, setItem: () => undefined, removeItem: () => undefined },
				timeout: LOST_AFTER,
				retries: 8,
				draw: () => key,
				wait: (millis) => {
					row.note("retries in " + (millis / 1000).toFixed(1) + " s");
					return pause(millis);
				},
				fetch: async (path, { signal }) => {
					const result = await send(row, page, { ...asking, signal }, ends);
					asking.delay = undefined; // only the first response is delayed
					if (result.status === undefined) {
						throw new TypeError("No response");
					}
					return new Response(result.text || null, { status: result.status, headers: result.headers });
				}
			});
			const answer = await client.intent(scheme.id).send(asking.path);
			row.note("idempotency-client.js: " + answer.action + (answer.uncertain ? ", uncertain" : ""));
		}
		for (let tries = 0; tries < 20 && ends.some((each) => !each.ended); tries++) {
			await pause(500);
			await page.refresh();
		}
	}

};

function callOf(scheme, { user, sku, quantity }, key) {
	return { path: "/api/recipes/" + scheme.id, user, body: { sku, quantity, requestId: key }, key: scheme.key === "header" ? key : null, named: key };
}

/** The client makes the key, unless the scheme has the shop make it. */
async function keyOf(scheme, { user }, row, page) {
	if (!scheme.ticket) {
		return newKey();
	}
	const result = await send(row, page, { path: scheme.ticket, user });
	return result.json?.token || result.json?.orderNo;
}

async function send(row, page, asked, ends = []) {
	const requestId = newKey();
	const pair = row.pair(asked);
	const own = { ended: false };
	const ended = new Promise((resolve) => page.own(requestId, resolve));
	const result = await call({ ...asked, requestId });
	pair.end(result);
	if (result.outcome === GAVE_UP) {
		ends.push(own);
		ended.then((end) => {
			own.ended = true;
			pair.say("the shop continued and responded with " + end.status);
		});
	}
	return result;
}

async function effect(sku) {
	const [orders, products] = await Promise.all([get("/api/orders"), get("/api/products")]);
	return { orders, stock: products.find((each) => each.sku === sku)?.stock };
}

/* ---------- what is shown ---------- */

function rowFor(scheme, kind) {
	const runs = $("runs");
	$("runs-empty").hidden = true;
	$("runs-head").hidden = false;
	const root = element("article", "run");
	const head = element("header");
	head.append(element("h3", "", scheme.title), element("p", "kind", KINDS[kind]));
	const pairs = element("ol");
	const result = element("div", "effect");
	result.append(element("p", "waiting-effect", "…"));
	root.append(head, pairs, result);
	$("runs-head").after(root);
	while (runs.children.length > MOST_RUNS) {
		runs.lastElementChild.remove();
	}
	const seen = new Set();
	const judge = (text, good) => {
		const verdict = element("p", "verdict", text);
		verdict.classList.toggle("bad", !good);
		result.replaceChildren(verdict);
	};
	return {
		pair: (asked) => pairOf(pairs, asked, seen),
		note: (text) => pairs.append(element("li", "note", text)),
		judge,
		show(before, after) {
			const known = new Set(before.orders.map((each) => each.id));
			const added = after.orders.filter((each) => !known.has(each.id));
			judge(added.length === 0 ? "no new order" : added.length + (added.length === 1 ? " new order" : " new orders"), added.length <= 1);
			for (const each of added) {
				result.append(element("p", "order-no", each.orderNo));
			}
			const stock = before.stock === after.stock ? count.format(after.stock) + ", unchanged"
					: count.format(before.stock) + " → " + count.format(after.stock);
			result.append(element("p", "stock-change", "stock " + stock));
		}
	};
}

function pairOf(pairs, asked, seen) {
	const root = element("li", "pair");
	const request = element("div", "asked");
	request.append(element("span", "request", (asked.method || "POST") + " " + asked.path));
	if (asked.named) {
		const key = element("span", "key", (asked.key ? "Idempotency-Key " : "requestId ") + shortKey(asked.named));
		key.title = asked.named;
		request.append(key);
		root.style.setProperty("--hue", hueOf(asked.named));
		root.classList.add("threaded");
	}
	const answer = element("div", "answered");
	const badge = element("span", "badge waiting", "Waiting");
	const status = element("span", "status");
	const text = element("span", "text");
	const millis = element("span", "millis");
	answer.append(badge, status, millis, text);
	root.append(request, answer);
	pairs.append(root);
	return {
		end(result) {
			const [label, style] = nameOf(result, seen);
			badge.textContent = label;
			badge.className = "badge " + style;
			status.textContent = result.status ? String(result.status) : "–";
			millis.textContent = result.millis + " ms";
			text.textContent = summaryOf(result);
		},
		say(more) {
			text.textContent = more;
		}
	};
}

/** Names the outcome of a call. If a replay is not marked, the order number identifies it. */
function nameOf(result, seen) {
	const orderNo = result.json?.id && result.json.orderNo;
	if (result.status === undefined) {
		seen.add(GAVE_UP);
		return [result.outcome === GAVE_UP ? "Gave up" : "No response", "waiting"];
	}
	if (result.status >= 400) {
		return ["Rejected", "refused"];
	}
	if (result.replayed) {
		return ["Replayed", "replayed"];
	}
	if (orderNo && (result.status === 200 || seen.has(orderNo) || seen.has(GAVE_UP))) {
		return ["Same order", "replayed"];
	}
	seen.add(orderNo);
	return [orderNo ? "Executed" : "Issued", "executed"];
}

function summaryOf({ json, status, retryAfter, outcome }) {
	if (status === undefined) {
		return outcome === GAVE_UP ? "the shop continues" : "";
	}
	if (status < 400) {
		return json?.id ? "order " + json.orderNo : shortKey(json?.token || json?.orderNo || "");
	}
	const more = [json?.attempts && "attempt " + json.attempts, retryAfter && "Retry-After " + retryAfter + " s"].filter(Boolean);
	return (json?.code || json?.title || "") + (more.length ? " (" + more.join(", ") + ")" : "");
}
