package io.idempotency.graphql;

import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

import graphql.execution.DataFetcherResult;
import graphql.execution.instrumentation.ChainedInstrumentation;
import graphql.execution.instrumentation.Instrumentation;
import graphql.schema.DataFetchingEnvironment;
import io.idempotency.NotIdempotent;
import io.idempotency.FailureMode;
import io.idempotency.IdempotencyConfigurationException;
import io.idempotency.IdempotencyKeyInvalidException;
import io.idempotency.RememberedFailureException;
import io.idempotency.interceptor.GuardedMethod.GuardMisconfiguredException;
import io.idempotency.interceptor.GuardedMethod;
import io.idempotency.interceptor.IdempotentOperation;
import io.idempotency.interceptor.IdempotentOperation.FingerprintSource;
import io.idempotency.interceptor.IdempotentOperation.KeySource;
import io.idempotency.interceptor.MethodAdapter;
import io.idempotency.interceptor.OperationCall;
import io.idempotency.interceptor.InvocationAdapter;
import io.idempotency.interceptor.OperationKeyReader;
import io.idempotency.interceptor.OperationTraits;
import io.idempotency.interceptor.OperationTraits.Flag;
import io.idempotency.key.Caller;
import io.idempotency.key.Fingerprint;
import io.idempotency.codec.ResultCodec;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.core.MethodClassKey;
import org.springframework.core.Ordered;
import org.springframework.core.ResolvableType;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.core.annotation.MergedAnnotation;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.core.annotation.MergedAnnotations.SearchStrategy;
import org.springframework.graphql.data.ArgumentValue;
import org.springframework.graphql.data.method.annotation.BatchMapping;
import org.springframework.graphql.data.method.annotation.GraphQlExceptionHandler;
import org.springframework.graphql.data.method.annotation.SchemaMapping;
import org.springframework.graphql.execution.DataFetcherExceptionResolver;
import org.springframework.graphql.execution.GraphQlSource;
import org.springframework.stereotype.Controller;
import org.springframework.util.ReflectionUtils;

/**
 * The adapter of controller methods that fetch a field of a GraphQL document. The method
 * adapter guards the call; this adapter supplies the key, the caller and the arguments of
 * the field. Thread-safe.
 * <p>
 * A key in a header applies to the whole document. So the position of the field in the
 * document is part of the key, and each field is a separate operation. A key in a
 * directive of the field or in its arguments belongs to the field alone.
 */
final class GraphQlAdapter implements InvocationAdapter, SmartInitializingSingleton {

	private static final Logger logger = LoggerFactory.getLogger(GraphQlAdapter.class);

	/** Their JSON does not show their values. */
	private static final Set<Class<?>> NOT_COMPARED = Set.of(ArgumentValue.class, DataFetchingEnvironment.class);

	private static final Set<String> ROOT_TYPES = Set.of("Query", "Mutation", "Subscription");

	private final MethodAdapter methodAdapter;

	private final OperationKeyReader keyReader;

	private final ResultCodec codec;

	private final String keyHeader;

	private final ObjectProvider<GraphQlSource> sources;

	private final ObjectProvider<DataFetcherExceptionResolver> resolvers;

	private final Map<MethodClassKey, String> fields = new ConcurrentHashMap<>();

	private final Set<MethodClassKey> checked = ConcurrentHashMap.newKeySet();

	/** Methods of annotated classes for fields of types other than the root types. */
	private final Set<MethodClassKey> leftOut = ConcurrentHashMap.newKeySet();

	/**
	 * Creates the adapter.
	 * @param methodAdapter guards the calls
	 * @param keyReader checks keys
	 * @param codec encodes arguments that are compared
	 * @param keyHeader the default header of keys
	 * @param sources execute the documents; used at the end of startup
	 * @param resolvers convert the failures of fields to errors
	 */
	GraphQlAdapter(MethodAdapter methodAdapter, OperationKeyReader keyReader, ResultCodec codec, String keyHeader,
			ObjectProvider<GraphQlSource> sources, ObjectProvider<DataFetcherExceptionResolver> resolvers) {
		this.methodAdapter = methodAdapter;
		this.keyReader = keyReader;
		this.codec = codec;
		this.keyHeader = keyHeader;
		this.sources = sources;
		this.resolvers = resolvers;
	}

	@Override
	public OperationTraits traits(Method method, Class<?> targetClass) {
		if (!isField(method, targetClass)) {
			return OperationTraits.NONE;
		}
		String type = type(method, targetClass);
		if (!ROOT_TYPES.contains(type)
				&& !MergedAnnotations.from(method, SearchStrategy.TYPE_HIERARCHY).isPresent(NotIdempotent.class)) {
			this.leftOut.add(new MethodClassKey(method, targetClass));
		}
		// The annotation of a class guards its mutations.
		OperationTraits traits = type.equals("Mutation") ? OperationTraits.of(Flag.REQUEST)
				: OperationTraits.of(Flag.REQUEST, Flag.EXEMPT_FROM_CLASS);
		return traits.withDefaultKey(new KeySource.Header(this.keyHeader));
	}

	private static boolean isField(Method method, Class<?> targetClass) {
		return AnnotatedElementUtils.hasAnnotation(targetClass, Controller.class) && mapping(method).isPresent();
	}

	/** Returns the type that an annotation names, or an empty string. */
	private static String type(Method method, Class<?> targetClass) {
		String type = mapping(method).getString("typeName");
		return !type.isEmpty() ? type
				: MergedAnnotations.from(targetClass, SearchStrategy.TYPE_HIERARCHY)
					.get(SchemaMapping.class)
					.getValue("typeName", String.class)
					.orElse("");
	}

	private static MergedAnnotation<SchemaMapping> mapping(Method method) {
		return MergedAnnotations.from(method, SearchStrategy.TYPE_HIERARCHY).get(SchemaMapping.class);
	}

	@Override
	public void check(IdempotentOperation operation) {
		GuardedMethod guarded = operation.guarded();
		checkKind(operation, guarded.method());
		if (isField(guarded.method(), guarded.targetClass())) {
			this.checked.add(new MethodClassKey(guarded.method(), guarded.targetClass()));
			if (operation.options().onFailure() == FailureMode.REMEMBER && forgetsFailures(guarded.targetClass())) {
				throw operation.problem(
						"its failure is remembered, but a @GraphQlExceptionHandler of its controller would handle "
								+ "only the first one",
						"Move the exception handlers to a @ControllerAdvice, or add a handler for "
								+ "RememberedFailureException to the controller");
			}
		}
	}

	private static void checkKind(IdempotentOperation operation, Method method) {
		MergedAnnotation<SchemaMapping> mapping = mapping(method);
		if (mapping.isPresent() && mapping.getString("typeName").equals("Subscription")) {
			throw operation.problem("it is a GraphQL subscription, whose results are a stream that cannot be replayed",
					"Put the annotation on the mutations, which have one result");
		}
		if (MergedAnnotations.from(method, SearchStrategy.TYPE_HIERARCHY).isPresent(BatchMapping.class)) {
			throw operation.problem("it loads a batch for several GraphQL fields, but a key is for one call",
					"Put the annotation on the mutation that needs the batch, or on the bean method that does the work");
		}
		if (mapping.isPresent() && operation.options().keepResult()
				&& ResolvableType.forType(operation.result().type()).resolve() == DataFetcherResult.class) {
			throw operation.problem(
					"its result cannot be stored, because a DataFetcherResult may contain errors and a context",
					"Return the value, or set keepResult = false or mode = IdempotencyMode.REJECT");
		}
		if (operation.fingerprint() instanceof FingerprintSource.Arguments source && source.arguments()
			.types()
			.stream()
			.anyMatch((type) -> NOT_COMPARED.contains(ResolvableType.forType(type).resolve()))) {
			throw operation.problem(
					"its arguments are compared, but an ArgumentValue and a DataFetchingEnvironment cannot be",
					"Set fingerprint to the values that must be equal on a retry");
		}
	}

	/**
	 * Exception handlers of the controller come first, and their results are not visible
	 * to others.
	 */
	private static boolean forgetsFailures(Class<?> controller) {
		List<Class<?>> handled = new ArrayList<>();
		for (Method method : ReflectionUtils.getUniqueDeclaredMethods(controller)) {
			GraphQlExceptionHandler handler = AnnotatedElementUtils.findMergedAnnotation(method,
					GraphQlExceptionHandler.class);
			if (handler != null) {
				handled.addAll(List.of(handler.value()));
				handled.addAll(List.of(method.getParameterTypes()));
			}
		}
		return !handled.isEmpty() && handled.stream().noneMatch(RememberedFailureException.class::equals);
	}

	@Override
	public void afterSingletonsInstantiated() {
		this.leftOut.removeAll(this.checked);
		if (!this.leftOut.isEmpty()) {
			throw new IdempotencyConfigurationException(
					"@Idempotent on a class guards the fields of the type Mutation, but the class also fetches other "
							+ "fields, which may be mutations of a namespace: " + this.leftOut,
					"Put @Idempotent on each method that changes something, and not on the class");
		}
		if (!this.checked.isEmpty()) {
			if (!this.sources.stream().allMatch((source) -> tellsFields(source.graphQl().getInstrumentation()))) {
				throw new IdempotencyConfigurationException(
						"A GraphQlSource does not provide the current field, so two equal mutations in a document "
								+ "would count as one call",
						"Customize Spring Boot's GraphQlSource (GraphQlSourceBuilderCustomizer), or pass all "
								+ "Instrumentation beans to instrumentation(...) of its builder");
			}
			logger.info("GraphQL: {} field(s) are guarded individually. A GraphQL request as a whole is not guarded",
					this.checked.size());
		}
	}

	private static boolean tellsFields(Instrumentation instrumentation) {
		return instrumentation instanceof CurrentField || instrumentation instanceof ChainedInstrumentation chain
				&& chain.getInstrumentations().stream().anyMatch(GraphQlAdapter::tellsFields);
	}

	@Override
	public boolean supports(OperationCall call) {
		DataFetchingEnvironment environment = CurrentField.get();
		// Code of a field may call the method of another one.
		return environment != null && environment.getFieldDefinition().getName().equals(fieldOf(call.operation()));
	}

	/** Returns the name of the field, empty for a method that does not fetch a field. */
	private String fieldOf(IdempotentOperation operation) {
		GuardedMethod guarded = operation.guarded();
		return this.fields.computeIfAbsent(new MethodClassKey(guarded.method(), guarded.targetClass()), (key) -> {
			if (!isField(guarded.method(), guarded.targetClass())) {
				return "";
			}
			String name = mapping(guarded.method()).getString("field");
			return name.isEmpty() ? guarded.method().getName() : name;
		});
	}

	@Override
	public @Nullable Object invoke(OperationCall call) throws Throwable {
		IdempotentOperation operation = call.operation();
		DataFetchingEnvironment field = CurrentField.require();
		FieldValues values = new FieldValues(field);
		if (operation.options().onFailure() == FailureMode.REMEMBER) {
			call.watch(new FieldFailureRecorder(field, this.codec, this.resolvers.orderedStream().toList()));
		}
		// Calls that the method makes are not fetches of this field.
		return CurrentField.call(null,
				() -> this.methodAdapter.invoke(call, values,
						() -> operation.key().isOfClient() ? values.caller(operation) : Caller.GLOBAL,
						() -> parts(call, values), () -> fingerprint(operation, values)));
	}

	private List<String> parts(OperationCall call, FieldValues values) {
		IdempotentOperation operation = call.operation();
		if (operation.key().source() instanceof KeySource.Body body) {
			String place = body.pointer();
			return parts(this.keyReader.fromClient(operation, "at '" + place + "' of the arguments",
					() -> values.body(place)));
		}
		if (!(operation.key().source() instanceof KeySource.Header)) {
			return this.keyReader.parts(call, values);
		}
		List<Object> directives = values.keysOfDirective();
		if (directives.size() > 1) {
			throw new IdempotencyKeyInvalidException(operation.name(),
					"The field was sent with " + directives.size() + " keys in its directives. Send one");
		}
		if (!directives.isEmpty()) {
			return parts(this.keyReader.fromClient(operation, "in the directive", () -> directives.get(0)));
		}
		List<String> header = this.keyReader.parts(call, values);
		return (header.isEmpty() || operation.key().token()) ? header : List.of(header.get(0), values.path());
	}

	private static List<String> parts(@Nullable String key) {
		return (key != null) ? List.of(key) : List.of();
	}

	private Fingerprint fingerprint(IdempotentOperation operation, FieldValues values) {
		// A token is for one call; in a header, it would do for each field with these
		// arguments.
		boolean byPath = operation.key().token() && operation.key().source() instanceof KeySource.Header
				&& values.keysOfDirective().isEmpty();
		try {
			return values.fingerprint(this.codec, byPath);
		}
		catch (RuntimeException ex) {
			// After any exception of the codec, the arguments cannot be compared.
			throw new GuardMisconfiguredException("The arguments of '" + operation.describe() + "' cannot be compared: "
					+ ex.getMessage() + ". Set fingerprint to the values that must be equal on a retry, or set "
					+ "fingerprint = \"none\" to compare nothing", ex);
		}
	}

	/** Runs before the method adapter, which accepts every call. */
	@Override
	public int getOrder() {
		return Ordered.LOWEST_PRECEDENCE - 2;
	}

}
