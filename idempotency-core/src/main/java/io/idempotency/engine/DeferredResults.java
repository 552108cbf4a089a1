package io.idempotency.engine;

import java.lang.reflect.GenericArrayType;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.lang.reflect.TypeVariable;
import java.lang.reflect.WildcardType;
import java.util.Arrays;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.idempotency.Internal;

/**
 * Recognizes the types of results whose work continues, or only begins, after the method
 * returned.
 *
 * @hidden
 */
@Internal
public final class DeferredResults {

	private static final Set<String> TYPES = Set.of("java.util.concurrent.Callable", "java.util.concurrent.Future",
			"java.util.concurrent.CompletionStage", "java.util.concurrent.Flow$Publisher",
			"java.util.stream.BaseStream");

	/** Types that hold other values. A result of such a type also returns its content. */
	private static final Set<String> CONTAINERS = Set.of("java.lang.Iterable", "java.util.Map", "java.util.Optional");

	/** The types of the JDK. */
	public static final DeferredResults OF_JDK = new DeferredResults(TYPES, CONTAINERS);

	private final Set<String> types;

	private final Set<String> containers;

	private DeferredResults(Set<String> types, Set<String> containers) {
		this.types = types;
		this.containers = containers;
	}

	/**
	 * Returns these types and more. They may be missing on the class path, so they are
	 * known by name.
	 * @param types the names of types whose work continues after the return
	 * @param containers the names of types that hold other values
	 */
	public DeferredResults and(Set<String> types, Set<String> containers) {
		return new DeferredResults(union(this.types, types), union(this.containers, containers));
	}

	private static Set<String> union(Set<String> one, Set<String> other) {
		return Stream.concat(one.stream(), other.stream()).collect(Collectors.toUnmodifiableSet());
	}

	/**
	 * Returns whether a result has such a type, or holds a value of such a type.
	 * @param type declared type of the result
	 * @return whether the work may continue after the method returned
	 */
	public boolean include(Type type) {
		if (type instanceof Class<?> raw) {
			return isOneOf(this.types, raw) || raw.isArray() && include(raw.getComponentType());
		}
		if (type instanceof ParameterizedType generic) {
			Class<?> raw = (Class<?>) generic.getRawType();
			return include(raw) || isOneOf(this.containers, raw)
					&& Arrays.stream(generic.getActualTypeArguments()).anyMatch(this::include);
		}
		if (type instanceof GenericArrayType array) {
			return include(array.getGenericComponentType());
		}
		if (type instanceof WildcardType wildcard) {
			return include(wildcard.getUpperBounds()[0]);
		}
		// A type variable may be bounded by itself, so only a bound that is a class is
		// checked.
		return type instanceof TypeVariable<?> variable && variable.getBounds()[0] instanceof Class<?> bound
				&& include(bound);
	}

	private static boolean isOneOf(Set<String> names, Class<?> type) {
		if (names.contains(type.getName())) {
			return true;
		}
		Class<?> parent = type.getSuperclass();
		return parent != null && isOneOf(names, parent)
				|| Arrays.stream(type.getInterfaces()).anyMatch((candidate) -> isOneOf(names, candidate));
	}

}
