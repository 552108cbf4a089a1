package io.idempotency.proofs.fuzz;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * A request as it goes over the wire; each character stands for one byte.
 *
 * @param target the handler
 * @param method the method
 * @param id the path variable as it is written
 * @param query the query with its question mark, or nothing
 * @param headers lines of the head, without those of the body
 * @param type the content type, {@code null} for none
 * @param body the body
 * @param framing how its end is told
 */
record FuzzRequest(Target target, String method, String id, String query, List<String> headers, @Nullable String type,
		String body, Framing framing) {

	/** Stands for what keeps the keys of two sessions apart. */
	static final String KEY_SPACE = "@K@";

	/** Stands for a token that was issued. */
	static final String TOKEN = "@T@";

	/** Puts values where the marks are. */
	FuzzRequest resolve(String keySpace, String token) {
		return new FuzzRequest(this.target, this.method, this.id, resolve(this.query, keySpace, token),
				this.headers.stream().map((line) -> resolve(line, keySpace, token)).toList(), this.type,
				resolve(this.body, keySpace, token), this.framing);
	}

	private static String resolve(String text, String keySpace, String token) {
		return (text.indexOf('@') < 0) ? text : text.replace(KEY_SPACE, keySpace).replace(TOKEN, token);
	}

	boolean needsToken() {
		return this.headers.stream().anyMatch((line) -> line.contains(TOKEN)) || this.body.contains(TOKEN);
	}

	/** Whether the connection is good for another request. */
	boolean isClean() {
		return this.framing.isClean() && this.headers.stream().noneMatch(Headers.WILD::contains);
	}

	/**
	 * The bytes.
	 * @param guarded whether it goes to the handler with the guard
	 * @param fuzzId which request it is: its session, a dot and its number
	 */
	byte[] toBytes(boolean guarded, String fuzzId) {
		StringBuilder text = new StringBuilder(this.body.length() + 512);
		text.append(this.method).append(guarded ? " /guarded/" : " /plain/").append(this.target.path).append('/');
		text.append(this.id)
			.append(this.query)
			.append(" HTTP/1.1\r\nHost: localhost\r\nX-Session: ")
			.append(fuzzId.replaceAll("\\..*", ""));
		text.append("\r\nX-Fuzz-Id: ").append(fuzzId).append("\r\n");
		this.headers.forEach((line) -> text.append(line).append("\r\n"));
		if (this.type != null) {
			text.append("Content-Type: ").append(this.type).append("\r\n");
		}
		frame(text);
		return text.toString().getBytes(StandardCharsets.ISO_8859_1);
	}

	private void frame(StringBuilder text) {
		int length = this.body.length();
		switch (this.framing) {
			case LENGTH, HANG_UP -> text.append("Content-Length: ").append(length).append("\r\n\r\n").append(this.body);
			case TRUNCATED -> text.append("Content-Length: ").append(length + 10).append("\r\n\r\n").append(this.body);
			case TOO_SHORT -> text.append("Content-Length: ").append(length / 2).append("\r\n\r\n").append(this.body);
			case TWO_LENGTHS -> text.append("Content-Length: ")
				.append(length)
				.append("\r\nContent-Length: ")
				.append(length + 1)
				.append("\r\n\r\n")
				.append(this.body);
			case NEGATIVE_LENGTH -> text.append("Content-Length: -1\r\n\r\n").append(this.body);
			case CHUNKED -> chunks(text, Math.max(1, length), "", "0\r\n\r\n");
			case ODD_CHUNKS -> chunks(text, 1 + length / 20, ";a=b", "000\r\nX-Trailer: 1\r\n\r\n");
			case OPEN_CHUNKS -> chunks(text, Math.max(1, length), "", "");
			case BROKEN_CHUNKS -> chunks(text, Math.max(1, length), "", "xyz\r\n\r\n");
			case LENGTH_AND_CHUNKS -> {
				text.append("Content-Length: ").append(length).append("\r\n");
				chunks(text, Math.max(1, length), "", "0\r\n\r\n");
			}
		}
	}

	private void chunks(StringBuilder text, int size, String extension, String end) {
		text.append("Transfer-Encoding: chunked\r\n\r\n");
		for (int i = 0; i < this.body.length(); i += size) {
			String chunk = this.body.substring(i, Math.min(this.body.length(), i + size));
			text.append(Integer.toHexString(chunk.length())).append(extension).append("\r\n");
			text.append(chunk).append("\r\n");
		}
		text.append(end);
	}

	/** The values of a header, in their order. */
	List<String> header(String name) {
		List<String> values = new ArrayList<>();
		for (String line : this.headers) {
			int colon = line.indexOf(':');
			if (colon > 0 && line.substring(0, colon).equalsIgnoreCase(name)) {
				values.add(line.substring(colon + 1).trim());
			}
		}
		return values;
	}

	@Override
	public String toString() {
		StringBuilder readable = new StringBuilder();
		String text = new String(toBytes(true, "?"), StandardCharsets.ISO_8859_1);
		for (char c : text.substring(0, Math.min(3000, text.length())).toCharArray()) {
			readable.append((c == '\n' || (c >= ' ' && c <= '~')) ? String.valueOf(c)
					: (c == '\r') ? "" : String.format("\\x%02x", (int) c));
		}
		return this.framing + " " + readable;
	}

}
