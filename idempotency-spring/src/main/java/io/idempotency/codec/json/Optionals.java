package io.idempotency.codec.json;

import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.OptionalLong;

import org.jspecify.annotations.Nullable;

import org.springframework.core.ResolvableType;

/** Turns optionals into lists of no or one element, and back. */
final class Optionals {

	private Optionals() {
	}

	/**
	 * Returns the type of the value in an optional type, {@code null} for any other type.
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
			throw new IllegalArgumentException("An optional of " + elements.size() + " elements");
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
