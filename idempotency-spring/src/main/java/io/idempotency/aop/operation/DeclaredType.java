package io.idempotency.aop.operation;

import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

import org.springframework.core.ResolvableType;
import org.springframework.util.ClassUtils;
import org.springframework.util.StringUtils;

/**
 * A declared type, and what it says about the values of an expression, by SpEL's rules
 * for reading properties.
 */
record DeclaredType(ResolvableType type) {

	/** Whether the values of a type have a feature. */
	enum Answer {

		YES, PERHAPS, NO

	}

	/**
	 * Returns a type if anything is known about its values.
	 * @return the type, {@code null} if the type says nothing about its values
	 */
	static @Nullable DeclaredType of(ResolvableType type) {
		Class<?> raw = type.resolve();
		if (raw == null || raw == Object.class) {
			return null;
		}
		return new DeclaredType(
				raw.isPrimitive() ? ResolvableType.forClass(ClassUtils.resolvePrimitiveIfNecessary(raw)) : type);
	}

	static @Nullable DeclaredType of(Class<?> type) {
		return of(ResolvableType.forClass(type));
	}

	private Class<?> raw() {
		return this.type.toClass();
	}

	String name() {
		return raw().getSimpleName();
	}

	/**
	 * Returns whether expressions may read the values in ways that the type does not
	 * show: entries of maps, static members of classes, the value inside an optional.
	 */
	private boolean isOpaque() {
		return Map.class.isAssignableFrom(raw()) || raw() == Class.class || raw() == Optional.class;
	}

	Answer hasProperty(String name) {
		return isOpaque() ? Answer.PERHAPS : any(raw(), (candidate) -> !readers(candidate, name).isEmpty());
	}

	Answer hasMethod(String name) {
		return isOpaque() ? Answer.PERHAPS
				: any(raw(), (candidate) -> Stream.concat(methods(candidate), methods(Object.class))
					.anyMatch((method) -> method.getName().equals(name)));
	}

	/** Returns whether the values are of one of the given types. */
	Answer isOneOf(Collection<Class<?>> types) {
		return any(raw(), (candidate) -> types.stream().anyMatch((type) -> type.isAssignableFrom(candidate)));
	}

	/**
	 * Answers NO only for types whose subclasses are all known, because an unknown
	 * subclass may have the feature.
	 */
	private static Answer any(Class<?> type, Predicate<Class<?>> test) {
		if (test.test(type)) {
			return Answer.YES;
		}
		if (Modifier.isFinal(type.getModifiers()) || type.isArray()) {
			return Answer.NO;
		}
		if (!type.isSealed()) {
			return Answer.PERHAPS;
		}
		boolean none = Arrays.stream(type.getPermittedSubclasses())
			.allMatch((permitted) -> any(permitted, test) == Answer.NO);
		return none ? Answer.NO : Answer.PERHAPS;
	}

	/**
	 * Returns whether the type is a concrete class, whose values hardly ever belong to a
	 * subclass.
	 */
	boolean isConcrete() {
		return !Modifier.isAbstract(raw().getModifiers()) && !isOpaque();
	}

	@Nullable DeclaredType property(String name) {
		List<ResolvableType> readers = isOpaque() ? List.of() : readers(raw(), name);
		return (readers.size() == 1) ? of(readers.get(0)) : null;
	}

	@Nullable DeclaredType result(String method) {
		List<Method> methods = methods(raw()).filter((candidate) -> candidate.getName().equals(method)).toList();
		return (methods.size() == 1) ? of(typeOf(methods.get(0))) : null;
	}

	/**
	 * Returns the type of the elements of an array or a collection, or of the values of a
	 * map.
	 */
	@Nullable DeclaredType element() {
		if (this.type.isArray()) {
			return of(this.type.getComponentType());
		}
		if (Map.class.isAssignableFrom(raw())) {
			return of(this.type.as(Map.class).getGeneric(1));
		}
		return isCollection() ? of(this.type.as(Collection.class).getGeneric(0)) : null;
	}

	boolean isMap() {
		return Map.class.isAssignableFrom(raw());
	}

	boolean isArray() {
		return this.type.isArray();
	}

	boolean isCollection() {
		return Collection.class.isAssignableFrom(raw());
	}

	/** Returns whether it is a set that may have another order on each node. */
	boolean isUnordered() {
		return raw() == Set.class || raw() == HashSet.class;
	}

	/** Returns the names of the properties, for messages. */
	String properties() {
		TreeSet<String> names = new TreeSet<>();
		methods(raw()).filter((method) -> method.getParameterCount() == 0 && method.getReturnType() != void.class)
			.filter((method) -> method.getDeclaringClass() != Object.class && !isOfObject(method))
			.forEach((method) -> names.add(propertyOf(method)));
		Arrays.stream(raw().getFields()).forEach((field) -> names.add(field.getName()));
		return String.join(", ", names);
	}

	private static boolean isOfObject(Method method) {
		return methods(Object.class).anyMatch((known) -> known.getName().equals(method.getName()));
	}

	private static String propertyOf(Method method) {
		String name = method.getName();
		for (String prefix : List.of("get", "is")) {
			if (name.length() > prefix.length() && name.startsWith(prefix)) {
				return StringUtils.uncapitalizeAsProperty(name.substring(prefix.length()));
			}
		}
		return name;
	}

	private List<ResolvableType> readers(Class<?> owner, String name) {
		if (owner.isArray()) {
			return name.equals("length") ? List.of(ResolvableType.forClass(Integer.class)) : List.of();
		}
		String capitalized = name.substring(0, 1).toUpperCase(Locale.ROOT) + name.substring(1);
		Stream<ResolvableType> getters = methods(owner).filter((method) -> method.getParameterCount() == 0)
			.filter((method) -> List.of("get" + capitalized, "get" + name, "is" + capitalized, "is" + name, name)
				.contains(method.getName()))
			.map(this::typeOf);
		Stream<ResolvableType> fields = Arrays.stream(owner.getFields())
			.filter((field) -> field.getName().equals(name))
			.map(this::typeOf);
		return Stream.concat(getters, fields).toList();
	}

	private static Stream<Method> methods(Class<?> type) {
		return Arrays.stream(type.getMethods()).filter((method) -> !method.isBridge());
	}

	private ResolvableType typeOf(Method method) {
		return ResolvableType.forType(method.getGenericReturnType(), this.type.as(method.getDeclaringClass()));
	}

	private ResolvableType typeOf(Field field) {
		return ResolvableType.forType(field.getGenericType(), this.type.as(field.getDeclaringClass()));
	}

}
