package io.idempotency.it.ai;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.http.HttpRequest;
import java.time.Duration;
import java.util.Map;

import io.modelcontextprotocol.client.McpClient;
import io.modelcontextprotocol.client.McpSyncClient;
import io.modelcontextprotocol.client.transport.HttpClientStreamableHttpTransport;
import io.modelcontextprotocol.spec.McpSchema.CallToolRequest;
import io.modelcontextprotocol.spec.McpSchema.CallToolResult;
import io.modelcontextprotocol.spec.McpSchema.TextContent;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;

import static org.assertj.core.api.Assertions.assertThat;

/** Clients of the Model Context Protocol, what they send and what they are told. */
final class ToolClient {

	static final Duration PATIENCE = Duration.ofSeconds(60);

	static final String MEMBER = "io.modelcontextprotocol/idempotencyKey";

	private ToolClient() {
	}

	/** A client with a session of its own; nobody is logged in without a user. */
	static McpSyncClient connect(@Nullable String user, int port, Duration patience) {
		HttpRequest.Builder request = HttpRequest.newBuilder();
		McpSyncClient client = McpClient
			.sync(HttpClientStreamableHttpTransport.builder("http://127.0.0.1:" + port)
				.requestBuilder((user != null) ? request.header("X-User", user) : request)
				.build())
			.requestTimeout(patience)
			.initializationTimeout(PATIENCE)
			.build();
		client.initialize();
		return client;
	}

	static int freePort() throws IOException {
		try (ServerSocket socket = new ServerSocket(0, 0, InetAddress.getLoopbackAddress())) {
			return socket.getLocalPort();
		}
	}

	static CallToolRequest call(String tool, Map<String, Object> arguments, @Nullable String key) {
		return new CallToolRequest(tool, arguments, (key != null) ? Map.of(MEMBER, key) : Map.of());
	}

	/** Repeats the call as a client would that obeys. */
	static CallToolResult repeat(McpSyncClient client, CallToolRequest request) {
		return Awaitility.await()
			.atMost(PATIENCE)
			.ignoreExceptions()
			.until(() -> client.callTool(request), (result) -> !Boolean.TRUE.equals(result.isError()));
	}

	static String text(CallToolResult result) {
		return ((TextContent) result.content().get(0)).text();
	}

	static void assertRejection(CallToolResult result, String code, String retry) {
		assertThat(result.isError()).as(result.toString()).isTrue();
		assertThat(result.meta()).as(result.toString())
			.extractingByKey("io.idempotency/rejection", InstanceOfAssertFactories.MAP)
			.containsEntry("code", code)
			.containsEntry("retry", retry);
		assertThat(text(result)).contains("[code=" + code + ", retry=" + retry);
	}

}
