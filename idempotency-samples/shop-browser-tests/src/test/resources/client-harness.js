async ({ answers, options = {}, sends = 1, kept = null }) => {
	const { IdempotencyClient } = await import("/idempotency-client.js");
	const storage = new Map();
	if (kept) {
		storage.set("idempotency:it", JSON.stringify(kept));
	}
	const calls = [];
	const waits = [];
	const script = [...answers];
	const client = new IdempotencyClient({
		storage: {
			getItem: (name) => storage.get(name) ?? null,
			setItem: (name, value) => storage.set(name, value),
			removeItem: (name) => storage.delete(name)
		},
		wait: (millis) => {
			waits.push(millis);
			return Promise.resolve();
		},
		fetch: (url, init) => {
			calls.push({ url, method: init.method, body: init.body, key: init.headers.get("Idempotency-Key") });
			const next = script.length > 1 ? script.shift() : script[0];
			if (next === "lost") {
				return Promise.reject(new TypeError("Failed to fetch"));
			}
			if (next === "silent") {
				return new Promise((resolve, reject) => init.signal.addEventListener("abort", () => reject(init.signal.reason)));
			}
			const body = JSON.stringify(next.code ? { code: next.code, retry: next.retry, title: next.code, detail: "Detail of " + next.code } : { orderNo: "A-1" });
			return Promise.resolve(new Response(body, { status: next.status, headers: next.headers || {} }));
		},
		...options
	});
	const intent = client.intent("it");
	const first = intent.key;
	let answer;
	for (let i = 0; i < sends; i++) {
		answer = await intent.send("/pay", { body: "amount=1" });
	}
	const { headers, ...rest } = answer;
	return { answer: rest, calls, waits, first, key: intent.key, unanswered: intent.unanswered, kept: storage.get("idempotency:it") ?? null };
}
