package io.idempotency.benchmarks.report;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.UUID;

/** One connection that stays open. For one thread. */
final class LoadConnection {

	private static final byte[] END_OF_CHUNKS = "\r\n0\r\n\r\n".getBytes(StandardCharsets.US_ASCII);

	private final InputStream in;

	private final OutputStream out;

	private final String body;

	private final String ownKey = UUID.randomUUID().toString();

	private String lastKey;

	private final byte[] buffer = new byte[256 * 1024];

	LoadConnection(int port, int bodySize) throws IOException {
		Socket socket = new Socket("127.0.0.1", port);
		socket.setTcpNoDelay(true);
		this.in = socket.getInputStream();
		this.out = socket.getOutputStream();
		String frame = "{\"account\":\"DE02\",\"amount\":1250,\"text\":\"\"}";
		this.body = frame.replace("\"\"", '"' + "x".repeat(Math.max(0, bodySize - frame.length())) + '"');
	}

	/** A key that no other connection has. */
	String ownKey() {
		return this.ownKey;
	}

	/** The key of the last request, {@code null} before there was one. */
	String lastKey() {
		return this.lastKey;
	}

	/**
	 * Sends one and reads its answer.
	 * @param path where to, with the method in front of it if that is not {@code POST}
	 * @param key its key
	 */
	void send(String path, String key) throws IOException {
		if (isRejected(path, key)) {
			throw new IOException("Rejected, which is not the answer that is measured");
		}
	}

	/** Sends one that shall be rejected. */
	void sendRejected(String path, String key) throws IOException {
		if (!isRejected(path, key)) {
			throw new IOException("Not rejected, which is not the answer that is measured");
		}
	}

	/** Sends one, and says whether its answer was 409. */
	boolean isRejected(String path, String key) throws IOException {
		this.lastKey = key;
		int slash = path.indexOf('/');
		String method = (slash == 0) ? "POST" : path.substring(0, slash);
		String request = method + ' ' + path.substring(slash)
				+ " HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
				+ "Accept: application/json\r\nIdempotency-Key: " + key + "\r\nContent-Length: "
				+ (method.equals("GET") ? "0\r\n\r\n" : this.body.length() + "\r\n\r\n" + this.body);
		this.out.write(request.getBytes(StandardCharsets.ISO_8859_1));
		return read().startsWith("HTTP/1.1 409");
	}

	/** Returns the head. */
	private String read() throws IOException {
		int size = 0;
		int head = -1;
		int needed = -1;
		String lines = "";
		while (true) {
			int count = this.in.read(this.buffer, size, this.buffer.length - size);
			if (count < 0) {
				throw new IOException("The server has closed the connection");
			}
			size += count;
			if (head < 0) {
				head = endOfHead(size);
				if (head >= 0) {
					lines = new String(this.buffer, 0, head, StandardCharsets.ISO_8859_1);
					needed = check(lines, head);
				}
			}
			if (head >= 0 && ((needed >= 0) ? size >= needed : endsWithLastChunk(size))) {
				return lines;
			}
		}
	}

	/** How many bytes the answer has, -1 if it comes in chunks. */
	private static int check(String head, int length) throws IOException {
		if (!head.startsWith("HTTP/1.1 20") && !head.startsWith("HTTP/1.1 409")) {
			throw new IOException("Not the answer that is measured: " + head);
		}
		// Tomcat and Netty write it each in its own way.
		int at = Math.max(head.indexOf("-Length: "), head.indexOf("-length: "));
		if (at < 0) {
			return -1;
		}
		int from = at + "-Length: ".length();
		return length + Integer.parseInt(head.substring(from, head.indexOf('\r', from)));
	}

	private int endOfHead(int size) {
		for (int i = 3; i < size; i++) {
			if (this.buffer[i] == '\n' && this.buffer[i - 2] == '\n') {
				return i + 1;
			}
		}
		return -1;
	}

	private boolean endsWithLastChunk(int size) {
		int from = size - END_OF_CHUNKS.length;
		for (int i = 0; i < END_OF_CHUNKS.length; i++) {
			if (from < 0 || this.buffer[from + i] != END_OF_CHUNKS[i]) {
				return false;
			}
		}
		return true;
	}

}
