package io.idempotency.codec.json;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.reflect.Modifier;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Deque;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import io.idempotency.codec.ResultCodec;
import io.idempotency.codec.UnreadableResultException;
import io.idempotency.store.StoredResult;
import org.jspecify.annotations.Nullable;

import org.springframework.core.ResolvableType;

/**
 * The common base of the codecs for both generations of Jackson, so that each codec reads
 * the output of the other.
 * <p>
 * Format {@code json1} is the JSON of the value by its declared type. An optional is an
 * array of zero or one element, so that an empty one differs from {@code null}. Format
 * {@code bytes1} is an unchanged {@code byte[]}. Format {@code void1} is the result of a
 * method without a return value. It cannot be read as a result of a method with a return
 * value.
 */
abstract class JsonResultCodec implements ResultCodec {

	/**
	 * The compared properties. Properties with absent values are omitted, so that a retry
	 * still matches after a version of the application added a property.
	 */
	static final JsonInclude.Value COMPARED = JsonInclude.Value.construct(JsonInclude.Include.NON_ABSENT,
			JsonInclude.Include.ALWAYS);

	private static final int MAX_ZEROS = 1000;

	private static final String JSON = "json1";

	private static final String BYTES = "bytes1";

	private static final String VOID = "void1";

	private static final byte[] NULL = "null".getBytes(StandardCharsets.US_ASCII);

	private final Map<Type, JsonForm> forms = new ConcurrentHashMap<>();

	@Override
	public final StoredResult encode(@Nullable Object value, Type type) {
		if (value == null || isVoid(type)) {
			return new StoredResult(isVoid(type) ? VOID : JSON, NULL);
		}
		if (value instanceof byte[] bytes) {
			return new StoredResult(BYTES, bytes.clone());
		}
		Type elementType = Optionals.elementType(type);
		byte[] json = (elementType != null) ? form(Optionals.listOf(elementType)).write(Optionals.toList(value))
				: form(type).write(value);
		return new StoredResult(JSON, json);
	}

	@Override
	public final @Nullable Object decode(StoredResult result, Type type) {
		if (isVoid(type)) {
			return null;
		}
		if (result.format().equals(BYTES) && type == byte[].class) {
			return result.bytes().clone();
		}
		if (!result.format().equals(JSON)) {
			throw new UnreadableResultException(
					"A result of format '" + result.format() + "' cannot be read as '" + type.getTypeName() + "'");
		}
		if (Arrays.equals(result.bytes(), NULL)) {
			return absent(type);
		}
		try {
			return read(result.bytes(), type);
		}
		catch (RuntimeException ex) {
			// After any failure of the decoder the result cannot be returned.
			throw new UnreadableResultException("A stored result cannot be read as '" + type.getTypeName() + "'", ex);
		}
	}

	private @Nullable Object read(byte[] json, Type type) {
		Type elementType = Optionals.elementType(type);
		if (elementType == null) {
			return form(type).read(json);
		}
		return Optionals.of((List<?>) form(Optionals.listOf(elementType)).read(json), type);
	}

	private static @Nullable Object absent(Type type) {
		if (type instanceof Class<?> rawType && rawType.isPrimitive()) {
			throw new UnreadableResultException("A stored null cannot be read as '" + type.getTypeName() + "'");
		}
		return null;
	}

	private static boolean isVoid(Type type) {
		return type == void.class || type == Void.class;
	}

	private JsonForm form(Type type) {
		return this.forms.computeIfAbsent(type, this::formOf);
	}

	@Override
	public final @Nullable String unsupported(Type type) {
		return isVoid(type) ? null : StorableTypeCheck.problem(type);
	}

	@Override
	public final @Nullable String incomparable(Type type) {
		Set<Type> seen = new HashSet<>();
		Deque<Written.Part> parts = new ArrayDeque<>();
		parts.add(new Written.Part("", type));
		while (!parts.isEmpty()) {
			Written.Part part = parts.remove();
			Written written = written(part.type());
			if (!seen.add(written.type())) {
				continue;
			}
			String reason = StorableTypeCheck.incomparable(written.rawType());
			if (reason == null && written.unknown() && !Modifier.isAbstract(written.rawType().getModifiers())
					&& written.rawType() != Object.class) {
				reason = "Jackson finds no properties to write";
			}
			if (reason != null) {
				return "'" + written.rawType().getName() + "'"
						+ (part.path().isEmpty() ? "" : " of its '" + part.path() + "'") + " cannot be written as "
						+ "JSON: " + reason;
			}
			for (Written.Part inner : written.parts()) {
				String path = inner.path().isEmpty() || part.path().isEmpty() ? part.path() + inner.path()
						: part.path() + "." + inner.path();
				parts.add(new Written.Part(path, inner.type()));
			}
		}
		return null;
	}

	/** Returns the JSON form of a type that is only compared. */
	abstract Written written(Type type);

	/** Creates the reader and writer of a type. */
	abstract JsonForm formOf(Type type);

	/**
	 * Returns the elements of a set in an order that depends only on their JSON. The
	 * order of a hash table differs between JVMs.
	 * @param write writes an element
	 */
	static List<Object> sorted(Collection<?> elements, Function<@Nullable Object, byte[]> write) {
		Map<Object, byte[]> written = new IdentityHashMap<>();
		elements.forEach((element) -> written.put(element, write.apply(element)));
		List<Object> sorted = new ArrayList<>(elements);
		sorted.sort((one, other) -> Arrays.compareUnsigned(written.get(one), written.get(other)));
		return sorted;
	}

	/** Returns one notation for equal decimals. A large exponent is not expanded. */
	static String decimal(BigDecimal value) {
		BigDecimal stripped = value.stripTrailingZeros();
		return (Math.abs(stripped.scale()) <= MAX_ZEROS) ? stripped.toPlainString() : stripped.toString();
	}

	/**
	 * Returns the entries of a map in the order of the JSON of their keys. Jackson sorts
	 * only comparable keys, and even currencies and locales are not comparable.
	 * @param write writes a key
	 */
	static List<Object> sorted(Map<?, ?> map, Function<@Nullable Object, byte[]> write) {
		List<List<?>> entries = new ArrayList<>();
		map.forEach((key, value) -> entries.add(Arrays.asList(key, value)));
		return sorted(entries, (entry) -> write.apply((entry instanceof List<?> pair) ? pair.get(0) : entry));
	}

	/**
	 * Rejects a value whose unknown properties were probably renamed. If the stored value
	 * only has additional properties, a newer version added them. If the value that was
	 * read also has properties that are not stored, properties were renamed, and the
	 * value would lack stored data.
	 * @param stored the stored value, as maps and lists
	 * @param written the JSON of the value that was read, as maps and lists
	 */
	static void requireNotRenamed(@Nullable Object stored, @Nullable Object written) {
		if (stored instanceof Map<?, ?> one && written instanceof Map<?, ?> other) {
			if (!other.keySet().containsAll(one.keySet()) && !one.keySet().containsAll(other.keySet())) {
				throw new IllegalArgumentException(
						"It has the properties " + one.keySet() + ", but reads back with " + other.keySet());
			}
			one.forEach((name, member) -> requireNotRenamed(member, other.get(name)));
		}
		else if (stored instanceof List<?> one && written instanceof List<?> other) {
			for (int i = 0; i < Math.min(one.size(), other.size()); i++) {
				requireNotRenamed(one.get(i), other.get(i));
			}
		}
	}

	/** Returns whether an annotation hides a property of a value from its JSON. */
	static boolean isWriteOnly(@Nullable JsonProperty annotation) {
		return annotation != null && annotation.access() == JsonProperty.Access.WRITE_ONLY;
	}

	/**
	 * The JSON form of a type in Jackson.
	 *
	 * @param type the type in Jackson's form, equal for equal types
	 * @param unknown whether Jackson cannot write it
	 * @param parts its parts: properties, elements, keys
	 */
	record Written(Type type, Class<?> rawType, boolean unknown, List<Part> parts) {

		/**
		 * One part.
		 *
		 * @param path the name of a property, empty for an element
		 * @param type the declared type
		 */
		record Part(String path, Type type) {
		}

	}

	/** Calls Jackson, whose exceptions are checked in version 2 only. */
	static <T, R extends @Nullable Object> R apply(JsonFunction<T, R> function, T argument) {
		try {
			return function.apply(argument);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/** A method of Jackson. */
	@FunctionalInterface
	interface JsonFunction<T, R extends @Nullable Object> {

		R apply(T argument) throws IOException;

	}

	/**
	 * Reads and writes values of one declared type; thread-safe.
	 *
	 * @param strict reads a value, and fails for an unknown property
	 * @param lenient reads a value without its unknown properties
	 * @param plain reads maps and lists
	 * @param unknownProperty the exception for an unknown property
	 */
	record JsonForm(JsonFunction<Object, byte[]> writer, JsonFunction<byte[], Object> strict,
			JsonFunction<byte[], Object> lenient, JsonFunction<byte[], @Nullable Object> plain,
			Class<? extends Exception> unknownProperty) {

		byte[] write(Object value) {
			return JsonResultCodec.apply(this.writer, value);
		}

		Object read(byte[] json) {
			try {
				return this.strict.apply(json);
			}
			catch (IOException | RuntimeException ex) {
				if (!this.unknownProperty.isInstance(ex)) {
					throw (ex instanceof RuntimeException thrown) ? thrown : new UncheckedIOException((IOException) ex);
				}
			}
			Object value = JsonResultCodec.apply(this.lenient, json);
			requireNotRenamed(JsonResultCodec.apply(this.plain, json), JsonResultCodec.apply(this.plain, write(value)));
			return value;
		}

	}

	/** Turns optionals into lists of no or one element, and back. */
	private static final class Optionals {

		private Optionals() {
		}

		/**
		 * Returns the type of the value in an optional type, {@code null} for any other
		 * type.
		 */
		static @Nullable Type elementType(Type type) {
			if (type instanceof ParameterizedType generic && generic.getRawType() == Optional.class) {
				return generic.getActualTypeArguments()[0];
			}
			if (type == OptionalInt.class) {
				return Integer.class;
			}
			if (type == OptionalLong.class) {
				return Long.class;
			}
			return (type == OptionalDouble.class) ? Double.class : null;
		}

		static Type listOf(Type elementType) {
			return ResolvableType.forClassWithGenerics(List.class, ResolvableType.forType(elementType)).getType();
		}

		static List<?> toList(Object optional) {
			if (optional instanceof OptionalInt number) {
				return number.isPresent() ? List.of(number.getAsInt()) : List.of();
			}
			if (optional instanceof OptionalLong number) {
				return number.isPresent() ? List.of(number.getAsLong()) : List.of();
			}
			if (optional instanceof OptionalDouble number) {
				return number.isPresent() ? List.of(number.getAsDouble()) : List.of();
			}
			return ((Optional<?>) optional).stream().toList();
		}

		static Object of(List<?> elements, Type type) {
			if (elements.size() > 1) {
				throw new IllegalArgumentException("An Optional cannot have " + elements.size() + " elements");
			}
			Optional<?> element = elements.stream().findFirst();
			if (type == OptionalInt.class) {
				return element.map((value) -> OptionalInt.of((Integer) value)).orElseGet(OptionalInt::empty);
			}
			if (type == OptionalLong.class) {
				return element.map((value) -> OptionalLong.of((Long) value)).orElseGet(OptionalLong::empty);
			}
			if (type == OptionalDouble.class) {
				return element.map((value) -> OptionalDouble.of((Double) value)).orElseGet(OptionalDouble::empty);
			}
			return element;
		}

	}

}
