package io.idempotency.autoconfigure;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.Base64;

import org.jspecify.annotations.Nullable;

import org.springframework.boot.test.context.assertj.AssertableWebApplicationContext;

/** Sends requests to the server of a started context. */
public final class Browser {

	private final HttpClient client = HttpClient.newHttpClient();

	private final String base;

	private @Nullable String user;

	public Browser(AssertableWebApplicationContext context) {
		this.base = "http://localhost:" + context.getEnvironment().getProperty("local.server.port");
	}

	public Browser as(@Nullable String user) {
		this.user = user;
		return this;
	}

	public HttpResponse<String> post(String path, @Nullable String key, String body, String... headers) {
		HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(this.base + path))
			.header("Content-Type", "application/json")
			.POST(HttpRequest.BodyPublishers.ofString(body));
		if (key != null) {
			request.header("Idempotency-Key", key);
		}
		if (this.user != null) {
			String credentials = this.user + ":secret";
			request.header("Authorization",
					"Basic " + Base64.getEncoder().encodeToString(credentials.getBytes(StandardCharsets.UTF_8)));
		}
		if (headers.length > 0) {
			request.headers(headers);
		}
		try {
			return this.client.send(request.build(), HttpResponse.BodyHandlers.ofString());
		}
		catch (IOException ex) {
			throw new IllegalStateException(ex);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new IllegalStateException(ex);
		}
	}

}
