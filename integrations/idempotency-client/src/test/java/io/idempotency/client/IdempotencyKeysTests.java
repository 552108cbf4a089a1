package io.idempotency.client;

import java.io.IOException;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;

import io.idempotency.client.IdempotencyKeys.Intent;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

class IdempotencyKeysTests {

	private static @Nullable String keyOf(String method, String uri) {
		return IdempotentCalls.DEFAULTS.keyFor(method, URI.create(uri), IdempotencyKeys.current());
	}

	@Test
	void withoutAKeyEachCallGetsOneOfItsOwn() {
		assertThat(keyOf("POST", "http://a/pay")).hasSize(36).isNotEqualTo(keyOf("POST", "http://a/pay"));
	}

	@Test
	void callGetsTheKeyOfItsIntentEachTime() {
		List<@Nullable String> keys = new ArrayList<>();
		IdempotencyKeys.with("order-42", () -> {
			keys.add(keyOf("POST", "http://a/pay?x=1"));
			keys.add(keyOf("POST", "http://b/pay?x=1"));
		});
		assertThat(keys).containsExactly("order-42", "order-42");
		assertThat(IdempotencyKeys.current()).isNull();
	}

	@ParameterizedTest
	@ValueSource(strings = { "GET", "HEAD", "PUT", "DELETE" })
	void callsThatGetNoKeyGetNoneOfAnIntent(String method) {
		assertThat(IdempotencyKeys.<@Nullable String, RuntimeException>with("order-42",
				() -> keyOf(method, "http://a/order")))
			.isNull();
	}

	@ParameterizedTest
	@ValueSource(strings = { "PATCH http://a/pay", "POST http://a/ship", "POST http://a/pay?x=1" })
	void secondCallNeedsAKeyOfItsOwn(String other) {
		String[] call = other.split(" ");
		IdempotencyKeys.with("order-42", () -> {
			keyOf("POST", "http://a/pay");
			assertThatIllegalStateException().isThrownBy(() -> keyOf(call[0], call[1]))
				.withMessageContaining("identifies one call")
				.withMessageNotContaining("order-42");
		});
	}

	@Test
	void innerKeyHidesTheOuterOne() {
		List<@Nullable String> keys = new ArrayList<>();
		IdempotencyKeys.with("outer", () -> {
			keys.add(IdempotencyKeys.with("inner", () -> keyOf("POST", "http://a/ship")));
			keys.add(keyOf("POST", "http://a/pay"));
		});
		assertThat(keys).containsExactly("inner", "outer");
	}

	@Test
	void keyEndsWithItsWorkWhenThatFails() {
		assertThatExceptionOfType(IOException.class).isThrownBy(() -> IdempotencyKeys.with("order-42", () -> {
			if (IdempotencyKeys.current() != null) {
				throw new IOException("lost");
			}
			return "";
		})).withMessage("lost");
		assertThat(IdempotencyKeys.current()).isNull();
	}

	@ParameterizedTest
	@ValueSource(
			strings = { "a", "order-42", "8e03978e-40d5-43dd-bc93-6894a57f9324", "!#$%&'()*+-./:<=>?@[\\]^_`{|}~" })
	void keysAreWhatAHeaderCarriesAsItIs(String key) {
		assertThat(new Intent(key).keyFor("POST /")).isEqualTo(key);
	}

	@ParameterizedTest
	@ValueSource(strings = { "", "a b", "a\"b", "a,b", "a;b", "ä", "a\nb", "a\r\nX: y", "\t" })
	void otherKeysAreRejectedWithoutBeingTold(String key) {
		assertThatIllegalArgumentException().isThrownBy(() -> new Intent(key))
			.satisfies((ex) -> assertThat(key.isEmpty() || !String.valueOf(ex.getMessage()).contains(key)).isTrue());
	}

	@Test
	void keyOf255CharactersIsTheLongest() {
		assertThat(new Intent("x".repeat(255)).keyFor("")).hasSize(255);
		assertThatIllegalArgumentException().isThrownBy(() -> new Intent("x".repeat(256)));
	}

}
