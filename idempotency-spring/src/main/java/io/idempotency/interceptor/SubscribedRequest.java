package io.idempotency.interceptor;

import java.security.Principal;
import java.util.List;
import java.util.function.Function;

import io.idempotency.Internal;
import io.idempotency.key.Caller;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * The request of a subscription.
 *
 * @param values the values for expressions
 * @param owner returns the owner of the tokens and client-chosen keys of the operation
 * with a name; called only if there is such a key
 * @hidden
 */
@Internal
public record SubscribedRequest(RequestValues values, Function<String, Caller> owner) {

	/** Returns a copy with the current owner, as the current thread sees it. */
	SubscribedRequest captured(String operation) {
		Function<String, Caller> known;
		try {
			Caller owner = this.owner.apply(operation);
			known = (any) -> owner;
		}
		catch (RuntimeException rejected) {
			known = (any) -> {
				throw rejected;
			};
		}
		return new SubscribedRequest(this.values, known);
	}

	/** Returns a copy for the user who is logged in at the subscription. */
	SubscribedRequest as(Principal login) {
		return new SubscribedRequest(new LoginValues(this.values, login), this.owner);
	}

	/**
	 * Supplies the request of a subscriber from its Reactor context.
	 *
	 * @hidden
	 */
	@FunctionalInterface
	public interface Source {

		/**
		 * Returns the request of the subscriber, empty outside a request.
		 * @param operation the operation of the call
		 */
		Mono<SubscribedRequest> current(IdempotentOperation operation);

	}

	/** The values of a request, with the principal of the subscription. */
	private record LoginValues(RequestValues request, Principal principal) implements RequestValues {

		@Override
		public @Nullable String header(String name) {
			return this.request.header(name);
		}

		@Override
		public List<String> headers(String name) {
			return this.request.headers(name);
		}

		@Override
		public @Nullable String param(String name) {
			return this.request.param(name);
		}

		@Override
		public @Nullable Object body(String pointer) {
			return this.request.body(pointer);
		}

	}

}
