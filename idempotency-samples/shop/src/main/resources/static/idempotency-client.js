/**
 * Sends requests that may arrive twice and must take effect once. One file, no dependencies, no build:
 * copy it into your page and import it as a module.
 *
 *     import { IdempotencyClient, DONE, TELL_USER, RETRY_LATER, oncePerSubmit } from "./idempotency-client.js";
 *
 *     const client = new IdempotencyClient();
 *     const order = client.intent("order");
 *
 *     oncePerSubmit(form, async () => {
 *         const result = await order.send("/api/orders", {
 *             headers: { "Content-Type": "application/json" },
 *             body: JSON.stringify({ sku: "sku-1", quantity: 1 })
 *         });
 *         if (result.action === DONE) show(result.json);
 *         if (result.action === TELL_USER) say(result.message);
 *         if (result.action === RETRY_LATER) say("Not now. Press again later, nothing is done twice.");
 *     });
 *
 * An INTENT is one thing the user wants to happen once: this order, that payment. It has one key. The key is
 * kept in the session storage, so that a retry, a refresh, or a duplicate of the tab sends the same key. The key
 * is forgotten as soon as the intent has a response: the next call is a new intent with a new key. Only the
 * page knows when the user wants something else: with `autoRenew: false` the key stays until `renew()`.
 *
 * After a refresh, `intent.unanswered` is the request that was sent and never got its response (`url`, `method`,
 * `body`, and the `note` that you gave with it), else null. Send it again to get the first response. Until then,
 * the body is in the session storage; `remember: false` keeps it out of there, and out of `unanswered`.
 *
 * WHAT TO DO is the `action` of a result. Codes are those of the problem details (RFC 9457):
 *
 *     DONE         2xx, 3xx                          it happened, now or at the first call (`replayed`)
 *     IGNORE       duplicate                         it was received before; the first call counts
 *     TELL_USER    key-missing                       this page is wrong: the key did not arrive
 *                  caller-unknown                    log in, and send it again (the key is kept)
 *                  key-reused                        the key belongs to another request
 *                  body-too-large                    send less
 *                  result-unavailable                it was done, but its response is lost: look it up (the key
 *                                                    is kept)
 *                  outcome-unknown                   the outcome is not known yet: look it up, or send it again
 *                                                    (the key is kept)
 *                  any other 4xx                     the application rejects it
 *     NEW_TOKEN    token-unknown, key-invalid        nothing ran: the next call needs another token or key
 *     RETRY_LATER  in-progress, store-unavailable,   not now; the same key again. Also 408, 425, 429, 5xx, and
 *                  no response at all                calls that timed out or that the network lost
 *
 * `retry` of a problem takes precedence over its status, and over a code that this file does not know: `same-key`
 * is RETRY_LATER, and `never`, `new-key` and `fix-request` are never repeated with the same key.
 *
 * For RETRY_LATER, `send` itself retries with the same key, after `Retry-After` (seconds or a date) or else a
 * growing, jittered pause. It returns RETRY_LATER only when its retries are used up or `Retry-After` is longer
 * than `longestWait`; the key is kept, so that the user may press again. For NEW_TOKEN, `send` retries once with
 * a new token. If an earlier call of the intent was lost, it may have happened with the old token, and a new one
 * could repeat it: then the result is TELL_USER with `uncertain: true`, and the user decides.
 *
 * TOKENS that the service issues replace the keys that the client draws:
 *
 *     const payment = client.intent("payment", { draw: () => client.issueToken("/idempotency/tokens") });
 *
 * A result has: `action`, `code`, `retry`, `status` (undefined without a response), `message` (for the user),
 * `json`, `text`, `headers`, `replayed`, `retryAfter` (ms or null), `key`, `attempts` (calls made by this `send`),
 * and `uncertain` (an earlier call got no response, and this response does not show its outcome). `send` throws
 * only when `draw` does.
 */

export const DONE = "done";
export const TELL_USER = "tell-user";
export const IGNORE = "ignore";
export const NEW_TOKEN = "new-token";
export const RETRY_LATER = "retry-later";

const ACTIONS = {
	"key-missing": TELL_USER,
	"key-invalid": NEW_TOKEN,
	"caller-unknown": TELL_USER,
	"token-unknown": NEW_TOKEN,
	"key-reused": TELL_USER,
	"in-progress": RETRY_LATER,
	"duplicate": IGNORE,
	"result-unavailable": TELL_USER,
	"outcome-unknown": TELL_USER,
	"body-too-large": TELL_USER,
	"store-unavailable": RETRY_LATER
};

/** Retry advice of problems after which the same key must not be sent again. */
const FINAL = new Set(["never", "new-key", "fix-request"]);

/** Statuses after which the service has stored no result, so that the same key may be sent again. */
const TRANSIENT = new Set([408, 425, 429]);

/** Statuses after which the key is kept: with another key, the next press could repeat a completed call. */
const OPEN_STATUSES = new Set([401, 403]);
const OPEN_CODES = new Set(["outcome-unknown", "result-unavailable"]);

const DEFAULTS = {
	/** Name of the request header. */
	header: "Idempotency-Key",
	/** The storage of the keys: an object with getItem, setItem and removeItem. */
	storage: null,
	/** Prefix of the names of intents in the storage. */
	prefix: "idempotency:",
	/** Whether an intent ends with its response. */
	autoRenew: true,
	/** Whether the body of an unanswered request is kept as well. */
	remember: true,
	/** Maximum number of retries after the first call. */
	retries: 4,
	/** Timeout of one call in milliseconds. */
	timeout: 15000,
	/** Longest wait before a retry in milliseconds. After a longer one, the user decides. */
	longestWait: 30000,
	/** Returns a new key, or a promise of one. */
	draw: newKey,
	/** Makes the call. Receives all arguments of `send`, including options that `fetch` does not support. */
	fetch: (url, init) => globalThis.fetch(url, init),
	/**
	 * Waits before a retry. Receives the milliseconds, the response that asked for the wait, and the arguments of
	 * `send`.
	 */
	wait: (millis) => new Promise((resolve) => setTimeout(resolve, millis))
};

export class IdempotencyClient {

	#options;

	#intents = new Map();

	constructor(options = {}) {
		this.#options = { ...DEFAULTS, ...options };
		this.#options.storage ??= sessionOrMemory();
	}

	/** Returns the intent of this name, the same one until the page is closed. Options are those of the client. */
	intent(name, options = {}) {
		if (!this.#intents.has(name)) {
			this.#intents.set(name, new Intent(name, { ...this.#options, ...options }));
		}
		return this.#intents.get(name);
	}

	/** Requests a token from the service. Throws if the service does not issue one. */
	async issueToken(url, init = {}) {
		const response = await this.#options.fetch(url, { method: "POST", cache: "no-store", ...init });
		if (!response.ok) {
			throw new Error("No token: " + url + " returned " + response.status);
		}
		return (await response.json()).token;
	}

}

class Intent {

	#name;

	#options;

	#kept;

	#running = null;

	constructor(name, options) {
		this.#name = options.prefix + name;
		this.#options = options;
		this.#kept = parsed(options.storage.getItem(this.#name)) || {};
		if (!this.#kept.key) {
			this.#begin();
		}
	}

	/** The key; null until a token is drawn. */
	get key() {
		return this.#kept.key || null;
	}

	/** The request that was sent and got no response, or null. */
	get unanswered() {
		return this.#kept.unanswered || null;
	}

	/** Whether a call is in progress. */
	get pending() {
		return this.#running !== null;
	}

	/**
	 * Begins a new intent: the next call has another key. Do not call it while a call is in progress, because that
	 * call would be retried with the new key.
	 */
	renew() {
		if (this.pending) {
			throw new Error("A request of this intent is in progress");
		}
		this.#begin();
	}

	#begin() {
		this.#keep({});
		if (this.#options.draw === newKey) {
			this.#keep({ key: newKey() });
		}
	}

	/** Draws the key if none has been drawn. `send` does so by itself. */
	async drawn() {
		if (!this.#kept.key) {
			this.#keep({ key: await this.#options.draw() });
		}
		return this.#kept.key;
	}

	/**
	 * Sends the request until it has a response, and returns what to do. While a call is in progress, another `send`
	 * gets the response of that call and sends nothing. `init` is that of `fetch`; the default method is POST.
	 * `timeout` and `retries` may be given for this one request.
	 */
	send(url, init = {}) {
		this.#running ??= this.#sendUntilAnswered(url, { method: "POST", ...init }).finally(() => this.#running = null);
		return this.#running;
	}

	async #sendUntilAnswered(url, init) {
		let lost = Boolean(this.#kept.sent);
		let failed = false;
		let redrawn = false;
		for (let attempts = 1; ; attempts++) {
			const key = await this.drawn();
			this.#keep({ key, sent: true, unanswered: this.#remembered(url, init) });
			const answer = { ...await this.#call(url, init, key), key, attempts };
			lost ||= answer.status === undefined;
			if (answer.action === RETRY_LATER) {
				failed ||= answer.status >= 500 && !answer.code;
				const wait = waitBefore(attempts, answer.retryAfter);
				const retries = init.retries ?? this.#options.retries;
				if (attempts > retries || wait > this.#options.longestWait || init.signal?.aborted) {
					return { ...answer, uncertain: lost };
				}
				await this.#options.wait(wait, answer, init);
				continue;
			}
			if (answer.action === NEW_TOKEN && !lost && !redrawn) {
				redrawn = true;
				this.#keep({});
				continue;
			}
			return this.#settled(answer, lost, failed);
		}
	}

	#settled(answer, lost, failed) {
		const telling = answer.action === DONE || answer.replayed || answer.code === "result-unavailable";
		const settled = { ...answer, uncertain: lost && !telling };
		// An unknown code: a new key could repeat a call that must not be repeated.
		const unknown = answer.retry === "never" && !Object.hasOwn(ACTIONS, answer.code ?? "");
		if (unknown || OPEN_STATUSES.has(answer.status) || OPEN_CODES.has(answer.code)) {
			return settled;
		}
		if (this.#options.autoRenew || answer.action === NEW_TOKEN) {
			this.#begin();
		}
		else {
			this.#keep({ key: answer.key });
		}
		if (answer.action === NEW_TOKEN && lost) {
			settled.action = TELL_USER;
		}
		if (answer.action === IGNORE && failed) {
			// The first call failed and the service stored the failure: "received" does not mean that it happened.
			settled.action = TELL_USER;
		}
		return settled;
	}

	async #call(url, init, key) {
		const hangUp = new AbortController();
		const abort = () => hangUp.abort();
		const timer = setTimeout(abort, init.timeout ?? this.#options.timeout);
		init.signal?.addEventListener("abort", abort);
		if (init.signal?.aborted) {
			abort();
		}
		try {
			const headers = new Headers(init.headers);
			headers.set(this.#options.header, key);
			const response = await this.#options.fetch(url, { cache: "no-store", ...init, headers, signal: hangUp.signal });
			return answered(response, await response.text());
		}
		catch (error) {
			// The call may have arrived or not. The client cannot find out, so it needs the key.
			return { action: RETRY_LATER, retryAfter: null, replayed: false, message: "No response was received.", text: "", json: null };
		}
		finally {
			clearTimeout(timer);
			init.signal?.removeEventListener("abort", abort);
		}
	}

	#remembered(url, init) {
		if (!this.#options.remember || (init.body !== undefined && typeof init.body !== "string")) {
			return undefined;
		}
		return { url: String(url), method: init.method, body: init.body, note: init.note };
	}

	#keep(kept) {
		this.#kept = kept;
		if (!kept.key) {
			this.#options.storage.removeItem(this.#name);
			return;
		}
		try {
			this.#options.storage.setItem(this.#name, JSON.stringify(kept));
		}
		catch (error) {
			// The body does not fit into the storage. The key is more important than the body.
			this.#options.storage.setItem(this.#name, JSON.stringify({ key: kept.key, sent: kept.sent }));
		}
	}

}

/** Returns the action for a response: by the code and the retry advice of its problem, else by its status. */
export function actionFor(status, code, retry) {
	if (status < 400) {
		return DONE;
	}
	const action = Object.hasOwn(ACTIONS, code ?? "") ? ACTIONS[code] : undefined;
	if (retry === "same-key") {
		return RETRY_LATER;
	}
	if (FINAL.has(retry)) {
		return action === undefined || action === RETRY_LATER ? TELL_USER : action;
	}
	if (action !== undefined) {
		return action;
	}
	return status >= 500 || TRANSIENT.has(status) ? RETRY_LATER : TELL_USER;
}

/** `Retry-After` in milliseconds, from seconds or a date; null without a value. */
export function retryAfterOf(headers) {
	const value = headers.get("Retry-After")?.trim();
	if (!value) {
		return null;
	}
	if (/^\d+$/.test(value)) {
		return Number(value) * 1000;
	}
	const then = Date.parse(value);
	// Uses the clock of the service if it is sent, because the clock of the user may be wrong.
	const now = Date.parse(headers.get("Date") ?? "") || Date.now();
	return Number.isNaN(then) ? null : Math.max(0, then - now);
}

/**
 * Calls `submit` when the form is submitted, and disables its submit buttons until that has ended. Without
 * `submit` the browser posts the form, and the buttons come back when the user comes back to the page.
 */
export function oncePerSubmit(form, submit) {
	let pending = false;
	const end = () => {
		pending = false;
		form.removeAttribute("aria-busy");
		buttonsOf(form).forEach((each) => each.disabled = false);
	};
	form.addEventListener("submit", async (event) => {
		if (pending || submit) {
			event.preventDefault();
		}
		if (pending) {
			return;
		}
		pending = true;
		form.setAttribute("aria-busy", "true");
		const focused = document.activeElement;
		if (!submit) {
			// After the browser has collected the form data: a disabled button would not be part of it.
			setTimeout(() => buttonsOf(form).forEach((each) => each.disabled = true));
			return;
		}
		buttonsOf(form).forEach((each) => each.disabled = true);
		try {
			await submit(event);
		}
		finally {
			end();
			// A disabled button loses the focus, so keyboard users would lose their position.
			if (document.activeElement === document.body) {
				focused?.focus();
			}
		}
	});
	globalThis.addEventListener("pageshow", (event) => {
		if (event.persisted && !submit) {
			end();
		}
	});
}

/** Returns a random UUID, even without crypto.randomUUID(), which is missing on pages without HTTPS or localhost. */
export function newKey() {
	if (crypto.randomUUID) {
		return crypto.randomUUID();
	}
	const bytes = crypto.getRandomValues(new Uint8Array(16));
	bytes[6] = (bytes[6] & 0x0f) | 0x40;
	bytes[8] = (bytes[8] & 0x3f) | 0x80;
	const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
	return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-");
}

function answered(response, text) {
	const json = parsed(text);
	const { code, retry } = response.status >= 400 && json ? json : {};
	return {
		action: actionFor(response.status, code, retry),
		code,
		retry,
		status: response.status,
		headers: response.headers,
		message: response.status >= 400 ? json?.detail || json?.title || "The service returned status " + response.status + "." : "",
		retryAfter: retryAfterOf(response.headers),
		replayed: response.headers.get("Idempotent-Replayed") === "true",
		text,
		json
	};
}

/** Adds jitter, so that the clients that were asked to wait do not return at the same time. */
function waitBefore(attempt, retryAfter) {
	if (retryAfter !== null) {
		return retryAfter + Math.random() * 250;
	}
	return 500 * 2 ** (attempt - 1) * (0.5 + Math.random() / 2);
}

function buttonsOf(form) {
	return Array.from(form.elements).filter((each) => each.type === "submit");
}

function parsed(text) {
	try {
		return JSON.parse(text);
	}
	catch (error) {
		return null;
	}
}

/** A browser may forbid the storage. In that case, keys are lost when the page is closed. */
function sessionOrMemory() {
	try {
		globalThis.sessionStorage.getItem("");
		return globalThis.sessionStorage;
	}
	catch (error) {
		const memory = new Map();
		return {
			getItem: (name) => memory.get(name) ?? null,
			setItem: (name, value) => memory.set(name, value),
			removeItem: (name) => memory.delete(name)
		};
	}
}
