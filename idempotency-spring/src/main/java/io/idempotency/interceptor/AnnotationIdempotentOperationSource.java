package io.idempotency.interceptor;

import java.lang.reflect.Method;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;

import io.idempotency.IdempotencyMode;
import io.idempotency.IdempotencyOptions;
import io.idempotency.codec.ResultCodec;
import io.idempotency.interceptor.IdempotentOperation.FingerprintSource;
import io.idempotency.interceptor.IdempotentOperation.IdempotentOperationSource;
import io.idempotency.interceptor.OperationTraits.Flag;
import io.idempotency.store.IdempotencyStore;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.core.MethodClassKey;
import org.springframework.util.ReflectionUtils;

/**
 * Creates operations from {@code @Idempotent}. For each method of each class, the
 * annotation is searched, parsed and checked once. Both hits and misses are cached.
 * Thread-safe.
 */
final class AnnotationIdempotentOperationSource implements IdempotentOperationSource {

	private final Map<MethodClassKey, Optional<IdempotentOperation>> operations = new ConcurrentHashMap<>();

	private final Map<String, IdempotentOperation> byName = new ConcurrentHashMap<>();

	/** The operations whose keys do not identify a bean of the class. */
	private final Set<String> ofClasses = ConcurrentHashMap.newKeySet();

	private final OperationFactory factory;

	private volatile boolean readsBodies;

	/**
	 * Creates the source.
	 * @param beanFactory resolves placeholders, stores, and the beans in expressions
	 * @param defaults the defaults of the options
	 * @param keyHeader the header of the key, for handlers whose annotation has no key
	 * source
	 * @param store the store of the records unless the annotation names another one
	 * @param codec encodes results; it must support the results of methods that are not
	 * handlers
	 * @param adapters the adapters that guard calls
	 */
	AnnotationIdempotentOperationSource(ConfigurableListableBeanFactory beanFactory, IdempotencyOptions defaults,
			String keyHeader, IdempotencyStore store, ResultCodec codec, ObjectProvider<InvocationAdapter> adapters) {
		this.factory = new OperationFactory(beanFactory, defaults, keyHeader, store, codec, adapters);
	}

	@Override
	public @Nullable IdempotentOperation operation(Method method, Class<?> targetClass) {
		MethodClassKey key = new MethodClassKey(method, targetClass);
		Optional<IdempotentOperation> operation = this.operations.get(key);
		if (operation == null) {
			// This is not computeIfAbsent, because create may look up a store and
			// therefore create beans, which request their operations in turn.
			operation = Optional.ofNullable(create(method, targetClass));
			this.operations.put(key, operation);
		}
		return operation.orElse(null);
	}

	@Override
	public Collection<IdempotentOperation> operations() {
		return Collections.unmodifiableCollection(this.byName.values());
	}

	@Override
	public boolean readsBodies() {
		return this.readsBodies;
	}

	@Override
	public Collection<IdempotentOperation> check(Class<?> targetClass) {
		Set<IdempotentOperation> shared = new LinkedHashSet<>();
		for (Method method : ReflectionUtils.getUniqueDeclaredMethods(targetClass)) {
			IdempotentOperation operation = IdempotentAnnotation.isMadeByCompiler(method) ? null
					: operation(method, targetClass);
			if (operation != null && this.ofClasses.contains(operation.name())) {
				shared.add(operation);
			}
		}
		return shared;
	}

	private @Nullable IdempotentOperation create(Method method, Class<?> targetClass) {
		IdempotentAnnotation annotation = IdempotentAnnotation.find(method, targetClass);
		if (annotation == null) {
			return null;
		}
		OperationTraits traits = this.factory.traits(annotation.method(), annotation.targetClass());
		if (!annotation.guarded().declaredOnMethod() && isLeftOut(annotation.targetClass(), traits)) {
			return null;
		}
		if (annotation.method().equals(method) && annotation.targetClass() == targetClass) {
			IdempotentOperation operation = this.factory.create(annotation, traits);
			checkShared(operation);
			if (annotation.attributes().operation().isEmpty() && !operation.key().namesBean()
					&& !traits.has(Flag.BEAN_KEYS) && !isCompared(operation)) {
				this.ofClasses.add(operation.name());
			}
			// A handler reads the body of its request, and a listener that of its
			// message.
			if (operation.readsBody() && !traits.has(Flag.HANDLER) && traits.keyAdvice() == null) {
				this.readsBodies = true;
			}
			return operation;
		}
		// All ways to call the method (an interface, a bridge, a proxy) share one
		// operation.
		return operation(annotation.method(), annotation.targetClass());
	}

	/**
	 * Returns whether an annotation of the class excludes a method. If a class has
	 * handlers, its annotation guards only the handlers that are not exempt.
	 */
	private boolean isLeftOut(Class<?> targetClass, OperationTraits traits) {
		return traits.comparesRequest() ? traits.has(Flag.EXEMPT_FROM_CLASS)
				: Stream.of(ReflectionUtils.getUniqueDeclaredMethods(targetClass))
					.anyMatch((other) -> this.factory.traits(other, targetClass).comparesRequest());
	}

	/** Returns whether the request of a call, including its path, is compared. */
	private static boolean isCompared(IdempotentOperation operation) {
		return operation.traits().has(Flag.HANDLER) && operation.fingerprint() instanceof FingerprintSource.Default
				&& operation.options().mode() == IdempotencyMode.REPLAY;
	}

	private static boolean isOfOneClass(GuardedMethod one, GuardedMethod other) {
		return !one.declaredOnMethod() && !other.declaredOnMethod() && one.targetClass() == other.targetClass()
				&& !one.method().equals(other.method());
	}

	/**
	 * Rejects two methods that share an operation only because the annotation of their
	 * class sets its name: one method would return the result of the other. Also rejects
	 * them if only one of them joins the business transaction. Such methods share their
	 * keys, so each would wait for or miss records that the other has not committed.
	 */
	private void checkShared(IdempotentOperation operation) {
		IdempotentOperation other = this.byName.putIfAbsent(operation.name(), operation);
		if (other == null) {
			return;
		}
		if (isOfOneClass(operation.guarded(), other.guarded()) && !isCompared(operation)) {
			throw operation.problem(
					"its class has the operation '" + operation.name() + "', and so does '" + other.describe()
							+ "': a call of one would return the result of the other",
					"Set operation on each method. If the methods share it intentionally, set the same operation "
							+ "on both");
		}
		if ((other.place().transactions() == null) == (operation.place().transactions() == null)) {
			return;
		}
		String joined = ((operation.place().transactions() != null) ? operation : other).describe();
		String separate = ((operation.place().transactions() != null) ? other : operation).describe();
		throw operation.problem(
				"'" + joined + "' and '" + separate + "' share the operation '" + operation.name()
						+ "', but only the first has transaction = JOIN",
				"Set transaction = JOIN on both or on neither, or give them different operations");
	}

}
