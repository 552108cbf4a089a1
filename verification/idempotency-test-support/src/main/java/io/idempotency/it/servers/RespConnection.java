package io.idempotency.it.servers;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * The few lines of the Redis protocol that a launcher needs, so that looking at a server
 * goes through no client library. Not thread-safe.
 */
public final class RespConnection implements AutoCloseable {

	private static final int TIMEOUT_MILLIS = 5_000;

	private final Socket socket;

	private final InputStream input;

	RespConnection(int port) throws IOException {
		this.socket = new Socket(InetAddress.getLoopbackAddress(), port);
		this.socket.setSoTimeout(TIMEOUT_MILLIS);
		this.input = new BufferedInputStream(this.socket.getInputStream());
	}

	/**
	 * Sends one command and reads its reply.
	 * @param command the command and its arguments
	 * @return a {@code String}, {@code Long}, {@code List} or {@code null}
	 * @throws IOException if the connection is broken, or the reply is an error
	 */
	@Nullable Object command(String... command) throws IOException {
		ByteArrayOutputStream request = new ByteArrayOutputStream();
		request.writeBytes(("*" + command.length + "\r\n").getBytes(StandardCharsets.US_ASCII));
		for (String part : command) {
			byte[] bytes = part.getBytes(StandardCharsets.UTF_8);
			request.writeBytes(("$" + bytes.length + "\r\n").getBytes(StandardCharsets.US_ASCII));
			request.writeBytes(bytes);
			request.writeBytes("\r\n".getBytes(StandardCharsets.US_ASCII));
		}
		this.socket.getOutputStream().write(request.toByteArray());
		return reply();
	}

	private @Nullable Object reply() throws IOException {
		String line = line();
		String rest = line.substring(1);
		switch (line.charAt(0)) {
			case '+':
				return rest;
			case ':':
				return Long.valueOf(rest);
			case '$':
				return bulk(Integer.parseInt(rest));
			case '*':
				return array(Integer.parseInt(rest));
			default:
				throw new IOException("Redis says: " + rest);
		}
	}

	private @Nullable String bulk(int length) throws IOException {
		if (length < 0) {
			return null;
		}
		byte[] bytes = this.input.readNBytes(length);
		line();
		return new String(bytes, StandardCharsets.ISO_8859_1);
	}

	private List<@Nullable Object> array(int length) throws IOException {
		List<@Nullable Object> elements = new ArrayList<>();
		for (int i = 0; i < length; i++) {
			elements.add(reply());
		}
		return elements;
	}

	private String line() throws IOException {
		StringBuilder line = new StringBuilder();
		int c = this.input.read();
		while (c != '\r') {
			if (c < 0) {
				throw new EOFException("Redis has closed the connection");
			}
			line.append((char) c);
			c = this.input.read();
		}
		this.input.read();
		return line.toString();
	}

	@Override
	public void close() throws IOException {
		this.socket.close();
	}

}
