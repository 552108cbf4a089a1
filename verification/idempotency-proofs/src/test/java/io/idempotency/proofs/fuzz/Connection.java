package io.idempotency.proofs.fuzz;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

import org.jspecify.annotations.Nullable;

/** A connection that is kept alive, without any opinion of what goes over it. */
final class Connection implements AutoCloseable {

	/** Whoever waits longer than this hangs. */
	private static final int PATIENCE_MILLIS = 30_000;

	private final Socket socket;

	private final InputStream in;

	Connection(int port) throws IOException {
		this.socket = new Socket("127.0.0.1", port);
		this.socket.setTcpNoDelay(true);
		this.socket.setSoTimeout(PATIENCE_MILLIS);
		// Ports are not to run out.
		this.socket.setSoLinger(true, 0);
		this.in = new BufferedInputStream(this.socket.getInputStream(), 4096);
	}

	void send(byte[] request, boolean nothingFollows) throws IOException {
		this.socket.getOutputStream().write(request);
		if (nothingFollows) {
			this.socket.shutdownOutput();
		}
	}

	/**
	 * Reads one answer.
	 * @param head whether it has no body
	 * @return the answer, {@code null} if the server has closed the connection instead
	 * @throws java.net.SocketTimeoutException if there is none
	 */
	@Nullable Answer receive(boolean head) throws IOException {
		String start = line();
		while (start != null && start.startsWith("HTTP/1.1 1")) {
			headers();
			start = line();
		}
		if (start == null) {
			return null;
		}
		int status = Integer.parseInt(start.substring(9, 12));
		List<String> headers = headers();
		Answer answer = new Answer(status, headers, new byte[0]);
		if (head || status == 204 || status == 304) {
			return answer;
		}
		return new Answer(status, headers, body(answer));
	}

	private byte[] body(Answer answer) throws IOException {
		String length = answer.header("Content-Length");
		if (length != null) {
			return exactly(Integer.parseInt(length));
		}
		if (!"chunked".equals(answer.header("Transfer-Encoding"))) {
			return this.in.readAllBytes();
		}
		ByteArrayOutputStream body = new ByteArrayOutputStream();
		int size = chunk();
		while (size > 0) {
			body.write(exactly(size));
			required();
			size = chunk();
		}
		headers();
		return body.toByteArray();
	}

	private int chunk() throws IOException {
		return Integer.parseInt(required(), 16);
	}

	private byte[] exactly(int length) throws IOException {
		byte[] bytes = this.in.readNBytes(length);
		if (bytes.length < length) {
			throw new EOFException("The answer has ended early");
		}
		return bytes;
	}

	private List<String> headers() throws IOException {
		List<String> headers = new ArrayList<>();
		for (String line = required(); !line.isEmpty(); line = required()) {
			headers.add(line);
		}
		return headers;
	}

	private String required() throws IOException {
		String line = line();
		if (line == null) {
			throw new EOFException("The answer has ended early");
		}
		return line;
	}

	private @Nullable String line() throws IOException {
		StringBuilder line = new StringBuilder();
		int c = this.in.read();
		if (c < 0) {
			return null;
		}
		while (c >= 0 && c != '\n') {
			if (c != '\r') {
				line.append((char) c);
			}
			c = this.in.read();
		}
		return line.toString();
	}

	@Override
	public void close() throws IOException {
		this.socket.close();
	}

	/**
	 * An answer.
	 */
	record Answer(int status, List<String> headers, byte[] body) {

		@Nullable String header(String name) {
			for (String line : this.headers) {
				if (line.length() > name.length() && line.charAt(name.length()) == ':'
						&& line.regionMatches(true, 0, name, 0, name.length())) {
					return line.substring(name.length() + 1).trim();
				}
			}
			return null;
		}

		boolean isReplayed() {
			return "true".equals(header("Idempotent-Replayed"));
		}

		/** Whether the library has rejected the request. */
		boolean isRejection() {
			return text().contains("urn:idempotency:")
					|| String.valueOf(header("Content-Type")).contains("problem+json");
		}

		boolean closes() {
			String connection = header("Connection");
			return connection != null && connection.toLowerCase(Locale.ROOT).contains("close");
		}

		/** Whether the outcome belongs to what is kept and not to what frees its key. */
		boolean isKept() {
			return this.status < 500 && !List.of(401, 403, 408, 425, 429).contains(this.status);
		}

		String text() {
			return new String(this.body, StandardCharsets.UTF_8);
		}

		@Override
		public String toString() {
			return this.status + " " + this.headers + " " + text();
		}

	}

}
