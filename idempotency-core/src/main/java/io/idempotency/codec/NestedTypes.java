package io.idempotency.codec;

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
 * Looks at the properties of a type, and at theirs: an annotation that lets the JSON name
 * a class is as dangerous on a property as on the type itself, for whoever can write to
 * the store would choose the class.
 */
final class NestedTypes {

	private final Function<Type, Description> describe;

	NestedTypes(Function<Type, Description> describe) {
		this.describe = describe;
	}

	/**
	 * Why values of a type cannot be stored.
	 * @return what is wrong and what to do, {@code null} if nothing names a class
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

	/** What cannot be described cannot be read either, which the first result tells. */
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
	 * What Jackson knows of a type.
	 *
	 * @param type the type, the same for all who describe it
	 * @param namesClasses whether its JSON names classes
	 * @param contents what it holds or stands for: elements, keys, sub-types
	 * @param properties its properties, as they are read
	 */
	record Description(Type type, boolean namesClasses, List<Type> contents, List<Property> properties) {
	}

	/**
	 * One property.
	 *
	 * @param name the name
	 * @param type the declared type
	 * @param namesClasses whether its own annotation makes its JSON name classes
	 */
	record Property(String name, Type type, boolean namesClasses) {
	}

	private record Place(String path, Type type) {
	}

}
