package io.idempotency.it.client;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

/**
 * A client of the real server: the JDK's, and a bare socket for what that rejects to
 * send.
 */
public final class Client {

	private final HttpClient http = HttpClient.newBuilder()
		.version(HttpClient.Version.HTTP_1_1)
		.followRedirects(HttpClient.Redirect.NEVER)
		.build();

	private final int port;

	public Client(int port) {
		this.port = port;
	}

	public HttpRequest.Builder to(String path) {
		return HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + this.port + path));
	}

	public Answer post(String path, String key) {
		return send(to(path).header("Idempotency-Key", key).POST(HttpRequest.BodyPublishers.noBody()));
	}

	public Answer post(String path, String key, String contentType, String body) {
		return post(path, key, contentType, body, (request) -> {
		});
	}

	public Answer post(String path, String key, String contentType, String body, Consumer<HttpRequest.Builder> more) {
		HttpRequest.Builder request = to(path).header("Idempotency-Key", key)
			.header("Content-Type", contentType)
			.POST(HttpRequest.BodyPublishers.ofString(body));
		more.accept(request);
		return send(request);
	}

	public Answer send(HttpRequest.Builder request) {
		try {
			HttpResponse<byte[]> response = answer(request.build());
			return new Answer(response.statusCode(), response.headers().map(), response.body());
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new IllegalStateException(ex);
		}
	}

	/**
	 * A server that has rejected a request before its body has come may close the
	 * connection behind its answer. What is sent on it next has reached nobody.
	 */
	private HttpResponse<byte[]> answer(HttpRequest request) throws IOException, InterruptedException {
		try {
			return this.http.send(request, HttpResponse.BodyHandlers.ofByteArray());
		}
		catch (IOException ex) {
			if (!"HTTP/1.1 header parser received no bytes".equals(ex.getMessage())) {
				throw ex;
			}
			return this.http.send(request, HttpResponse.BodyHandlers.ofByteArray());
		}
	}

	public HttpResponse<InputStream> open(HttpRequest.Builder request) throws IOException, InterruptedException {
		return this.http.send(request.build(), HttpResponse.BodyHandlers.ofInputStream());
	}

	/**
	 * Sends the head of a request as it stands and gives the first line of the answer and
	 * the rest.
	 */
	public String raw(String path, String headerLines) throws IOException {
		try (Socket socket = new Socket("127.0.0.1", this.port)) {
			write(socket, path, headerLines);
			return new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
		}
	}

	/** Sends a request and hangs up later, without reading the answer. */
	public void hangUp(String path, String headerLines, Runnable meanwhile) throws IOException {
		try (Socket socket = new Socket("127.0.0.1", this.port)) {
			socket.setSoLinger(true, 0);
			write(socket, path, headerLines);
			meanwhile.run();
		}
	}

	/** Sends a request and hangs up later, without an answer if there is none yet. */
	public void hangUp(HttpRequest.Builder request, Runnable meanwhile) {
		CompletableFuture<?> sent = this.http.sendAsync(request.build(), HttpResponse.BodyHandlers.discarding());
		meanwhile.run();
		sent.cancel(true);
	}

	/**
	 * Sends a request that breaks off, and listens.
	 * @param head the head as it stands
	 * @param half the beginning of the body
	 * @return all that comes back
	 */
	public String broken(String head, byte[] half) throws IOException {
		try (Socket socket = new Socket("127.0.0.1", this.port)) {
			OutputStream out = socket.getOutputStream();
			out.write(head.getBytes(StandardCharsets.UTF_8));
			out.write(half);
			out.flush();
			socket.shutdownOutput();
			return new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
		}
	}

	private void write(Socket socket, String path, String headerLines) throws IOException {
		OutputStream out = socket.getOutputStream();
		out.write(("POST " + path + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: 0\r\n"
				+ headerLines + "\r\n")
			.getBytes(StandardCharsets.UTF_8));
		out.flush();
	}

	public static Consumer<HttpRequest.Builder> as(String user) {
		return as(user, "demo");
	}

	public static Consumer<HttpRequest.Builder> as(String user, String password) {
		String credentials = Base64.getEncoder()
			.encodeToString((user + ":" + password).getBytes(StandardCharsets.UTF_8));
		return (request) -> request.header("Authorization", "Basic " + credentials);
	}

}
