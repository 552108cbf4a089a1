package io.idempotency.it.webflux;

import java.io.IOException;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;

/** A connection that can be broken at any moment. */
final class RawClient implements AutoCloseable {

	private final Socket socket;

	RawClient(int port) throws IOException {
		this.socket = new Socket("localhost", port);
		// An answer that never comes must not hold up the build.
		this.socket.setSoTimeout((int) Duration.ofMinutes(2).toMillis());
	}

	/** Sends a request, or the beginning of one. */
	RawClient send(String path, String key, String headers, int length, String body) throws IOException {
		String request = "POST " + path + " HTTP/1.1\r\nHost: localhost\r\n"
				+ (headers.contains("Content-Type") ? "" : "Content-Type: application/json\r\n") + "Idempotency-Key: "
				+ key + "\r\n" + headers + "Content-Length: " + length + "\r\n\r\n" + body;
		this.socket.getOutputStream().write(request.getBytes(StandardCharsets.US_ASCII));
		this.socket.getOutputStream().flush();
		return this;
	}

	/** Waits for the first byte of the answer. */
	RawClient awaitAnswer() throws IOException {
		if (this.socket.getInputStream().read() < 0) {
			throw new IOException("There is no answer");
		}
		return this;
	}

	/** Waits for the head of the answer. */
	String head() throws IOException {
		StringBuilder head = new StringBuilder();
		while (head.indexOf("\r\n\r\n") < 0) {
			int read = this.socket.getInputStream().read();
			if (read < 0) {
				throw new IOException("The answer has broken off: " + head);
			}
			head.append((char) read);
		}
		return head.toString();
	}

	/** Takes what has come of the answer. */
	void takeAnswer() throws IOException {
		this.socket.getInputStream().skipNBytes(this.socket.getInputStream().available());
	}

	/** Waits until the server has ended the connection, in whatever way. */
	void awaitEnd() {
		byte[] bytes = new byte[1 << 16];
		try {
			while (this.socket.getInputStream().read(bytes) >= 0) {
				// The answer is for nobody.
			}
		}
		catch (SocketTimeoutException ex) {
			throw new IllegalStateException("The server does not end", ex);
		}
		catch (IOException ex) {
			// It has broken the connection off.
		}
	}

	/** Hangs up at once, so that the server sees a reset. */
	@Override
	public void close() throws IOException {
		this.socket.setSoLinger(true, 0);
		this.socket.close();
	}

}
