package io.idempotency.it.ai;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PipedInputStream;
import java.io.PipedOutputStream;
import java.net.http.HttpRequest;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.TimeUnit;

import io.modelcontextprotocol.client.McpClient;
import io.modelcontextprotocol.client.McpSyncClient;
import io.modelcontextprotocol.client.transport.HttpClientSseClientTransport;
import io.modelcontextprotocol.json.McpJsonDefaults;
import io.modelcontextprotocol.server.McpServer;
import io.modelcontextprotocol.server.McpServerFeatures.SyncToolSpecification;
import io.modelcontextprotocol.server.McpSyncServer;
import io.modelcontextprotocol.server.transport.StdioServerTransportProvider;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.core.ResolvableType;

import static io.idempotency.it.ai.ToolClient.MEMBER;
import static io.idempotency.it.ai.ToolClient.PATIENCE;
import static io.idempotency.it.ai.ToolClient.call;
import static io.idempotency.it.ai.ToolClient.text;
import static org.assertj.core.api.Assertions.assertThat;

/** Guarded tools over the other transports: server-sent events, and standard input. */
class McpTransportTests {

	private static ConfigurableApplicationContext application;

	private static Bank bank;

	private final String key = UUID.randomUUID().toString();

	@BeforeAll
	static void start() {
		application = new SpringApplicationBuilder(ToolApplication.class).run(
				"--spring.main.web-application-type=servlet", "--server.port=0", "--idempotency.store=memory",
				"--spring.datasource.url=jdbc:h2:mem:transports", "--spring.main.banner-mode=off",
				"--spring.ai.mcp.server.protocol=SSE", "--server.shutdown=immediate");
		bank = application.getBean(Bank.class);
	}

	@AfterAll
	static void stop() {
		application.close();
	}

	@BeforeEach
	void reset() {
		bank.reset();
	}

	@Test
	void aKeyBelongsToItsCallerOverServerSentEvents() {
		try (McpSyncClient first = client("ann");
				McpSyncClient again = client("ann");
				McpSyncClient bob = client("bob")) {
			assertThat(refund(first)).isEqualTo("refund of 100 for 7, number 1");
			assertThat(refund(first)).isEqualTo("refund of 100 for 7, number 1");
			assertThat(refund(again)).isEqualTo("refund of 100 for 7, number 1");
			assertThat(refund(bob)).isEqualTo("refund of 100 for 7, number 2");
		}
		assertThat(bank.done()).isEqualTo(2);
	}

	private String refund(McpSyncClient client) {
		return text(client.callTool(call("refund", Map.of("order", "7", "amount", 100), this.key)));
	}

	private static McpSyncClient client(String user) {
		McpSyncClient client = McpClient
			.sync(HttpClientSseClientTransport
				.builder("http://127.0.0.1:" + application.getEnvironment().getProperty("local.server.port"))
				.requestBuilder(HttpRequest.newBuilder().header("X-User", user))
				.build())
			.requestTimeout(PATIENCE)
			.initializationTimeout(PATIENCE)
			.build();
		client.initialize();
		return client;
	}

	@Test
	@Timeout(value = 120, unit = TimeUnit.SECONDS)
	void aKeyBelongsToItsSessionOverStandardInput() throws IOException {
		PipedOutputStream input = new PipedOutputStream();
		PipedInputStream output = new PipedInputStream(65_536);
		McpSyncServer server = McpServer
			.sync(new StdioServerTransportProvider(McpJsonDefaults.getMapper(), new PipedInputStream(input, 65_536),
					new PipedOutputStream(output)))
			.serverInfo("bank", "1")
			.tools(tools())
			.build();
		try (BufferedReader answers = new BufferedReader(new InputStreamReader(output, StandardCharsets.UTF_8))) {
			send(input, "\"id\": 1, \"method\": \"initialize\", \"params\": {\"protocolVersion\": \"2024-11-05\", "
					+ "\"capabilities\": {}, \"clientInfo\": {\"name\": \"client\", \"version\": \"1\"}}");
			assertThat(answers.readLine()).contains("serverInfo");
			send(input, "\"method\": \"notifications/initialized\"");
			for (int i = 0; i < 2; i++) {
				send(input,
						"\"id\": " + (i + 2) + ", \"method\": \"tools/call\", \"params\": {\"name\": \"refund\", "
								+ "\"arguments\": {\"order\": \"7\", \"amount\": 100}, \"_meta\": {\"" + MEMBER
								+ "\": \"" + this.key + "\"}}");
				assertThat(answers.readLine()).contains("refund of 100 for 7, number 1");
			}
		}
		finally {
			server.close();
			input.close();
		}
		assertThat(bank.done()).isEqualTo(1);
	}

	private static List<SyncToolSpecification> tools() {
		return application
			.<List<SyncToolSpecification>>getBeanProvider(
					ResolvableType.forClassWithGenerics(List.class, SyncToolSpecification.class))
			.stream()
			.flatMap(List::stream)
			.filter((tool) -> tool.tool().name().equals("refund"))
			.toList();
	}

	private static void send(PipedOutputStream input, String members) throws IOException {
		input.write(("{\"jsonrpc\": \"2.0\", " + members + "}\n").getBytes(StandardCharsets.UTF_8));
		input.flush();
	}

}
