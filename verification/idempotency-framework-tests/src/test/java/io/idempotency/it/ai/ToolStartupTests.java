package io.idempotency.it.ai;

import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;

import io.idempotency.IdempotencyCallerUnknownException;
import io.idempotency.IdempotencyConfigurationException;
import io.idempotency.IdempotencyMode;
import io.idempotency.Idempotent;
import io.idempotency.ai.IdempotencyAiAutoConfiguration;
import io.idempotency.autoconfigure.IdempotencyAutoConfiguration;
import io.modelcontextprotocol.common.McpTransportContext;
import io.modelcontextprotocol.server.McpAsyncServerExchange;
import io.modelcontextprotocol.server.McpServerFeatures;
import io.modelcontextprotocol.server.McpStatelessServerFeatures;
import io.modelcontextprotocol.server.McpSyncServer;
import io.modelcontextprotocol.server.McpSyncServerExchange;
import io.modelcontextprotocol.spec.McpSchema.CallToolRequest;
import io.modelcontextprotocol.spec.McpSchema.CallToolResult;
import io.modelcontextprotocol.spec.McpSchema.TextContent;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.mockito.Mockito;
import reactor.core.publisher.Mono;

import org.springframework.ai.mcp.McpToolUtils;
import org.springframework.ai.tool.ToolCallback;
import org.springframework.ai.tool.annotation.Tool;
import org.springframework.ai.tool.method.MethodToolCallbackProvider;
import org.springframework.boot.LazyInitializationBeanFactoryPostProcessor;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

import static org.assertj.core.api.Assertions.assertThat;

/** What the start-up says about guarded tools, and what it leaves alone. */
class ToolStartupTests {

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(
				AutoConfigurations.of(IdempotencyAutoConfiguration.class, IdempotencyAiAutoConfiguration.class))
		.withPropertyValues("idempotency.store=memory");

	@Test
	void aToolWhoseWorkGoesOnIsRejected() {
		assertRejected(onServer().withBean(Later.class), "its work continues after the method returns");
	}

	@Test
	void aToolOfAHiddenClassIsRejected() {
		assertRejected(onServer().withBean(Hidden.class), "of a class that is not public");
	}

	@Test
	void theSessionIsForTools() {
		assertRejected(this.runner.withBean(NoTool.class), "it is not a tool");
	}

	@Test
	void aServerWithoutSessionsCannotTellThem() {
		assertRejected(
				this.runner.withBean(Session.class).withPropertyValues("spring.ai.mcp.server.protocol=STATELESS"),
				"the server has no sessions");
	}

	@ParameterizedTest
	@ValueSource(classes = { Meta.class, Session.class })
	void aServerOfTheOtherTypeDoesNotShowTheRequest(Class<?> tools) {
		assertRejected(onServer().withBean(tools).withPropertyValues("spring.ai.mcp.server.type=ASYNC"),
				"a server of type ASYNC");
	}

	@Test
	void aKeyFromAnArgumentNeedsNoRequest() {
		this.runner.withBean(Argument.class)
			.withPropertyValues("spring.ai.mcp.server.type=ASYNC")
			.run((context) -> assertThat(context).hasNotFailed());
	}

	@Test
	void aModelOfAServerOfTheOtherTypeIsToldWhyInPlainWords() {
		this.runner.withBean(Vote.class).withPropertyValues("spring.ai.mcp.server.type=ASYNC").run((context) -> {
			Vote vote = context.getBean(Vote.class);
			McpServerFeatures.AsyncToolSpecification tool = McpToolUtils.toAsyncToolSpecification(
					MethodToolCallbackProvider.builder().toolObjects(vote).build().getToolCallbacks()[0]);
			CallToolRequest request = new CallToolRequest("run", Map.of("thing", "t"));
			McpAsyncServerExchange exchange = Mockito.mock();
			tool.callHandler().apply(exchange, request).block();
			CallToolResult rejected = tool.callHandler().apply(exchange, request).block();
			assertThat(rejected).isNotNull();
			assertThat(rejected.isError()).isTrue();
			assertThat(rejected.content().toString()).contains("Do not make this call again")
				.contains("code=duplicate, retry=never")
				.doesNotContain("Vote");
			CallToolResult unguarded = tool.callHandler()
				.apply(exchange, new CallToolRequest("run", Map.of("thing", "throw")))
				.block();
			assertThat(unguarded).isNotNull();
			assertThat(unguarded.content().toString()).contains("could not be guarded").doesNotContain("Table");
		});
	}

	@Test
	void theMemberOfTheKeyCanBeNamed() {
		withTool().withPropertyValues("idempotency.ai.meta-key=com.example/attempt", "idempotency.scope=global")
			.run((context) -> {
				McpStatelessServerFeatures.SyncToolSpecification tool = context
					.getBean(McpStatelessServerFeatures.SyncToolSpecification.class);
				assertThat(call(tool, Map.of("com.example/attempt", "k")).isError()).isFalse();
				assertThat(call(tool, Map.of("com.example/attempt", "k")).meta())
					.containsEntry("io.idempotency/replayed", true);
				assertThat(call(tool, Map.of("io.modelcontextprotocol/idempotencyKey", "k")).isError()).isTrue();
				assertThat(context.getBean(Meta.class).calls()).isEqualTo(1);
			});
	}

	@Test
	void aCallIsRejectedWhereNeitherACallerNorASessionIsKnown() {
		withTool().run((context) -> {
			CallToolResult rejected = call(context.getBean(McpStatelessServerFeatures.SyncToolSpecification.class),
					Map.of("io.modelcontextprotocol/idempotencyKey", "k"));
			assertThat(rejected.meta().toString()).contains("code=caller-unknown").contains("retry=fix-request");
			assertThat(context.getBean(Meta.class).calls()).isZero();
		});
	}

	@Test
	void theRejectionOfAnUnknownCallerSaysWhatToDo() {
		this.runner.withBean(Meta.class).withUserConfiguration(ToolThatHandlesRejections.class).run((context) -> {
			CallToolResult answer = call(context.getBean(McpStatelessServerFeatures.SyncToolSpecification.class),
					Map.of("io.modelcontextprotocol/idempotencyKey", "k"));
			assertThat(answer.content().toString()).contains("without an HTTP request or a session")
				.contains("Set scope on the annotation, or set idempotency.scope=global")
				.doesNotContain("idempotency.http.anonymous");
		});
	}

	@Test
	void aKeyBelongsToTheSessionWhereNobodyKnowsTheCaller() {
		withTool().run((context) -> {
			assertThat(text(context, "one")).isEqualTo("\"t1\"");
			assertThat(text(context, "other")).isEqualTo("\"t2\"");
			assertThat(text(context, "one")).isEqualTo("\"t1\"");
		});
		withTool().withPropertyValues("idempotency.scope=global").run((context) -> {
			assertThat(text(context, "one")).isEqualTo("\"t1\"");
			assertThat(text(context, "other")).isEqualTo("\"t1\"");
		});
	}

	@Test
	void anApplicationWithoutAgentsIsNotAffected() {
		this.runner.withClassLoader(new FilteredClassLoader("io.modelcontextprotocol", "org.springframework.ai"))
			.withBean(Plain.class)
			.run((context) -> {
				assertThat(context).doesNotHaveBean("idempotencyToolAdapter")
					.doesNotHaveBean("idempotencyToolCallPostProcessor")
					.doesNotHaveBean("idempotencyToolErrorPostProcessor");
				assertThat(context.getBean(Plain.class).once("a")).isEqualTo(context.getBean(Plain.class).once("a"));
			});
	}

	@Test
	void anOlderServerWithoutStatelessToolsIsNotAffected() {
		this.runner
			.withClassLoader(new FilteredClassLoader(
					(name) -> name.startsWith("io.modelcontextprotocol.server.McpStatelessServerFeatures")))
			.withBean(Plain.class)
			.run((context) -> assertThat(context).hasNotFailed()
				.doesNotHaveBean("idempotencyToolAdapter")
				.doesNotHaveBean("idempotencyToolCallPostProcessor"));
	}

	@Test
	void aModelWithoutAServerNeedsNoAdapter() {
		this.runner.withClassLoader(new FilteredClassLoader("io.modelcontextprotocol"))
			.withBean(Argument.class)
			.run((context) -> {
				assertThat(context).doesNotHaveBean("idempotencyToolAdapter")
					.hasBean("idempotencyToolErrorPostProcessor");
				assertThat(context.getBean(Argument.class).run("a")).isEqualTo("a");
			});
	}

	@ParameterizedTest
	@ValueSource(classes = { Meta.class, Member.class, Attempt.class })
	void aToolOnAServerInWebFluxHasItsRequest(Class<?> tools) {
		onServer().withBean("webHandler", Object.class)
			.withBean(tools)
			.run((context) -> assertThat(context).hasNotFailed());
	}

	@Test
	void aModelBesideAClientOfServersHasNoPlaceForKeys() {
		assertRejected(this.runner.withBean(Meta.class), "it has no key source");
		this.runner.withBean(Argument.class).run((context) -> assertThat(context).hasNotFailed());
	}

	@Test
	void aListOfToolsIsAServer() {
		this.runner.withBean(Meta.class)
			.withUserConfiguration(ListOfTools.class)
			.run((context) -> assertThat(context).hasNotFailed());
	}

	@Test
	void nothingIsGuardedWhereTheLibraryIsOff() {
		this.runner.withPropertyValues("idempotency.enabled=false")
			.run((context) -> assertThat(context).doesNotHaveBean("idempotencyToolAdapter")
				.doesNotHaveBean("idempotencyToolCallPostProcessor"));
	}

	@ParameterizedTest
	@ValueSource(classes = { Argument.class, BankTools.class })
	void failsAndNamesTheArtifactWhenTheModuleIsMissing(Class<?> tools) {
		new ApplicationContextRunner().withConfiguration(AutoConfigurations.of(IdempotencyAutoConfiguration.class))
			.withPropertyValues("idempotency.store=memory")
			.withClassLoader(new FilteredClassLoader("io.idempotency.ai"))
			// A proxy of a hidden class cannot be made for another class loader.
			.withInitializer(
					(context) -> context.addBeanFactoryPostProcessor(new LazyInitializationBeanFactoryPostProcessor()))
			.withBean(tools)
			.run((context) -> assertThat(context).getFailure()
				.isInstanceOfSatisfying(IdempotencyConfigurationException.class,
						(failure) -> assertThat(failure.action())
							.isEqualTo("Add the dependency io.idempotency:idempotency-ai")));
	}

	private ApplicationContextRunner onServer() {
		return this.runner.withBean(McpSyncServer.class, () -> Mockito.mock());
	}

	private ApplicationContextRunner withTool() {
		return this.runner.withBean(Meta.class).withUserConfiguration(ToolOfMeta.class);
	}

	private static CallToolResult call(McpStatelessServerFeatures.SyncToolSpecification tool,
			Map<String, Object> meta) {
		return tool.callHandler()
			.apply(McpTransportContext.EMPTY, new CallToolRequest("run", Map.of("thing", "t"), meta));
	}

	/** Calls the tool in a session whose requests are handled by other threads. */
	private static String text(ApplicationContext context, String session) {
		McpSyncServerExchange exchange = Mockito.mock();
		Mockito.when(exchange.sessionId()).thenReturn(session);
		CallToolResult result = context.getBean(McpServerFeatures.SyncToolSpecification.class)
			.callHandler()
			.apply(exchange, new CallToolRequest("run", Map.of("thing", "t"),
					Map.of("io.modelcontextprotocol/idempotencyKey", "k")));
		return ((TextContent) result.content().get(0)).text();
	}

	private static void assertRejected(ApplicationContextRunner runner, String problem) {
		runner.run((context) -> assertThat(context).getFailure().hasMessageContaining(problem));
	}

	@Configuration(proxyBeanMethods = false)
	static class ToolOfMeta {

		@Bean
		McpStatelessServerFeatures.SyncToolSpecification tool(Meta meta) {
			return specification(meta);
		}

		@Bean
		McpServerFeatures.SyncToolSpecification toolOfSessions(Meta meta) {
			return McpToolUtils.toSyncToolSpecification(callback(meta));
		}

		static McpStatelessServerFeatures.SyncToolSpecification specification(Meta meta) {
			return McpToolUtils.toStatelessSyncToolSpecification(callback(meta), null);
		}

		private static ToolCallback callback(Meta meta) {
			return MethodToolCallbackProvider.builder().toolObjects(meta).build().getToolCallbacks()[0];
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class ListOfTools {

		@Bean
		List<McpServerFeatures.SyncToolSpecification> tools(Meta meta) {
			return List.of(McpToolUtils.toSyncToolSpecification(ToolOfMeta.callback(meta)));
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class ToolThatHandlesRejections {

		@Bean
		McpStatelessServerFeatures.SyncToolSpecification tool(Meta meta) {
			return McpStatelessServerFeatures.SyncToolSpecification.builder()
				.tool(ToolOfMeta.specification(meta).tool())
				.callHandler((context, request) -> answer(meta))
				.build();
		}

		private static CallToolResult answer(Meta meta) {
			try {
				return CallToolResult.builder().addTextContent(meta.run("t")).build();
			}
			catch (IdempotencyCallerUnknownException ex) {
				return CallToolResult.builder().addTextContent(String.valueOf(ex.getMessage())).build();
			}
		}

	}

	public static class Meta {

		private final AtomicInteger calls = new AtomicInteger();

		@Tool
		@Idempotent
		public String run(String thing) {
			return thing + this.calls.incrementAndGet();
		}

		public int calls() {
			return this.calls.get();
		}

	}

	public static class Session {

		@Tool
		@Idempotent(key = "@idempotencyToolCall.sessionAndArguments()")
		public String run(String thing) {
			return thing;
		}

	}

	public static class Argument {

		@Tool
		@Idempotent(key = "#thing")
		public String run(String thing) {
			return thing;
		}

	}

	public static class Vote {

		@Tool
		@Idempotent(key = "target.key(#thing)", mode = IdempotencyMode.REJECT)
		public String run(String thing) {
			return thing;
		}

		public String key(String thing) {
			if (thing.equals("throw")) {
				throw new IllegalStateException("Table VOTES");
			}
			return thing;
		}

	}

	public static class Member {

		@Tool
		@Idempotent(header = "attempt")
		public String run(String thing) {
			return thing;
		}

	}

	public static class Attempt {

		@Tool
		@Idempotent(body = "/attempt")
		public String run(String thing, String attempt) {
			return thing;
		}

	}

	public static class Later {

		@Tool
		@Idempotent
		public Mono<String> run(String thing) {
			return Mono.just(thing);
		}

	}

	static class Hidden {

		@Tool
		@Idempotent
		public String run(String thing) {
			return thing;
		}

	}

	static class NoTool {

		@Idempotent(key = "@idempotencyToolCall.sessionAndArguments()")
		public String run(String thing) {
			return thing;
		}

	}

	public static class Plain {

		private final AtomicInteger calls = new AtomicInteger();

		@Idempotent(key = "#thing")
		public String once(String thing) {
			return thing + this.calls.incrementAndGet();
		}

	}

}
