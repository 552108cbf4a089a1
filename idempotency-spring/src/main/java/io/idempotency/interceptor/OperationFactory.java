package io.idempotency.interceptor;

import java.lang.reflect.Method;
import java.time.Duration;
import java.time.format.DateTimeParseException;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import io.idempotency.ConflictMode;
import io.idempotency.IdempotencyMode;
import io.idempotency.IdempotencyOptions;
import io.idempotency.IdempotencyOptions.Attributes;
import io.idempotency.Idempotent;
import io.idempotency.TransactionMode;
import io.idempotency.codec.ResultCodec;
import io.idempotency.codec.json.ResultRoundTripCheck;
import io.idempotency.engine.GuardedAction.SurroundingTransaction;
import io.idempotency.engine.WorkTransactions;
import io.idempotency.interceptor.IdempotentOperation.FingerprintSource;
import io.idempotency.interceptor.IdempotentOperation.Key;
import io.idempotency.interceptor.IdempotentOperation.KeySource;
import io.idempotency.interceptor.IdempotentOperation.Place;
import io.idempotency.interceptor.IdempotentOperation.Result;
import io.idempotency.interceptor.OperationTraits.Flag;
import io.idempotency.interceptor.RequestValues.BodyPointers;
import io.idempotency.key.HeaderKeyParser;
import io.idempotency.store.IdempotencyStore;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.BeanNotOfRequiredTypeException;
import org.springframework.beans.factory.NoSuchBeanDefinitionException;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.context.annotation.Bean;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.util.ClassUtils;

/** Turns annotations into operations, and rejects invalid annotations. */
final class OperationFactory {

	/** The value of the fingerprint attribute that disables the comparison. */
	private static final String NO_FINGERPRINT = "none";

	private static final boolean TRANSACTIONS = ClassUtils.isPresent(
			"org.springframework.transaction.PlatformTransactionManager", OperationFactory.class.getClassLoader());

	private final ConfigurableListableBeanFactory beanFactory;

	private final IdempotencyOptions defaults;

	private final IdempotencyStore store;

	private final ResultCodec codec;

	private final ObjectProvider<InvocationAdapter> adapters;

	private final ExpressionParser parser;

	private final KeySourceFinder keySourceFinder;

	/** The managers and stores whose transactions were tried. */
	private final Set<List<Object>> tried = ConcurrentHashMap.newKeySet();

	OperationFactory(ConfigurableListableBeanFactory beanFactory, IdempotencyOptions defaults, String keyHeader,
			IdempotencyStore store, ResultCodec codec, ObjectProvider<InvocationAdapter> adapters) {
		this.beanFactory = beanFactory;
		this.defaults = defaults;
		this.store = store;
		this.codec = codec;
		this.adapters = adapters;
		this.parser = new ExpressionParser(beanFactory);
		this.keySourceFinder = new KeySourceFinder(this.parser, keyHeader);
	}

	/** Returns the merged traits of a method. */
	OperationTraits traits(Method method, Class<?> targetClass) {
		return this.adapters.orderedStream()
			.map((adapter) -> adapter.traits(method, targetClass))
			.reduce(OperationTraits.NONE, OperationTraits::merge);
	}

	/**
	 * Creates the operation.
	 * @throws io.idempotency.IdempotencyConfigurationException if the annotation is
	 * invalid
	 */
	IdempotentOperation create(IdempotentAnnotation annotation, OperationTraits traits) {
		Idempotent attributes = annotation.attributes();
		boolean handler = traits.has(Flag.HANDLER);
		checkPlace(annotation);
		MissingModuleCheck.check(annotation, handler, this.beanFactory);
		ResultShape result = ResultShape.of(annotation, traits.isSubscribed());
		IdempotencyOptions options = options(annotation, traits, result);
		if (!handler) {
			UnsupportedCallerCheck.check(annotation, traits.suppliesKeys(), this.beanFactory);
		}
		KeySource keySource = this.keySourceFinder.of(annotation, traits);
		Method recover = RecoverMethodFinder.find(annotation, result);
		IdempotencyStore store = store(annotation);
		IdempotentOperation operation = new IdempotentOperation(annotation.guarded(), options,
				new Key(keySource, attributes.required(), attributes.token(),
						expression("scope", attributes.scope(), annotation),
						expression("condition", attributes.condition(), annotation)),
				fingerprint(annotation, keySource, traits), new Result(result.type(), result.form(), recover),
				new Place(store, transactions(annotation, result, store, traits), surrounding(annotation, result)),
				traits);
		if (operation.reads("messageId") && !traits.suppliesKeys()) {
			throw annotation.problem("its expression reads messageId(), but it is not a message listener",
					"Use an expression over the arguments");
		}
		this.adapters.forEach((adapter) -> adapter.check(operation));
		if (!handler) {
			if (!traits.comparesRequest() && !traits.suppliesKeys()) {
				MissingModuleCheck.checkResult(annotation, this.beanFactory);
			}
			checkResult(annotation, result, options);
		}
		return operation;
	}

	private static void checkPlace(IdempotentAnnotation annotation) {
		if (MergedAnnotations.from(annotation.method()).isPresent(Bean.class)) {
			throw annotation.problem(
					"it is a @Bean method, so the guard would apply to the creation of the bean, not to calls to it",
					"Put the annotation on a method of the bean's class. If the bean is a lambda, call a guarded "
							+ "method of another bean from it");
		}
	}

	private void checkResult(IdempotentAnnotation annotation, ResultShape result, IdempotencyOptions options) {
		if (DeferredResultTypes.isSuspend(annotation.method()) && !result.form().isSubscribed()) {
			throw annotation.problem("it is a suspend function, whose work continues after its call returns",
					"Put the annotation on a non-suspending function, or on the controller function that calls it");
		}
		if (DeferredResultTypes.include(result.type())) {
			// A claim that ends when the method returns would not guard the work.
			throw annotation.problem("its work continues after the method returns, and its end cannot be observed",
					"Return the result itself or a CompletableFuture of it");
		}
		String problem = options.replays() ? this.codec.unsupported(result.type()) : null;
		if (problem != null) {
			throw annotation.problem("its result cannot be stored for a replay: " + problem,
					"Return a type that can be stored, or store no result with keepResult = false or mode = "
							+ "IdempotencyMode.REJECT");
		}
		if (options.replays()) {
			ResultRoundTripCheck.check(this.codec, annotation.guarded().describe(), result.type());
		}
	}

	private IdempotencyOptions options(IdempotentAnnotation annotation, OperationTraits traits, ResultShape result) {
		Idempotent attributes = annotation.attributes();
		String name = attributes.operation().isEmpty() ? annotation.guarded().operation() : attributes.operation();
		IdempotencyOptions.Builder options = this.defaults.change()
			.operation(name)
			.recoverable(!attributes.recover().isEmpty())
			.mode(attributes.mode())
			.conflict(conflict(attributes, traits))
			.onFailure(attributes.onFailure())
			.onAbandoned(attributes.onAbandoned())
			.keepResult(attributes.keepResult());
		duration("retention", attributes.retention(), annotation, options::retention);
		duration("lease", attributes.lease(), annotation, options::lease);
		duration("waitTimeout", attributes.waitTimeout(), annotation, options::waitTimeout);
		List.of(attributes.duplicateOn()).forEach(options::duplicateOn);
		List.of(attributes.duplicateConstraint()).forEach(options::duplicateConstraint);
		String fingerprint = attributes.fingerprint();
		return options.build(new Attributes(!fingerprint.isEmpty() && !fingerprint.equals(NO_FINGERPRINT),
				attributes.token(), !attributes.scope().isEmpty(), !attributes.store().isEmpty(), result.isVoid()
						&& result.form() != ResultForm.FUTURE && !traits.has(Flag.HANDLER) && !traits.suppliesKeys()),
				annotation::problem);
	}

	private static ConflictMode conflict(Idempotent attributes, OperationTraits traits) {
		if (attributes.conflict() != ConflictMode.DEFAULT) {
			return attributes.conflict();
		}
		boolean waits = attributes.mode() != IdempotencyMode.REJECT && traits.has(Flag.WAITS);
		return waits ? ConflictMode.WAIT : ConflictMode.DEFAULT;
	}

	private void duration(String attribute, String text, IdempotentAnnotation annotation, Consumer<Duration> option) {
		if (text.isEmpty()) {
			return;
		}
		String resolved = text;
		try {
			resolved = String.valueOf(this.beanFactory.resolveEmbeddedValue(text));
			option.accept(DurationText.parse(resolved));
		}
		catch (IllegalArgumentException ex) {
			String value = resolved.equals(text) ? "'" + text + "'" : "'" + text + "' ('" + resolved + "')";
			throw annotation.problem("its " + attribute + " is " + value + ": " + ex.getMessage(),
					"Write a duration such as 500ms, 30s, 5m, 24h, 7d or PT24H, or a ${placeholder} of one", ex);
		}
	}

	private @Nullable OperationExpression expression(String attribute, String text, IdempotentAnnotation annotation) {
		return text.isEmpty() ? null : this.parser.parse(attribute, text, annotation);
	}

	private FingerprintSource fingerprint(IdempotentAnnotation annotation, KeySource keySource,
			OperationTraits traits) {
		String text = annotation.attributes().fingerprint();
		OperationExpression expression = text.equals(NO_FINGERPRINT) ? null
				: expression("fingerprint", text, annotation);
		if (expression != null) {
			return new FingerprintSource.Spel(expression);
		}
		if (!text.isEmpty()) {
			return new FingerprintSource.None();
		}
		if (traits.has(Flag.HANDLER)) {
			return new FingerprintSource.Default();
		}
		if (keySource instanceof KeySource.Spel || annotation.attributes().mode() != IdempotencyMode.REPLAY) {
			return new FingerprintSource.None();
		}
		if (traits.comparesRequest()) {
			return new FingerprintSource.Default();
		}
		ArgumentFingerprinter arguments = ArgumentFingerprinter.of(annotation.method(), annotation.targetClass(),
				traits);
		arguments.check(this.codec);
		return new FingerprintSource.Arguments(arguments);
	}

	private IdempotencyStore store(IdempotentAnnotation annotation) {
		String name = annotation.attributes().store();
		try {
			return name.isEmpty() ? this.store : this.beanFactory.getBean(name, IdempotencyStore.class);
		}
		catch (NoSuchBeanDefinitionException | BeanNotOfRequiredTypeException ex) {
			String[] names = this.beanFactory.getBeanNamesForType(IdempotencyStore.class);
			throw annotation.problem("its store '" + name + "' is not a bean of type IdempotencyStore",
					"Use one of the stores: " + String.join(", ", names), ex);
		}
	}

	private @Nullable WorkTransactions transactions(IdempotentAnnotation annotation, ResultShape result,
			IdempotencyStore store, OperationTraits traits) {
		if (annotation.attributes().transaction() != TransactionMode.JOIN) {
			return null;
		}
		WorkTransactions subscribed = (traits.transactions() != null)
				? traits.transactions().apply(result.form(), store) : null;
		if (subscribed != null) {
			return subscribed;
		}
		if (DeferredResultTypes.isSuspend(annotation.method())) {
			throw annotation.problem(
					"transaction = JOIN, but it is a suspend function, whose work continues after its transaction "
							+ "ends",
					"Put the annotation on a non-suspending function, or set transaction = TransactionMode.SEPARATE");
		}
		if (DeferredResultTypes.include(ResultShape.returnType(annotation.method(), annotation.targetClass()))) {
			throw annotation.problem(
					"transaction = JOIN, but its work continues after the method returns and its transaction ends",
					"Return the result itself, or set transaction = TransactionMode.SEPARATE");
		}
		if (store.joining().isEmpty()) {
			throw annotation.problem(
					"transaction = JOIN, but its store '" + store.getClass().getName()
							+ "' does not support transactions",
					"Use the JDBC store, or set transaction = TransactionMode.SEPARATE");
		}
		return MethodTransaction.joined(this.beanFactory, annotation.method(), annotation.targetClass(), store,
				(manager) -> this.tried.add(List.of(manager, store)));
	}

	private UnaryOperator<@Nullable SurroundingTransaction> surrounding(IdempotentAnnotation annotation,
			ResultShape result) {
		if (result.form().isSubscribed()) {
			return (current) -> null;
		}
		return TRANSACTIONS
				? MethodTransaction.surrounding(this.beanFactory, annotation.method(), annotation.targetClass())
				: UnaryOperator.identity();
	}

	/** Finds the key source of each operation. */
	private static final class KeySourceFinder {

		private final ExpressionParser parser;

		private final String defaultHeader;

		KeySourceFinder(ExpressionParser parser, String defaultHeader) {
			this.parser = parser;
			this.defaultHeader = defaultHeader;
		}

		/** Finds the key source. */
		KeySource of(IdempotentAnnotation annotation, OperationTraits traits) {
			List<KeySource> sources = new ArrayList<>();
			Idempotent attributes = annotation.attributes();
			if (!attributes.key().isEmpty()) {
				sources.add(new KeySource.Spel(this.parser.parse("key", attributes.key(), annotation)));
			}
			if (!attributes.header().isEmpty()) {
				sources.add(header(attributes.header(), annotation));
			}
			if (!attributes.body().isEmpty()) {
				sources.add(body(attributes.body(), annotation));
			}
			if (sources.size() > 1) {
				throw annotation.problem("it has more than one of key, header and body",
						"Keep only the attribute that names the key");
			}
			return sources.isEmpty() ? byTraits(annotation, traits) : sources.get(0);
		}

		private KeySource byTraits(IdempotentAnnotation annotation, OperationTraits traits) {
			if (traits.has(Flag.HANDLER)) {
				return new KeySource.Header(this.defaultHeader);
			}
			if (traits.defaultKey() != null) {
				return traits.defaultKey();
			}
			String advice = traits.keyAdvice();
			throw (advice != null) ? annotation.problem("it has no key source", advice)
					: annotation.problem("it has no key source and is not a controller method",
							"Set key (SpEL over the arguments), header or body");
		}

		private static KeySource header(String name, IdempotentAnnotation annotation) {
			if (!HeaderKeyParser.isHeaderName(name)) {
				throw annotation.problem("its header '" + name + "' is not a valid header name",
						"Write the name of a header only, e.g. \"Idempotency-Key\"");
			}
			return new KeySource.Header(name);
		}

		private static KeySource body(String pointer, IdempotentAnnotation annotation) {
			BodyPointers.check(pointer, "body", annotation::problem);
			return new KeySource.Body(pointer);
		}

	}

	/**
	 * Reads durations in short notation or ISO-8601: {@code 500ms}, {@code 30s},
	 * {@code 24h}, {@code 7d}, {@code PT24H}.
	 */
	static final class DurationText {

		private static final Pattern SIMPLE = Pattern.compile("(\\d{1,18})\\s*(ms|s|m|h|d)");

		private static final Map<String, ChronoUnit> UNITS = Map.of("ms", ChronoUnit.MILLIS, "s", ChronoUnit.SECONDS,
				"m", ChronoUnit.MINUTES, "h", ChronoUnit.HOURS, "d", ChronoUnit.DAYS);

		/**
		 * The bounds suit all users of a duration: the expiry of a Redis key counts whole
		 * milliseconds, and the engine counts nanoseconds in a {@code long}.
		 */
		private static final Duration MIN = Duration.ofMillis(1);

		private static final Duration MAX = Duration.ofDays(36500);

		private DurationText() {
		}

		/**
		 * Reads a duration.
		 * @throws IllegalArgumentException if the text is not a duration, or if the
		 * duration is out of bounds
		 */
		static Duration parse(String text) {
			Duration duration = read(text.trim());
			if (duration.isZero() || duration.isNegative()) {
				throw new IllegalArgumentException("it must be positive");
			}
			if (duration.compareTo(MIN) < 0 || duration.compareTo(MAX) > 0) {
				throw new IllegalArgumentException("it must be between 1ms and 36500d");
			}
			return duration;
		}

		private static Duration read(String text) {
			Matcher simple = SIMPLE.matcher(text.toLowerCase(Locale.ROOT));
			try {
				if (simple.matches()) {
					return Duration.of(Long.parseLong(simple.group(1)), UNITS.get(simple.group(2)));
				}
				return Duration.parse(text);
			}
			catch (DateTimeParseException | ArithmeticException ex) {
				throw new IllegalArgumentException("it is not a duration", ex);
			}
		}

	}

}
