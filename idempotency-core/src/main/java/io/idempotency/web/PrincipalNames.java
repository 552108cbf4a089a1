package io.idempotency.web;

import java.security.Principal;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.jspecify.annotations.Nullable;

import org.springframework.security.core.Authentication;
import org.springframework.util.ClassUtils;

/**
 * Refuses names by which a caller cannot be known again. Many callers may have an empty
 * name, and the identity string of an object is new on each request.
 */
final class PrincipalNames {

	/** The form of the result of {@link Object#toString()}. */
	private static final Pattern IDENTITY = Pattern.compile("(.+)@[0-9a-f]{1,8}", Pattern.DOTALL);

	private static final boolean SPRING_SECURITY = ClassUtils
		.isPresent("org.springframework.security.core.Authentication", PrincipalNames.class.getClassLoader());

	private PrincipalNames() {
	}

	/**
	 * Returns the name of a principal.
	 * @param principal the principal
	 * @return the name
	 * @throws IllegalStateException if the principal has no stable name
	 */
	static String require(Principal principal) {
		@Nullable String name = principal.getName();
		if (name == null || name.isBlank()) {
			throw refused(principal.getClass(), "has no name, as many others may have none");
		}
		Class<?> object = identified(principal, name);
		if (object != null) {
			throw refused(object, "is named by the identity of an object, which is another on each request");
		}
		return name;
	}

	private static IllegalStateException refused(Class<?> type, String problem) {
		return new IllegalStateException(
				"Nobody can tell whose the key of the request is: the principal (" + type.getName() + ") " + problem
						+ ". To guard its calls, give it a stable name or declare an IdempotencyScopeResolver");
	}

	/**
	 * Returns the type of the object whose identity string is the name, {@code null} if
	 * the name only looks like such a string.
	 */
	private static @Nullable Class<?> identified(Principal principal, String name) {
		Matcher matcher = IDENTITY.matcher(name);
		if (!matcher.matches()) {
			return null;
		}
		String type = matcher.group(1);
		Object inner = SPRING_SECURITY ? Inner.of(principal) : null;
		if (inner != null && isTypeOf(inner, type)) {
			return inner.getClass();
		}
		return isTypeOf(principal, type) ? principal.getClass() : null;
	}

	private static boolean isTypeOf(Object object, String name) {
		// A text is a chosen name, even if it looks like an identity string.
		Class<?> type = (object instanceof CharSequence) ? null : object.getClass();
		while (type != null && !isNameOf(type, name)) {
			type = (type.getSuperclass() != Object.class) ? type.getSuperclass() : null;
		}
		return type != null;
	}

	private static boolean isNameOf(Class<?> type, String name) {
		return name.equals(type.getName()) || name.equals(type.getSimpleName());
	}

	/**
	 * Finds the object inside an authentication of Spring Security, because the name is
	 * that object's. Loaded only if Spring Security is present.
	 */
	private static final class Inner {

		static @Nullable Object of(Principal principal) {
			return (principal instanceof Authentication authentication) ? authentication.getPrincipal() : null;
		}

	}

}
