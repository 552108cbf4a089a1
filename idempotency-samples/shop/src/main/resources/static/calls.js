/** Talks to the shop. Every call ends in an outcome, never in an exception. */

export const EXECUTED = "executed";
export const REPLAYED = "replayed";
export const REFUSED = "refused";
export const GAVE_UP = "gave up";
export const FAILED = "failed";

/**
 * Calls once, with the given key, unlike a well-behaved client. The demonstrations of failures use it. When `signal`
 * aborts, the browser disconnects and the shop continues.
 */
export async function call({ method = "POST", path, body, user, key, requestId, delay, deliveries, signal }) {
	const headers = {
		"Content-Type": "application/json",
		"X-Request-Id": requestId,
		// Spring Security then responds with 401 without making the browser ask for a password.
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
	if (deliveries) {
		headers["X-Demo-Deliveries"] = deliveries;
	}
	const start = performance.now();
	const millis = () => Math.round(performance.now() - start);
	try {
		const response = await fetch(path, {
			method, headers, body: body && JSON.stringify(body), credentials: "omit", cache: "no-store", signal
		});
		const text = await response.text();
		const replayed = response.headers.get("Idempotent-Replayed") === "true";
		return {
			outcome: replayed ? REPLAYED : (response.ok ? EXECUTED : REFUSED),
			status: response.status,
			headers: response.headers,
			retryAfter: Number(response.headers.get("Retry-After")) || 0,
			location: response.headers.get("Location"),
			replayed,
			text,
			json: parse(text),
			millis: millis()
		};
	}
	catch (error) {
		return { outcome: signal?.aborted ? GAVE_UP : FAILED, millis: millis(), text: "", json: null };
	}
}

/** Gets JSON. Throws if the shop does not respond; the error has the status, if there is one. */
export async function get(path) {
	const response = await fetch(path, { credentials: "omit", cache: "no-store" });
	if (!response.ok) {
		throw Object.assign(new Error(path + " returned " + response.status), { status: response.status });
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
