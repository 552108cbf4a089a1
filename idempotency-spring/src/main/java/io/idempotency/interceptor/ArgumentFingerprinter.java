package io.idempotency.interceptor;

import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.Method;
import java.lang.reflect.Parameter;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

import io.idempotency.Internal;
import io.idempotency.codec.ResultCodec;
import io.idempotency.interceptor.GuardedMethod.GuardMisconfiguredException;
import io.idempotency.key.Fingerprint;
import org.jspecify.annotations.Nullable;

import org.springframework.core.DefaultParameterNameDiscoverer;
import org.springframework.core.annotation.MergedAnnotations;

/**
 * Selects the arguments of a method that must be equal on a retry, for keys that a client
 * chose. Thread-safe.
 * <p>
 * An argument is compared by its JSON. Values that the container supplies, such as the
 * principal or an acknowledgment, are not compared: they differ between two attempts with
 * the same meaning. A message is compared by its payload, and only if no other argument
 * has its content.
 *
 * @hidden
 */
@Internal
public final class ArgumentFingerprinter {

	private static final String ALGORITHM = "args1";

	/**
	 * The types that a container supplies, by name, because most of them are optional.
	 * UserDetails is not included: it is often an entity, and therefore the payload.
	 */
	private static final Set<String> HANDED_IN = Set.of("java.security.Principal", "java.util.Locale",
			"java.util.TimeZone", "kotlin.coroutines.Continuation", "jakarta.servlet.ServletRequest",
			"jakarta.servlet.ServletResponse", "jakarta.servlet.http.HttpSession",
			"org.springframework.http.HttpHeaders", "org.springframework.http.HttpRequest",
			"org.springframework.web.context.request.RequestAttributes",
			"org.springframework.web.bind.support.SessionStatus", "org.springframework.web.util.UriBuilder",
			"org.springframework.validation.Errors", "org.springframework.ui.Model", "org.springframework.ui.ModelMap",
			"org.springframework.security.core.context.SecurityContext",
			"org.springframework.security.core.AuthenticatedPrincipal",
			"org.springframework.security.oauth2.core.OAuth2Token", "org.springframework.security.web.csrf.CsrfToken",
			"org.springframework.messaging.MessageHeaders",
			"org.springframework.messaging.support.MessageHeaderAccessor");

	private static final Set<String> HANDED_IN_BY = Set.of("org.springframework.messaging.handler.annotation.Header",
			"org.springframework.messaging.handler.annotation.Headers",
			"org.springframework.web.bind.annotation.RequestHeader",
			"org.springframework.web.bind.annotation.CookieValue",
			"org.springframework.web.bind.annotation.RequestAttribute",
			"org.springframework.web.bind.annotation.SessionAttribute",
			"org.springframework.security.core.annotation.AuthenticationPrincipal",
			"org.springframework.security.core.annotation.CurrentSecurityContext",
			"org.springframework.beans.factory.annotation.Value");

	private static final Set<String> MESSAGES = Set.of("org.springframework.messaging.Message");

	private final Method method;

	private final Class<?> targetClass;

	private final List<Compared> compared;

	private ArgumentFingerprinter(Method method, Class<?> targetClass, List<Compared> compared) {
		this.method = method;
		this.targetClass = targetClass;
		this.compared = compared;
	}

	public static ArgumentFingerprinter of(Method method, Class<?> targetClass) {
		return of(method, targetClass, OperationTraits.NONE);
	}

	/**
	 * Selects the arguments of a method.
	 * @param traits provides further names of parameter types
	 */
	static ArgumentFingerprinter of(Method method, Class<?> targetClass, OperationTraits traits) {
		List<Compared> arguments = new ArrayList<>();
		List<Compared> messages = new ArrayList<>();
		Parameter[] parameters = method.getParameters();
		String[] names = new DefaultParameterNameDiscoverer().getParameterNames(method);
		Type[] types = method.getGenericParameterTypes();
		for (int i = 0; i < parameters.length; i++) {
			Class<?> type = parameters[i].getType();
			boolean message = is(type, traits.messageTypes()) || is(type, MESSAGES);
			if (message || !is(type, traits.suppliedTypes()) && !is(type, HANDED_IN) && !isHandedIn(parameters[i])) {
				String name = (names != null) ? names[i] : parameters[i].getName();
				(message ? messages : arguments).add(new Compared(i, name, types[i], message));
			}
		}
		return new ArgumentFingerprinter(method, targetClass, List.copyOf(arguments.isEmpty() ? messages : arguments));
	}

	private static boolean isHandedIn(AnnotatedElement parameter) {
		return MergedAnnotations.from(parameter)
			.stream()
			.anyMatch((annotation) -> HANDED_IN_BY.contains(annotation.getType().getName()));
	}

	/** Returns whether one of the names is that of the type or of a supertype. */
	public static boolean is(Class<?> type, Set<String> names) {
		if (names.contains(type.getName())) {
			return true;
		}
		for (Class<?> parent : type.getInterfaces()) {
			if (is(parent, names)) {
				return true;
			}
		}
		Class<?> parent = type.getSuperclass();
		return parent != null && parent != Object.class && is(parent, names);
	}

	/**
	 * Rejects arguments that cannot be written as JSON.
	 * @throws io.idempotency.IdempotencyConfigurationException if there is such an
	 * argument
	 */
	public void check(ResultCodec codec) {
		for (Compared argument : this.compared) {
			Type type = argument.contentType();
			String problem = (type != null) ? codec.incomparable(type) : null;
			if (problem != null) {
				throw GuardedMethod.problem(this.method, this.targetClass,
						"its key comes from the client, so its arguments are compared, but the parameter '"
								+ argument.name() + "' cannot be: " + problem,
						cure(argument));
			}
		}
	}

	private String cure(Compared incomparable) {
		String others = this.compared.stream()
			.filter((argument) -> argument != incomparable)
			.map((argument) -> "#" + argument.name())
			.collect(Collectors.joining(", "));
		String example = others.isEmpty() ? "" : ", e.g. fingerprint = \"{" + others + "}\"";
		return "Set fingerprint to the values that must be equal on a retry" + example
				+ ", or set fingerprint = \"none\" to compare nothing";
	}

	/** Returns the types whose JSON is compared. */
	public List<Type> types() {
		return this.compared.stream().map(Compared::contentType).filter((type) -> type != null).toList();
	}

	/**
	 * Creates the fingerprint of one call.
	 * @throws IllegalStateException if an argument cannot be compared
	 */
	Fingerprint fingerprint(@Nullable Object[] arguments, RequestValues values, ResultCodec codec) {
		Fingerprint.Builder fingerprint = Fingerprint.of(ALGORITHM);
		for (Compared argument : this.compared) {
			try {
				Object value = content(argument, arguments[argument.index()], values);
				if (value == null) {
					fingerprint.add((String) null);
				}
				else {
					fingerprint.add(codec.comparable(value));
				}
			}
			catch (RuntimeException ex) {
				// After any exception of the codec, the argument cannot be compared.
				throw new GuardMisconfiguredException(
						"The arguments of '" + GuardedMethod.describe(this.method, this.targetClass)
								+ "' cannot be compared, because of its parameter '" + argument.name() + "': "
								+ ex.getMessage() + ". " + cure(argument),
						ex);
			}
		}
		return fingerprint.build();
	}

	private static @Nullable Object content(Compared argument, @Nullable Object value, RequestValues values) {
		if (value == null) {
			return null;
		}
		if (argument.message()) {
			return values.payload();
		}
		if (value instanceof Optional<?> optional) {
			return optional.orElse(null);
		}
		return value;
	}

	/**
	 * One parameter.
	 *
	 * @param index the position
	 * @param type the declared type
	 * @param message whether it is a message, whose payload is compared
	 */
	private record Compared(int index, String name, Type type, boolean message) {

		/** Returns the type of the compared value, {@code null} if it is unknown. */
		@Nullable Type contentType() {
			if (this.message) {
				Type[] arguments = (this.type instanceof ParameterizedType generic) ? generic.getActualTypeArguments()
						: new Type[0];
				return (arguments.length > 0) ? arguments[arguments.length - 1] : null;
			}
			return this.type;
		}

	}

}
