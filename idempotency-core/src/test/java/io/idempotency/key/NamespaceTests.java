package io.idempotency.key;

import java.util.HashSet;
import java.util.List;
import java.util.Set;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class NamespaceTests {

	@Test
	void equalNamespacesShareKeysAndTokens() {
		assertThat(new Namespace("shop").key("pay", Caller.GLOBAL, "1"))
			.isEqualTo(new Namespace("shop").key("pay", Caller.GLOBAL, List.of("1")));
		assertThat(new Namespace("shop").token(Caller.ANONYMOUS, "t"))
			.isEqualTo(new Namespace("shop").token(Caller.ANONYMOUS, "t"));
	}

	/**
	 * Two parts that are joined are never a third one, and no namespace is none of them.
	 */
	@Test
	void differentNamespacesNeverMeet() {
		List<Namespace> namespaces = List.of(Namespace.NONE, new Namespace("a"), new Namespace("A"),
				new Namespace("a:b"), new Namespace("key"), new Namespace("token"), new Namespace(" "));
		Set<IdempotencyKey> keys = new HashSet<>();
		for (Namespace namespace : namespaces) {
			for (String operation : List.of("b:c", "c", "a", "key", "token", "")) {
				keys.add(namespace.key(operation, Caller.GLOBAL, "1"));
			}
			keys.add(namespace.token(Caller.GLOBAL, "1"));
		}
		assertThat(keys).hasSize(namespaces.size() * 7);
	}

	@Test
	void keysOfNoNamespaceAreThoseWithoutOne() {
		assertThat(Namespace.NONE.key("pay", Caller.GLOBAL, "1"))
			.isEqualTo(IdempotencyKey.of("pay", Caller.GLOBAL, "1"));
		assertThat(Namespace.NONE.token(Caller.GLOBAL, "t")).isEqualTo(IdempotencyKey.ofToken(Caller.GLOBAL, "t"));
	}

	@Test
	void labelNamesServiceAndOperation() {
		assertThat(new Namespace("shop").key("pay", Caller.GLOBAL, "1").label()).isEqualTo("shop:pay");
		assertThat(new Namespace("shop").key("pay", Caller.GLOBAL, "1").operation()).isEqualTo("pay");
		assertThat(new Namespace("shop").token(Caller.GLOBAL, "t").label()).isEqualTo("shop:token");
		assertThat(new Namespace("shop").token(Caller.GLOBAL, "t").isToken()).isTrue();
		assertThat(Namespace.NONE.key("pay", Caller.GLOBAL, "1").label()).isEqualTo("pay");
		assertThat(new Namespace("shop").key("pay", Caller.GLOBAL, "secret")).asString()
			.startsWith("shop:pay:")
			.doesNotContain("secret");
	}

}
