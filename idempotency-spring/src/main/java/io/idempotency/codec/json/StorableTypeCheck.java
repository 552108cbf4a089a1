package io.idempotency.codec.json;

import java.lang.reflect.GenericArrayType;
import java.lang.reflect.Modifier;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.util.Arrays;
import java.util.Calendar;
import java.util.Collection;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TimeZone;
import java.nio.charset.Charset;
import java.time.ZoneId;

import com.fasterxml.jackson.annotation.JsonTypeInfo;
import org.jspecify.annotations.Nullable;

import org.springframework.core.annotation.AnnotationUtils;

/**
 * Determines the declared types whose values can be stored and read without loss. A
 * replay uses only the declared type. A type that does not describe its values is
 * therefore rejected, and a stored result never contains a class name.
 */
final class StorableTypeCheck {

	/**
	 * The rejected types by name, because most of them are optional on the class path.
	 */
	private static final Map<String, String> REJECTED = Map.ofEntries(
			Map.entry("java.lang.Object", "it does not describe its values"),
			Map.entry("java.util.stream.BaseStream", "it can be read only once"),
			Map.entry("java.io.InputStream", "it can be read only once"),
			Map.entry("java.io.Reader", "it can be read only once"),
			Map.entry("java.io.OutputStream", "it is not a value"), Map.entry("java.io.Writer", "it is not a value"),
			Map.entry("java.util.Iterator", "it can be read only once"),
			Map.entry("java.util.Spliterator", "it can be read only once"),
			Map.entry("java.util.Enumeration", "it can be read only once"),
			Map.entry("java.util.concurrent.Future", "only CompletableFuture and CompletionStage are supported"),
			Map.entry("java.util.concurrent.CompletionStage", "it is supported only as the result itself"),
			Map.entry("java.util.concurrent.Flow$Publisher", "reactive results are not supported"),
			Map.entry("org.reactivestreams.Publisher", "reactive results are not supported"),
			Map.entry("org.springframework.http.HttpEntity", "it is a web response"),
			Map.entry("org.springframework.core.io.InputStreamSource", "its content can be read only once"),
			Map.entry("org.springframework.web.servlet.ModelAndView", "it is a web response"));

	/** The types that are also rejected if the JSON of a value is only compared. */
	private static final Map<String, String> INCOMPARABLE = Map.of("java.lang.Throwable",
			"its stack trace differs between calls", "java.util.EventObject", "it contains its source and its time",
			"kotlin.Function", "it is code, not a value", "org.apache.avro.generic.GenericContainer",
			"its JSON contains its schema, not its value", "com.google.protobuf.MessageLite",
			"its JSON does not contain its value");

	private static final Set<Class<?>> READABLE_ABSTRACT = Set.of(Iterable.class, Map.Entry.class, CharSequence.class,
			ZoneId.class, TimeZone.class, Calendar.class, Charset.class);

	private StorableTypeCheck() {
	}

	/**
	 * Returns the reason why values of a type cannot be stored.
	 * @param type the declared type
	 * @return the problem and the action, {@code null} if the type is supported
	 */
	static @Nullable String problem(Type type) {
		if (type instanceof Class<?> rawType) {
			return (rawType.getTypeParameters().length > 0) ? reject(type, "its type arguments are missing")
					: problem(rawType, type);
		}
		if (type instanceof GenericArrayType array) {
			return problem(array.getGenericComponentType());
		}
		if (type instanceof ParameterizedType generic) {
			String problem = problem((Class<?>) generic.getRawType(), type);
			if (problem != null) {
				return problem;
			}
			return Arrays.stream(generic.getActualTypeArguments())
				.map(StorableTypeCheck::problem)
				.filter((found) -> found != null)
				.findFirst()
				.orElse(null);
		}
		return reject(type, "it is a type variable or a wildcard, which does not describe its values");
	}

	private static @Nullable String problem(Class<?> rawType, Type type) {
		if (rawType.isArray()) {
			return problem(rawType.getComponentType());
		}
		if (rawType.isPrimitive() || rawType.isEnum() || rawType == Optional.class) {
			return null;
		}
		String rejected = reason(REJECTED, rawType);
		if (rejected != null) {
			return reject(type, rejected);
		}
		JsonTypeInfo typeInfo = AnnotationUtils.findAnnotation(rawType, JsonTypeInfo.class);
		if (typeInfo != null && typeInfo.use() != JsonTypeInfo.Id.NONE) {
			return namesClasses(typeInfo.use())
					? reject(type, "its @JsonTypeInfo would write class names: use JsonTypeInfo.Id.NAME") : null;
		}
		return Modifier.isAbstract(rawType.getModifiers()) && !isReadable(rawType)
				? reject(type, "it is abstract, so its subtypes cannot be distinguished: annotate it with "
						+ "@JsonTypeInfo(use = NAME)")
				: null;
	}

	private static boolean namesClasses(JsonTypeInfo.Id id) {
		return id == JsonTypeInfo.Id.CLASS || id == JsonTypeInfo.Id.MINIMAL_CLASS;
	}

	private static boolean isReadable(Class<?> type) {
		boolean container = Collection.class.isAssignableFrom(type) || Map.class.isAssignableFrom(type);
		// Only the abstract containers of the JDK are readable, because Jackson cannot
		// create others.
		return container && type.getName().startsWith("java.util.") || READABLE_ABSTRACT.contains(type)
				|| type.getName().endsWith(".jackson.databind.JsonNode");
	}

	/** Returns the reason for a type, which may be that of one of its super-types. */
	private static @Nullable String reason(Map<String, String> reasons, Class<?> type) {
		if (reasons.containsKey(type.getName())) {
			return reasons.get(type.getName());
		}
		for (Class<?> parent : type.getInterfaces()) {
			String reason = reason(reasons, parent);
			if (reason != null) {
				return reason;
			}
		}
		Class<?> parent = type.getSuperclass();
		return (parent != null && parent != Object.class) ? reason(reasons, parent) : null;
	}

	/**
	 * Returns the reason why a value cannot be compared by its JSON.
	 * @return the reason, {@code null} without a known reason
	 */
	static @Nullable String incomparable(Class<?> type) {
		if (type == Object.class) {
			return null;
		}
		if (type.isAnnotationPresent(FunctionalInterface.class)) {
			return "it is code, not a value";
		}
		String reason = reason(INCOMPARABLE, type);
		return (reason != null) ? reason : reason(REJECTED, type);
	}

	private static String reject(Type type, String reason) {
		return "'" + type.getTypeName() + "' cannot be stored: " + reason;
	}

}
