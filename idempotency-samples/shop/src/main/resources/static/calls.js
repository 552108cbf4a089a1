/** Talks to the shop. Every call ends in an outcome, never in an exception. */

export const EXECUTED = "executed";
export const REPLAYED = "replayed";
export const REFUSED = "refused";
export const GAVE_UP = "gave up";
export const FAILED = "failed";

/** A random UUID; crypto.randomUUID() is missing when the page is not on localhost or HTTPS. */
export function newKey() {
	const bytes = crypto.getRandomValues(new Uint8Array(16));
	bytes[6] = (bytes[6] & 0x0f) | 0x40;
	bytes[8] = (bytes[8] & 0x3f) | 0x80;
	const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
	return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-");
}

/**
 * Posts a body. With `patience` (milliseconds) the browser hangs up when it is over, as a
 * client with a time-out does; the shop goes on.
 */
export async function post({ path, body, user, key, requestId, delay, patience }) {
	const headers = {
		"Content-Type": "application/json",
		"X-Request-Id": requestId,
		// Spring Security then answers 401 without making the browser ask for a password.
		"X-Requested-With": "XMLHttpRequest"
	};
	if (user !== "anonymous") {
		headers["Authorization"] = "Basic " + btoa(user + ":demo");
	}
	if (key) {
		headers["Idempotency-Key"] = key;
	}
	if (delay) {
		headers["X-Demo-Delay"] = delay;
	}
	const hangUp = new AbortController();
	const timer = patience ? setTimeout(() => hangUp.abort(), patience) : undefined;
	const start = performance.now();
	const millis = () => Math.round(performance.now() - start);
	try {
		const response = await fetch(path, {
			method: "POST", headers, body: JSON.stringify(body), credentials: "omit", cache: "no-store", signal: hangUp.signal
		});
		const text = await response.text();
		const replayed = response.headers.get("Idempotent-Replayed") === "true";
		return {
			outcome: replayed ? REPLAYED : (response.ok ? EXECUTED : REFUSED),
			status: response.status,
			retryAfter: Number(response.headers.get("Retry-After")) || 0,
			location: response.headers.get("Location"),
			replayed,
			text,
			json: parse(text),
			millis: millis()
		};
	}
	catch (error) {
		return { outcome: hangUp.signal.aborted ? GAVE_UP : FAILED, millis: millis(), text: "", json: null };
	}
	finally {
		clearTimeout(timer);
	}
}

/** Gets JSON, or throws when the shop does not answer. */
export async function get(path) {
	const response = await fetch(path, { credentials: "omit", cache: "no-store" });
	if (!response.ok) {
		throw new Error(path + " answered " + response.status);
	}
	return response.json();
}

export function pause(millis) {
	return new Promise((resolve) => setTimeout(resolve, millis));
}

function parse(text) {
	try {
		return JSON.parse(text);
	}
	catch (error) {
		return null;
	}
}
