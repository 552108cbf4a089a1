package io.idempotency.it.ai;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;

import io.modelcontextprotocol.client.McpSyncClient;
import io.modelcontextprotocol.common.McpTransportContext;
import io.modelcontextprotocol.server.McpServerFeatures;
import io.modelcontextprotocol.server.McpStatelessServerFeatures;
import io.modelcontextprotocol.spec.McpSchema.CallToolRequest;
import io.modelcontextprotocol.spec.McpSchema.CallToolResult;
import io.modelcontextprotocol.spec.McpSchema.Tool;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.netcrusher.core.reactor.NioReactor;
import org.netcrusher.tcp.TcpCrusher;
import org.netcrusher.tcp.TcpCrusherBuilder;

import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.ToolResponseMessage;
import org.springframework.ai.chat.model.ChatResponse;
import org.springframework.ai.chat.model.Generation;
import org.springframework.ai.chat.prompt.Prompt;
import org.springframework.ai.mcp.annotation.spring.SyncMcpAnnotationProviders;
import org.springframework.ai.model.tool.ToolCallingChatOptions;
import org.springframework.ai.model.tool.ToolCallingManager;
import org.springframework.ai.tool.ToolCallbackProvider;
import org.springframework.aop.support.AopUtils;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.mock.web.MockHttpServletRequest;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.web.context.request.RequestContextHolder;
import org.springframework.web.context.request.ServletRequestAttributes;

import static io.idempotency.it.ai.ToolClient.MEMBER;
import static io.idempotency.it.ai.ToolClient.PATIENCE;
import static io.idempotency.it.ai.ToolClient.assertRejection;
import static io.idempotency.it.ai.ToolClient.call;
import static io.idempotency.it.ai.ToolClient.repeat;
import static io.idempotency.it.ai.ToolClient.text;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Guarded tools, called by a client of the Model Context Protocol over HTTP: what runs
 * once, and what a rejected model is told.
 */
@ExtendWith(OutputCaptureExtension.class)
class McpToolTests {

	private static ConfigurableApplicationContext application;

	private static Bank bank;

	private final List<McpSyncClient> clients = new ArrayList<>();

	private final String key = UUID.randomUUID().toString();

	@BeforeAll
	static void start() {
		application = start("share");
		bank = application.getBean(Bank.class);
	}

	private static ConfigurableApplicationContext start(String anonymous) {
		return new SpringApplicationBuilder(ToolApplication.class).run("--spring.main.web-application-type=servlet",
				"--server.port=0", "--idempotency.store=jdbc", "--spring.datasource.url=jdbc:h2:mem:tools-" + anonymous,
				"--spring.main.banner-mode=off", "--spring.ai.mcp.server.protocol=STREAMABLE",
				"--server.shutdown=immediate", "--idempotency.http.anonymous=" + anonymous);
	}

	@AfterAll
	static void stop() {
		application.close();
	}

	@BeforeEach
	void reset() {
		bank.reset();
	}

	@AfterEach
	void close() {
		RequestContextHolder.resetRequestAttributes();
		this.clients.forEach(McpSyncClient::close);
	}

	@Test
	void guardedToolsAreListed() {
		assertThat(AopUtils.isCglibProxy(application.getBean(BankTools.class))).isTrue();
		assertThat(client("ann").listTools().tools()).extracting(Tool::name)
			.contains("refund", "charge", "send", "close", "ship", "vote", "slow", "payout", "look");
	}

	/** The model sees of a tool what it would see without the guard. */
	@Test
	void guardedToolsAreDescribedAsUnguardedOnes() {
		BankTools unguarded = new BankTools(bank, application.getBeanProvider(Orders.class));
		List<Tool> expected = SyncMcpAnnotationProviders.toolSpecifications(List.of(unguarded))
			.stream()
			.map(McpServerFeatures.SyncToolSpecification::tool)
			.toList();
		List<Tool> listed = client("ann").listTools().tools();
		assertThat(expected).extracting(Tool::name).contains("refund", "charge", "ship");
		assertThat(expected).allSatisfy((tool) -> assertThat(listed).filteredOn((one) -> one.name().equals(tool.name()))
			.singleElement()
			.satisfies((one) -> {
				assertThat(one.description()).isEqualTo(tool.description());
				assertThat(one.inputSchema()).isEqualTo(tool.inputSchema());
				assertThat(one.outputSchema()).isEqualTo(tool.outputSchema());
				assertThat(one.annotations()).isEqualTo(tool.annotations());
			}));
	}

	@Test
	void aRepeatedRequestGetsTheFirstResult() {
		McpSyncClient client = client("ann");
		CallToolResult first = client.callTool(call("refund", Map.of("order", "7", "amount", 100), this.key));
		CallToolResult second = client.callTool(call("refund", Map.of("amount", 100, "order", "7"), this.key));
		assertThat(text(first)).isEqualTo("refund of 100 for 7, number 1");
		assertThat(second.content()).isEqualTo(first.content());
		assertThat(first.meta()).isNull();
		assertThat(second.meta()).containsEntry("io.idempotency/replayed", true);
		assertThat(bank.done()).isEqualTo(1);
	}

	@Test
	void aLostConnectionIsFollowedByTheFirstResultInANewSession() throws Exception {
		int freePort = ToolClient.freePort();
		NioReactor reactor = new NioReactor();
		try (TcpCrusher network = TcpCrusherBuilder.builder()
			.withReactor(reactor)
			.withBindAddress("127.0.0.1", freePort)
			.withConnectAddress("127.0.0.1", port())
			.buildAndOpen()) {
			McpSyncClient client = client("ann", freePort, Duration.ofSeconds(5));
			CompletableFuture<CallToolResult> lost = CompletableFuture
				.supplyAsync(() -> client.callTool(call("slow", Map.of(), this.key)));
			bank.awaitEntered();
			network.close();
			assertThat(lost).failsWithin(PATIENCE);
			bank.open();
		}
		finally {
			reactor.close();
		}
		CallToolResult repeated = repeat(client("ann"), call("slow", Map.of(), this.key));
		assertThat(text(repeated)).isEqualTo("slow, number 1");
		assertThat(bank.done()).isEqualTo(1);
	}

	@Test
	void oneOfTwoAtOnceRunsAndTheOtherIsToldToComeBack() throws Exception {
		CompletableFuture<CallToolResult> first = CompletableFuture
			.supplyAsync(() -> client("ann").callTool(call("slow", Map.of(), this.key)));
		bank.awaitEntered();
		McpSyncClient other = client("ann");
		CallToolResult busy = other.callTool(call("slow", Map.of(), this.key));
		bank.open();
		assertRejection(busy, "in-progress", "same-key");
		assertThat(busy.meta()).extractingByKey("io.idempotency/rejection", InstanceOfAssertFactories.MAP)
			.extractingByKey("retryAfter", InstanceOfAssertFactories.INTEGER)
			.isPositive();
		assertThat(text(busy)).contains("make the same call again").contains("retryAfter=").doesNotContain("BankTools");
		assertThat(text(first.join())).isEqualTo("slow, number 1");
		assertThat(text(repeat(other, call("slow", Map.of(), this.key)))).isEqualTo("slow, number 1");
		assertThat(bank.done()).isEqualTo(1);
	}

	@Test
	void otherArgumentsWithTheSameKeyAreRejected() {
		McpSyncClient client = client("ann");
		client.callTool(call("refund", Map.of("order", "7", "amount", 100), this.key));
		CallToolResult rejected = client.callTool(call("refund", Map.of("order", "7", "amount", 200), this.key));
		assertRejection(rejected, "key-reused", "new-key");
		assertThat(bank.done()).isEqualTo(1);
	}

	@Test
	void aKeyBelongsToItsCallerAndToItsTool() {
		client("ann").callTool(call("refund", Map.of("order", "7", "amount", 100), this.key));
		CallToolResult other = client("bob").callTool(call("refund", Map.of("order", "7", "amount", 100), this.key));
		assertThat(text(other)).isEqualTo("refund of 100 for 7, number 2");
		assertThat(text(client("ann").callTool(call("payout", Map.of("account", "a"), this.key)))).contains("number 3");
	}

	@Test
	void nobodyIsRejectedWhereCallersMustBeKnown() {
		try (ConfigurableApplicationContext rejecting = start("reject")) {
			McpSyncClient nobody = client(null, port(rejecting), PATIENCE);
			CallToolRequest order = new CallToolRequest("order", Map.of("item", "i"),
					Map.of("io.example-order", this.key));
			for (int i = 0; i < 2; i++) {
				assertRejection(nobody.callTool(call("refund", Map.of("order", "7", "amount", 100), this.key)),
						"caller-unknown", "fix-request");
				assertRejection(nobody.callTool(order), "caller-unknown", "fix-request");
			}
			assertThat(rejecting.getBean(Bank.class).done()).isZero();
			nobody.callTool(call("close", Map.of("account", this.key), null));
			assertThat(rejecting.getBean(Bank.class).done()).isEqualTo(1);
			assertThat(text(client("ann", port(rejecting), PATIENCE)
				.callTool(call("refund", Map.of("order", "7", "amount", 100), this.key)))).endsWith("number 2");
		}
	}

	@Test
	void aMissingKeyIsTheFaultOfTheCall() {
		CallToolResult rejected = client("ann").callTool(call("refund", Map.of("order", "7", "amount", 100), null));
		assertRejection(rejected, "key-missing", "fix-request");
		assertThat(text(rejected)).doesNotContain("required").doesNotContain("io.idempotency.it");
		assertThat(bank.done()).isZero();
	}

	@Test
	void aMalformedKeyIsRejected() {
		CallToolRequest request = new CallToolRequest("refund", Map.of("order", "7", "amount", 100),
				Map.of(MEMBER, List.of("a", "b")));
		assertRejection(client("ann").callTool(request), "key-invalid", "new-key");
		assertThat(bank.done()).isZero();
	}

	@Test
	void equalCallsOfOneSessionAreOneCall() {
		McpSyncClient client = client("ann");
		CallToolRequest request = new CallToolRequest("charge", Map.of("card", "c", "amount", 5),
				Map.of("progressToken", "p1"));
		CallToolResult first = client.callTool(request);
		CallToolResult second = client
			.callTool(new CallToolRequest("charge", Map.of("amount", 5, "card", "c"), Map.of("progressToken", "p2")));
		assertThat(first.structuredContent()).isEqualTo(Map.of("card", "c", "amount", 5, "number", 1));
		assertThat(second.structuredContent()).isEqualTo(first.structuredContent());
		client.callTool(call("charge", Map.of("card", "c", "amount", 6), null));
		client("ann").callTool(call("charge", Map.of("card", "c", "amount", 5), null));
		assertThat(bank.done()).isEqualTo(3);
	}

	@Test
	void anArgumentMayHoldTheKey() {
		McpSyncClient client = client("ann");
		Map<String, Object> arguments = Map.of("recipient", "eve", "attempt", this.key);
		assertThat(text(client.callTool(call("send", arguments, null)))).isEqualTo("sent to eve, number 1");
		assertThat(text(client("ann").callTool(call("send", arguments, null)))).isEqualTo("sent to eve, number 1");
		assertRejection(client.callTool(call("send", Map.of("recipient", "mallory", "attempt", this.key), null)),
				"key-reused", "new-key");
		assertRejection(client.callTool(call("send", Map.of("recipient", "eve", "attempt", ""), null)), "key-invalid",
				"new-key");
	}

	@Test
	void anArgumentThatNamesTheThingIsTheSameForAllCallers() {
		Map<String, Object> account = Map.of("account", this.key);
		CallToolResult first = client("ann").callTool(call("close", account, null));
		CallToolResult second = client("bob").callTool(call("close", account, null));
		assertThat(second.content()).isEqualTo(first.content());
		assertThat(bank.done()).isEqualTo(1);
	}

	@Test
	void aResultWithItsContentIsGivenAgain() {
		McpSyncClient client = client("ann");
		CallToolResult first = client.callTool(call("ship", Map.of("parcel", "p"), this.key));
		CallToolResult second = client.callTool(call("ship", Map.of("parcel", "p"), this.key));
		assertThat(text(first)).isEqualTo("shipped p, number 1");
		assertThat(second.content()).isEqualTo(first.content());
		assertThat(second.structuredContent()).isEqualTo(first.structuredContent()).isNotNull();
		assertRejection(client.callTool(call("ship", Map.of("parcel", "q"), this.key)), "key-reused", "new-key");
	}

	@Test
	void aDuplicateIsNotToBeRepeated() {
		McpSyncClient client = client("ann");
		client.callTool(call("vote", Map.of("option", "a"), this.key));
		CallToolResult rejected = client.callTool(call("vote", Map.of("option", "a"), this.key));
		assertRejection(rejected, "duplicate", "never");
		assertThat(rejected.meta()).extractingByKey("io.idempotency/rejection", InstanceOfAssertFactories.MAP)
			.containsEntry("attempts", 2);
		assertThat(text(rejected)).contains("Do not make this call again");
	}

	@Test
	void aFailureLetsTheKeyGo() {
		McpSyncClient client = client("ann");
		assertThat(text(client.callTool(call("fail", Map.of(), this.key)))).startsWith("failed: failure, number 1");
		assertThat(text(client.callTool(call("fail", Map.of(), this.key)))).startsWith("failed: failure, number 2");
	}

	@Test
	void aResultThatIsAnErrorIsAFailure() {
		McpSyncClient client = client("ann");
		assertThat(text(client.callTool(call("decline", Map.of(), this.key)))).isEqualTo("declined, number 1");
		assertThat(text(client.callTool(call("decline", Map.of(), this.key)))).isEqualTo("declined, number 2");
		CallToolResult first = client.callTool(call("declineForGood", Map.of(), this.key));
		CallToolResult second = client.callTool(call("declineForGood", Map.of(), this.key));
		assertThat(text(first)).isEqualTo("declined for good, number 3");
		assertThat(second.content()).isEqualTo(first.content());
		assertThat(second.isError()).isTrue();
	}

	/** Its key is free, so its work must be undone. */
	@Test
	void anErrorOfAToolWhoseRecordJoinsItsWorkRollsBack() {
		McpSyncClient client = client("ann");
		CallToolRequest request = call("debit", Map.of("id", this.key), this.key);
		for (int i = 0; i < 2; i++) {
			CallToolResult result = client.callTool(request);
			assertThat(result.isError()).isTrue();
			assertThat(text(result)).isEqualTo("no mail");
			assertThat(result.meta()).isNull();
			assertThat(application.getBean(JdbcTemplate.class)
				.queryForObject("select count(*) from debits where id = ?", Integer.class, this.key)).isZero();
		}
	}

	@Test
	void aServiceThatAToolCallsReadsTheSameRequest() {
		McpSyncClient client = client("ann");
		CallToolRequest request = new CallToolRequest("order", Map.of("item", "i"),
				Map.of("io.example-order", this.key));
		assertThat(text(client.callTool(request))).isEqualTo("ordered i, number 1");
		CallToolResult second = client.callTool(request);
		assertThat(text(second)).isEqualTo("ordered i, number 1");
		assertThat(second.meta()).isNull();
		CallToolResult rejected = client
			.callTool(new CallToolRequest("order", Map.of("item", "other"), Map.of("io.example-order", this.key)));
		assertRejection(rejected, "key-reused", "new-key");
	}

	@Test
	void whatAToolReadsFromItsRequestIsCompared() {
		McpSyncClient client = client("ann");
		client.callTool(call("pack", Map.of("order", "7", "amount", 100), this.key));
		assertRejection(client.callTool(call("pack", Map.of("order", "7", "amount", 200), this.key)), "key-reused",
				"new-key");
		assertThat(text(client.callTool(call("pack", Map.of("amount", 100, "order", "7"), this.key))))
			.isEqualTo("packed 100 for 7, number 1");
		client.callTool(call("weigh", Map.of("parcel", "a"), null));
		assertThat(text(client.callTool(call("weigh", Map.of("parcel", "b"), null)))).isEqualTo("weighed b, number 3");
		assertThat(text(client.callTool(call("weigh", Map.of("parcel", "a"), null)))).isEqualTo("weighed a, number 2");
	}

	@Test
	void aRejectionInsideOfAToolDoesNotSayThatNothingWasDone() {
		McpSyncClient client = client("ann");
		String other = this.key + "-2";
		client.callTool(new CallToolRequest("orderAndPay", Map.of("item", "i"),
				Map.of("io.example-order", this.key, MEMBER, this.key)));
		CallToolResult inside = client.callTool(new CallToolRequest("orderAndPay", Map.of("item", "j"),
				Map.of("io.example-order", this.key, MEMBER, other)));
		assertRejection(inside, "key-reused", "new-key");
		assertThat(text(inside)).contains("other parts of it may be done").doesNotContain("Nothing was done");
		CallToolResult whole = client.callTool(new CallToolRequest("orderAndPay", Map.of("item", "k"),
				Map.of("io.example-order", this.key, MEMBER, this.key)));
		assertThat(text(whole)).contains("Nothing was done by this call");
	}

	@Test
	void aToolOfAModelIsGuardedOnTheServer() {
		McpSyncClient client = client("ann");
		CallToolResult first = client.callTool(call("payout", Map.of("account", "a"), this.key));
		CallToolResult second = client.callTool(call("payout", Map.of("account", "a"), this.key));
		assertThat(text(first)).contains("paid out to a, number 1");
		assertThat(second.content()).isEqualTo(first.content());
		assertRejection(client.callTool(call("payout", Map.of("account", "b"), this.key)), "key-reused", "new-key");
		assertThat(bank.done()).isEqualTo(1);
	}

	@Test
	void aServerWithoutSessionsGuardsToo() {
		RequestContextHolder.setRequestAttributes(new ServletRequestAttributes(new MockHttpServletRequest()));
		McpStatelessServerFeatures.SyncToolSpecification refund = stateless("refund");
		CallToolRequest request = call("refund", Map.of("order", "7", "amount", 100), this.key);
		CallToolResult first = refund.callHandler().apply(McpTransportContext.EMPTY, request);
		CallToolResult second = refund.callHandler().apply(McpTransportContext.EMPTY, request);
		assertThat(text(first)).isEqualTo("refund of 100 for 7, number 1");
		assertThat(second.content()).isEqualTo(first.content());
		assertThat(second.meta()).containsEntry("io.idempotency/replayed", true);
		assertRejection(
				refund.callHandler()
					.apply(McpTransportContext.EMPTY, call("refund", Map.of("order", "8", "amount", 100), this.key)),
				"key-reused", "new-key");
	}

	@Test
	void aModelInTheSameProcessIsToldToo() throws Exception {
		Map<String, Object> arguments = Map.of("account", this.key);
		CompletableFuture<String> first = CompletableFuture.supplyAsync(() -> inProcess("payoutOnce", arguments));
		bank.awaitEntered();
		String busy = inProcess("payoutOnce", arguments);
		bank.open();
		assertThat(busy).contains("make the same call again")
			.contains("[code=in-progress, retry=same-key, retryAfter=")
			.doesNotContain("PayoutTools");
		assertThat(first.join()).contains("number 1");
		assertThat(inProcess("payoutOnce", arguments)).isEqualTo(first.join());
		assertThat(bank.done()).isEqualTo(1);
	}

	@Test
	void aModelIsToldNothingOfAFaultOfTheGuard(CapturedOutput log) {
		McpSyncClient client = client(" ");
		assertFault(client.callTool(call("refund", Map.of("order", "7", "amount", 100), this.key)),
				"The call could not be guarded. Nothing was done.");
		assertThat(log).contains("A tool call could not be guarded").contains("has no name");
		assertFault(client("ann").callTool(call("payoutByName", Map.of("account", "a"), null)),
				"The call could not be guarded. Nothing was done.");
		assertThat(bank.done()).isZero();
		assertFault(
				client
					.callTool(new CallToolRequest("order", Map.of("item", "i"), Map.of("io.example-order", this.key))),
				"The call could not be guarded. A part of it may be done.");
		assertThat(inProcess("payoutByName", Map.of("account", "a")))
			.isEqualTo("The call could not be guarded. A part of it may be done.");
	}

	@Test
	void aModelIsToldNothingOfWhatAnExpressionThrows(CapturedOutput log) {
		Map<String, Object> account = Map.of("account", "a");
		assertFault(client("ann").callTool(call("payoutWithinLimits", account, null)),
				"The call could not be guarded. Nothing was done.");
		assertThat(inProcess("payoutWithinLimits", account))
			.isEqualTo("The call could not be guarded. A part of it may be done.");
		assertThat(bank.done()).isZero();
		assertThat(log).contains("Table LIMITS of account a").contains("The key expression '@limits.of(#account)' of");
	}

	/** Calls a tool as a chat model would that is in this application. */
	private static String inProcess(String tool, Map<String, Object> arguments) {
		AssistantMessage message = AssistantMessage.builder()
			.content("")
			.toolCalls(List.of(new AssistantMessage.ToolCall("1", "function", tool,
					"{\"account\": \"" + arguments.get("account") + "\"}")))
			.build();
		Prompt prompt = new Prompt("Pay out",
				ToolCallingChatOptions.builder()
					.toolCallbacks(application.getBean(ToolCallbackProvider.class).getToolCallbacks())
					.build());
		List<Message> history = application.getBean(ToolCallingManager.class)
			.executeToolCalls(prompt, new ChatResponse(List.of(new Generation(message))))
			.conversationHistory();
		return ((ToolResponseMessage) history.get(history.size() - 1)).getResponses().get(0).responseData();
	}

	private static McpStatelessServerFeatures.SyncToolSpecification stateless(String name) {
		List<?> tools = application.getBean("statelessTools", List.class);
		return tools.stream()
			.map(McpStatelessServerFeatures.SyncToolSpecification.class::cast)
			.filter((tool) -> tool.tool().name().equals(name))
			.findFirst()
			.orElseThrow();
	}

	private static void assertFault(CallToolResult result, String text) {
		assertThat(result.isError()).isTrue();
		assertThat(text(result)).isEqualTo(text);
	}

	private McpSyncClient client(String user) {
		return client(user, port(), PATIENCE);
	}

	private McpSyncClient client(@Nullable String user, int port, Duration patience) {
		McpSyncClient client = ToolClient.connect(user, port, patience);
		synchronized (this.clients) {
			this.clients.add(client);
		}
		return client;
	}

	private static int port() {
		return port(application);
	}

	private static int port(ConfigurableApplicationContext application) {
		return application.getEnvironment().getRequiredProperty("local.server.port", Integer.class);
	}

}
