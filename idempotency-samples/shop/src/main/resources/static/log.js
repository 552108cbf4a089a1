/** The log: one card per thing that was tried, one line per call. Text only ever enters as text. */

import { EXECUTED, REPLAYED, REFUSED, GAVE_UP, FAILED } from "./calls.js";

const MOST_CARDS = 40;
const LABELS = { [EXECUTED]: "Executed", [REPLAYED]: "Replayed", [REFUSED]: "Rejected", [GAVE_UP]: "Gave up", [FAILED]: "No response" };
const CLASSES = { [EXECUTED]: "executed", [REPLAYED]: "replayed", [REFUSED]: "refused", [GAVE_UP]: "waiting", [FAILED]: "refused" };

const log = document.getElementById("log");
const empty = document.getElementById("log-empty");
const counts = { [EXECUTED]: 0, [REPLAYED]: 0, [REFUSED]: 0 };

export function element(name, className, text) {
	const created = document.createElement(name);
	if (className) {
		created.className = className;
	}
	if (text !== undefined) {
		created.textContent = text;
	}
	return created;
}

/** Calls with one key share a colour, so that one sees which belong together. */
export function hueOf(key) {
	let hash = 7;
	for (const character of key) {
		hash = (hash * 31 + character.charCodeAt(0)) >>> 0;
	}
	return (hash % 24) * 15;
}

export function shortKey(key) {
	return key.length > 18 ? key.slice(0, 8) + "…" + key.slice(-4) : key;
}

export function clearLog() {
	log.replaceChildren(empty);
	for (const outcome of Object.keys(counts)) {
		counts[outcome] = 0;
		document.getElementById("count-" + outcome).textContent = "0";
	}
}

/** Opens a card at the top of the log. */
export function card(title) {
	empty.remove();
	const root = element("article", "card");
	const head = element("header");
	head.append(element("h3", "", title), element("time", "", new Date().toLocaleTimeString()));
	const lines = element("ol");
	const verdict = element("p", "verdict");
	verdict.hidden = true;
	root.append(head, lines, verdict);
	log.prepend(root);
	while (log.children.length > MOST_CARDS) {
		log.lastElementChild.remove();
	}
	log.scrollTop = 0;
	return {
		isNewest: () => log.firstElementChild === root,
		line: (call) => line(lines, call),
		note: (text) => lines.append(element("li", "note", text)),
		verdict: (text, good) => {
			verdict.hidden = false;
			verdict.textContent = text;
			verdict.classList.toggle("bad", !good);
		}
	};
}

/** Adds a line for a call that is in progress; the returned functions report how it ended. */
function line(lines, call) {
	const root = element("li", "call");
	const badge = element("span", "badge waiting", "Waiting");
	const status = element("span", "status", "");
	const request = element("span", "request", call.path.replace(/^\/api/, ""));
	const user = element("span", "user", call.user);
	const millis = element("span", "millis", "");
	const key = element("span", "key", call.key ? shortKey(call.key) : (call.reference || "no key"));
	const text = element("span", "text", "");
	if (call.key || call.reference) {
		root.style.setProperty("--hue", hueOf(call.key || call.reference));
		root.classList.add("threaded");
	}
	key.title = call.key || "";
	root.append(badge, status, request, user, millis, key, text);
	lines.append(root);
	return {
		end(result) {
			badge.textContent = LABELS[result.outcome];
			badge.className = "badge " + CLASSES[result.outcome];
			status.textContent = result.status ? String(result.status) : "–";
			millis.textContent = result.millis + " ms";
			text.textContent = result.summary;
			if (result.outcome in counts) {
				counts[result.outcome]++;
				document.getElementById("count-" + result.outcome).textContent = String(counts[result.outcome]);
			}
			if (call.body) {
				root.append(details(call, result));
			}
		},
		say(more) {
			text.textContent = more;
		}
	};
}

function details(call, result) {
	const root = element("details");
	const request = ["POST " + call.path];
	request.push(call.key ? "Idempotency-Key: " + call.key : "(no Idempotency-Key)");
	if (call.delay) {
		request.push("X-Demo-Delay: " + call.delay);
	}
	if (call.deliveries) {
		request.push("X-Demo-Deliveries: " + call.deliveries);
	}
	request.push("", JSON.stringify(call.body));
	root.append(element("summary", "", "Request and response"), element("pre", "", request.join("\n")));
	if (result.status) {
		const answer = ["HTTP " + result.status];
		if (result.location) {
			answer.push("Location: " + result.location);
		}
		if (result.retryAfter) {
			answer.push("Retry-After: " + result.retryAfter);
		}
		if (result.replayed) {
			answer.push("Idempotent-Replayed: true");
		}
		answer.push("", result.text);
		root.append(element("pre", "", answer.join("\n")));
	}
	return root;
}
