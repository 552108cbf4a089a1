package io.idempotency.codec.json;

import java.lang.reflect.Type;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Function;

import com.fasterxml.jackson.annotation.JsonTypeInfo;
import org.jspecify.annotations.Nullable;

/**
 * Checks the properties of a type, and the properties of their types, for an annotation
 * that lets the JSON name a class. Such an annotation is as dangerous on a property as on
 * the type itself, because anybody who can write to the store could choose the class.
 */
final class NestedTypeCheck {

	private final Function<Type, Description> describe;

	NestedTypeCheck(Function<Type, Description> describe) {
		this.describe = describe;
	}

	/**
	 * Returns why values of a type cannot be stored.
	 * @return the problem and the cure, {@code null} if nothing names a class
	 */
	@Nullable String problem(Type type) {
		Set<Type> seen = new HashSet<>();
		Deque<Place> places = new ArrayDeque<>();
		places.add(new Place("", type));
		while (!places.isEmpty()) {
			Place place = places.remove();
			Description description = describe(place.type());
			if (description == null || !seen.add(description.type())) {
				continue;
			}
			if (description.namesClasses()) {
				return refuse(type, place.path());
			}
			description.contents().forEach((content) -> places.add(new Place(place.path(), content)));
			for (Property property : description.properties()) {
				String path = place.path().isEmpty() ? property.name() : place.path() + "." + property.name();
				if (property.namesClasses()) {
					return refuse(type, path);
				}
				places.add(new Place(path, property.type()));
			}
		}
		return null;
	}

	/**
	 * Describes a type, {@code null} if Jackson cannot. Such a type cannot be read
	 * either, and the check of the first result reports that.
	 */
	private @Nullable Description describe(Type type) {
		try {
			return this.describe.apply(type);
		}
		catch (RuntimeException ex) {
			return null;
		}
	}

	private static String refuse(Type type, String path) {
		String where = path.isEmpty() ? "the @JsonTypeInfo of its content" : "the @JsonTypeInfo of '" + path + "'";
		return "'" + type.getTypeName() + "' cannot be stored: " + where
				+ " would write class names: use JsonTypeInfo.Id.NAME";
	}

	static boolean namesClasses(JsonTypeInfo.@Nullable Value typeInfo) {
		JsonTypeInfo.Id id = (typeInfo != null) ? typeInfo.getIdType() : null;
		return id == JsonTypeInfo.Id.CLASS || id == JsonTypeInfo.Id.MINIMAL_CLASS;
	}

	/**
	 * A type as Jackson knows it.
	 *
	 * @param type the type in Jackson's form, equal for equal types
	 * @param namesClasses whether its JSON names classes
	 * @param contents the types that it holds or stands for: elements, keys, sub-types
	 * @param properties its properties, as they are read
	 */
	record Description(Type type, boolean namesClasses, List<Type> contents, List<Property> properties) {
	}

	/**
	 * One property.
	 *
	 * @param type the declared type
	 * @param namesClasses whether its own annotation makes its JSON name classes
	 */
	record Property(String name, Type type, boolean namesClasses) {
	}

	private record Place(String path, Type type) {
	}

}
