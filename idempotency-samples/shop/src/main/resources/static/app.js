import { EXECUTED, REPLAYED, REFUSED, GAVE_UP, FAILED, call as callOnce, get, pause } from "./calls.js";
import { DONE, IGNORE, IdempotencyClient, NEW_TOKEN, RETRY_LATER, TELL_USER, newKey, oncePerSubmit } from "./idempotency-client.js";
import { showInside } from "./inside.js";
import { card, clearLog, element, hueOf } from "./log.js";
import { delivered, showMessages } from "./messages.js";
import { showSchemes } from "./schemes.js";

const SHOWN_ORDERS = 20;
const REFRESH_EVERY = 3000;

const $ = (id) => document.getElementById(id);
const money = new Intl.NumberFormat("en-IE", { style: "currency", currency: "EUR" });
const count = new Intl.NumberFormat("en-IE");

const state = {
	user: sessionStorage.getItem("shop:user") || "anonymous",
	sku: "sku-1",
	products: new Map(),
	orders: null,
	/** What was ordered first with a key, by caller and key. */
	used: new Map(JSON.parse(sessionStorage.getItem("shop:used")) || []),
	/** First response by caller, path and key. */
	answers: new Map(),
	/** Calls of this page: the log of the shop has them, too. */
	mine: new Map(),
	lastLogged: null,
	placing: null,
	elsewhere: null
};

/** What a well-behaved page does. It talks through the log, so that one sees every call it makes. */
const client = new IdempotencyClient({ fetch: fetchLogged, wait: waitLogged });

/** The order of the form: only "New key" ends it, so that one can watch what the same key does. */
const ordering = client.intent("order", { autoRenew: false });

/** A client in a hurry. */
const impatient = client.intent("impatient order", { timeout: 1000, retries: 8 });

const ADVICE = {
	[TELL_USER]: "Tell the user",
	[IGNORE]: "Ignore it, the first call counts",
	[NEW_TOKEN]: "Get a new key",
	[RETRY_LATER]: "Try again later with the same key"
};

/* ---------- calls ---------- */

async function fetchLogged(path, { target, user, delay, body, headers, signal }) {
	const result = await send(target, { path, user, delay, signal, key: headers.get("Idempotency-Key"), body: JSON.parse(body) });
	if (result.status === undefined) {
		throw new TypeError("No response");
	}
	return new Response(result.text || null, { status: result.status, headers: result.headers });
}

function waitLogged(millis, answer, { target }) {
	const why = answer.code === "in-progress" ? "The first call is in progress" : answer.message.replace(/\.$/, "");
	target.note(why + ": retrying in " + (millis / 1000).toFixed(1) + " s.");
	return pause(millis);
}

/** Places an order by an intent: sends its key again and again until a response arrives. */
async function orderBy(intent, target, { user, body, delay }) {
	remember(user, intent.key, body);
	const answer = await intent.send("/api/orders", { target, user, delay, body: JSON.stringify(body), note: { user, body, delay } });
	if (answer.action !== DONE) {
		target.note("idempotency-client.js: " + ADVICE[answer.action] + ". " + answer.message);
	}
	return answer;
}

/** Asks once more for what a refresh of the page has cut off. */
async function resume(intent) {
	if (intent.unanswered) {
		const { user, body } = intent.unanswered.note;
		const target = card("Refreshed too early: retrying");
		const answer = await orderBy(intent, target, { user, body });
		await refresh();
		target.verdict(answer.action === DONE ? "Order " + answer.json.orderNo + ", with the key from before" : answer.message, answer.action === DONE);
	}
}

async function send(target, call) {
	const full = { user: state.user, requestId: newKey(), ...call };
	const line = target.line(full);
	state.mine.set(full.requestId, line);
	const result = compared(full, await callOnce(full));
	line.end({ ...result, summary: summaryOf(result) });
	if (result.outcome === GAVE_UP) {
		result.ended = new Promise((resolve) => line.abandoned = resolve).then((end) => line.say(
				"The browser disconnected. The shop continued and responded with " + end.status + " after " + (end.millis / 1000).toFixed(1) + " s."));
	}
	return result;
}

/**
 * Compares a response with the first one of its key, byte for byte. A refund is guarded in the service. The
 * controller renders it again and marks no replay: there, an equal refund shows the replay.
 */
function compared(call, result) {
	const name = [call.user, call.path, call.key || call.reference].join(" ");
	const same = result.outcome !== GAVE_UP && result.text === state.answers.get(name);
	if (result.outcome === EXECUTED && !state.answers.has(name)) {
		state.answers.set(name, result.text);
	}
	if (same && call.reference) {
		return { ...result, same, outcome: REPLAYED };
	}
	return { ...result, same };
}

function summaryOf(result) {
	if (result.outcome === GAVE_UP) {
		return "The browser disconnected. The shop continues.";
	}
	if (result.outcome === FAILED) {
		return "The shop does not respond.";
	}
	const answer = result.json || {};
	const same = result.outcome === REPLAYED && result.same ? ", the same bytes" : "";
	if (answer.orderNo) {
		return "Order " + answer.orderNo + same;
	}
	if (answer.reference) {
		return "Refund #" + answer.id + " of " + money.format(answer.amount) + same;
	}
	if (result.status < 300 && answer.orderId) {
		return "Payment #" + answer.id + " of " + money.format(answer.amount) + same;
	}
	const retry = result.retryAfter ? " (Retry-After " + result.retryAfter + " s)" : "";
	return [answer.code, answer.title || answer.error].filter(Boolean).join(": ") + retry;
}

const usedKey = (user, key) => user + " " + key;

function remember(user, key, body) {
	const name = usedKey(user, key);
	if (!state.used.has(name)) {
		state.used.set(name, body);
		sessionStorage.setItem("shop:used", JSON.stringify([...state.used].slice(-20)));
	}
	showKey();
}

function order(target, call) {
	if (call.key) {
		remember(call.user || state.user, call.key, call.body);
	}
	return send(target, { path: "/api/orders", ...call });
}

const chosen = () => ({ sku: state.sku, quantity: Number($("quantity").value) });

/** Returns the newest order of all users, as the start of the count. */
async function newestOrder() {
	const orders = await get("/api/orders");
	return orders.length ? orders[0].id : 0;
}

/** Counts the orders in the database instead of the responses. */
async function judgeOrders(target, calls, before, most) {
	await refresh();
	const added = state.orders.filter((each) => each.id > before).length;
	target.verdict(plural(calls, "call") + " → " + plural(added, "new order") + " in the database", added <= most);
}

function plural(number, noun, nouns = noun + "s") {
	return number + " " + (number === 1 ? noun : nouns);
}

/* ---------- what can be tried ---------- */

async function place() {
	const { user } = state;
	const { key } = ordering;
	let group = state.placing;
	if (!group || !group.card.isNewest() || group.user !== user || group.key !== key) {
		group = { card: card("Place order"), user, key, calls: 0, most: state.used.has(usedKey(user, key)) ? 0 : 1 };
		group.before = newestOrder();
		state.placing = group;
	}
	const before = await group.before;
	const answer = await orderBy(ordering, group.card, { user, body: chosen() });
	group.calls += answer.attempts;
	await judgeOrders(group.card, group.calls, before, group.most);
}

/** Orders with the current key unless that was done before; gives what was ordered with it. */
async function orderOnce(target, user, key) {
	const first = state.used.get(usedKey(user, key));
	if (first) {
		return { body: first, calls: 0 };
	}
	const body = chosen();
	await order(target, { key, user, body });
	return { body, calls: 1 };
}

const scenarios = {

	async twice() {
		const target = card("Press twice at once");
		const before = await newestOrder();
		const key = drawKey();
		const body = chosen();
		await Promise.all([order(target, { key, body }), order(target, { key, body })]);
		await judgeOrders(target, 2, before, 1);
	},

	async timeout() {
		const target = card("Time out, then retry");
		const before = await newestOrder();
		const answer = await orderBy(impatient, target, { user: state.user, body: chosen(), delay: "3s" });
		await judgeOrders(target, answer.attempts, before, 1);
	},

	async changed() {
		const target = card("Same key, another amount");
		const before = await newestOrder();
		const { user } = state;
		const { key } = ordering;
		const first = await orderOnce(target, user, key);
		const quantity = first.body.quantity < 100 ? first.body.quantity + 1 : first.body.quantity - 1;
		await order(target, { key, user, body: { ...first.body, quantity } });
		await judgeOrders(target, first.calls + 1, before, first.calls);
	},

	async stranger() {
		const target = card("Same key, other customer");
		const before = await newestOrder();
		const { user } = state;
		const { key } = ordering;
		const other = user === "alice" ? "bob" : "alice";
		const first = await orderOnce(target, user, key);
		const known = state.used.has(usedKey(other, key));
		await order(target, { key, user: other, body: first.body });
		await judgeOrders(target, first.calls + 1, before, first.calls + (known ? 0 : 1));
	},

	async broken() {
		const target = card("Break the key");
		const before = await newestOrder();
		await send(target, { path: "/api/orders", key: '"half-a-string', body: chosen() });
		await judgeOrders(target, 1, before, 0);
	},

	async keyless() {
		const target = card("Forget the key");
		const before = await newestOrder();
		await order(target, { body: chosen() });
		await judgeOrders(target, 1, before, 0);
	},

	async pay() {
		const unpaid = payable();
		const target = card("Pay twice at once");
		const path = "/api/orders/" + unpaid.id + "/payments";
		const call = { path, key: newKey(), body: { amount: difference(unpaid.amount, unpaid.paid) }, delay: "1s" };
		const before = (await get(path)).length;
		await Promise.all([send(target, call), send(target, call)]);
		const added = (await get(path)).length - before;
		await refresh();
		target.verdict("2 calls → " + plural(added, "payment") + " for order " + unpaid.orderNo, added <= 1);
	},

	async refund() {
		const paid = refundable();
		const target = card("Refund twice");
		const path = "/api/orders/" + paid.id + "/refunds";
		const reference = "R-" + newKey().slice(0, 8);
		const call = { path, reference, body: { reference, amount: difference(paid.paid, paid.refunded) } };
		const before = (await get(path)).length;
		await send(target, call);
		await send(target, call);
		const added = (await get(path)).length - before;
		await refresh();
		target.verdict("2 calls → " + plural(added, "refund") + " for order " + paid.orderNo, added <= 1);
	},

	async thrice() {
		const target = card("Deliver it three times");
		const { json } = await order(target, { key: drawKey(), body: chosen(), deliveries: 3 });
		if (!json?.orderNo) {
			target.verdict("Nothing was ordered, so there is no message", true);
			return;
		}
		const message = await delivered(json.orderNo, 3);
		target.verdict(message ? plural(message.delivered, "delivery", "deliveries") + " → " + plural(message.reserved, "reservation") + ", "
			+ plural(message.mailed, "mail") + ", " + message.counted + "× counted" : "The message has not arrived yet",
			message?.reserved === 1 && message.mailed === 1 && message.counted === 1);
	}

};

const difference = (amount, less) => Math.round((amount - less) * 100) / 100;
const payable = () => (state.orders || []).find((each) => each.status === "PLACED");
const refundable = () => (state.orders || []).find((each) => each.paid > each.refunded);

/* ---------- what is shown ---------- */

function drawKey() {
	if (ordering.pending) {
		return newKey(); // the key of the form is still needed for a retry
	}
	ordering.renew();
	showKey();
	return ordering.key;
}

function showKey() {
	const { key } = ordering;
	const used = state.used.get(usedKey(state.user, key));
	const tag = $("tag");
	if ($("key").value !== key) {
		$("key").value = key;
		tag.style.setProperty("--hue", hueOf(key));
		tag.classList.remove("drawn");
		void tag.offsetWidth; // restarts the animation
		tag.classList.add("drawn");
	}
	tag.classList.toggle("used", Boolean(used));
	$("key-state").textContent = used ? "used by " + state.user + " for " + used.quantity + " × " + used.sku : "not used yet";
}

function showTotal() {
	const product = state.products.get(state.sku);
	const quantity = Number($("quantity").value);
	$("total").textContent = product && quantity > 0 ? money.format(product.price * quantity) : "";
}

function showProducts(products) {
	const root = $("products");
	for (const product of products) {
		if (!state.products.has(product.sku)) {
			root.append(productCard(product));
		}
		state.products.set(product.sku, product);
		const stock = $("stock-" + product.sku);
		stock.textContent = product.stock > 0 ? count.format(product.stock) + " left" : "sold out";
		stock.classList.toggle("scarce", product.stock <= 3);
	}
	showTotal();
}

function productCard(product) {
	const label = element("label", "product");
	const input = element("input");
	input.type = "radio";
	input.name = "sku";
	input.value = product.sku;
	input.checked = product.sku === state.sku;
	const stock = element("span", "stock");
	stock.id = "stock-" + product.sku;
	const text = element("span", "product-text");
	text.append(element("span", "name", product.name), element("span", "price", money.format(product.price)), stock);
	label.append(input, icon(product.sku), text);
	return label;
}

function icon(sku) {
	const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
	svg.setAttribute("class", "icon");
	svg.setAttribute("aria-hidden", "true");
	const use = document.createElementNS("http://www.w3.org/2000/svg", "use");
	use.setAttribute("href", "icons.svg#" + sku);
	svg.append(use);
	return svg;
}

function showOrders(orders) {
	const known = state.orders ? new Map(state.orders.map((each) => [each.id, each])) : null;
	state.orders = orders;
	$("count-orders").textContent = count.format(orders.length);
	$("orders-empty").hidden = orders.length > 0;
	$("orders").hidden = orders.length === 0;
	$("orders-more").hidden = orders.length <= SHOWN_ORDERS;
	$("orders-more").textContent = "The newest " + SHOWN_ORDERS + " of " + count.format(orders.length) + " orders.";
	const rows = orders.slice(0, SHOWN_ORDERS).map((each) => {
		const before = known?.get(each.id);
		const row = orderRow(each);
		if (known && (!before || before.status !== each.status)) {
			row.classList.add("fresh");
		}
		return row;
	});
	$("orders").tBodies[0].replaceChildren(...rows);
	scenarioAvailable("pay", payable(), "The second call waits for the first and receives its response.", "No unpaid order exists. Place an order first.");
	scenarioAvailable("refund", refundable(), "No header: the reference of the refund is the key.", "No paid order exists. Pay an order first.");
}

function scenarioAvailable(name, available, hint, otherwise) {
	const button = document.querySelector('[data-scenario="' + name + '"]');
	button.disabled = !available || button.getAttribute("aria-busy") === "true";
	$(name + "-hint").textContent = available ? hint : otherwise;
}

function orderRow(each) {
	const row = element("tr");
	const cell = (label, text, className) => {
		const created = element("td", className, text);
		created.dataset.label = label;
		row.append(created);
		return created;
	};
	cell("Order", each.orderNo, "order-no");
	cell("Customer", each.customer);
	cell("Product", state.products.get(each.sku)?.name || each.sku);
	cell("Quantity", String(each.quantity), "number");
	cell("Amount", money.format(each.amount), "number");
	cell("Paid", each.paid ? money.format(each.paid) : "–", each.paid ? "number" : "number none");
	cell("Refunded", each.refunded ? money.format(each.refunded) : "–", each.refunded ? "number" : "number none");
	cell("Status", "").append(element("span", "state " + each.status.toLowerCase(), each.status.toLowerCase()));
	cell("Placed", new Date(each.createdAt).toLocaleTimeString());
	return row;
}

/** Calls that the shop saw: those of others get a line, those this page gave up on get an end. */
function showLog(calls) {
	const news = state.lastLogged !== null;
	for (const call of calls) {
		state.lastLogged = call.number;
		const line = state.mine.get(call.requestId);
		line?.abandoned?.(call);
		if (!news || line) {
			continue;
		}
		if (!state.elsewhere || !state.elsewhere.isNewest()) {
			state.elsewhere = card("From elsewhere");
		}
		state.elsewhere.line({ path: call.path, user: call.customer, key: call.key }).end({
			outcome: { EXECUTED, REPLAYED, REFUSED }[call.outcome], status: call.status, millis: call.millis, summary: ""
		});
	}
	state.lastLogged ??= 0;
}

const showCounters = showInside({ current: () => ({ user: state.user, key: ordering.key }) });

/** Calls that a page refresh interrupted. Later clicks are not included, even while the page is still loading. */
const cutOff = [ordering, impatient].filter((each) => each.unanswered);

let refreshed = Promise.resolve();

/** One after the other, so that an older response does not replace a newer one. */
function refresh() {
	refreshed = refreshed.then(load);
	return refreshed;
}

async function load() {
	try {
		const [products, orders, log] = await Promise.all([
			get("/api/products"), get("/api/orders"), get("/api/log?after=" + (state.lastLogged ?? 0))
		]);
		showProducts(products);
		showOrders(orders);
		showLog(log);
		await showCounters();
		await showMessages();
		$("offline").hidden = true;
	}
	catch (error) {
		state.lastLogged = null; // after a restart the log of the shop starts again
		$("offline").hidden = false;
	}
}

/* ---------- what is clicked ---------- */

oncePerSubmit($("order"), () => guard(place));
$("new-key").addEventListener("click", drawKey);
$("clear").addEventListener("click", clearLog);
$("quantity").addEventListener("input", showTotal);
$("products").addEventListener("change", (event) => {
	state.sku = event.target.value;
	showTotal();
});
document.querySelector(".who").addEventListener("change", (event) => {
	state.user = event.target.value;
	sessionStorage.setItem("shop:user", state.user);
	showKey();
});
for (const button of document.querySelectorAll("[data-scenario]")) {
	button.addEventListener("click", async () => {
		button.setAttribute("aria-busy", "true");
		button.disabled = true;
		await guard(scenarios[button.dataset.scenario]);
		button.removeAttribute("aria-busy");
		button.disabled = false;
		await refresh();
	});
}

async function guard(scenario) {
	if (!$("quantity").reportValidity()) {
		return;
	}
	try {
		await scenario();
	}
	catch (error) {
		console.error(error);
		$("offline").hidden = false;
	}
}

document.querySelector('[name="user"][value="' + state.user + '"]').checked = true;
showKey();
await refresh();
showSchemes({
	order: () => ({ user: state.user, ...chosen() }),
	own: (requestId, abandoned) => state.mine.set(requestId, { abandoned }),
	refresh
});
cutOff.forEach(resume);
setInterval(() => {
	if (!document.hidden) {
		refresh();
	}
}, REFRESH_EVERY);
