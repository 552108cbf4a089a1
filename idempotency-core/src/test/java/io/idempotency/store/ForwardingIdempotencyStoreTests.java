package io.idempotency.store;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

import io.idempotency.key.Caller;
import io.idempotency.key.Fingerprint;
import io.idempotency.key.IdempotencyKey;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;

class ForwardingIdempotencyStoreTests {

	private static final ClaimRequest REQUEST = ClaimRequest.of(IdempotencyKey.of("forward", Caller.GLOBAL, "1"),
			Duration.ofMinutes(1), Duration.ofHours(1));

	/** What is passed on, by type. */
	private static final List<Object> ARGUMENTS = List.of(REQUEST, REQUEST.key(), REQUEST.claimId(), REQUEST.lease(),
			Fingerprint.NONE,
			Completion.forget(new Claim(REQUEST.key(), REQUEST.claimId(), 1, false), Fingerprint.NONE),
			List.of(new Renewal(REQUEST.key(), REQUEST.claimId(), REQUEST.lease())));

	/** What comes back, by type. */
	private static final List<Object> ANSWERS = List.of(new ClaimResult.KeyReused(), true, Set.of(REQUEST.claimId()),
			Instant.EPOCH, Optional.of("offer"), "acme");

	private final List<Object> calls = new ArrayList<>();

	private final InvocationHandler behind = (proxy, method, arguments) -> {
		this.calls.add(method.getName());
		this.calls.addAll((arguments != null) ? List.of(arguments) : List.of());
		return of(method.getReturnType(), ANSWERS);
	};

	private final IdempotencyStore store = new ForwardingIdempotencyStore((IdempotencyStore) Proxy.newProxyInstance(
			IdempotencyStore.class.getClassLoader(), new Class<?>[] { IdempotencyStore.class }, this.behind)) {
	};

	static Stream<Method> methods() {
		return Stream.of(IdempotencyStore.class.getDeclaredMethods())
			.filter((method) -> !Modifier.isStatic(method.getModifiers()) && !method.isSynthetic());
	}

	/** A method that is not passed on would have the default of a store without it. */
	@ParameterizedTest
	@MethodSource("methods")
	void passesEveryMethodOn(Method method) throws Exception {
		Object[] arguments = Stream.of(method.getParameterTypes()).map((type) -> of(type, ARGUMENTS)).toArray();
		List<Object> expected = new ArrayList<>(List.of(method.getName()));
		expected.addAll(List.of(arguments));
		assertThat(method.invoke(this.store, arguments)).isEqualTo(of(method.getReturnType(), ANSWERS));
		assertThat(this.calls).isEqualTo(expected);
	}

	private static Object of(Class<?> type, List<Object> values) {
		return values.stream()
			.filter((value) -> type.isInstance(value) || type == boolean.class && value instanceof Boolean)
			.findFirst()
			.orElseThrow();
	}

}
