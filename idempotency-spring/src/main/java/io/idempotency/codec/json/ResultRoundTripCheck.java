package io.idempotency.codec.json;

import java.lang.reflect.Modifier;
import java.lang.reflect.Type;
import java.util.Arrays;
import java.util.Collection;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;

import io.idempotency.Internal;
import io.idempotency.codec.ResultCodec;
import io.idempotency.store.Causes;
import io.idempotency.store.StoredResult;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.core.ResolvableType;
import org.springframework.core.annotation.MergedAnnotations;

/**
 * Reads back the first results of each operation, and reports a result that differs after
 * reading, because a duplicate would receive the different result. Each operation and
 * type is reported once. Thread-safe; the check never changes a stored result or an
 * exception.
 * <p>
 * A type is checked once for each class of its values, because the second result may be
 * of another subclass than the first. An empty result proves nothing, so the next result
 * counts as the first.
 *
 * @hidden
 */
@Internal
public final class ResultRoundTripCheck {

	private static final Logger logger = LoggerFactory.getLogger(ResultRoundTripCheck.class);

	/**
	 * Limits the memory of the check, because an application may create operation names
	 * at run time.
	 */
	private static final int LIMIT = 10_000;

	private final ResultCodec codec;

	private final Set<Seen> seen = ConcurrentHashMap.newKeySet();

	private final Set<Seen> reported = ConcurrentHashMap.newKeySet();

	/**
	 * Creates the check.
	 * @param codec encodes and decodes
	 */
	public ResultRoundTripCheck(ResultCodec codec) {
		this.codec = codec;
	}

	/**
	 * Logs a declared type that most likely cannot be read back, or cannot be written.
	 * @param codec the codec; a codec of the application can read every type
	 * @param method the guarded method
	 * @param type the declared type of its result
	 */
	public static void check(ResultCodec codec, String method, Type type) {
		if (!(codec instanceof JsonResultCodec)) {
			return;
		}
		ResolvableType declared = ResolvableType.forType(type);
		Stream.concat(Stream.of(declared), Arrays.stream(declared.getGenerics()))
			.map(ResolvableType::toClass)
			.forEach((value) -> {
				if (MergedAnnotations.from(value).isPresent("jakarta.persistence.Entity")) {
					logger.warn(
							"[IDEM-513] '{}' returns the entity {}: lazy properties cannot be stored after the "
									+ "transaction, and duplicates receive 409 'result-unavailable'. Return a DTO.",
							method, value.getName());
				}
				else if (!hasCreator(value)) {
					logger.warn(
							"[IDEM-514] '{}' returns {}, which has no constructor that the mapper can call: duplicates "
									+ "receive 409 'result-unavailable'. Annotate it with @Jacksonized or "
									+ "@JsonCreator, or return a DTO.",
							method, value.getName());
				}
			});
	}

	private static boolean hasCreator(Class<?> type) {
		return type.isPrimitive() || type.isArray() || type.isEnum() || Modifier.isAbstract(type.getModifiers())
				|| type.getName().startsWith("java.")
				|| Arrays.stream(type.getDeclaredConstructors())
					.anyMatch(
							(creator) -> creator.getParameterCount() == 0 || Modifier.isPublic(creator.getModifiers()))
				|| type.isRecord()
				|| Stream
					.concat(Stream.of(type),
							Stream.concat(Arrays.stream(type.getDeclaredConstructors()),
									Arrays.stream(type.getDeclaredMethods())))
					.flatMap((element) -> Arrays.stream(element.getAnnotations()))
					.anyMatch((annotation) -> annotation.annotationType().getName().contains(".jackson."));
	}

	/**
	 * Returns the codec of one operation.
	 * @param operation name of the operation
	 * @return a codec that checks the first results that it encodes
	 */
	public ResultCodec of(String operation) {
		return new OperationCodec(this, operation);
	}

	private StoredResult encode(String operation, @Nullable Object value, Type type) {
		StoredResult stored = this.codec.encode(value, type);
		if (value != null && isFirst(operation, value, type)) {
			try {
				compare(operation, value, stored, type);
			}
			catch (RuntimeException | LinkageError | StackOverflowError ex) {
				// A failure of the application's methods changes nothing: the result is
				// stored anyway.
				logger.debug("The first result of '{}' could not be compared", operation, ex);
			}
		}
		return stored;
	}

	private boolean isFirst(String operation, Object value, Type type) {
		if (type == void.class || type == Void.class || isEmpty(value)) {
			return false;
		}
		Seen first = new Seen(operation, type, value.getClass());
		return !this.seen.contains(first) && this.seen.size() < LIMIT && this.seen.add(first);
	}

	private static boolean isEmpty(Object value) {
		return value instanceof Collection<?> elements && elements.isEmpty()
				|| value instanceof Map<?, ?> entries && entries.isEmpty()
				|| value instanceof Optional<?> optional && optional.isEmpty();
	}

	private void compare(String operation, Object value, StoredResult stored, Type type) {
		Object copy;
		try {
			copy = this.codec.decode(stored, type);
		}
		catch (RuntimeException ex) {
			if (isNews(operation, type)) {
				logger.warn("[IDEM-117] The result of '{}' cannot be read back as {}: duplicates receive 409 "
						+ "'result-unavailable'. Make the type readable for the JSON mapper, or declare a "
						+ "ResultCodec bean. Cause: {}", operation, type.getTypeName(), rootMessage(ex));
			}
			return;
		}
		String path = new ResultComparison(this.codec).difference(value, copy);
		if (path != null && isNews(operation, type)) {
			logger.warn("[IDEM-118] The result of '{}' reads back differently as {}, at '{}': duplicates receive "
					+ "the changed value. Declare a return type that contains the whole value, or a ResultCodec "
					+ "bean.", operation, type.getTypeName(), path);
		}
	}

	private boolean isNews(String operation, Type type) {
		return this.reported.add(new Seen(operation, type, Object.class));
	}

	private static String rootMessage(Throwable failure) {
		Throwable root = Causes.root(failure);
		String message = String.valueOf(root.getMessage());
		int end = message.indexOf('\n');
		return root.getClass().getSimpleName() + ": " + ((end < 0) ? message : message.substring(0, end));
	}

	private record Seen(String operation, Type type, Class<?> valueClass) {
	}

	private record OperationCodec(ResultRoundTripCheck resultCheck, String operation) implements ResultCodec {

		@Override
		public StoredResult encode(@Nullable Object value, Type type) {
			return this.resultCheck.encode(this.operation, value, type);
		}

		@Override
		public @Nullable Object decode(StoredResult result, Type type) {
			return this.resultCheck.codec.decode(result, type);
		}

		@Override
		public @Nullable String unsupported(Type type) {
			return this.resultCheck.codec.unsupported(type);
		}

		@Override
		public byte[] comparable(Object value) {
			return this.resultCheck.codec.comparable(value);
		}

	}

}
