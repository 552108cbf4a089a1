package io.idempotency.webflux;

import java.util.function.Supplier;

import io.idempotency.interceptor.FailureStatus;
import io.idempotency.interceptor.OperationCall;
import io.idempotency.http.HttpSettings;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

import org.springframework.security.access.AccessDeniedException;
import org.springframework.security.core.AuthenticationException;
import org.springframework.util.ClassUtils;
import org.springframework.web.method.HandlerMethod;
import org.springframework.web.server.ServerWebExchange;

/**
 * The way to one handler.
 *
 * @param handler the method of the handler, {@code null} for one of a route
 * @param route the request of a route, {@code null} for a method
 * @param handling calls methods, and makes answers
 * @param settings of the door
 * @param readers read its forms
 */
record HandlerWay(@Nullable HandlerMethod handler, @Nullable RoutedRequest route, Handling handling,
		HttpSettings settings, GuardedExchange.FormReader readers) {

	private static final boolean SPRING_SECURITY = ClassUtils
		.isPresent("org.springframework.security.access.AccessDeniedException", HandlerWay.class.getClassLoader());

	GuardedExchange exchange(KnownRequest request) {
		return new GuardedExchange(request, this.settings.maxResponseSize(), this.readers);
	}

	/**
	 * Returns whether nothing stands before the guard that might refuse a duplicate.
	 */
	boolean isPlain() {
		return this.handler == null;
	}

	/**
	 * Goes one way; the files of its request are gone when it ends.
	 */
	Mono<Void> go(Pass pass) {
		RoutedRequest routed = this.route;
		Mono<Void> handled = (routed != null) ? routed.handle(pass, this.handling) : this.handling.handle(pass);
		if (!(pass.exchange() instanceof GuardedExchange guarded) || !guarded.mayHaveFiles()) {
			return handled;
		}
		return handled.onErrorResume((thrown) -> guarded.cleanupMultipart().then(Mono.error(thrown)))
			.then(Mono.defer(guarded::cleanupMultipart));
	}

	/**
	 * Sends an answer; that of a route is left to the filters outside of its guard.
	 */
	Mono<Void> send(int status, Supplier<Mono<Void>> sending) {
		RoutedRequest routed = this.route;
		return Mono.defer(() -> {
			if (routed == null) {
				return sending.get();
			}
			routed.answered(status, sending);
			return Mono.empty();
		});
	}

	Mono<Void> send(HeldResponse made) {
		return send(made.status(), made::push);
	}

	Mono<Void> render(ServerWebExchange exchange, Throwable failure) {
		return this.handling.render(exchange, failure);
	}

	boolean isDuplicate(Pass pass, Throwable failure) {
		OperationCall call = pass.call();
		return pass.isEntered() && call != null && call.isDuplicate(Pass.ofHandler(failure));
	}

	/**
	 * Returns the status that a failure asks for, 0 if it asks for none, or if a filter
	 * has to answer it.
	 */
	int statusOf(Throwable failure) {
		return isOfSecurity(failure) ? 0 : FailureStatus.of(failure);
	}

	/** Returns whether Spring Security answers a failure, outside of the guard. */
	boolean isOfSecurity(Throwable failure) {
		return SPRING_SECURITY && Security.answers(failure);
	}

	/** Loaded only if Spring Security is present. */
	private static final class Security {

		static boolean answers(Throwable failure) {
			return failure instanceof AccessDeniedException || failure instanceof AuthenticationException;
		}

	}

}
