package io.idempotency.ai;

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.List;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Stream;

import io.idempotency.FailureMode;
import io.idempotency.IdempotencyCallerUnknownException;
import io.idempotency.IdempotencyContext;
import io.idempotency.IdempotencyException;
import io.idempotency.RememberedFailureException;
import io.idempotency.ai.ToolCall.ToolCallKey;
import io.idempotency.codec.ResultCodec;
import io.idempotency.engine.CallOutcome;
import io.idempotency.interceptor.GuardedMethod.GuardMisconfiguredException;
import io.idempotency.interceptor.IdempotentOperation;
import io.idempotency.interceptor.IdempotentOperation.KeySource;
import io.idempotency.interceptor.InvocationAdapter;
import io.idempotency.interceptor.MethodAdapter;
import io.idempotency.interceptor.OperationCall;
import io.idempotency.interceptor.OperationCall.InvocationListener;
import io.idempotency.interceptor.OperationKeyReader;
import io.idempotency.interceptor.OperationTraits;
import io.idempotency.interceptor.RequestValues;
import io.idempotency.key.Caller;
import io.modelcontextprotocol.server.McpAsyncServer;
import io.modelcontextprotocol.server.McpServerFeatures;
import io.modelcontextprotocol.server.McpStatelessAsyncServer;
import io.modelcontextprotocol.server.McpStatelessServerFeatures;
import io.modelcontextprotocol.server.McpStatelessSyncServer;
import io.modelcontextprotocol.server.McpSyncServer;
import io.modelcontextprotocol.spec.McpSchema.CallToolResult;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.core.Ordered;
import org.springframework.core.ResolvableType;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.core.annotation.MergedAnnotations.SearchStrategy;

/**
 * The adapter of guarded methods inside a tool call of the Model Context Protocol: the
 * methods of the tool, and those that it calls. The method adapter guards the call. This
 * adapter supplies the values of the request and reports a rejection in a form that a
 * model understands. Thread-safe.
 * <p>
 * A client-generated key belongs to the caller of the HTTP request. If a tool runs on
 * another thread than its request, its caller is unknown. Its key then belongs to the
 * session, and is rejected on a server without sessions.
 */
final class ToolAdapter implements InvocationAdapter {

	private static final String MODEL_TOOL = "org.springframework.ai.tool.annotation.Tool";

	/** The annotations of tools, by name, because their package differs by version. */
	private static final Set<String> TOOLS = Set.of("org.springaicommunity.mcp.annotation.McpTool",
			"org.springframework.ai.mcp.annotation.McpTool", MODEL_TOOL);

	private final MethodAdapter methodAdapter;

	private final OperationKeyReader keyReader;

	private final ToolSettings settings;

	private final ResultCodec codec;

	private final Supplier<RequestValues> values;

	private final Function<String, Caller> owner;

	/**
	 * Creates the adapter.
	 * @param methodAdapter guards the calls
	 * @param keyReader checks keys
	 * @param codec encodes arguments that are compared
	 * @param values supplies the values of the HTTP request that the current thread
	 * processes, {@link RequestValues#NONE} outside of a request
	 * @param owner returns the owner of the key of an operation in that request
	 */
	ToolAdapter(MethodAdapter methodAdapter, OperationKeyReader keyReader, ToolSettings settings, ResultCodec codec,
			Supplier<RequestValues> values, Function<String, Caller> owner) {
		this.methodAdapter = methodAdapter;
		this.keyReader = keyReader;
		this.settings = settings;
		this.codec = codec;
		this.values = values;
		this.owner = owner;
	}

	@Override
	public OperationTraits traits(Method method, Class<?> targetClass) {
		// A model in this process sends no request.
		return (this.settings.server() && isTool(method)) ? OperationTraits.of(OperationTraits.Flag.REQUEST)
			.withDefaultKey(new KeySource.Header(this.settings.metaKey())) : OperationTraits.NONE;
	}

	private static boolean isTool(Method method) {
		return MergedAnnotations.from(method, SearchStrategy.TYPE_HIERARCHY)
			.stream()
			.anyMatch((annotation) -> TOOLS.contains(annotation.getType().getName()));
	}

	@Override
	public void check(IdempotentOperation operation) {
		Method method = operation.guarded().method();
		boolean tool = isTool(method);
		if (tool && Modifier.isPublic(method.getModifiers())
				&& !Modifier.isPublic(method.getDeclaringClass().getModifiers())
				&& MergedAnnotations.from(method, SearchStrategy.TYPE_HIERARCHY).isPresent(MODEL_TOOL)) {
			// Spring AI sees that the class of the bean is public, and that is the
			// guard's.
			throw operation.problem("Spring AI cannot call a guarded tool of a class that is not public",
					"Make the class public");
		}
		boolean byCall = operation.key().source() instanceof KeySource.Spel spel
				&& spel.expression().toString().contains('@' + ToolCallKey.BEAN);
		if (byCall && !tool) {
			throw operation.problem("its expression reads sessionAndArguments(), but it is not a tool",
					"Use an expression over the arguments");
		}
		if (byCall && this.settings.stateless()) {
			throw operation.problem("its expression reads sessionAndArguments(), but the server has no sessions",
					"Set spring.ai.mcp.server.protocol to STREAMABLE, or use a key from an argument or from _meta");
		}
		if (tool && this.settings.async() && (byCall || !(operation.key().source() instanceof KeySource.Spel))) {
			throw operation.problem(
					"its key is in the request of the tool call, which a server of type ASYNC does not provide to "
							+ "the tool",
					"Set spring.ai.mcp.server.type to SYNC, or set key to an expression over the arguments");
		}
	}

	@Override
	public boolean supports(OperationCall call) {
		return ToolCall.current() != null || this.settings.async() && isTool(call.operation().guarded().method());
	}

	@Override
	public @Nullable Object invoke(OperationCall call) throws Throwable {
		ToolCall tool = ToolCall.current();
		if (tool == null) {
			return invokeUnseen(call);
		}
		call.watch(new ErrorResults(call));
		try {
			RequestValues values = new ToolValues(tool, call, this.values);
			Object result = this.methodAdapter.invoke(call, values, () -> caller(call.operation(), tool),
					() -> this.keyReader.parts(call, values), () -> tool.fingerprint(this.codec));
			if (!call.hasRun() && isTool(call.operation().guarded().method())) {
				tool.replayed();
			}
			return result;
		}
		catch (RolledBack ex) {
			return ex.result;
		}
		catch (RuntimeException ex) {
			if (isRejection(ex, call)) {
				tool.rejected(ex, !call.hasRun() && isTool(call.operation().guarded().method()));
			}
			throw ex;
		}
	}

	/** On a server of type ASYNC, the model receives the message of an exception. */
	private @Nullable Object invokeUnseen(OperationCall call) throws Throwable {
		try {
			return this.methodAdapter.invoke(call);
		}
		catch (RuntimeException ex) {
			throw isRejection(ex, call) ? new ReportedRejection(ToolRejection.of(ex, !call.hasRun()), ex) : ex;
		}
	}

	/**
	 * Returns whether an exception is not a failure of the method. The model must not see
	 * such an exception, regardless of the code that threw it before the method ran.
	 */
	private static boolean isRejection(RuntimeException thrown, OperationCall call) {
		return thrown instanceof IdempotencyException || thrown instanceof GuardMisconfiguredException
				|| !call.hasRun() && !(thrown instanceof RememberedFailureException);
	}

	private Caller caller(IdempotentOperation operation, ToolCall tool) {
		if (!operation.key().isOfCaller()) {
			return Caller.GLOBAL;
		}
		if (this.values.get() != RequestValues.NONE) {
			return this.owner.apply(operation.name());
		}
		if (this.settings.global()) {
			return Caller.GLOBAL;
		}
		if (tool.session() != null) {
			return Caller.scope("MCP:" + tool.session());
		}
		// Anonymous callers would share their keys, and these may well be logged in.
		throw new IdempotencyCallerUnknownException(operation.name(),
				"The key of '" + operation.describe()
						+ "' belongs to its caller, but the tool runs without an HTTP request or a session, so the "
						+ "caller is unknown. Set scope on the annotation, or set idempotency.scope=global "
						+ "if all callers may share their keys");
	}

	/** Runs before the method adapter, which accepts every call. */
	@Override
	public int getOrder() {
		return Ordered.LOWEST_PRECEDENCE - 1;
	}

	/** A rejection whose message a model may see. */
	private static final class ReportedRejection extends RuntimeException {

		private static final long serialVersionUID = 1L;

		ReportedRejection(ToolRejection rejection, RuntimeException cause) {
			super(rejection.text(), cause);
		}

	}

	/** Carries a result that is an error through the transaction of the work. */
	private static final class RolledBack extends RuntimeException {

		private static final long serialVersionUID = 1L;

		private final transient CallToolResult result;

		RolledBack(CallToolResult result) {
			super("The result of the tool is an error", null, false, false);
			this.result = result;
		}

	}

	/**
	 * Reports the failure of a tool.
	 *
	 * @hidden
	 */
	private static final class ErrorResults implements InvocationListener {

		private final OperationCall call;

		private boolean rolledBack;

		ErrorResults(OperationCall call) {
			this.call = call;
		}

		/**
		 * Releases the key of a result that is an error, as after an exception: a model
		 * that calls again expects another attempt. With {@code JOIN}, the work is rolled
		 * back as well.
		 */
		@Override
		public @Nullable Object run(Run method) throws Throwable {
			Object result = method.proceed();
			if (!(result instanceof CallToolResult answer) || !Boolean.TRUE.equals(answer.isError())
					|| this.call.operation().options().onFailure() == FailureMode.REMEMBER) {
				return result;
			}
			if (this.call.operation().place().transactions() != null) {
				this.rolledBack = true;
				throw new RolledBack(answer);
			}
			IdempotencyContext.current().ifPresent(IdempotencyContext::releaseKey);
			return result;
		}

		@Override
		public CallOutcome returned(CallOutcome ending) {
			return ending;
		}

		@Override
		public boolean isGivenBack() {
			return this.rolledBack;
		}

	}

	/**
	 * The settings of tools.
	 *
	 * @param metaKey the property of a request's {@code _meta} that contains the key of a
	 * tool whose annotation does not configure a position
	 * @param server whether the application has a server, whose requests have keys
	 * @param global whether a key is the same for all callers
	 * @param async whether the server runs tools on other threads than their requests
	 * @param stateless whether the server has no sessions
	 */
	record ToolSettings(String metaKey, boolean server, boolean global, boolean async, boolean stateless) {

		/**
		 * Returns whether an application has a server. The SDK alone is not sufficient,
		 * because it is also on the class path of every client.
		 * @param beans the beans of the application, none of which is created
		 * @return whether the beans include a server or a server tool
		 */
		static boolean hasServer(ListableBeanFactory beans) {
			Stream<Class<?>> servers = Stream.of(McpSyncServer.class, McpAsyncServer.class,
					McpStatelessSyncServer.class, McpStatelessAsyncServer.class);
			Stream<Class<?>> tools = Stream.of(McpServerFeatures.SyncToolSpecification.class,
					McpStatelessServerFeatures.SyncToolSpecification.class);
			return Stream
				.concat(servers.map(ResolvableType::forClass),
						tools.flatMap((tool) -> Stream.of(ResolvableType.forClass(tool),
								ResolvableType.forClassWithGenerics(List.class, tool))))
				.anyMatch((type) -> BeanFactoryUtils.beanNamesForTypeIncludingAncestors(beans, type, true,
						false).length > 0);
		}

	}

}
