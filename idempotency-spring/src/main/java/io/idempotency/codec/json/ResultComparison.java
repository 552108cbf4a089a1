package io.idempotency.codec.json;

import java.lang.reflect.Array;
import java.lang.reflect.Field;
import java.lang.reflect.InaccessibleObjectException;
import java.lang.reflect.Modifier;
import java.lang.reflect.Proxy;
import java.net.URL;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedSet;

import io.idempotency.codec.ResultCodec;
import org.jspecify.annotations.Nullable;

/**
 * Compares a result with the value that was read back. For a value of the JDK or an enum,
 * {@code equals} decides. For other values, if {@code equals} returns {@code true}, their
 * JSON must also be the same, except for records. If it returns {@code false} or is not
 * defined, the fields are compared, or the JSON if the fields are not accessible. For one
 * comparison.
 */
final class ResultComparison {

	/**
	 * The largest number of values that are compared: enough to cover every property, and
	 * cheap for a long list.
	 */
	private static final int MAX_VALUES = 10_000;

	private final ResultCodec codec;

	private final Set<Object> visited = Collections.newSetFromMap(new IdentityHashMap<>());

	private int values;

	ResultComparison(ResultCodec codec) {
		this.codec = codec;
	}

	/**
	 * Finds the first difference.
	 * @return its path, empty for the value itself; {@code null} without a difference
	 */
	@Nullable String difference(@Nullable Object value, @Nullable Object copy) {
		return difference("", value, copy);
	}

	private @Nullable String difference(String path, @Nullable Object value, @Nullable Object copy) {
		if (value == copy || ++this.values > MAX_VALUES) {
			return null;
		}
		if (value == null || copy == null) {
			return path;
		}
		if (value.getClass().isArray()) {
			return copy.getClass().isArray() ? inArrays(path, value, copy) : path;
		}
		if (value instanceof Optional<?> optional) {
			return copy instanceof Optional<?> other ? difference(path, optional.orElse(null), other.orElse(null))
					: path;
		}
		if (value instanceof Map<?, ?> map) {
			return (copy instanceof Map<?, ?> other) ? inMaps(path, map, other) : path;
		}
		if (value instanceof Collection<?> elements) {
			return (copy instanceof Collection<?> others) ? inCollections(path, elements, others) : path;
		}
		return inValues(path, value, copy);
	}

	private @Nullable String inArrays(String path, Object value, Object copy) {
		int length = Array.getLength(value);
		String difference = (Array.getLength(copy) != length) ? path : null;
		for (int i = 0; i < length && difference == null; i++) {
			difference = difference(path + "[" + i + "]", Array.get(value, i), Array.get(copy, i));
		}
		return difference;
	}

	private @Nullable String inMaps(String path, Map<?, ?> map, Map<?, ?> copy) {
		String difference = (copy.size() != map.size()) ? path : null;
		for (Iterator<? extends Map.Entry<?, ?>> entries = map.entrySet().iterator(); entries.hasNext()
				&& difference == null;) {
			Map.Entry<?, ?> entry = entries.next();
			// The path does not contain keys, because a key may be data that must not be
			// logged.
			difference = copy.containsKey(entry.getKey())
					? difference(path + "[]", entry.getValue(), copy.get(entry.getKey())) : path;
		}
		return difference;
	}

	private @Nullable String inCollections(String path, Collection<?> elements, Collection<?> copies) {
		if (elements.size() != copies.size()) {
			return path;
		}
		if (isUnordered(elements) || isUnordered(copies)) {
			return (copies.containsAll(elements) || !equalsIsOwn(elements) && sameJson(elements, copies)) ? null
					: path + "[]";
		}
		String difference = null;
		Iterator<?> others = copies.iterator();
		int index = 0;
		for (Iterator<?> each = elements.iterator(); each.hasNext() && others.hasNext() && difference == null;) {
			difference = difference(path + "[" + index++ + "]", each.next(), others.next());
		}
		return difference;
	}

	private static boolean isUnordered(Collection<?> elements) {
		return elements instanceof Set<?> && !(elements instanceof SortedSet<?>)
				&& !(elements instanceof LinkedHashSet<?>);
	}

	private static boolean equalsIsOwn(Collection<?> elements) {
		return elements.stream().allMatch((element) -> element != null && definesEquals(element.getClass()));
	}

	private @Nullable String inValues(String path, Object value, Object copy) {
		Class<?> type = value.getClass();
		if (isOfJdk(type) || value instanceof Enum<?>) {
			// The equals method of a URL accesses the network.
			boolean same = definesEquals(type) && type != URL.class ? value.equals(copy) : sameJson(value, copy);
			return same ? null : path;
		}
		if (definesEquals(type) && value.equals(copy)) {
			// The equals method may compare only an id, so the JSON is also compared.
			return (value instanceof Record || sameJson(value, copy)) ? null : path;
		}
		if (!this.visited.add(value)) {
			return null;
		}
		if (isGenerated(type) || isJson(type)) {
			return sameJson(value, copy) ? null : path;
		}
		return (copy.getClass() == type) ? inFields(path, value, copy, type) : path;
	}

	private @Nullable String inFields(String path, Object value, Object copy, Class<?> type) {
		String prefix = path.isEmpty() ? "" : path + ".";
		for (Class<?> owner = type; owner != null && !isOfJdk(owner); owner = owner.getSuperclass()) {
			for (Field field : owner.getDeclaredFields()) {
				if ((field.getModifiers() & (Modifier.STATIC | Modifier.TRANSIENT)) != 0 || field.isSynthetic()) {
					continue;
				}
				String difference;
				try {
					field.setAccessible(true);
					difference = difference(prefix + field.getName(), field.get(value), field.get(copy));
				}
				catch (IllegalAccessException | InaccessibleObjectException ex) {
					// The module of the class is closed, so only the JSON can be
					// compared.
					return sameJson(value, copy) ? null : path;
				}
				if (difference != null) {
					return difference;
				}
			}
		}
		return null;
	}

	/**
	 * Compares the JSON of two values. The elements of a set are not ordered, so JSON
	 * with the same bytes in another order counts as the same.
	 */
	private boolean sameJson(Object value, Object copy) {
		byte[] json = this.codec.comparable(value);
		byte[] other = this.codec.comparable(copy);
		if (Arrays.equals(json, other)) {
			return true;
		}
		byte[] sorted = json.clone();
		byte[] otherSorted = other.clone();
		Arrays.sort(sorted);
		Arrays.sort(otherSorted);
		return Arrays.equals(sorted, otherSorted);
	}

	private static boolean definesEquals(Class<?> type) {
		try {
			return type.getMethod("equals", Object.class).getDeclaringClass() != Object.class;
		}
		catch (NoSuchMethodException ex) {
			// A native image contains the methods of registered classes only.
			return false;
		}
	}

	private static boolean isOfJdk(Class<?> type) {
		return type.getName().startsWith("java.");
	}

	private static boolean isJson(Class<?> type) {
		return type.getName().contains(".jackson.databind.");
	}

	/**
	 * Returns whether a class is generated: a proxy, an anonymous class or a hidden
	 * class.
	 */
	private static boolean isGenerated(Class<?> type) {
		return Proxy.isProxyClass(type) || type.isAnonymousClass() || type.isHidden() || type.getName().contains("$$")
				|| type.getName().contains("$HibernateProxy$");
	}

}
