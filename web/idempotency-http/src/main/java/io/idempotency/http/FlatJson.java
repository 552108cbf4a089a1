package io.idempotency.http;

/** Writes a flat JSON object without a JSON library. Not thread-safe. */
final class FlatJson {

	private final StringBuilder json = new StringBuilder("{");

	FlatJson add(String name, String value) {
		name(name);
		string(value);
		return this;
	}

	FlatJson add(String name, long value) {
		name(name);
		this.json.append(value);
		return this;
	}

	private void name(String name) {
		if (this.json.length() > 1) {
			this.json.append(',');
		}
		string(name);
		this.json.append(':');
	}

	private void string(String value) {
		this.json.append('"');
		for (int i = 0; i < value.length(); i++) {
			char c = value.charAt(i);
			if (c == '"' || c == '\\') {
				this.json.append('\\').append(c);
			}
			else if (c < ' ' || c == '<' || c == '>' || c == '&' || Character.isSurrogate(c) || c == '\u2028'
					|| c == '\u2029') {
				this.json.append(String.format("\\u%04x", (int) c));
			}
			else {
				this.json.append(c);
			}
		}
		this.json.append('"');
	}

	@Override
	public String toString() {
		return this.json + "}";
	}

}
