package io.idempotency.interceptor;

import java.security.Principal;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import org.jspecify.annotations.Nullable;

/** The current request: what a test puts into it. */
class TestRequest implements RequestValues {

	final Map<String, List<String>> headers = new HashMap<>();

	final Map<String, String> params = new HashMap<>();

	final Map<String, Object> body = new HashMap<>();

	@Nullable Principal principal;

	void reset() {
		this.headers.clear();
		this.params.clear();
		this.body.clear();
		this.principal = null;
	}

	@Override
	public @Nullable String header(String name) {
		List<String> lines = headers(name);
		return lines.isEmpty() ? null : lines.get(0);
	}

	@Override
	public List<String> headers(String name) {
		return this.headers.getOrDefault(name, List.of());
	}

	@Override
	public @Nullable String param(String name) {
		return this.params.get(name);
	}

	@Override
	public @Nullable Object body(String pointer) {
		Object value = this.body.get(pointer);
		if (value instanceof List) {
			throw new IllegalArgumentException("an array");
		}
		return value;
	}

	@Override
	public @Nullable Principal principal() {
		return this.principal;
	}

}
