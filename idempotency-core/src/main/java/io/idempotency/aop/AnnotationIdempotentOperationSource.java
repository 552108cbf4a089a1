package io.idempotency.aop;

import java.lang.reflect.Method;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

import io.idempotency.Internal;
import io.idempotency.engine.IdempotencyPolicy;
import io.idempotency.engine.ResultCodec;
import io.idempotency.store.IdempotencyStore;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.core.MethodClassKey;

/**
 * Makes operations of {@code @Idempotent}: the annotation is searched, parsed and checked
 * once for each method of each class, hits and misses are kept. Thread-safe.
 *
 * @hidden
 * @since 0.1.0
 */
@Internal
public final class AnnotationIdempotentOperationSource implements IdempotentOperationSource {

	private final Map<MethodClassKey, Optional<IdempotentOperation>> operations = new ConcurrentHashMap<>();

	private final Map<String, IdempotentOperation> byName = new ConcurrentHashMap<>();

	private final OperationFactory factory;

	private final CoveredMethods covered;

	/**
	 * Creates the source.
	 * @param beanFactory resolves placeholders, stores, and the beans that expressions
	 * name
	 * @param defaults what an operation wants unless its annotation says otherwise
	 * @param keyHeader the header that holds the key of a method that a door covers and
	 * whose annotation names no place
	 * @param store where records are kept unless the annotation says otherwise
	 * @param codec must be able to keep the results of methods that no door covers
	 * @param doors where calls come in
	 */
	public AnnotationIdempotentOperationSource(ConfigurableListableBeanFactory beanFactory, IdempotencyPolicy defaults,
			String keyHeader, IdempotencyStore store, ResultCodec codec, ObjectProvider<OperationDoor> doors) {
		this.covered = new CoveredMethods(doors);
		this.factory = new OperationFactory(beanFactory, defaults, keyHeader, store, codec, this.covered);
	}

	@Override
	public @Nullable IdempotentOperation operation(Method method, Class<?> targetClass) {
		MethodClassKey key = new MethodClassKey(method, targetClass);
		Optional<IdempotentOperation> operation = this.operations.get(key);
		if (operation == null) {
			// Not computeIfAbsent: looking a store up may create beans, whose operations
			// are then asked for.
			operation = Optional.ofNullable(create(method, targetClass));
			this.operations.put(key, operation);
		}
		return operation.orElse(null);
	}

	private @Nullable IdempotentOperation create(Method method, Class<?> targetClass) {
		IdempotentAnnotation annotation = IdempotentAnnotation.find(method, targetClass);
		if (annotation == null || this.covered.isLeftOut(annotation)) {
			return null;
		}
		if (annotation.method().equals(method) && annotation.targetClass() == targetClass) {
			IdempotentOperation operation = this.factory.create(annotation);
			checkShared(operation);
			return operation;
		}
		// One operation, whether it is called through an interface, a bridge or a proxy.
		return operation(annotation.method(), annotation.targetClass());
	}

	/**
	 * Methods with one operation share their keys: where one's record is in the business
	 * transaction and another's is not, each would wait for, or miss, what the other has
	 * not committed.
	 */
	private void checkShared(IdempotentOperation operation) {
		IdempotentOperation other = this.byName.putIfAbsent(operation.name(), operation);
		if (other == null || (other.transactions() == null) == (operation.transactions() == null)) {
			return;
		}
		String joined = MethodNames.describe((operation.transactions() != null) ? operation : other);
		String separate = MethodNames.describe((operation.transactions() != null) ? other : operation);
		throw SetupProblem.of(operation.method(), operation.targetClass(),
				"'" + joined + "' and '" + separate + "' share the operation '" + operation.name()
						+ "', but only the first has transaction = JOIN",
				"Let both join or neither, or give one another operation");
	}

}
