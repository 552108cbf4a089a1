package io.idempotency.it.ai;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;

import io.modelcontextprotocol.client.McpSyncClient;
import io.modelcontextprotocol.spec.McpSchema.CallToolRequest;
import io.modelcontextprotocol.spec.McpSchema.CallToolResult;
import io.modelcontextprotocol.spec.McpSchema.Tool;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.netcrusher.core.reactor.NioReactor;
import org.netcrusher.tcp.TcpCrusher;
import org.netcrusher.tcp.TcpCrusherBuilder;

import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;

import static io.idempotency.it.ai.ToolClient.PATIENCE;
import static io.idempotency.it.ai.ToolClient.assertRejection;
import static io.idempotency.it.ai.ToolClient.call;
import static io.idempotency.it.ai.ToolClient.repeat;
import static io.idempotency.it.ai.ToolClient.text;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Guarded tools of a server in WebFlux. Its tools run on other threads than their
 * requests, so a key belongs to the session.
 */
class McpWebFluxTests {

	private static final Map<String, Object> REFUND = Map.of("order", "7", "amount", 100);

	private static ConfigurableApplicationContext application;

	/**
	 * Whose callers share their keys; the first of both to close takes the threads of
	 * Netty with it.
	 */
	private static ConfigurableApplicationContext shared;

	private static Bank bank;

	private final List<McpSyncClient> clients = new ArrayList<>();

	private final String key = UUID.randomUUID().toString();

	@BeforeAll
	static void start() {
		application = start("--idempotency.scope=principal");
		shared = start("--idempotency.scope=global");
		bank = application.getBean(Bank.class);
	}

	private static ConfigurableApplicationContext start(String scope) {
		String mvc = "org.springframework.ai.mcp.server%1$s.autoconfigure.McpServerStreamableHttpWebMvcAutoConfiguration";
		return new SpringApplicationBuilder(ToolApplication.class).run("--spring.main.web-application-type=reactive",
				"--server.port=0", "--idempotency.store=memory", "--spring.datasource.url=jdbc:h2:mem:webflux",
				"--spring.main.banner-mode=off", "--spring.ai.mcp.server.protocol=STREAMABLE", scope,
				// The stream of a session does not end by itself.
				"--server.shutdown=immediate", "--spring.autoconfigure.exclude="
						+ String.join(",", ToolApplication.JPA, mvc.formatted(""), mvc.formatted(".webmvc")));
	}

	@AfterAll
	static void stop() {
		shared.close();
		application.close();
	}

	@BeforeEach
	void reset() {
		bank.reset();
	}

	@AfterEach
	void close() {
		this.clients.forEach(McpSyncClient::close);
	}

	@Test
	void guardedToolsAreListed() {
		assertThat(client().listTools().tools()).extracting(Tool::name).contains("refund", "charge", "slow", "payout");
	}

	@Test
	void aRepeatedRequestGetsTheFirstResult() {
		McpSyncClient client = client();
		CallToolResult first = client.callTool(call("refund", REFUND, this.key));
		CallToolResult second = client.callTool(call("refund", REFUND, this.key));
		assertThat(text(first)).isEqualTo("refund of 100 for 7, number 1");
		assertThat(second.content()).isEqualTo(first.content());
		assertThat(second.meta()).containsEntry("io.idempotency/replayed", true);
		assertRejection(client.callTool(call("refund", Map.of("order", "7", "amount", 200), this.key)), "key-reused",
				"new-key");
		assertThat(bank.done()).isEqualTo(1);
	}

	@Test
	void aLostConnectionIsFollowedByTheFirstResultInTheSameSession() throws Exception {
		int freePort = ToolClient.freePort();
		NioReactor reactor = new NioReactor();
		try (TcpCrusher network = TcpCrusherBuilder.builder()
			.withReactor(reactor)
			.withBindAddress("127.0.0.1", freePort)
			.withConnectAddress("127.0.0.1", port(application))
			.buildAndOpen()) {
			McpSyncClient client = client(freePort, Duration.ofSeconds(5));
			CompletableFuture<CallToolResult> lost = CompletableFuture
				.supplyAsync(() -> client.callTool(call("slow", Map.of(), this.key)));
			bank.awaitEntered();
			network.closeAllPairs();
			assertThat(lost).failsWithin(PATIENCE);
			bank.open();
			assertThat(text(repeat(client, call("slow", Map.of(), this.key)))).isEqualTo("slow, number 1");
		}
		finally {
			reactor.close();
		}
		assertThat(bank.done()).isEqualTo(1);
	}

	@Test
	void oneOfTwoAtOnceRunsAndTheOtherIsToldToComeBack() throws Exception {
		McpSyncClient client = client();
		CallToolRequest slow = call("slow", Map.of(), this.key);
		CompletableFuture<CallToolResult> first = CompletableFuture.supplyAsync(() -> client.callTool(slow));
		bank.awaitEntered();
		assertRejection(client.callTool(slow), "in-progress", "same-key");
		bank.open();
		assertThat(text(first.join())).isEqualTo("slow, number 1");
		assertThat(text(repeat(client, slow))).isEqualTo("slow, number 1");
		assertThat(bank.done()).isEqualTo(1);
	}

	@Test
	void aKeyBelongsToItsSessionUnlessAllShareTheirs() {
		assertThat(text(client().callTool(call("refund", REFUND, this.key)))).endsWith("number 1");
		assertThat(text(client().callTool(call("refund", REFUND, this.key)))).endsWith("number 2");
		for (int i = 0; i < 2; i++) {
			assertThat(text(client(port(shared), PATIENCE).callTool(call("refund", REFUND, this.key))))
				.endsWith("number 1");
		}
	}

	private McpSyncClient client() {
		return client(port(application), PATIENCE);
	}

	private McpSyncClient client(int port, Duration patience) {
		McpSyncClient client = ToolClient.connect("ann", port, patience);
		this.clients.add(client);
		return client;
	}

	private static int port(ConfigurableApplicationContext application) {
		return application.getEnvironment().getRequiredProperty("local.server.port", Integer.class);
	}

}
